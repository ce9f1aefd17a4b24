/* What the writer of a shard keeps in memory: it asks the database nothing where it knows the answer, and finds out
 * where what it knows is not so (scripts/with-postgres names the database). */
#include "temp_postgres.h"

#include "store/postgres/postgres_internal.h"

enum { SHARD = 5 };

struct shard {
	struct temp_postgres *f;
	struct store_conn *c;
	int64_t space, agent;
	uint64_t last_envelope;
};

static struct store_conn *open_shard(struct temp_postgres *f, enum store_mode mode)
{
	char address[600];
	struct store_conn *c;

	snprintf(address, sizeof(address), "%s#%d", f->address, SHARD);
	c = store_open(address, mode, &f->error);
	if (c == NULL)
		fail_msg("%s", buf_str(&f->error).p);
	return c;
}

static struct shard new_shard(struct temp_postgres *f)
{
	struct shard s = {.f = f, .c = open_shard(f, STORE_WRITE)};

	must(store_begin(s.c));
	must(store_space_create(s.c, STR("team"), T0, &s.space));
	must(store_agent_id(s.c, s.space, STR("worker"), true, T0, &s.agent));
	must(store_commit(s.c));
	return s;
}

/* Nothing is left of what it knew. */
static void reopen(struct shard *s)
{
	store_close(s->c);
	s->c = open_shard(s->f, STORE_WRITE);
}

static struct envelope_row envelope_of(struct shard *s, const char *task)
{
	return (struct envelope_row){.space = s->space, .num = ++s->last_envelope, .task = str_of(task), .hop = 1,
				     .created_at_ms = T0, .body = STR("{}"), .begins_task = true, .tokens = 7};
}

static struct handoff_row handoff_of(const struct shard *s, uint64_t envelope)
{
	return (struct handoff_row){.space = s->space, .envelope = envelope, .created_at_ms = T0, .target = s->agent,
				    .agent = s->agent, .from = STR("boss"), .state = HANDOFF_QUEUED, .priority = 5,
				    .attempt = 1, .max_attempts = 3, .due_ms = T0 + 15000, .changed_at_ms = T0};
}

static void tell(struct shard *s, int kind, uint64_t handoff)
{
	struct event_row event = {.space = s->space, .at_ms = T0, .kind = kind, .handoff = handoff};

	must(store_event_add(s->c, &event));
}

static void move(struct shard *s, struct handoff_row *h, enum handoff_state state)
{
	h->state = state;
	h->due_ms = state < HANDOFF_ACKED ? T0 + 60000 : 0;
	must(store_handoff_put(s->c, h));
	tell(s, 3, h->num);
}

static uint64_t send(struct shard *s, const char *task)
{
	struct envelope_row e = envelope_of(s, task);
	struct handoff_row h = handoff_of(s, e.num), untold[4];
	struct handoff_filter filter = {.space = s->space, .from = STR("boss"), .untold = true};
	struct target_row target;
	size_t count;

	must(store_target_get(s->c, s->agent, &target));
	must(store_envelope_insert(s->c, &e));
	must(store_handoff_insert(s->c, &h));
	tell(s, 1, h.num);
	must(store_handoffs(s->c, &filter, 0, 4, &s->f->arena, untold, &count));
	return h.num;
}

/* In a transaction for each step, as it is where nobody else is at work. */
static void cycle(struct shard *s, const char *task)
{
	struct handoff_row h;
	uint64_t num;
	int64_t due_ms;

	must(store_begin(s->c));
	num = send(s, task);
	must(store_commit(s->c));
	must(store_begin(s->c));
	assert_int_equal(store_handoff_due(s->c, T0, &s->f->arena, &h), STORE_NOT_FOUND);
	must(store_handoff_next_due(s->c, &due_ms));
	must(store_handoff_next(s->c, s->agent, false, &s->f->arena, &h));
	assert_int_equal(h.num, num);
	assert_true(str_is(h.agent_name, "worker"));
	move(s, &h, HANDOFF_LEASED);
	must(store_commit(s->c));
	must(store_begin(s->c));
	must(store_handoff_get(s->c, s->space, num, &s->f->arena, &h));
	move(s, &h, HANDOFF_ACKED);
	must(store_commit(s->c));
}

/* --- Tests --- */

static void a_cycle_waits_for_nothing_but_its_commits(void **state)
{
	struct shard s = new_shard(*state);
	int64_t before, last;

	cycle(&s, "first");
	before = postgres_of(s.c)->waits;
	cycle(&s, "second");
	must(store_event_last(s.c, 0, &last));
	assert_int_equal(postgres_of(s.c)->waits - before, 3);
	assert_int_equal(sql_int(s.f->sql, "SELECT count(*) FROM spine.handoff WHERE state = 4 AND due = 0"), 2);
	assert_int_equal(sql_int(s.f->sql, "SELECT count(*) FROM spine.event WHERE handoff = 2"), 3);
	assert_int_equal(sql_int(s.f->sql, "SELECT bytes FROM spine.space"), 4);
	assert_int_equal(sql_int(s.f->sql, "SELECT sum(tokens) FROM spine.task"), 14);
	store_close(s.c);
}

