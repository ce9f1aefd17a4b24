/* Clients that deliver: each publishes one handoff, receives one (whichever is first in the queue that all share), and
 * acks it.
 *
 * A cycle is three requests: POST /v1/handoffs with the envelope in it (its summary has the given number of bytes),
 * POST /v1/agents/worker/receive, POST /v1/handoffs/ID/ack. Each is answered after its commit.
 */
#include "scenario.h"

#include <stdio.h>

enum step { STEP_PUBLISH, STEP_RECEIVE, STEP_ACK };

struct str scenario_string_member(struct str json, const char *name)
{
	const char *at = memmem(json.p, json.n, name, strlen(name));
	struct str rest;

	if (at == NULL)
		return STR_NULL;
	rest = (struct str){at + strlen(name), json.n - (size_t)(at - json.p) - strlen(name)};
	return str_cut(&rest, '"');
}

void scenario_put_publish(struct buf *out, struct buf *scratch, const char *agent, uint64_t number, size_t bytes)
{
	buf_clear(scratch);
	buf_printf(scratch, "{\"envelope\":{\"from\":\"load\",\"target_agent\":\"%s\",\"include_recent\":0,"
		   "\"include_pins\":false,\"task_summary\":\"", agent);
	scenario_put_text(scratch, number, bytes);
	buf_puts(scratch, "\"}}");
	scenario_put_request(out, "POST", "/v1/handoffs", "", buf_str(scratch));
}

void scenario_put_receive(struct buf *out, struct buf *scratch, const char *agent, int wait_s)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/agents/%s/receive", agent);
	buf_clear(scratch);
	buf_printf(scratch, "{\"wait_s\":%d,\"lease_s\":60,\"format\":\"envelope\"}", wait_s);
	scenario_put_request(out, "POST", path, "", buf_str(scratch));
}

void scenario_put_ack(struct buf *out, struct buf *scratch, const char *lease)
{
	char path[128];

	/* The lease is "ho-12.3", and the handoff's id is what stands before the dot. */
	snprintf(path, sizeof(path), "/v1/handoffs/%.*s/ack", (int)strcspn(lease, "."), lease);
	buf_clear(scratch);
	buf_printf(scratch, "{\"lease\":\"%s\"}", lease);
	scenario_put_request(out, "POST", path, "", buf_str(scratch));
}

bool scenario_take_lease(struct str body, char ret_lease[SCENARIO_LEASE_SIZE])
{
	struct str lease = scenario_string_member(body, "\"lease\":\"");

	if (lease.n == 0 || lease.n >= SCENARIO_LEASE_SIZE)
		return false;
	memcpy(ret_lease, lease.p, lease.n);
	ret_lease[lease.n] = '\0';
	return true;
}

static void request_deliver(struct scenario_client *c, struct buf *out)
{
	uint64_t number;

	if (c->step == STEP_PUBLISH) {
		number = c->config->seed * UINT64_C(1000000000000) + c->number * UINT64_C(100000000) + c->count++;
		scenario_put_publish(out, &c->scratch, "worker", number, c->config->bytes);
	} else if (c->step == STEP_RECEIVE) {
		scenario_put_receive(out, &c->scratch, "worker", 10);
	} else {
		scenario_put_ack(out, &c->scratch, c->lease);
	}
}

static enum scenario_step reply_deliver(struct scenario_client *c, int status, struct str body)
{
	enum step step = (enum step)c->step;

	c->step = STEP_PUBLISH;
	if (step == STEP_PUBLISH && status == 202) {
		c->step = STEP_RECEIVE;
		return SCENARIO_NEXT;
	}
	if (step == STEP_RECEIVE && status == 200) {
		if (!scenario_take_lease(body, c->lease))
			return SCENARIO_FAILED;
		c->step = STEP_ACK;
		return SCENARIO_NEXT;
	}
	return step == STEP_ACK && status == 200 ? SCENARIO_DONE : SCENARIO_FAILED;
}

const struct scenario scenario_deliver = {
	.name = "deliver", .about = "publish a handoff, receive one, ack it", .request = request_deliver,
	.reply = reply_deliver,
};
