/* Two engines side by side: the same random operations must get the same answers, and leave the same state. One is
 * SQLite; the other is in memory, and then PostgreSQL, where there is one (scripts/with-postgres). */
#include "temp_store.h"

#include "sim/random.h"
#include "test_store_conformance/differential.h"
#include "test_store_conformance/show.h"

enum { FIRST_SEED = 43, SEEDS = 3, TRANSACTIONS = 1000, OPERATIONS = 12, DEPTH = 4, OUT_MAX = 1 << 22,
       FIRST_SHARD = 100000 };

struct pair {
	struct store_conn *c[2];	/* SQLite, and the other */
	const char *name;		/* the other's */
	struct buf out[2];
	uint64_t seed, random;
	size_t transaction;
};

/* What the two have said must be the same. */
static void compare(struct pair *p)
{
	const char *a = buf_str(&p->out[0]).p, *b = buf_str(&p->out[1]).p;
	size_t i = 0, from;

	while (a[i] && a[i] == b[i])
		i++;
	from = i > 300 ? i - 300 : 0;
	if (a[i] != b[i])
		fail_msg("seed %llu, transaction %zu:\nSQLite:\n%.500s\n%s:\n%.500s", (unsigned long long)p->seed,
			 p->transaction, a + from, p->name, b + from);
	buf_clear(&p->out[0]);
	buf_clear(&p->out[1]);
}

static void play(struct pair *p, differential_op *op)
{
	uint64_t random = p->random;

	for (int i = 0; i < 2; i++) {
		random = p->random;
		op(p->c[i], &random, &p->out[i]);
	}
	p->random = random + 1;
	compare(p);
}

static void on_both(struct pair *p, enum store_status (*verb)(struct store_conn *c))
{
	for (int i = 0; i < 2; i++)
		must(verb(p->c[i]));
}

/* A part may be undone, or kept. */
static void change_depth(struct pair *p, int *depth)
{
	if (*depth < DEPTH && random_chance(&p->random, 500)) {
		on_both(p, store_savepoint);
		++*depth;
	} else if (*depth > 0) {
		on_both(p, random_chance(&p->random, 500) ? store_rollback_to : store_release);
		--*depth;
	}
}

static void play_transaction(struct pair *p)
{
	int depth = 0;

	on_both(p, store_begin);
	for (uint64_t n = random_below(&p->random, OPERATIONS); n > 0; n--) {
		if (random_chance(&p->random, 250))
			change_depth(p, &depth);
		if (random_chance(&p->random, 600))
			play(p, differential_changes[random_below(&p->random, differential_change_count)]);
		else
			play(p, differential_questions[random_below(&p->random, differential_question_count)]);
	}
	if (random_chance(&p->random, 750)) {
		on_both(p, store_commit);
	} else {
		store_rollback(p->c[0]);
		store_rollback(p->c[1]);
	}
}

static void compare_all(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		show_all(&p->out[i], p->c[i]);
	compare(p);
}

static void engines_agree_on_seed(const char *name, const char *address, uint64_t seed)
{
	struct pair p = {.name = name, .seed = seed, .random = seed};
	struct temp_store t;
	int64_t space;

	temp_store_init(&t);
	p.c[0] = t.c;
	p.c[1] = store_open(address, STORE_WRITE, &t.error);
	if (p.c[1] == NULL)
		fail_msg("%s: %s", address, buf_str(&t.error).p);
	must(store_begin(p.c[1]));
	must(store_space_create(p.c[1], STR("default"), T0, &space));
	must(store_commit(p.c[1]));
	buf_init(&p.out[0], OUT_MAX);
	buf_init(&p.out[1], OUT_MAX);
	for (p.transaction = 1; p.transaction <= TRANSACTIONS; p.transaction++) {
		play_transaction(&p);
		if (p.transaction % 100 == 0)
			compare_all(&p);
	}
	buf_release(&p.out[0]);
	buf_release(&p.out[1]);
	store_close(p.c[1]);
	temp_store_release(&t);
}

/* STORE_SEED plays another one, or the one that failed. */
static size_t seeds(uint64_t *ret_first)
{
	const char *seed = getenv("STORE_SEED");

	*ret_first = seed ? strtoull(seed, NULL, 10) : FIRST_SEED;
	return seed ? 1 : SEEDS;
}

static void the_engine_in_memory_answers_as_sqlite_does(void **state)
{
	uint64_t first;
	size_t count = seeds(&first);

	(void)state;
	for (size_t i = 0; i < count; i++)
		engines_agree_on_seed("in memory", "ram:", first + i);
}

/* Each seed has a shard of its own, above those of the other tests. */
static void the_engine_on_postgresql_answers_as_sqlite_does(void **state)
{
	const char *database = getenv("SPINE_TEST_POSTGRES");
	uint64_t first;
	size_t count = seeds(&first);
	char address[256];

	(void)state;
	if (database == NULL)
		skip();
	for (size_t i = 0; i < count; i++) {
		snprintf(address, sizeof(address), "%.200s#%zu", database, FIRST_SHARD + i);
		engines_agree_on_seed("PostgreSQL", address, first + i);
	}
}

int main(void)
{
	const struct CMUnitTest store_differential[] = {
		cmocka_unit_test(the_engine_in_memory_answers_as_sqlite_does),
		cmocka_unit_test(the_engine_on_postgresql_answers_as_sqlite_does),
	};

	return cmocka_run_group_tests(store_differential, NULL, NULL);
}
