/* Writers of several shards that commit together: what they write is there as if each had committed alone, and what
 * goes wrong with one is not the others' concern (scripts/with-postgres names the database).
 *
 * A turn that the test has taken itself holds them all up until they stand in line, in the order of their shards.
 */
#include "temp_postgres.h"

#include "store/postgres/postgres_group.h"
#include "store/postgres/postgres_internal.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

enum { WRITERS = 5 };

struct writer {
	struct store_conn *c;
	int64_t space;
	pthread_t thread;
	enum store_status status;
};

struct writers {
	struct temp_postgres *f;
	struct store_cluster *node;
	struct writer all[WRITERS];
	struct postgres_group *group;
	struct postgres_turn turn;
};

static enum store_status begin(struct writer *w, const char *note)
{
	struct event_row event = {.space = w->space, .at_ms = T0, .kind = 1, .note = str_of(note)};
	struct kept_reply reply = {.status = 200, .body = STR("{}"), .at_ms = T0};
	enum store_status status = store_begin(w->c);

	if (status == STORE_OK)
		status = store_reply_put(w->c, w->space, str_of(note), &reply, NULL, 0);
	return status == STORE_OK ? store_event_add(w->c, &event) : status;
}

static void write_alone(struct writer *w, const char *note)
{
	must(begin(w, note));
	must(store_commit(w->c));
}

/* Shards 0, 1, 2 and so on. Each has asked what it must before. */
static void open_writers(struct writers *all, struct temp_postgres *f)
{
	*all = (struct writers){.f = f, .node = temp_node_join(f, "node-a")};
	for (int i = 0; i < WRITERS; i++) {
		struct writer *w = &all->all[i];

		w->c = temp_take(f, i, "node-a");
		must(store_begin(w->c));
		must(store_space_create(w->c, STR("team"), T0, &w->space));
		must(store_commit(w->c));
		write_alone(w, "alone");
	}
	all->group = postgres_of(all->all[0].c)->group;
}

static void close_writers(struct writers *all)
{
	for (int i = 0; i < WRITERS; i++)
		store_close(all->all[i].c);
	store_cluster_close(all->node);
}

static int waiting(struct postgres_group *g)
{
	int count = 0;

	pthread_mutex_lock(&g->lock);
	for (struct postgres_turn *t = g->first; t; t = t->next)
		count++;
	pthread_mutex_unlock(&g->lock);
	return count;
}

static void *commit(void *arg)
{
	struct writer *w = arg;

	w->status = store_commit(w->c);
	return NULL;
}

/* All of them have written, and wait for their commits; the first one will send. */
static void line_up(struct writers *all, const char *note)
{
	assert_true(postgres_group_enter(all->group, &all->turn));
	for (int i = 0; i < WRITERS; i++) {
		must(begin(&all->all[i], note));
		assert_int_equal(pthread_create(&all->all[i].thread, NULL, commit, &all->all[i]), 0);
		while (waiting(all->group) <= i)
			sched_yield();
	}
}

static void let_go(struct writers *all)
{
	postgres_group_end(all->group, &all->turn, GROUP_REFUSED);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(all->all[i].thread, NULL), 0);
}

static int64_t count_of(struct writers *all, const char *what, const char *note)
{
	char sql[200];

	snprintf(sql, sizeof(sql), "SELECT count(%s) FROM spine.event e JOIN spine.reply r ON r.shard = e.shard "
		 "AND r.key = e.note WHERE e.note = '%s'", what, note);
	return sql_int(all->f->sql, sql);
}

/* --- Tests --- */

static void writers_of_several_shards_commit_in_one_transaction(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	let_go(&all);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(all.all[i].status, STORE_OK);
	assert_int_equal(count_of(&all, "*", "together"), WRITERS);
	assert_int_equal(count_of(&all, "DISTINCT e.xmin::text", "together"), 1);
	assert_int_equal(count_of(&all, "DISTINCT r.xmin::text", "together"), 1);
	assert_int_equal(count_of(&all, "DISTINCT e.xmin::text", "alone"), WRITERS);
	/* Each has its own marker, of the number of its own transaction. */
	assert_int_equal(sql_int(all.f->sql, "SELECT count(*) FROM spine.marker WHERE number = 3"), WRITERS);
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all.all[i], "later");
	assert_int_equal(count_of(&all, "*", "later"), WRITERS);
	close_writers(&all);
}

static void one_that_has_lost_its_shard_takes_nobody_along(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	run_sql(all.f->sql, "UPDATE spine.shard SET epoch = epoch + 1, owner = 'node-b' WHERE shard = 3");
	let_go(&all);
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(all.all[i].status, i == 3 ? STORE_BUSY : STORE_OK);
		assert_int_equal(store_is_lost(all.all[i].c), i == 3);
	}
	assert_int_equal(count_of(&all, "*", "together"), WRITERS - 1);
	close_writers(&all);
}

