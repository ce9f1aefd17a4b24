/* Writers of one node on PostgreSQL that commit together, at random, while sessions break, shards are taken and locks
 * are held. In the end all that was acknowledged is in the database, whole, and nothing that was refused
 * (scripts/with-postgres names the database).
 *
 * Each shard has a thread that plays transactions one behind the other: events, replies, targets that are written and
 * read, parts that are kept or undone. It remembers what it wrote and what it was told of each. Meanwhile the test
 * plays faults, one for every few commits. When these are over each writer must be able to commit once more.
 *
 *   STRESS_SEED=43 STRESS_SECONDS=40 scripts/with-postgres build/tests/test_postgres_stress
 *
 * plays a seed again; without one that of FIRST_SEED is played, and one that nobody has chosen. A transaction comes out
 * of the seed, its shard and its number, and the faults out of the seed: these are the same again. In which order
 * threads and sessions come to it is not. So what a seed has found may need a few more rounds, or a longer one.
 */
#include "postgres_stress_writer.h"

#include "base/thread.h"
#include "store/postgres/postgres_group.h"
#include "store/postgres/postgres_internal.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

enum { FIRST_SEED = 43, SECONDS = 10, SHARDS = 6, FAULT_MS = 100, RENEWAL_MS = 1000 };

/* How long a writer tries to commit once the faults are over. */
enum { LAST_SECONDS = 120 };

struct run {
	struct temp_postgres *f;
	struct store_cluster *node;
	struct postgres_pool *pool;
	uint64_t random;
	int64_t until_ns, renewed_ns;
	struct crowd crowd;
	struct writer *writers;
};

/* --- The test's own session --- */

/* Whoever waits for a shard that the test holds may end the test's session, as that of any other. */
static void dial_again(struct run *r)
{
	PQfinish(r->f->sql);
	r->f->sql = postgres_dial(r->f->address);
	PQclear(PQexec(r->f->sql, "SET lock_timeout TO '1s'"));
}

/* A fault that does not come about is none. */
__attribute__((format(printf, 2, 3)))
static void try_sql(struct run *r, const char *format, ...)
{
	char sql[500];
	va_list args;

	va_start(args, format);
	vsnprintf(sql, sizeof(sql), format, args);
	va_end(args);
	PQclear(PQexec(r->f->sql, sql));
	if (PQstatus(r->f->sql) != CONNECTION_OK)
		dial_again(r);
}

/* Every second, so that the node has a lease. */
static void renew(struct run *r)
{
	struct cluster_view view;
	struct arena arena;

	if (clock_mono_ns() - r->renewed_ns < RENEWAL_MS * INT64_C(1000000))
		return;
	arena_init(&arena);
	store_cluster_renew(r->node, 0, &arena, &view);
	arena_release(&arena);
	r->renewed_ns = clock_mono_ns();
}

/* --- Faults --- */

static int any_shard(struct run *r)
{
	return (int)random_below(&r->random, SHARDS);
}

static void end_a_session(struct run *r)
{
	try_sql(r, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
		"AND pid <> pg_backend_pid() ORDER BY pid LIMIT 1 OFFSET %d", any_shard(r));
}

/* For a moment it was another's: with `since` also for a writer whose session is new. */
static void take_a_shard(struct run *r)
{
	try_sql(r, "UPDATE spine.shard SET epoch = epoch + 1%s WHERE shard = %d",
		random_chance(&r->random, 300) ? ", since = epoch + 1" : "", any_shard(r));
}

/* What its writer knows of it is not so any more. */
static void write_beside(struct run *r)
{
	int shard = any_shard(r);

	try_sql(r, "INSERT INTO spine.event (shard, id, space, at, kind, handoff, envelope, attempt, memory, value_1, "
		"value_2, number) SELECT %d, max(id) + 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, max(number) + 1 FROM spine.event "
		"WHERE shard = %d", shard, shard);
}

static int peer_port(int fd)
{
	struct sockaddr_in in;
	socklen_t size = sizeof(in);

	return getpeername(fd, (struct sockaddr *)&in, &size) == 0 && in.sin_family == AF_INET ? in.sin_port : 0;
}

