/* A scripted day of a store: the engine that the server runs, stepped, with a clock of its own, and a caller that waits
 * for each answer. Every run of it does the same.
 *
 * After each commit the state of the store, all rows of all tables, is known by a number. So whoever looks at the files
 * later can say which commit they stand at, and that they stand between none.
 */
#ifndef SPINE_TESTS_POWER_WORKLOAD_H
#define SPINE_TESTS_POWER_WORKLOAD_H

#include "base/log.h"
#include "core/problem.h"
#include "engine/engine.h"
#include "store/verbs.h"

struct workload {
	char dir[272], file[272], backup[272];
	int64_t now_ms;
	struct log log;
	struct space_keep keep;
	struct engine *engine;			/* NULL: the disk did not let it be opened */
	struct engine_reader *reader;
	const struct store_verbs *real_verbs;
	struct store_verbs verbs;		/* with the end of each commit noted */
	/* Called after each commit, and when the store was opened or restored (engine is NULL), before anybody is told.
	 */
	void (*committed)(struct workload *w);
	/* Optional: the backup is about to take the place of the store. */
	void (*restoring)(struct workload *w);
	void *ctx;
	bool may_fail;				/* an operation may be refused because of the disk */
	/* What came of it. */
	uint64_t commits;
	uint64_t acked, refused;
	bool cannot_open;
};

/* The data directory is root/data; root is there. The rest of it is set by the caller. */
void workload_init(struct workload *w, const char *root);
/* All that a store is used for. Each opens the engine and closes it in the end. */
void workload_play(struct workload *w);
/* A few memories, around a restart. */
void workload_play_start(struct workload *w);
/* More than the log holds: what is in it is moved to the database. */
void workload_play_large(struct workload *w);

/* Everything that the tables of a store hold, as a number; 0 where it cannot be read. Is it open? Else the file is all
 * there is. */
uint64_t workload_state(const char *file, bool is_open);
/* Says what is wrong with the store and ends the program. */
void workload_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
