/* A server for the demonstration alone: on a free port, with a temporary data directory that goes away with it. */
#ifndef SPINE_CLI_DEMO_SERVER_H
#define SPINE_CLI_DEMO_SERVER_H

#include "cli/child.h"
#include "cli/cli.h"

struct demo_server {
	struct child child;
	bool is_running;
	char data_dir[4096];	/* "": none was made */
	char url[64];
};

/* Starts it and waits until it serves. False, with the reason told, where that does not work. other_fd readable ends
 * the waiting. */
bool demo_server_start(struct demo_server *s, const struct cli *cli, int other_fd);
/* Stops it. Without keep the data directory is removed. May be called where nothing was started. */
void demo_server_stop(struct demo_server *s, bool keep);

#endif
