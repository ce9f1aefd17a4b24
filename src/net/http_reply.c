/* Replies and streams, and writing them.
 *
 * Head and body go out in one write. What the kernel does not take is queued with libuv: then, and only then, memory
 * is taken for it.
 */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* A scratch buffer that a large write has grown past this is given back. A reply up to SMALL_REPLY_BYTES is never
 * refused: it says what is wrong, or settles something. */
enum { SCRATCH_KEPT_BYTES = 65536, SMALL_REPLY_BYTES = 65536 };

/* --- Writing --------------------------------------------------------------------------------- */

struct http_write {
	uv_write_t req;
	struct http_conn *conn;
	size_t bytes;	/* counted in `budget` */
	atomic_size_t *budget;
	char *body;	/* owned; NULL: there is none, or it is shared */
	size_t head_len;
	size_t secret;	/* bytes of the body to be wiped */
	char head[];	/* what was left of it */
};

static void free_write(struct http_write *write)
{
	atomic_fetch_sub_explicit(write->budget, write->bytes, memory_order_relaxed);
	mem_wipe(write->body, write->secret);
	mem_wipe(write->head, write->head_len);
	free(write->body);
	free(write);
}

static void on_written(uv_write_t *req, int status)
{
	struct http_write *write = LIST_ELEMENT(req, struct http_write, req);
	struct http_conn *conn = write->conn;

	free_write(write);
	if (conn->state == HTTP_CONN_CLOSED)
		return;
	if (status != 0) {
		http_conn_lose(conn);
		return;
	}
	if (conn->tls)
		http_tls_pump(conn);
	if (http_conn_queued(conn) == 0 && !conn->has_failed) {
		http_conn_flushed(conn);
		http_conn_settle(conn);
	}
}

void http_conn_fail(struct http_conn *conn)
{
	conn->has_failed = true;
	http_conn_make_ready(conn);
}

static struct http_write *new_write(struct http_conn *conn, struct str head, struct buf *body)
{
	struct http_write *write = mem_alloc(sizeof(*write) + head.n);
	bool is_own = body && !body->is_shared;

	write->conn = conn;
	write->head_len = head.n;
	if (head.n > 0)
		memcpy(write->head, head.p, head.n);
	write->secret = is_own && body->is_secret ? body->len : 0;
	write->bytes = head.n + (is_own ? body->len : 0);
	write->body = is_own ? buf_take(body) : NULL;
	write->budget = http_conn_budget(conn);
	atomic_fetch_add_explicit(write->budget, write->bytes, memory_order_relaxed);
	return write;
}

/* Queues what is left of head and body after `sent` bytes. Takes the body. */
static void queue_rest(struct http_conn *conn, struct str head, struct buf *body, size_t sent)
{
	size_t head_sent = sent < head.n ? sent : head.n, body_sent = sent - head_sent;
	size_t head_left = head.n - head_sent, body_len = body ? body->len : 0;
	char *body_data = body ? body->data : NULL;
	struct http_write *write;
	unsigned int count = 0;
	uv_buf_t bufs[2];

	if (conn->is_stranger && !http_conn_has_room(conn, head_left + (body && !body->is_shared ? body_len : 0))) {
		http_conn_fail(conn);
		return;
	}
	write = new_write(conn, str_sub(head, head_sent, head.n), body);
	if (head_left > 0) {
		bufs[count].base = write->head;
		bufs[count++].len = head_left;
	}
	if (body_len > body_sent) {
		bufs[count].base = body_data + body_sent;
		bufs[count++].len = body_len - body_sent;
	}
	if (http_conn_queued(conn) == 0 && (conn->state == HTTP_CONN_HELD || conn->state == HTTP_CONN_WRITING))
		conn->is_timed = false;
	conn->queued_total += head_left + body_len - body_sent;
	if (uv_write(&write->req, (uv_stream_t *)&conn->tcp, bufs, count, on_written) != 0) {
		free_write(write);
		http_conn_fail(conn);
	}
}

