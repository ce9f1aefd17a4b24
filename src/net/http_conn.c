/* A connection: its states, reading, deadlines, and its end. With TLS it begins in HANDSHAKE, then goes on as here:
 *
 *              first byte        head whole        body whole        reply given        all out
 *     IDLE ------------> HEAD ------------> BODY ------------> HELD ------------> WRITING ------> IDLE
 *                                                                                        `------> LINGER -> CLOSED
 *
 * States are skipped where they would last no time: a request that comes in one read goes from IDLE to HELD, and a
 * reply that the kernel takes at once goes back to IDLE. A refusal goes from wherever it is to WRITING. A reply that is
 * held back (http_pace.c) stays in PACED before it is WRITING.
 *
 * Reading goes on while a request is held, because that is how the end of the client shows; it stops only while
 * HTTP_READ_BYTES of the next requests wait already. The end of the client's bytes while a request is held means
 * that the client has gone.
 *
 * Deadlines are lazy: a state sets due_ms, and the timer is moved only where it would come too late. A timer that
 * comes too early looks at due_ms and is set again. So a busy connection costs no heap operation.
 */
#include "net/http_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A line's end is looked at before its length is. */
enum { HEAD_SLACK = 4 };

static void on_deadline(struct http_timer *timer);

size_t http_conn_queued(const struct http_conn *conn)
{
	return uv_stream_get_write_queue_size((const uv_stream_t *)&conn->tcp) +
	       (conn->tls ? http_tls_queued(conn) : 0);
}

void http_conn_set_state(struct http_conn *conn, enum http_conn_state state)
{
	assert(conn->state != HTTP_CONN_CLOSED);
	conn->state = state;
	conn->is_timed = false;
}

void http_conn_make_ready(struct http_conn *conn)
{
	if (list_is_empty(&conn->ready_link))
		list_add(&conn->loop->ready, &conn->ready_link);
}

/* --- The end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	struct http_conn *conn = handle->data;

	buf_release(&conn->in);
	http_tls_free(conn);
	free(conn);
}

/* The memory stays until the loop has come round, so that callers up the stack may still look at the state. */
static void close_conn(struct http_conn *conn)
{
	struct http_server *server = conn->loop->server;

	assert(conn->state != HTTP_CONN_HELD);
	if (conn->state == HTTP_CONN_CLOSED)
		return;
	if (conn->req) {
		http_req_free(conn->req);
		conn->req = NULL;
	}
	http_conn_set_state(conn, HTTP_CONN_CLOSED);
	http_timer_clear(conn->loop, &conn->timer);
	list_remove(&conn->link);
	list_remove(&conn->ready_link);
	http_pace_drop(conn);
	uv_close((uv_handle_t *)&conn->tcp, on_closed);
	atomic_fetch_sub(conn->is_turned_away ? &server->turned_away : &server->connections, 1);
	http_loop_tell(conn->loop);
}

void http_conn_lose(struct http_conn *conn)
{
	struct http_req *req = conn->req;
	void (*fn)(struct http_req *req, void *arg);

	if (conn->state != HTTP_CONN_HELD) {
		close_conn(conn);
		return;
	}
	conn->req = NULL;
	req->conn = NULL;
	http_conn_set_state(conn, HTTP_CONN_WRITING);
	close_conn(conn);
	fn = req->gone_fn;
	req->gone_fn = NULL;
	if (fn)
		fn(req, req->gone_arg);
}

/* Everything is out. A client that may still be sending would get a reset if the socket were closed now, and
 * might lose the reply to it: say that nothing more comes, then drop what it sends, for a moment. */
static void finish(struct http_conn *conn)
{
	uv_os_fd_t fd;

	http_tls_say_end(conn);
	if (!conn->may_send || conn->has_eof || uv_fileno((uv_handle_t *)&conn->tcp, &fd) != 0 ||
	    shutdown(fd, SHUT_WR) != 0) {
		close_conn(conn);
		return;
	}
	conn->progress = 0;
	http_conn_set_state(conn, HTTP_CONN_LINGER);
}

void http_conn_flushed(struct http_conn *conn)
{
	if (conn->state == HTTP_CONN_HELD) {
		conn->is_timed = false;
		http_req_taken(conn->req);
		return;
	}
	if (conn->state != HTTP_CONN_WRITING)
		return;
	if (conn->is_last || conn->has_eof) {
		finish(conn);
		return;
	}
	http_conn_set_state(conn, HTTP_CONN_IDLE);
	if (conn->in.len > 0 && !conn->is_taking)
		http_conn_make_ready(conn);
}

