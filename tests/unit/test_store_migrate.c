/* A store of an older schema is brought up to date in place, and everything in it is found as before. */
#include "temp_store.h"

#include "store/sqlite/sqlite_internal.h"

#include <sqlite3.h>

/* The tables as they were in schema 2. */
static const char schema_2[] =
	"CREATE TABLE space ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE,"
	"  next_memory INTEGER NOT NULL,"
	"  memories INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL);"
	"CREATE TABLE memory ("
	"  id INTEGER PRIMARY KEY,"
	"  version INTEGER NOT NULL,"
	"  pinned INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  supersedes INTEGER NOT NULL DEFAULT 0,"
	"  superseded_by INTEGER NOT NULL DEFAULT 0,"
	"  forgotten_at INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE memory_version ("
	"  id INTEGER PRIMARY KEY,"
	"  memory INTEGER NOT NULL,"
	"  version INTEGER NOT NULL,"
	"  updated_at INTEGER NOT NULL,"
	"  expires_at INTEGER NOT NULL,"
	"  importance INTEGER NOT NULL,"
	"  trust INTEGER NOT NULL,"
	"  content TEXT NOT NULL,"
	"  summary TEXT,"
	"  kind TEXT NOT NULL,"
	"  tags TEXT NOT NULL,"
	"  agent TEXT,"
	"  task TEXT,"
	"  metadata TEXT NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  UNIQUE (memory, version));"
	"CREATE TABLE reply ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  key TEXT NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  status INTEGER NOT NULL,"
	"  etag TEXT,"
	"  location TEXT,"
	"  body TEXT NOT NULL,"
	"  at INTEGER NOT NULL,"
	"  UNIQUE (space, key));"
	"CREATE TABLE reply_memory ("
	"  reply INTEGER NOT NULL,"
	"  memory INTEGER NOT NULL,"
	"  PRIMARY KEY (reply, memory)) WITHOUT ROWID;"
	"CREATE INDEX reply_memory_memory ON reply_memory (memory);"
	"ALTER TABLE space ADD COLUMN guard INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE task ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));"
	"CREATE TABLE envelope ("
	"  id INTEGER PRIMARY KEY,"
	"  task INTEGER NOT NULL,"
	"  parent INTEGER NOT NULL,"
	"  hop INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  body TEXT NOT NULL);"
	"CREATE INDEX envelope_task ON envelope (task);"
	"CREATE TRIGGER envelope_is_immutable BEFORE UPDATE ON envelope BEGIN"
	"  SELECT raise(ABORT, 'an envelope is never changed'); END;"
	"CREATE TABLE receipt ("
	"  envelope INTEGER NOT NULL,"
	"  memory INTEGER NOT NULL,"
	"  agent TEXT NOT NULL,"
	"  at INTEGER NOT NULL,"
	"  PRIMARY KEY (envelope, memory, agent)) WITHOUT ROWID;"
	"CREATE TABLE agent ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  settings TEXT NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  updated_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));";

