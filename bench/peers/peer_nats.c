/* NATS JetStream, by hand: the C library of Debian starts threads for each connection. A stream that keeps a message
 * until it was acknowledged, and one pull consumer that all clients share.
 *
 * Publish with an inbox and wait for the stream's answer; ask the consumer for the next message; acknowledge with an
 * inbox and wait for the answer ("double ack"). Every answer comes to an inbox of the client, in the order of the
 * questions, because a client asks one at a time.
 */
#include "wire.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define SUBJECT "work"
#define NEXT "$JS.API.CONSUMER.MSG.NEXT.WORK.workers"
/* More waiting and unacknowledged than there can be clients: the defaults are 512 and 1,000. */
#define LIMIT "20000"

enum step { STEP_PUBLISH, STEP_NEXT, STEP_ACK };

struct own {
	struct wire wire;
	enum step step;
};

struct message {
	struct str subject;
	struct str reply;	/* empty where there is none */
	struct str body;
};

/* --- The protocol --- */

static void put_message(struct wire *w, const char *subject, struct str body)
{
	buf_printf(&w->out, "PUB %s _INBOX.%" PRIu64 " %zu\r\n", subject, w->client->number, body.n);
	buf_put(&w->out, body);
	buf_puts(&w->out, "\r\n");
}

/* MSG <subject> <sid> [reply] <bytes>, then the body. False where it is not whole yet. */
static bool take_message(struct wire *w, struct str line, struct message *ret)
{
	struct str rest = line, word, last;
	struct message m = {0};
	uint64_t bytes;

	word = str_cut(&rest, ' ');
	m.subject = str_cut(&rest, ' ');
	str_cut(&rest, ' ');
	last = str_cut(&rest, ' ');
	if (rest.n > 0) {
		m.reply = last;
		last = rest;
	}
	/* Whatever has headers is the word of the server that it will not do what it was asked. */
	if (!str_is(word, "MSG") || !str_to_u64(last, &bytes))
		peer_fail("the server said: %.*s", STR_ARG(line));
	if (!wire_bytes(w, bytes, &m.body))
		return false;
	*ret = m;
	return true;
}

/* The next message of what came; answers the server's pings. False where there is none, or not all of it. */
static bool next_message(struct wire *w, struct message *ret)
{
	for (;;) {
		size_t mark = w->taken;
		struct str line;

		if (!wire_line(w, &line))
			return false;
		if (str_is(line, "PING")) {
			buf_puts(&w->out, "PONG\r\n");
			wire_send(w);
		} else if (str_has_prefix(line, STR("-ERR"))) {
			peer_fail("the server said: %.*s", STR_ARG(line));
		} else if (!str_is(line, "PONG") && !str_has_prefix(line, STR("INFO "))) {
			bool whole = take_message(w, line, ret);

			if (!whole)
				wire_rewind(w, mark);
			return whole;
		}
	}
}

/* Logs in and subscribes to the client's inbox. */
static void greet(struct wire *w)
{
	struct str line = STR("");

	buf_printf(&w->out,
		   "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,"
		   "\"protocol\":1}\r\n"
		   "SUB _INBOX.%" PRIu64 " 1\r\nPING\r\n", w->client->number);
	wire_send(w);
	while (!str_is(line, "PONG")) {
		if (!wire_line(w, &line))
			wire_wait(w);
		else if (str_has_prefix(line, STR("-ERR")))
			peer_fail("the server said: %.*s", STR_ARG(line));
	}
}

/* --- The queue --- */

static void ask(struct wire *w, const char *subject, struct str body)
{
	struct message answer;

	put_message(w, subject, body);
	wire_send(w);
	while (!next_message(w, &answer))
		wire_wait(w);
	if (memmem(answer.body.p, answer.body.n, "\"error\"", 7))
		peer_fail("%s: %.*s", subject, STR_ARG(answer.body));
}

static void nats_prepare(uint16_t port)
{
	struct peer_client client = {.port = port};
	struct wire w;

	wire_open(&w, &client);
	greet(&w);
	ask(&w, "$JS.API.STREAM.CREATE.WORK",
	    STR("{\"name\":\"WORK\",\"subjects\":[\"" SUBJECT "\"],\"retention\":\"workqueue\",\"storage\":\"file\","
		"\"max_consumers\":-1,\"max_msgs\":-1,\"max_bytes\":-1,\"max_age\":0,\"num_replicas\":1,"
		"\"discard\":\"old\"}"));
	ask(&w, "$JS.API.CONSUMER.DURABLE.CREATE.WORK.workers",
	    STR("{\"stream_name\":\"WORK\",\"config\":{\"durable_name\":\"workers\",\"ack_policy\":\"explicit\","
		"\"deliver_policy\":\"all\",\"replay_policy\":\"instant\",\"ack_wait\":120000000000,"
		"\"max_waiting\":" LIMIT ",\"max_ack_pending\":" LIMIT "}}"));
	wire_close(&w);
}

/* --- A client --- */

static void nats_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));

	client->own = own;
	wire_open(&own->wire, client);
	greet(&own->wire);
}

static void nats_begin(struct peer_client *client)
{
	struct own *own = client->own;

	own->step = STEP_PUBLISH;
	put_message(&own->wire, SUBJECT, client->payload);
	wire_send(&own->wire);
}

static void acknowledge(struct peer_client *client, const struct message *m)
{
	struct own *own = client->own;
	char subject[256];

	if (m->body.n != client->payload.n || m->reply.n == 0 || m->reply.n >= sizeof(subject))
		peer_fail("received on %.*s: %zu bytes", STR_ARG(m->subject), m->body.n);
	memcpy(subject, m->reply.p, m->reply.n);
	subject[m->reply.n] = '\0';
	put_message(&own->wire, subject, STR("+ACK"));
	wire_send(&own->wire);
}

static void take_answer(struct peer_client *client, const struct message *m)
{
	struct own *own = client->own;

	if (own->step == STEP_PUBLISH) {
		if (memmem(m->body.p, m->body.n, "\"seq\"", 5) == NULL)
			peer_fail("answer to a publish: %.*s", STR_ARG(m->body));
		put_message(&own->wire, NEXT, STR("1"));
		wire_send(&own->wire);
		own->step = STEP_NEXT;
	} else if (own->step == STEP_NEXT) {
		acknowledge(client, m);
		own->step = STEP_ACK;
	} else {
		peer_cycle_done(client);
	}
}

static void nats_ready(struct peer_client *client, uint32_t events)
{
	struct own *own = client->own;
	struct message m;

	if (wire_ready(&own->wire, events))
		while (next_message(&own->wire, &m))
			take_answer(client, &m);
}

static void nats_close(struct peer_client *client)
{
	struct own *own = client->own;

	wire_close(&own->wire);
	free(own);
}

const struct peer peer_nats = {
	.name = "nats",
	.about = "by hand: publish and its answer, next of a pull consumer, double ack",
	.prepare = nats_prepare,
	.open = nats_open,
	.begin = nats_begin,
	.ready = nats_ready,
	.close = nats_close,
};
