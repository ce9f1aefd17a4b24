/* Our own server, for the open loop: POST /v1/handoffs with the envelope in it; POST /v1/agents/worker/receive, which
 * waits, acks the handoff before in the same call, and is answered with the prompt. The receivers are instances of one
 * agent.
 *
 * Cycles of it are those of load/scenario_deliver.c.
 */
#include "wire.h"

#include "link.h"
#include "scenario.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct own {
	struct wire wire;
	struct buf body;
	char lease[SCENARIO_LEASE_SIZE];	/* of what it holds; "": nothing */
};

static void spine_prepare(uint16_t port)
{
	(void)port;
}

static void spine_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));

	client->own = own;
	wire_open(&own->wire, client);
	buf_init(&own->body, LINK_MESSAGE_BYTES_MAX);
}

static void receive(struct own *own)
{
	buf_clear(&own->body);
	buf_puts(&own->body, "{\"wait_s\":60,\"lease_s\":60,\"format\":\"prompt\"");
	if (own->lease[0])
		buf_printf(&own->body, ",\"settle\":[{\"id\":\"%.*s\",\"verb\":\"ack\",\"lease\":\"%s\"}]",
			   (int)strcspn(own->lease, "."), own->lease, own->lease);
	buf_puts(&own->body, "}");
	scenario_put_request(&own->wire.out, "POST", "/v1/agents/worker/receive", "", buf_str(&own->body));
	own->lease[0] = '\0';
	wire_send(&own->wire);
}

static void spine_begin(struct peer_client *client)
{
	struct own *own = client->own;

	if (client->role == PEER_RECEIVES) {
		receive(own);
		return;
	}
	buf_clear(&own->body);
	buf_puts(&own->body, "{\"envelope\":{\"from\":\"load\",\"target_agent\":\"worker\",\"include_recent\":0,"
		 "\"include_pins\":false,\"task_summary\":\"");
	buf_put(&own->body, client->payload);
	buf_puts(&own->body, "\"}}");
	scenario_put_request(&own->wire.out, "POST", "/v1/handoffs", "", buf_str(&own->body));
	wire_send(&own->wire);
}

static void spine_ready(struct peer_client *client, uint32_t events)
{
	struct own *own = client->own;
	struct str body;
	int status;

	if (!wire_ready(&own->wire, events) || !link_reply_in(&own->wire.in, &status, &body))
		return;
	if (status != (client->role == PEER_SENDS ? 202 : 200) || memmem(body.p, body.n, "\"problem\":", 10))
		peer_fail("answered with %d: %.*s", status, (int)(body.n < 500 ? body.n : 500), body.p);
	if (client->role == PEER_RECEIVES && scenario_take_lease(body, own->lease))
		peer_received(client, body);
	own->wire.taken = own->wire.in.len;
	if (client->role == PEER_SENDS)
		peer_cycle_done(client);
	else
		receive(own);
}

static void spine_close(struct peer_client *client)
{
	struct own *own = client->own;

	wire_close(&own->wire);
	buf_release(&own->body);
	free(own);
}

const struct peer peer_spine = {
	.name = "spine",
	.about = "Memory Spine, with --rate only: send; receive, which acks the one before",
	.halves = true,
	.prepare = spine_prepare,
	.open = spine_open,
	.begin = spine_begin,
	.ready = spine_ready,
	.close = spine_close,
};
