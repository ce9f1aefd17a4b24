/* What a webhook answers: a line with the status and the type, then the body. Whatever it says, the handoff's receiver
 * has done one of four things, and what is kept of the body is JSON within the limits. */
#include "fuzz.h"

#include "outbound/webhook_post.h"

enum { LEASE = 7, DEPTH = 64 };

static void check_kept(struct str kept, struct arena *arena, enum json_type type)
{
	struct json_error error;
	struct json tree;

	PROMISE(json_parse(kept, DEPTH + 1, arena, &tree, &error), "what is kept is JSON");
	PROMISE(type == JSON_NULL || tree.type == type, "gaps are a list");
}

static void check(const struct delivery_answer *a, const struct json *remember, struct arena *arena)
{
	bool is_done = a->verb == VERB_ACK || a->verb == VERB_COMPLETE;

	PROMISE(is_done || a->verb == VERB_NACK || a->verb == VERB_REJECT, "an answer is one of four");
	PROMISE(a->lease == LEASE, "an answer is of its lease");
	PROMISE(a->delay_ms == -1 || (a->delay_ms >= 0 && a->delay_ms <= WEBHOOK_RETRY_AFTER_MAX_S * INT64_C(1000)),
		"a pause has a limit");
	PROMISE(a->work_lease_ms >= 0 && a->work_lease_ms <= DELIVERY_TIMEOUT_MAX_MS, "a lease has a limit");
	PROMISE(a->result.input_tokens >= -1 && a->result.input_tokens <= INT32_MAX, "tokens have a limit");
	PROMISE(a->text.p == NULL || str_is_utf8(a->text), "a reason is text");
	PROMISE(!remember || (a->verb == VERB_COMPLETE && a->result.result.p), "what is remembered is a result");
	PROMISE(is_done || (!a->has_result && !a->result.result.p && !a->result.gaps.p && a->result.input_tokens == -1),
		"who has not done it has no result");
	if (a->result.result.p)
		check_kept(a->result.result, arena, JSON_NULL);
	if (a->result.gaps.p)
		check_kept(a->result.gaps, arena, JSON_ARRAY);
}

/* "200 application/json": status, what Retry-After says, type. */
static struct post_outcome outcome_of(struct str line, struct str body, struct arena *arena)
{
	struct post_outcome o = {.body = body};
	uint64_t status = 0, wait_s = 0;

	str_to_u64(str_cut(&line, ' '), &status);
	str_to_u64(str_cut(&line, ' '), &wait_s);
	o.status = (int)(status % 1000);
	o.retry_after_s = (int64_t)(wait_s & INT64_MAX);
	o.content_type = line.n ? arena_cstr(arena, line) : NULL;
	if (o.status < 200 || o.status > 299)
		o.failure = "it answered otherwise";
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str body = fuzz_str(data, size), line = str_cut(&body, '\n');
	const struct json *remember = NULL;
	struct delivery_answer answer;
	struct post_outcome outcome;
	struct arena arena;

	arena_init(&arena);
	outcome = outcome_of(line, body.p ? arena_str(&arena, body) : STR_NULL, &arena);
	webhook_post_answer(&outcome, LEASE, &arena, &answer, &remember);
	check(&answer, remember, &arena);
	arena_release(&arena);
	return 0;
}