static struct handoff_row of_number(struct shard *s, int number)
{
	struct handoff_row h = handoff_of(s, s->last_envelope);
	char name[32];

	snprintf(name, sizeof(name), "agent-%d", number);
	must(store_agent_id(s->c, s->space, str_of(name), true, T0, &h.target));
	h.agent = h.target;
	return h;
}

/* A publish. Each new agent is looked for and made, and whether it was handed the envelope is looked up: once. */
static void an_envelope_for_many_new_agents_is_sent_in_one_go(void **state)
{
	enum { MANY = 40, KNOWN = 4, MOVED = 20 };
	struct shard s = new_shard(*state);
	struct envelope_row e = envelope_of(&s, "for many");
	struct handoff_row h, again;
	int64_t before;

	must(store_begin(s.c));
	must(store_envelope_insert(s.c, &e));
	before = postgres_of(s.c)->waits;
	for (int i = 0; i < MANY; i++) {
		h = of_number(&s, i);
		must(store_handoff_insert(s.c, &h));
	}
	assert_in_range(postgres_of(s.c)->waits - before, 1, 3 * MANY + KNOWN);
	again = of_number(&s, MANY - 1);
	assert_int_equal(store_handoff_insert(s.c, &again), STORE_EXISTS);
	must(store_commit(s.c));
	assert_int_equal(sql_int(s.f->sql, "SELECT agents FROM spine.space"), MANY + 1);
	assert_int_equal(sql_int(s.f->sql, "SELECT count(DISTINCT target) FROM spine.handoff"), MANY);
	/* Where one has gone to another target, its place is free, and the other's is taken. */
	must(store_begin(s.c));
	again = of_number(&s, MOVED);
	must(store_handoff_find(s.c, s.space, e.num, again.target, &s.f->arena, &h));
	h.target = h.agent = of_number(&s, MANY).target;
	must(store_handoff_put(s.c, &h));
	must(store_handoff_insert(s.c, &again));
	again = of_number(&s, MANY);
	assert_int_equal(store_handoff_insert(s.c, &again), STORE_EXISTS);
	must(store_commit(s.c));
	assert_int_equal(sql_int(s.f->sql, "SELECT count(DISTINCT target) FROM spine.handoff"), MANY + 1);
	assert_int_equal(sql_int(s.f->sql, "SELECT agents FROM spine.space"), MANY + 2);
	store_close(s.c);
}

static void all_of_a_batch_goes_out_in_one_flight(void **state)
{
	struct shard s = new_shard(*state);
	char task[32];
	int64_t before;

	cycle(&s, "first");
	before = postgres_of(s.c)->waits;
	must(store_begin(s.c));
	for (int i = 0; i < 200; i++) {
		snprintf(task, sizeof(task), "task-%d", i);
		send(&s, task);
	}
	must(store_commit(s.c));
	assert_int_equal(postgres_of(s.c)->waits - before, 1);
	assert_int_equal(sql_int(s.f->sql, "SELECT count(*) FROM spine.handoff WHERE state = 0"), 200);
	assert_int_equal(sql_int(s.f->sql, "SELECT count(*) FROM spine.task"), 201);
	store_close(s.c);
}

/* The task was begun before anybody asked this writer for it. */
static void a_wrong_guess_undoes_its_transaction_and_is_not_made_again(void **state)
{
	struct shard s = new_shard(*state);
	struct envelope_row e = envelope_of(&s, "taken");
	int64_t last = 0;

	must(store_begin(s.c));
	must(store_envelope_insert(s.c, &e));
	tell(&s, 1, 0);
	must(store_commit(s.c));
	reopen(&s);
	e = envelope_of(&s, "taken");
	must(store_begin(s.c));
	tell(&s, 1, 0);
	must(store_envelope_insert(s.c, &e));
	assert_int_equal(store_commit(s.c), STORE_REFUSED);
	assert_false(store_is_failed(s.c));
	assert_int_equal(sql_int(s.f->sql, "SELECT count(*) FROM spine.envelope"), 1);
	must(store_begin(s.c));
	assert_int_equal(store_envelope_insert(s.c, &e), STORE_EXISTS);
	e.task = STR("free");
	must(store_envelope_insert(s.c, &e));
	tell(&s, 1, 0);
	must(store_commit(s.c));
	must(store_event_last(s.c, 0, &last));
	assert_int_equal(last, 2);
	store_close(s.c);
}

/* Nobody should have done that; but nothing may be acknowledged that is not there. */
static void what_somebody_has_removed_meanwhile_is_noticed_by_the_commit(void **state)
{
	struct shard s = new_shard(*state);
	struct handoff_row h;
	uint64_t num;

	must(store_begin(s.c));
	num = send(&s, "first");
	must(store_commit(s.c));
	run_sql(s.f->sql, "DELETE FROM spine.handoff");
	must(store_begin(s.c));
	must(store_handoff_get(s.c, s.space, num, &s.f->arena, &h));
	move(&s, &h, HANDOFF_LEASED);
	assert_int_equal(store_commit(s.c), STORE_REFUSED);
	must(store_begin(s.c));
	assert_int_equal(store_handoff_get(s.c, s.space, num, &s.f->arena, &h), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_next(s.c, s.agent, false, &s.f->arena, &h), STORE_NOT_FOUND);
	store_rollback(s.c);
	store_close(s.c);
}

