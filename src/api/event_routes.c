/* What has happened, for those who watch and for those who ask later.
 *
 *     GET /v1/events   server-sent events in CloudEvents form, as they happen or from an id on; or a page as JSON
 *     GET /v1/audit    who did what to which object, and when
 *
 * Both read the one history that every write leaves a line in. A filter may fit few of a long history: one answer
 * goes through a bounded part of it and says where it stopped.
 */
#include "api/decode.h"
#include "api/event_json.h"
#include "api/feed.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "codec/rfc3339.h"
#include "core/watch/event.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000, SCAN_MAX = 20000, NAME_MAX_BYTES = 128, OBJECT_MAX_BYTES = 256 };

/* A part of the history. */
struct excerpt {
	struct event_filter filter;
	int64_t after;
	int64_t before;			/* 0: none; the ids of a page that is read backwards are below */
	int64_t since_ms;		/* 0: whenever */
	int64_t until_ms;
	size_t limit;
	bool as_json;
	bool is_resumed;		/* the client says where */
	struct page page;
	struct event_row *rows;
	size_t count;
	int64_t next;			/* everything up to here was looked at; or, backwards, down to here */
	bool has_more;
};

/* --- Parameters --- */

static enum problem_code read_id(struct call *call, struct str text, const char *name, int64_t *ret)
{
	uint64_t id;

	if (!str_to_u64(text, &id) || id > INT64_MAX)
		return problem_set(&call->op->problem, P_INVALID_FIELD, name,
				   "%s is not the id of an event: a number, 0 for the beginning", name);
	*ret = (int64_t)id;
	return P_OK;
}

/* A browser that reconnects sends Last-Event-ID with the address it had, so that is the newer of the two. */
static enum problem_code read_after(struct call *call, struct excerpt *x)
{
	struct str header = http_req_header(call->req, "last-event-id"), query = call_query(call, "after");

	x->is_resumed = true;
	if (header.p && header.n)
		return read_id(call, header, "Last-Event-ID", &x->after);
	if (query.p)
		return read_id(call, query, "after", &x->after);
	x->is_resumed = false;
	return P_OK;
}

/* "handoff.,breaker.opened": every part must begin some name. */
static enum problem_code read_kinds(struct call *call, const char *name, uint64_t (*kinds_of)(struct str prefix),
				    uint64_t *ret)
{
	struct str rest = call_query(call, name);
	uint64_t kinds = 0;

	if (rest.p == NULL)
		return P_OK;
	while (rest.p) {
		struct str prefix = str_trim(str_cut(&rest, ','));
		uint64_t some = prefix.n ? kinds_of(prefix) : 0;

		if (some == 0)
			return problem_set(&call->op->problem, P_INVALID_FIELD, name,
					   "%s: nothing is called \"%.*s\"; expected beginnings of names, as in "
					   "handoff.,memory.",
					   name, (int)(prefix.n < 64 ? prefix.n : 64), prefix.n ? prefix.p : "");
		kinds |= some;
	}
	*ret = kinds;
	return P_OK;
}

static enum problem_code read_time(struct call *call, const char *name, int64_t *ret_ms)
{
	struct str text = call_query(call, name);

	if (text.p && !rfc3339_parse(text, ret_ms))
		return problem_set(&call->op->problem, P_INVALID_FIELD, name,
				   "%s is not an RFC 3339 time, as in 2026-01-30T00:00:00Z", name);
	return P_OK;
}

static enum problem_code read_order(struct call *call, bool *ret_newest_first)
{
	struct str order = call_query(call, "order");

	if (order.p && !str_is(order, "newest") && !str_is(order, "oldest"))
		return problem_set(&call->op->problem, P_INVALID_FIELD, "order", "order is neither newest nor oldest");
	*ret_newest_first = str_is(order, "newest");
	return P_OK;
}

static enum problem_code read_limit(struct call *call, size_t *ret)
{
	struct str text = call_query(call, "limit");
	uint64_t limit = LIMIT_DEFAULT;

	if (text.p && (!str_to_u64(text, &limit) || limit < 1 || limit > LIMIT_MAX))
		return problem_set(&call->op->problem, P_INVALID_FIELD, "limit", "limit is not a number from 1 to %d",
				   LIMIT_MAX);
	*ret = limit;
	return P_OK;
}

/* --- A part of the history --- */

/* Where to begin and to stop, by ids; sets x->after. */
static enum store_status find_bounds(struct store_conn *c, struct excerpt *x, int64_t *ret_until)
{
	int64_t last = 0, before = 0;
	enum store_status status = store_event_last(c, &last);

	if (status == STORE_OK && x->since_ms)
		status = store_event_before(c, x->since_ms, &before);
	if (x->after < before)
		x->after = before;
	if (status == STORE_OK && x->until_ms)
		status = store_event_before(c, x->until_ms, &last);
	if (x->after > last)
		x->after = last;
	*ret_until = last;
	return status;
}

static enum problem_code read_excerpt(struct call *call, struct store_conn *c, struct excerpt *x)
{
	bool has_snapshot = store_snapshot_begin(c);
	int64_t last = 0, after, until;
	enum store_status status = find_bounds(c, x, &last);

