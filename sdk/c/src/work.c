/* Work in hand: a handoff that was received, and how it is settled. */
#include "work.h"

#include "call.h"
#include "envelope.h"
#include "error.h"
#include "fetch.h"

#include <stdlib.h>
#include <string.h>

struct ms_work {
	ms_client *client;		/* borrowed */
	ms_answer *answer;		/* owned: what all else is borrowed from */
	const ms_json *handoff;
	const char *id;
	const char *lease;
	const char *to;
	const char *envelope_id;
	char *envelope;			/* owned: JSON text */
};

/* --- Receiving --- */

static const char *text_at(const ms_work *work, const char *pointer)
{
	return ms_json_text(ms_json_find(work->handoff, pointer), NULL);
}

ms_status msi_work_new(ms_client *client, ms_answer *answer, ms_work **ret, ms_error *ret_error)
{
	ms_work *work = calloc(1, sizeof(*work));
	ms_status status;

	if (work == NULL) {
		ms_answer_free(answer);
		return msi_error_no_memory(ret_error);
	}
	work->client = client;
	work->answer = answer;
	work->handoff = ms_json_find(ms_answer_json(answer), "/handoffs/0");
	work->id = text_at(work, "/id");
	work->lease = text_at(work, "/lease");
	work->to = text_at(work, "/to");
	work->envelope_id = text_at(work, "/envelope_id");
	status = ms_json_print(ms_json_get(work->handoff, "envelope"), &work->envelope, ret_error);
	if (status == MS_OK && (!work->id || !work->lease || !work->to || !work->envelope_id))
		status = msi_error_set(ret_error, MS_BAD_ANSWER, "bad_answer", "the answer of %s cannot be used: a "
				       "handoff without its id, lease, receiver or envelope", client->url);
	if (status == MS_OK)
		*ret = work;
	else
		ms_work_free(work);
	return status;
}

ms_status ms_receive(ms_client *client, const ms_receive_options *options, ms_work **ret, ms_error *ret_error)
{
	const ms_receive_options o = options ? *options : (ms_receive_options){0};
	const char *agent = o.agent ? o.agent : client->agent;
	ms_request request = {
		.operation = "receive", .agent = agent, .wait_ms = o.wait_ms, .is_stopped = o.is_stopped,
		.stop_arg = o.stop_arg,
	};
	ms_answer *answer = NULL;
	const ms_json *handoffs;
	struct msi_body b;
	ms_status status;

	*ret = NULL;
	if (agent == NULL)
		return msi_error_invalid(ret_error, "agent", "an agent must be named, here or in ms_open()");
	msi_body_begin(&b, ret_error);
	msi_body_seconds(&b, "wait_s", o.wait_ms);
	msi_body_seconds(&b, "lease_s", o.lease_ms ? o.lease_ms : -1);
	msi_body_text(&b, "instance", o.instance);
	msi_body_int(&b, "max", 1);
	status = msi_call_with(client, &request, &b, "name", agent, &answer, ret_error);
	if (status != MS_OK)
		return status;
	handoffs = ms_json_get(ms_answer_json(answer), "handoffs");
	if (ms_json_type(handoffs) == MS_ARRAY && ms_json_count(handoffs) == 0) {
		ms_answer_free(answer);
		return MS_OK;
	}
	return msi_work_new(client, answer, ret, ret_error);
}

void ms_work_free(ms_work *work)
{
	if (work == NULL)
		return;
	ms_answer_free(work->answer);
	ms_free(work->envelope);
	free(work);
}

/* --- Reading --- */

const char *ms_work_id(const ms_work *work)
{
	return work->id;
}

const char *ms_work_prompt(const ms_work *work)
{
	const char *prompt = text_at(work, "/prompt");

	return prompt ? prompt : "";
}

const char *ms_work_envelope(const ms_work *work)
{
	return work->envelope;
}

const char *ms_work_envelope_id(const ms_work *work)
{
	return work->envelope_id;
}

const char *ms_work_lease(const ms_work *work)
{
	return work->lease;
}

const char *ms_work_to(const ms_work *work)
{
	return work->to;
}

const char *ms_work_task(const ms_work *work)
{
	return text_at(work, "/envelope/task/id");
}

const char *ms_work_intent(const ms_work *work)
{
	return text_at(work, "/envelope/task/intent");
}

/* An envelope of version 1 is flat. */
const char *ms_work_summary(const ms_work *work)
{
	const char *summary = text_at(work, "/envelope/task/summary");

	return summary ? summary : text_at(work, "/envelope/summary");
}

const char *ms_work_from(const ms_work *work)
{
	return text_at(work, "/from");
}

int ms_work_attempt(const ms_work *work)
{
	int64_t attempt = ms_json_int(ms_json_get(work->handoff, "attempt"), 1);

	return attempt > 0 && attempt < 1000000 ? (int)attempt : 1;
}

