/* One transfer of libcurl's: a request as it goes out, and its reply as it comes in. For client.c, which waits for it,
 * and client_many.c, which does not. */
#ifndef SPINE_CLIENT_TRANSFER_H
#define SPINE_CLIENT_TRANSFER_H

#include "client/client.h"

#include <curl/curl.h>

struct client {
	CURL *curl;
	char *url;
	char *space;
	char *agent;
	int64_t timeout_ms;
	size_t max_reply_bytes;
	bool is_local;
};

struct transfer {
	CURL *curl;
	const struct client_request *request;
	struct client_reply *reply;
	int64_t deadline_ns;
	char curl_error[CURL_ERROR_SIZE];
	struct curl_slist *headers;
	struct buf url;
};

/* Prepares the client's handle; everything that is named here lives until transfer_end(). key may be NULL. False where
 * the address is too long, which curl_error says. */
bool transfer_begin(const struct client *client, struct transfer *t, const char *key);
/* The handle has been performed: the reply's status is read, what was needed is released. */
void transfer_end(struct transfer *t);
/* What became of it, and the phrase for it. */
enum client_status transfer_status(const struct transfer *t, CURLcode code, struct buf *error);

#endif