void http_conn_replied(struct http_conn *conn)
{
	conn->req = NULL;
	http_conn_set_state(conn, HTTP_CONN_WRITING);
	if (conn->has_failed)
		close_conn(conn);
	else if (http_conn_queued(conn) == 0)
		http_conn_flushed(conn);
	if (!conn->is_taking)
		http_conn_settle(conn);
}

/* --- Reading --------------------------------------------------------------------------------- */

uv_buf_t http_conn_room(struct http_conn *conn)
{
	size_t size = HTTP_READ_BYTES, head_left;

	if (conn->state == HTTP_CONN_BODY && !conn->req->is_chunked)
		return http_conn_body_room(conn);
	/* Of a head that comes slowly no more is kept than it may have. */
	head_left = conn->loop->server->config.limits.max_header_bytes + HEAD_SLACK - conn->in.len;
	if (conn->state == HTTP_CONN_HEAD && size > head_left)
		size = head_left;
	return uv_buf_init(conn->tls ? conn->loop->plain_buf : conn->loop->read_buf, (unsigned int)size);
}

static bool is_tls(const struct http_conn *conn)
{
	return conn->loop->server->config.tls != NULL;
}

/* What comes now stands behind a request that is not over. */
static bool is_behind(const struct http_conn *conn)
{
	return conn->state == HTTP_CONN_HELD || conn->state == HTTP_CONN_PACED || conn->state == HTTP_CONN_WRITING;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	struct http_conn *conn = handle->data;

	(void)suggested;
	*ret = is_tls(conn) ? uv_buf_init(conn->loop->read_buf, HTTP_READ_BYTES) : http_conn_room(conn);
	if (!is_tls(conn) && is_behind(conn)) {
		assert(conn->in.len < ret->len);
		ret->len -= conn->in.len;
	}
}

/* What may stand in `in` is bounded by the limits on heads and by what is read behind a held request. */
static void keep(struct http_conn *conn, const char *data, size_t len)
{
	buf_append(&conn->in, data, len);
	assert(!buf_overflowed(&conn->in));
}

/* Runs what has come through http_conn_take, and keeps what it leaves. */
static void take_read(struct http_conn *conn, char *data, size_t len)
{
	size_t used;

	if (conn->in.len == 0) {
		used = http_conn_take(conn, data, len);
		if (conn->state <= HTTP_CONN_WRITING)
			keep(conn, data + used, len - used);
		return;
	}
	keep(conn, data, len);
	used = http_conn_take(conn, conn->in.data, conn->in.len);
	buf_consume(&conn->in, used);
}

void http_conn_ended(struct http_conn *conn, bool is_error)
{
	conn->has_eof = true;
	uv_read_stop((uv_stream_t *)&conn->tcp);
	conn->is_reading = false;
	/* A client that has shut down its side after a request may well read the reply that is under way. */
	if ((conn->state == HTTP_CONN_WRITING || conn->state == HTTP_CONN_PACED) && !is_error)
		return;
	http_conn_lose(conn);
}

/* What had come before the drain was read. A request that is whole is the application's by now; no more is waited for.
 */
static void end_reading(struct http_conn *conn)
{
	if (!conn->loop->is_draining)
		return;
	if (conn->state == HTTP_CONN_IDLE)
		close_conn(conn);
	else if (conn->state == HTTP_CONN_HEAD || conn->state == HTTP_CONN_BODY)
		http_conn_refuse(conn, 503, "shutting_down", "The server is shutting down.");
}

void http_conn_received(struct http_conn *conn, char *data, size_t len)
{
	switch (conn->state) {
	case HTTP_CONN_BODY:
		if (conn->req->is_chunked)
			take_read(conn, data, len);
		else
			http_conn_take_body(conn, len);
		break;
	case HTTP_CONN_IDLE:
	case HTTP_CONN_HEAD:
		take_read(conn, data, len);
		break;
	case HTTP_CONN_HELD:
	case HTTP_CONN_PACED:
	case HTTP_CONN_WRITING:
		keep(conn, data, len);
		break;
	case HTTP_CONN_HANDSHAKE:
	case HTTP_CONN_LINGER:
	case HTTP_CONN_CLOSED:
		break;
	}
}

