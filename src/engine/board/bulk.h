/* What a person decides about many handoffs at once: those that a filter finds, or those that are named.
 *
 * One call is one transaction and does a bounded number of them, in the order of their numbers; it says where to go on.
 * Each is done or refused by itself. Calling again does no harm: what was done does not fit any more. A dry run reads,
 * and says what would be done. */
#ifndef SPINE_ENGINE_BULK_H
#define SPINE_ENGINE_BULK_H

#include "core/guard/redact.h"
#include "core/problem.h"
#include "engine/board/about.h"

enum { BULK_LIMIT = 100, BULK_LIMIT_MAX = 1000 };

struct bulk_refused {
	uint64_t num;
	const char *code;		/* of the problem */
	struct str detail;
};

struct bulk {
	struct op op;
	/* In. */
	struct handoff_filter filter;	/* of those in the states that the action is about; these are filled in */
	struct str to;			/* of this agent; p == NULL: of any */
	uint64_t *nums;			/* or these; NULL: the filter's */
	size_t num_count;
	bool is_all;			/* without any filter */
	bool dry_run;
	int64_t limit;
	uint64_t after;			/* those with higher numbers */
	struct str other;		/* who gets the work instead; p == NULL: nobody else */
	struct str by, why;
	/* Out. */
	const char *action;
	int64_t matched;		/* how many there are in all, before anything is done */
	struct about_handoff *done;
	size_t done_count;
	struct bulk_refused *refused;
	size_t refused_count;
	uint64_t next_after;		/* 0: that was all */
	/* bulk.c's own. */
	bool why_is_guarded, by_is_guarded;	/* something in it looks like a credential: each envelope is asked */
	struct redact_answer clean, clean_by;	/* the same without */
	struct str why_now;		/* for the handoff at hand */
};

extern const struct op_kind bulk_redrive_kind, bulk_reroute_kind, bulk_discard_kind, bulk_restore_kind;
/* Of what is queued. */
extern const struct op_kind bulk_cancel_kind, bulk_move_kind;

#endif
