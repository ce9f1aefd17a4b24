/* One request on its way through the api, whichever protocol it came by.
 *
 *     owner's thread   route found, input gathered, translate_decode fills in the operation (engine/op.h)
 *     engine           the operation is read, or prepared and run
 *     owner's thread   translate_encode writes the reply
 *
 * A step that returns a problem ends the way: the problem is the reply. Everything hangs on the request's arena.
 * A protocol has a struct of its own that begins with this one: struct http_call (http/http_call.h).
 */
#ifndef SPINE_API_CALL_H
#define SPINE_API_CALL_H

#include "api/api.h"
#include "api/describe/describe.h"
#include "codec/json.h"
#include "core/problem.h"
#include "engine/op.h"
#include "engine/waiting.h"

struct call;

struct route {
	enum http_method method;
	const char *pattern;		/* "{}" stands for one piece of the path */
	const struct op_kind *op;	/* what it does */
	const struct description *describes;	/* what it takes and answers; NULL: files of a page for people */
	/* Both optional. After what the description reads: what it cannot say. */
	enum problem_code (*decode)(struct call *call);
	/* Instead of what the description writes. */
	void (*encode)(struct call *call);
};

enum { CALL_PARAMS_MAX = 2 };

struct query_pair {
	struct str name;
	struct str value;
};

struct call {
	struct api *api;
	const struct route *route;
	struct str path;			/* the address as it was sent, and with it which list a page is of */
	struct str params[CALL_PARAMS_MAX];	/* decoded */
	struct query_pair *query;		/* decoded */
	size_t query_count;
	struct json body;			/* JSON_NULL where there is none */
	struct op *op;				/* begins a struct of route->op's size */
	/* What the caller says beside the request, by its name in lower case; p == NULL: nothing. */
	struct str (*beside)(const struct call *call, const char *name);

	int status;				/* of the reply, 200 unless set */
	struct str etag;			/* p == NULL: none */
	struct str location;
	struct str traceparent;			/* p == NULL: none; see traceparent.h */
	const char *content_type;		/* NULL: application/json */
	struct buf reply;
	bool may_leave;				/* for encode: a worker can write the answer */
	bool leaves;				/* by encode: it takes long, and is to be begun again by a worker */
	const struct shown *shows;		/* of what the description writes, only these; NULL: all */
	void *input;				/* what decode keeps for encode */
	struct op own_op;			/* until the route is known */
};

/* Sets the problem of the call, and returns its code. */
#define call_refuse(call, ...) problem_set(&(call)->op->problem, __VA_ARGS__)

/* Does the operation take one of these (enum takes)? */
static inline bool call_takes(const struct call *call, unsigned what)
{
	return call->route->describes && (call->route->describes->takes & what);
}

/* The operation, as the struct of its kind. */
static inline void *call_op(const struct call *call)
{
	return call->op;
}

/* Puts a warning beside the reply. Those beyond OP_WARNINGS_MAX are dropped. */
void call_warn(struct call *call, const char *code, struct str field, struct str detail);
/* Says that a field of the request was not understood. */
void call_warn_unknown(struct call *call, struct str field);
/* Ends the reply's object, with the warnings in it. */
void call_end_reply(struct call *call, struct json_writer *w);
/* Writes the reply anew, by the route or by the description. */
void call_encode(struct call *call);
/* The same for the key of the operation: on the writer's thread, before the commit. */
void call_keep(struct call *call, struct kept_reply *ret);
/* The reply as it was kept. */
void call_put_kept(struct call *call);
/* The first value of a query parameter; p == NULL where it is absent. */
struct str call_query(const struct call *call, const char *name);

#endif
