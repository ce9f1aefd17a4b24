/* What the files of retention share. Nobody else includes this. */
#ifndef SPINE_ENGINE_RETENTION_INTERNAL_H
#define SPINE_ENGINE_RETENTION_INTERNAL_H

#include "engine/retention.h"

/* A space that keeps something for a time. */
struct kept_space {
	int64_t id;
	int64_t handoffs_ms;		/* 0: for ever */
	int64_t events_ms;
	int64_t events_pruned;		/* up to here when the sweep began */
	/* Of the sweep under way. */
	int64_t handoffs_gone;
	int64_t events_gone;
};

/* A memory that went, and the index still has. */
struct gone_memory {
	int64_t space;
	uint64_t num;
};

enum sweep_phase { SWEEP_NONE, SWEEP_HANDOFFS, SWEEP_EVENTS, SWEEP_SPACE };
/* So many lengths of time for events are gone through each with a place of its own: where there are more, those beyond
 * begin at the start each time. */
enum { SWEEP_PLACES = 16 };

struct sweep_place {
	int64_t events_ms;		/* of the spaces that keep events so long; 0: free */
	int64_t after;			/* their events up to this id are gone, or stay */
};

/* How far the sweep is; as it was, where the transaction is undone. */
struct sweep {
	enum sweep_phase phase;
	size_t at;			/* which space, or of which space's time the events are looked at */
	uint64_t after;			/* its handoffs up to this number were looked at */
	int64_t events_after;		/* events up to this id were looked at */
	struct sweep_place places[SWEEP_PLACES];
};

struct retention {
	struct engine *engine;
	struct retention_hold *holds;
	int64_t next_ms;		/* 0: nothing is to be done */
	int64_t now_ms;			/* of the transaction under way */
	bool has_removed;		/* a space was deleted, and something of it may be left */
	bool is_stepping;		/* the transaction under way takes a step */
	struct kept_space *spaces;	/* in the order of their ids */
	size_t space_count;
	struct sweep sweep;
	struct sweep before;
	/* Of the step under way. */
	struct arena arena;
	struct gone_memory *gone;
	size_t gone_count;
	size_t gone_cap;
	struct kept_space *saved;	/* the counts as they were */
};

/* retention_step.c: a part of the sweep. *ret_done: there is nothing left in this phase for the space or the time that
 * the sweep is at. */
enum store_status retention_step_handoffs(struct retention *r, struct store_conn *c, struct kept_space *space,
					  bool *ret_done);
enum store_status retention_step_events(struct retention *r, struct store_conn *c, int64_t keep_ms, bool *ret_done);

#endif
