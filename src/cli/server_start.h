/* A server of this person's own, started in the background: it outlives whoever started it. */
#ifndef SPINE_CLI_SERVER_START_H
#define SPINE_CLI_SERVER_START_H

#include "cli/cli.h"

#include <sys/types.h>

/* Starts `spine serve` for the address of the URL on the data directory, which is made where it does not exist. What it
 * says goes to *ret_log, a file there. Does not wait until it serves, and does not look whether one runs already: the
 * lock of the data directory does. Returns its process id, or -1 with a sentence in *error. */
pid_t server_start(const struct cli *cli, const char *url, const char *data_dir, const char **ret_log,
		   struct buf *error);

/* What such a server would listen on: "127.0.0.1:8788". Only of http:// addresses. In the arena. */
const char *server_start_address(struct arena *arena, const char *url);

#endif
