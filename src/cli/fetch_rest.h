/* Memories that one answer had no room for.
 *
 * What is asked for by ids (fetch, need, resolve) is answered with 8 MiB of text at most; the rest is in "missing" with
 * the reason "not_given". It is asked for again, until all of it is here.
 */
#ifndef SPINE_CLI_FETCH_REST_H
#define SPINE_CLI_FETCH_REST_H

#include "cli/ask.h"

/* *ask is the good answer to the request. Asks again for what it did not give, in the member `list` of the body, with
 * this lease where it is not NULL. Then ask->json is all of it; where a call fails, *ask is that one. Tells nobody. */
void fetch_rest_make(struct cli *cli, const struct client_request *request, const char *list, const char *lease,
		     struct arena *arena, struct ask *ask);
/* The same for a command whose failure it is: reports it, and returns the exit code. */
int fetch_rest_run(struct cli *cli, const struct client_request *request, const char *list, const char *lease,
		   struct ask *ask);

#endif
