/* Calls of a server as the command line makes them: the C library (sdk/c) in the words of this program, with its slices
 * and buffers. The library has the rest: deadlines, repetitions, Idempotency-Keys, limits. Its memory_spine.h says how.
 *
 * A person waits (MS_RETRY_BRIEFLY): a server that is not there is reported at once. One that refuses with 503 and says
 * when to come again is asked again within the timeout: a node that died is replaced in that time. A struct client has
 * one connection, and belongs to one thread.
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
	const char *key_file;		/* NULL: what the environment has, SPINE_KEY or SPINE_KEY_FILE */
	const char *ca_file;		/* of https; NULL: what the environment has, and so are the two below */
	const char *cert_file;
	const char *cert_key_file;
	int64_t timeout_ms;		/* of a call with all its repetitions; more than 0 */
	size_t max_reply_bytes;		/* a larger reply is an error; more than 0 */
	bool is_told_at_once;		/* nothing is repeated: the caller asks again, or wants to know how it is now */
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
	const char *const *headers;	/* more of them, "Name: value", ended by NULL; or NULL */
	/* Given the body of a 2xx as it comes, instead of its being kept; false ends the call. Such a call may take any
	 * time, but not silence_ms without a byte (0: a minute). May be NULL. */
	bool (*on_data)(void *arg, struct str data);
	int64_t silence_ms;
	/* Given each header of the reply, before its body. May be NULL. */
	void (*on_header)(void *arg, struct str name, struct str value);
	void *data_arg;
	/* Asked about once a second while the call is under way: true ends it. May be NULL. */
	bool (*is_stopped)(void *arg);
	void *stop_arg;
	/* Told once, after a second of repetitions: why, without a full stop, and how long it goes on. May be NULL. */
	void (*on_retry)(void *arg, struct str why, int64_t left_ms);
	void *retry_arg;
};

enum client_status {
	CLIENT_OK,		/* there is a reply, of any HTTP status */
	CLIENT_UNREACHABLE,	/* nothing listens there, the name is unknown, or the connection broke */
	CLIENT_TIMED_OUT,
	CLIENT_BAD_REPLY,	/* not HTTP, or too large */
	CLIENT_STOPPED,		/* by is_stopped */
	CLIENT_INSECURE,	/* no secure connection could be made; trying again does not help */
};

enum { CLIENT_ETAG_SIZE = 128 };

struct client_reply {
	int status;		/* of HTTP */
	struct buf body;
	bool is_replayed;	/* Idempotent-Replayed: true */
	char etag[CLIENT_ETAG_SIZE];	/* with its quotes; "" where there is none, or one that does not fit */
	int calls;		/* how often the request was sent */
};

/* Returns owned; everything in config is copied. Where the configuration cannot be used: NULL, and a sentence in
 * *error. */
struct client *client_new(const struct client_config *config, struct buf *error);
/* NULL-safe. */
void client_free(struct client *client);

/* Sends the request and waits. On CLIENT_OK *ret holds the reply, to be released with client_reply_release().
 * Otherwise *ret is untouched and *error gets a sentence without its full stop. */
enum client_status client_call(struct client *client, const struct client_request *request, struct client_reply *ret,
			       struct buf *error);
/* NULL-safe fields: may be called on a zeroed reply. */
void client_reply_release(struct client_reply *reply);

/* Of the last call of a client_many that is over: false where not a byte of it went out, so that sending it again
 * cannot do it twice. */
bool client_was_sent(const struct client *client);
/* As given, without a slash at the end. Borrowed from the client. */
const char *client_url(const struct client *client);
/* The host is a loopback address or "localhost". */
bool client_is_local(const struct client *client);

#endif
