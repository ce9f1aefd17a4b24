#include "outbound/webhook_post.h"

#include "api/decode.h"
#include "base/mem.h"
#include "codec/base64.h"
#include "codec/json_member.h"
#include "codec/hmac.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_TIMEOUT_MS = 10000, HEADER_MAX = 512, ANSWER_DEPTH = 64, RESULT_MAX = 256 * 1024, REASON_MAX = 4096 };

struct webhook_post {
	CURL *curl;
	struct curl_slist *headers;
	struct buf body;
	struct buf answer;
	int64_t lease;
	int64_t timeout_ms;
	char error[CURL_ERROR_SIZE];	/* libcurl's words */
};

/* --- The request --- */

static void add_header(struct webhook_post *p, const char *name, const char *value)
{
	char line[HEADER_MAX];
	struct curl_slist *longer;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	longer = curl_slist_append(p->headers, line);
	if (longer == NULL)
		mem_exhausted(sizeof(line));
	p->headers = longer;
}

static void add_signature(struct webhook_post *p, struct str secret, const char *id, const char *timestamp)
{
	struct str parts[] = {str_of(id), STR("."), str_of(timestamp), STR("."), buf_str(&p->body)};
	uint8_t mac[HMAC_SHA256_SIZE];
	struct buf key, text;
	bool ok;

	buf_init(&key, AGENT_WEBHOOK_KEY_MAX);
	buf_init(&text, 128);
	ok = agent_webhook_key(secret, &key);
	assert(ok);	/* it was looked at when the settings were read */
	(void)ok;
	hmac_sha256(buf_str(&key), parts, sizeof(parts) / sizeof(parts[0]), mac);
	buf_puts(&text, "v1,");
	base64_encode((struct str){(const char *)mac, sizeof(mac)}, BASE64_PADDED, &text);
	add_header(p, "webhook-signature", text.data);
	buf_release(&text);
	buf_release(&key);
}

static void add_headers(struct webhook_post *p, const struct webhook_request *r)
{
	char lease[HANDOFF_ID_SIZE], handoff[HANDOFF_ID_SIZE], timestamp[24], space[HEADER_MAX / 2],
		trace[HEADER_MAX / 2];

	handoff_lease_format(r->num, r->lease, lease);
	handoff_id_format(r->num, handoff);
	snprintf(timestamp, sizeof(timestamp), "%lld", (long long)(r->now_ms / 1000));
	snprintf(space, sizeof(space), "%.*s", STR_ARG(r->space_name));
	add_header(p, "Content-Type", "application/json");
	add_header(p, "webhook-id", lease);
	add_header(p, "webhook-timestamp", timestamp);
	add_signature(p, r->secret, lease, timestamp);
	add_header(p, "Spine-Handoff", handoff);
	add_header(p, "Spine-Space", space);
	if (r->traceparent.p) {
		snprintf(trace, sizeof(trace), "%.*s", STR_ARG(r->traceparent));
		add_header(p, "traceparent", trace);
	}
	/* Otherwise libcurl asks first whether it may send a large body, and waits a second for an answer. */
	p->headers = curl_slist_append(p->headers, "Expect:");
	if (p->headers == NULL)
		mem_exhausted(HEADER_MAX);
}

static size_t on_answer(char *data, size_t size, size_t count, void *arg)
{
	struct webhook_post *p = arg;

	assert(size == 1);
	buf_append(&p->answer, data, count);
	return buf_overflowed(&p->answer) ? 0 : count;
}

/* Nothing of the surroundings decides where it goes: no proxy, no redirect, no .netrc. */
static bool set_options(struct webhook_post *p, const char *url, void *owner)
{
	long connect_ms = p->timeout_ms < CONNECT_TIMEOUT_MS ? (long)p->timeout_ms : CONNECT_TIMEOUT_MS;
	CURL *c = p->curl;

	return curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->body.len) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_POSTFIELDS, p->body.data ? p->body.data : "") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_HTTPHEADER, p->headers) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)p->timeout_ms) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_answer) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEDATA, p) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->error) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PRIVATE, owner) == CURLE_OK;
}

