/* What a person decides about memories that cannot be trusted: all that a filter finds, or those that are named.
 *
 * In quarantine a memory is neither recalled nor packed, references to it resolve to "quarantined", and nobody reads
 * its text but who asks for the quarantine itself. It can be released, and is as it was. Purged is forgotten for good.
 *
 * A memory fits where one of its versions does: whose author wrote one version has had a hand in the memory. One that
 * is forgotten fits by its id and by the keys that are left of it (memory_keys.h), so that whom it had reached is told;
 * there is nothing else to do about it, but that purging takes the keys, too. One call
 * is one transaction and does a bounded number, in the order of their numbers; it says where to go on. Calling again
 * does no harm. Each call says whom the memories of its page had reached (reach.h); a dry run says so and changes
 * nothing.
 */
#ifndef SPINE_ENGINE_QUARANTINE_H
#define SPINE_ENGINE_QUARANTINE_H

#include "core/memory/memory.h"
#include "engine/memory/reach.h"
#include "engine/op.h"
#include "engine/page.h"

enum { QUARANTINE_LIMIT = 1000, QUARANTINE_LIMIT_MAX = 10000, QUARANTINE_ANY_TRUST = -1 };

struct quarantine_filter {
	struct str agent;		/* p == NULL: whoever; the same for the next */
	struct str task;
	struct str key;			/* "key-7" */
	int trust;			/* QUARANTINE_ANY_TRUST, or an enum trust */
	int64_t since_ms;		/* written since then; 0: whenever */
	int64_t before_ms;
	bool is_quarantined;		/* only what is in quarantine */
};

struct quarantine_memory {
	uint64_t num;
	uint32_t version;		/* the newest of those that fit */
	struct str agent;		/* of that version; the same for the next */
	struct str origin;
	struct str trust;		/* its name; p == NULL: it is forgotten, and not known */
	int64_t written_at_ms;		/* 0: the same */
	struct str beginning;		/* of its text */
	bool is_quarantined;		/* before this call */
	bool is_forgotten;		/* before this call: of what was written only the key is known */
};

struct quarantine {
	struct op op;
	/* In. */
	struct quarantine_filter filter;
	uint64_t *nums;			/* or these; NULL: the filter's */
	size_t num_count;
	bool dry_run;
	int64_t limit;
	uint64_t after;
	struct str by, why;
	/* Out. */
	const char *action;
	int64_t matched;		/* how many fit, before anything is done */
	struct quarantine_memory *memories;
	size_t count;
	uint64_t next_after;		/* 0: that was all */
	struct reach reach;
	/* Its own: what is told to the index after the commit. */
	struct memory *changed;
	size_t changed_count;
};

extern const struct op_kind quarantine_kind, quarantine_release_kind, quarantine_purge_kind;

struct quarantine_list {
	struct op op;
	/* In. */
	struct page page;		/* position: a memory's number */
	/* Out. */
	struct memory *memories;
	size_t count;
};

extern const struct op_kind quarantine_list_kind;

#endif
