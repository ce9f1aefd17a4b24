#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, STATUS_LINE_BYTES_MIN = 15 };

static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

void link_open(struct link *l, int epoll, uint16_t port, void *owner)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
	int one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*l = (struct link){.owner = owner, .epoll = epoll};
	buf_init(&l->out, LINK_MESSAGE_BYTES_MAX);
	buf_init(&l->in, LINK_MESSAGE_BYTES_MAX);
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("connect");
	if (setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
		die("setsockopt");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, l->fd, &event) != 0)
		die("epoll_ctl");
	l->is_open = true;
}

void link_close(struct link *l)
{
	if (!l->is_open)
		return;
	close(l->fd);
	l->is_open = false;
	buf_release(&l->out);
	buf_release(&l->in);
}

static void listen_for(struct link *l, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = l};

	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->fd, &event) != 0)
		die("epoll_ctl");
}

static void send_rest(struct link *l)
{
	while (l->sent < l->out.len) {
		ssize_t n = send(l->fd, l->out.data + l->sent, l->out.len - l->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			listen_for(l, EPOLLIN | EPOLLOUT);
			return;
		}
		/* A connection that the server has closed says so when it is read. */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return;
		if (n < 0)
			die("send");
		l->sent += (size_t)n;
	}
}

void link_send(struct link *l)
{
	if (buf_overflowed(&l->out)) {
		fprintf(stderr, "%s: a request is larger than %d bytes\n", program_invocation_short_name,
			LINK_MESSAGE_BYTES_MAX);
		exit(1);
	}
	l->sent = 0;
	send_rest(l);
}

void link_writable(struct link *l)
{
	listen_for(l, EPOLLIN);
	send_rest(l);
}

enum link_read link_read(struct link *l)
{
	char *room = buf_reserve(&l->in, READ_BYTES);
	ssize_t n = room ? recv(l->fd, room, READ_BYTES, MSG_DONTWAIT) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return LINK_NOTHING;
	if (n <= 0)
		return LINK_ENDED;
	buf_commit(&l->in, (size_t)n);
	return LINK_CAME;
}

/* The value of Content-Length in a head; 0 where there is none. */
static size_t content_length(const char *head, size_t len)
{
	static const char name[] = "\r\ncontent-length:";
	uint64_t value;

	for (size_t i = 0; i + sizeof(name) - 1 < len; i++) {
		struct str rest;

		if (head[i] != '\r' || strncasecmp(head + i, name, sizeof(name) - 1) != 0)
			continue;
		rest = (struct str){head + i + sizeof(name) - 1, len - i - (sizeof(name) - 1)};
		return str_to_u64(str_trim(str_cut(&rest, '\r')), &value) ? value : 0;
	}
	return 0;
}

bool link_reply_in(const struct buf *in, int *ret_status, struct str *ret_body)
{
	const char *end = in->len ? memmem(in->data, in->len, "\r\n\r\n", 4) : NULL;
	size_t head, body;

	if (end == NULL)
		return false;
	head = (size_t)(end - in->data) + 4;
	body = content_length(in->data, head);
	if (in->len < head + body)
		return false;
	if (in->len > head + body || head < STATUS_LINE_BYTES_MIN) {
		fprintf(stderr, "%s: bytes after the reply\n", program_invocation_short_name);
		exit(1);
	}
	*ret_status = atoi(in->data + 9);
	*ret_body = (struct str){in->data + head, body};
	return true;
}

bool link_reply(struct link *l, int *ret_status, struct str *ret_body)
{
	return link_reply_in(&l->in, ret_status, ret_body);
}
