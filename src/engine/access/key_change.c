#include "engine/access/key_change.h"

#include "core/watch/event.h"
#include "engine/access/key_told.h"
#include "engine/access/keyring.h"
#include "engine/engine.h"
#include "engine/said.h"

/* --- A new secret --- */

/* Who gets the secret gets all that the key can: so it must have that itself. */
static enum problem_code may_rotate(struct key_change *k)
{
	struct op *op = &k->op;

	if (access_key_state(&k->key.row, op->now_ms) != ACCESS_KEY_VALID)
		return problem_set(&op->problem, P_KEY_ENDED, "id", "key-%llu was revoked or has expired; make a new "
				   "one", (unsigned long long)k->num);
	return access_check_covers(op->access, &k->key.row, &op->problem);
}

static enum problem_code rotate(struct op *op, struct store_conn *c)
{
	struct key_change *k = (struct key_change *)op;
	enum problem_code code = key_find(op, c, k->num, &k->key.row);
	char *text = arena_alloc(op->arena, ACCESS_KEY_TEXT_SIZE);
	uint8_t hash[SHA256_SIZE];

	if (code == P_OK)
		code = may_rotate(k);
	if (code != P_OK)
		return code;
	access_key_text(k->num, k->random, text);
	k->text = str_of(text);
	access_key_hash(k->text, hash);
	access_key_rotate(&k->key.row, hash, op->now_ms + k->grace_ms);
	k->key.state = ACCESS_KEY_VALID;
	code = op_stored(op, store_access_key_put(c, &k->key.row));
	return code == P_OK ? key_told(op, c, EVENT_KEY_ROTATED, &k->key.row, STR_NULL) : code;
}

/* --- The end --- */

static enum problem_code revoke(struct op *op, struct store_conn *c)
{
	struct key_change *k = (struct key_change *)op;
	enum problem_code code = key_find(op, c, k->num, &k->key.row);

	k->key.state = ACCESS_KEY_REVOKED;
	if (code == P_OK)
		code = access_check_agent(op->access, "agent", k->key.row.agent, &op->problem);
	if (code == P_OK)
		code = said_guard(op, c, SAID_OF_SPACE, 0, "reason", &k->reason);
	if (code != P_OK || k->key.row.revoked_at_ms)
		return code;
	k->key.row.revoked_at_ms = op->now_ms;
	k->key.row.revoked_why = k->reason;
	code = op_stored(op, store_access_key_put(c, &k->key.row));
	return code == P_OK ? key_told(op, c, EVENT_KEY_REVOKED, &k->key.row, k->reason) : code;
}

static void done(struct op *op)
{
	keyring_put(op->engine->keyring, &((struct key_change *)op)->key.row, op->now_ms);
}

/* The event is told in a space: that of the request where the key has none. */
const struct op_kind key_rotate_kind = {
	.name = "key_rotate", .size = sizeof(struct key_change), .flags = OP_MAKES_SPACE | OP_KEYS, .run = rotate,
	.done = done,
};
const struct op_kind key_revoke_kind = {
	.name = "key_revoke", .size = sizeof(struct key_change), .flags = OP_MAKES_SPACE | OP_KEYS, .run = revoke,
	.done = done,
};
