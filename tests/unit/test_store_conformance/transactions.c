/* Transactions, savepoints, readers, and what stands around the verbs. */
#include "conformance.h"
#include "differential.h"
#include "show.h"

static struct memory get(struct temp_store *t, struct store_conn *c, int64_t space, uint64_t num, uint32_t version)
{
	struct memory m;

	must(store_memory_get(c, space, num, version, &t->arena, &m));
	return m;
}

static int64_t count(struct store_conn *c, int64_t space)
{
	int64_t n = -1;

	must(store_space_count(c, space, &n));
	return n;
}

static void put_reply(struct temp_store *t, int64_t space, const char *key, const char *body, int64_t at_ms,
		      const uint64_t *nums, size_t num_count)
{
	struct kept_reply reply = {.status = 201, .etag = STR("\"e\""), .body = str_of(body), .at_ms = at_ms};

	memset(reply.request_digest, 7, sizeof(reply.request_digest));
	must(store_begin(t->c));
	must(store_reply_put(t->c, space, str_of(key), &reply, nums, num_count));
	must(store_commit(t->c));
}

static bool has_reply(struct temp_store *t, int64_t space, const char *key)
{
	struct kept_reply reply;
	enum store_status status = store_reply_get(t->c, space, str_of(key), &t->arena, &reply);

	assert_true(status == STORE_OK || status == STORE_NOT_FOUND);
	return status == STORE_OK;
}

