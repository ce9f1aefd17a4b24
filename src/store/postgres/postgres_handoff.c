/* Handoffs on PostgreSQL. */
#include "store/postgres/postgres_gather.h"
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include <stdlib.h>

/* The numbers that the texts of SQL say: states and flags of handoffs. They are in the rows of all stores and in the
 * indexes' conditions, so none of them may ever change its meaning; a new state gets a new number. */
_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_DELAYED == 1 && HANDOFF_LEASED == 2, "stored");
_Static_assert(HANDOFF_WORKING == 3 && HANDOFF_ACKED == 4 && HANDOFF_COMPLETED == 5, "stored");
_Static_assert(HANDOFF_PARKED == 6 && HANDOFF_EXPIRED == 7 && HANDOFF_DISCARDED == 8, "stored");
_Static_assert(HANDOFF_STATES == 9, "stored");

/* Of a handoff. The index of those untold counts on flags below FLAG_TOLD: nothing that is parked is retried. */
enum { FLAG_EXHAUSTED = 1, FLAG_TOLD = 2, FLAG_RETRIED = 4 };

_Static_assert(FLAG_EXHAUSTED < 2 && FLAG_TOLD == 2, "flags < 2: not told");

/* What became of it on the way. Apart from the flags, whose numbers an index counts on. */
enum { MARK_REDRIVEN = 1, MARK_TOUCHED = 2 };

/* --- Rows --- */

int64_t postgres_handoff_flags(const struct handoff_row *h)
{
	return (h->is_exhausted ? FLAG_EXHAUSTED : 0) | (h->is_told ? FLAG_TOLD : 0) |
	       (h->is_retried ? FLAG_RETRIED : 0);
}

int64_t postgres_handoff_marks(const struct handoff_row *h)
{
	return (h->is_redriven ? MARK_REDRIVEN : 0) | (h->is_touched ? MARK_TOUCHED : 0);
}

/* The names are columns of their own: of the agent only where it is not the target. */
static void read_names(const struct postgres_row *r, struct arena *arena, struct handoff_row *h)
{
	h->channel_name = postgres_column_str(r, 30, arena);
	h->target_name = postgres_column_str(r, 31, arena);
	h->agent_name = h->agent == h->target ? h->target_name : postgres_column_str(r, 32, arena);
}

void postgres_read_handoff(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct handoff_row *h = ret;
	uint64_t key = (uint64_t)postgres_column_int(r, 0);
	int64_t flags = postgres_column_int(r, 18), marks = postgres_column_int(r, 29);

	*h = (struct handoff_row){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.envelope = (uint64_t)postgres_column_int(r, 1) & MEMORY_NUM_MAX,
		.target = postgres_column_int(r, 2),
		.agent = postgres_column_int(r, 3),
		.channel = postgres_column_int(r, 4),
		.created_at_ms = postgres_column_int(r, 5),
		.from = postgres_column_str(r, 6, arena),
		.state = (enum handoff_state)postgres_column_int(r, 7),
		.priority = (int)postgres_column_int(r, 8),
		.attempt = postgres_column_int(r, 9),
		.max_attempts = postgres_column_int(r, 10),
		.leases = postgres_column_int(r, 11),
		.due_ms = postgres_column_int(r, 12),
		.expires_at_ms = postgres_column_int(r, 13),
		.ack_timeout_ms = postgres_column_int(r, 14),
		.lease_ms = postgres_column_int(r, 15),
		.changed_at_ms = postgres_column_int(r, 16),
		.acked_at_ms = postgres_column_int(r, 17),
		.is_exhausted = flags & FLAG_EXHAUSTED,
		.is_told = flags & FLAG_TOLD,
		.is_retried = flags & FLAG_RETRIED,
		.receiver = postgres_column_str(r, 19, arena),
		.fallbacks = postgres_column_str(r, 20, arena),
		.reason = postgres_column_str(r, POSTGRES_HANDOFF_REASON, arena),
		.progress = postgres_column_str(r, 22, arena),
		.place = (uint64_t)postgres_column_int(r, 23),
		.not_before_ms = postgres_column_int(r, 24),
		.queue_timeout_ms = postgres_column_int(r, 25),
		.queue_until_ms = postgres_column_int(r, 26),
		.passes = postgres_column_int(r, 27) != 0,
		.is_outage = postgres_column_int(r, 28) != 0,
		.is_redriven = marks & MARK_REDRIVEN,
		.is_touched = marks & MARK_TOUCHED,
	};
	read_names(r, arena, h);
}

