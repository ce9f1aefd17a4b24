/* Packing and sending. */
#include "envelope.h"

#include "call.h"
#include "error.h"

void msi_envelope_put(struct msi_body *b, const ms_envelope *envelope)
{
	msi_body_needed(b, "target_agent", envelope->to);
	msi_body_needed(b, "task_summary", envelope->summary);
	msi_body_text(b, "intent", envelope->intent);
	msi_body_text(b, "state", envelope->state);
	msi_body_json(b, "constraints", envelope->constraints_json, MS_OBJECT);
	msi_body_json(b, "execution_history", envelope->history_json, MS_ARRAY);
	msi_body_list(b, "refs", envelope->refs);
	msi_body_list(b, "open_decisions", envelope->open_decisions);
	msi_body_json(b, "expected_output", envelope->expected_output_json, MS_OBJECT);
	msi_body_text(b, "parent", envelope->parent);
	msi_body_text(b, "task", envelope->task);
	msi_body_text(b, "from", envelope->from);
	msi_body_text(b, "strategy", envelope->strategy);
	msi_body_extra(b, "extra_json", envelope->extra_json);
}

static int64_t unless_zero(int64_t ms)
{
	return ms ? ms : -1;
}

void msi_delivery_put(struct msi_body *b, const ms_delivery *delivery)
{
	if (delivery->envelope) {
		msi_body_open(b, "envelope");
		msi_envelope_put(b, delivery->envelope);
		msi_body_close(b);
	} else {
		msi_body_needed(b, "envelope_id", delivery->envelope_id);
	}
	msi_body_text(b, "to", delivery->to);
	msi_body_seconds(b, "wait_s", unless_zero(delivery->wait_ms));
	msi_body_seconds(b, "ack_timeout_s", unless_zero(delivery->ack_timeout_ms));
	msi_body_int(b, "max_attempts", delivery->max_attempts);
	msi_body_list(b, "fallbacks", delivery->fallbacks);
	msi_body_int(b, "priority", delivery->priority);
	msi_body_seconds(b, "queue_timeout_s", unless_zero(delivery->queue_timeout_ms));
	msi_body_extra(b, "extra_json", delivery->extra_json);
}

ms_status ms_pack(ms_client *client, const ms_envelope *envelope, ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {.operation = "handOff", .idempotency_key = envelope->idempotency_key};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_envelope_put(&b, envelope);
	return msi_call_with(client, &request, &b, NULL, NULL, ret, ret_error);
}

ms_status ms_send(ms_client *client, const ms_delivery *delivery, ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {
		.operation = "deliver", .idempotency_key = delivery->idempotency_key, .wait_ms = delivery->wait_ms,
	};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_delivery_put(&b, delivery);
	return msi_call_with(client, &request, &b, NULL, NULL, ret, ret_error);
}

ms_status ms_handoff(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error)
{
	return msi_call_one(client, "readHandoff", "id", id, ret, ret_error);
}
