/* What has happened, for those who watch and for those who ask later.
 *
 *     GET /v1/events   server-sent events in CloudEvents form, as they happen or from an id on; or a page as JSON
 *     GET /v1/audit    who did what to which object, and when
 *
 * Both read the one history that every write leaves a line in (engine/event_list.h).
 */
#include "api/decode.h"
#include "api/event_json.h"
#include "api/feed.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "codec/rfc3339.h"
#include "core/watch/event.h"
#include "engine/watch/event_list.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000, NAME_MAX_BYTES = 128, OBJECT_MAX_BYTES = 256 };

/* --- Parameters --- */

static enum problem_code read_id(struct call *call, struct str text, const char *name, int64_t *ret)
{
	uint64_t id;

	if (!str_to_u64(text, &id) || id > INT64_MAX)
		return call_refuse(call, P_INVALID_FIELD, name,
				   "%s is not the id of an event: a number, 0 for the beginning", name);
	*ret = (int64_t)id;
	return P_OK;
}

/* Left as it is where the client does not say. A browser that reconnects sends Last-Event-ID with the address it had:
 * that is the newer of the two. */
static enum problem_code read_after(struct call *call, int64_t *ret)
{
	struct str header = http_req_header(call->req, "last-event-id"), query = call_query(call, "after");

	if (header.p && header.n)
		return read_id(call, header, "Last-Event-ID", ret);
	return query.p ? read_id(call, query, "after", ret) : P_OK;
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
			return call_refuse(call, P_INVALID_FIELD, name,
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
		return call_refuse(call, P_INVALID_FIELD, name,
				   "%s is not an RFC 3339 time, as in 2026-01-30T00:00:00Z", name);
	return P_OK;
}

static enum problem_code read_order(struct call *call, bool *ret_newest_first)
{
	struct str order = call_query(call, "order");

	if (order.p && !str_is(order, "newest") && !str_is(order, "oldest"))
		return call_refuse(call, P_INVALID_FIELD, "order", "order is neither newest nor oldest");
	*ret_newest_first = str_is(order, "newest");
	return P_OK;
}

static enum problem_code read_limit(struct call *call, size_t *ret)
{
	struct str text = call_query(call, "limit");
	uint64_t limit = LIMIT_DEFAULT;

	if (text.p && (!str_to_u64(text, &limit) || limit < 1 || limit > LIMIT_MAX))
		return call_refuse(call, P_INVALID_FIELD, "limit", "limit is not a number from 1 to %d",
				   LIMIT_MAX);
	*ret = limit;
	return P_OK;
}

/* --- GET /v1/events --- */

/* A client that names only JSON wants a page; one that does not care, the stream. */
static bool wants_json(const struct call *call)
{
	struct str accept = http_req_header(call->req, "accept");

	return accept.n && memmem(accept.p, accept.n, "application/json", 16) &&
	       !memmem(accept.p, accept.n, "text/event-stream", 17);
}

/* Instead of a reply that ends. */
static void open_stream(struct call *call)
{
	const struct event_list *l = call_op(call);

	if (call->op->problem.code == P_OK)
		feed_open(call, l->after, l->filter.kinds ? l->filter.kinds : UINT64_MAX);
	else
		reply_send(call);
}

/* A stream begins where the client says, otherwise at the end. */
static enum problem_code decode_stream(struct call *call)
{
	struct event_list *l = call_op(call);

	l->limit = 0;
	if (atomic_load(&call->api->engine->draining))
		return call_refuse(call, P_DRAINING, NULL, "the server is stopping");
	if (http_req_method(call->req) != HTTP_HEAD)
		call->finish = open_stream;
	return P_OK;
}

static enum problem_code decode_events(struct call *call)
{
	struct event_list *l = call_op(call);
	bool is_page = wants_json(call);
	enum problem_code code;

	l->after = is_page ? 0 : INT64_MAX;
	code = read_after(call, &l->after);
	if (code == P_OK)
		code = read_kinds(call, "types", event_kinds_named, &l->filter.kinds);
	if (code == P_OK)
		code = read_limit(call, &l->limit);
	return code == P_OK && !is_page ? decode_stream(call) : code;
}

static void encode_events(struct call *call)
{
	const struct event_list *l = call_op(call);
	struct json_writer w;

	if (l->limit == 0) {
		call->content_type = "text/event-stream";
		return;
	}
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "events");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++)
		event_json_put(&w, &l->rows[i], call->op->space_name, call->op->arena);
	json_end_array(&w);
	json_member_int(&w, "next", l->next);
	json_member_bool(&w, "has_more", l->has_more);
	call_end_reply(call, &w);
}

/* --- GET /v1/audit --- */

static enum problem_code read_object(struct call *call, struct event_filter *ret)
{
	struct str actor = call_query(call, "actor"), object = call_query(call, "object");
	enum problem_code code = P_OK;

	if (actor.p)
		code = decode_check_name(actor, "actor", NAME_MAX_BYTES, &call->op->problem);
	if (code == P_OK && object.p)
		code = decode_check_name(object, "object", OBJECT_MAX_BYTES, &call->op->problem);
	if (code != P_OK)
		return code;
	ret->actor = actor;
	if (object.p)
		event_filter_object(object, ret);
	return P_OK;
}

static enum problem_code decode_audit(struct call *call)
{
	static const char *const known[] = {"actor", "object", "action", "since", "until", "after", "order", NULL};
	struct event_list *l = call_op(call);
	struct page *page = arena_zalloc(call->op->arena, sizeof(*page));
	enum problem_code code = page_read_only(call, known, page);

	call->input = page;
	if (code == P_OK)
		code = read_after(call, &l->after);
	if (code == P_OK)
		code = read_object(call, &l->filter);
	if (code == P_OK)
		code = read_kinds(call, "action", event_kinds_acting, &l->filter.kinds);
	if (code == P_OK)
		code = read_time(call, "since", &l->since_ms);
	if (code == P_OK)
		code = read_time(call, "until", &l->until_ms);
	if (code == P_OK)
		code = read_order(call, &l->filter.newest_first);
	if (page->position && l->filter.newest_first)
		l->before = (int64_t)page->position;
	else if (page->position)
		l->after = (int64_t)page->position;
	l->limit = page->size;
	return code;
}

static void encode_audit(struct call *call)
{
	const struct event_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "entries");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++)
		event_json_put_entry(&w, &l->rows[i], call->op->space_name, call->op->arena);
	json_end_array(&w);
	if (!l->filter.newest_first)
		json_member_int(&w, "next", l->next);
	page_put_next(call, call->input, &w, l->has_more, (uint64_t)l->next, 0);
	call_end_reply(call, &w);
}

const struct route event_routes[] = {
	{HTTP_GET, "/v1/events", &event_list_kind, &describe_watch_events, decode_events, encode_events},
	{HTTP_GET, "/v1/audit", &event_list_kind, &describe_audit, decode_audit, encode_audit},
	{0},
};
