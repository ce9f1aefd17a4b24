/* engine/engine.h: several engines in one process, each over its own store; with threads and without. */
#include "temp_store.h"

#include "engine/engine.h"
#include "engine/envelope/pack.h"
#include "engine/memory/memory_search.h"
#include "engine/memory/memory_store.h"
#include "engine/delivery/receive.h"
#include "engine/delivery/send.h"
#include "engine/space_delete.h"
#include "engine/transfer/transfer.h"

#include <malloc.h>
#include <semaphore.h>

enum { ENGINES = 3, SPACES = 40 };

/* --- An owner: operations of a test, each waited for --- */

struct owned {
	sem_t done;
	bool is_stepped;
	struct arena arena;
	int waits;
};

static void post(struct op *op, void (*fn)(void *op))
{
	fn(op);
}

static void finish(struct op *op)
{
	sem_post(&((struct owned *)op->ctx)->done);
}

static bool is_gone(const struct op *op)
{
	(void)op;
	return false;
}

static void keep(struct op *op, struct kept_reply *ret)
{
	ret->status = 201;
	ret->body = arena_str(op->arena, STR("kept"));
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	(void)wait_ms;
	((struct owned *)op->ctx)->waits++;
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, NULL};

static struct owned *owned_new(void)
{
	struct owned *o = mem_zalloc(sizeof(*o));

	sem_init(&o->done, 0, 0);
	arena_init(&o->arena);
	return o;
}

static void owned_free(struct owned *o)
{
	sem_destroy(&o->done);
	arena_release(&o->arena);
	free(o);
}

static void set_op(struct op *op, const struct op_kind *kind, struct engine *e, struct engine_reader *reader,
		   struct owned *o)
{
	op->kind = kind;
	op->owner = &owner;
	op->ctx = o;
	op->engine = e;
	op->reader = reader;
	op->arena = &o->arena;
	op->now_ms = T0;
	op->space_name = STR("default");
}

static bool is_done(struct owned *o)
{
	return sem_trywait(&o->done) == 0;
}

/* --- Engines --- */

static int64_t now_ms = T0;

static int64_t clock_now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static struct engine *open_engine(const char *address, bool is_stepped)
{
	static struct log log;
	struct engine_config config = {
		.data_dir = address, .log = &log, .key_ttl_ms = 60000, .max_queue = 100, .seed = 7,
		.token_entries = 1 << 10,
		.rules = alert_rules_default, .is_stepped = is_stepped, .now_ms = clock_now,
	};
	struct buf error;
	struct engine *e;

	log_init(&log, STDERR_FILENO, LOG_ERROR, LOG_TEXT);
	buf_init(&error, 4096);
	e = engine_open(&config, &error);
	if (e == NULL)
		print_error("%s\n", error.data);
	assert_non_null(e);
	buf_release(&error);
	engine_start(e);
	return e;
}

static struct engine_reader *open_reader(struct engine *e)
{
	struct engine_reader *r;
	struct buf error;

	buf_init(&error, 4096);
	r = engine_reader_open(e, &error);
	assert_non_null(r);
	buf_release(&error);
	return r;
}

static void close_engine(struct engine *e, struct engine_reader *r)
{
	engine_reader_close(r);
	engine_stop(e);
	engine_free(e);
}

/* Stores a memory, with a key where there is one; returns its number, 0 where the answer was kept from before. */
static uint64_t store_text(struct engine *e, struct engine_reader *r, const char *text, const char *key)
{
	struct owned *o = owned_new();
	struct memory_store op = {.draft = {.has = MEMORY_HAS_CONTENT, .content = str_of(text)}};
	uint64_t num;

	set_op(&op.op, &memory_store_kind, e, r, o);
	op.op.key = key ? str_of(key) : STR_NULL;
	engine_run(&op.op);
	if (e->config.is_stepped)
		engine_step(e);
	while (sem_wait(&o->done) != 0)
		;
	assert_int_equal(op.op.problem.code, P_OK);
	num = op.op.is_replayed ? 0 : op.made.num;
	owned_free(o);
	return num;
}

static size_t find_text(struct engine *e, struct engine_reader *r, const char *text)
{
	struct owned *o = owned_new();
	struct memory_search *op = mem_zalloc(sizeof(*op));
	size_t count;

	set_op(&op->op, &memory_search_kind, e, r, o);
	op->query.text = str_of(text);
	op->page.size = op->page.first_size = 10;
	op->page.time_ms = T0;
	engine_run(&op->op);
	while (sem_wait(&o->done) != 0)
		;
	assert_int_equal(op->op.problem.code, P_OK);
	count = op->count;
	free(op);
	owned_free(o);
	return count;
}

