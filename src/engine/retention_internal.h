/* What the files of retention share. Nobody else includes this. */
#ifndef SPINE_ENGINE_RETENTION_INTERNAL_H
#define SPINE_ENGINE_RETENTION_INTERNAL_H

#include "engine/retention.h"
#include "engine/space_delete.h"

/* A space that keeps something for a time. */
struct kept_space {
	int64_t id;
	int64_t handoffs_ms;		/* 0: for ever */
	int64_t events_ms;
	int64_t idle_ms;		/* of the space itself */
	int64_t events_pruned;		/* up to here when the sweep began */
	int64_t handoffs_pruned;	/* so many when the sweep began */
	/* Where idle_ms is above 0: the newest event, as far as they were noted; see retention_idle.c. */
	int64_t written_id;		/* 0: none */
	int64_t written_ms;		/* without one: since when it is idle */
	int64_t held;			/* an event that is older than its time, and is the newest; 0: none */
	/* Of the sweep under way. */
	int64_t handoffs_gone;
	int64_t events_gone;
};

/* A memory that went, and the index still has. */
struct gone_memory {
	int64_t space;
	uint64_t num;
};

enum sweep_phase { SWEEP_NONE, SWEEP_IDLE, SWEEP_HANDOFFS, SWEEP_EVENTS, SWEEP_SPACE };
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
	int64_t started_ms;
	int64_t now_ms;			/* of the transaction under way */
	bool has_removed;		/* a space was deleted, and something of it may be left */
	bool is_stepping;		/* the transaction under way takes a step */
	struct kept_space *spaces;	/* in the order of their ids */
	size_t space_count;
	struct sweep sweep;
	struct sweep before;
	int64_t noted;			/* events up to this id were noted for the spaces that may be idle */
	int64_t noted_before;
	/* Of the step under way. */
	struct arena arena;
	struct gone_memory *gone;
	size_t gone_count;
	size_t gone_cap;
	struct kept_space *saved;	/* the counts as they were */
	int64_t idle_space;		/* goes, unless something is written in it; 0: none */
	struct space_leaving leaving;	/* what went; id 0: none */
};

/* retention_step.c: a part of the sweep. *ret_done: there is nothing left in this phase for the space or the time that
 * the sweep is at. */
enum store_status retention_step_handoffs(struct retention *r, struct store_conn *c, struct kept_space *space,
					  bool *ret_done);
enum store_status retention_step_events(struct retention *r, struct store_conn *c, int64_t keep_ms, bool *ret_done);
/* The history of what is not over stays whole. */
enum store_status retention_is_needed(struct retention *r, struct store_conn *c, int64_t space, uint64_t handoff,
				      bool *ret);
/* The one with that id; NULL where it keeps everything for ever. */
struct kept_space *retention_space(const struct retention *r, int64_t id);

/* retention_idle.c: notes events; when all are noted, finds a space that is idle, for retention_before_commit.
 * *ret_done: there is none. */
enum store_status retention_step_idle(struct retention *r, struct store_conn *c, bool *ret_done);
/* The event says since when the space is idle: it stays while it is the newest. */
bool retention_is_newest(const struct kept_space *space, const struct event_row *event);

#endif
