#include "outbound/webhook_post.h"

#include "base/mem.h"
#include "codec/base64.h"
#include "codec/hmac.h"
#include "codec/json_member.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_DEPTH = 64, RESULT_MAX = 256 * 1024, REASON_MAX = 4096 };

/* --- The request --- */

static void sign(struct str secret, struct str id, struct str timestamp, struct str body, struct buf *ret)
{
	struct str parts[] = {id, STR("."), timestamp, STR("."), body};
	uint8_t mac[HMAC_SHA256_SIZE];
	struct buf key;
	bool ok;

	buf_init(&key, AGENT_WEBHOOK_KEY_MAX);
	ok = agent_webhook_key(secret, &key);
	assert(ok);	/* it was looked at when the settings were read */
	(void)ok;
	hmac_sha256(buf_str(&key), parts, sizeof(parts) / sizeof(parts[0]), mac);
	buf_puts(ret, "v1,");
	base64_encode((struct str){(const char *)mac, sizeof(mac)}, BASE64_PADDED, ret);
	buf_release(&key);
}

struct post *webhook_post(struct poster *poster, const struct webhook_request *r, struct buf *body)
{
	char lease[HANDOFF_ID_SIZE], handoff[HANDOFF_ID_SIZE], timestamp[24], *url = mem_strndup(r->url.p, r->url.n);
	struct buf signature;
	struct post *post;

	handoff_lease_format(r->num, r->lease, lease);
	handoff_id_format(r->num, handoff);
	snprintf(timestamp, sizeof(timestamp), "%lld", (long long)(r->now_ms / 1000));
	buf_init(&signature, 128);
	sign(r->secret, str_of(lease), str_of(timestamp), buf_str(body), &signature);
	post = poster_post(poster, &(struct post_request){
		.url = url, .timeout_ms = r->timeout_ms, .needs_whole_answer = true, .done = r->done, .ctx = r->ctx,
		.headers = (struct post_header[]){
			{"webhook-id", str_of(lease)},
			{"webhook-timestamp", str_of(timestamp)},
			{"webhook-signature", buf_str(&signature)},
			{"Spine-Handoff", str_of(handoff)},
			{"Spine-Space", r->space_name},
			{"traceparent", r->traceparent},
		},
		.header_count = r->traceparent.p ? 6 : 5,
	}, body);
	buf_release(&signature);
	free(url);
	return post;
}

/* --- The answer --- */

static bool says_json(const struct post_outcome *o)
{
	struct str rest = str_of(o->content_type);

	return o->content_type && str_ieq(str_trim(str_cut(&rest, ';')), STR("application/json"));
}

/* The member, or NULL where it is absent or null. */
static const struct json *member(const struct json *body, const char *name)
{
	const struct json *value = json_get(body, name);

	return value && value->type != JSON_NULL ? value : NULL;
}

/* Nothing that was read of a result before is kept, or looked at. */
static void nack(struct delivery_answer *a, struct str reason)
{
	a->verb = VERB_NACK;
	a->text = reason;
	a->result = (struct result_row){.input_tokens = -1};
}

/* {"reject":"why"}. False where the body does not say so. */
static bool read_reject(const struct json *body, struct delivery_answer *a)
{
	const struct json *why = member(body, "reject");

	if (why == NULL || (why->type == JSON_BOOL && !why->boolean))
		return false;
	a->verb = VERB_REJECT;
	if (why->type == JSON_STRING && why->s.n) {
		a->text = str_sub(why->s, 0, why->s.n < REASON_MAX ? why->s.n : REASON_MAX);
		a->text.n = str_utf8_prefix(a->text);
	}
	return true;
}

/* What the body says besides the result. NULL, or what is wrong with it. */
static const char *read_details(const struct json *body, struct delivery_answer *a, bool *ret_remember)
{
	const struct json *lease = member(body, "work_lease_s"), *tokens = member(body, "input_tokens"),
			  *remember = member(body, "remember");
	double lease_ms = lease == NULL ? 1 : lease->type == JSON_INT ? (double)lease->i * 1000
			  : lease->type == JSON_DOUBLE ? lease->d * 1000 : 0;

	if (!(lease_ms >= 1 && lease_ms <= DELIVERY_TIMEOUT_MAX_MS))
		return "the answer's work_lease_s is not a number of seconds from 0.001 to 86400";
	if (tokens && (!json_as_int(tokens, &a->result.input_tokens) || a->result.input_tokens < 0 ||
		       a->result.input_tokens > INT32_MAX))
		return "the answer's input_tokens is not a whole number from 0 to 2147483647";
	if (remember && remember->type != JSON_BOOL)
		return "the answer's remember is neither true nor false";
	a->work_lease_ms = lease ? (int64_t)(lease_ms + 0.5) : 0;
	*ret_remember = remember == NULL || remember->boolean;
	return NULL;
}

/* An ack, with what the body adds to it. Where that cannot be kept it is no ack: it must not be lost without a word. */
static void read_accepted(const struct json *body, struct arena *arena, struct delivery_answer *a,
			  const struct json **ret_remember)
{
	const struct json *result = json_get(body, "result"), *gaps = member(body, "gaps");
	struct result_row *r = &a->result;
	const char *wrong;
	bool remember;

	a->verb = result ? VERB_COMPLETE : VERB_ACK;
	wrong = read_details(body, a, &remember);
	if (wrong) {
		nack(a, str_of(wrong));
		return;
	}
	if (result && result->type != JSON_NULL)
		r->result = json_canonical(result, RESULT_MAX, arena);
	if (gaps)
		r->gaps = json_canonical(gaps, RESULT_MAX, arena);
	if ((result && result->type != JSON_NULL && r->result.p == NULL) ||
	    (gaps && (r->gaps.p == NULL || gaps->type != JSON_ARRAY)))
		nack(a, STR("the answer's result is too large, or its gaps are not a list"));
	if (result)
		a->work_lease_ms = 0;
	if (a->verb == VERB_COMPLETE && r->result.p && remember)
		*ret_remember = result;
	a->has_result = r->result.p || r->gaps.p || r->input_tokens >= 0;
}

static void read_failure(const struct post_outcome *o, struct arena *arena, struct delivery_answer *a)
{
	int64_t wait_s = o->retry_after_s < WEBHOOK_RETRY_AFTER_MAX_S ? o->retry_after_s : WEBHOOK_RETRY_AFTER_MAX_S;

	if (o->status == 410 || o->status == 422)
		a->verb = VERB_REJECT;
	a->text = arena_str(arena, str_of(o->failure));
	if (wait_s > 0)
		a->delay_ms = wait_s * 1000;
}

void webhook_post_answer(const struct post_outcome *o, int64_t lease, struct arena *arena,
			 struct delivery_answer *ret, const struct json **ret_remember)
{
	struct json body = {.type = JSON_NULL};
	struct json_error error;
	bool is_read = true;

	*ret_remember = NULL;
	*ret = (struct delivery_answer){
		.verb = VERB_NACK, .lease = lease, .delay_ms = -1, .result.input_tokens = -1,
	};
	if (o->body.n)
		is_read = json_parse(o->body, ANSWER_DEPTH, arena, &body, &error);
	if (read_reject(&body, ret))
		return;
	if (o->failure)
		read_failure(o, arena, ret);
	else if (!is_read && says_json(o))
		nack(ret, arena_printf(arena, "the answer says that it is JSON, and is not: %s", error.detail));
	else
		read_accepted(&body, arena, ret, ret_remember);
}
