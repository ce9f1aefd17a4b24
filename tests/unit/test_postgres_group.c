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
#include <signal.h>
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

static bool is_busy(struct postgres_group *g)
{
	bool is_busy;

	pthread_mutex_lock(&g->lock);
	is_busy = g->is_busy;
	pthread_mutex_unlock(&g->lock);
	return is_busy;
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

static void join_all(struct writers *all)
{
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(all->all[i].thread, NULL), 0);
}

static void let_go(struct writers *all)
{
	postgres_group_end(all->group, &all->turn, GROUP_REFUSED);
	join_all(all);
}

/* Asked for elsewhere: within a transaction the answer would stay the same. */
static int64_t lock_waits(struct writers *all)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
		 "AND datname = '%s'", all->f->name);
	return sql_int(all->f->admin, sql);
}

/* The group is sent, and waits for a lock that the test's session has. */
static void let_go_up_to_a_lock(struct writers *all)
{
	run_sql(all->f->sql, "BEGIN; SELECT FROM spine.shard WHERE shard = 4 FOR UPDATE");
	postgres_group_end(all->group, &all->turn, GROUP_REFUSED);
	while (lock_waits(all) < 1)
		sched_yield();
}

static int64_t count_of(struct writers *all, const char *what, const char *note)
{
	char sql[200];

	snprintf(sql, sizeof(sql), "SELECT count(%s) FROM spine.event e JOIN spine.reply r ON r.shard = e.shard "
		 "AND r.key = e.note WHERE e.note = '%s'", what, note);
	return sql_int(all->f->sql, sql);
}

/* One of them has this status, the others have committed, and nobody's engine must end. */
static void assert_only(struct writers *all, int which, enum store_status status)
{
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(all->all[i].status, i == which ? status : STORE_OK);
		assert_false(store_is_failed(all->all[i].c));
	}
	assert_int_equal(count_of(all, "*", "together"), WRITERS - 1);
}

/* All go on, each alone. */
static void assert_go_on(struct writers *all)
{
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all->all[i], "later");
	assert_int_equal(count_of(all, "*", "later"), WRITERS);
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
	assert_go_on(&all);
	close_writers(&all);
}

static void one_that_has_lost_its_shard_takes_nobody_along(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	run_sql(all.f->sql, "UPDATE spine.shard SET epoch = epoch + 1, owner = 'node-b' WHERE shard = 3");
	let_go(&all);
	assert_only(&all, 3, STORE_BUSY);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(store_is_lost(all.all[i].c), i == 3);
	close_writers(&all);
}

/* Somebody has written beside it, so that what it knows is not so any more. */
static void what_one_remembers_wrongly_fails_its_own_commit_only(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	run_sql(all.f->sql, "INSERT INTO spine.event (shard, id, space, at, kind, handoff, envelope, attempt, memory, "
		"value_1, value_2, number) SELECT 3, max(id) + 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, max(number) + 1 "
		"FROM spine.event WHERE shard = 3");
	let_go(&all);
	assert_only(&all, 3, STORE_REFUSED);
	assert_go_on(&all);
	close_writers(&all);
}

/* The group has sent COMMIT, and waits for a lock of the test; its answer is not read. */
static void let_go_without_an_answer(struct writers *all)
{
	let_go_up_to_a_lock(all);
	assert_int_equal(shutdown(PQsocket(postgres_of(all->all[0].c)->session->db), SHUT_RD), 0);
	/* It, and those who raise their epochs. */
	while (lock_waits(all) <= WRITERS)
		sched_yield();
	run_sql(all->f->sql, "COMMIT");
	join_all(all);
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
	assert_go_on(&all);
	close_writers(&all);
}

static void end_session(struct writers *all, int which)
{
	char sql[80];

	snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 60000)",
		 PQbackendPID(postgres_of(all->all[which].c)->session->db));
	run_sql(all->f->admin, sql);
}

static void a_group_that_did_not_happen_is_known_by_each(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	let_go_up_to_a_lock(&all);
	end_session(&all, 0);
	run_sql(all.f->sql, "COMMIT");
	join_all(&all);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(all.all[i].status, STORE_BUSY);
	assert_int_equal(count_of(&all, "*", "together"), 0);
	for (int i = 0; i < WRITERS; i++)
		write_alone(&all.all[i], "together");
	assert_int_equal(count_of(&all, "*", "together"), WRITERS);
	close_writers(&all);
}

static void a_session_that_has_gone_before_takes_nobody_along(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	end_session(&all, 0);
	let_go(&all);
	assert_only(&all, 0, STORE_BUSY);
	close_writers(&all);
}

/* The database has refused the group, and the session that sent it breaks before it could be rolled back. */
static void what_went_with_its_session_is_not_committed_without_it(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	line_up(&all, "together");
	let_go_up_to_a_lock(&all);
	assert_int_equal(shutdown(PQsocket(postgres_of(all.all[0].c)->session->db), SHUT_WR), 0);
	run_sql(all.f->sql, "UPDATE spine.shard SET epoch = epoch + 1, owner = 'node-b' WHERE shard = 4; COMMIT");
	join_all(&all);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(all.all[i].status, i == 0 || i == 4 ? STORE_BUSY : STORE_OK);
	assert_int_equal(count_of(&all, "*", "together"), WRITERS - 2);
	write_alone(&all.all[0], "together");
	assert_int_equal(count_of(&all, "*", "together"), WRITERS - 1);
	close_writers(&all);
}

