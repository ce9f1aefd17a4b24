#include "engine/quota_internal.h"

#include "core/access/space_policy.h"
#include "engine/engine.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"

enum { SEED_PAGE = 200, SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS };

static const char *const names[] = {"memories", "bytes", "handoffs_per_minute", "waiting", "agents"};

const char *quota_name(enum quota_kind kind)
{
	return names[kind];
}

bool quota_is_own(const struct space_quota *quota)
{
	return quota->memories != QUOTA_AS_SERVER || quota->bytes != QUOTA_AS_SERVER ||
	       quota->handoffs != QUOTA_AS_SERVER || quota->waiting != QUOTA_AS_SERVER ||
	       quota->agents != QUOTA_AS_SERVER;
}

/* --- Limits --- */

static int64_t holds(int64_t own, int64_t server)
{
	return own == QUOTA_AS_SERVER ? server : own;
}

static void put_limits(const struct quota *q, const struct space_quota *own, int64_t ret[QUOTA_KINDS])
{
	ret[QUOTA_MEMORIES] = holds(own->memories, q->server.memories);
	ret[QUOTA_BYTES] = holds(own->bytes, q->server.bytes);
	ret[QUOTA_HANDOFFS] = holds(own->handoffs, q->server.handoffs);
	ret[QUOTA_WAITING] = holds(own->waiting, q->server.waiting);
	ret[QUOTA_AGENTS] = holds(own->agents, q->server.agents);
}

/* The limits of the space, remembered or read. One that does not exist yet has the server's. */
static enum store_status limits_of(struct quota *q, struct store_conn *c, int64_t space, struct arena *arena,
				   int64_t ret[QUOTA_KINDS])
{
	static const struct space_quota as_server = {QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER,
						     QUOTA_AS_SERVER, QUOTA_AS_SERVER};
	struct problem problem = {0};
	struct space_row row;
	enum store_status status;
	const struct quota_entry *known;
	struct quota_entry *e;
	uint64_t changes;
	bool is_known;

	put_limits(q, &as_server, ret);
	if (space == 0)
		return STORE_OK;
	pthread_mutex_lock(&q->lock);
	known = quota_find(q, space);
	is_known = known && known->is_known;
	changes = known ? known->changes : 0;
	if (is_known)
		memcpy(ret, known->limit, sizeof(known->limit));
	pthread_mutex_unlock(&q->lock);
	if (is_known)
		return STORE_OK;
	status = store_space_get(c, space, arena, &row);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	if (space_policy_check_quota(&row, &problem) != P_OK)
		return STORE_DAMAGED;
	put_limits(q, &row.quota, ret);
	/* What the writing connection sees may not be committed yet. */
	if (!store_is_reader(c))
		return STORE_OK;
	pthread_mutex_lock(&q->lock);
	e = quota_entry(q, space);
	if (e && e->changes == changes) {
		memcpy(e->limit, ret, sizeof(e->limit));
		e->is_known = true;
	}
	pthread_mutex_unlock(&q->lock);
	return STORE_OK;
}

/* --- Handoffs of the last minute --- */

/* The second in which a number is remembered. */
static struct quota_mark *mark_of(struct quota_entry *e, int64_t second)
{
	return &e->marks[(size_t)(second % QUOTA_SECONDS)];
}

/* After a start: the handoffs of the last minute say when they were sent. The lock is not held. */
static enum store_status seed(struct store_conn *c, int64_t space, int64_t now_ms, struct arena *arena,
			      struct quota_entry *ret)
{
	struct handoff_filter filter = {.space = space, .newest_first = true};
	struct handoff_row *rows = arena_calloc(arena, SEED_PAGE, sizeof(*rows));
	enum store_status status = STORE_OK;
	uint64_t before = 0;
	size_t count = SEED_PAGE;
	bool is_over = false;