/* --- In memory ---
 *
 * A row is kept without its names, which are kept by themselves. What is acked is mostly not asked for again. */

static int64_t key_of(const struct handoff_row *h)
{
	return postgres_key(h->space, h->num);
}

static void keep_row(struct store_conn *c, const struct handoff_row *h)
{
	struct handoff_row kept = *h;

	kept.target_name = kept.agent_name = kept.channel_name = STR_NULL;
	kept.held_until_ms = 0;
	if (h->state == HANDOFF_ACKED)
		postgres_cache_change(c, &row_handoff, key_of(h), STR_NULL);
	else
		postgres_cache_add(c, &row_handoff, key_of(h), STR_NULL, &kept);
}

static void keep_order(struct postgres_live *l, const struct handoff_row *h)
{
	bool is_untold = h->state == HANDOFF_PARKED && (postgres_handoff_flags(h) & ~FLAG_EXHAUSTED) == 0 && h->from.p;

	postgres_live_put(l, &(struct live_row){
		.key = key_of(h), .agent = h->agent, .state = h->state, .priority = h->priority, .place = h->place,
		.due_ms = h->due_ms, .passes = h->passes,
		.untold = is_untold ? postgres_live_sender(h->space, h->from) : 0,
	});
}

/* It is this one from now on, in all that is kept and in what is sent. */
static enum store_status write(struct store_conn *c, struct postgres_live *l, const struct handoff_row *h, bool is_new)
{
	enum store_status status = postgres_kept_handoff(c, h, is_new);

	keep_row(c, h);
	keep_order(l, h);
	return status;
}

void postgres_handoff_gone(struct store_conn *c, int64_t key)
{
	enum store_status status;
	struct postgres_live *l = postgres_kept_live(c, &status);

	if (l)
		postgres_live_drop(l, key);
	postgres_cache_change(c, &row_handoff, key, STR_NULL);
	postgres_cache_change(c, &row_result, key, STR_NULL);
}

static enum store_status name(struct store_conn *c, struct arena *arena, struct handoff_row *h)
{
	enum store_status status = postgres_agent_name(c, h->target, arena, &h->target_name);

	if (status == STORE_OK || status == STORE_NOT_FOUND) {
		h->agent_name = h->target_name;
		if (h->agent != h->target)
			status = postgres_agent_name(c, h->agent, arena, &h->agent_name);
	}
	if ((status == STORE_OK || status == STORE_NOT_FOUND) && h->channel > 0)
		status = postgres_channel_name(c, h->channel, arena, &h->channel_name);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static struct str copied(struct arena *arena, struct str s)
{
	return s.p ? arena_str(arena, s) : STR_NULL;
}

/* Without its names. STORE_NOT_FOUND: it is not in memory. */
static enum store_status find_kept(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret)
{
	const struct handoff_row *h = postgres_gather_find_handoff(postgres_kept_gathered(c), key);