static void run_sql(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

static void put_version(struct temp_store *t, sqlite3 *db, int id, int memory, int version, const char *content)
{
	uint8_t digest[SHA256_SIZE];
	char hex[2 * SHA256_SIZE + 1];

	sha256(str_of(content), digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	run_sql(db, arena_printf(&t->arena,
				 "INSERT INTO memory_version VALUES (%d, 1 << 40 | %d, %d, 5, 0, 1, 2, '%s', NULL, "
				 "'note', '[]', "
				 "NULL, NULL, '{}', x'%s')", id, memory, version, content, hex).p);
}

/* Two memories, one of them with three versions; two tasks whose envelopes were packed in turns. */
static void make_old_store(struct temp_store *t)
{
	sqlite3 *db;

	store_close(t->c);
	assert_int_equal(remove(temp_path(t, "data/spine.db")), 0);
	assert_int_equal(sqlite3_open(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	run_sql(db, schema_2);
	run_sql(db, "INSERT INTO space VALUES (1, 'default', 3, 2, 5, 0);"
		    "INSERT INTO memory VALUES (1 << 40 | 1, 3, 0, 5, 0, 0, 0), (1 << 40 | 2, 1, 1, 5, 0, 0, 0);"
		    "INSERT INTO task VALUES (1, 1, 'first', 5), (2, 1, 'second', 5);"
		    "INSERT INTO envelope VALUES (1 << 40 | 3, 1, 0, 1, 5, zeroblob(32), '{\"n\":3}'),"
		    "  (1 << 40 | 4, 2, 0, 1, 5, zeroblob(32), '{\"n\":4}'),"
		    "  (1 << 40 | 5, 1, 3, 2, 5, zeroblob(32), '{\"n\":5}'),"
		    "  (1 << 40 | 6, 2, 4, 2, 5, zeroblob(32), '{\"n\":6}');"
		    "PRAGMA application_id = 1297305678; PRAGMA user_version = 2");
	put_version(t, db, 1, 1, 1, "one");
	put_version(t, db, 2, 2, 1, "two");
	put_version(t, db, 3, 1, 2, "one, again");
	put_version(t, db, 4, 1, 3, "one, at last");
	sqlite3_close(db);
	t->c = temp_store_open(t, STORE_WRITE);
	t->space = 1;
}

static struct memory read_memory(struct temp_store *t, uint64_t num, uint32_t version)
{
	struct memory m;

	must(store_memory_get(t->c, t->space, num, version, &t->arena, &m));
	return m;
}

static void memories_keep_their_versions_and_get_new_ones(void **state)
{
	struct temp_store *t = *state;
	struct memory list[8], next;
	size_t count;

	make_old_store(t);
	assert_str(read_memory(t, 1, 0).content, "one, at last");
	assert_str(read_memory(t, 1, 1).content, "one");
	assert_str(read_memory(t, 1, 2).content, "one, again");
	assert_str(read_memory(t, 2, 0).content, "two");
	assert_true(read_memory(t, 2, 0).pinned);
	must(store_memory_versions(t->c, t->space, 1, 0, 8, &t->arena, list, &count));
	assert_int_equal(count, 3);
	must(store_memory_scan(t->c, t->space, 0, 8, &t->arena, list, &count));
	assert_int_equal(count, 2);
	assert_str(list[0].content, "one, at last");
	next = read_memory(t, 2, 0);
	next.version = 2;
	next.content = STR("two, again");
	sha256(next.content, next.digest);
	must(store_begin(t->c));
	must(store_memory_add_version(t->c, &next));
	must(store_commit(t->c));
	assert_int_equal(temp_insert(t, t->space, "three"), 3);
	assert_str(read_memory(t, 2, 0).content, "two, again");
	assert_str(read_memory(t, 2, 1).content, "two");
	assert_str(read_memory(t, 3, 0).content, "three");
}

static void tasks_keep_their_envelopes_and_get_new_ones(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row rows[8], more = {
					     .space = 1,
					     .num = 7,
					     .task = STR("first"),
					     .parent = 5,
					     .hop = 3,
					     .created_at_ms = T0,
					     .body = STR("{}"),
					     .has_body_digest = true,
					     .body_digest = {1, 2, 3},
				     };
	struct task_row tasks[8];
	size_t count;

	make_old_store(t);
	must(store_tasks(t->c, t->space, 0, 8, &t->arena, tasks, &count));
	assert_int_equal(count, 2);
	assert_str(tasks[0].name, "second");
	assert_str(tasks[1].name, "first");
	assert_int_equal(tasks[1].envelopes, 2);
	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &more));
	more.num = 8;
	more.task = STR("third");
	more.parent = 0;
	must(store_envelope_insert(t->c, &more));
	must(store_commit(t->c));
	must(store_task_envelopes(t->c, t->space, STR("first"), 0, 8, &t->arena, rows, &count));
	assert_int_equal(count, 3);
	assert_int_equal(rows[0].num, 3);
	assert_int_equal(rows[2].num, 7);
	assert_str(rows[1].body, "{\"n\":5}");
	/* There was no digest of the body before schema 4. */
	assert_false(rows[1].has_body_digest);
	assert_true(rows[2].has_body_digest);
	assert_memory_equal(rows[2].body_digest, more.body_digest, sizeof(more.body_digest));
	must(store_tasks(t->c, t->space, 0, 8, &t->arena, tasks, &count));
	assert_int_equal(count, 3);
	assert_str(tasks[0].name, "third");
}

static void the_check_finds_nothing_wrong_and_envelopes_are_immutable_as_before(void **state)
{
	struct temp_store *t = *state;
	struct store_check counts;
	struct buf problems;
	sqlite3 *db;

	buf_init(&problems, 65536);
	make_old_store(t);
	must(store_check(t->c, &counts, &problems));
	assert_int_equal(counts.problems, 0);
	assert_int_equal(counts.versions, 4);
	assert_int_equal(counts.envelopes, 4);
	assert_int_equal(sqlite3_open(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE envelope SET body = ''", NULL, NULL, NULL), SQLITE_CONSTRAINT);
	sqlite3_close(db);
	buf_release(&problems);
}

/* An empty store of that schema, which sql fills; opened by this binary. */
static void make_store_of(struct temp_store *t, int version, const char *sql)
{
	struct buf error;
	sqlite3 *db;

	store_close(t->c);
	assert_int_equal(remove(temp_path(t, "data/spine.db")), 0);
	assert_int_equal(sqlite3_open(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	buf_init(&error, 4096);
	assert_true(sqlite_schema_migrate(db, version, &error));
	buf_release(&error);
	run_sql(db, "INSERT INTO space (id, name, next_memory, memories, created_at) VALUES (1, 'default', 1, 0, 5);"
		    "INSERT INTO agent (id, space, name, settings, created_at, updated_at) "
		    "VALUES (1, 1, 'ann', '{}', 5, 5)");
	run_sql(db, sql);
	sqlite3_close(db);
	t->c = temp_store_open(t, STORE_WRITE);
	t->space = 1;
}

#define OLD_HANDOFF \
	"INSERT INTO handoff (id, envelope, target, agent, channel, created_at, state, priority, attempt, " \
	"max_attempts, leases, due, expires_at, ack_timeout, lease_ms, changed_at, acked_at, flags) VALUES "

/* Which envelopes refer to a result was not written down before schema 10: it is read from them. */
static void results_that_envelopes_refer_to_are_found(void **state)
{
	struct temp_store *t = *state;
	struct event_row event = {.space = 1, .at_ms = T0, .kind = 1};
	struct space_row space;
	uint64_t cited[4];
	sqlite3 *db;
	size_t n;

	make_store_of(t, 9, "INSERT INTO memory (id, version, pinned, created_at) VALUES (1 << 40 | 1, 1, 0, 5), "
		      "(1 << 40 | 2, 1, 0, 5);"
		      "INSERT INTO memory_version VALUES "
		      "(1, 1 << 40 | 1, 1, 5, 0, 1, 2, 'a note', NULL, 'note', '[]', NULL, NULL, '{}', zeroblob(32)), "
		      "(2, 1 << 40 | 2, 1, 5, 0, 1, 2, 'done', NULL, 'output', '[]', NULL, NULL, '{}', zeroblob(32));"
		      "INSERT INTO task (id, space, name, created_at) VALUES (1 << 40 | 1, 1, 'task', 5);"
		      "INSERT INTO envelope (id, task, parent, hop, created_at, digest, body) VALUES "
		      "(1 << 40 | 1, 1 << 40 | 1, 0, 1, 5, zeroblob(32), "
		      "'{\"memory\":{\"refs\":[{\"id\":\"ms-1\"},{\"id\":\"ms-2\"},{\"id\":\"ms-9\"}]}}');"
		      "INSERT INTO event (id, space, at, kind, handoff, envelope, memory, attempt, value_1, value_2) "
		      "VALUES (1, 1, 5, 1, 0, 0, 0, 0, 0, 0)");
	must(store_citations(t->c, t->space, 1, 4, cited, &n));
	assert_int_equal(n, 1);
	assert_int_equal(cited[0], 2);
	must(store_space_get(t->c, t->space, &t->arena, &space));
	assert_true(space.keep.events_ms == KEEP_AS_SERVER && space.keep.handoffs_ms == KEEP_AS_SERVER);
	/* Events still leave in no other way than by retention. */
	assert_int_equal(sqlite3_open(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM event", NULL, NULL, NULL), SQLITE_CONSTRAINT);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM envelope", NULL, NULL, NULL), SQLITE_CONSTRAINT);
	sqlite3_close(db);
	must(store_begin(t->c));
	must(store_event_add(t->c, &event));
	must(store_events_prune(t->c, t->space, (int64_t[]){1, 2}, 2));
	must(store_commit(t->c));
}

/* A result was always in its row before schema 5, and nothing was handed on with it before schema 6. */
static void results_stay_where_they_were(void **state)
{
	struct temp_store *t = *state;
	struct result_row r;

	make_store_of(t, 4, OLD_HANDOFF
		      "(1 << 40 | 1, 1 << 40 | 1, 1, 1, 0, 5, 5, 5, 1, 3, 1, 0, 0, 15000, 0, 5, 5, 0);"
		      "INSERT INTO result (handoff, result, input_tokens) VALUES (1 << 40 | 1, '\"done\"', 7)");
	must(store_result_get(t->c, t->space, 1, &t->arena, &r));
	assert_str(r.result, "\"done\"");
	assert_true(r.input_tokens == 7 && r.form == RESULT_KEPT && r.memory == 0 && r.then == 0);
}

/* Places in the queue, and times for staying in it, came with schema 7. */
static void what_was_queued_is_taken_in_its_order(void **state)
{
	struct temp_store *t = *state;
	struct handoff_row h;

	make_store_of(t, 5, OLD_HANDOFF
		      "(1 << 40 | 1, 1 << 40 | 1, 1, 1, 0, 5, 0, 5, 1, 3, 0, 9, 0, 15000, 0, 5, 0, 0),"
		      "(1 << 40 | 2, 1 << 40 | 2, 1, 1, 0, 5, 0, 5, 2, 3, 0, 9, 0, 15000, 0, 5, 0, 0),"
		      "(1 << 40 | 3, 1 << 40 | 3, 1, 1, 7, 5, 0, 5, 1, 3, 0, 9, 0, 15000, 0, 5, 0, 0);"
		      "INSERT INTO target VALUES (1, 5, 3, 60000, 0)");
	must(store_handoff_next(t->c, 1, false, &t->arena, &h));
	assert_int_equal(h.num, 1);
	assert_true(h.queue_until_ms == 0 && !h.passes);
	/* What came through a channel passes the open breaker, as before. */
	must(store_handoff_next(t->c, 1, true, &t->arena, &h));
	assert_int_equal(h.num, 3);
}

/* Before schema 8 nothing was kept of what a task is about, and a name that was only used was as good as registered. */
static void tasks_are_known_by_their_newest_words_and_agents_by_how_they_came(void **state)
{
	struct temp_store *t = *state;
	struct agent_row agent;
	struct task_row row;
	size_t count;

	make_store_of(t, 7,
		      "INSERT INTO task VALUES (1 << 40 | 1, 1, 't', 5), (1 << 40 | 3, 1, 'odd', 5);"
		      "INSERT INTO envelope (id, task, parent, hop, created_at, digest, body) VALUES "
		      "(1 << 40 | 1, 1 << 40 | 1, 0, 1, 5, zeroblob(32), "
		      "'{\"budget\":{\"token_count\":40},\"task\":{\"intent\":\"all\",\"summary\":\"first\"}}'), "
		      "(1 << 40 | 2, 1 << 40 | 1, 1, 2, 5, zeroblob(32), "
		      "'{\"budget\":{\"token_count\":2},\"task\":{\"intent\":\"all\",\"summary\":\"second\"}}'), "
		      "(1 << 40 | 3, 1 << 40 | 3, 0, 1, 5, zeroblob(32), 'not JSON');"
		      "INSERT INTO agent (id, space, name, settings, created_at, updated_at) "
		      "VALUES (2, 1, 'set', '{\"max_tokens\":5}', 5, 5)");
	must(store_tasks(t->c, t->space, 0, 1, &t->arena, &row, &count));
	assert_true(row.summary.p == NULL && row.tokens == 0 && row.hops == 1);
	must(store_tasks(t->c, t->space, row.id, 1, &t->arena, &row, &count));
	assert_str(row.summary, "second");
	assert_str(row.intent, "all");
	assert_true(row.tokens == 42 && row.hops == 2 && row.envelopes == 2);
	must(store_agent_get(t->c, t->space, STR("set"), &t->arena, &agent));
	assert_true(agent.is_registered);
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &agent));
	assert_false(agent.is_registered);
}

/* Nothing was locked or waived for a task before schema 9. */
static void a_task_of_before_can_be_waived_for(void **state)
{
	struct temp_store *t = *state;
	struct waiver_row row = {.key = STR("k"), .reason = STR("why"), .by = STR("kim")}, rows[2];
	struct str locked = STR("x");
	size_t n;

	make_store_of(t, 8, "INSERT INTO task (id, space, name, created_at) VALUES (1 << 40 | 1, 1, 'a', 5)");
	must(store_space_locked(t->c, t->space, &t->arena, &locked));
	assert_null(locked.p);
	must(store_begin(t->c));
	must(store_waiver_add(t->c, t->space, STR("a"), &row));
	must(store_commit(t->c));
	must(store_waivers(t->c, t->space, STR("a"), 2, &t->arena, rows, &n));
	assert_true(n == 1 && str_is(rows[0].key, "k"));
}

/* Who waived something before schema 15 was known by their own word. */
static void a_waiver_of_before_was_checked_by_nobody(void **state)
{
	struct temp_store *t = *state;
	struct waiver_row rows[2];
	size_t n;

	make_store_of(t, 10, "INSERT INTO task (id, space, name, created_at) VALUES (1 << 40 | 1, 1, 'a', 5);"
		      "INSERT INTO waiver (id, task, key, reason, author, at) "
		      "VALUES (1, 1 << 40 | 1, 'k', 'why', 'kim', 5)");
	must(store_waivers(t->c, t->space, STR("a"), 2, &t->arena, rows, &n));
	assert_true(n == 1 && str_is(rows[0].by, "kim") && rows[0].access_key == 0);
}

/* Which key it was done with nobody has written down before schema 16. */
static void an_event_of_before_names_no_key(void **state)
{
	struct temp_store *t = *state;
	struct event_row rows[2], own = {.kind = 1, .actor = STR("ann"), .access_key = 7};
	size_t n;

	make_store_of(t, 10, "INSERT INTO event (id, space, at, kind, handoff, envelope, memory, attempt, value_1, "
		      "value_2, actor) VALUES (1, 1, 5, 1, 0, 0, 0, 0, 0, 0, 'ann')");
	own.space = t->space;
	must(store_begin(t->c));
	must(store_event_add(t->c, &own));
	must(store_commit(t->c));
	must(store_events(t->c, 0, 0, 0, 2, &t->arena, rows, &n));
	assert_true(n == 2 && str_is(rows[0].actor, "ann") && rows[0].access_key == 0 && rows[1].access_key == 7);
}

/* Which keys wrote what is forgotten nobody has written down before schema 18; from then on an event keeps its key. */
static void what_was_forgotten_before_has_no_keys(void **state)
{
	struct temp_store *t = *state;
	struct event_filter filter = {.kinds = 1 << 1, .memory = 1};
	struct event_row row, own = {.kind = 1, .memory = 1, .actor = STR("ann"), .access_key = 7};
	struct memory m;
	size_t n;

	make_store_of(t, 10, "INSERT INTO memory (id, version, pinned, created_at, forgotten_at) VALUES "
		      "(1 << 40 | 1, 1, 0, 5, 6)");
	own.space = filter.space = t->space;
	must(store_memory_get(t->c, t->space, 1, 0, &t->arena, &m));
	assert_true(m.forgotten_at_ms == 6 && m.keys.p == NULL);
	must(store_begin(t->c));
	must(store_memory_set_keys(t->c, t->space, 1, STR("7@1")));
	must(store_event_add(t->c, &own));
	must(store_events_unname(t->c, &filter, 0, own.number));
	must(store_commit(t->c));
	must(store_events(t->c, 0, 0, 0, 1, &t->arena, &row, &n));
	assert_true(n == 1 && row.actor.p == NULL && row.access_key == 7);
}

/* Events were numbered over all spaces before schema 17. */
static void a_position_of_before_means_the_same_event(void **state)
{
	struct temp_store *t = *state;
	struct event_row rows[4], own = {.kind = 1};
	int64_t last = 0, other;
	size_t n;

	make_store_of(t, 10, "INSERT INTO space (id, name, next_memory, memories, created_at) VALUES (2, 'b', 1, 0, 5);"
		      "INSERT INTO event (id, space, at, kind, handoff, envelope, memory, attempt, value_1, value_2) "
		      "VALUES (3, 1, 5, 1, 7, 0, 0, 0, 0, 0), (4, 2, 5, 1, 0, 0, 0, 0, 0, 0), "
		      "(7, 1, 9, 1, 7, 0, 0, 0, 0, 0), (8, 2, 9, 1, 0, 0, 0, 0, 0, 0)");
	own.space = t->space;
	must(store_events(t->c, t->space, 0, 3, 4, &t->arena, rows, &n));
	assert_true(n == 1 && rows[0].number == 7 && rows[0].id == 7);
	must(store_events(t->c, t->space, 7, 0, 4, &t->arena, rows, &n));
	assert_true(n == 2 && rows[0].number == 3);
	must(store_event_last(t->c, t->space, &last));
	assert_int_equal(last, 7);
	must(store_begin(t->c));
	must(store_event_add(t->c, &own));
	assert_true(own.number == 8 && own.id == 9);
	must(store_space_create(t->c, STR("new"), 5, &other));
	own.space = other;
	must(store_event_add(t->c, &own));
	assert_true(own.number == 5 * EVENT_NUMBERS_A_MS + 1 && own.id == 10);
	must(store_events_prune(t->c, t->space, (int64_t[]){3, 7}, 2));
	must(store_commit(t->c));
	must(store_events(t->c, 0, 0, 0, 4, &t->arena, rows, &n));
	assert_true(n == 4 && rows[0].id == 4 && rows[2].id == 9);
}

/* A store of before schema 11 has no keys, and lets in as before. */
static void a_store_of_before_needs_no_key(void **state)
{
	struct temp_store *t = *state;
	uint64_t next = 0;
	bool needs_key = true;

	make_store_of(t, 10, "SELECT 1");
	must(store_access_mode(t->c, &needs_key));
	assert_false(needs_key);
	must(store_access_key_next(t->c, &next));
	assert_int_equal(next, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_store_setup, temp_store_teardown)
	const struct CMUnitTest tests[] = {
		TEST(memories_keep_their_versions_and_get_new_ones),
		TEST(tasks_keep_their_envelopes_and_get_new_ones),
		TEST(results_stay_where_they_were),
		TEST(what_was_queued_is_taken_in_its_order),
		TEST(tasks_are_known_by_their_newest_words_and_agents_by_how_they_came),
		TEST(a_task_of_before_can_be_waived_for), TEST(a_waiver_of_before_was_checked_by_nobody),
		TEST(a_store_of_before_needs_no_key), TEST(an_event_of_before_names_no_key),
		TEST(what_was_forgotten_before_has_no_keys),
		TEST(a_position_of_before_means_the_same_event),
		TEST(results_that_envelopes_refer_to_are_found),
		TEST(the_check_finds_nothing_wrong_and_envelopes_are_immutable_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
