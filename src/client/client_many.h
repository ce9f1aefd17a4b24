/* Many calls at a time on one thread: each client has at most one under way, and there may be thousands of clients.
 *
 * Nothing is repeated, and no key is made up: what is refused or broken is told as it is. On the
 * multi interface of libcurl and epoll, where a turn costs as much as there is to do, however many wait. */
#ifndef SPINE_CLIENT_MANY_H
#define SPINE_CLIENT_MANY_H

#include "client/client.h"

struct client_many;

/* The call is over. reply is only there where status is CLIENT_OK, and only for now. The client may begin another. */
typedef void client_done(void *arg, enum client_status status, const struct client_reply *reply);

/* stop_fd ends client_many_run when it can be read; -1: nothing does. max_clients is how many connections are kept.
 * Returns owned; NULL, with errno set, where the system does not have it. */
struct client_many *client_many_new(size_t max_clients, int stop_fd);
/* Calls that are under way are given up, and nobody is told. NULL-safe. */
void client_many_free(struct client_many *many);
/* The request and all that it names live until done is called. The client must not have another call under way. */
void client_many_start(struct client_many *many, struct client *client, const struct client_request *request,
		       client_done *done, void *arg);
/* The call of that client is given up, and nobody is told. Not from within on_data or on_header. */
void client_many_cancel(struct client_many *many, struct client *client);
/* For those who wait for other things, too: readable when client_many_run has something to do ... */
int client_many_fd(const struct client_many *many);
/* ... and how long it may be left alone otherwise, at most so long. */
int client_many_pause_ms(const struct client_many *many, int64_t timeout_ms);
/* Waits at most so long for something to happen, and calls done for each call that is over. False: it is to stop. */
bool client_many_run(struct client_many *many, int64_t timeout_ms);

#endif
