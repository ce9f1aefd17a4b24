/* What every engine promises: the tests of store/store.h, played on each engine in turn.
 *
 * A part is a file with an array of tests; test_store_conformance.c runs all of them on SQLite, then in memory. Nothing
 * in a part knows which engine it is. Every connection counts its verbs, so that a verb that no test calls shows.
 */
#ifndef SPINE_TESTS_CONFORMANCE_H
#define SPINE_TESTS_CONFORMANCE_H

#include "temp_store.h"

struct conformance_part {
	const char *name;
	const struct CMUnitTest *tests;
	size_t count;
};

extern const struct conformance_part conformance_access_keys, conformance_agents, conformance_alerts,
	conformance_channels, conformance_envelopes, conformance_events, conformance_forgotten, conformance_handoffs,
	conformance_memories, conformance_queues, conformance_replies, conformance_retention, conformance_spaces,
	conformance_tally, conformance_tasks, conformance_transactions;

#define CONFORMANCE_PART(part) \
	const struct conformance_part conformance_##part = {#part, part, sizeof(part) / sizeof(part[0])}

/* The state is a struct temp_store, with the space "default". */
int conformance_setup(void **state);
int conformance_teardown(void **state);
#define with_engine(test) cmocka_unit_test_setup_teardown(test, conformance_setup, conformance_teardown)

/* A connection that counts. */
struct store_conn *conformance_open(struct temp_store *t, enum store_mode mode);
/* The writer is closed and opened again; what was committed stays. */
void conformance_reopen(struct temp_store *t);
/* The engine's own check finds nothing; where it has none, nothing is looked at. */
void conformance_check(struct temp_store *t);

#endif
