/* A quorum queue of RabbitMQ, through librabbitmq: publisher confirms, a consumer for each client that is given one
 * message at a time, manual ack. AMQP does not answer an ack, so a cycle ends when it was sent.
 *
 * A client is a channel with its own consumer; some share a connection, as RabbitMQ's manual advises, because a server
 * with a thousand connections is slower. The server pushes: a message may come before the client's own publish is
 * confirmed, and is kept until then. librabbitmq reads without blocking; it has no way to write without blocking, but
 * all that the clients of a connection can have under way fits into the socket's buffer.
 */
#include "peer.h"

#include "base/mem.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum {
	CHANNELS = 10,		/* of a connection */
	FRAME_BYTES_MAX = 131072,
	PREFETCH = 1,
	PERSISTENT = 2,
	TAG_SIZE = 32,
};

static const char queue[] = "work";

struct shared {
	amqp_connection_state_t amqp;
	struct peer_client *clients[CHANNELS];	/* borrows; the channel's number is the index and 1 */
	int count;
	int closed;
};

struct own {
	struct shared *shared;
	amqp_channel_t channel;
	bool in_cycle;
	bool closed;
	bool confirmed;
	bool received;		/* a whole message, not yet acknowledged */
	uint64_t delivery_tag;
	uint64_t body_bytes;
	uint64_t body_came;
};

static void expect_ok(const char *what, amqp_rpc_reply_t reply)
{
	if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
		peer_fail("%s: %s", what, amqp_error_string2(reply.library_error));
	if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
		peer_fail("%s: refused with %s", what, amqp_method_name(reply.reply.id));
}

static void expect_status(const char *what, int status)
{
	if (status != AMQP_STATUS_OK)
		peer_fail("%s: %s", what, amqp_error_string2(status));
}

/* --- Opening --- */

/* Returns owned. */
static amqp_connection_state_t connect_to(uint16_t port)
{
	amqp_connection_state_t amqp = amqp_new_connection();
	amqp_socket_t *socket = amqp ? amqp_tcp_socket_new(amqp) : NULL;

	if (socket == NULL)
		peer_fail("no connection");
	expect_status("connect", amqp_socket_open(socket, "127.0.0.1", port));
	expect_ok("login", amqp_login(amqp, "/", 0, FRAME_BYTES_MAX, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest"));
	return amqp;
}

static void open_channel(amqp_connection_state_t amqp, amqp_channel_t channel)
{
	amqp_channel_open(amqp, channel);
	expect_ok("channel.open", amqp_get_rpc_reply(amqp));
}

static void rabbitmq_prepare(uint16_t port)
{
	amqp_connection_state_t amqp = connect_to(port);
	amqp_table_entry_t entry = {
		.key = amqp_cstring_bytes("x-queue-type"),
		.value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes("quorum")},
	};
	amqp_table_t arguments = {.num_entries = 1, .entries = &entry};

	open_channel(amqp, 1);
	amqp_queue_declare(amqp, 1, amqp_cstring_bytes(queue), 0, 1, 0, 0, arguments);
	expect_ok("queue.declare", amqp_get_rpc_reply(amqp));
	expect_ok("close", amqp_connection_close(amqp, AMQP_REPLY_SUCCESS));
	amqp_destroy_connection(amqp);
}

/* The connection of the client before, where there is a channel left; else a new one. */
static struct shared *share(struct peer_client *client)
{
	const struct own *before = client->before ? client->before->own : NULL;
	struct shared *shared;

	if (before && before->shared->count < CHANNELS)
		return before->shared;
	shared = mem_zalloc(sizeof(*shared));
	shared->amqp = connect_to(client->port);
	client->fd = amqp_get_sockfd(shared->amqp);
	return shared;
}

static void put_tag(const struct peer_client *client, char ret[TAG_SIZE])
{
	snprintf(ret, TAG_SIZE, "worker-%" PRIu64, client->number);
}

static void rabbitmq_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));
	struct shared *shared = share(client);
	char tag[TAG_SIZE];

	client->own = own;
	own->shared = shared;
	shared->clients[shared->count++] = client;
	own->channel = (amqp_channel_t)shared->count;
	open_channel(shared->amqp, own->channel);
	amqp_confirm_select(shared->amqp, own->channel);
	expect_ok("confirm.select", amqp_get_rpc_reply(shared->amqp));
	if (client->role == PEER_SENDS)
		return;
	amqp_basic_qos(shared->amqp, own->channel, 0, PREFETCH, 0);
	expect_ok("basic.qos", amqp_get_rpc_reply(shared->amqp));
	put_tag(client, tag);
	amqp_basic_consume(shared->amqp, own->channel, amqp_cstring_bytes(queue), amqp_cstring_bytes(tag), 0, 0, 0,
			   amqp_empty_table);
	expect_ok("basic.consume", amqp_get_rpc_reply(shared->amqp));
}

/* --- A cycle --- */

