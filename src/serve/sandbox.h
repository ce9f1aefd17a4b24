/* The server's own fences: what it will never need is taken from it, so that a mistake in it gives nobody more.
 *
 * Landlock: which files can be opened. seccomp: no other program is started, no other process is looked into, nothing
 * is mounted. Both hold for the calling thread and for all that it makes from then on: threads come afterwards.
 *
 * Only where the kernel has them. Builds with sanitizers, and those that measure coverage, have none (SPINE_NO_FENCES):
 * they write reports, and start programs, at the end.
 */
#ifndef SPINE_SERVE_SANDBOX_H
#define SPINE_SERVE_SANDBOX_H

#include "base/log.h"

enum { SANDBOX_FILES_MAX = 4, SANDBOX_FENCES_SIZE = 64 };

struct sandbox_config {
	const char *data_dir;				/* there, and nowhere else, can be written */
	const char *files[SANDBOX_FILES_MAX];		/* can be read, with what is beside them; NULL: none */
	const char *store;				/* the files that this store reads can be read; NULL: none */
};

/* ret says which are up, such as "no_new_privs landlock seccomp"; "none" where there is none. What the kernel does not
 * have is logged as information, what failed as a warning. */
void sandbox_enter(const struct sandbox_config *config, const struct log *log, char ret[SANDBOX_FENCES_SIZE]);

#endif
