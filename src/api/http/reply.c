#include "api/http/reply.h"

#include "api/gate.h"
#include "api/http/pace.h"
#include "core/delivery/handoff_id.h"

#include <assert.h>
#include <stdio.h>

static const struct {
	int status;
	const char *title;
} titles[] = {
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{410, "Gone"},
	{412, "Precondition Failed"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{421, "Misdirected Request"},
	{422, "Unprocessable Content"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
	{507, "Insufficient Storage"},
};

static const char *title_of(int status)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

static void begin_problem(struct json_writer *w, struct buf *out, int status, const char *code, const char *field,
			  const char *detail, bool retryable)
{
	json_writer_init(w, out);
	json_begin_object(w);
	json_member_cstr(w, "type", "about:blank");
	json_member_cstr(w, "title", title_of(status));
	json_member_int(w, "status", status);
	json_member_cstr(w, "code", code);
	if (field[0])
		json_member_cstr(w, "field", field);
	json_member_cstr(w, "detail", detail);
	json_member_bool(w, "retryable", retryable);
}

void reply_problem_body(const struct problem *problem, struct buf *out)
{
	const struct problem_kind *kind = problem_kind(problem->code);
	char id[HANDOFF_ID_SIZE];
	struct json_writer w;

	begin_problem(&w, out, kind->status, kind->name, problem->field, problem->detail,
		      problem_is_retryable(problem));
	if (problem->retry_after_ms)
		json_member_int(&w, "retry_after_ms", problem->retry_after_ms);
	if (problem->extra_key)
		json_member_int(&w, problem->extra_key, problem->extra);
	if (problem->handoff) {
		handoff_id_format(problem->handoff, id);
		json_member_cstr(&w, "handoff", id);
	}
	if (problem->remedies) {
		json_key(&w, "remedies");
		json_begin_array(&w);
		for (const char *const *r = problem->remedies; *r; r++)
			json_put_cstr(&w, *r);
		json_end_array(&w);
	}
	json_end_object(&w);
}

void reply_refusal_body(int status, const char *code, const char *detail, struct buf *out)
{
	struct json_writer w;

	begin_problem(&w, out, status, code, "", detail, status == 503 || status == 408);
	json_end_object(&w);
}

static void send_problem(struct http_call *http)
{
	const struct call *call = &http->call;
	char seconds[24];
	struct http_header headers[2] = {{0}};
	struct buf body;

	buf_init(&body, 65536);
	reply_problem_body(&call->op->problem, &body);
	pace_problem(call->api, http->req, &call->op->problem);
	if (call->op->problem.retry_after_ms) {
		snprintf(seconds, sizeof(seconds), "%lld",
			 (long long)((call->op->problem.retry_after_ms + 999) / 1000));
		headers[0] = (struct http_header){"Retry-After", str_of(seconds)};
	} else if (call->op->problem.code == P_METHOD_NOT_ALLOWED) {
		headers[0] = (struct http_header){"Allow", call->location};
	}
	http_reply(http->req, problem_kind(call->op->problem.code)->status, "application/problem+json", headers, &body);
}

/* A stream has begun its reply: what is wrong is its last event. */
static void end_stream(struct http_call *http)
{
	struct call *call = &http->call;
	struct buf event;

	buf_release(&call->reply);
	if (call->op->arena != http_req_arena(http->req))
		arena_release(call->op->arena);
	if (call->op->problem.code != P_OK) {
		buf_init(&event, 65536);
		pace_problem(call->api, http->req, &call->op->problem);
		buf_puts(&event, "event: problem\ndata: ");
		reply_problem_body(&call->op->problem, &event);
		buf_puts(&event, "\n\n");
		http_stream_write(http->req, buf_str(&event));
		buf_release(&event);
	}
	http_stream_end(http->req);
}

void reply_send(struct http_call *http)
{
	struct call *call = &http->call;
	enum { OWN_MAX = 4, OTHERS_MAX = 8 };
	struct http_header headers[OWN_MAX + OTHERS_MAX + 1];
	size_t count = 0;
	const char *type = call->status == 304 || call->status == 204 ? NULL
			   : call->content_type                       ? call->content_type
								      : "application/json";

	held_remove(&http->held);
	gate_pass(call->api, call->op);
	if (http->is_stream) {
		end_stream(http);
		return;
	}
	if (call->op->problem.code == P_OK && buf_overflowed(&call->reply))
		call_refuse(call, P_TOO_LARGE, NULL,
			    "the answer would be larger than %d bytes; ask for less at a time", REPLY_MAX);
	if (call->op->problem.code != P_OK) {
		buf_release(&call->reply);
		send_problem(http);
		return;
	}
	if (call->etag.p)
		headers[count++] = (struct http_header){"ETag", call->etag};
	if (call->location.p)
		headers[count++] = (struct http_header){"Location", call->location};
	if (call->op->is_replayed)
		headers[count++] = (struct http_header){"Idempotent-Replayed", STR("true")};
	if (call->traceparent.p)
		headers[count++] = (struct http_header){"traceparent", call->traceparent};
	for (const struct http_header *h = http->headers; h && h->name; h++) {
		assert(count < OWN_MAX + OTHERS_MAX);
		headers[count++] = *h;
	}
	headers[count] = (struct http_header){0};
	http_reply(http->req, call->status, type, headers, &call->reply);
}
