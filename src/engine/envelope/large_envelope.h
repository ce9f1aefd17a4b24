/* Envelopes that take long to read: several megabytes of history, or references to long memories. Whoever has read the
 * row of one weighs it before going on. */
#ifndef SPINE_ENGINE_LARGE_ENVELOPE_H
#define SPINE_ENGINE_LARGE_ENVELOPE_H

#include "core/envelope/envelope.h"
#include "engine/op.h"

/* What parsing an envelope and writing it takes, as bytes that are only copied (op_takes_long): of its row, and of the
 * texts of its references, which the row leaves out. Either may be NULL. */
size_t envelope_weight(const struct envelope_row *row, const struct envelope *e);

/* Within read or prepare: the row of the envelope, for who may see it; problems are those of party_check_envelope and
 * unpack_find. One that would hold up the owner's thread is not given: the step ends with any problem, and is begun
 * again by a worker (op_is_too_large). */
enum problem_code envelope_find(struct op *op, struct store_conn *c, uint64_t num, const char *field,
				struct envelope_row *ret);
/* The same, and the envelope with its texts. */
enum problem_code envelope_find_whole(struct op *op, struct store_conn *c, uint64_t num, const char *field,
				      struct envelope *ret);

#endif