	if (h == NULL)
		return postgres_cache_get(c, &row_handoff, key, STR_NULL, arena, ret) ? STORE_OK : STORE_NOT_FOUND;
	*ret = *h;
	ret->from = copied(arena, h->from);
	ret->receiver = copied(arena, h->receiver);
	ret->fallbacks = copied(arena, h->fallbacks);
	ret->reason = copied(arena, h->reason);
	ret->progress = copied(arena, h->progress);
	return STORE_OK;
}

/* From the table: it is not among those that are gathered. */
static enum store_status read_row(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret)
{
	static const char sql[] = POSTGRES_HANDOFF "WHERE h.shard = $1 AND h.id = $2";
	uint64_t seen = postgres_cache_seen(c);
	struct handoff_row kept;
	struct postgres_query q;
	enum store_status status;

	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, key);
	status = postgres_read_one(&q, postgres_read_handoff, arena, ret);
	if (status != STORE_OK)
		return status;
	kept = *ret;
	kept.target_name = kept.agent_name = kept.channel_name = STR_NULL;
	postgres_cache_put(c, &row_handoff, seen, key, STR_NULL, &kept);
	return STORE_OK;
}

enum store_status postgres_handoff_at(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret)
{
	struct handoff_row h;
	enum store_status status = find_kept(c, key, arena, &h);

	if (status == STORE_NOT_FOUND)
		return read_row(c, key, arena, ret);
	status = name(c, arena, &h);
	if (status == STORE_OK)
		*ret = h;
	return status;
}

/* --- Those of an envelope --- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void read_handed(const PGresult *result, struct row_handed *ret)
{
	*ret = (struct row_handed){.count = PQntuples(result)};
	for (int i = 0; i < PQntuples(result) && i < ROW_HANDED_MAX; i++)
		ret->nums[i] = (uint64_t)postgres_column_int(&(struct postgres_row){result, i}, 0) & MEMORY_NUM_MAX;
	if (ret->count <= ROW_HANDED_MAX)
		qsort(ret->nums, (size_t)ret->count, sizeof(ret->nums[0]), by_number);
}

enum store_status postgres_handed(struct store_conn *c, int64_t envelope, struct row_handed *ret)
{
	static const char sql[] = "SELECT id FROM handoff WHERE shard = $1 AND envelope = $2 LIMIT $3";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	PGresult *result = NULL;
	enum store_status status;

	if (postgres_cache_get(c, &row_handed, envelope, STR_NULL, NULL, ret))
		return STORE_OK;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, envelope);
	postgres_bind_int(&q, 3, ROW_HANDED_MAX + 1);
	status = postgres_read_all(&q, &result);
	if (status == STORE_OK) {
		read_handed(result, ret);
		postgres_cache_put(c, &row_handed, seen, envelope, STR_NULL, ret);
	}
	PQclear(result);
	return status;
}

/* One more has been made of it. */
static void keep_handed(struct store_conn *c, const struct handoff_row *h, struct row_handed of)
{
	if (of.count < ROW_HANDED_MAX)
		of.nums[of.count] = h->num;
	of.count++;
	/* Of many it is known that they are. */
	if (of.count > ROW_HANDED_MAX + 1)
		return;
	postgres_cache_add(c, &row_handed, postgres_key(h->space, h->envelope), STR_NULL, &of);
}

static enum store_status read_one_of(struct store_conn *c, int64_t envelope, int64_t target, struct arena *arena,
				     struct handoff_row *ret)
{
	static const char sql[] = POSTGRES_HANDOFF "WHERE h.shard = $1 AND h.envelope = $2 AND h.target = $3";
	const struct postgres_gather *g = postgres_kept_gathered(c);
	const struct handoff_row *gathered = postgres_gather_find_handed(g, envelope, target);
	struct postgres_query q;
	enum store_status status;

	if (gathered)
		return postgres_handoff_at(c, key_of(gathered), arena, ret);
	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, envelope);
	postgres_bind_int(&q, 3, target);
	status = postgres_read_one(&q, postgres_read_handoff, arena, ret);
	/* One that is gathered has another target since. */
	return status == STORE_OK && postgres_gather_find_handoff(g, key_of(ret)) ? STORE_NOT_FOUND : status;
}

