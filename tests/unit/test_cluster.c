/* core/cluster: who owns what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cluster/lease.h"
#include "core/cluster/ownership.h"
#include "core/cluster/protocol.h"
#include "core/cluster/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

/* --- Shards --- */

/* Databases hold what was computed once: other numbers would lose every space that is there. */
static void test_shard_of_a_space_never_changes(void **state)
{
	(void)state;
	assert_int_equal(shard_hash(STR("default"), 0), UINT64_C(0xd47084e0f7c5d5ad));
	assert_int_equal(shard_of(STR("default")), 45);
	assert_int_equal(shard_of(STR("tenant-7")), 38);
	assert_int_equal(shard_of(STR("")), 38);
}

static void test_spaces_with_names_that_count_spread_over_all_shards(void **state)
{
	int counts[SHARDS] = {0};
	char name[32];

	(void)state;
	for (int i = 0; i < 64 * SHARDS; i++) {
		int n = snprintf(name, sizeof(name), "team-%d", i);

		counts[shard_of((struct str){name, (size_t)n})]++;
	}
	/* 64 are expected in each; five standard deviations (8) away from it is no chance any more. */
	for (int i = 0; i < SHARDS; i++)
		assert_in_range(counts[i], 64 - 40, 64 + 40);
}

/* --- Owners --- */

enum { NODES = 5 };

static const struct cluster_node five[NODES] = {
	{{"n1", 2}, true, false}, {{"n2", 2}, true, false}, {{"n3", 2}, true, false},
	{{"n4", 2}, true, false}, {{"n5", 2}, true, false},
};

static void test_when_a_node_goes_only_its_shards_move(void **state)
{
	struct cluster_node without[NODES];
	int moved = 0;

	(void)state;
	memcpy(without, five, sizeof(five));
	without[2].is_live = false;
	for (int shard = 0; shard < SHARDS; shard++) {
		int before = cluster_owner_of(shard, five, NODES), after = cluster_owner_of(shard, without, NODES);

		assert_int_not_equal(after, 2);
		if (before != 2)
			assert_int_equal(after, before);
		moved += before != after;
	}
	assert_in_range(moved, 1, SHARDS / 2);
}

static void test_the_order_of_the_list_does_not_matter(void **state)
{
	const struct cluster_node turned[NODES] = {five[3], five[0], five[4], five[2], five[1]};

	(void)state;
	for (int shard = 0; shard < SHARDS; shard++)
		assert_true(str_eq(five[cluster_owner_of(shard, five, NODES)].id,
				   turned[cluster_owner_of(shard, turned, NODES)].id));
}

static void test_nobody_owns_where_nobody_lives_or_stays(void **state)
{
	struct cluster_node nodes[2] = {five[0], five[1]};

	(void)state;
	nodes[0].is_live = false;
	nodes[1].is_leaving = true;
	assert_int_equal(cluster_owner_of(3, nodes, 2), -1);
}

/* --- Plans --- */

struct world {
	struct cluster_node nodes[NODES];
	struct cluster_shard shards[SHARDS];
};

static void world_init(struct world *w)
{
	memcpy(w->nodes, five, sizeof(five));
	for (int i = 0; i < SHARDS; i++)
		w->shards[i] = (struct cluster_shard){.shard = i};
}

/* Every live node carries out its plan, in turn. Returns how many steps there were. */
static size_t play(struct world *w, size_t max_give)
{
	struct cluster_step steps[SHARDS];
	size_t all = 0;

	for (int n = 0; n < NODES; n++) {
		size_t count = w->nodes[n].is_live ? cluster_plan(w->nodes[n].id, w->nodes, NODES, w->shards, SHARDS,
								  max_give, steps) : 0;

		for (size_t i = 0; i < count; i++) {
			struct cluster_shard *s = &w->shards[steps[i].shard];

			s->owner = steps[i].action == CLUSTER_TAKE ? w->nodes[n].id : STR_NULL;
		}
		all += count;
	}
	return all;
}

static int owned_by(const struct world *w, int node)
{
	int count = 0;

	for (int i = 0; i < SHARDS; i++)
		count += w->shards[i].owner.p && str_eq(w->shards[i].owner, w->nodes[node].id);
	return count;
}

static void assert_all_owned_by_the_living(const struct world *w)
{
	int count = 0;

	for (int n = 0; n < NODES; n++)
		if (w->nodes[n].is_live && !w->nodes[n].is_leaving)
			count += owned_by(w, n);
	assert_int_equal(count, SHARDS);
}

static void test_a_new_cluster_is_shared_out_in_one_round_and_then_rests(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(play(&w, 4), SHARDS);
	assert_all_owned_by_the_living(&w);
	assert_int_equal(play(&w, 4), 0);
}

