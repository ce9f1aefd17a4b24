/* What one envelope kept of another, as JSON. */
#ifndef SPINE_API_FIDELITY_JSON_H
#define SPINE_API_FIDELITY_JSON_H

#include "codec/json.h"
#include "core/envelope/fidelity.h"

/* A member with the id of an envelope; null where num is 0. */
void fidelity_json_id(struct json_writer *w, const char *key, uint64_t num);
/* Which hop it is: the members "envelope", "parent", "hop", "from", "to" and "created_at". */
void fidelity_json_hop(struct json_writer *w, const struct envelope *e);
/* The members "score", "kept", "total" and "changes": in full what is not simply kept. */
void fidelity_json_put(struct json_writer *w, const struct fidelity *f);

#endif