/* Of many the database says which. */
static enum store_status find_of(struct store_conn *c, int64_t space, const struct row_handed *of, uint64_t envelope,
				 int64_t target, struct arena *arena, struct handoff_row *ret)
{
	enum store_status status = STORE_OK;

	if (of->count > ROW_HANDED_MAX)
		return read_one_of(c, postgres_key(space, envelope), target, arena, ret);
	for (int64_t i = 0; status == STORE_OK && i < of->count; i++) {
		status = postgres_handoff_at(c, postgres_key(space, of->nums[i]), arena, ret);
		if (status == STORE_OK && ret->target == target)
			return STORE_OK;
	}
	return status == STORE_OK ? STORE_NOT_FOUND : status;
}

/* --- Writing --- */

/* $2 is the key of the number 0 in the space, $3 that of the highest. NULL: there is none. */
#define LAST_HANDOFF(from, to) \
	"greatest((SELECT max(id) FROM handoff WHERE shard = $1 AND id > " from " AND id <= " to "), " \
	"(SELECT max(id) FROM pruned_handoff WHERE shard = $1 AND id > " from " AND id <= " to "))"

/* STORE_NOT_FOUND: the envelope was not handed to the target. */
static enum store_status is_handed(struct store_conn *c, const struct handoff_row *h, struct row_handed *ret)
{
	struct handoff_row other;
	struct arena arena;
	enum store_status status = postgres_handed(c, postgres_key(h->space, h->envelope), ret);

	if (status != STORE_OK)
		return status;
	arena_init(&arena);
	status = find_of(c, h->space, ret, h->envelope, h->target, &arena, &other);
	arena_release(&arena);
	return status;
}

enum store_status postgres_handoff_insert(struct store_conn *c, struct handoff_row *h)
{
	enum store_status status = postgres_kept_may_write(c);
	struct postgres_live *l = status == STORE_OK ? postgres_kept_live(c, &status) : NULL;
	struct row_handed of;
	uint64_t last = 0;

	if (status == STORE_OK)
		status = postgres_kept_handoff_last(c, h->space, &last);
	if (status != STORE_OK)
		return status;
	if (last == MEMORY_NUM_MAX)
		return STORE_EXISTS;
	status = is_handed(c, h, &of);
	if (status != STORE_NOT_FOUND)
		return status == STORE_OK ? STORE_EXISTS : status;
	h->num = last + 1;
	h->place = h->place ? h->place : h->num;
	postgres_kept_handoff_given(c, h->space, h->num);
	postgres_kept_envelope_given(c, h->space, h->envelope);
	keep_handed(c, h, of);
	return write(c, l, h, true);
}

/* What never changes is as it was. */
static struct handoff_row changed(const struct handoff_row *before, const struct handoff_row *h)
{
	struct handoff_row now = *h;

	now.envelope = before->envelope;
	now.created_at_ms = before->created_at_ms;
	now.from = before->from;
	return now;
}

/* Its envelope may have been handed to the new target before. */
enum store_status postgres_handoff_put(struct store_conn *c, const struct handoff_row *h)
{
	struct handoff_row before, now;
	struct row_handed of;
	struct arena arena;
	enum store_status status = postgres_kept_may_write(c);
	struct postgres_live *l = status == STORE_OK ? postgres_kept_live(c, &status) : NULL;

	if (status != STORE_OK)
		return status;
	arena_init(&arena);
	status = find_kept(c, key_of(h), &arena, &before);
	if (status == STORE_NOT_FOUND)
		status = read_row(c, key_of(h), &arena, &before);
	if (status == STORE_OK) {
		now = changed(&before, h);
		if (before.target != now.target) {
			status = is_handed(c, &now, &of);
			status = status == STORE_OK ? STORE_EXISTS : status == STORE_NOT_FOUND ? STORE_OK : status;
		}
	}
	if (status == STORE_OK)
		status = write(c, l, &now, false);
	arena_release(&arena);
	return status;
}

/* --- Reading --- */

enum store_status postgres_handoff_read_last(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] = "SELECT " LAST_HANDOFF("$2", "$3");
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, 0));
	postgres_bind_int(&q, 3, postgres_key(space, MEMORY_NUM_MAX));
	return postgres_read_num(&q, ret);
}