/* --- Tests --- */

static void engines_of_one_process_know_nothing_of_each_other(void **state)
{
	static const char *const words[ENGINES] = {"gateway", "invoice", "harbour"};
	struct temp_store *t = *state;
	struct engine *e[ENGINES];
	struct engine_reader *r[ENGINES];

	store_close(t->c);
	t->c = NULL;
	e[0] = open_engine("ram:test-engine-a", true);
	e[1] = open_engine("ram:test-engine-b", true);
	e[2] = open_engine(t->dir, false);
	for (int i = 0; i < ENGINES; i++)
		r[i] = open_reader(e[i]);
	for (int i = 0; i < ENGINES; i++)
		assert_int_equal(store_text(e[i], r[i], words[i], NULL), 1);
	for (int i = 0; i < ENGINES; i++)
		for (int k = 0; k < ENGINES; k++)
			assert_int_equal(find_text(e[i], r[i], words[k]), i == k);
	for (int i = 0; i < ENGINES; i++)
		close_engine(e[i], r[i]);
}

static void a_key_is_answered_once_on_every_kind_of_store(void **state)
{
	struct temp_store *t = *state;
	struct engine *e[2];

	store_close(t->c);
	t->c = NULL;
	e[0] = open_engine("ram:test-engine-key", true);
	e[1] = open_engine(t->dir, false);
	for (int i = 0; i < 2; i++) {
		struct engine_reader *r = open_reader(e[i]);

		assert_int_equal(store_text(e[i], r, "once", "key"), 1);
		assert_int_equal(store_text(e[i], r, "once", "key"), 0);
		assert_int_equal(store_text(e[i], r, "twice", NULL), 2);
		close_engine(e[i], r);
	}
}

/* What is sent to one engine reaches the receiver that waits there, in the same step, and nobody elsewhere. */
static void a_waiting_receiver_is_served_by_its_own_engine(void **state)
{
	struct engine *e[2] = {open_engine("ram:test-engine-w1", true), open_engine("ram:test-engine-w2", true)};
	struct engine_reader *r[2] = {open_reader(e[0]), open_reader(e[1])};
	struct owned *waits[2] = {owned_new(), owned_new()}, *sends = owned_new();
	struct receive receivers[2] = {{.agent = STR("worker"), .max = 1, .wait_ms = 1000},
				       {.agent = STR("worker"), .max = 1, .wait_ms = 1000}};
	struct packing *packing = mem_zalloc(sizeof(*packing));
	struct send send = {.pack = packing, .order = {.priority = -1}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		set_op(&receivers[i].op, &receive_kind, e[i], r[i], waits[i]);
		op_may_wait(&receivers[i].op, receivers[i].wait_ms);
		engine_run(&receivers[i].op);
		engine_step(e[i]);
		assert_false(is_done(waits[i]));
		assert_int_equal(waits[i]->waits, 1);
	}
	packing->draft = (struct envelope_draft){.from = STR("boss"), .to = STR("worker"), .summary = STR("do it")};
	set_op(&send.op, &send_kind, e[0], r[0], sends);
	engine_run(&send.op);
	engine_step(e[0]);
	engine_step(e[1]);
	assert_true(is_done(sends));
	assert_int_equal(send.op.problem.code, P_OK);
	assert_true(is_done(waits[0]));
	assert_int_equal(receivers[0].count, 1);
	assert_false(is_done(waits[1]));
	engine_nudge(&receivers[1].op);
	engine_step(e[1]);
	assert_true(is_done(waits[1]));
	assert_int_equal(receivers[1].count, 0);
	for (int i = 0; i < 2; i++) {
		close_engine(e[i], r[i]);
		owned_free(waits[i]);
	}
	owned_free(sends);
	free(packing);
}

/* Sends one handoff to the worker and takes it. */
static struct handoff_row hold_one(struct engine *e, struct engine_reader *r)
{
	struct owned *o = owned_new();
	struct packing *packing = arena_zalloc(&o->arena, sizeof(*packing));
	struct send send = {.pack = packing, .order = {.priority = -1}};
	struct receive receive = {.agent = STR("worker"), .max = 1};
	struct handoff_row row;