bool ms_work_redelivered(const ms_work *work)
{
	return ms_json_bool(ms_json_get(work->handoff, "redelivered"), false);
}

const ms_json *ms_work_json(const ms_work *work)
{
	return work->handoff;
}

/* --- Settling --- */

static void begin(const ms_work *work, struct msi_body *b, ms_error *ret_error)
{
	msi_body_begin(b, ret_error);
	msi_body_text(b, "lease", work->lease);
}

/* In the name of the receiver; of a name that cannot be a header the server knows from the lease whose it is. */
static const char *settler(const ms_work *work)
{
	return msi_client_is_header_safe(work->to) ? work->to : "";
}

static ms_status settle(ms_work *work, const char *verb, struct msi_body *b, ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {.operation = verb, .agent = settler(work)};

	return msi_call_with(work->client, &request, b, "id", work->id, ret, ret_error);
}

/* What gave the handoff back ended its lease. Where the first answer was lost, saying it again is refused: then what
 * became of the handoff is read. */
static ms_status settle_back(ms_work *work, const char *verb, struct msi_body *b, ms_answer **ret, ms_error *ret_error)
{
	ms_error own, *error = ret_error ? ret_error : &own;
	ms_status status = settle(work, verb, b, ret, error);

	if (status == MS_REFUSED && error->repeated && strcmp(error->code, "stale_lease") == 0)
		return ms_handoff(work->client, work->id, ret, ret_error);
	return status;
}

ms_status ms_ack(ms_work *work, int64_t work_lease_ms, ms_answer **ret, ms_error *ret_error)
{
	struct msi_body b;

	begin(work, &b, ret_error);
	msi_body_seconds(&b, "work_lease_s", work_lease_ms ? work_lease_ms : -1);
	return settle(work, "ack", &b, ret, ret_error);
}

ms_status ms_progress(ms_work *work, const char *note, ms_answer **ret, ms_error *ret_error)
{
	struct msi_body b;

	begin(work, &b, ret_error);
	msi_body_text(&b, "note", note);
	return settle(work, "progress", &b, ret, ret_error);
}

ms_status ms_complete(ms_work *work, const ms_result *result, ms_answer **ret, ms_error *ret_error)
{
	const ms_result r = result ? *result : (ms_result){0};
	struct msi_body b;

	begin(work, &b, ret_error);
	msi_body_text(&b, "result", r.text);
	if (r.text == NULL)
		msi_body_json(&b, "result", r.json, MS_NULL);
	msi_body_json(&b, "gaps", r.gaps_json, MS_ARRAY);
	msi_body_int(&b, "input_tokens", r.input_tokens);
	if (r.forget)
		msi_body_json(&b, "remember", "false", MS_BOOL);
	if (r.then) {
		msi_body_open(&b, "then");
		msi_delivery_put(&b, r.then);
		msi_body_close(&b);
	}
	return settle(work, "complete", &b, ret, ret_error);
}

ms_status ms_hand_on(ms_work *work, const char *result, const ms_envelope *next, ms_answer **ret, ms_error *ret_error)
{
	ms_delivery then = {.envelope = next};

	return ms_complete(work, &(ms_result){.text = result, .then = &then}, ret, ret_error);
}

static ms_status give_back(ms_work *work, const char *verb, const char *reason, int64_t delay_ms, ms_answer **ret,
			   ms_error *ret_error)
{
	struct msi_body b;

	begin(work, &b, ret_error);
	msi_body_text(&b, "reason", reason);
	msi_body_seconds(&b, "delay_s", delay_ms);
	return settle_back(work, verb, &b, ret, ret_error);
}

ms_status ms_nack(ms_work *work, const char *reason, int64_t delay_ms, ms_answer **ret, ms_error *ret_error)
{
	return give_back(work, "nack", reason, delay_ms, ret, ret_error);
}

ms_status ms_release(ms_work *work, const char *reason, int64_t delay_ms, ms_answer **ret, ms_error *ret_error)
{
	return give_back(work, "release", reason, delay_ms, ret, ret_error);
}

ms_status ms_reject(ms_work *work, const char *reason, ms_answer **ret, ms_error *ret_error)
{
	struct msi_body b;

	begin(work, &b, ret_error);
	msi_body_needed(&b, "reason", reason);
	return settle_back(work, "reject", &b, ret, ret_error);
}

ms_status ms_need(ms_work *work, const char *const *ids, ms_answer **ret, ms_error *ret_error)
{
	struct msi_fetch how = {
		.operation = "need", .list = "refs", .handoff = work->id, .lease = work->lease,
		.agent = settler(work),
	};

	return msi_fetch(work->client, &how, ids, ret, ret_error);
}
