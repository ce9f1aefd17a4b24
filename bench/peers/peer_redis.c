/* Redis Streams, through hiredis' asynchronous interface: XADD, XREADGROUP, then XACK and XDEL in one go, so that the
 * stream does not grow. A consumer group that all clients share, a consumer for each.
 *
 * hiredis asks its event loop to watch for room to write whenever a command is added. There nearly always is room, so
 * that the write is tried at once, and epoll is asked only where something is left.
 */
#include "peer.h"

#include "base/mem.h"

#include <errno.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct own {
	redisAsyncContext *redis;
	bool to_write;
	char *publish;		/* as sent: it is the same each time */
	size_t publish_bytes;
	char *receive;
	size_t receive_bytes;
};

static const char receive_now[] = "XREADGROUP GROUP workers worker-%llu COUNT 1 STREAMS work >";
static const char receive_waiting[] = "XREADGROUP GROUP workers worker-%llu COUNT 1 BLOCK 0 STREAMS work >";

static void redis_prepare(uint16_t port)
{
	redisContext *redis = redisConnect("127.0.0.1", port);
	redisReply *reply;

	if (redis == NULL || redis->err)
		peer_fail("cannot connect: %s", redis ? redis->errstr : "no memory");
	reply = redisCommand(redis, "XGROUP CREATE work workers $ MKSTREAM");
	if (reply == NULL || (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "BUSYGROUP", 9) != 0))
		peer_fail("XGROUP: %s", reply ? reply->str : redis->errstr);
	freeReplyObject(reply);
	redisFree(redis);
}

static void want_write(void *data)
{
	struct own *own = data;

	own->to_write = true;
}

static void write_now(struct peer_client *client)
{
	struct own *own = client->own;

	if (!own->to_write)
		return;
	own->to_write = false;
	redisAsyncHandleWrite(own->redis);
	if (own->to_write)
		peer_want_write(client, true);
}

static void on_disconnect(const redisAsyncContext *redis, int status)
{
	if (status != REDIS_OK)
		peer_fail("disconnected: %s", redis->errstr);
}

static void redis_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));
	struct pollfd connected = {.events = POLLOUT};
	int one = 1, bytes;

	client->own = own;
	own->redis = redisAsyncConnect("127.0.0.1", client->port);
	if (own->redis == NULL || own->redis->err)
		peer_fail("cannot connect: %s", own->redis ? own->redis->errstr : "no memory");
	client->fd = connected.fd = own->redis->c.fd;
	own->redis->data = client;
	own->redis->ev.data = own;
	own->redis->ev.addWrite = want_write;
	redisAsyncSetDisconnectCallback(own->redis, on_disconnect);
	if (poll(&connected, 1, -1) != 1 || setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
		peer_fail("cannot connect: %s", strerror(errno));
	if (client->role == PEER_SENDS)
		return;
	bytes = redisFormatCommand(&own->publish, "XADD work * body %b", client->payload.p, client->payload.n);
	own->publish_bytes = (size_t)bytes;
	bytes = redisFormatCommand(&own->receive, client->role == PEER_RECEIVES ? receive_waiting : receive_now,
				   (unsigned long long)client->number);
	own->receive_bytes = (size_t)bytes;
}

/* --- A cycle, from its end to its beginning --- */

static void on_deleted(redisAsyncContext *redis, void *data, void *unused)
{
	struct peer_client *client = redis->data;
	const redisReply *reply = data;

	(void)unused;
	if (reply == NULL || reply->type != REDIS_REPLY_INTEGER || reply->integer != 1)
		peer_fail("XDEL: %s", reply && reply->str ? reply->str : "not deleted");
	if (client->role == PEER_CYCLES)
		peer_cycle_done(client);
}

static void on_acked(redisAsyncContext *redis, void *data, void *unused)
{
	const redisReply *reply = data;

	(void)redis;
	(void)unused;
	if (reply == NULL || reply->type != REDIS_REPLY_INTEGER || reply->integer != 1)
		peer_fail("XACK: %s", reply && reply->str ? reply->str : "not acknowledged");
}

/* The element of an array, or NULL. */
static const redisReply *element(const redisReply *reply, size_t at)
{
	return reply && reply->type == REDIS_REPLY_ARRAY && reply->elements > at ? reply->element[at] : NULL;
}

static void on_received(redisAsyncContext *redis, void *data, void *unused)
{
	/* One stream of those asked for: its name and its entries; an entry is an id and its fields. */
	const redisReply *entry = element(element(element(data, 0), 1), 0);
	const redisReply *id = element(entry, 0), *body = element(element(entry, 1), 1);
	struct peer_client *client = redis->data;
	struct own *own = client->own;

	(void)unused;
	if (id == NULL || body == NULL || body->len != client->payload.n)
		peer_fail("XREADGROUP found no message of the right size");
	if (client->role == PEER_RECEIVES)
		peer_received(client, (struct str){body->str, body->len});
	redisAsyncCommand(redis, on_acked, NULL, "XACK work workers %b", id->str, (size_t)id->len);
	redisAsyncCommand(redis, on_deleted, NULL, "XDEL work %b", id->str, (size_t)id->len);
	if (client->role == PEER_RECEIVES)
		redisAsyncFormattedCommand(redis, on_received, NULL, own->receive, own->receive_bytes);
}

static void on_published(redisAsyncContext *redis, void *data, void *unused)
{
	struct peer_client *client = redis->data;
	struct own *own = client->own;
	const redisReply *reply = data;

	(void)unused;
	if (reply == NULL || reply->type != REDIS_REPLY_STRING)
		peer_fail("XADD: %s", reply && reply->str ? reply->str : "no answer");
	if (client->role == PEER_SENDS)
		peer_cycle_done(client);
	else
		redisAsyncFormattedCommand(redis, on_received, NULL, own->receive, own->receive_bytes);
}

static void redis_begin(struct peer_client *client)
{
	struct own *own = client->own;

	if (client->role == PEER_SENDS)
		redisAsyncCommand(own->redis, on_published, NULL, "XADD work * body %b", client->payload.p,
				  client->payload.n);
	else if (client->role == PEER_RECEIVES)
		redisAsyncFormattedCommand(own->redis, on_received, NULL, own->receive, own->receive_bytes);
	else
		redisAsyncFormattedCommand(own->redis, on_published, NULL, own->publish, own->publish_bytes);
	write_now(client);
}

static void redis_ready(struct peer_client *client, uint32_t events)
{
	struct own *own = client->own;

	if (events & EPOLLOUT) {
		peer_want_write(client, false);
		own->to_write = true;
	}
	if (events & ~(uint32_t)EPOLLOUT)
		redisAsyncHandleRead(own->redis);
	write_now(client);
}

static void redis_close(struct peer_client *client)
{
	struct own *own = client->own;

	redisAsyncFree(own->redis);
	free(own->publish);
	free(own->receive);
	free(own);
}

const struct peer peer_redis = {
	.name = "redis",
	.about = "hiredis, asynchronous: XADD, XREADGROUP, XACK and XDEL",
	.halves = true,
	.prepare = redis_prepare,
	.open = redis_open,
	.begin = redis_begin,
	.ready = redis_ready,
	.close = redis_close,
};