	memset(ret->marks, 0, sizeof(ret->marks));
	while (status == STORE_OK && !is_over && count == SEED_PAGE) {
		status = store_handoffs(c, &filter, before, SEED_PAGE, arena, rows, &count);
		for (size_t i = 0; status == STORE_OK && !is_over && i < count; i++) {
			int64_t second = rows[i].created_at_ms / SECOND_MS;

			is_over = second <= now_ms / SECOND_MS - QUOTA_SECONDS || second > now_ms / SECOND_MS;
			if (!is_over)
				*mark_of(ret, second) = (struct quota_mark){second, rows[i].num - 1};
			before = rows[i].num;
		}
	}
	return status;
}

/* How many numbers were given since the oldest second of the last minute, and when that is over. The lock is held. */
static int64_t count_handoffs(struct quota_entry *e, uint64_t last, int64_t now_ms, int64_t *ret_until_ms)
{
	int64_t now = now_ms / SECOND_MS;
	const struct quota_mark *oldest = NULL;
	struct quota_mark *present = mark_of(e, now);

	if (present->second != now)
		*present = (struct quota_mark){now, last};
	for (size_t i = 0; i < QUOTA_SECONDS; i++) {
		struct quota_mark *m = &e->marks[i];

		if (m->second <= now - QUOTA_SECONDS || m->second > now)
			continue;
		/* It was noted in a transaction that was undone. */
		if (m->last > last)
			m->last = last;
		if (oldest == NULL || m->second < oldest->second)
			oldest = m;
	}
	*ret_until_ms = (oldest->second + QUOTA_SECONDS) * SECOND_MS;
	return (int64_t)(last - oldest->last);
}

static enum store_status read_handoffs(struct quota *q, struct store_conn *c, int64_t space, int64_t now_ms,
				       struct arena *arena, int64_t *ret, int64_t *ret_until_ms)
{
	struct quota_entry seeded = {0};
	uint64_t last = 0;
	enum store_status status = store_handoff_last(c, space, &last);
	struct quota_entry *e;
	bool has_marks;

	pthread_mutex_lock(&q->lock);
	e = quota_find(q, space);
	has_marks = e && e->has_marks;
	pthread_mutex_unlock(&q->lock);
	if (status == STORE_OK && !has_marks)
		status = seed(c, space, now_ms, arena, &seeded);
	if (status != STORE_OK)
		return status;
	pthread_mutex_lock(&q->lock);
	e = quota_entry(q, space);
	if (e && !e->has_marks) {
		memcpy(e->marks, seeded.marks, sizeof(e->marks));
		e->has_marks = true;
	}
	/* Where it was removed just now, what was read is all that is known. */
	*ret = count_handoffs(e ? e : &seeded, last, now_ms, ret_until_ms);
	pthread_mutex_unlock(&q->lock);
	return STORE_OK;
}

/* --- What there is --- */

/* The handoffs of the last minute only where they are asked for: they take another read. */
static enum store_status read_state(struct quota *q, struct store_conn *c, int64_t space, int64_t now_ms, bool handoffs,
				    struct arena *arena, struct quota_state *ret, int64_t *ret_until_ms)
{
	struct space_row row = {0};
	enum store_status status = STORE_OK;

	memset(ret->used, 0, sizeof(ret->used));
	*ret_until_ms = 0;
	if (space)
		status = store_space_get(c, space, arena, &row);
	if (status == STORE_OK && space && handoffs)
		status = read_handoffs(q, c, space, now_ms, arena, &ret->used[QUOTA_HANDOFFS], ret_until_ms);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	ret->used[QUOTA_MEMORIES] = row.memories;
	ret->used[QUOTA_BYTES] = row.bytes;
	ret->used[QUOTA_AGENTS] = row.agents;
	ret->used[QUOTA_WAITING] = space ? quota_waiting(q, space) : 0;
	return STORE_OK;
}

enum store_status quota_read(struct quota *q, struct store_conn *c, int64_t space, int64_t now_ms, struct arena *arena,
			     struct quota_state *ret)
{
	enum store_status status = limits_of(q, c, space, arena, ret->limit);
	int64_t until_ms;

	return status == STORE_OK ? read_state(q, c, space, now_ms, true, arena, ret, &until_ms) : status;
}

/* --- Refusing --- */