	packing->draft = (struct envelope_draft){.from = STR("boss"), .to = STR("worker"), .summary = STR("do it")};
	set_op(&send.op, &send_kind, e, r, o);
	engine_run(&send.op);
	engine_step(e);
	set_op(&receive.op, &receive_kind, e, r, o);
	op_may_wait(&receive.op, 0);
	engine_run(&receive.op);
	engine_step(e);
	assert_int_equal(receive.count, 1);
	row = receive.rows[0];
	owned_free(o);
	return row;
}

/* The envelope that hands on names the memory that the result becomes. Somebody else gives its number to another memory
 * meanwhile: the envelope is packed again, with another number, and nothing is lost or doubled. */
static void a_number_that_was_promised_and_taken_is_replaced(void **state)
{
	struct engine *e = open_engine("ram:test-engine-then", true);
	struct engine_reader *r = open_reader(e);
	struct handoff_row held = hold_one(e, r);
	struct owned *stores = owned_new(), *settles = owned_new();
	struct memory_store by_hand = {
		.draft = {.has = MEMORY_HAS_CONTENT | MEMORY_HAS_ID, .num = 1, .content = STR("mine")}};
	struct packing *packing = mem_zalloc(sizeof(*packing));
	struct then then = {.pack = packing, .order = {.priority = -1}};
	struct json result = {.type = JSON_STRING, .s = STR("the result")};
	struct settle settle = {.one = {.num = held.num, .result = &result, .then = &then}};
	struct memory m;

	(void)state;
	set_op(&by_hand.op, &memory_store_kind, e, r, stores);
	engine_run(&by_hand.op);
	settle.one.answer = (struct delivery_answer){
		.verb = VERB_COMPLETE, .lease = held.leases, .has_result = true,
		.result = {.result = STR("\"the result\"")}};
	packing->draft = (struct envelope_draft){.to = STR("reviewer"), .summary = STR("go on")};
	set_op(&settle.op, &settle_kind, e, r, settles);
	engine_run(&settle.op);
	assert_int_equal(settle.one.answer.memory->num, 1);
	engine_step(e);
	assert_true(is_done(stores) && !is_done(settles));
	engine_step(e);
	assert_true(is_done(settles));
	assert_int_equal(settle.op.preparations, 1);
	assert_int_equal(settle.op.problem.code, P_OK);
	assert_int_equal(settle.one.result_memory, 2);
	assert_int_equal(settle.one.next.envelope, packing->envelope.num);
	assert_int_equal(packing->envelope.refs[0].id.num, 2);
	assert_int_equal(store_memory_get(r->conn, held.space, 1, 0, &settles->arena, &m), STORE_OK);
	assert_true(str_is(m.content, "mine"));
	assert_int_equal(store_memory_get(r->conn, held.space, 2, 0, &settles->arena, &m), STORE_OK);
	assert_true(str_is(m.content, "the result"));
	assert_int_equal(store_text(e, r, "goes on above", NULL), 3);
	close_engine(e, r);
	owned_free(stores);
	owned_free(settles);
	free(packing);
}

/* --- Spaces that come and go --- */

static void run_in(const char *space, struct op *op)
{
	struct owned *o = op->ctx;

	op->space_name = str_of(space);
	engine_run(op);
	engine_step(op->engine);
	assert_true(is_done(o));
	assert_int_equal(op->problem.code, P_OK);
}

/* A space is used by all that remember something of it, and deleted; its rows go, too. */
static void use_and_delete(struct engine *e, struct engine_reader *r, const char *space)
{
	struct owned *o = owned_new();
	struct memory_store store = {.draft = {.has = MEMORY_HAS_CONTENT, .content = STR("a text")}};
	struct memory_search *search = arena_zalloc(&o->arena, sizeof(*search));
	struct packing *packing = arena_zalloc(&o->arena, sizeof(*packing));
	struct send send = {.pack = packing, .order = {.priority = -1}};
	struct space_delete delete = {.confirm = str_of(space)};

	set_op(&store.op, &memory_store_kind, e, r, o);
	run_in(space, &store.op);
	set_op(&search->op, &memory_search_kind, e, r, o);
	search->query.text = STR("text");
	search->page.size = search->page.first_size = 10;
	search->page.time_ms = T0;
	run_in(space, &search->op);
	assert_int_equal(search->count, 1);
	packing->draft = (struct envelope_draft){.from = STR("boss"), .to = STR("worker"), .summary = STR("do it")};
	set_op(&send.op, &send_kind, e, r, o);
	run_in(space, &send.op);
	set_op(&delete.op, &space_delete_kind, e, r, o);
	run_in(space, &delete.op);
	for (int64_t wake = engine_wake_at(e); wake && wake <= now_ms + 1000; wake = engine_wake_at(e)) {
		now_ms = wake > now_ms ? wake : now_ms;
		engine_step(e);
	}
	owned_free(o);
}

