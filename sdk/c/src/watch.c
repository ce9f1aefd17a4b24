/* Channels, and what is looked at: what was published and joined, what is parked, figures. */
#include "call.h"

#include <string.h>

ms_status ms_publish(ms_client *client, const ms_publication *publication, ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {.operation = "publish", .idempotency_key = publication->idempotency_key};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_body_needed(&b, "envelope_id", publication->envelope_id);
	msi_body_list(&b, "receivers", publication->receivers);
	msi_body_text(&b, "delivery", publication->delivery);
	msi_body_extra(&b, "extra_json", publication->extra_json);
	return msi_call_with(client, &request, &b, "name", publication->channel, ret, ret_error);
}

static bool is_number(const char *text)
{
	return text[0] && strspn(text, "0123456789") == strlen(text);
}

ms_status ms_join(ms_client *client, const char *channel, const char *envelope_id, const char *need, int64_t wait_ms,
		  ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {.operation = "join", .wait_ms = wait_ms};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_body_needed(&b, "envelope_id", envelope_id);
	if (need && is_number(need))
		msi_body_json(&b, "need", need, MS_INT);
	else
		msi_body_text(&b, "need", need);
	msi_body_seconds(&b, "wait_s", wait_ms);
	return msi_call_with(client, &request, &b, "name", channel, ret, ret_error);
}

static ms_status call_with_query(ms_client *client, const char *operation, const char *name, const char *value,
				 ms_answer **ret, ms_error *ret_error)
{
	ms_arg args[2] = {{.name = value ? name : NULL, .text = value}};

	return msi_call(client, &(ms_request){.operation = operation, .args = args}, ret, ret_error);
}

ms_status ms_parked(ms_client *client, const char *page_token, ms_answer **ret, ms_error *ret_error)
{
	return call_with_query(client, "listParked", "page_token", page_token, ret, ret_error);
}

ms_status ms_stats(ms_client *client, const char *window, ms_answer **ret, ms_error *ret_error)
{
	return call_with_query(client, "stats", "window", window, ret, ret_error);
}
