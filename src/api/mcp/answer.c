/* The answer to a message: JSON, or the last event of a stream. */
#include "api/mcp/mcp_call.h"

#include "api/http/pace.h"
#include "api/mcp/tasks.h"

#include <stdarg.h>

bool mcp_takes_stream(const struct mcp_call *m)
{
	struct str accept = http_req_header(m->req, "accept");

	return accept.n && memmem(accept.p, accept.n, "text/event-stream", 17);
}

void mcp_stream(struct mcp_call *m)
{
	static const struct http_header headers[] = {
		{"Cache-Control", {"no-store", 8}}, {"X-Accel-Buffering", {"no", 2}}, {0},
	};

	if (m->is_stream)
		return;
	m->is_stream = true;
	http_stream_begin(m->req, 200, "text/event-stream", headers);
}

void mcp_stream_put(struct mcp_call *m, struct str message)
{
	http_stream_write(m->req, STR("event: message\ndata: "));
	http_stream_write(m->req, message);
	http_stream_write(m->req, STR("\n\n"));
}

/* --- Sending --- */

/* By the revision: what is wrong with the message as such has a status of its own, what a method says has not. */
static int status_of(const struct mcp_call *m, enum mcp_code code)
{
	switch (code) {
	case MCP_PARSE_ERROR:
	case MCP_INVALID_REQUEST:
	case MCP_HEADER_MISMATCH:
	case MCP_MISSING_CAPABILITY:
	case MCP_UNSUPPORTED_VERSION:
		return 400;
	case MCP_SESSION_NOT_FOUND:
		return 404;
	case MCP_METHOD_NOT_FOUND:
		return mcp_is_modern(m) ? 404 : 200;
	case MCP_INVALID_PARAMS:
		return mcp_is_modern(m) && !m->is_taken ? 400 : 200;
	default:
		return 200;
	}
}

static void send(struct mcp_call *m, int status)
{
	struct http_header headers[] = {{"Mcp-Session-Id", m->new_session}, {0}};

	buf_release(&m->call.reply);
	if (m->is_stream) {
		mcp_stream_put(m, buf_str(&m->out));
		buf_release(&m->out);
		http_stream_end(m->req);
		return;
	}
	if (m->new_session.p == NULL)
		headers[0] = headers[1];
	http_reply(m->req, status, "application/json", headers, &m->out);
}

static void begin(struct mcp_call *m, const char *what)
{
	buf_clear(&m->out);
	json_writer_init(&m->w, &m->out);
	json_begin_object(&m->w);
	json_member_cstr(&m->w, "jsonrpc", "2.0");
	if (m->id) {
		json_key(&m->w, "id");
		json_put(&m->w, m->id);
	}
	json_key(&m->w, what);
	json_begin_object(&m->w);
}

struct json_writer *mcp_begin_type(struct mcp_call *m, const char *type)
{
	begin(m, "result");
	if (mcp_is_modern(m))
		json_member_cstr(&m->w, "resultType", type);
	return &m->w;
}

struct json_writer *mcp_begin(struct mcp_call *m)
{
	return mcp_begin_type(m, "complete");
}

void mcp_cache(struct mcp_call *m, int64_t ttl_ms, bool is_public)
{
	if (!mcp_is_modern(m))
		return;
	json_member_int(&m->w, "ttlMs", ttl_ms);
	json_member_cstr(&m->w, "cacheScope", is_public ? "public" : "private");
}

void mcp_end(struct mcp_call *m)
{
	json_end_object(&m->w);
	json_end_object(&m->w);
	if (buf_overflowed(&m->out)) {
		mcp_error(m, MCP_INTERNAL, "the answer would be larger than %d bytes; ask for less at a time",
			  MCP_ANSWER_MAX);
		return;
	}
	send(m, 200);
}

__attribute__((format(printf, 4, 0)))
static void put_error(struct mcp_call *m, enum mcp_code code, struct str data, const char *format, va_list args)
{
	struct buf text;

	begin(m, "error");
	buf_init(&text, 4096);
	buf_vprintf(&text, format, args);
	json_member_int(&m->w, "code", code);
	json_member_str(&m->w, "message", buf_str(&text));
	buf_release(&text);
	if (data.p) {
		json_key(&m->w, "data");
		json_put_raw(&m->w, data);
	}
	json_end_object(&m->w);
	json_end_object(&m->w);
	send(m, status_of(m, code));
}

void mcp_error_data(struct mcp_call *m, enum mcp_code code, struct str data, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_error(m, code, data, format, args);
	va_end(args);
}

void mcp_error(struct mcp_call *m, enum mcp_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_error(m, code, STR_NULL, format, args);
	va_end(args);
}

void mcp_problem(struct mcp_call *m)
{
	const struct problem *p = &m->call.op->problem;
	enum mcp_code code = problem_kind(p->code)->status >= 500 ? MCP_INTERNAL : MCP_INVALID_PARAMS;

	pace_problem(m->call.api, m->req, p);
	mcp_error(m, code, "%s: %s", problem_kind(p->code)->name, p->detail);
}