static void test_a_node_that_dies_is_replaced_and_one_that_lives_is_left_alone(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	play(&w, 4);
	w.nodes[1].is_live = false;
	play(&w, 4);
	assert_all_owned_by_the_living(&w);
	assert_int_equal(owned_by(&w, 1), 0);
	assert_int_equal(play(&w, 4), 0);
}

static void test_a_node_that_joins_gets_its_part_a_few_at_a_time(void **state)
{
	struct world w;
	int before, rounds = 0;

	(void)state;
	world_init(&w);
	w.nodes[4].is_live = false;
	play(&w, SHARDS);
	w.nodes[4].is_live = true;
	do {
		before = owned_by(&w, 4);
		assert_true(++rounds < 100);
	} while (play(&w, 1) && (owned_by(&w, 4) - before <= 4));
	assert_int_equal(play(&w, 1), 0);
	assert_true(rounds > 2);
	assert_all_owned_by_the_living(&w);
	assert_true(owned_by(&w, 4) > 0);
}

static void test_a_node_that_leaves_gives_everything_at_once(void **state)
{
	struct cluster_step steps[SHARDS];
	struct world w;
	int had;

	(void)state;
	world_init(&w);
	play(&w, 4);
	had = owned_by(&w, 0);
	w.nodes[0].is_leaving = true;
	assert_int_equal(cluster_plan(w.nodes[0].id, w.nodes, NODES, w.shards, SHARDS, 1, steps), had);
	play(&w, 1);
	play(&w, 1);
	assert_all_owned_by_the_living(&w);
}

static void test_who_is_not_in_the_list_plans_nothing(void **state)
{
	struct cluster_step steps[SHARDS];
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(cluster_plan(STR("stranger"), w.nodes, NODES, w.shards, SHARDS, 4, steps), 0);
}

/* --- Leases --- */

static void test_a_lease_counts_from_when_it_was_asked_for(void **state)
{
	struct lease l = {0};

	(void)state;
	assert_int_equal(lease_left_ms(&l, 100 * SECOND), 0);
	assert_false(lease_allows(&l, 100 * SECOND));
	lease_renewed(&l, 100 * SECOND);
	assert_int_equal(lease_left_ms(&l, 102 * SECOND), 3000);
	assert_true(lease_allows(&l, 104 * SECOND));
	assert_false(lease_allows(&l, 104 * SECOND + 1000000));
	assert_int_equal(lease_left_ms(&l, 105 * SECOND), 0);
}

static void test_an_answer_that_comes_late_does_not_shorten_a_lease(void **state)
{
	struct lease l = {0};

	(void)state;
	lease_renewed(&l, 103 * SECOND);
	lease_renewed(&l, 101 * SECOND);
	assert_int_equal(lease_left_ms(&l, 104 * SECOND), 4000);
}

/* --- Versions side by side --- */

static void test_an_owner_knows_what_came_with_its_number_or_before(void **state)
{
	(void)state;
	assert_true(protocol_knows(PROTOCOL_NOW, 0) && protocol_knows(PROTOCOL_NOW, PROTOCOL_NOW));
	assert_true(protocol_knows(PROTOCOL_FIRST, 0) && protocol_knows(PROTOCOL_FIRST, PROTOCOL_FIRST));
	assert_true(protocol_knows(7, 6) && protocol_knows(7, 7));
	assert_false(protocol_knows(7, 8));
	assert_false(protocol_knows(PROTOCOL_FIRST, 2));
	/* One that says nothing sensible knows nothing. */
	assert_false(protocol_knows(0, 0) || protocol_knows(-1, 0) || protocol_knows(0, -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_owner_knows_what_came_with_its_number_or_before),
		cmocka_unit_test(test_shard_of_a_space_never_changes),
		cmocka_unit_test(test_spaces_with_names_that_count_spread_over_all_shards),
		cmocka_unit_test(test_when_a_node_goes_only_its_shards_move),
		cmocka_unit_test(test_the_order_of_the_list_does_not_matter),
		cmocka_unit_test(test_nobody_owns_where_nobody_lives_or_stays),
		cmocka_unit_test(test_a_new_cluster_is_shared_out_in_one_round_and_then_rests),
		cmocka_unit_test(test_a_node_that_dies_is_replaced_and_one_that_lives_is_left_alone),
		cmocka_unit_test(test_a_node_that_joins_gets_its_part_a_few_at_a_time),
		cmocka_unit_test(test_a_node_that_leaves_gives_everything_at_once),
		cmocka_unit_test(test_who_is_not_in_the_list_plans_nothing),
		cmocka_unit_test(test_a_lease_counts_from_when_it_was_asked_for),
		cmocka_unit_test(test_an_answer_that_comes_late_does_not_shorten_a_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