static const char *const remedies[] = {
	"Forget or purge memories, or have quota_memories raised",
	"Forget or purge memories, have handoffs kept for a shorter time, or have quota_bytes raised",
	"Send it again later, or have quota_handoffs_per_minute raised",
	"Let fewer receivers wait, ask again later, or have quota_waiting raised",
	"Delete agents that are not used any more, or have quota_agents raised",
};
static const char *const things[] = {
	"memories", "bytes of memories and envelopes", "handoffs in the last minute", "receivers that wait", "agents",
};

static enum problem_code refuse(struct op *op, enum quota_kind kind, int64_t used, int64_t limit, int64_t until_ms)
{
	struct quota *q = op->engine->quota;
	struct quota_entry *e;

	problem_set(&op->problem, P_QUOTA_EXCEEDED, names[kind], "the space \"%.*s\" has %lld %s, and at most %lld are "
		    "allowed; nothing was changed. %s", STR_ARG(op->space_name), (long long)used, things[kind],
		    (long long)limit, remedies[kind]);
	pthread_mutex_lock(&q->lock);
	e = quota_entry(q, op->space);
	if (e)
		e->refusals[kind]++;
	pthread_mutex_unlock(&q->lock);
	op->problem.extra_key = "limit";
	op->problem.extra = limit;
	if (kind == QUOTA_HANDOFFS && until_ms > op->now_ms)
		op->problem.retry_after_ms = until_ms - op->now_ms;
	else if (kind == QUOTA_WAITING || kind == QUOTA_HANDOFFS)
		op->problem.retry_after_ms = SECOND_MS;
	else
		op->problem.retry_after_ms = MINUTE_MS;
	op->problem.is_full = kind != QUOTA_WAITING && kind != QUOTA_HANDOFFS;
	return op->problem.code;
}

static const struct {
	unsigned flag;
	enum quota_kind kind;
} adds[] = {
	{OP_ADDS_MEMORIES, QUOTA_MEMORIES}, {OP_ADDS_BYTES, QUOTA_BYTES}, {OP_ADDS_HANDOFFS, QUOTA_HANDOFFS},
	{OP_ADDS_AGENTS, QUOTA_AGENTS},
};
enum { ADDS = sizeof(adds) / sizeof(adds[0]) };

static bool is_limited(const struct op *op, const int64_t limit[QUOTA_KINDS])
{
	for (size_t i = 0; i < ADDS; i++)
		if ((op->kind->flags & adds[i].flag) && limit[adds[i].kind])
			return true;
	return false;
}

static bool adds_handoffs(const struct op *op)
{
	return (op->kind->flags & OP_ADDS_HANDOFFS) != 0;
}

/* Full is full, whatever is asked for; but an agent may be there already, and some add nothing: the run shows it. */
static enum problem_code refuse_full(struct op *op, struct store_conn *c, const struct quota_state *s, int64_t until_ms)
{
	for (size_t i = 0; i < ADDS; i++) {
		enum quota_kind kind = adds[i].kind;

		if (!(op->kind->flags & adds[i].flag) || (op->kind->flags & OP_MAY_ADD_NOTHING) ||
		    kind == QUOTA_AGENTS || s->limit[kind] == 0 || s->used[kind] < s->limit[kind])
			continue;
		if (op->kind->adds_nothing && op->kind->adds_nothing(op, c))
			return P_OK;
		return refuse(op, kind, s->used[kind], s->limit[kind], until_ms);
	}
	return P_OK;
}

enum problem_code quota_may_begin(struct op *op, struct store_conn *c)
{
	struct quota *q = op->engine->quota;
	struct quota_state s;
	int64_t until_ms = 0;
	enum store_status status;

	if (!(op->kind->flags & OP_ADDS) || op->space == 0)
		return P_OK;
	status = limits_of(q, c, op->space, op->arena, s.limit);
	if (status != STORE_OK || !is_limited(op, s.limit))
		return op_stored(op, status);
	status = read_state(q, c, op->space, op->now_ms, adds_handoffs(op), op->arena, &s, &until_ms);
	return status == STORE_OK ? refuse_full(op, c, &s, until_ms) : op_stored(op, status);
}