static void a_rollback_undoes_every_verb(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one"), other = temp_insert(t, t->space, "other");
	struct kept_reply reply = {.body = STR("x")};
	struct memory m = temp_memory(t->space, "new");
	int64_t id;

	put_reply(t, t->space, "kept", "kept", T0, NULL, 0);
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_space_create(t->c, STR("new"), T0, &id));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_memory_set_superseded(t->c, t->space, num, m.num));
	must(store_memory_forget(t->c, t->space, other, T0));
	must(store_reply_put(t->c, t->space, STR("key"), &reply, NULL, 0));
	must(store_reply_prune(t->c, T0 + 1, 10));
	m = get(t, t->c, t->space, num, 0);
	m.version = 2;
	must(store_memory_add_version(t->c, &m));
	store_rollback(t->c);

	m = get(t, t->c, t->space, num, 0);
	assert_int_equal(m.current_version, 1);
	assert_false(m.pinned);
	assert_int_equal(m.superseded_by, 0);
	assert_str(get(t, t->c, t->space, other, 0).content, "other");
	assert_int_equal(store_memory_get(t->c, t->space, other + 1, 0, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(store_space_find(t->c, STR("new"), &id), STORE_NOT_FOUND);
	assert_false(has_reply(t, t->space, "key"));
	assert_true(has_reply(t, t->space, "kept"));
	assert_int_equal(count(t->c, t->space), 2);
	store_rollback(t->c);	/* without a transaction: nothing */
	assert_int_equal(temp_insert(t, t->space, "next"), other + 1);
}

static void a_savepoint_undoes_its_part_alone(void **state)
{
	struct temp_store *t = *state;
	struct memory a = temp_memory(t->space, "a"), b = temp_memory(t->space, "b"), c = temp_memory(t->space, "c"), r;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &a));
	must(store_savepoint(t->c));
	must(store_memory_insert(t->c, &b));
	must(store_rollback_to(t->c));
	must(store_memory_insert(t->c, &c));
	must(store_commit(t->c));
	assert_int_equal(b.num, c.num);
	assert_str(get(t, t->c, t->space, a.num, 0).content, "a");
	assert_str(get(t, t->c, t->space, c.num, 0).content, "c");
	assert_int_equal(store_memory_get(t->c, t->space, c.num + 1, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(count(t->c, t->space), 2);
}

static void savepoints_nest(void **state)
{
	struct temp_store *t = *state;
	const char *names[] = {"outer", "middle", "inner"};
	int64_t id;

	/* The inner part is undone, the middle one kept. */
	must(store_begin(t->c));
	for (int i = 0; i < 3; i++) {
		must(store_savepoint(t->c));
		must(store_space_create(t->c, str_of(names[i]), T0, &id));
	}
	must(store_rollback_to(t->c));
	must(store_release(t->c));
	must(store_release(t->c));
	must(store_commit(t->c));
	must(store_space_find(t->c, STR("outer"), &id));
	must(store_space_find(t->c, STR("middle"), &id));
	assert_int_equal(store_space_find(t->c, STR("inner"), &id), STORE_NOT_FOUND);

	/* What was released goes with the part around it. */
	must(store_begin(t->c));
	must(store_savepoint(t->c));
	must(store_savepoint(t->c));
	must(store_space_create(t->c, STR("released"), T0, &id));
	must(store_release(t->c));
	must(store_rollback_to(t->c));
	must(store_commit(t->c));
	assert_int_equal(store_space_find(t->c, STR("released"), &id), STORE_NOT_FOUND);

	/* An undone part is over: the next undoing is that of the part around it. */
	must(store_begin(t->c));
	must(store_savepoint(t->c));
	must(store_space_create(t->c, STR("around"), T0, &id));
	must(store_savepoint(t->c));
	must(store_space_create(t->c, STR("within"), T0, &id));
	must(store_rollback_to(t->c));
	must(store_rollback_to(t->c));
	must(store_commit(t->c));
	assert_int_equal(store_space_find(t->c, STR("around"), &id), STORE_NOT_FOUND);
	assert_int_equal(store_space_find(t->c, STR("within"), &id), STORE_NOT_FOUND);
}

static void what_was_committed_is_there_after_reopening_and_what_was_not_is_gone(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "committed");
	struct memory m = temp_memory(t->space, "open"), r;
	int64_t found;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	conformance_reopen(t);
	must(store_space_find(t->c, STR("default"), &found));
	assert_int_equal(found, t->space);
	assert_str(get(t, t->c, t->space, num, 0).content, "committed");
	assert_int_equal(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(temp_insert(t, t->space, "next"), num + 1);
}

static void a_reader_never_writes(void **state)
{
	struct temp_store *t = *state;
	struct store_conn *reader = conformance_open(t, STORE_READ);
	struct memory m = temp_memory(t->space, "a"), r;
	int64_t id;

	store_begin(reader);
	assert_int_not_equal(store_memory_insert(reader, &m), STORE_OK);
	assert_true(strlen(store_error(reader)) > 0);
	assert_int_not_equal(store_space_create(reader, STR("new"), T0, &id), STORE_OK);
	store_rollback(reader);
	assert_int_equal(store_memory_get(t->c, t->space, 1, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(temp_insert(t, t->space, "the writer is not in its way"), 1);
	assert_int_equal(count(reader, t->space), 1);
	store_close(reader);
}

static void a_snapshot_within_a_transaction_leaves_it_alone(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "kept"), seen;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	assert_false(store_snapshot_begin(t->c));
	must(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &seen));
	must(store_commit(t->c));
	assert_true(store_snapshot_begin(t->c));
	assert_false(store_snapshot_begin(t->c));
	store_snapshot_end(t->c);
	must(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &seen));
	assert_str(seen.content, "kept");
}

/* --- Each verb is undone -------------------------------------------------------------------------- */

