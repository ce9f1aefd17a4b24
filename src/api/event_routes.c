/* What has happened, for those who watch and for those who ask later.
 *
 *     GET /v1/events   server-sent events in CloudEvents form, as they happen or from an id on; or a page as JSON
 *     GET /v1/audit    who did what to which object, and when
 *
 * Both read the one history that every write leaves a line in (engine/event_list.h).
 */
#include "api/http/feed.h"
#include "api/http/reply.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/watch/event_list.h"

/* A client that names only JSON wants a page; one that does not care, the stream. */
static bool wants_json(const struct call *call)
{
	struct str accept = call->beside(call, "accept");

	return accept.n && memmem(accept.p, accept.n, "application/json", 16) &&
	       !memmem(accept.p, accept.n, "text/event-stream", 17);
}

/* Instead of a reply that ends. */
static void open_stream(struct http_call *http)
{
	const struct event_list *l = call_op(&http->call);

	if (http->call.op->problem.code == P_OK)
		feed_open(http, l->after, l->filter.kinds ? l->filter.kinds : UINT64_MAX);
	else
		reply_send(http);
}

static enum problem_code decode_stream(struct call *call)
{
	struct event_list *l = call_op(call);

	l->limit = 0;
	if (atomic_load(&call->api->engine->draining))
		return call_refuse(call, P_DRAINING, NULL, "the server is stopping");
	if (http_req_method(http_call_of(call)->req) != HTTP_HEAD)
		http_call_of(call)->finish = open_stream;
	return P_OK;
}

/* Where the client does not say, a stream begins at the end, and a page with the first. */
static enum problem_code decode_events(struct call *call)
{
	struct event_list *l = call_op(call);
	struct str header = call->beside(call, "last-event-id");
	bool is_page = wants_json(call);
	uint64_t id;

	if (header.n && (!str_to_u64(header, &id) || id > INT64_MAX))
		return call_refuse(call, P_INVALID_FIELD, "Last-Event-ID", "Last-Event-ID is not the id of an event: "
				   "a number, 0 for the beginning");
	if (header.n)
		l->after = (int64_t)id;
	else if (l->after < 0)
		l->after = is_page ? 0 : INT64_MAX;
	return is_page ? P_OK : decode_stream(call);
}

const struct route event_routes[] = {
	{HTTP_GET, "/v1/events", &event_list_kind, &describe_watch_events, decode_events, NULL},
	{HTTP_GET, "/v1/audit", &event_list_kind, &describe_audit, NULL, NULL},
	{0},
};