enum store_status postgres_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret)
{
	return postgres_keeps(c) ? postgres_kept_handoff_last(c, space, ret)
				 : postgres_handoff_read_last(c, space, ret);
}

enum store_status postgres_handoff_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				       struct handoff_row *ret)
{
	return postgres_handoff_at(c, postgres_key(space, num), arena, ret);
}

enum store_status postgres_handoff_find(struct store_conn *c, int64_t space, uint64_t envelope, int64_t target,
					struct arena *arena, struct handoff_row *ret)
{
	struct row_handed of;
	struct handoff_row found;
	enum store_status status = postgres_handed(c, postgres_key(space, envelope), &of);

	if (status == STORE_OK)
		status = find_of(c, space, &of, envelope, target, arena, &found);
	if (status == STORE_OK)
		*ret = found;
	return status;
}

enum store_status postgres_handoff_of_agent(struct store_conn *c, int64_t space, uint64_t envelope, int64_t agent,
					    uint64_t but, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT id FROM handoff WHERE shard = $1 AND envelope = $2 AND (agent = $3 OR target = $3) AND id <> "
		"$4 "
		"ORDER BY target LIMIT 1";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, envelope));
	postgres_bind_int(&q, 3, agent);
	postgres_bind_int(&q, 4, postgres_key(space, but));
	return postgres_read_num(&q, ret_num);
}

static const char next_sql[] =
	POSTGRES_HANDOFF
	"WHERE h.shard = $1 AND h.agent = $2 AND h.state = 0 ORDER BY h.priority DESC, h.place, h.id LIMIT 1";
static const char passing_sql[] =
	POSTGRES_HANDOFF
	"WHERE h.shard = $1 AND h.agent = $2 AND h.state = 0 AND h.passes = 1 "
	"ORDER BY h.priority DESC, h.place, h.id LIMIT 1";

enum store_status postgres_handoff_next(struct store_conn *c, int64_t agent, bool passing, struct arena *arena,
					struct handoff_row *ret)
{
	enum store_status status;
	struct postgres_live *l = postgres_kept_live(c, &status);
	struct postgres_query q;
	int64_t key;

	if (status != STORE_OK)
		return status;
	if (l) {
		key = postgres_live_next(l, agent, passing);
		return key ? postgres_handoff_at(c, key, arena, ret) : STORE_NOT_FOUND;
	}
	postgres_query(&q, c, passing ? passing_sql : next_sql);
	postgres_bind_int(&q, 2, agent);
	return postgres_read_one(&q, postgres_read_handoff, arena, ret);
}

enum store_status postgres_handoff_due(struct store_conn *c, int64_t now_ms, struct arena *arena,
				       struct handoff_row *ret)
{
	static const char sql[] =
		POSTGRES_HANDOFF "WHERE h.shard = $1 AND h.due > 0 AND h.due <= $2 ORDER BY h.due, h.id LIMIT 1";
	enum store_status status;
	struct postgres_live *l = postgres_kept_live(c, &status);
	struct postgres_query q;
	int64_t key, due_ms;

	if (status != STORE_OK)
		return status;
	if (l) {
		key = postgres_live_due(l, &due_ms);
		return key && due_ms <= now_ms ? postgres_handoff_at(c, key, arena, ret) : STORE_NOT_FOUND;
	}
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, now_ms);
	return postgres_read_one(&q, postgres_read_handoff, arena, ret);
}

enum store_status postgres_handoff_next_due(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT min(due) FROM handoff WHERE shard = $1 AND due > 0";
	enum store_status status;
	struct postgres_live *l = postgres_kept_live(c, &status);
	struct postgres_query q;

	if (status != STORE_OK)
		return status;
	if (l) {
		postgres_live_due(l, ret_ms);
		return STORE_OK;
	}
	postgres_query(&q, c, sql);
	return postgres_read_int(&q, ret_ms);
}
