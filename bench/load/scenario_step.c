/* Workers in a ring: each has work in hand, finishes it with a result, hands on to the agent after it, and takes what
 * the one before has handed on. That is a step.
 *
 *     step          one call: POST /v1/agents/A/receive, with `settle` of a completion that has a `then`
 *     step-three    three calls: POST /v1/handoffs/ID/complete, POST /v1/handoffs with the envelope in hand as the
 *                   parent, POST /v1/agents/A/receive
 *
 * Every agent starts with two tasks in its queue, so that hardly anyone waits for the one before. What is received
 * comes with its prompt, which is what goes to a model. A task ends where its hops do; the worker then publishes a new
 * one in the same step, which is a call of its own in both scenarios, as it has no parent.
 */
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RESULT_BYTES = 300, TASKS_EACH = 2, HOPS = 12 /* the default of max_hops */ };

enum step { STEP_START, STEP_TAKE, STEP_WORK, STEP_HAND_ON, STEP_NEXT };

/* --- Requests --- */

static uint64_t next_number(struct scenario_client *c)
{
	return c->config->seed * UINT64_C(1000000000000) + c->number * UINT64_C(100000000) + c->count++;
}

/* `ahead` is how many agents further its receiver is. */
static void put_envelope(struct scenario_client *c, uint64_t ahead, const char *lineage)
{
	buf_printf(&c->scratch, "\"envelope\":{\"target_agent\":\"agent-%" PRIu64 "\",\"include_recent\":0,"
		   "\"include_pins\":false,%s\"task_summary\":\"", (c->number + ahead) % c->config->clients, lineage);
	scenario_put_text(&c->scratch, next_number(c), c->config->bytes);
	buf_puts(&c->scratch, "\"}");
}

static void put_publish(struct scenario_client *c, struct buf *out, uint64_t ahead, const char *lineage)
{
	buf_clear(&c->scratch);
	buf_puts(&c->scratch, "{");
	put_envelope(c, ahead, lineage);
	buf_puts(&c->scratch, "}");
	scenario_put_request(out, "POST", "/v1/handoffs", "", buf_str(&c->scratch));
}

/* The members of a completion. */
static void put_completion(struct scenario_client *c)
{
	buf_printf(&c->scratch, "\"lease\":\"%s\",%s\"result\":\"", c->lease,
		   c->config->forgets ? "\"remember\":false," : "");
	scenario_put_text(&c->scratch, next_number(c), RESULT_BYTES);
	buf_puts(&c->scratch, "\"");
}

static void put_complete(struct scenario_client *c, struct buf *out)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/handoffs/%.*s/complete", (int)strcspn(c->lease, "."), c->lease);
	buf_clear(&c->scratch);
	buf_puts(&c->scratch, "{");
	put_completion(c);
	buf_puts(&c->scratch, "}");
	scenario_put_request(out, "POST", path, "", buf_str(&c->scratch));
}

/* The step in one call, where there is something in hand. */
static void put_receive(struct scenario_client *c, struct buf *out, bool settles)
{
	char path[128];

	snprintf(path, sizeof(path), "/v1/agents/agent-%" PRIu64 "/receive", c->number);
	buf_clear(&c->scratch);
	buf_puts(&c->scratch, "{\"wait_s\":10,\"lease_s\":60,\"format\":\"prompt\"");
	if (settles) {
		buf_printf(&c->scratch, ",\"settle\":[{\"id\":\"%.*s\",\"verb\":\"complete\",",
			   (int)strcspn(c->lease, "."), c->lease);
		put_completion(c);
		if (c->hop < HOPS) {
			buf_puts(&c->scratch, ",\"then\":{");
			put_envelope(c, 1, "");
			buf_puts(&c->scratch, "}");
		}
		buf_puts(&c->scratch, "}]");
	}
	buf_puts(&c->scratch, "}");
	scenario_put_request(out, "POST", path, "", buf_str(&c->scratch));
}

