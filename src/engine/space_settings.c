#include "engine/space_settings.h"

#include "codec/json_member.h"
#include "core/access/space_policy.h"
#include "core/delivery/keeping.h"
#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/retention.h"
#include "engine/watch/queues.h"
#include "engine/watch/watch.h"

enum { LOCKED_BYTES_MAX = 1 << 20 };

static void show_space(struct space_settings *s, const struct space_row *row)
{
	const struct space_keep *server = &s->op.engine->config.keep;

	s->guard = redact_policy_kept(row->guard);
	s->keep = row->keep;
	s->kept = (struct space_keep){
		keeping_time_ms(row->keep.events_ms, server->events_ms),
		keeping_time_ms(row->keep.handoffs_ms, server->handoffs_ms),
		keeping_idle_ms(s->op.space_name, row->keep.idle_ms, server->idle_ms),
	};
	s->locked = (struct json){.type = JSON_ARRAY};
	s->memories = row->memories;
	s->trust_floor = row->trust_floor;
	s->quota = row->quota;
	s->handoffs_pruned = row->handoffs_pruned;
}

static enum store_status read_locked(struct space_settings *s, struct store_conn *c)
{
	struct str locked = STR_NULL;
	struct json_error error;
	enum store_status status = store_space_locked(c, s->op.space, s->op.arena, &locked);

	if (locked.p == NULL || !json_parse(locked, JSON_DEPTH_MAX, s->op.arena, &s->locked, &error))
		s->locked = (struct json){.type = JSON_ARRAY};
	return status;
}

static enum store_status read_state(struct space_settings *s, struct store_conn *c)
{
	return quota_read(s->op.engine->quota, c, s->op.space, s->op.now_ms, s->op.arena, &s->state);
}

/* One that does not exist is as one with nothing in it. */
static enum problem_code read_space(struct op *op, struct store_conn *c)
{
	struct space_row row = {
		.keep = {KEEP_AS_SERVER, KEEP_AS_SERVER, KEEP_AS_SERVER},
		.quota = {QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER},
		.trust_floor = TRUST_EXTERNAL,
	};
	enum store_status status = STORE_OK;

	if (op->space)
		status = store_space_get(c, op->space, op->arena, &row);
	if (op->space && status == STORE_OK && space_policy_check(&row, &op->problem) != P_OK)
		return op->problem.code;
	show_space((struct space_settings *)op, &row);
	if (op->space && status == STORE_OK)
		status = read_locked((struct space_settings *)op, c);
	if (status == STORE_OK || status == STORE_NOT_FOUND)
		status = read_state((struct space_settings *)op, c);
	return op_stored(op, status);
}

/* The setting that is asked for, in place of what there is. */
static enum problem_code set_keep(struct op *op, const char *field, int64_t asked_ms, int64_t *present_ms)
{
	if (asked_ms == SPACE_STAYS)
		return P_OK;
	if (asked_ms > 0 && asked_ms < SPACE_KEEP_MIN_MS)
		return problem_set(&op->problem, P_INVALID_FIELD, field, "%s is less than a second; expected 1 or more "
				   "seconds, 0 for ever, or -1 for as long as the server says", field);
	*present_ms = asked_ms < 0 ? KEEP_AS_SERVER : asked_ms;
	return P_OK;
}

static enum problem_code set_keeps(struct space_settings *s, struct space_keep *keep)
{
	struct op *op = &s->op;
	enum problem_code code = set_keep(op, "keep_handoffs_s", s->asked.handoffs_ms, &keep->handoffs_ms);

	if (code == P_OK)
		code = set_keep(op, "keep_events_s", s->asked.events_ms, &keep->events_ms);
	if (code == P_OK && s->asked.idle_ms > 0 && keeping_space_stays(op->space_name))
		code = problem_set(&op->problem, P_INVALID_FIELD, "keep_idle_s", "keep_idle_s cannot be set for the "
				   "space \"%.*s\", which requests are about that name none: it is never removed by "
				   "itself. Use another space, or 0", STR_ARG(op->space_name));
	if (code == P_OK)
		code = set_keep(op, "keep_idle_s", s->asked.idle_ms, &keep->idle_ms);
	return code;
}

/* What a space may have at most is said by who has all of them: a space that set its own quota would have none. So it
 * must not lose its row, and the quota with it, by being idle either. */
static enum problem_code check_quotas(struct space_settings *s, const struct space_quota *present)
{
	const struct space_quota *asked = &s->asked_quota;
	const struct {
		const char *field;
		int64_t asked;
	} quotas[] = {
		{"quota_memories", asked->memories}, {"quota_bytes", asked->bytes},
		{"quota_handoffs_per_minute", asked->handoffs}, {"quota_waiting", asked->waiting},
		{"quota_agents", asked->agents},
	};
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < sizeof(quotas) / sizeof(quotas[0]); i++)
		if (quotas[i].asked != SPACE_STAYS)
			code = access_check_all(s->op.access, quotas[i].field, &s->op.problem);
	if (code == P_OK && s->asked.idle_ms > 0 && quota_is_own(present))
		code = access_check_all(s->op.access, "keep_idle_s", &s->op.problem);
	return code;
}