/* Dropped as they come, decrypted or not. */
static void drop(struct http_conn *conn, size_t len)
{
	conn->progress += len;
	if (conn->progress > HTTP_LINGER_BYTES)
		close_conn(conn);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
	struct http_conn *conn = stream->data;
	const struct http_loop *loop = conn->loop;

	if (len == 0 || conn->state == HTTP_CONN_CLOSED)
		return;
	if (len < 0)
		http_conn_ended(conn, len != UV_EOF);
	else if (conn->state == HTTP_CONN_LINGER)
		drop(conn, (size_t)len);
	else if (is_tls(conn))
		http_tls_input(conn, buf->base, (size_t)len);
	else
		http_conn_received(conn, buf->base, (size_t)len);
	/* Keys are in what was read. */
	if (len > 0 && buf->base == loop->read_buf)
		mem_wipe(buf->base, (size_t)len);
	if (len > 0)
		end_reading(conn);
	http_conn_settle(conn);
}

static void set_reading(struct http_conn *conn)
{
	bool is_full = is_behind(conn) && conn->in.len >= HTTP_READ_BYTES;
	bool want = !conn->has_eof && !is_full;

	if (want == conn->is_reading)
		return;
	conn->is_reading = want;
	if (want)
		uv_read_start((uv_stream_t *)&conn->tcp, on_room, on_read);
	else
		uv_read_stop((uv_stream_t *)&conn->tcp);
}

void http_conn_ready(struct http_conn *conn)
{
	if (conn->has_failed) {
		http_conn_lose(conn);
		return;
	}
	if ((conn->state == HTTP_CONN_IDLE || conn->state == HTTP_CONN_HEAD) && conn->in.len > 0)
		buf_consume(&conn->in, http_conn_take(conn, conn->in.data, conn->in.len));
	end_reading(conn);
	http_conn_settle(conn);
}

/* --- Deadlines ------------------------------------------------------------------------------- */

/* How long the present state may last; -1: for ever. */
static int64_t state_limit_ms(const struct http_conn *conn)
{
	const struct http_limits *limits = &conn->loop->server->config.limits;

	switch (conn->state) {
	case HTTP_CONN_IDLE:
		return limits->idle_timeout_ms;
	case HTTP_CONN_HANDSHAKE:
	case HTTP_CONN_HEAD:
		return limits->header_timeout_ms;
	case HTTP_CONN_BODY:
		return limits->body_timeout_ms;
	case HTTP_CONN_HELD:
	case HTTP_CONN_WRITING:
		return http_conn_queued(conn) > 0 ? limits->write_timeout_ms : -1;
	case HTTP_CONN_PACED:
		return conn->paced->delay_ms;
	case HTTP_CONN_LINGER:
		return HTTP_LINGER_MS;
	case HTTP_CONN_CLOSED:
		break;
	}
	return -1;
}

static void set_deadline(struct http_conn *conn)
{
	int64_t limit_ms = state_limit_ms(conn);

	conn->is_timed = true;
	if (conn->state == HTTP_CONN_HELD || conn->state == HTTP_CONN_WRITING)
		conn->progress = conn->queued_total - http_conn_queued(conn);
	conn->due_ms = limit_ms < 0 ? INT64_MAX : http_now_ms() + limit_ms;
	if (limit_ms >= 0 && (conn->timer.pos == HEAP_NONE || conn->timer.due_ms > conn->due_ms))
		http_timer_set(conn->loop, &conn->timer, conn->due_ms);
}

/* A client that takes none of a reply for a whole write_timeout_ms is cut off. One that takes some gets as long
 * again: the kernel asks for more only when a good part of its buffer is free, so a byte now and then does not do. */
static void on_write_deadline(struct http_conn *conn)
{
	if (conn->queued_total - http_conn_queued(conn) > conn->progress)
		conn->is_timed = false;
	else
		http_conn_lose(conn);
}