/* Behind an error the server does not even look at it. */
static void a_statement_that_a_refused_group_was_to_prepare_is_prepared_again(void **state)
{
	struct writers all;

	open_writers(&all, *state);
	/* A new session: numbers are known again, and replies were not sent over it yet. */
	postgres_of(all.all[0].c)->session->is_stale = true;
	must(store_begin(all.all[0].c));
	must(store_commit(all.all[0].c));
	must(store_begin(all.all[0].c));
	must(store_event_add(all.all[0].c, &(struct event_row){.space = all.all[0].space, .at_ms = T0, .kind = 1}));
	must(store_commit(all.all[0].c));
	line_up(&all, "together");
	run_sql(all.f->sql, "UPDATE spine.shard SET epoch = epoch + 1, owner = 'node-b' WHERE shard = 3");
	let_go(&all);
	assert_only(&all, 3, STORE_BUSY);
	close_writers(&all);
}

/* The commit of the first has no answer, and there is no session to be had to look for its marker. */
static void who_looks_for_a_marker_holds_nobody_up(void **state)
{
	struct writers all;
	struct writer *open = &all.all[0], *other = &all.all[1];
	char sql[160];
	int socket;

	open_writers(&all, *state);
	must(begin(open, "together"));
	must(begin(other, "together"));
	socket = PQsocket(postgres_of(open->c)->session->db);
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s ALLOW_CONNECTIONS false", all.f->name);
	run_sql(all.f->admin, sql);
	run_sql(all.f->sql, "BEGIN; SELECT FROM spine.shard WHERE shard = 0 FOR UPDATE");
	assert_int_equal(pthread_create(&open->thread, NULL, commit, open), 0);
	while (lock_waits(&all) < 1)
		sched_yield();
	assert_int_equal(shutdown(socket, SHUT_RD), 0);
	run_sql(all.f->sql, "COMMIT");
	must(store_commit(other->c));
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s ALLOW_CONNECTIONS true", all.f->name);
	run_sql(all.f->admin, sql);
	assert_int_equal(pthread_join(open->thread, NULL), 0);
	must(open->status);
	assert_int_equal(count_of(&all, "*", "together"), 2);
	close_writers(&all);
}

/* Over a socket of the machine the kernel does not notice it either. The others go on when its answer has been waited
 * for long enough (POSTGRES_ANSWER_MAX_MS). */
static void a_server_that_reads_nothing_holds_nobody_up_for_ever(void **state)
{
	static char much[6 << 20];	/* more than such a socket takes */
	struct temp_postgres *f = *state;
	struct writers all;
	struct writer *stuck = &all.all[0];
	const char *log = getenv("SPINE_TEST_POSTGRES_LOG"), *port = strrchr(getenv("SPINE_TEST_POSTGRES"), ':') + 1;
	struct event_row event = {.at_ms = T0, .kind = 1, .note = {much, sizeof(much)}};
	pid_t server;

	memset(much, 'a', sizeof(much));
	snprintf(f->address, sizeof(f->address), "postgres:///%s?user=spine&host=%.*s&port=%d", f->name,
		 (int)(strrchr(log, '/') - log), log, atoi(port));
	open_writers(&all, f);
	event.space = stuck->space;
	must(begin(stuck, "stuck"));
	must(store_event_add(stuck->c, &event));
	must(begin(&all.all[1], "together"));
	server = PQbackendPID(postgres_of(stuck->c)->session->db);
	assert_int_equal(kill(server, SIGSTOP), 0);
	assert_int_equal(pthread_create(&stuck->thread, NULL, commit, stuck), 0);
	while (!is_busy(all.group))
		sched_yield();
	must(store_commit(all.all[1].c));
	assert_int_equal(kill(server, SIGCONT), 0);
	assert_int_equal(pthread_join(stuck->thread, NULL), 0);
	assert_true(stuck->status == STORE_OK || stuck->status == STORE_BUSY);
	assert_int_equal(count_of(&all, "*", "stuck"), stuck->status == STORE_OK);
	assert_int_equal(count_of(&all, "*", "together"), 1);
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
		with_database(a_session_that_has_gone_before_takes_nobody_along),
		with_database(what_went_with_its_session_is_not_committed_without_it),
		with_database(a_statement_that_a_refused_group_was_to_prepare_is_prepared_again),
		with_database(who_looks_for_a_marker_holds_nobody_up),
		with_database(a_server_that_reads_nothing_holds_nobody_up_for_ever),
		with_database(what_is_large_goes_alone),
	};

	if (getenv("SPINE_TEST_POSTGRES") == NULL) {
		print_message("skipped: scripts/with-postgres runs this\n");
		return 0;
	}
	return cmocka_run_group_tests_name("writers of PostgreSQL that commit together", tests, NULL, NULL);
}
