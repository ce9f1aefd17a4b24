#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	WIRE_BYTES_MAX = 64 << 20,
	READ_BYTES = 16 << 10,
};

void wire_open(struct wire *w, struct peer_client *client)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(client->port)};
	int one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*w = (struct wire){.client = client};
	buf_init(&w->out, WIRE_BYTES_MAX);
	buf_init(&w->in, WIRE_BYTES_MAX);
	client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		peer_fail("cannot connect: %s", strerror(errno));
	if (setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
		peer_fail("TCP_NODELAY: %s", strerror(errno));
}

void wire_close(struct wire *w)
{
	close(w->client->fd);
	buf_release(&w->out);
	buf_release(&w->in);
}

void wire_send(struct wire *w)
{
	while (w->sent < w->out.len) {
		ssize_t n = send(w->client->fd, w->out.data + w->sent, w->out.len - w->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			peer_want_write(w->client, true);
			return;
		}
		if (n < 0)
			peer_fail("send: %s", strerror(errno));
		w->sent += (size_t)n;
	}
	buf_clear(&w->out);
	w->sent = 0;
}

static bool receive(struct wire *w, int flags)
{
	char *room;
	ssize_t n;

	buf_consume(&w->in, w->taken);
	w->taken = 0;
	room = buf_reserve(&w->in, READ_BYTES);
	if (room == NULL)
		peer_fail("an answer of more than %d bytes", WIRE_BYTES_MAX);
	n = recv(w->client->fd, room, READ_BYTES, flags);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0)
		peer_fail("the server closed a connection");
	buf_commit(&w->in, (size_t)n);
	return true;
}

bool wire_ready(struct wire *w, uint32_t events)
{
	if (events & EPOLLOUT) {
		peer_want_write(w->client, false);
		wire_send(w);
	}
	return (events & ~(uint32_t)EPOLLOUT) != 0 && receive(w, MSG_DONTWAIT);
}

void wire_wait(struct wire *w)
{
	receive(w, 0);
}

bool wire_line(struct wire *w, struct str *ret)
{
	const char *from = w->in.data + w->taken;
	const char *end = w->taken < w->in.len ? memchr(from, '\n', w->in.len - w->taken) : NULL;

	if (end == NULL)
		return false;
	w->taken += (size_t)(end - from) + 1;
	*ret = (struct str){from, (size_t)(end - from)};
	if (ret->n > 0 && ret->p[ret->n - 1] == '\r')
		ret->n--;
	return true;
}

bool wire_bytes(struct wire *w, size_t count, struct str *ret)
{
	if (w->in.len - w->taken < count + 2)
		return false;
	*ret = (struct str){w->in.data + w->taken, count};
	w->taken += count + 2;
	return true;
}

void wire_rewind(struct wire *w, size_t mark)
{
	w->taken = mark;
}