static void on_deadline(struct http_timer *timer)
{
	struct http_conn *conn = LIST_ELEMENT(timer, struct http_conn, timer);

	if (conn->due_ms > http_now_ms()) {
		if (conn->due_ms != INT64_MAX)
			http_timer_set(conn->loop, timer, conn->due_ms);
		return;
	}
	switch (conn->state) {
	case HTTP_CONN_HEAD:
		http_conn_refuse(conn, 408, "request_timeout", "The request's headers did not arrive in time.");
		break;
	case HTTP_CONN_BODY:
		http_conn_refuse(conn, 408, "request_timeout", "The request's body did not arrive in time.");
		break;
	case HTTP_CONN_HELD:
	case HTTP_CONN_WRITING:
		on_write_deadline(conn);
		break;
	case HTTP_CONN_PACED:
		http_pace_end(conn);
		break;
	case HTTP_CONN_HANDSHAKE:
		atomic_fetch_add_explicit(&conn->loop->handshakes_failed, 1, memory_order_relaxed);
		close_conn(conn);
		break;
	case HTTP_CONN_IDLE:
	case HTTP_CONN_LINGER:
	case HTTP_CONN_CLOSED:
		close_conn(conn);
		break;
	}
	http_conn_settle(conn);
}

void http_conn_settle(struct http_conn *conn)
{
	if (conn->state == HTTP_CONN_CLOSED)
		return;
	if (conn->in.data && (conn->in.len == 0 || conn->state == HTTP_CONN_LINGER))
		buf_release(&conn->in);
	set_reading(conn);
	if (!conn->is_timed)
		set_deadline(conn);
}

/* --- The beginning --------------------------------------------------------------------------- */

struct http_conn *http_conn_new(struct http_loop *loop, int fd)
{
	struct http_conn *conn = mem_zalloc(sizeof(*conn));

	conn->loop = loop;
	conn->fd = fd;
	conn->state = is_tls(conn) ? HTTP_CONN_HANDSHAKE : HTTP_CONN_IDLE;
	list_init(&conn->link);
	list_init(&conn->ready_link);
	/* A part of a head and one more read; behind a held request, one read. With TLS a read may complete a record of
	 * as much again. */
	buf_init(&conn->in, loop->server->config.limits.max_header_bytes + 4 * HTTP_READ_BYTES);
	conn->in.is_secret = true;
	http_timer_init(&conn->timer, on_deadline);
	return conn;
}

/* There are bytes of a request that nobody has looked at yet. To close such a connection would reset it, and its client
 * could not tell whether the request was carried out. */
static bool has_sent(const struct http_conn *conn)
{
	uv_os_fd_t fd;
	int waiting = 0;

	return conn->in.len > 0 || (uv_fileno((const uv_handle_t *)&conn->tcp, &fd) == 0 &&
				    ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0);
}

/* Of the address alone: a port is a connection's. */
static uint64_t peer_number(const struct http_conn *conn)
{
	struct sockaddr_storage a;
	int len = sizeof(a);

	if (uv_tcp_getpeername(&conn->tcp, (struct sockaddr *)&a, &len) != 0)
		return 0;
	if (a.ss_family == AF_INET6)
		return hash_bytes(&((struct sockaddr_in6 *)&a)->sin6_addr, sizeof(struct in6_addr), 0);
	return hash_bytes(&((struct sockaddr_in *)&a)->sin_addr, sizeof(struct in_addr), 0);
}

void http_conn_open(void *arg)
{
	struct http_conn *conn = arg;
	struct http_loop *loop = conn->loop;

	uv_tcp_init(&loop->uv, &conn->tcp);
	conn->tcp.data = conn;
	list_add(&loop->conns, &conn->link);
	if (uv_tcp_open(&conn->tcp, conn->fd) != 0) {
		close(conn->fd);
		close_conn(conn);
		return;
	}
	if (loop->is_draining && (is_tls(conn) || !has_sent(conn))) {
		close_conn(conn);
		return;
	}
	conn->peer = peer_number(conn);
	if (conn->is_turned_away && !is_tls(conn))
		http_conn_turn_away(conn);
	http_conn_settle(conn);
}

void http_conn_drain(struct http_conn *conn)
{
	switch (conn->state) {
	case HTTP_CONN_HANDSHAKE:
		close_conn(conn);
		break;
	case HTTP_CONN_IDLE:
		if (!has_sent(conn))
			close_conn(conn);
		break;
	case HTTP_CONN_HEAD:
	case HTTP_CONN_BODY:
		http_conn_refuse(conn, 503, "shutting_down", "The server is shutting down.");
		break;
	case HTTP_CONN_PACED:
		conn->is_last = conn->may_send = true;
		http_pace_end(conn);
		break;
	case HTTP_CONN_WRITING:
		conn->is_last = conn->may_send = true;
		break;
	case HTTP_CONN_HELD:
	case HTTP_CONN_LINGER:
	case HTTP_CONN_CLOSED:
		break;
	}
	http_conn_settle(conn);
}
