/* A client of the HTTP protocol (docs/protocol.md), on libcurl.
 *
 * One client keeps one connection and reuses it; it belongs to one thread at a time. A call is blocking and has a
 * deadline that covers its repetitions. A call is repeated only where that cannot do the thing twice:
 *
 *   - the request says that it is `repeatable` (reads; writes whose second time changes nothing), or it carries an
 *     Idempotency-Key, which the client makes up for a request that `creates` and has none; - and the connection
 *     broke after it had been made, or the server answered that it was too busy (503 with Retry-After).
 *
 * A server that is busy for longer than a few seconds, or not there at all, is reported at once. Redirects are not
 * followed, replies are bounded in size, and proxies of the environment are not used for loopback addresses.
 */
#ifndef SPINE_CLIENT_CLIENT_H
#define SPINE_CLIENT_CLIENT_H

#include "base/buf.h"
#include "base/str.h"

struct client;

struct client_config {
	const char *url;		/* "http://127.0.0.1:8788"; no path */
	const char *space;		/* NULL: the server's default */
	const char *agent;		/* NULL: no name is sent */
	int64_t timeout_ms;		/* of a call with all its repetitions; more than 0 */
	size_t max_reply_bytes;		/* a larger reply is an error; more than 0 */
};

struct client_request {
	const char *method;		/* "GET" */
	const char *path;		/* "/v1/memories?query=…", encoded */
	struct str body;		/* JSON; p NULL for none */
	const char *idempotency_key;	/* or NULL */
	const char *task;		/* the task of what is stored (Spine-Task), or NULL */
	const char *person;		/* who asks, for what only persons do (Spine-Person), or NULL */
	const char *if_match;		/* the ETag, with its quotes, or NULL */
	bool creates;			/* a POST that creates: gets an Idempotency-Key where it has none */
	bool repeatable;		/* doing it twice is the same as once */
	int64_t wait_ms;		/* how long the server was asked to wait: added to the timeout */
	const char *accept;		/* NULL: application/json */
	/* Given the body of a 2xx as it comes, instead of its being kept; false ends the call. Such a call may take any
	 * time, but not a minute without a byte. May be NULL. */
	bool (*on_data)(void *arg, struct str data);
	void *data_arg;
	/* Asked about once a second while the call is under way: true ends it. May be NULL. */
	bool (*is_stopped)(void *arg);
	void *stop_arg;
};

enum client_status {
	CLIENT_OK,		/* there is a reply, of any HTTP status */
	CLIENT_UNREACHABLE,	/* nothing listens there, the name is unknown, or the connection broke */
	CLIENT_TIMED_OUT,
	CLIENT_BAD_REPLY,	/* not HTTP, or too large */
	CLIENT_STOPPED,		/* by is_stopped */
};

enum { CLIENT_ETAG_SIZE = 128 };

struct client_reply {
	int status;		/* of HTTP */
	struct buf body;
	bool is_problem;	/* application/problem+json */
	bool is_replayed;	/* Idempotent-Replayed: true */
	int64_t retry_after_ms;	/* -1 where the server named none */
	char etag[CLIENT_ETAG_SIZE];	/* with its quotes; "" where there is none, or one that does not fit */
	int calls;		/* how often the request was sent */
};

/* Returns owned; everything in config is copied. Where the configuration cannot be used: NULL, and a sentence in
 * *error. */
struct client *client_new(const struct client_config *config, struct buf *error);
/* NULL-safe. */
void client_free(struct client *client);

/* Sends the request and waits. On CLIENT_OK *ret holds the reply, to be released with client_reply_release().
 * Otherwise *ret is untouched and *error gets a phrase such as "connection refused". */
enum client_status client_call(struct client *client, const struct client_request *request, struct client_reply *ret,
			       struct buf *error);
/* NULL-safe fields: may be called on a zeroed reply. */
void client_reply_release(struct client_reply *reply);

/* As given, without a slash at the end. Borrowed from the client. */
const char *client_url(const struct client *client);
/* The host is a loopback address or "localhost". */
bool client_is_local(const struct client *client);

#endif
