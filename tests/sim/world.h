/* The world around the server: senders, receivers, operators, the network between, and the clock.
 *
 * Everything that happens is an errand with a time; the errands are done in the order of their times. Every decision
 * comes out of the seed. A run has two parts: first all of them do their worst, then everybody behaves, and what is
 * open must come to its end.
 */
#ifndef SPINE_TESTS_SIM_WORLD_H
#define SPINE_TESTS_SIM_WORLD_H

#include "host.h"

struct world;

/* Borrows the tally. Returns owned. */
struct world *world_new(struct tally *tally);
void world_free(struct world *w);

struct world_result {
	bool is_good;
	uint64_t hash;		/* of the history */
};

/* Plays a seed with about so many handoffs. What is wrong is printed. */
struct world_result world_run(struct world *w, uint64_t seed, size_t handoffs, bool is_verbose);
/* For a signal handler: prints the last steps of the run under way. */
void world_dump(const struct world *w);

#endif
