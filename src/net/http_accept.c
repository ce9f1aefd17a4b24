/* The listening socket and the one acceptor, on the first loop.
 *
 * One acceptor makes the limit on connections exact and shares them out evenly, each loop in its turn. When the process
 * has no descriptor left, the kernel keeps saying that a connection waits: a spare descriptor is closed to make room,
 * the connection is taken, told 503, closed, and the spare opened again. Where even that fails the acceptor
 * looks away for a moment instead of spinning.
 */
#include "net/http_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ACCEPTS_PER_TURN = 64,	/* then the other connections of the loop get their turn */
	LAST_TURNS = 64,	/* when the server drains */
	RETRY_MS = 100,
	WARN_EVERY_MS = 60000,
	BACKLOG = 4096,
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* --- Listening ------------------------------------------------------------------------------- */

static bool parse_address(const char *text, int port, union address *ret, socklen_t *ret_len)
{
	union address a = {0};

	if (inet_pton(AF_INET, text, &a.v4.sin_addr) == 1) {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons((uint16_t)port);
		*ret_len = sizeof(a.v4);
	} else if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1) {
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons((uint16_t)port);
		*ret_len = sizeof(a.v6);
	} else {
		return false;
	}
	*ret = a;
	return true;
}

static void describe_error(int err, const char *address, int port, char *ret_error, size_t error_size)
{
	const char *open = strchr(address, ':') ? "[" : "", *close_ = strchr(address, ':') ? "]" : "";

	if (err == EADDRINUSE)
		snprintf(ret_error, error_size, "%s%s%s:%d is in use by another program", open, address, close_, port);
	else if (err == EADDRNOTAVAIL)
		snprintf(ret_error, error_size, "%s is not an address of this machine", address);
	else if (err == EACCES)
		snprintf(ret_error, error_size, "%s%s%s:%d needs permissions that this program does not have", open,
			 address, close_, port);
	else
		snprintf(ret_error, error_size, "%s%s%s:%d cannot be listened on: %s", open, address, close_, port,
			 strerror(err));
}

