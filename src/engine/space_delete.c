#include "engine/space_delete.h"

#include "core/watch/event.h"
#include "engine/access/keyring.h"
#include "engine/engine.h"
#include "engine/memory_numbers.h"
#include "engine/quota.h"
#include "engine/retention.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"

enum { PLACES = 256 };

static void count_queue(void *ctx, const struct queue_row *row)
{
	struct space_delete *d = ctx;

	if (row->space != d->op.space)
		return;
	d->open += row->counts.queued + row->counts.leased + row->counts.working;
	d->parked += row->counts.parked;
}

/* Whoever posts to them must not go on. */
static enum store_status find_hooked(struct space_leaving *l, struct store_conn *c, struct arena *arena)
{
	struct agent_place *page = arena_calloc(arena, PLACES, sizeof(*page));
	enum store_status status = STORE_OK;
	int64_t after = 0;
	size_t count = PLACES, cap = 0;

	l->hooked_count = 0;
	while (status == STORE_OK && count == PLACES) {
		status = store_agents_holding(c, STR("\"webhook\""), after, PLACES, arena, page, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			after = page[i].id;
			if (page[i].space != l->id)
				continue;
			if (l->hooked_count == cap) {
				struct agent_place *more = arena_calloc(arena, 2 * cap + 8, sizeof(*more));

				if (cap)
					memcpy(more, l->hooked, cap * sizeof(*more));
				l->hooked = more;
				cap = 2 * cap + 8;
			}
			l->hooked[l->hooked_count++] = page[i];
		}
	}
	return status;
}

static enum problem_code check(struct space_delete *d)
{
	struct op *op = &d->op;

	if (!space_name_is_valid(op->space_name) || op->space == 0)
		return problem_set(&op->problem, P_SPACE_NOT_FOUND, "name", "there is no space \"%.*s\"",
				   (int)(op->space_name.n < 128 ? op->space_name.n : 128), op->space_name.p);
	if (d->confirm.p == NULL)
		return problem_set(&op->problem, P_MISSING_FIELD, "confirm", "confirm is missing: everything in "
				   "the space is deleted, and nothing brings it back. Say its name once more: "
				   "?confirm=%.*s", STR_ARG(op->space_name));
	if (!str_eq(d->confirm, op->space_name))
		return problem_set(&op->problem, P_INVALID_FIELD, "confirm", "confirm is not the name of the space; "
				   "nothing was deleted. Expected \"%.*s\"", STR_ARG(op->space_name));
	return P_OK;
}

enum store_status space_delete_begin(struct engine *e, struct store_conn *c, struct arena *arena,
				     struct space_leaving *leaving, int64_t now_ms)
{
	enum store_status status = find_hooked(leaving, c, arena);

	if (status == STORE_OK)
		status = store_space_remove(c, leaving->id, now_ms);
	leaving->at_ms = now_ms;
	if (status == STORE_OK && !leaving->keeps_keys)
		status = store_access_keys_revoke(c, leaving->name, now_ms, STR("the space was deleted"),
						  &leaving->keys);
	if (status != STORE_OK)
		return status;
	e->is_removing = true;
	waiting_end_space(e->waiting, leaving->id);
	return STORE_OK;
}

void space_delete_end(struct engine *e, const struct space_leaving *leaving)
{
	const struct engine_webhooks *webhooks = &e->webhooks;

	if (!leaving->keeps_keys)
		keyring_revoke(e->keyring, leaving->name, leaving->at_ms);
	spaces_forget(e->spaces, leaving->name, leaving->id);
	quota_remove(e->quota, leaving->id);
	envelope_numbers_forget(e->numbers, leaving->name);
	memory_numbers_forget(e->memory_numbers, leaving->id);
	recall_forget(e->recall, leaving->id);
	watch_forget(e->watch, leaving->id);
	retention_wake(e->retention);
	for (size_t i = 0; webhooks->set && i < leaving->hooked_count; i++)
		webhooks->set(webhooks->ctx, &leaving->hooked[i], false);
	log_write(e->log, LOG_INFO, "a space was deleted", LOG_SLICE("space", leaving->name));
}

/* A new space of its name would have the server's quotas: who may not change them may not remove them so either. */
static enum problem_code check_quota(struct op *op, struct store_conn *c)
{
	struct space_row row = {0};
	enum problem_code code = op_stored(op, store_space_get(c, op->space, op->arena, &row));

	return code == P_OK && quota_is_own(&row.quota) ? access_check_all(op->access, "name", &op->problem) : code;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct space_delete *d = (struct space_delete *)op;
	enum problem_code code = check(d);
	enum store_status status;

	d->open = d->parked = 0;
	if (code == P_OK)
		code = check_quota(op, c);
	if (code != P_OK)
		return code;
	status = store_space_count(c, op->space, &d->memories);
	if (status == STORE_OK)
		status = store_queues(c, count_queue, d);
	d->leaving = (struct space_leaving){.id = op->space, .name = op->space_name};
	if (status == STORE_OK)
		status = space_delete_begin(op->engine, c, op->arena, &d->leaving, op->now_ms);
	op->told = (struct event_row){.kind = EVENT_SPACE_DELETED};
	if (d->leaving.keys)
		op->told.note = arena_printf(op->arena, "%lld of its keys were revoked", (long long)d->leaving.keys);
	return op_stored(op, status);
}

static void done(struct op *op)
{
	space_delete_end(op->engine, &((const struct space_delete *)op)->leaving);
}

const struct op_kind space_delete_kind = {
	.name = "space_delete", .size = sizeof(struct space_delete), .flags = OP_NO_SPACE | OP_KEYS, .run = run,
	.done = done,
};