/* The directory of the system goes with its file: who names authorities means these. */
static bool set_authorities(CURL *c, const char *ca_file)
{
	return ca_file == NULL || (curl_easy_setopt(c, CURLOPT_CAINFO, ca_file) == CURLE_OK &&
				   curl_easy_setopt(c, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

struct webhook_post *webhook_post_new(const struct webhook_request *request, struct buf *body, void *owner)
{
	struct webhook_post *p = mem_zalloc(sizeof(*p));
	char *url = mem_strndup(request->url.p, request->url.n);

	p->lease = request->lease;
	p->timeout_ms = request->timeout_ms;
	p->body = *body;
	buf_init(body, body->max);
	buf_init(&p->answer, WEBHOOK_ANSWER_MAX_BYTES);
	add_headers(p, request);
	p->curl = curl_easy_init();
	/* All of it is known to this libcurl: what is left is want of memory. */
	if (p->curl == NULL || !set_options(p, url, owner) || !set_authorities(p->curl, request->ca_file))
		mem_exhausted(sizeof(*p));
	free(url);
	return p;
}

CURL *webhook_post_handle(struct webhook_post *p)
{
	return p->curl;
}

void webhook_post_free(struct webhook_post *p)
{
	if (p == NULL)
		return;
	curl_easy_cleanup(p->curl);
	curl_slist_free_all(p->headers);
	buf_release(&p->body);
	buf_release(&p->answer);
	free(p);
}

/* --- The answer --- */

/* Why there is none. */
static struct str failure(struct webhook_post *p, CURLcode result, struct arena *arena)
{
	long number = 0;

	if (result == CURLE_WRITE_ERROR && buf_overflowed(&p->answer))
		return arena_printf(arena, "the answer is larger than %d bytes", WEBHOOK_ANSWER_MAX_BYTES);
	if (result == CURLE_OPERATION_TIMEDOUT)
		return arena_printf(arena, "no answer within %g s", (double)p->timeout_ms / 1000);
	if (result == CURLE_COULDNT_RESOLVE_HOST)
		return STR("host not found");
	curl_easy_getinfo(p->curl, CURLINFO_OS_ERRNO, &number);
	if (result == CURLE_COULDNT_CONNECT && number == ECONNREFUSED)
		return STR("connection refused");
	if (result == CURLE_COULDNT_CONNECT && number)
		return arena_printf(arena, "cannot connect: %s", strerror((int)number));
	if (result == CURLE_PEER_FAILED_VERIFICATION && p->error[0])
		return arena_printf(arena, "its certificate is not trusted: %s (see --ca-file)", p->error);
	return arena_str(arena, str_of(p->error[0] ? p->error : curl_easy_strerror(result)));
}

static bool says_json(struct webhook_post *p)
{
	const char *type = NULL;
	struct str rest;

	curl_easy_getinfo(p->curl, CURLINFO_CONTENT_TYPE, &type);
	rest = str_of(type);
	return type && str_ieq(str_trim(str_cut(&rest, ';')), STR("application/json"));
}

static void nack(struct delivery_answer *a, struct str reason)
{
	a->verb = VERB_NACK;
	a->text = reason;
}

/* {"reject":"why"}. False where the body does not say so. */
static bool read_reject(const struct json *body, struct delivery_answer *a)
{
	const struct json *why = decode_member(body, "reject");

	if (why == NULL || (why->type == JSON_BOOL && !why->boolean))
		return false;
	a->verb = VERB_REJECT;
	if (why->type == JSON_STRING && why->s.n) {
		a->text = str_sub(why->s, 0, why->s.n < REASON_MAX ? why->s.n : REASON_MAX);
		a->text.n = str_utf8_prefix(a->text);
	}
	return true;
}

/* An ack, with what the body adds to it. Where that cannot be kept it is no ack: it must not be lost without a word. */
static void read_accepted(const struct json *body, struct arena *arena, struct delivery_answer *a,
			  const struct json **ret_remember)
{
	const struct json *result = json_get(body, "result"), *gaps = decode_member(body, "gaps");
	struct result_row *r = &a->result;
	struct problem problem = {0};
	bool remember = true;

	a->verb = result ? VERB_COMPLETE : VERB_ACK;
	if (decode_seconds(body, "work_lease_s", 1, DELIVERY_TIMEOUT_MAX_MS, &a->work_lease_ms, &problem) != P_OK ||
	    decode_int(body, "input_tokens", 0, INT32_MAX, &r->input_tokens, &problem) != P_OK ||
	    decode_bool(body, "remember", &remember, &problem) != P_OK) {
		nack(a, arena_printf(arena, "the answer's %s", problem.detail));
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

static void read_status(struct webhook_post *p, long status, struct arena *arena, struct delivery_answer *a)
{
	const char *more = status / 100 == 3 ? ", and redirects are not followed" : "";
	curl_off_t retry_after_s = 0;

	if (status == 410 || status == 422)
		a->verb = VERB_REJECT;
	a->text = arena_printf(arena, "HTTP %ld%s", status, more);
	curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	if (retry_after_s > WEBHOOK_RETRY_AFTER_MAX_MS / 1000)
		retry_after_s = WEBHOOK_RETRY_AFTER_MAX_MS / 1000;
	if (retry_after_s > 0)
		a->delay_ms = (int64_t)retry_after_s * 1000;
}

void webhook_post_answer(struct webhook_post *p, CURLcode result, struct arena *arena, struct delivery_answer *ret,
			 const struct json **ret_remember)
{
	struct json body = {.type = JSON_NULL};
	struct json_error error;
	bool is_read = true;
	long status = 0;

	*ret_remember = NULL;
	*ret = (struct delivery_answer){
		.verb = VERB_NACK, .lease = p->lease, .delay_ms = -1, .result.input_tokens = -1,
	};
	if (result != CURLE_OK) {
		ret->text = failure(p, result, arena);
		return;
	}
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	if (p->answer.len)
		is_read = json_parse(buf_str(&p->answer), ANSWER_DEPTH, arena, &body, &error);
	if (read_reject(&body, ret))
		return;
	if (status / 100 != 2)
		read_status(p, status, arena, ret);
	else if (!is_read && says_json(p))
		nack(ret, arena_printf(arena, "the answer says that it is JSON, and is not: %s", error.detail));
	else
		read_accepted(&body, arena, ret, ret_remember);
}
