/* From bytes to requests. */
#include "net/http_internal.h"

#include <assert.h>
#include <stdlib.h>

/* --- Refusals -------------------------------------------------------------------------------- */

void http_refusal_body(const struct http_server *server, int status, const char *code, const char *detail,
		       struct buf *ret_body)
{
	const struct http_config *config = &server->config;

	if (config->on_refusal)
		config->on_refusal(config->ctx, status, code, detail, ret_body);
	else
		buf_printf(ret_body, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,"
			   "\"code\":\"%s\",\"detail\":\"%s\"}", http_status_text(status), status, code, detail);
}

void http_conn_refuse(struct http_conn *conn, int status, const char *code, const char *detail)
{
	struct buf body;

	buf_init(&body, SIZE_MAX / 2);
	http_refusal_body(conn->loop->server, status, code, detail, &body);
	if (!conn->is_turned_away)
		atomic_fetch_add_explicit(&conn->loop->refused, 1, memory_order_relaxed);
	conn->is_last = conn->may_send = true;
	http_conn_answer(conn, status, status == 503 ? "Retry-After: 1\r\n" : "", &body);
}

void http_conn_turn_away(struct http_conn *conn)
{
	http_conn_refuse(conn, 503, "too_many_connections", HTTP_TURNED_AWAY_WORDS);
}

static void refuse_problem(struct http_conn *conn, const struct http_problem *problem)
{
	http_conn_refuse(conn, problem->status, problem->code, problem->detail);
}

static void refuse_large_body(struct http_conn *conn)
{
	http_conn_refuse(conn, 413, "body_too_large", "The request's body is larger than this server takes.");
}

static void refuse_body_total(struct http_conn *conn)
{
	http_conn_refuse(conn, 503, "busy", "The server holds as many bytes of requests as it takes; try again.");
}

/* Asks the application whether it wants the request, before its body is read. True where it does; otherwise
 * *ret_skipped is set: bytes of a body that nobody wants, out of the `arrived` that follow the head. */
static bool ask_application(struct http_conn *conn, size_t arrived, size_t *ret_skipped)
{
	const struct http_config *config = &conn->loop->server->config;
	struct http_req *req = conn->req;
	struct buf body;
	int status;

	if (config->on_head == NULL)
		return true;
	buf_init(&body, SIZE_MAX / 2);
	status = config->on_head(config->ctx, req, &body);
	if (status == 0) {
		buf_release(&body);
		return true;
	}
	atomic_fetch_add_explicit(&conn->loop->refused, 1, memory_order_relaxed);
	conn->refusals = (uint8_t)(conn->refusals < HTTP_REFUSALS_MAX ? conn->refusals + 1 : HTTP_REFUSALS_MAX);
	/* A body that is here already is skipped, and the connection kept; one that is not is not waited for. */
	if (!req->is_chunked && req->content_length <= arrived) {
		*ret_skipped = (size_t)req->content_length;
		conn->is_last = !req->keep_alive;
	} else {
		*ret_skipped = arrived;
		conn->is_last = conn->may_send = true;
	}
	http_conn_answer(conn, status, "", &body);
	return false;
}

/* --- The body -------------------------------------------------------------------------------- */

static void hand_over(struct http_conn *conn)
{
	const struct http_config *config = &conn->loop->server->config;
	struct http_loop *loop = conn->loop;
	struct http_req *req = conn->req;

	http_conn_set_state(conn, HTTP_CONN_HELD);
	conn->refusals = 0;
	conn->is_last = !req->keep_alive;
	req->is_held = true;
	list_add(&loop->reqs, &req->link);
	atomic_fetch_add_explicit(&loop->requests_active, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&loop->requests, 1, memory_order_relaxed);
	config->on_request(config->ctx, req);
}

/* The body's memory is doubled, up to what it can become. */
static bool make_room(struct http_conn *conn, size_t wanted, size_t most)
{
	struct http_req *req = conn->req;
	size_t cap = req->body_cap * 2;

	if (wanted <= req->body_cap)
		return true;
	if (cap < wanted)
		cap = wanted;
	if (http_req_grow_body(req, cap < most ? cap : most))
		return true;
	refuse_body_total(conn);
	return false;
}

static void append_body(struct http_req *req, struct str data)
{
	assert(req->body_cap - req->body_len >= data.n);
	memcpy(req->body + req->body_len, data.p, data.n);
	req->body_len += data.n;
}

uv_buf_t http_conn_body_room(struct http_conn *conn)
{
	struct http_req *req = conn->req;

	assert(req->body_cap > req->body_len);
	return uv_buf_init(req->body + req->body_len, (unsigned int)(req->body_cap - req->body_len));
}