static int own_port(int fd)
{
	struct sockaddr_in in;
	socklen_t size = sizeof(in);

	return getsockname(fd, (struct sockaddr *)&in, &size) == 0 ? ntohs(in.sin_port) : 0;
}

/* One of the connections to the database but for the test's own: that of a port, or any (0). */
static void cut(struct run *r, int port)
{
	static const int how[] = {SHUT_RD, SHUT_WR, SHUT_RDWR};
	int sql = PQsocket(r->f->sql), server = peer_port(sql), fds[64], count = 0;

	for (int fd = 3; fd < 256 && count < 64; fd++)
		if (fd != sql && fd != PQsocket(r->f->admin) && peer_port(fd) == server &&
		    (port == 0 || own_port(fd) == port))
			fds[count++] = fd;
	if (count)
		shutdown(fds[random_below(&r->random, (uint64_t)count)], how[random_below(&r->random, 3)]);
}

static void cut_a_session(struct run *r)
{
	cut(r, 0);
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

/* The port of a session that waits for a lock, with others who wait for their turn behind it; 0: there is none after a
 * while. */
static int await_line(struct run *r)
{
	int64_t until_ns = clock_mono_ns() + FAULT_MS * INT64_C(1000000);
	char sql[200];
	int port;

	snprintf(sql, sizeof(sql), "SELECT coalesce(max(client_port), 0) FROM pg_stat_activity "
		 "WHERE wait_event_type = 'Lock' AND datname = '%s'", r->f->name);
	do {
		sched_yield();
		port = (int)sql_int(r->f->admin, sql);
	} while ((port == 0 || waiting(postgres_pool_group(r->pool)) < 2) && clock_mono_ns() < until_ns);
	return port;
}

/* A commit stands still, and others behind it; then what it waits for is another's, or its session breaks, or both. */
static void hold_up(struct run *r)
{
	int shard = any_shard(r), port;

	try_sql(r, "BEGIN; SELECT FROM spine.shard WHERE shard = %d FOR UPDATE", shard);
	port = await_line(r);
	if (random_chance(&r->random, 600))
		cut(r, port);
	if (random_chance(&r->random, 600))
		try_sql(r, "UPDATE spine.shard SET epoch = epoch + 1 WHERE shard = %d", shard);
	try_sql(r, "COMMIT");
}

/* Faster than commits they would leave none. */
static void await_commits(struct run *r, uint64_t count)
{
	struct crowd *crowd = &r->crowd;
	int64_t until_ns = clock_mono_ns() + FAULT_MS * INT64_C(1000000), until;

	pthread_mutex_lock(&crowd->lock);
	until = crowd->commits + (int64_t)count;
	while (crowd->commits < until && crowd->at_work)
		if (!cond_wait_until(&crowd->changed, &crowd->lock, until_ns))
			break;
	pthread_mutex_unlock(&crowd->lock);
}

static bool is_at_work(struct run *r)
{
	bool is_at_work;

	pthread_mutex_lock(&r->crowd.lock);
	is_at_work = r->crowd.at_work && !r->crowd.has_fault;
	pthread_mutex_unlock(&r->crowd.lock);
	return is_at_work;
}

static void play_faults(struct run *r)
{
	static void (*const faults[])(struct run *r) = {end_a_session, take_a_shard, write_beside, cut_a_session,
							cut_a_session, hold_up, hold_up};

	while (is_at_work(r) && clock_mono_ns() < r->until_ns) {
		renew(r);
		faults[random_below(&r->random, sizeof(faults) / sizeof(*faults))](r);
		await_commits(r, random_below(&r->random, 20));
	}
}

/* --- Beginning and end --- */

static void start_writer(struct run *r, int shard)
{
	struct writer *w = &r->writers[shard];

	w->crowd = &r->crowd;
	w->shard = shard;
	open_shard(w);
	assert_non_null(w->c);
	must(store_begin(w->c));
	must(store_space_create(w->c, STR("team"), T0, &w->space));
	must(store_commit(w->c));
}

static void start(struct run *r, struct temp_postgres *f, uint64_t seed, int seconds)
{
	*r = (struct run){.f = f, .random = seed, .crowd = {.address = f->address, .seed = seed, .at_work = SHARDS}};
	r->node = temp_node_join(f, "node-a");
	r->pool = postgres_pool_use(f->address);
	r->writers = mem_calloc(SHARDS, sizeof(*r->writers));
	pthread_mutex_init(&r->crowd.lock, NULL);
	cond_init(&r->crowd.changed);
	dial_again(r);
	for (int i = 0; i < SHARDS; i++)
		start_writer(r, i);
	r->until_ns = clock_mono_ns() + seconds * INT64_C(1000000000);
	for (int i = 0; i < SHARDS; i++)
		thread_start(&r->writers[i].thread, write_all, &r->writers[i]);
}

/* The node has a lease until they have ended. */
static void await_writers(struct run *r)
{
	struct crowd *crowd = &r->crowd;

	pthread_mutex_lock(&crowd->lock);
	crowd->last_ns = clock_mono_ns() + LAST_SECONDS * INT64_C(1000000000);
	while (crowd->at_work) {
		cond_wait_until(&crowd->changed, &crowd->lock, clock_mono_ns() + RENEWAL_MS * INT64_C(1000000));
		pthread_mutex_unlock(&crowd->lock);
		renew(r);
		pthread_mutex_lock(&crowd->lock);
	}
	pthread_mutex_unlock(&crowd->lock);
	for (int i = 0; i < SHARDS; i++)
		assert_int_equal(pthread_join(r->writers[i].thread, NULL), 0);
}

static void close_all(struct run *r)
{
	for (int i = 0; i < SHARDS; i++)
		if (r->writers[i].c)
			store_close(r->writers[i].c);
	postgres_pool_release(r->pool);
	store_cluster_close(r->node);
	pthread_cond_destroy(&r->crowd.changed);
	pthread_mutex_destroy(&r->crowd.lock);
}

/* --- What is there --- */

/* A line for each number: the number, its events, its replies. */
static PGresult *read_shard(struct run *r, int shard)
{
	char sql[400];
	PGresult *result;

	snprintf(sql, sizeof(sql), "SELECT number, sum(event), sum(reply) FROM ("
		 "SELECT convert_from(note, 'UTF8')::bigint AS number, 1 AS event, 0 AS reply FROM spine.event "
		 "WHERE shard = %d AND note IS NOT NULL UNION ALL "
		 "SELECT split_part(convert_from(key, 'UTF8'), '-', 1)::bigint, 0, 1 FROM spine.reply "
		 "WHERE shard = %d) t GROUP BY number", shard, shard);
	result = PQexec(r->f->sql, sql);
	if (!postgres_is_good(result))
		fail_msg("%s: %s", sql, PQerrorMessage(r->f->sql));
	return result;
}

static int cell(const PGresult *result, int row, int column)
{
	return atoi(PQgetvalue(result, row, column));
}

static void check_transaction(const struct writer *w, int64_t number, const struct rows *there)
{
	static const char *const told[] = {"never begun", "refused", "acknowledged", "left open"};
	const struct transaction *t = &w->all[number];
	struct rows none = {0}, wanted = t->told == TOLD_COMMITTED ? t->rows : none;

	/* All of it or nothing. */
	if (t->told == TOLD_UNKNOWN && there->events)
		wanted = t->rows;
	if (there->events != wanted.events || there->replies != wanted.replies)
		fail_msg("seed %llu, shard %d, transaction %lld was %s: %d of %d events and %d of %d replies are there",
			 (unsigned long long)w->crowd->seed, w->shard, (long long)number, told[t->told], there->events,
			 t->rows.events, there->replies, t->rows.replies);
}

static void check_transactions(struct run *r, const struct writer *w)
{
	PGresult *result = read_shard(r, w->shard);
	struct rows *there = mem_calloc(TRANSACTIONS_MAX, sizeof(*there));

	for (int i = 0; i < PQntuples(result); i++)
		there[cell(result, i, 0)] =
			(struct rows){(uint8_t)cell(result, i, 1), (uint8_t)cell(result, i, 2)};
	PQclear(result);
	for (int64_t number = 1; number <= w->number; number++)
		check_transaction(w, number, &there[number]);
	free(there);
}

/* Of a shard whose last transaction was left open nobody knows. */
static void check_targets(struct run *r, const struct writer *w)
{
	char sql[160];

	for (int agent = 0; agent < AGENTS && w->all[w->number].told != TOLD_UNKNOWN; agent++) {
		int64_t there, told = w->committed.targets[agent];

		snprintf(sql, sizeof(sql), "SELECT coalesce((SELECT seen_at FROM spine.target WHERE shard = %d "
			 "AND agent = %d), 0)", w->shard, FIRST_AGENT + agent);
		there = sql_int(r->f->sql, sql);
		if (there != told)
			fail_msg("seed %llu, shard %d, agent %d: transaction %lld is there (%lld), and not %lld (%lld)",
				 (unsigned long long)r->crowd.seed, w->shard, agent, (long long)there / 1000,
				 (long long)there, (long long)told / 1000, (long long)told);
	}
}

static int count_told(const struct run *r, enum told told)
{
	int count = 0;

	for (int i = 0; i < SHARDS; i++)
		for (int64_t number = 1; number <= r->writers[i].number; number++)
			count += r->writers[i].all[number].told == told;
	return count;
}

static void say(struct run *r)
{
	int64_t together = sql_int(r->f->sql, "SELECT count(*) FROM (SELECT FROM spine.event WHERE note IS NOT NULL "
				   "GROUP BY xmin::text HAVING count(DISTINCT shard) > 1) t");

	print_message("seed %llu: %d acknowledged, %d refused, %d left open; %d times several together\n",
		      (unsigned long long)r->crowd.seed, count_told(r, TOLD_COMMITTED), count_told(r, TOLD_REFUSED),
		      count_told(r, TOLD_UNKNOWN), (int)together);
}

static void check(struct run *r)
{
	say(r);
	for (int i = 0; i < SHARDS; i++) {
		struct writer *w = &r->writers[i];

		if (*w->fault)
			fail_msg("seed %llu, shard %d, transaction %lld: %s", (unsigned long long)r->crowd.seed, i,
				 (long long)w->number, w->fault);
		check_transactions(r, w);
		check_targets(r, w);
	}
}

static void play_seed(struct temp_postgres *f, uint64_t seed, int seconds)
{
	struct run r;

	print_message("seed %llu, %d s\n", (unsigned long long)seed, seconds);
	fflush(stdout);
	start(&r, f, seed, seconds);
	play_faults(&r);
	await_writers(&r);
	close_all(&r);
	dial_again(&r);
	check(&r);
	free(r.writers);
}

/* --- Tests --- */

static int seconds_in_all(void)
{
	const char *seconds = getenv("STRESS_SECONDS");

	return seconds ? atoi(seconds) : SECONDS;
}

static void what_was_acknowledged_is_there_and_what_was_refused_is_not(void **state)
{
	const char *seed = getenv("STRESS_SEED");

	if (seed)
		play_seed(*state, strtoull(seed, NULL, 10), seconds_in_all());
	else
		play_seed(*state, FIRST_SEED, (seconds_in_all() + 1) / 2);
}

static void so_it_is_with_a_seed_that_nobody_has_chosen(void **state)
{
	if (getenv("STRESS_SEED"))
		skip();
	play_seed(*state, (uint64_t)clock_wall_ms(), (seconds_in_all() + 1) / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		with_database(what_was_acknowledged_is_there_and_what_was_refused_is_not),
		with_database(so_it_is_with_a_seed_that_nobody_has_chosen),
	};

	if (getenv("SPINE_TEST_POSTGRES") == NULL) {
		print_message("skipped: scripts/with-postgres runs this\n");
		return 0;
	}
	return cmocka_run_group_tests_name("writers of PostgreSQL that commit together, at random", tests, NULL, NULL);
}