static void put_hand_on(struct scenario_client *c, struct buf *out)
{
	char lineage[160] = "\"from\":\"load\",";

	if (c->hop < HOPS)
		snprintf(lineage, sizeof(lineage), "\"from\":\"agent-%" PRIu64 "\",\"parent\":\"%s\",", c->number,
			 c->envelope);
	put_publish(c, out, 1, lineage);
}

/* --- What both do --- */

static void request_one(struct scenario_client *c, struct buf *out)
{
	if (c->step == STEP_START)
		put_publish(c, out, 0, "\"from\":\"load\",");
	else if (c->step == STEP_HAND_ON)
		put_hand_on(c, out);
	else
		put_receive(c, out, c->step == STEP_NEXT);
}

static void request_three(struct scenario_client *c, struct buf *out)
{
	if (c->step == STEP_START)
		put_publish(c, out, 0, "\"from\":\"load\",");
	else if (c->step == STEP_WORK)
		put_complete(c, out);
	else if (c->step == STEP_HAND_ON)
		put_hand_on(c, out);
	else
		put_receive(c, out, false);
}

/* What it needs of a handoff that it was given: false where it was given none, or a settling was refused. */
static bool take(struct scenario_client *c, struct str body)
{
	static const char hop[] = ", hop ";	/* in the prompt: "Task task-1, hop 2 of at most 12" */
	struct str envelope = scenario_string_member(body, "\"envelope_id\":\"");
	const char *at = memmem(body.p, body.n, hop, sizeof(hop) - 1);

	if (memmem(body.p, body.n, "\"problem\":", 10) || !scenario_take_lease(body, c->lease) || at == NULL ||
	    envelope.n >= sizeof(c->envelope))
		return false;
	memcpy(c->envelope, envelope.p, envelope.n);
	c->envelope[envelope.n] = '\0';
	c->hop = atoi(at + sizeof(hop) - 1);
	return true;
}

static enum scenario_step reply_start(struct scenario_client *c, int status)
{
	if (c->count == TASKS_EACH)
		c->step = STEP_TAKE;
	return status == 202 ? SCENARIO_BEGIN : SCENARIO_FAILED;
}

static enum scenario_step reply_taken(struct scenario_client *c, int status, struct str body)
{
	bool is_step = c->step == STEP_NEXT;

	if (status != 200 || !take(c, body)) {
		c->step = STEP_TAKE;
		return SCENARIO_FAILED;
	}
	c->step = STEP_WORK;
	return is_step ? SCENARIO_DONE : SCENARIO_BEGIN;
}

static enum scenario_step reply_one(struct scenario_client *c, int status, struct str body)
{
	enum scenario_step step;

	if (c->step == STEP_START)
		return reply_start(c, status);
	if (c->step == STEP_HAND_ON) {
		c->step = STEP_NEXT;
		return status == 202 ? SCENARIO_NEXT : SCENARIO_FAILED;
	}
	step = reply_taken(c, status, body);
	if (step != SCENARIO_FAILED)
		c->step = c->hop < HOPS ? STEP_NEXT : STEP_HAND_ON;
	return step;
}

static enum scenario_step reply_three(struct scenario_client *c, int status, struct str body)
{
	if (c->step == STEP_START)
		return reply_start(c, status);
	if (c->step == STEP_TAKE || c->step == STEP_NEXT)
		return reply_taken(c, status, body);
	if (status != (c->step == STEP_WORK ? 200 : 202)) {
		c->step = STEP_TAKE;
		return SCENARIO_FAILED;
	}
	c->step++;
	return SCENARIO_NEXT;
}

const struct scenario scenario_step = {
	.name = "step", .about = "finish, hand on and take the next, in one call", .request = request_one,
	.reply = reply_one,
};

const struct scenario scenario_step_three = {
	.name = "step-three", .about = "the same in three calls", .request = request_three, .reply = reply_three,
};