/* The heap in use after so many of them. A sanitizer's allocator says 0. */
static size_t bytes_after(struct engine *e, struct engine_reader *r, int from, int to)
{
	char name[32];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "space-%d", i);
		use_and_delete(e, r, name);
	}
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void spaces_that_are_deleted_leave_no_memory_behind(void **state)
{
	struct temp_store *t = *state;
	struct engine_reader *r;
	struct engine *e;
	size_t before, after;

	store_close(t->c);
	t->c = NULL;
	e = open_engine(t->dir, true);
	r = open_reader(e);
	before = bytes_after(e, r, 0, SPACES / 2);
	after = bytes_after(e, r, SPACES / 2, SPACES + SPACES / 2);
	/* The figures of the whole server take a kilobyte more, however many spaces there were. */
	assert_in_range(after > before ? after - before : 0, 0, SPACES * 64);
	close_engine(e, r);
}

static void run_to_its_end(struct op *op, struct engine *e, struct owned *o)
{
	engine_run(op);
	engine_step(e);
	assert_true(is_done(o));
	assert_int_equal(op->problem.code, P_OK);
}

/* An envelope gets its number when it is packed, before it is stored. Somebody imports one of that number meanwhile: it
 * is packed again, with another number. */
static void an_envelope_whose_number_was_imported_meanwhile_gets_another(void **state)
{
	struct engine *e[2] = {open_engine("ram:test-engine-out", true), open_engine("ram:test-engine-in", true)};
	struct engine_reader *r[2] = {open_reader(e[0]), open_reader(e[1])};
	struct owned *there = owned_new(), *imports = owned_new(), *packs = owned_new();
	struct pack first = {0}, second = {0};
	struct transfer_out out = {.part = TRANSFER_ENVELOPES, .limit = 10};
	struct transfer_in in = {0};

	(void)state;
	first.packing.draft = (struct envelope_draft){.to = STR("worker"), .summary = STR("there")};
	second.packing.draft = (struct envelope_draft){.to = STR("worker"), .summary = STR("here")};
	set_op(&first.op, &pack_kind, e[0], r[0], there);
	run_to_its_end(&first.op, e[0], there);
	set_op(&out.op, &transfer_out_kind, e[0], r[0], there);
	run_to_its_end(&out.op, e[0], there);
	assert_int_equal(out.rows.envelope_count, 1);
	in.rows = out.rows;
	store_text(e[1], r[1], "the space is there", NULL);
	set_op(&in.op, &transfer_in_kind, e[1], r[1], imports);
	engine_run(&in.op);
	set_op(&second.op, &pack_kind, e[1], r[1], packs);
	engine_run(&second.op);
	assert_int_equal(second.packing.envelope.num, 1);
	engine_step(e[1]);
	assert_true(is_done(imports) && !is_done(packs));
	assert_int_equal(in.op.problem.code, P_OK);
	assert_int_equal(in.imported, 1);
	engine_step(e[1]);	/* the name of the task, which is made from the number, is taken, too */
	engine_step(e[1]);
	assert_true(is_done(packs));
	assert_int_equal(second.op.problem.code, P_OK);
	assert_int_equal(second.packing.envelope.num, 2);
	for (int i = 0; i < 2; i++)
		close_engine(e[i], r[i]);
	owned_free(there);
	owned_free(imports);
	owned_free(packs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(engines_of_one_process_know_nothing_of_each_other, temp_store_setup,
						temp_store_teardown),
		cmocka_unit_test_setup_teardown(a_key_is_answered_once_on_every_kind_of_store, temp_store_setup,
						temp_store_teardown),
		cmocka_unit_test(a_waiting_receiver_is_served_by_its_own_engine),
		cmocka_unit_test(a_number_that_was_promised_and_taken_is_replaced),
		cmocka_unit_test_setup_teardown(spaces_that_are_deleted_leave_no_memory_behind, temp_store_setup,
						temp_store_teardown),
		cmocka_unit_test(an_envelope_whose_number_was_imported_meanwhile_gets_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
