/* Clients that deliver: each publishes one handoff, receives one (whichever is first in the queue that all share), and acks it.
 *
 * A cycle is three requests: POST /v1/handoffs with the envelope in it (its summary has the given number of bytes), POST
 * /v1/agents/worker/receive, POST /v1/handoffs/ID/ack. Each is answered after its commit.
 */
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>

enum step { STEP_PUBLISH, STEP_RECEIVE, STEP_ACK };

/* The value of the first member of that name which is a string, in a text that our own server wrote. */
static struct str string_member(struct str json, const char *name)
{
	const char *at = memmem(json.p, json.n, name, strlen(name));
	struct str rest;

	if (at == NULL)
		return STR_NULL;
	rest = (struct str){at + strlen(name), json.n - (size_t)(at - json.p) - strlen(name)};
	return str_cut(&rest, '"');
}

static void request_deliver(struct scenario_client *c, struct buf *out)
{
	char path[64];

	if (c->step == STEP_PUBLISH) {
		uint64_t number = c->config->seed * UINT64_C(1000000000000) + c->number * UINT64_C(100000000) + c->count++;

		buf_clear(&c->scratch);
		buf_puts(&c->scratch, "{\"envelope\":{\"from\":\"load\",\"target_agent\":\"worker\",\"include_recent\":0,\"include_pins\":false,"
			 "\"task_summary\":\"");
		scenario_put_text(&c->scratch, number, c->config->bytes);
		buf_puts(&c->scratch, "\"}}");
		scenario_put_request(out, "POST", "/v1/handoffs", "", buf_str(&c->scratch));
	} else if (c->step == STEP_RECEIVE) {
		scenario_put_request(out, "POST", "/v1/agents/worker/receive", "", STR("{\"wait_s\":10,\"lease_s\":60,\"format\":\"envelope\"}"));
	} else {
		/* The lease is "ho-12.3", and the handoff's id is what stands before the dot. */
		snprintf(path, sizeof(path), "/v1/handoffs/%.*s/ack", (int)strcspn(c->lease, "."), c->lease);
		buf_clear(&c->scratch);
		buf_printf(&c->scratch, "{\"lease\":\"%s\"}", c->lease);
		scenario_put_request(out, "POST", path, "", buf_str(&c->scratch));
	}
}

static enum scenario_step reply_deliver(struct scenario_client *c, int status, struct str body)
{
	enum step step = (enum step)c->step;
	struct str lease;

	c->step = STEP_PUBLISH;
	if (step == STEP_PUBLISH && status == 202) {
		c->step = STEP_RECEIVE;
		return SCENARIO_NEXT;
	}
	if (step == STEP_RECEIVE && status == 200) {
		lease = string_member(body, "\"lease\":\"");
		if (lease.n == 0 || lease.n >= sizeof(c->lease))
			return SCENARIO_FAILED;
		memcpy(c->lease, lease.p, lease.n);
		c->lease[lease.n] = '\0';
		c->step = STEP_ACK;
		return SCENARIO_NEXT;
	}
	return step == STEP_ACK && status == 200 ? SCENARIO_DONE : SCENARIO_FAILED;
}

const struct scenario scenario_deliver = {
	.name = "deliver", .about = "publish a handoff, receive one, ack it", .request = request_deliver, .reply = reply_deliver,
};