static void set_quota(int64_t asked, int64_t *present)
{
	if (asked != SPACE_STAYS)
		*present = asked < 0 ? QUOTA_AS_SERVER : asked;
}

/* What is damaged is set anew by this alone: what stays must be what it can be. */
static enum problem_code ask_policy(struct space_settings *s, struct space_row *row)
{
	const struct space_quota *asked = &s->asked_quota;

	set_quota(asked->memories, &row->quota.memories);
	set_quota(asked->bytes, &row->quota.bytes);
	set_quota(asked->handoffs, &row->quota.handoffs);
	set_quota(asked->waiting, &row->quota.waiting);
	set_quota(asked->agents, &row->quota.agents);
	if (s->asked_floor != SPACE_FLOOR_STAYS)
		row->trust_floor = (enum trust)s->asked_floor;
	return space_policy_check(row, &s->op.problem);
}

static enum store_status put_policy(struct space_settings *s, struct store_conn *c, const struct space_row *row)
{
	enum store_status status = store_space_set_quota(c, s->op.space, &row->quota);

	return status == STORE_OK ? store_space_set_floor(c, s->op.space, row->trust_floor) : status;
}

/* What is damaged and stays is told before anything is written: a writer that meets damage knows less about it. */
static enum problem_code look_at_space(struct op *op, struct store_conn *c)
{
	struct space_row row;
	enum store_status status = op->space ? store_space_get(c, op->space, op->arena, &row) : STORE_NOT_FOUND;

	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
	return ask_policy((struct space_settings *)op, &row);
}

static enum problem_code set_space(struct op *op, struct store_conn *c)
{
	struct space_settings *s = (struct space_settings *)op;
	enum redact_policy guard = s->asked_guard;
	struct space_row row = {0};
	enum store_status status = store_space_get(c, op->space, op->arena, &row);
	enum problem_code code = op_stored(op, status);

	if (code == P_OK)
		code = check_quotas(s, &row.quota);
	if (code == P_OK)
		code = set_keeps(s, &row.keep);
	if (code == P_OK)
		code = ask_policy(s, &row);
	if (code != P_OK)
		return code;
	if (guard != SPACE_GUARD_STAYS)
		row.guard = guard;
	status = store_space_set_guard(c, op->space, row.guard);
	if (status == STORE_OK)
		status = store_space_set_keep(c, op->space, &row.keep);
	if (status == STORE_OK)
		status = put_policy(s, c, &row);
	if (status == STORE_OK && s->asked_locked.type == JSON_ARRAY)
		status = store_space_set_locked(c, op->space,
						json_canonical(&s->asked_locked, LOCKED_BYTES_MAX, op->arena));
	op->told = (struct event_row){.kind = EVENT_SPACE_SET};
	show_space(s, &row);
	if (status == STORE_OK)
		status = read_locked(s, c);
	/* What was just set is known to others after the commit, and shown here. */
	quota_forget(op->engine->quota, op->space);
	if (status == STORE_OK)
		status = read_state(s, c);
	return op_stored(op, status);
}

/* What is kept for a shorter time now goes. */
static void done_set(struct op *op)
{
	quota_forget(op->engine->quota, op->space);
	watch_wake(op->engine->watch);
	retention_wake(op->engine->retention);
}

static struct space_listed listed(const struct space_row *row, const struct target_counts *counts)
{
	return (struct space_listed){*row, counts->queued + counts->leased + counts->working, counts->parked};
}

enum problem_code space_list_read(struct space_list *l, struct store_conn *c, struct queues *queues, uint64_t commits)
{
	struct op *op = &l->op;
	size_t max = l->page.size + 1, sum_count = 0;
	struct space_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	struct queues_sum *sums = NULL;
	enum store_status status;

	l->spaces = arena_calloc(op->arena, max, sizeof(*l->spaces));
	status = store_spaces(c, (int64_t)l->page.position, max, op->arena, rows, &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	l->page.next = l->count ? (uint64_t)rows[l->count - 1].id : 0;
	if (status == STORE_OK)
		status = queues_read(queues, c, commits, 0, op->arena, NULL, NULL, &sums, &sum_count);
	for (size_t i = 0; status == STORE_OK && i < l->count; i++) {
		struct queues_sum sum = queues_sum_of(sums, sum_count, rows[i].id);

		l->spaces[i] = listed(&rows[i], &sum.counts);
	}
	return op_stored(op, status);
}

static enum problem_code list_spaces(struct op *op, struct store_conn *c)
{
	struct writer_stats writer;

	writer_stats(op->engine->writer, &writer);
	return space_list_read((struct space_list *)op, c, watch_queues(op->engine->watch), writer.commits);
}

const struct op_kind space_get_kind = {.name = "space_get", .size = sizeof(struct space_settings), .read = read_space};
const struct op_kind space_set_kind = {
	.name = "space_set", .size = sizeof(struct space_settings), .flags = OP_CREATES, .prepare = look_at_space,
	.run = set_space, .done = done_set,
};
const struct op_kind space_list_kind = {
	.name = "space_list", .size = sizeof(struct space_list), .flags = OP_NO_SPACE | OP_ASIDE,
	.read = list_spaces,
};
