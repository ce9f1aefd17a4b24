#include "engine/key.h"

#include "engine/engine.h"

#include <string.h>

enum { PRUNE_EVERY_MS = 60000, PRUNE_MAX = 1000, PRUNE_WITH_EACH = 2, CLAIM_STATUS = 0 };

enum problem_code key_replay(struct op *op, struct store_conn *c)
{
	enum store_status status = store_reply_get(c, op->space, op->key, op->arena, &op->kept);

	op->claim = STR_NULL;
	if (status == STORE_NOT_FOUND || (status == STORE_OK && op->kept.at_ms < op->now_ms -
					  op->engine->config.key_ttl_ms))
		return P_NOT_FOUND;
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	if (memcmp(op->kept.request_digest, op->digest, sizeof(op->digest)) != 0)
		return problem_set(&op->problem, P_IDEMPOTENCY_CONFLICT, "Idempotency-Key",
				   "this Idempotency-Key was used for another request; use a new key for a new "
				   "request");
	if (op->kept.status == CLAIM_STATUS) {
		op->claim = op->kept.body;
		return P_NOT_FOUND;
	}
	if (op->kept.body.n == 0)
		return problem_set(&op->problem, P_MEMORY_FORGOTTEN, "Idempotency-Key",
				   "this request was carried out before; its answer is gone, because a memory in it "
				   "was forgotten since%s%.*s",
				   op->kept.location.p ? "; see " : "", STR_ARG(op->kept.location));
	op->is_replayed = true;
	return P_OK;
}

enum problem_code op_claim(struct op *op, struct store_conn *c, struct str what)
{
	struct kept_reply kept = {.at_ms = op->now_ms, .status = CLAIM_STATUS, .body = what};

	if (op->key.p == NULL)
		return P_OK;
	memcpy(kept.request_digest, op->digest, sizeof(kept.request_digest));
	return op_stored(op, store_reply_put(c, op->space, op->key, &kept, NULL, 0));
}

enum problem_code key_keep(struct op *op, struct store_conn *c)
{
	struct kept_reply kept = {0};
	enum store_status status;

	op->owner->keep(op, &kept);
	kept.at_ms = op->now_ms;
	memcpy(kept.request_digest, op->digest, sizeof(kept.request_digest));
	status = store_reply_put(c, op->space, op->key, &kept, op->shown, op->shown_count);
	if (status == STORE_OK)
		status = store_reply_prune(c, op->now_ms - op->engine->config.key_ttl_ms, PRUNE_WITH_EACH);
	return op_stored(op, status);
}

/* Some now and then with a write that is under way anyhow, and two with each that is kept, so that they go faster than
 * they come. */
enum store_status key_prune(struct engine *e, struct store_conn *c, int64_t now_ms)
{
	if (now_ms - e->last_prune_ms < PRUNE_EVERY_MS)
		return STORE_OK;
	e->last_prune_ms = now_ms;
	return store_reply_prune(c, now_ms - e->config.key_ttl_ms, PRUNE_MAX);
}