enum problem_code quota_begin(struct op *op, struct store_conn *c, struct quota_run *ret)
{
	struct quota *q = op->engine->quota;
	int64_t until_ms = 0;
	enum problem_code code;
	enum store_status status;

	ret->is_limited = false;
	if (!(op->kind->flags & OP_ADDS))
		return P_OK;
	status = limits_of(q, c, op->space, op->arena, ret->before.limit);
	if (status != STORE_OK || !is_limited(op, ret->before.limit))
		return op_stored(op, status);
	status = read_state(q, c, op->space, op->now_ms, adds_handoffs(op), op->arena, &ret->before, &until_ms);
	code = status == STORE_OK ? refuse_full(op, c, &ret->before, until_ms) : op_stored(op, status);
	if (code != P_OK)
		return code;
	ret->is_limited = true;
	return op_stored(op, store_savepoint(c));
}

/* What grew beyond its limit. */
static enum problem_code judge(struct op *op, struct store_conn *c, const struct quota_run *run)
{
	struct quota_state after;
	int64_t until_ms = 0;
	enum store_status status = read_state(op->engine->quota, c, op->space, op->now_ms, adds_handoffs(op), op->arena,
					      &after, &until_ms);

	for (size_t i = 0; status == STORE_OK && i < ADDS; i++) {
		enum quota_kind kind = adds[i].kind;
		int64_t limit = run->before.limit[kind];

		if ((op->kind->flags & adds[i].flag) && limit && after.used[kind] > limit &&
		    after.used[kind] > run->before.used[kind])
			return refuse(op, kind, run->before.used[kind], limit, until_ms);
	}
	return op_stored(op, status);
}

enum problem_code quota_end(struct op *op, struct store_conn *c, const struct quota_run *run, enum problem_code code)
{
	enum store_status status;

	if (!run->is_limited || problem_store_status(code) != STORE_OK)
		return code;
	if (code == P_OK && !op->prepares_again)
		code = judge(op, c, run);
	if (problem_store_status(code) != STORE_OK)
		return code;
	watch_rouse(op->engine->watch);
	if (code == P_QUOTA_EXCEEDED)
		waiting_forget(op);
	/* Other refusals may have left a word about it in the events: that stays. */
	status = code == P_QUOTA_EXCEEDED ? store_rollback_to(c) : store_release(c);
	return status == STORE_OK ? code : op_stored(op, status);
}

enum problem_code quota_may_wait(struct op *op, struct store_conn *c)
{
	struct quota *q = op->engine->quota;
	int64_t limit[QUOTA_KINDS], waiting = quota_waiting(q, op->space);
	enum store_status status = limits_of(q, c, op->space, op->arena, limit);

	if (status != STORE_OK || limit[QUOTA_WAITING] == 0)
		return op_stored(op, status);
	return waiting < limit[QUOTA_WAITING] ? P_OK : refuse(op, QUOTA_WAITING, waiting, limit[QUOTA_WAITING], 0);
}

enum problem_code quota_may_name(struct op *op, struct store_conn *c, struct str agent)
{
	struct quota *q = op->engine->quota;
	struct quota_state s = {0};
	int64_t id, until_ms;
	enum store_status status = limits_of(q, c, op->space, op->arena, s.limit);

	if (status != STORE_OK || s.limit[QUOTA_AGENTS] == 0 || op->space == 0)
		return op_stored(op, status);
	status = store_agent_id(c, op->space, agent, false, op->now_ms, &id);
	if (status != STORE_NOT_FOUND)
		return op_stored(op, status);
	status = read_state(q, c, op->space, op->now_ms, false, op->arena, &s, &until_ms);
	if (status != STORE_OK || s.used[QUOTA_AGENTS] < s.limit[QUOTA_AGENTS])
		return op_stored(op, status);
	watch_rouse(op->engine->watch);
	return refuse(op, QUOTA_AGENTS, s.used[QUOTA_AGENTS], s.limit[QUOTA_AGENTS], 0);
}