static bool make_private(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool http_accept_listen(struct http_server *server, const char *address, int port, char *ret_error, size_t error_size)
{
	struct http_acceptor *acceptor = &server->acceptor;
	union address a;
	socklen_t len;
	int fd = -1, on = 1;

	if (port < 0 || port > 65535) {
		snprintf(ret_error, error_size, "%d is not a port", port);
		return false;
	}
	if (!parse_address(address, port, &a, &len)) {
		snprintf(ret_error, error_size, "'%s' is not a numeric IPv4 or IPv6 address", address);
		return false;
	}
	fd = socket(a.any.sa_family, SOCK_STREAM, 0);
	/* Connections inherit TCP_NODELAY. */
	if (fd < 0 || !make_private(fd) || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 || bind(fd, &a.any, len) != 0 ||
	    listen(fd, BACKLOG) != 0 || getsockname(fd, &a.any, &len) != 0) {
		describe_error(errno, address, port, ret_error, error_size);
		if (fd >= 0)
			close(fd);
		return false;
	}
	server->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
	acceptor->fd = fd;
	acceptor->spare_fd = open_spare();
	return true;
}

/* --- Accepting ------------------------------------------------------------------------------- */

static int accept_one(int listening)
{
#ifdef __linux__
	return accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
	int fd = accept(listening, NULL, NULL);

	if (fd >= 0 && !make_private(fd)) {
		close(fd);
		errno = ECONNABORTED;
		return -1;
	}
	return fd;
#endif
}

static void warn(struct http_server *server, const char *message)
{
	int64_t now_ms = http_now_ms();

	if (server->acceptor.warned_ms != 0 && now_ms - server->acceptor.warned_ms < WARN_EVERY_MS)
		return;
	server->acceptor.warned_ms = now_ms;
	log_write(server->config.log, LOG_WARN, message, LOG_INT("connections", atomic_load(&server->connections)));
}

static void share_out(struct http_server *server, int fd)
{
	struct http_acceptor *acceptor = &server->acceptor;
	struct http_loop *loop = &server->loops[acceptor->next_loop];
	bool is_over = atomic_load(&server->connections) >= server->config.limits.max_connections;
	struct http_conn *conn;

	if (is_over) {
		warn(server, "connection limit reached: new ones are answered with 503");
		atomic_fetch_add(&loop->refused, 1);
		if (atomic_load(&server->turned_away) >= HTTP_TURNED_AWAY_MAX) {
			close(fd);
			return;
		}
	}
	acceptor->next_loop = (acceptor->next_loop + 1) % (unsigned int)server->config.threads;
	conn = http_conn_new(loop, fd);
	conn->is_turned_away = is_over;
	atomic_fetch_add(is_over ? &server->turned_away : &server->connections, 1);
	if (loop->index == 0)
		http_conn_open(conn);
	else
		http_post(server, loop->index, http_conn_open, conn);
}

/* The whole answer at once: it is small, and nobody waits for room. */
static void say_busy(struct http_server *server, int fd)
{
	struct buf body, reply;

	buf_init(&body, 4096);
	buf_init(&reply, 8192);
	http_refusal_body(server, 503, "busy", "The server has no file descriptor left for a connection; try again.",
			  &body);
	buf_printf(&reply, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
		   "Retry-After: 1\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%.*s", body.len,
		   STR_ARG(buf_str(&body)));
	if (send(fd, reply.data, reply.len, MSG_NOSIGNAL) > 0)
		shutdown(fd, SHUT_WR);
	buf_release(&body);
	buf_release(&reply);
}

/* There is no descriptor left. Returns 0 where a waiting connection has been answered, EAGAIN where none waits (the
 * kernel looks for a descriptor before it looks for a connection), or what else is wrong. */
static int answer_with_spare(struct http_server *server)
{
	struct http_acceptor *acceptor = &server->acceptor;
	char dropped[4096];
	int fd, err = 0;

	if (acceptor->spare_fd < 0)
		return EMFILE;
	close(acceptor->spare_fd);
	fd = accept_one(acceptor->fd);
	if (fd < 0) {
		err = errno;
	} else {
		warn(server, "no file descriptor left: new connections are answered with 503");
		atomic_fetch_add(&server->loops[0].refused, 1);
		/* A request that has been read does not turn the close into a reset that overtakes the answer. */
		while (recv(fd, dropped, sizeof(dropped), 0) == (ssize_t)sizeof(dropped))
			continue;
		say_busy(server, fd);
		close(fd);
	}
	acceptor->spare_fd = open_spare();
	return err;
}

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_retry(struct http_timer *timer)
{
	struct http_acceptor *acceptor = LIST_ELEMENT(timer, struct http_acceptor, retry);

	if (acceptor->spare_fd < 0)
		acceptor->spare_fd = open_spare();
	uv_poll_start(&acceptor->poll, UV_READABLE, on_connection);
}

static void look_away(struct http_server *server)
{
	uv_poll_stop(&server->acceptor.poll);
	http_timer_set(&server->loops[0], &server->acceptor.retry, http_now_ms() + RETRY_MS);
}

/* accept has failed with err. True where the next connection may be tried at once. */
static bool accept_failed(struct http_server *server, int err)
{
	if (err == EMFILE || err == ENFILE)
		err = answer_with_spare(server);
	switch (err) {
	case 0:
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
		return true;
	case EAGAIN:
#if EWOULDBLOCK != EAGAIN
	case EWOULDBLOCK:
#endif
		return false;
	default:
		look_away(server);
		return false;
	}
}

/* True where more may be waiting. */
static bool accept_some(struct http_server *server)
{
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept_one(server->acceptor.fd);

		if (fd >= 0)
			share_out(server, fd);
		else if (!accept_failed(server, errno))
			return false;
	}
	return true;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct http_server *server = poll->data;

	(void)events;
	if (status != 0)
		look_away(server);
	else
		accept_some(server);
}

void http_accept_start(struct http_server *server)
{
	struct http_acceptor *acceptor = &server->acceptor;
	int err = uv_poll_init(&server->loops[0].uv, &acceptor->poll, acceptor->fd);

	assert(err == 0);
	(void)err;
	acceptor->poll.data = server;
	http_timer_init(&acceptor->retry, on_retry);
	uv_poll_start(&acceptor->poll, UV_READABLE, on_connection);
}

static void on_poll_closed(uv_handle_t *handle)
{
	http_accept_release(handle->data);
}

void http_accept_stop(struct http_server *server)
{
	struct http_acceptor *acceptor = &server->acceptor;

	if (acceptor->fd < 0 || uv_is_closing((uv_handle_t *)&acceptor->poll))
		return;
	/* What the system has accepted on our behalf would be reset; its clients may have sent a request already. */
	for (int i = 0; i < LAST_TURNS && accept_some(server); i++)
		;
	http_timer_clear(&server->loops[0], &acceptor->retry);
	uv_close((uv_handle_t *)&acceptor->poll, on_poll_closed);
}

void http_accept_release(struct http_server *server)
{
	struct http_acceptor *acceptor = &server->acceptor;

	if (acceptor->fd >= 0)
		close(acceptor->fd);
	if (acceptor->spare_fd >= 0)
		close(acceptor->spare_fd);
	acceptor->fd = acceptor->spare_fd = -1;
}
