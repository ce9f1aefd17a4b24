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

/* Borrows both. Returns owned. */
struct world *world_new(struct tally *tally, struct trace *trace);
void world_free(struct world *w);

struct world_result {
	bool is_good;
	uint64_t hash;		/* of the history */
};

/* Plays a seed with about so many handoffs. What is wrong is printed. */
struct world_result world_run(struct world *w, uint64_t seed, size_t handoffs);

/* For whoever has several worlds, in which trace_fail goes elsewhere: the parts of a run. */
void world_begin(struct world *w, uint64_t seed, size_t handoffs);
/* When something happens next; 0: nothing does. */
int64_t world_next_ms(const struct world *w);
/* Does what is next. */
void world_go_on(struct world *w);
/* Everybody behaves, and nothing is open any more. */
bool world_is_over(const struct world *w);
bool world_is_calm(const struct world *w);
/* Looks at everything, with its time at that; returns the time. */
int64_t world_end(struct world *w, int64_t now_ms);
struct host *world_host(struct world *w);
/* It is so late, whatever is next. */
void world_set_time(struct world *w, int64_t now_ms);

#endif
