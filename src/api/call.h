/* One request on its way through the api.
 *
 *     HTTP thread    route found, headers and body read, route->decode
 *     then either    route->read, on the thread's own read-only connection
 *     or             route->prepare (where there is one) like a read, then
 *                    route->write, on the writer's thread, in a transaction shared with others; after its commit
 *                    route->committed, still there
 *     HTTP thread    route->encode, reply
 *
 * A write that finds nothing to answer yet may wait (waiting.h): it is run again when that has changed.
 *
 * A step that returns a problem ends the way: the problem is the reply. Everything hangs on the request's arena.
 */
#ifndef SPINE_API_CALL_H
#define SPINE_API_CALL_H

#include "api/api.h"
#include "engine/waiting.h"
#include "codec/json.h"
#include "core/problem.h"
#include "net/http.h"
#include "engine/writer.h"

struct call;

enum route_flags {
	ROUTE_BODY = 1 << 0,		/* a JSON object is required */
	ROUTE_BODY_OPTIONAL = 1 << 1,	/* a JSON object may be there */
	ROUTE_CREATES = 1 << 2,		/* takes Idempotency-Key, and makes the space */
	ROUTE_IF_MATCH = 1 << 3,	/* takes If-Match; the first path parameter is the memory's id */
	ROUTE_INDEX = 1 << 4,		/* needs the index of the space */
	ROUTE_NO_SPACE = 1 << 5,	/* is not about a space */
	ROUTE_MAKES_SPACE = 1 << 7,	/* makes the space, without Idempotency-Key */
	ROUTE_IF_TAG = 1 << 6,		/* takes If-Match with a tag of its own kind, in call->if_tag */
	ROUTE_TASK = 1 << 8,		/* takes Spine-Task: it stores memories */
};

struct route {
	enum http_method method;
	const char *pattern;		/* "{}" stands for one piece of the path */
	unsigned flags;
	enum problem_code (*decode)(struct call *call);				/* optional */
	enum problem_code (*read)(struct call *call, struct store_conn *c);	/* this or the next */
	enum problem_code (*write)(struct call *call, struct store_conn *c);
	void (*committed)(struct call *call);					/* optional */
	void (*encode)(struct call *call);
	/* Optional, before write: what can be done on the HTTP thread with its read-only connection. Where it sets
	 * call->is_answered there is nothing to write. */
	enum problem_code (*prepare)(struct call *call, struct store_conn *c);
	/* Optional: the client went away before it could be told what was committed. Undoes it, in a transaction of its
	 * own. */
	enum problem_code (*undo)(struct call *call, struct store_conn *c);
};

enum { CALL_PARAMS_MAX = 2, CALL_WARNINGS_MAX = 32 };

struct query_pair {
	struct str name;
	struct str value;
};

struct call_warning {
	const char *code;
	struct str field;
	struct str detail;
};

struct call {
	struct api *api;
	struct http_req *req;
	struct arena *arena;
	const struct route *route;
	struct str params[CALL_PARAMS_MAX];	/* decoded */
	struct query_pair *query;		/* decoded */
	size_t query_count;
	int64_t now_ms;				/* of arrival; in route->write and after it, of the transaction */

	struct str space_name;
	int64_t space;				/* 0: does not exist (yet) */
	bool space_is_new;
	struct str agent;			/* who is calling; p == NULL: unknown */
	struct str task;			/* of what is stored and names none; p == NULL: none */
	bool uses_task;				/* set by decode: something that is stored gets that task */
	uint32_t if_version;			/* 0: any */
	struct str if_tag;			/* p == NULL: none; else "*", or a tag with its quotes */
	struct str idempotency_key;		/* p == NULL: none */
	struct str claim;			/* what a request with this key has begun; p == NULL: nothing */
	uint8_t request_digest[32];
	struct json body;			/* JSON_NULL where there is none */
	void *input;				/* what decode made */
	void *output;				/* what read or write made */
	/* Set by write: what is told of it, where kind is not 0; who and when is filled in. */
	struct event_row told;
	const uint64_t *shown;			/* numbers of the memories whose text is in the reply; set by write */
	size_t shown_count;

	struct call_warning warnings[CALL_WARNINGS_MAX];
	size_t warning_count;

	struct problem problem;
	int status;				/* of the reply, 200 unless set */
	struct str etag;			/* p == NULL: none */
	struct str location;
	struct str traceparent;			/* p == NULL: none; see traceparent.h */
	const char *content_type;		/* NULL: application/json */
	const struct http_header *headers;	/* more of the reply, ended by one without a name; NULL: none */
	bool replayed;
	bool is_answered;			/* by prepare */
	bool is_stream;				/* the reply has begun; it ends with the call */
	/* Set by read: the call goes on by itself, and is answered by whoever has it (feed.h). */
	bool is_kept;
	bool skips_index;			/* set by decode: this one does without ROUTE_INDEX */
	struct buf reply;
	struct writer_job job;
	struct wait wait;
	void (*finish)(void *call);		/* on the HTTP thread, when the answer is there */
};

/* Gives a call that has been decoded, and prepared, to the writer; from then on it is the writer's. */
void api_submit(struct call *call);
/* Undoes what the call has committed, because its client has gone, and ends it. */
void api_undo(struct call *call);
/* Within the write of a call that may wait: this is what its Idempotency-Key stands for until there is an answer. A
 * request with the same key finds it in call->claim, in prepare or in write, and goes on with it. */
enum problem_code call_claim(struct call *call, struct store_conn *c, struct str what);
/* Puts a warning beside the reply. Those beyond CALL_WARNINGS_MAX are dropped. */
void call_warn(struct call *call, const char *code, struct str field, struct str detail);
/* Says that a field of the request was not understood. */
void call_warn_unknown(struct call *call, struct str field);
/* Warns of every member of obj that is not in the NULL-terminated list. prefix is put before the name. */
void call_warn_unknown_members(struct call *call, const struct json *obj, const char *const *known, const char *prefix);
/* Ends the reply's object, with the warnings in it. */
void call_end_reply(struct call *call, struct json_writer *w);
/* The first value of a query parameter; p == NULL where it is absent. */
struct str call_query(const struct call *call, const char *name);

#endif