/* Everything that can be asked, as text. Borrowed from the arena. */
static const char *all_of(struct temp_store *t)
{
	struct buf text;
	const char *result;

	buf_init(&text, 1 << 22);
	show_all(&text, t->c);
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

static void fill(struct temp_store *t, uint64_t *random, int rounds)
{
	struct buf ignored;

	buf_init(&ignored, 1 << 20);
	must(store_begin(t->c));
	for (int i = 0; i < rounds; i++)
		for (size_t op = 0; op < differential_change_count; op++)
			differential_changes[op](t->c, random, &ignored);
	must(store_commit(t->c));
	buf_release(&ignored);
}

static void a_rollback_and_a_savepoint_undo_whatever_was_done(void **state)
{
	struct temp_store *t = *state;
	uint64_t random = 7;
	const char *before;
	struct buf ignored;

	buf_init(&ignored, 1 << 20);
	fill(t, &random, 12);
	before = all_of(t);
	for (size_t op = 0; op < differential_change_count; op++) {
		must(store_begin(t->c));
		must(store_savepoint(t->c));
		for (int i = 0; i < 5; i++)
			differential_changes[op](t->c, &random, &ignored);
		must(store_rollback_to(t->c));
		assert_string_equal(all_of(t), before);
		for (int i = 0; i < 5; i++)
			differential_changes[op](t->c, &random, &ignored);
		store_rollback(t->c);
		assert_string_equal(all_of(t), before);
	}
	conformance_reopen(t);
	assert_string_equal(all_of(t), before);
	buf_release(&ignored);
}

static void what_was_read_before_it_was_undone_is_not_there_afterwards(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "undone"), r;
	int64_t space, guard = 0;

	for (int i = 0; i < 2; i++) {
		must(store_begin(t->c));
		must(store_savepoint(t->c));
		m.num = 0;
		must(store_memory_insert(t->c, &m));
		must(store_space_create(t->c, STR("undone"), T0, &space));
		assert_str(get(t, t->c, t->space, m.num, 0).content, "undone");
		must(store_space_guard(t->c, space, &guard));
		if (i == 0)
			store_rollback(t->c);
		else
			must(store_rollback_to(t->c));
		assert_int_equal(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &r), STORE_NOT_FOUND);
		assert_int_equal(store_space_guard(t->c, space, &guard), STORE_NOT_FOUND);
	}
	must(store_commit(t->c));
	assert_int_equal(temp_insert(t, t->space, "another"), m.num);
	assert_str(get(t, t->c, t->space, m.num, 0).content, "another");
}

/* --- Around the verbs ----------------------------------------------------------------------------- */

static void note_event(void *ctx, const struct event_row *event)
{
	*(int64_t *)ctx = event->id;
}

static void whoever_listens_is_told_of_each_event_within_its_transaction(void **state)
{
	struct temp_store *t = *state;
	struct event_row e = {.space = t->space, .kind = 1};
	int64_t heard = 0;

	store_event_listen(t->c, note_event, &heard);
	must(store_begin(t->c));
	must(store_event_add(t->c, &e));
	assert_int_equal(heard, e.id);
	store_rollback(t->c);
	store_event_listen(t->c, NULL, NULL);
	must(store_begin(t->c));
	heard = 0;
	must(store_event_add(t->c, &e));
	must(store_commit(t->c));
	assert_int_equal(heard, 0);
}

static void a_store_says_what_it_is_and_a_second_writer_is_kept_away(void **state)
{
	struct temp_store *t = *state;
	struct store_info info = {0};

	must(store_info(t->c, &info));
	assert_true(strlen(info.engine) > 0);
	assert_false(store_is_missing(t->dir));
	assert_null(store_open(t->dir, STORE_WRITE, &t->error));
	assert_true(t->error.len > 0);
}

static void rows_may_be_shared_whatever_the_engine(void **state)
{
	struct temp_store *t = *state;
	struct store_conn *reader = conformance_open(t, STORE_READ);
	uint64_t num = temp_insert(t, t->space, "a");

	store_share(reader, t->c);
	store_set_direct(reader, true);
	assert_str(get(t, reader, t->space, num, 0).content, "a");
	store_close(reader);
	store_set_cache(t->c, 1 << 20);
	store_cache_bytes(t->c);
}

static const struct CMUnitTest transactions[] = {
	with_engine(a_rollback_undoes_every_verb),
	with_engine(a_savepoint_undoes_its_part_alone),
	with_engine(savepoints_nest),
	with_engine(what_was_committed_is_there_after_reopening_and_what_was_not_is_gone),
	with_engine(a_reader_never_writes),
	with_engine(a_snapshot_within_a_transaction_leaves_it_alone),
	with_engine(a_rollback_and_a_savepoint_undo_whatever_was_done),
	with_engine(what_was_read_before_it_was_undone_is_not_there_afterwards),
	with_engine(whoever_listens_is_told_of_each_event_within_its_transaction),
	with_engine(a_store_says_what_it_is_and_a_second_writer_is_kept_away),
	with_engine(rows_may_be_shared_whatever_the_engine),
};

CONFORMANCE_PART(transactions);