/* After some bytes of a body of known length: hands the request over, or sees to it that there is room for more. */
static void continue_body(struct http_conn *conn)
{
	struct http_req *req = conn->req;

	if (req->body_len == req->content_length)
		hand_over(conn);
	else if (req->body_len == req->body_cap)
		make_room(conn, req->body_len + 1, (size_t)req->content_length);
}

void http_conn_take_body(struct http_conn *conn, size_t len)
{
	assert(len <= conn->req->body_cap - conn->req->body_len);
	conn->req->body_len += len;
	conn->is_taking = true;
	continue_body(conn);
	conn->is_taking = false;
}

static size_t take_known_body(struct http_conn *conn, struct str data)
{
	struct http_req *req = conn->req;
	size_t missing = (size_t)req->content_length - req->body_len;

	if (data.n > missing)
		data.n = missing;
	if (!make_room(conn, req->body_len + data.n, (size_t)req->content_length))
		return data.n;
	append_body(req, data);
	continue_body(conn);
	return data.n;
}

static size_t take_chunked_body(struct http_conn *conn, struct str data)
{
	size_t max_bytes = conn->loop->server->config.limits.max_body_bytes;
	struct http_req *req = conn->req;
	struct str rest = data, piece;

	for (;;) {
		switch (http_chunk_decode(&req->chunk, &rest, &piece)) {
		case HTTP_CHUNK_MORE:
			return data.n;
		case HTTP_CHUNK_SIZE:
			if (req->chunk.left > max_bytes - req->body_len) {
				refuse_large_body(conn);
				return data.n;
			}
			break;
		case HTTP_CHUNK_DATA:
			if (!make_room(conn, req->body_len + piece.n, max_bytes))
				return data.n;
			append_body(req, piece);
			break;
		case HTTP_CHUNK_END:
			hand_over(conn);
			return data.n - rest.n;
		case HTTP_CHUNK_BAD:
			http_conn_refuse(conn, 400, "bad_chunk", "The chunked body is malformed, or has trailers.");
			return data.n;
		}
	}
}

/* The head has been let in, `arrived` bytes follow it. */
static void begin_body(struct http_conn *conn, size_t arrived)
{
	const struct http_limits *limits = &conn->loop->server->config.limits;
	struct http_req *req = conn->req;

	if (!req->is_chunked && req->content_length == 0) {
		hand_over(conn);
		return;
	}
	if (req->content_length > limits->max_body_bytes) {
		refuse_large_body(conn);
		return;
	}
	if (!req->is_chunked) {
		size_t first = (size_t)req->content_length;

		if (!req->is_body_inline && first > HTTP_BODY_FIRST_BYTES)
			first = HTTP_BODY_FIRST_BYTES;
		if (!make_room(conn, first, (size_t)req->content_length))
			return;
	}
	if (req->expects_continue && arrived == 0)
		http_conn_send(conn, STR("HTTP/1.1 100 Continue\r\n\r\n"), NULL);
}

/* --- The head -------------------------------------------------------------------------------- */

static size_t take_head(struct http_conn *conn, char *data, size_t len)
{
	struct http_loop *loop = conn->loop;
	const struct http_limits *limits = &loop->server->config.limits;
	const struct http_problem *problem;
	struct http_head head;
	size_t head_len, skipped = 0;

	switch (http_scan(&conn->scan, (struct str){data, len}, limits, &problem)) {
	case HTTP_SCAN_MORE:
		if (conn->state == HTTP_CONN_IDLE)
			http_conn_set_state(conn, HTTP_CONN_HEAD);
		return 0;
	case HTTP_SCAN_REFUSED:
		refuse_problem(conn, problem);
		return len;
	case HTTP_SCAN_DONE:
		break;
	}
	head_len = conn->scan.at;
	conn->scan = (struct http_scan){0};
	problem = http_head_parse(data, head_len, limits, loop->fields, &head);
	if (problem) {
		refuse_problem(conn, problem);
		return len;
	}
	conn->req = http_req_new(conn, &head, (struct str){data, head_len});
	http_conn_set_state(conn, HTTP_CONN_BODY);
	if (ask_application(conn, len - head_len, &skipped))
		begin_body(conn, len - head_len);
	return head_len + skipped;
}

size_t http_conn_take(struct http_conn *conn, char *data, size_t len)
{
	size_t used = 0, step = 1;

	assert(!conn->is_taking);
	conn->is_taking = true;
	while (used < len && step > 0 && conn->state <= HTTP_CONN_BODY) {
		struct str rest = {data + used, len - used};

		if (conn->state != HTTP_CONN_BODY)
			step = take_head(conn, data + used, rest.n);
		else if (conn->req->is_chunked)
			step = take_chunked_body(conn, rest);
		else
			step = take_known_body(conn, rest);
		used += step;
	}
	conn->is_taking = false;
	return conn->state <= HTTP_CONN_WRITING ? used : len;
}