/* Somebody has written beside it, so that what it knows is not so any more. */
static void what_one_remembers_wrongly_fails_its_own_commit_only(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	run_sql(all.f->sql, "INSERT INTO spine.event (shard, id, space, at, kind, handoff, envelope, attempt, memory, "
		"value_1, value_2) SELECT 3, max(id) + 1, 1, 1, 1, 0, 0, 0, 0, 0, 0 FROM spine.event WHERE shard = 3");
	let_go(&all);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(all.all[i].status == STORE_OK, i != 3);
	assert_int_equal(count_of(&all, "*", "together"), WRITERS - 1);
	assert_false(store_is_failed(all.all[3].c));
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all.all[i], "later");
	assert_int_equal(count_of(&all, "*", "later"), WRITERS);
	close_writers(&all);
}

/* The group has sent COMMIT, and waits for a lock of the test; its answer is not read. */
static void let_go_without_an_answer(struct writers *all)
{
	PGconn *db = all->f->sql;
	char sql[160];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
		 "AND datname = '%s'", all->f->name);
	run_sql(db, "BEGIN; SELECT FROM spine.shard WHERE shard = 4 FOR UPDATE");
	assert_int_equal(shutdown(PQsocket(postgres_of(all->all[0].c)->session->db), SHUT_RD), 0);
	postgres_group_end(all->group, &all->turn, GROUP_REFUSED);
	/* It, and those who raise their epochs. */
	while (sql_int(all->f->admin, sql) <= WRITERS)
		sched_yield();
	run_sql(db, "COMMIT");
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(all->all[i].thread, NULL), 0);
}

static void each_looks_for_its_own_marker_where_the_commit_has_no_answer(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	let_go_without_an_answer(&all);
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(all.all[i].status, STORE_OK);
		assert_false(store_is_lost(all.all[i].c));
	}
	assert_int_equal(count_of(&all, "*", "together"), WRITERS);
	assert_int_equal(sql_int(all.f->sql, "SELECT count(*) FROM spine.shard WHERE epoch = 2"), WRITERS);
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all.all[i], "later");
	assert_int_equal(count_of(&all, "*", "later"), WRITERS);
	close_writers(&all);
}

static void a_group_that_did_not_happen_is_known_by_each(void **state)
{
	struct writers all;
	char sql[80];

	open_writers(&all, *state);
	line_up(&all, "together");
	snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 60000)",
		 PQbackendPID(postgres_of(all.all[0].c)->session->db));
	run_sql(all.f->sql, sql);
	let_go(&all);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(all.all[i].status, STORE_BUSY);
	assert_int_equal(count_of(&all, "*", "together"), 0);
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all.all[i], "together");
	assert_int_equal(count_of(&all, "*", "together"), WRITERS);
	close_writers(&all);
}

/* The others would wait for it. */
static void what_is_large_goes_alone(void **state)
{
	static char much[2 << 20];
	struct writers all;
	struct event_row event = {.at_ms = T0, .kind = 1, .note = {much, sizeof(much)}};

	memset(much, 'a', sizeof(much));
	open_writers(&all, *state);
	assert_true(postgres_group_enter(all.group, &all.turn));
	for (int i = 0; i < WRITERS; i++) {
		must(begin(&all.all[i], "together"));
		event.space = all.all[i].space;
		if (i == 2)
			must(store_event_add(all.all[i].c, &event));
		assert_int_equal(pthread_create(&all.all[i].thread, NULL, commit, &all.all[i]), 0);
		while (waiting(all.group) <= i)
			sched_yield();
	}
	let_go(&all);
	/* 0 and 1, 2, 3 and 4. */
	assert_int_equal(count_of(&all, "*", "together"), WRITERS);
	assert_int_equal(count_of(&all, "DISTINCT e.xmin::text", "together"), 3);
	close_writers(&all);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		with_database(writers_of_several_shards_commit_in_one_transaction),
		with_database(one_that_has_lost_its_shard_takes_nobody_along),
		with_database(what_one_remembers_wrongly_fails_its_own_commit_only),
		with_database(each_looks_for_its_own_marker_where_the_commit_has_no_answer),
		with_database(a_group_that_did_not_happen_is_known_by_each),
		with_database(what_is_large_goes_alone),
	};

	if (getenv("SPINE_TEST_POSTGRES") == NULL) {
		print_message("skipped: scripts/with-postgres runs this\n");
		return 0;
	}
	return cmocka_run_group_tests_name("writers of PostgreSQL that commit together", tests, NULL, NULL);
}
