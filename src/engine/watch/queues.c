#include "engine/watch/queues.h"

#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

/* FIRST: who waits longest stands at the front, or was put there again; so many of them are looked at. */
enum { REST_FACTOR = 20, ALWAYS_BELOW = 2000, FIRST = 16 };

struct queues {
	pthread_mutex_t lock;
	bool is_known;
	uint64_t commits;		/* when it was counted */
	int64_t counted_at_ns;
	int64_t took_ns;
	int64_t handoffs;		/* that were counted */
	struct arena names;		/* of the rows */
	struct queue_row *rows;
	size_t count;
	size_t cap;
	struct queues_sum *sums;
	size_t sum_count;
	size_t sum_cap;
};

struct queues *queues_new(void)
{
	struct queues *q = mem_zalloc(sizeof(*q));

	pthread_mutex_init(&q->lock, NULL);
	arena_init(&q->names);
	return q;
}

void queues_free(struct queues *q)
{
	if (q == NULL)
		return;
	arena_release(&q->names);
	free(q->rows);
	free(q->sums);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* Spaces with something in them are few; agents come in the order of their ids, and those of a space often follow each
 * other. */
static struct queues_sum *sum_of(struct queues *q, int64_t space)
{
	for (size_t i = q->sum_count; i > 0; i--)
		if (q->sums[i - 1].space == space)
			return &q->sums[i - 1];
	if (q->sum_count == q->sum_cap) {
		q->sum_cap = q->sum_cap ? q->sum_cap * 2 : 8;
		q->sums = mem_reallocarray(q->sums, q->sum_cap, sizeof(*q->sums));
	}
	q->sums[q->sum_count] = (struct queues_sum){.space = space};
	return &q->sums[q->sum_count++];
}

void queues_add(struct target_counts *to, const struct target_counts *more)
{
	to->queued += more->queued;
	to->leased += more->leased;
	to->working += more->working;
	to->parked += more->parked;
}

static void add_to_sum(struct queues_sum *sum, const struct queue_row *row)
{
	queues_add(&sum->counts, &row->counts);
	sum->breakers_open += row->target.open_until_ms != 0;
}

static void add_row(void *ctx, const struct queue_row *row)
{
	struct queues *q = ctx;

	add_to_sum(sum_of(q, row->space), row);
	q->handoffs += row->counts.queued + row->counts.leased + row->counts.working + row->counts.parked;
	if (q->count == QUEUES_AGENTS_MAX)
		return;
	if (q->count == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 16;
		q->rows = mem_reallocarray(q->rows, q->cap, sizeof(*q->rows));
	}
	q->rows[q->count] = *row;
	q->rows[q->count++].name = arena_str(&q->names, row->name);
}

static bool is_fresh(const struct queues *q, uint64_t commits, int64_t now_ns)
{
	if (!q->is_known)
		return false;
	if (q->commits == commits)
		return true;
	/* Few are counted in no time, even where the first count had to wait for the processor. */
	return q->handoffs > ALWAYS_BELOW && now_ns - q->counted_at_ns < q->took_ns * REST_FACTOR;
}

static enum store_status count_again(struct queues *q, struct store_conn *c, uint64_t commits, int64_t now_ns)
{
	enum store_status status;

	arena_release(&q->names);
	q->count = q->sum_count = 0;
	q->handoffs = 0;
	status = store_queues(c, add_row, q);
	q->is_known = status == STORE_OK;
	q->commits = commits;
	q->counted_at_ns = clock_mono_ns();
	q->took_ns = q->counted_at_ns - now_ns;
	return status;
}

static void copy_rows(const struct queues *q, int64_t space, struct arena *arena, struct queue_row **ret,
		      size_t *ret_count)
{
	struct queue_row *rows = arena_calloc(arena, q->count, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < q->count; i++)
		if (space == 0 || q->rows[i].space == space) {
			rows[count] = q->rows[i];
			rows[count++].name = arena_str(arena, q->rows[i].name);
		}
	*ret = rows;
	*ret_count = count;
}

enum store_status queues_read(struct queues *q, struct store_conn *c, uint64_t commits, int64_t space,
			      struct arena *arena, struct queue_row **ret, size_t *ret_count,
			      struct queues_sum **ret_sums, size_t *ret_sum_count)
{
	enum store_status status = STORE_OK;
	int64_t now_ns;

	pthread_mutex_lock(&q->lock);
	now_ns = clock_mono_ns();
	if (!is_fresh(q, commits, now_ns))
		status = count_again(q, c, commits, now_ns);
	if (status == STORE_OK && ret)
		copy_rows(q, space, arena, ret, ret_count);
	if (status == STORE_OK && ret_sums) {
		*ret_sums = arena_calloc(arena, q->sum_count, sizeof(**ret_sums));
		if (q->sum_count)
			memcpy(*ret_sums, q->sums, q->sum_count * sizeof(**ret_sums));
		*ret_sum_count = q->sum_count;
	}
	pthread_mutex_unlock(&q->lock);
	return status;
}

struct queues_sum queues_sum_of(const struct queues_sum *sums, size_t count, int64_t space)
{
	struct queues_sum all = {.space = space};

	for (size_t i = 0; i < count; i++)
		if (space == 0 || sums[i].space == space) {
			queues_add(&all.counts, &sums[i].counts);
			all.breakers_open += sums[i].breakers_open;
		}
	return all;
}

enum store_status queues_waiting_since(struct store_conn *c, int64_t agent, struct arena *arena, int64_t *ret_ms)
{
	struct handoff_row rows[FIRST];
	size_t count = 0;
	enum store_status status =
		store_handoffs_queued(c, agent, NULL, FIRST, arena, rows, &count);

	*ret_ms = 0;
	for (size_t i = 0; i < count; i++)
		if (*ret_ms == 0 || rows[i].changed_at_ms < *ret_ms)
			*ret_ms = rows[i].changed_at_ms;
	return status;
}
