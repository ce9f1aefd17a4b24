#include "engine/key.h"

#include "engine/engine.h"

#include <string.h>

/* PRUNE_MAX and PAUSE_MS are those of retention (bench/results/retention.md). */
enum { PRUNE_MAX = 256, PAUSE_MS = 5, RETRY_MS = 1000, PRUNE_WITH_EACH = 2, CLAIM_STATUS = 0 };

/* What an answer is kept by. With keys it is that of the key that asked: whoever else has the same Idempotency-Key asks
 * for something of its own, and is told nothing of the other. Only visible characters come from outside, so the blank
 * keeps both kinds apart. */
static struct str kept_by(const struct op *op)
{
	return op->access == NULL ? op->key : arena_printf(op->arena, "key-%llu %.*s",
							   (unsigned long long)op->access->key, STR_ARG(op->key));
}

enum problem_code key_replay(struct op *op, struct store_conn *c)
{
	enum store_status status = store_reply_get(c, op->space, kept_by(op), op->arena, &op->kept);

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
	if (op->kept.is_quarantined)
		return problem_set(&op->problem, P_MEMORY_QUARANTINED, "Idempotency-Key",
				   "this request was carried out before; its answer is withheld while a memory in it "
				   "is in quarantine%s%.*s; a person decides about that",
				   op->kept.location.p ? "; see " : "", STR_ARG(op->kept.location));
	op->is_replayed = true;
	return P_OK;
}

/* One is kept: it goes when its time is over. What was kept before goes before. */
static void note_kept(struct op *op)
{
	struct engine *e = op->engine;

	if (e->keys_next_ms == 0)
		e->keys_next_ms = op->now_ms + e->config.key_ttl_ms + 1;
}

enum problem_code op_claim(struct op *op, struct store_conn *c, struct str what)
{
	struct kept_reply kept = {.at_ms = op->now_ms, .status = CLAIM_STATUS, .body = what};

	if (op->key.p == NULL)
		return P_OK;
	memcpy(kept.request_digest, op->digest, sizeof(kept.request_digest));
	note_kept(op);
	return op_stored(op, store_reply_put(c, op->space, kept_by(op), &kept, NULL, 0));
}

enum problem_code key_keep(struct op *op, struct store_conn *c)
{
	struct kept_reply kept = {0};
	enum store_status status;

	op->owner->keep(op, &kept);
	kept.at_ms = op->now_ms;
	note_kept(op);
	memcpy(kept.request_digest, op->digest, sizeof(kept.request_digest));
	status = store_reply_put(c, op->space, kept_by(op), &kept, op->shown, op->shown_count);
	if (status == STORE_OK)
		status = store_reply_prune(c, op->now_ms - op->engine->config.key_ttl_ms, PRUNE_WITH_EACH);
	return op_stored(op, status);
}

/* When the oldest is to go; 0: there is none. */
static enum store_status next_ms(const struct engine *e, struct store_conn *c, int64_t *ret)
{
	int64_t oldest_ms = 0;
	enum store_status status = store_reply_oldest(c, &oldest_ms);

	*ret = status == STORE_OK ? oldest_ms + e->config.key_ttl_ms + 1 : 0;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

void key_start(struct engine *e, struct store_conn *c)
{
	if (next_ms(e, c, &e->keys_next_ms) != STORE_OK)
		e->keys_next_ms = 1;
}

enum store_status key_begin(struct engine *e, struct store_conn *c, int64_t now_ms)
{
	int64_t due_ms = e->keys_next_ms, later_ms;
	enum store_status status;

	if (due_ms == 0 || due_ms > now_ms)
		return STORE_OK;
	/* Where the transaction is undone, it is tried again. */
	e->keys_next_ms = now_ms + RETRY_MS;
	status = store_reply_prune(c, now_ms - e->config.key_ttl_ms, PRUNE_MAX);
	if (status == STORE_OK)
		status = next_ms(e, c, &later_ms);
	if (status == STORE_OK)
		e->keys_next_ms = later_ms && later_ms <= now_ms ? now_ms + PAUSE_MS : later_ms;
	return status;
}

void key_after(struct engine *e, bool committed)
{
	/* What was kept or removed is not: the store is asked anew. */
	if (!committed)
		e->keys_next_ms = engine_now_ms(e) + RETRY_MS;
}
