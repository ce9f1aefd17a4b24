/* store/store.h on every engine: the parts in test_store_conformance/, one engine after the other.
 *
 * At the end each verb of the table must have been called on each engine.
 */
#include "test_store_conformance/conformance.h"

#include "store/postgres/postgres_session.h"
#include "store/verbs.h"

struct fixture {
	struct temp_store t;		/* first: the tests know only this */
	struct store_conn *keeper;	/* so that a store in memory outlives its writer */
};

static enum engine { ON_SQLITE, IN_MEMORY, ON_POSTGRES, ENGINES } engine;
static const char *const engine_names[] = {"SQLite", "in memory", "PostgreSQL"};

/* --- Counting --- */

#define VERB_NUMBER(kind, type, name, params, args) VERB_##name,
enum verb { STORE_VERBS(VERB_NUMBER) VERBS };
#define VERB_NAME(kind, type, name, params, args) #name,
static const char *const verb_names[] = {STORE_VERBS(VERB_NAME)};

static const struct store_verbs *counted;	/* the engine's */
static unsigned long counts[VERBS];

#define COUNT(kind, type, name, params, args) \
	static type count_##name params \
	{ \
		counts[VERB_##name]++; \
		return counted->name args; \
	}
STORE_VERBS(COUNT)

static void count_close(struct store_conn *c)
{
	counted->close(c);
}

#define COUNTING(kind, type, name, params, args) .name = count_##name,
static const struct store_verbs counting = {.close = count_close, STORE_VERBS(COUNTING)};

static int assert_all_were_called(void)
{
	int missing = 0;

	for (int i = 0; i < VERBS; i++)
		if (counts[i] == 0) {
			print_error("store_%s was never called: %s\n", verb_names[i], engine_names[engine]);
			missing++;
		}
	memset(counts, 0, sizeof(counts));
	return missing;
}

/* --- Stores --- */

struct store_conn *conformance_open(struct temp_store *t, enum store_mode mode)
{
	struct store_conn *c = temp_store_open(t, mode);

	counted = c->verbs;
	c->verbs = &counting;
	return c;
}

void conformance_reopen(struct temp_store *t)
{
	store_close(t->c);
	t->c = conformance_open(t, STORE_WRITE);
}

void conformance_check(struct temp_store *t)
{
	struct store_check result = {0};
	struct buf problems;

	buf_init(&problems, 65536);
	assert_int_equal(store_check(t->c, &result, &problems), engine == ON_SQLITE ? STORE_OK : STORE_REFUSED);
	if (result.problems)
		fail_msg("%s", problems.data);
	buf_release(&problems);
}

/* In a database every test has a shard of its own. */
static void name_store(struct temp_store *t)
{
	static int shard;

	if (engine == IN_MEMORY)
		snprintf(t->dir, sizeof(t->dir), "ram:%.200s", t->root);
	else
		snprintf(t->dir, sizeof(t->dir), "%.200s#%d", getenv("SPINE_TEST_POSTGRES"), ++shard);
}

/* Keys are of the database, and every test begins without any. */
static void forget_keys(void)
{
	PGconn *db = postgres_dial(getenv("SPINE_TEST_POSTGRES"));
	PGresult *result = PQexec(db, "DELETE FROM spine.access_key; UPDATE spine.access_mode SET needs_key = 0; "
				      "UPDATE spine.sequence SET last = 0 WHERE name = 'access_key'");

	assert_true(postgres_is_good(result));
	PQclear(result);
	PQfinish(db);
}

int conformance_setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct temp_store *t = &f->t;

	temp_store_init(t);
	if (engine != ON_SQLITE) {
		store_close(t->c);
		name_store(t);
		t->c = conformance_open(t, STORE_WRITE);
		f->keeper = conformance_open(t, STORE_READ);
		t->space = temp_space(t, "default");
		if (engine == ON_POSTGRES)
			forget_keys();
	} else {
		conformance_reopen(t);
	}
	*state = t;
	return 0;
}

int conformance_teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->keeper);
	temp_store_release(&f->t);
	free(f);
	return 0;
}

static int run_parts(void)
{
	static const struct conformance_part *const parts[] = {
		&conformance_spaces, &conformance_memories, &conformance_replies, &conformance_retention,
		&conformance_tally, &conformance_forgotten, &conformance_envelopes, &conformance_tasks,
		&conformance_agents, &conformance_handoffs, &conformance_queues,
		&conformance_events, &conformance_alerts, &conformance_channels, &conformance_access_keys,
		&conformance_transactions,
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s, %s", parts[i]->name, engine_names[engine]);
		failed += _cmocka_run_group_tests(name, parts[i]->tests, parts[i]->count, NULL, NULL);
	}
	return failed + assert_all_were_called();
}

/* An engine's name: that one alone. */
int main(int argc, char **argv)
{
	int failed = 0;

	/* scripts/with-postgres says where there is a PostgreSQL. */
	for (; engine < ENGINES; engine++)
		if ((engine != ON_POSTGRES || getenv("SPINE_TEST_POSTGRES")) &&
		    (argc < 2 || strcmp(argv[1], engine_names[engine]) == 0))
			failed += run_parts();
	return failed ? 1 : 0;
}
