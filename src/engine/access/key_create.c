#include "engine/access/key_create.h"

#include "core/watch/event.h"
#include "engine/access/key_told.h"
#include "engine/access/keyring.h"
#include "engine/engine.h"

/* Does nobody need a key yet? */
static enum problem_code read_mode(struct op *op, struct store_conn *c, bool *ret_is_first)
{
	bool needs_key = true;
	enum problem_code code = op_stored(op, store_access_mode(c, &needs_key));

	*ret_is_first = !needs_key;
	return code;
}

/* Who says nothing gets what it has itself, but for being admin. */
static void fill_in(struct key_create *k)
{
	const struct access *a = k->op.access;
	struct key_order *order = &k->order;
	struct access_key_row *row = &k->row;
	bool is_all = str_is(order->space, "*") || (order->space.p == NULL && k->is_first);

	*row = (struct access_key_row){
		.name = order->name, .agent = order->agent, .scopes = order->scopes, .trust = order->trust,
		.created_at_ms = k->op.now_ms, .expires_at_ms = order->expires_at_ms,
		.created_by = k->op.agent.p ? k->op.agent : a ? access_actor(a, k->op.arena) : STR_NULL,
	};
	if (!is_all)
		row->space = order->space.p ? order->space : k->op.space_name;
	if (row->scopes == 0)
		row->scopes = k->is_first ? ACCESS_ADMIN : ACCESS_READ | ACCESS_WRITE | ACCESS_RECEIVE;
	if (row->agent.p == NULL && a)
		row->agent = a->agent;
	if (!order->has_trust)
		row->trust = access_cap(a, access_key_usual_trust(row->scopes, row->agent));
	if (order->ttl_ms)
		row->expires_at_ms = k->op.now_ms + order->ttl_ms;
	else if (row->expires_at_ms == 0 && a)
		row->expires_at_ms = a->expires_at_ms;
}

static enum problem_code check(struct key_create *k)
{
	struct op *op = &k->op;

	if (k->row.expires_at_ms && k->row.expires_at_ms <= op->now_ms)
		return problem_set(&op->problem, P_INVALID_FIELD, "expires_at", "expires_at has passed already; name a "
				   "time to come, or none");
	if (k->is_first && !access_key_may_be_first(&k->row))
		return problem_set(&op->problem, P_INVALID_FIELD, k->row.space.p ? "space" : "scopes",
				   ACCESS_KEY_FIRST_MUST);
	if (access_key_may_be_made(&k->row, &op->problem) != P_OK)
		return op->problem.code;
	if (keyring_count(op->engine->keyring) >= KEYRING_MAX)
		return problem_set(&op->problem, P_TOO_LARGE, NULL, "there are %d keys, which is the most; those that "
				   "ended are removed after 90 days. Give keys that live longer, or rotate them",
				   KEYRING_MAX);
	return access_check_covers(op->access, &k->row, &op->problem);
}

static enum problem_code store_it(struct key_create *k, struct store_conn *c)
{
	char *text = arena_alloc(k->op.arena, ACCESS_KEY_TEXT_SIZE);
	enum store_status status = store_access_keys_prune(c, k->op.now_ms - KEYRING_KEPT_MS);

	if (status == STORE_OK)
		status = store_access_key_next(c, &k->row.num);
	if (status == STORE_OK) {
		access_key_text(k->row.num, k->order.random, text);
		k->text = str_of(text);
		access_key_hash(k->text, k->row.hash);
		status = store_access_key_insert(c, &k->row);
	}
	if (status == STORE_OK && k->is_first)
		status = store_access_set_mode(c, true);
	return op_stored(&k->op, status);
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct key_create *k = (struct key_create *)op;
	enum problem_code code = read_mode(op, c, &k->is_first);

	/* Who came before the first key was made has no right to make the second. */
	if (code == P_OK && !k->is_first && op->access == NULL)
		return problem_set(&op->problem, P_UNAUTHORIZED, NULL, "somebody was faster: this server needs a key "
				   "by now");
	if (code != P_OK)
		return code;
	fill_in(k);
	code = check(k);
	if (code == P_OK)
		code = store_it(k, c);
	return code == P_OK ? key_told(op, c, EVENT_KEY_CREATED, &k->row, STR_NULL) : code;
}

static void done(struct op *op)
{
	keyring_prune(op->engine->keyring, op->now_ms - KEYRING_KEPT_MS);
	keyring_put(op->engine->keyring, &((struct key_create *)op)->row, op->now_ms);
}

const struct op_kind key_create_kind = {
	.name = "key_create", .size = sizeof(struct key_create), .flags = OP_MAKES_SPACE | OP_KEYS, .run = run,
	.done = done,
};
