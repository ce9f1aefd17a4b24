/* store/postgres/postgres_live.h, against a plain array that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/postgres/postgres_live.h"

#include <string.h>

enum { KEYS = 300, AGENTS = 7, SENDERS = 5, STEPS = 20000, DEPTH = 4 };

static uint64_t state_of_chance;

static unsigned chance(unsigned n)
{
	state_of_chance = state_of_chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state_of_chance >> 33) % n;
}

/* By key; key 0: it is not there. */
struct model {
	struct live_row rows[KEYS + 1];
};

static bool comes_before(const struct live_row *a, const struct live_row *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->place != b->place ? a->place < b->place : a->key < b->key;
}

static int64_t model_next(const struct model *m, int64_t agent, bool passing)
{
	const struct live_row *best = NULL;

	for (int i = 1; i <= KEYS; i++) {
		const struct live_row *r = &m->rows[i];

		if (r->key && r->agent == agent && r->state == HANDOFF_QUEUED && (r->passes || !passing) &&
		    (best == NULL || comes_before(r, best)))
			best = r;
	}
	return best ? best->key : 0;
}

static int64_t model_due(const struct model *m, int64_t *ret_ms)
{
	const struct live_row *best = NULL;

	for (int i = 1; i <= KEYS; i++) {
		const struct live_row *r = &m->rows[i];

		if (r->key && r->due_ms && (best == NULL || r->due_ms < best->due_ms))
			best = r;
	}
	*ret_ms = best ? best->due_ms : 0;
	return best ? best->key : 0;
}

static size_t model_count(const struct model *m)
{
	size_t count = 0;

	for (int i = 1; i <= KEYS; i++)
		count += m->rows[i].key && (m->rows[i].state < HANDOFF_ACKED || m->rows[i].due_ms || m->rows[i].untold);
	return count;
}

static size_t model_untold(const struct model *m, uint64_t sender)
{
	size_t count = 0;

	for (int i = 1; i <= KEYS; i++)
		count += m->rows[i].key && m->rows[i].untold == sender;
	return count;
}

static void assert_same(const struct postgres_live *l, const struct model *m)
{
	int64_t due, model_due_ms;

	for (int64_t agent = 1; agent <= AGENTS; agent++) {
		assert_int_equal(postgres_live_next(l, agent, false), model_next(m, agent, false));
		assert_int_equal(postgres_live_next(l, agent, true), model_next(m, agent, true));
	}
	assert_int_equal(postgres_live_due(l, &due), model_due(m, &model_due_ms));
	assert_int_equal(due, model_due_ms);
	assert_int_equal(postgres_live_count(l), model_count(m));
	for (uint64_t sender = 1; sender <= SENDERS; sender++)
		assert_int_equal(postgres_live_untold(l, sender << 8), model_untold(m, sender << 8));
}

static void change(struct postgres_live *l, struct model *m)
{
	int64_t key = 1 + chance(KEYS);
	struct live_row row = {
		.key = key, .agent = 1 + chance(AGENTS), .state = (enum handoff_state)chance(HANDOFF_STATES),
		.priority = (int)chance(3), .place = chance(50), .due_ms = chance(3) ? 1000 + chance(100) : 0,
		.passes = chance(4) == 0, .untold = chance(4) ? 0 : (uint64_t)(1 + chance(SENDERS)) << 8,
	};

	if (chance(10) == 0) {
		postgres_live_drop(l, key);
		m->rows[key] = (struct live_row){0};
	} else {
		postgres_live_put(l, &row);
		m->rows[key] = row;
	}
}

/* Transactions with savepoints in them; each is kept or undone. */
static void test_order_is_that_of_a_search_through_all_also_after_rollbacks(void **state)
{
	static struct model now, saved[DEPTH];
	struct postgres_live *l = postgres_live_new();
	size_t marks[DEPTH], depth = 0;

	(void)state;
	state_of_chance = 42;
	memset(&now, 0, sizeof(now));
	for (int i = 0; i < STEPS; i++) {
		unsigned what = chance(20);

		if (what == 0 && depth < DEPTH) {
			saved[depth] = now;
			marks[depth++] = postgres_live_mark(l);
		} else if (what == 1 && depth) {
			now = saved[--depth];
			postgres_live_undo(l, marks[depth]);
		} else if (what == 2) {
			depth = 0;
			postgres_live_keep(l);
		} else {
			change(l, &now);
		}
		if (i % 7 == 0)
			assert_same(l, &now);
	}
	postgres_live_free(l);
}

static void test_many_agents_with_one_each_are_forgotten_when_theirs_are_done(void **state)
{
	struct postgres_live *l = postgres_live_new();

	(void)state;
	for (int64_t i = 1; i <= 5000; i++)
		postgres_live_put(l, &(struct live_row){.key = i, .agent = i, .state = HANDOFF_QUEUED});
	postgres_live_keep(l);
	assert_int_equal(postgres_live_next(l, 4321, false), 4321);
	for (int64_t i = 1; i <= 5000; i++)
		postgres_live_put(l, &(struct live_row){.key = i, .agent = i, .state = HANDOFF_COMPLETED});
	assert_int_equal(postgres_live_count(l), 0);
	assert_int_equal(postgres_live_next(l, 4321, false), 0);
	postgres_live_undo(l, 0);
	assert_int_equal(postgres_live_count(l), 5000);
	assert_int_equal(postgres_live_next(l, 17, false), 17);
	postgres_live_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_that_of_a_search_through_all_also_after_rollbacks),
		cmocka_unit_test(test_many_agents_with_one_each_are_forgotten_when_theirs_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