/* The order is read when it is first asked for, also what a transaction that is undone has written before. */
static void what_is_open_is_known_again_after_a_restart(void **state)
{
	struct shard s = new_shard(*state);
	struct handoff_filter filter = {.space = s.space, .from = STR("boss"), .untold = true};
	struct handoff_row h, untold[4];
	int64_t due_ms = 0;
	size_t count = 0;

	must(store_begin(s.c));
	send(&s, "first");
	send(&s, "second");
	must(store_handoff_get(s.c, s.space, 1, &s.f->arena, &h));
	move(&s, &h, HANDOFF_PARKED);
	must(store_commit(s.c));
	reopen(&s);
	must(store_begin(s.c));
	must(store_handoff_next(s.c, s.agent, false, &s.f->arena, &h));
	assert_int_equal(h.num, 2);
	must(store_handoff_next_due(s.c, &due_ms));
	assert_int_equal(due_ms, T0 + 15000);
	must(store_handoffs(s.c, &filter, 0, 4, &s.f->arena, untold, &count));
	assert_int_equal(count, 1);
	assert_int_equal(untold[0].num, 1);
	move(&s, &h, HANDOFF_LEASED);
	store_rollback(s.c);
	must(store_begin(s.c));
	must(store_handoff_next(s.c, s.agent, false, &s.f->arena, &h));
	assert_int_equal(h.num, 2);
	assert_int_equal(h.state, HANDOFF_QUEUED);
	store_rollback(s.c);
	store_close(s.c);
}

static void what_is_pruned_leaves_the_order(void **state)
{
	struct shard s = new_shard(*state);
	int64_t due_ms = 0, handoffs = 0;
	struct handoff_row h;

	must(store_begin(s.c));
	send(&s, "first");
	send(&s, "second");
	must(store_commit(s.c));
	must(store_begin(s.c));
	must(store_envelope_prune(s.c, s.space, 1, &handoffs));
	assert_int_equal(handoffs, 1);
	must(store_handoff_next(s.c, s.agent, false, &s.f->arena, &h));
	assert_int_equal(h.num, 2);
	must(store_handoff_due(s.c, T0 + 20000, &s.f->arena, &h));
	assert_int_equal(h.num, 2);
	store_rollback(s.c);
	must(store_begin(s.c));
	must(store_handoff_next(s.c, s.agent, false, &s.f->arena, &h));
	assert_int_equal(h.num, 1);
	must(store_handoff_next_due(s.c, &due_ms));
	assert_int_equal(due_ms, T0 + 15000);
	store_rollback(s.c);
	store_close(s.c);
}

static void who_reads_beside_the_writer_sees_what_is_committed_and_no_more(void **state)
{
	struct shard s = new_shard(*state);
	struct store_conn *reader = open_shard(s.f, STORE_READ);
	struct arena *arena = &s.f->arena;
	struct space_row space;
	struct handoff_row h;

	store_share(reader, s.c);
	must(store_begin(s.c));
	send(&s, "first");
	must(store_commit(s.c));
	must(store_handoff_get(reader, s.space, 1, arena, &h));
	must(store_space_get(reader, s.space, arena, &space));
	assert_int_equal(space.bytes, 2);
	must(store_begin(s.c));
	move(&s, &h, HANDOFF_LEASED);
	send(&s, "second");
	must(store_handoff_get(reader, s.space, 1, arena, &h));
	assert_int_equal(h.state, HANDOFF_QUEUED);
	assert_int_equal(store_handoff_get(reader, s.space, 2, arena, &h), STORE_NOT_FOUND);
	must(store_space_get(reader, s.space, arena, &space));
	assert_int_equal(space.bytes, 2);
	must(store_commit(s.c));
	must(store_handoff_get(reader, s.space, 1, arena, &h));
	assert_int_equal(h.state, HANDOFF_LEASED);
	must(store_handoff_get(reader, s.space, 2, arena, &h));
	must(store_space_get(reader, s.space, arena, &space));
	assert_int_equal(space.bytes, 4);
	store_close(reader);
	store_close(s.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_database(a_cycle_waits_for_nothing_but_its_commits),
		with_database(an_envelope_for_many_new_agents_is_sent_in_one_go),
		with_database(all_of_a_batch_goes_out_in_one_flight),
		with_database(a_wrong_guess_undoes_its_transaction_and_is_not_made_again),
		with_database(what_somebody_has_removed_meanwhile_is_noticed_by_the_commit),
		with_database(what_is_open_is_known_again_after_a_restart),
		with_database(what_is_pruned_leaves_the_order),
		with_database(who_reads_beside_the_writer_sees_what_is_committed_and_no_more),
	};

	if (getenv("SPINE_TEST_POSTGRES") == NULL) {
		printf("no PostgreSQL: scripts/with-postgres starts one\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
