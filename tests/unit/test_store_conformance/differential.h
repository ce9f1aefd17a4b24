/* Random operations on a store. The same random state gives the same operation, whatever the engine. */
#ifndef SPINE_TESTS_DIFFERENTIAL_H
#define SPINE_TESTS_DIFFERENTIAL_H

#include "base/buf.h"
#include "store/store.h"

/* Does something, and appends the answer as text. */
typedef void differential_op(struct store_conn *c, uint64_t *random, struct buf *out);

/* Verbs that read, and verbs that write: these stand in a transaction. After an answer that asks for a rollback
 * (STORE_REFUSED) they have rolled their own part back. */
extern differential_op *const differential_questions[], *const differential_changes[];
extern const size_t differential_question_count, differential_change_count;

/* pruning.c: some of these. */
differential_op differential_prune_envelope, differential_put_pruned, differential_unname_events,
	differential_leave_result, differential_set_space, differential_pruned,
	differential_cited, differential_space_settings;

#endif