static void rabbitmq_begin(struct peer_client *client)
{
	struct own *own = client->own;
	amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = PERSISTENT};
	amqp_bytes_t body = {.len = client->payload.n, .bytes = (void *)(uintptr_t)client->payload.p};

	if (client->role == PEER_RECEIVES)
		return;		/* it consumes since it was opened */
	own->in_cycle = true;
	own->confirmed = false;
	expect_status("basic.publish", amqp_basic_publish(own->shared->amqp, own->channel, amqp_empty_bytes,
							  amqp_cstring_bytes(queue), 0, 0, &properties, body));
}

static void take_method(struct own *own, const amqp_method_t *method)
{
	if (method->id == AMQP_BASIC_ACK_METHOD) {
		own->confirmed = true;
	} else if (method->id == AMQP_BASIC_DELIVER_METHOD) {
		const amqp_basic_deliver_t *deliver = method->decoded;

		own->delivery_tag = deliver->delivery_tag;
	} else {
		peer_fail("the server sent %s", amqp_method_name(method->id));
	}
}

/* Gives a message that came to a client which has ended to another one. */
static void give_back(struct own *own)
{
	own->received = false;
	expect_status("basic.reject", amqp_basic_reject(own->shared->amqp, own->channel, own->delivery_tag, 1));
}

/* It is small enough to come in one frame. */
static void take_message(struct peer_client *client, amqp_bytes_t body)
{
	struct own *own = client->own;

	own->received = false;
	peer_received(client, (struct str){body.bytes, body.len});
	expect_status("basic.ack", amqp_basic_ack(own->shared->amqp, own->channel, own->delivery_tag, 0));
}

static void take_frame(struct peer_client *client, const amqp_frame_t *frame)
{
	struct own *own = client->own;

	if (frame->frame_type == AMQP_FRAME_METHOD) {
		take_method(own, &frame->payload.method);
	} else if (frame->frame_type == AMQP_FRAME_HEADER) {
		own->body_bytes = frame->payload.properties.body_size;
		own->body_came = 0;
		if (own->body_bytes != client->payload.n)
			peer_fail("received something of another size");
	} else if (frame->frame_type == AMQP_FRAME_BODY) {
		own->body_came += frame->payload.body_fragment.len;
		own->received = own->body_came == own->body_bytes;
		if (own->received && client->role == PEER_RECEIVES)
			take_message(client, frame->payload.body_fragment);
	}
	if (own->closed && own->received)
		give_back(own);
	if (client->role == PEER_SENDS && own->in_cycle && own->confirmed) {
		own->in_cycle = false;
		peer_cycle_done(client);
	}
	if (!own->in_cycle || !own->confirmed || !own->received)
		return;
	own->in_cycle = own->received = false;
	expect_status("basic.ack", amqp_basic_ack(own->shared->amqp, own->channel, own->delivery_tag, 0));
	peer_cycle_done(client);
}

static void rabbitmq_ready(struct peer_client *client, uint32_t events)
{
	struct shared *shared = ((struct own *)client->own)->shared;
	struct timeval at_once = {0};
	amqp_frame_t frame;

	(void)events;
	do {
		int status = amqp_simple_wait_frame_noblock(shared->amqp, &frame, &at_once);

		if (status == AMQP_STATUS_TIMEOUT)
			break;
		expect_status("read", status);
		if (frame.channel == 0 || frame.channel > shared->count)
			peer_fail("a frame for channel %d", frame.channel);
		take_frame(shared->clients[frame.channel - 1], &frame);
	} while (amqp_frames_enqueued(shared->amqp) || amqp_data_in_buffer(shared->amqp));
	amqp_maybe_release_buffers(shared->amqp);
}

/* The last one closes the connection, without the polite exchange, for which it would have to wait. */
static void rabbitmq_close(struct peer_client *client)
{
	struct own *own = client->own;
	struct shared *shared = own->shared;
	char tag[TAG_SIZE];
	amqp_basic_cancel_t cancel = {.nowait = 1};

	put_tag(client, tag);
	cancel.consumer_tag = amqp_cstring_bytes(tag);
	expect_status("basic.cancel", amqp_send_method(shared->amqp, own->channel, AMQP_BASIC_CANCEL_METHOD, &cancel));
	own->closed = true;
	if (own->received)
		give_back(own);
	if (++shared->closed < shared->count)
		return;
	amqp_destroy_connection(shared->amqp);
	for (int i = 0; i < shared->count; i++)
		free(shared->clients[i]->own);
	free(shared);
}

const struct peer peer_rabbitmq = {
	.name = "rabbitmq",
	.about = "librabbitmq: publish and confirm, consume with a prefetch of 1, ack (which is not answered)",
	.halves = true,
	.prepare = rabbitmq_prepare,
	.open = rabbitmq_open,
	.begin = rabbitmq_begin,
	.ready = rabbitmq_ready,
	.close = rabbitmq_close,
};
