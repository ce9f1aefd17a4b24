/* Another program: started with a text on its standard input, its output collected, its end waited for.
 *
 * Its standard error goes to ours, and the last line of it is kept, because that is where programs say why they failed.
 * It is in a process group of its own, so that Ctrl-C reaches whoever started it and not the work in progress; when its
 * parent dies it gets SIGTERM, on Linux.
 */
#ifndef SPINE_CLI_CHILD_H
#define SPINE_CLI_CHILD_H

#include "base/buf.h"

#include <sys/types.h>

struct child_variable {
	const char *name;	/* NULL ends the list */
	const char *value;	/* NULL: it is removed */
};

struct child {
	pid_t pid;
	int pid_fd;
	int in, out, err;	/* our ends; -1 once closed */
	struct str input;	/* what is not written yet; borrowed */
	struct buf output;
	struct buf line;	/* of standard error: the last that is not empty */
	struct buf part;	/* the beginning of the next one */
	int status;		/* as of waitpid, once it has ended */
};

/* Starts argv (ended by NULL; looked for in PATH) in the environment of the caller with these variables.
 * max_output_bytes bounds what is collected: output beyond it is thrown away, and child->output has overflowed. A
 * program that cannot be run ends with 127, or 126 where it is there but cannot be executed, as in a shell. On failure
 * false, with a sentence in *error. */
bool child_start(struct child *c, const char *const *argv, const struct child_variable *variables, struct str input,
		 size_t max_output_bytes, struct buf *error);

enum child_event { CHILD_ENDED, CHILD_TIME, CHILD_OTHER };

/* Lets it work until it has ended, the time is over, or other_fd (-1: none) can be read. */
enum child_event child_wait(struct child *c, int64_t timeout_ms, int other_fd);
/* A signal to it and all that it started. */
void child_kill(struct child *c, int signal);
/* Closes and frees; one that has not ended is killed. */
void child_release(struct child *c);

#endif
