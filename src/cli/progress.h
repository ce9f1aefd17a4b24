/* A bar on standard error that shows how far a long command is, where that is a terminal; nothing otherwise. */
#ifndef SPINE_CLI_PROGRESS_H
#define SPINE_CLI_PROGRESS_H

#include "cli/cli.h"

struct progress {
	const struct cli *cli;	/* borrowed */
	const char *what;	/* "memories"; borrowed */
	int64_t total;		/* of whatever `done` counts; 0: not known */
	int64_t drawn_ns;	/* when it was drawn last; 0: never */
};

void progress_init(struct progress *p, const struct cli *cli, const char *what, int64_t total);
/* count is shown, done fills the bar. Draws at most ten times a second. */
void progress_show(struct progress *p, int64_t count, int64_t done);
/* Wipes the bar away. To be called before anything else is printed. */
void progress_end(struct progress *p);

#endif
