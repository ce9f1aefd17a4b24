/* The C library (sdk/c) behind a struct client: for client.c, which waits for an answer, and client_many.c, which does
 * not, and reaches below the library's interface for that. */
#ifndef SPINE_CLIENT_SPINE_CLIENT_H
#define SPINE_CLIENT_SPINE_CLIENT_H

#include "client/client.h"

#include "../sdk/c/src/transfer.h"

struct client {
	ms_client *spine;
	bool was_sent;		/* the last call of client_many */
};

/* The request in the words of the library. *ret borrows from it. */
void client_translate(const struct client_request *request, ms_request *ret);
/* The answer in ours. *ret is to be released. */
void client_read_reply(const ms_answer *answer, struct client_reply *ret);
enum client_status client_status_of(ms_status status);

#endif