	if (x->before && x->before <= last)
		last = x->before - 1;
	after = x->after < last ? x->after : last;
	until = last;
	x->has_more = x->filter.handoff == 0 && last - after > SCAN_MAX;
	if (x->has_more && x->filter.newest_first)
		after = last - SCAN_MAX;
	else if (x->has_more)
		until = after + SCAN_MAX;
	x->rows = arena_calloc(call->op->arena, x->limit + 1, sizeof(*x->rows));
	if (status == STORE_OK && call->op->space)
		status = store_event_page(c, &x->filter, after, until, x->limit + 1, call->op->arena, x->rows, &x->count);
	if (has_snapshot)
		store_snapshot_end(c);
	x->next = x->filter.newest_first ? after + 1 : until;
	if (x->count > x->limit) {
		x->has_more = true;
		x->count = x->limit;
		x->next = x->rows[x->count - 1].id;
	}
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

/* --- GET /v1/events --- */

/* A client that names only JSON wants a page; one that does not care, the stream. */
static bool wants_json(const struct call *call)
{
	struct str accept = http_req_header(call->req, "accept");

	return accept.n && memmem(accept.p, accept.n, "application/json", 16) &&
	       !memmem(accept.p, accept.n, "text/event-stream", 17);
}

static enum problem_code decode_events(struct call *call)
{
	struct excerpt *x = arena_zalloc(call->op->arena, sizeof(*x));
	enum problem_code code = read_after(call, x);

	call->input = x;
	x->as_json = wants_json(call);
	if (code == P_OK)
		code = read_kinds(call, "types", event_kinds_named, &x->filter.kinds);
	if (code == P_OK)
		code = read_limit(call, &x->limit);
	if (code == P_OK && !x->as_json && atomic_load(&call->api->engine->draining))
		code = problem_set(&call->op->problem, P_DRAINING, NULL, "the server is stopping");
	return code;
}

static enum problem_code open_stream(struct call *call, struct store_conn *c, struct excerpt *x)
{
	int64_t last = 0;
	enum store_status status = store_event_last(c, &last);

	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	/* Ids beyond the last one are of a store that this one was restored over. */
	if (!x->is_resumed || x->after > last)
		x->after = last;
	feed_open(call, x->after, x->filter.kinds ? x->filter.kinds : UINT64_MAX);
	return P_OK;
}

static enum problem_code read_events(struct call *call, struct store_conn *c)
{
	struct excerpt *x = call->input;

	if (x->as_json) {
		x->filter.space = call->op->space;
		return read_excerpt(call, c, x);
	}
	if (http_req_method(call->req) == HTTP_HEAD) {
		call->content_type = "text/event-stream";
		return P_OK;
	}
	return open_stream(call, c, x);
}

static void encode_events(struct call *call)
{
	struct excerpt *x = call->input;
	struct json_writer w;

	if (!x->as_json)
		return;
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "events");
	json_begin_array(&w);
	for (size_t i = 0; i < x->count; i++)
		event_json_put(&w, &x->rows[i], call->op->space_name, call->op->arena);
	json_end_array(&w);
	json_member_int(&w, "next", x->next);
	json_member_bool(&w, "has_more", x->has_more);
	call_end_reply(call, &w);
}

/* --- GET /v1/audit --- */

static enum problem_code read_object(struct call *call, struct excerpt *x)
{
	struct str actor = call_query(call, "actor"), object = call_query(call, "object");
	enum problem_code code = P_OK;

	if (actor.p)
		code = decode_check_name(actor, "actor", NAME_MAX_BYTES, &call->op->problem);
	if (code == P_OK && object.p)
		code = decode_check_name(object, "object", OBJECT_MAX_BYTES, &call->op->problem);
	if (code != P_OK)
		return code;
	x->filter.actor = actor;
	if (object.p)
		event_filter_object(object, &x->filter);
	return P_OK;
}

static enum problem_code decode_audit(struct call *call)
{
	static const char *const known[] = {"actor", "object", "action", "since", "until", "after", "order", NULL};
	struct excerpt *x = arena_zalloc(call->op->arena, sizeof(*x));
	enum problem_code code = page_read_only(call, known, &x->page);

	call->input = x;
	if (code == P_OK)
		code = read_after(call, x);
	if (code == P_OK)
		code = read_object(call, x);
	if (code == P_OK)
		code = read_kinds(call, "action", event_kinds_acting, &x->filter.kinds);
	if (code == P_OK)
		code = read_time(call, "since", &x->since_ms);
	if (code == P_OK)
		code = read_time(call, "until", &x->until_ms);
	if (code == P_OK)
		code = read_order(call, &x->filter.newest_first);
	if (x->page.position && x->filter.newest_first)
		x->before = (int64_t)x->page.position;
	else if (x->page.position)
		x->after = (int64_t)x->page.position;
	x->limit = x->page.size;
	return code;
}

static enum problem_code read_audit(struct call *call, struct store_conn *c)
{
	struct excerpt *x = call->input;

	x->filter.space = call->op->space;
	return read_excerpt(call, c, x);
}

static void encode_audit(struct call *call)
{
	struct excerpt *x = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "entries");
	json_begin_array(&w);
	for (size_t i = 0; i < x->count; i++)
		event_json_put_entry(&w, &x->rows[i], call->op->space_name, call->op->arena);
	json_end_array(&w);
	if (!x->filter.newest_first)
		json_member_int(&w, "next", x->next);
	page_put_next(call, &x->page, &w, x->has_more, (uint64_t)x->next, 0);
	call_end_reply(call, &w);
}

const struct route event_routes[] = {
	{HTTP_GET, "/v1/events", 0, .decode = decode_events, .read = read_events, .encode = encode_events},
	{HTTP_GET, "/v1/audit", 0, .decode = decode_audit, .read = read_audit, .encode = encode_audit},
	{0},
};