void http_conn_write(struct http_conn *conn, struct str head, struct buf *body)
{
	size_t body_len = body ? body->len : 0;
	uv_buf_t bufs[2] = {
		{.base = (char *)(uintptr_t)head.p, .len = head.n},
		{.base = body_len ? body->data : NULL, .len = body_len},
	};
	int sent = 0;

	if (!conn->has_failed && uv_stream_get_write_queue_size((uv_stream_t *)&conn->tcp) == 0) {
		sent = uv_try_write((uv_stream_t *)&conn->tcp, bufs, body_len ? 2 : 1);
		if (sent == UV_EAGAIN)
			sent = 0;
		if (sent < 0)
			http_conn_fail(conn);
	}
	if (!conn->has_failed && (size_t)sent < head.n + body_len)
		queue_rest(conn, head, body, (size_t)sent);
	if (body)
		buf_release(body);
}

void http_conn_send(struct http_conn *conn, struct str head, struct buf *body)
{
	if (conn->tls)
		http_tls_send(conn, head, body);
	else
		http_conn_write(conn, head, body);
}

/* --- The head of a reply --------------------------------------------------------------------- */

const char *http_status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} texts[] = {
		{200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"}, {206, "Partial Content"},
		{301, "Moved Permanently"}, {302, "Found"}, {303, "See Other"}, {304, "Not Modified"},
		{307, "Temporary Redirect"}, {308, "Permanent Redirect"}, {400, "Bad Request"}, {401, "Unauthorized"},
		{402, "Payment Required"}, {403, "Forbidden"}, {404, "Not Found"}, {405, "Method Not Allowed"},
		{406, "Not Acceptable"}, {408, "Request Timeout"}, {409, "Conflict"}, {410, "Gone"},
		{411, "Length Required"}, {412, "Precondition Failed"}, {413, "Content Too Large"},
		{414, "URI Too Long"}, {415, "Unsupported Media Type"}, {416, "Range Not Satisfiable"},
		{417, "Expectation Failed"}, {421, "Misdirected Request"}, {422, "Unprocessable Content"},
		{423, "Locked"}, {424, "Failed Dependency"}, {425, "Too Early"}, {426, "Upgrade Required"},
		{428, "Precondition Required"}, {429, "Too Many Requests"}, {431, "Request Header Fields Too Large"},
		{451, "Unavailable For Legal Reasons"}, {500, "Internal Server Error"}, {501, "Not Implemented"},
		{502, "Bad Gateway"}, {503, "Service Unavailable"}, {504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"}, {507, "Insufficient Storage"}, {508, "Loop Detected"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "Unknown";
}

static void put_number(struct buf *b, uint64_t value)
{
	char digits[STR_U64_SIZE];

	buf_append(b, digits, str_put_u64(digits, value));
}

static void put_date(struct http_loop *loop, struct buf *b)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now_s = time(NULL);
	struct tm tm;

	if (now_s != loop->date_s) {
		struct buf text;

		gmtime_r(&now_s, &tm);
		buf_init(&text, sizeof(loop->date) - 1);
		buf_printf(&text, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday, tm.tm_mday,
			   months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
		memcpy(loop->date, buf_str(&text).p, text.len + 1);
		buf_release(&text);
		loop->date_s = now_s;
	}
	buf_puts(b, loop->date);
}

static void put_line(struct buf *b, const char *name, struct str value)
{
	/* Otherwise a value could end the header and forge what follows. */
	assert(!memchr(value.p, '\r', value.n) && !memchr(value.p, '\n', value.n) && !memchr(value.p, '\0', value.n));
	buf_puts(b, name);
	buf_append(b, ": ", 2);
	buf_put(b, value);
	buf_append(b, "\r\n", 2);
}

static void put_start(struct http_loop *loop, int status, const char *content_type)
{
	struct buf *b = &loop->scratch;

	assert(status >= 200 && status <= 599);
	buf_clear(b);
	buf_puts(b, "HTTP/1.1 ");
	put_number(b, (uint64_t)status);
	buf_putc(b, ' ');
	buf_puts(b, http_status_text(status));
	buf_puts(b, "\r\nDate: ");
	put_date(loop, b);
	buf_puts(b, "\r\n");
	if (content_type)
		put_line(b, "Content-Type", str_of(content_type));
}

static void put_connection(struct buf *b, bool is_last, bool is_http10)
{
	if (is_last)
		buf_puts(b, "Connection: close\r\n");
	else if (is_http10)
		buf_puts(b, "Connection: keep-alive\r\n");
}

static void put_headers(struct buf *b, const struct http_header *headers)
{
	for (const struct http_header *h = headers; h && h->name; h++)
		put_line(b, h->name, h->value.p ? h->value : STR(""));
}

static bool may_have_body(int status)
{
	return status != 204 && status != 304;
}

/* --- Replies --------------------------------------------------------------------------------- */

/* Sends, or holds back until the reply is whole and its time has come. */
static void put(const struct http_req *req, struct str head, struct buf *body)
{
	if (req->hold_ms)
		http_pace_put(req->conn, req->hold_ms, head, body);
	else
		http_conn_send(req->conn, head, body);
}

/* Ends the request; its connection, where it still has one, goes on. */
static void end_request(struct http_req *req)
{
	struct http_loop *loop = req->loop;
	struct http_conn *conn = req->conn;

	http_req_free(req);
	if (conn && conn->paced)
		http_pace_begin(conn);
	else if (conn)
		http_conn_replied(conn);
	http_loop_tell(loop);
}

/* A drain that began meanwhile makes this the last reply. */
static void decide_last(struct http_conn *conn)
{
	if (conn->loop->is_draining)
		conn->is_last = conn->may_send = true;
}

/* Clients that ask for much and do not read would have the server keep all of it. */
static bool is_too_much(struct http_conn *conn, const struct buf *body)
{
	return body && !body->is_shared && body->len > SMALL_REPLY_BYTES && !http_conn_has_room(conn, body->len);
}

void http_reply(struct http_req *req, int status, const char *content_type, const struct http_header *headers,
		struct buf *body)
{
	static const struct http_header retry_later[] = {{"Retry-After", {"1", 1}}, {0}};
	struct http_conn *conn = req->conn;
	struct buf *b = &req->loop->scratch;

	assert(req->is_held && !req->is_stream);
	if (conn && is_too_much(conn, body)) {
		buf_release(body);
		http_refusal_body(req->loop->server, 503, "overloaded", "the answers that other clients have not read "
				  "yet leave no room for this one; ask for less, or again in a moment", body);
		status = 503;
		content_type = "application/problem+json";
		headers = retry_later;
	}
	if (conn) {
		decide_last(conn);
		put_start(req->loop, status, content_type);
		if (may_have_body(status)) {
			buf_puts(b, "Content-Length: ");
			put_number(b, body ? body->len : 0);
			buf_puts(b, "\r\n");
		}
		put_connection(b, conn->is_last, req->is_http10);
		put_headers(b, req->headers);
		put_headers(b, headers);
		buf_append(b, "\r\n", 2);
		if (body && (req->method == HTTP_HEAD || !may_have_body(status)))
			buf_release(body);
		put(req, buf_str(b), body);
		if (req->is_secret)
			mem_wipe(b->data, b->len);
	} else if (body) {
		buf_release(body);
	}
	end_request(req);
}

void http_conn_answer(struct http_conn *conn, int status, const char *extra, struct buf *body)
{
	struct buf *b = &conn->loop->scratch;
	struct http_req *req = conn->req;

	put_start(conn->loop, status, body->len ? "application/problem+json" : NULL);
	buf_puts(b, "Content-Length: ");
	put_number(b, body->len);
	buf_puts(b, "\r\n");
	put_connection(b, conn->is_last, req && req->is_http10);
	put_headers(b, req ? req->headers : NULL);
	buf_puts(b, extra);
	buf_append(b, "\r\n", 2);
	if (req && req->method == HTTP_HEAD)
		buf_release(body);
	if (req)
		put(req, buf_str(b), body);
	else
		http_conn_send(conn, buf_str(b), body);
	if (req) {
		conn->req = NULL;
		http_req_free(req);
	}
	if (conn->paced)
		http_pace_begin(conn);
	else
		http_conn_replied(conn);
}

/* --- Streams --------------------------------------------------------------------------------- */

static bool is_chunked(const struct http_req *req)
{
	return !req->is_http10 && !req->is_sized;
}

static void begin(struct http_req *req, int status, const char *content_type, const struct http_header *headers)
{
	struct http_conn *conn = req->conn;
	struct buf *b = &req->loop->scratch;

	assert(req->is_held && !req->is_stream && may_have_body(status));
	req->is_stream = true;
	if (conn == NULL)
		return;
	decide_last(conn);
	/* HTTP/1.0 has no chunks: the body ends where the connection does. */
	if (req->is_http10 && !req->is_sized)
		conn->is_last = true;
	put_start(req->loop, status, content_type);
	if (is_chunked(req))
		buf_puts(b, "Transfer-Encoding: chunked\r\n");
	if (req->is_sized) {
		buf_puts(b, "Content-Length: ");
		put_number(b, req->reply_left);
		buf_puts(b, "\r\n");
	}
	put_connection(b, conn->is_last, req->is_http10);
	put_headers(b, req->headers);
	put_headers(b, headers);
	buf_append(b, "\r\n", 2);
	http_conn_send(conn, buf_str(b), NULL);
	http_conn_settle(conn);
}

void http_stream_begin(struct http_req *req, int status, const char *content_type, const struct http_header *headers)
{
	begin(req, status, content_type, headers);
}

void http_stream_begin_sized(struct http_req *req, int status, const char *content_type,
			     const struct http_header *headers, uint64_t length)
{
	req->is_sized = true;
	req->reply_left = length;
	begin(req, status, content_type, headers);
}

static bool wants_bytes(const struct http_req *req)
{
	return req->conn && !req->conn->has_failed && req->method != HTTP_HEAD;
}

size_t http_stream_write(struct http_req *req, struct str data)
{
	static const char hex[] = "0123456789abcdef";
	struct buf *b = &req->loop->scratch;
	int shift = 60;

	assert(req->is_stream);
	/* A chunk of no bytes would end the stream. */
	if (data.n == 0 || !wants_bytes(req))
		return wants_bytes(req) ? http_conn_queued(req->conn) : 0;
	buf_clear(b);
	if (req->is_sized) {
		assert(data.n <= req->reply_left);
		req->reply_left -= data.n;
	}
	if (is_chunked(req)) {
		while (data.n >> shift == 0)
			shift -= 4;
		for (; shift >= 0; shift -= 4)
			buf_putc(b, hex[data.n >> shift & 15]);
		buf_append(b, "\r\n", 2);
	}
	buf_put(b, data);
	if (is_chunked(req))
		buf_append(b, "\r\n", 2);
	put(req, buf_str(b), NULL);
	if (b->cap > SCRATCH_KEPT_BYTES)
		buf_release(b);
	http_conn_settle(req->conn);
	return http_conn_queued(req->conn);
}

void http_stream_end(struct http_req *req)
{
	assert(req->is_stream);
	/* The drain may have begun long after the head was sent. */
	if (req->conn)
		decide_last(req->conn);
	assert(!wants_bytes(req) || !req->is_sized || req->reply_left == 0);
	if (wants_bytes(req) && is_chunked(req))
		put(req, STR("0\r\n\r\n"), NULL);
	end_request(req);
}

void http_stream_on_taken(struct http_req *req, void (*fn)(struct http_req *req, void *arg), void *arg)
{
	req->taken_fn = fn;
	req->taken_arg = arg;
}

void http_req_taken(struct http_req *req)
{
	void (*fn)(struct http_req *req, void *arg) = req->taken_fn;

	req->taken_fn = NULL;
	if (fn)
		fn(req, req->taken_arg);
}

/* An end of the connection is how HTTP/1.0 says that all is there; a reset is not. */
static void close_by_reset(struct http_conn *conn)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};
	uv_os_fd_t fd;

	if (uv_fileno((uv_handle_t *)&conn->tcp, &fd) == 0)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

void http_stream_cut(struct http_req *req)
{
	struct http_conn *conn = req->conn;

	assert(req->is_stream);
	if (conn) {
		http_pace_drop(conn);
		if (req->is_http10 && !req->is_sized)
			close_by_reset(conn);
		conn->has_failed = true;	/* so that it is closed as the request ends */
	}
	end_request(req);
}
