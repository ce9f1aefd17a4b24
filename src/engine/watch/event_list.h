/* A part of the history that every write leaves a line in: for those who ask later (events, the audit trail), and for
 * those who follow it.
 *
 * A filter may fit few of a long history: one answer goes through a bounded part of it and says where it stopped. */
#ifndef SPINE_ENGINE_EVENT_LIST_H
#define SPINE_ENGINE_EVENT_LIST_H

#include "engine/op.h"
#include "engine/page.h"

struct event_list {
	struct op op;
	/* In. */
	struct event_filter filter;	/* its space is filled in */
	int64_t after;			/* a number; set to the last one where it is beyond that, as after a restore */
	int64_t before;			/* 0: none; the numbers of a page that is read backwards are below */
	int64_t since_ms;		/* 0: whenever */
	int64_t until_ms;
	size_t limit;			/* 0: nothing is read, but `after` is set */
	struct page page;		/* where its size is not 0: instead of the limit and of where to begin */
	/* Out. */
	struct event_row *rows;
	size_t count;
	int64_t next;			/* everything up to here was looked at; or, backwards, down to here */
	bool has_more;
	int64_t pruned;			/* the highest number of the space that is not kept any more; 0: all are */
};

extern const struct op_kind event_list_kind;

/* --- Following: a cursor is the last number that was given --- */

/* Between the two the history does not grow; *ret_last is its last id, over all spaces. event_list_end is called in any
 * case. */
struct event_reading {
	struct store_conn *conn;
	bool has_snapshot;
};

enum store_status event_list_begin(struct engine_reader *r, struct event_reading *ret, int64_t *ret_last);
void event_list_end(const struct event_reading *reading);
/* A page of what is behind the cursor in the filter's space, up to last: at most max, and no more than a bounded part
 * of the history is gone through for it; what the access (NULL: there are no keys) does not see is left out.
 * *ret_until: everything up to here was looked at. */
enum store_status event_list_behind(const struct event_reading *reading, const struct event_filter *filter,
				    const struct access *access, int64_t cursor, int64_t last, size_t max,
				    struct arena *arena, struct event_row *ret, size_t *ret_count, int64_t *ret_until);
/* The highest number of an event of the space that was pruned, and its last one. Who stands before the first has missed
 * that one, unless it was gone already when they began. 0: none, or the space is being removed. */
enum store_status event_list_end_of(const struct event_reading *reading, int64_t space, int64_t *ret_pruned,
				    int64_t *ret_last);
/* Says so to who stands at `after`. Returns P_EVENTS_PRUNED. */
enum problem_code event_list_refuse_pruned(struct problem *problem, int64_t after, int64_t pruned);

#endif
