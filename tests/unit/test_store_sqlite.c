/* The SQLite engine's own promises: its files, who may read them, what it refuses to touch, what its check finds. */
#include "temp_store.h"
#include "temp_database.h"

#include <fcntl.h>
#include <sqlite3.h>

/* --- Files ---------------------------------------------------------------------------------------- */

static struct str read_file(struct temp_store *t, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *data;

	if (fd < 0)
		return STR_NULL;
	assert_int_equal(fstat(fd, &st), 0);
	data = arena_alloc(&t->arena, (size_t)st.st_size + 1);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	return (struct str){data, (size_t)st.st_size};
}

static const char *data_path(struct temp_store *t, const char *name)
{
	return arena_printf(&t->arena, "%s/%s", t->dir, name).p;
}

static void run_sql(const char *file, const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	assert_int_equal(temp_database(file, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Most of it SQLite asks for in some versions, or some modes, only. */
static void the_layer_below_sqlite_answers_whatever_sqlite_may_ask(void **state)
{
	struct temp_store *t = *state;
	sqlite3_vfs *layer = sqlite3_vfs_find("spine"), *usual = sqlite3_vfs_find(NULL);
	sqlite3_int64 now_ms = 0, usual_ms = 0;
	char chance[2][16] = {{0}};
	sqlite3_file *file = NULL;
	double now = 0;
	int locked = -1;
	sqlite3 *db;

	assert_non_null(layer);
	assert_int_equal(layer->xRandomness(layer, 16, chance[0]), 16);
	assert_int_equal(layer->xRandomness(layer, 16, chance[1]), 16);
	assert_memory_not_equal(chance[0], chance[1], 16);
	assert_int_equal(layer->xCurrentTimeInt64(layer, &now_ms), SQLITE_OK);
	assert_int_equal(usual->xCurrentTimeInt64(usual, &usual_ms), SQLITE_OK);
	assert_true(now_ms > 0 && usual_ms - now_ms < 60000);
	assert_int_equal(layer->xCurrentTime(layer, &now), SQLITE_OK);
	assert_true(now * 86400000.0 - (double)now_ms < 60000);
	assert_int_equal(temp_database(data_path(t, "spine.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT count(*) FROM space", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file), SQLITE_OK);
	assert_true(file->pMethods->xSectorSize(file) >= 512);
	assert_int_equal(file->pMethods->xCheckReservedLock(file, &locked), SQLITE_OK);
	assert_int_equal(locked, 0);
	sqlite3_close(db);
}

static void files_are_private_whatever_the_umask(void **state)
{
	struct temp_store *t = *state;
	const char *dir = temp_path(t, "a/b/c");
	mode_t old = umask(0);
	struct store_conn *c = store_open(dir, STORE_WRITE, &t->error);
	const char *backup = temp_path(t, "backup");
	struct memory m = temp_memory(1, "x");
	struct buf kept;
	int64_t space;

	buf_init(&kept, 4096);
	assert_non_null(c);
	must(store_begin(c));
	must(store_space_create(c, STR("default"), T0, &space));
	must(store_memory_insert(c, &m));
	must(store_commit(c));
	assert_int_equal(mode_of(temp_path(t, "a")), 0700);
	assert_int_equal(mode_of(temp_path(t, "a/b")), 0700);
	assert_int_equal(mode_of(dir), 0700);
	assert_int_equal(mode_of(temp_path(t, "a/b/c/spine.db")), 0600);
	assert_int_equal(mode_of(temp_path(t, "a/b/c/spine.db-wal")), 0600);
	assert_int_equal(mode_of(temp_path(t, "a/b/c/spine.db-shm")), 0600);
	assert_int_equal(mode_of(temp_path(t, "a/b/c/lock")), 0600);
	must(store_backup(c, backup, &t->error));
	assert_int_equal(mode_of(backup), 0600);
	store_close(c);
	must(store_restore(temp_path(t, "d"), backup, false, &kept, &t->error));
	assert_int_equal(mode_of(temp_path(t, "d")), 0700);
	assert_int_equal(mode_of(temp_path(t, "d/spine.db")), 0600);
	umask(old);
	buf_release(&kept);
}

static void opening_makes_a_readable_store_private_again(void **state)
{
	struct temp_store *t = *state;

	store_close(t->c);
	assert_int_equal(chmod(data_path(t, "spine.db"), 0644), 0);
	t->c = temp_store_open(t, STORE_WRITE);
	assert_int_equal(mode_of(data_path(t, "spine.db")), 0600);
}

static void a_reader_makes_no_store(void **state)
{
	struct temp_store *t = *state;
	const char *dir = temp_path(t, "nothing");

	assert_null(store_open(dir, STORE_READ, &t->error));
	assert_true(t->error.len > 0);
	assert_int_not_equal(access(dir, F_OK), 0);
}

/* A word that is in no file of the data directory. */
static void assert_nowhere(struct temp_store *t, const char *word)
{
	static const char *const names[] = {"spine.db", "spine.db-wal", "spine.db-journal"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str data = read_file(t, data_path(t, names[i]));

		if (data.p && memmem(data.p, data.n, word, strlen(word)))
			fail_msg("%s still holds \"%s\"", names[i], word);
	}
}

static void assert_somewhere(struct temp_store *t, const char *word)
{
	struct str db = read_file(t, data_path(t, "spine.db")), wal = read_file(t, data_path(t, "spine.db-wal"));

	assert_true((db.p && memmem(db.p, db.n, word, strlen(word))) || (wal.p && memmem(wal.p, wal.n, word,
			strlen(word))));
}

/* Text long enough to spill onto pages of its own, which must be overwritten, too. */
static char *long_text(const char *word, size_t repeat)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	for (size_t i = 0; i < repeat; i++)
		buf_printf(&text, "%s %zu; ", word, i);
	return buf_take(&text);
}

static void what_is_forgotten_is_gone_from_every_file(void **state)
{
	struct temp_store *t = *state;
	char *content = long_text("zqcontent", 3000), *version2 = long_text("zqsecond", 5);
	struct memory m = temp_memory(t->space, content);
	struct kept_reply reply = {.status = 201, .body = str_of(content), .etag = STR("\"ms-1@1\"")};
	struct store_conn *reader = temp_store_open(t, STORE_READ);
	struct memory r;

	m.summary = STR("zqsummary");
	m.kind = STR("zqkind");
	m.tags = STR("[\"zqtag\"]");
	m.agent = STR("zqagent");
	m.task = STR("zqtask");
	m.metadata = STR("{\"zqkey\":1}");
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_reply_put(t->c, t->space, STR("key"), &reply, &m.num, 1));
	must(store_commit(t->c));
	m.version = 2;
	m.content = str_of(version2);
	must(store_begin(t->c));
	must(store_memory_add_version(t->c, &m));
	must(store_commit(t->c));
	temp_insert(t, t->space, "zqother stays");
	must(store_memory_get(reader, t->space, m.num, 0, &t->arena, &r));
	assert_somewhere(t, "zqcontent");
	assert_somewhere(t, "zqsecond");

	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, m.num, T0 + 1));
	must(store_commit(t->c));
	/* While the store is open, and after it was closed. */
	for (int i = 0; i < 2; i++) {
		assert_nowhere(t, "zqcontent");
		assert_nowhere(t, "zqsecond");
		assert_nowhere(t, "zqsummary");
		assert_nowhere(t, "zqkind");
		assert_nowhere(t, "zqtag");
		assert_nowhere(t, "zqagent");
		assert_nowhere(t, "zqtask");
		assert_nowhere(t, "zqkey");
		assert_somewhere(t, "zqother");
		if (i == 0) {
			store_close(reader);
			store_close(t->c);
		}
	}
	t->c = temp_store_open(t, STORE_WRITE);
	free(content);
	free(version2);
}

/* A reader in the middle of its work keeps the old pages alive; they go with a later commit. */
static void what_a_reader_still_held_is_gone_after_a_later_commit(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "zqcontent");
	sqlite3_stmt *s;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(data_path(t, "spine.db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT content FROM memory_version", -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 1));
	must(store_commit(t->c));
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "zqcontent");
	sqlite3_finalize(s);
	sqlite3_close(db);
	temp_insert(t, t->space, "another");
	assert_nowhere(t, "zqcontent");
}

/* Not even somebody with the file in his hands changes it by mistake. */
static void an_event_is_never_changed_or_removed(void **state)
{
	struct temp_store *t = *state;
	static const char *const attempts[] = {
		"UPDATE event SET actor = 'nobody'", "UPDATE event SET actor = NULL", "UPDATE event SET note = 'x'",
		"UPDATE event SET number = 9", "UPDATE event SET access_key = 8", "UPDATE event SET access_key = 0",
		"DELETE FROM event", "DELETE FROM event WHERE id = 1",
		"INSERT INTO event SELECT * FROM event WHERE true ON CONFLICT (id) DO UPDATE SET actor = 'nobody'",
	};
	struct event_row e = {.space = t->space, .kind = 1, .actor = STR("ann"), .access_key = 7};
	sqlite3 *db;
	size_t n;

	must(store_begin(t->c));
	must(store_event_add(t->c, &e));
	must(store_commit(t->c));
	store_close(t->c);
	t->c = NULL;
	assert_int_equal(temp_database(data_path(t, "spine.db"), &db), SQLITE_OK);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if ((sqlite3_exec(db, attempts[i], NULL, NULL, NULL) & 0xff) != SQLITE_CONSTRAINT)
			fail_msg("not refused: %s", attempts[i]);
	sqlite3_close(db);
	t->c = temp_store_open(t, STORE_WRITE);
	must(store_events(t->c, 0, 0, 0, 1, &t->arena, &e, &n));
	assert_true(n == 1 && str_is(e.actor, "ann") && e.access_key == 7);
}

/* --- Refused, untouched --------------------------------------------------------------------------- */

/* Opening must fail with these words and leave every byte and the mode of the file as they are. */
static void assert_refused(struct temp_store *t, const char *words)
{
	struct str before = read_file(t, data_path(t, "spine.db")), wal = read_file(t, data_path(t, "spine.db-wal")),
		after;
	mode_t mode = mode_of(data_path(t, "spine.db"));

	assert_true(before.n > 0);
	for (int i = 0; i < 2; i++) {
		buf_clear(&t->error);
		assert_null(store_open(t->dir, i ? STORE_READ : STORE_WRITE, &t->error));
		if (strstr(t->error.data, words) == NULL)
			fail_msg("\"%s\" is not in: %s", words, t->error.data);
	}
	after = read_file(t, data_path(t, "spine.db"));
	assert_true(str_eq(before, after));
	assert_int_equal(mode_of(data_path(t, "spine.db")), mode);
	after = read_file(t, data_path(t, "spine.db-wal"));
	assert_true(str_eq(wal, after));
}

/* Puts the file back, so that the teardown finds a store. */
static void start_anew(struct temp_store *t)
{
	unlink(data_path(t, "spine.db"));
	unlink(data_path(t, "spine.db-wal"));
	unlink(data_path(t, "spine.db-extent"));
	t->c = temp_store_open(t, STORE_WRITE);
}

static void a_newer_store_is_refused_by_name_and_left_untouched(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "a");
	store_close(t->c);
	run_sql(data_path(t, "spine.db"), "PRAGMA user_version = 77");
	assert_int_equal(chmod(data_path(t, "spine.db"), 0640), 0);
	assert_refused(t, "schema 77");
	start_anew(t);
}

/* A newer server was killed: its log is still there, and nobody but a newer server may apply it. */
static void a_newer_store_with_a_log_is_left_untouched(void **state)
{
	struct temp_store *t = *state;
	const char *db = data_path(t, "spine.db"), *wal = data_path(t, "spine.db-wal");
	struct str db_bytes, wal_bytes;
	sqlite3 *writer;
	int fd;

	store_close(t->c);
	assert_int_equal(temp_database(db, &writer), SQLITE_OK);
	assert_int_equal(sqlite3_exec(writer, "PRAGMA user_version = 77; CREATE TABLE newer (x)", NULL, NULL, NULL),
			 SQLITE_OK);
	db_bytes = read_file(t, db);
	wal_bytes = read_file(t, wal);
	sqlite3_close(writer);
	assert_true(wal_bytes.n > 0);
	fd = open(db, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, db_bytes.p, db_bytes.n), db_bytes.n);
	close(fd);
	fd = open(wal, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, wal_bytes.p, wal_bytes.n), wal_bytes.n);
	close(fd);
	assert_refused(t, "schema 77");
	start_anew(t);
}

static void another_programs_database_is_refused_and_left_untouched(void **state)
{
	struct temp_store *t = *state;

	store_close(t->c);
	unlink(data_path(t, "spine.db"));
	run_sql(data_path(t, "spine.db"), "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
	assert_refused(t, "not one of Memory Spine");
	start_anew(t);
}

static void a_file_that_is_no_database_is_refused_and_left_untouched(void **state)
{
	struct temp_store *t = *state;
	FILE *f;

	store_close(t->c);
	f = fopen(data_path(t, "spine.db"), "w");
	for (int i = 0; i < 1000; i++)
		fputs("this is a letter to my aunt\n", f);
	fclose(f);
	assert_refused(t, "not a database");
	start_anew(t);
}

static void an_empty_file_becomes_a_store(void **state)
{
	struct temp_store *t = *state;

	store_close(t->c);
	unlink(data_path(t, "spine.db"));
	unlink(data_path(t, "spine.db-extent"));
	fclose(fopen(data_path(t, "spine.db"), "w"));
	t->c = temp_store_open(t, STORE_WRITE);
	assert_int_equal(temp_space(t, "default"), 1);
}

static void a_directory_that_cannot_be_made_is_named(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "file");

	fclose(fopen(file, "w"));
	assert_null(store_open(temp_path(t, "file/below"), STORE_WRITE, &t->error));
	assert_non_null(strstr(t->error.data, file));
}

/* --- Check ---------------------------------------------------------------------------------------- */

/* What the check says after this was done to the file behind the store's back. */
static void assert_check_finds(struct temp_store *t, const char *sql, const char *words)
{
	struct store_conn *c;
	struct store_check result = {0};
	struct buf problems;

	buf_init(&problems, 65536);
	store_close(t->c);
	run_sql(data_path(t, "spine.db"), sql);
	c = temp_store_open(t, STORE_READ);
	must(store_check(c, &result, &problems));
	assert_true(result.problems > 0);
	if (strstr(problems.data, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, problems.data);
	store_close(c);
	buf_release(&problems);
	t->c = temp_store_open(t, STORE_WRITE);
}

static void a_check_finds_changed_content(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	temp_insert(t, t->space, "two");
	assert_check_finds(t, "UPDATE memory_version SET content = 'too' WHERE content = 'two'",
			   "ms-2@1: the content does not match its digest");
}

static void a_check_finds_a_wrong_count(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	assert_check_finds(t, "UPDATE space SET memories = 5", "space default counts 5 memories, but has 1");
}

static void a_check_finds_a_sequence_that_would_repeat(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	temp_insert(t, t->space, "two");
	assert_check_finds(t, "UPDATE space SET next_memory = 2", "space default would give the number 2 again");
}

static void a_check_finds_a_missing_version(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	assert_check_finds(t, "DELETE FROM memory_version", "ms-1: version 1 is missing");
}

static void a_check_finds_text_of_the_forgotten(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	assert_check_finds(t, "UPDATE memory SET forgotten_at = 1", "ms-1 was forgotten, but version 1 is still there");
}

static void a_check_finds_versions_of_no_memory(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "one");
	assert_check_finds(t, "DELETE FROM memory; UPDATE space SET memories = 0",
			   "version 1 of ms-1 belongs to no memory");
}

/* Some pages of text. */
static void fill(struct temp_store *t)
{
	must(store_begin(t->c));
	for (int i = 0; i < 200; i++) {
		struct memory m =
			temp_memory(t->space, "some text that fills a page after a while, so that there are a few");

		must(store_memory_insert(t->c, &m));
	}
	must(store_commit(t->c));
}

/* Fills a page, counted from the end, with what no page looks like. */
static void overwrite_page(const char *path, int from_end)
{
	char *garbage = mem_alloc(4096);
	struct stat st;
	int fd = open(path, O_WRONLY);

	assert_int_equal(fstat(fd, &st), 0);
	memset(garbage, 0xa5, 4096);
	assert_int_equal(pwrite(fd, garbage, 4096, st.st_size - from_end * 4096), 4096);
	close(fd);
	free(garbage);
}

static void a_check_finds_envelopes_of_no_task(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = {.space = t->space, .num = 4, .task = STR("task"), .body = STR("{}")};

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_commit(t->c));
	assert_check_finds(t, "DELETE FROM task", "env-4 belongs to no task");
}

/* One handoff with a result, and a subscriber. */
static void fill_delivery(struct temp_store *t)
{
	struct envelope_row envelope = {.space = t->space, .num = 4, .task = STR("task"), .body = STR("{}")};
	struct handoff_row h = {.space = t->space,
				.envelope = 4,
				.created_at_ms = T0,
				.state = HANDOFF_LEASED,
				.attempt = 1,
				.due_ms = T0 + 5};
	struct channel_row channel;

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &envelope));
	must(store_agent_id(t->c, t->space, STR("ann"), true, T0, &h.target));
	must(store_agent_id(t->c, t->space, STR("bob"), true, T0, &h.agent));
	must(store_channel_put(t->c, t->space, STR("news"), STR_NULL, T0));
	must(store_channel_get(t->c, t->space, STR("news"), &t->arena, &channel));
	must(store_subscriber_put(t->c, channel.id, h.target, T0));
	h.channel = channel.id;
	must(store_handoff_insert(t->c, &h));
	must(store_result_put(t->c, t->space, h.num, &(struct result_row){.result = STR("{}")}));
	must(store_target_put(t->c, h.agent, &(struct target_row){.failures = 1}));
	must(store_commit(t->c));
}

static void a_check_finds_what_a_handoff_lost(void **state)
{
	static const struct {
		const char *sql, *words;
	} cases[] = {
		{"DROP TRIGGER envelope_is_pruned_only; DELETE FROM envelope", "ho-1 is of env-4, which is not there"},
		{"DELETE FROM agent WHERE name = 'ann'", "ho-1 is for an agent that is not there"},
		{"DELETE FROM agent WHERE name = 'bob'", "ho-1 is for an agent that is not there"},
		{"DELETE FROM agent WHERE name = 'bob'", "which is not there"},
		{"DELETE FROM channel", "ho-1 was published in a channel that is not there"},
		{"DELETE FROM channel", "has subscribed to channel 1; one of them is not there"},
		{"UPDATE handoff SET due = 0", "ho-1 is in state 2 and due at 0"},
		{"UPDATE handoff SET state = 6, due = 5", "ho-1 is in state 6 and due at 5"},
		{"UPDATE handoff SET state = 9, due = 0", "ho-1 is in state 9"},
		{"DROP TRIGGER handoff_is_pruned_only; DELETE FROM handoff", "a result belongs to ho-1, which "
			"is not there"},
		{"UPDATE result SET memory = 7", "the result of ho-1 is ms-7, which is not there"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct temp_store *t = *state;

		fill_delivery(t);
		assert_check_finds(t, cases[i].sql, cases[i].words);
		temp_store_release(t);
		temp_store_init(t);
	}
}

static void a_check_finds_a_damaged_page(void **state)
{
	struct temp_store *t = *state;
	struct store_check result = {0};
	enum store_status status;
	struct store_conn *c;
	struct buf problems;

	fill(t);
	store_close(t->c);
	overwrite_page(data_path(t, "spine.db"), 3);
	buf_init(&problems, 1 << 20);
	c = temp_store_open(t, STORE_READ);
	status = store_check(c, &result, &problems);
	assert_true(status != STORE_OK || result.problems > 0);
	assert_true(problems.len > 0);
	store_close(c);
	buf_release(&problems);
	start_anew(t);
}

/* --- Restore -------------------------------------------------------------------------------------- */

static void assert_restore_refuses(struct temp_store *t, const char *file, const char *words)
{
	struct str before = read_file(t, data_path(t, "spine.db"));
	struct buf kept;

	buf_init(&kept, 4096);
	buf_clear(&t->error);
	assert_int_not_equal(store_restore(t->dir, file, true, &kept, &t->error), STORE_OK);
	if (strstr(t->error.data, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, t->error.data);
	assert_int_equal(kept.len, 0);
	assert_true(str_eq(read_file(t, data_path(t, "spine.db")), before));
	buf_release(&kept);
}

static void a_restore_takes_nothing_but_a_whole_backup(void **state)
{
	struct temp_store *t = *state;
	const char *good = temp_path(t, "good"), *bad = temp_path(t, "bad");
	struct store_conn *reader;
	struct store_info info;
	FILE *f;

	fill(t);
	must(store_backup(t->c, good, &t->error));
	store_close(t->c);
	reader = temp_store_open(t, STORE_READ);

	assert_restore_refuses(t, temp_path(t, "absent"), "absent");
	fclose(fopen(bad, "w"));
	assert_restore_refuses(t, bad, "bad");
	f = fopen(bad, "w");
	fputs("this is a letter to my aunt, which is long enough to be looked at as if it were something else\n", f);
	fclose(f);
	assert_restore_refuses(t, bad, "not a database");
	unlink(bad);
	run_sql(bad, "CREATE TABLE theirs (x)");
	assert_restore_refuses(t, bad, "not one of Memory Spine");
	unlink(bad);
	must(store_info(reader, &info));
	store_close(reader);
	run_sql(good, "PRAGMA user_version = 77");
	assert_restore_refuses(t, good, "schema 77");
	run_sql(good, arena_printf(&t->arena, "PRAGMA user_version = %d", info.schema).p);
	overwrite_page(good, 3);
	assert_restore_refuses(t, good, "good is damaged");
	assert_int_equal(truncate(good, 3 * 4096), 0);
	assert_restore_refuses(t, good, "good");
	t->c = temp_store_open(t, STORE_WRITE);
}

static void a_backup_may_have_any_name(void **state)
{
	static const char *const names[] = {"a b", "a?b", "a%41b", "a#b", "ä&mode=rw"};
	struct temp_store *t = *state;
	struct buf kept;

	temp_insert(t, t->space, "one");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *dir = arena_printf(&t->arena, "%s/restored%zu", t->root, i).p;

		buf_init(&kept, 4096);
		buf_clear(&t->error);
		must(store_backup(t->c, temp_path(t, names[i]), &t->error));
		assert_int_equal(access(temp_path(t, names[i]), F_OK), 0);
		if (store_restore(dir, temp_path(t, names[i]), false, &kept, &t->error) != STORE_OK)
			fail_msg("%s: %s", names[i], t->error.data);
		buf_release(&kept);
	}
}

static void two_restores_in_a_moment_keep_both_stores(void **state)
{
	struct temp_store *t = *state;
	const char *good = temp_path(t, "good");
	struct buf first, second;

	buf_init(&first, 4096);
	buf_init(&second, 4096);
	temp_insert(t, t->space, "one");
	must(store_backup(t->c, good, &t->error));
	store_close(t->c);
	must(store_restore(t->dir, good, true, &first, &t->error));
	must(store_restore(t->dir, good, true, &second, &t->error));
	assert_string_not_equal(first.data, second.data);
	assert_int_equal(access(first.data, F_OK), 0);
	assert_int_equal(access(second.data, F_OK), 0);
	t->c = temp_store_open(t, STORE_WRITE);
	buf_release(&first);
	buf_release(&second);
}

/* A log that lost its database must not be applied to the one that is put in its place. */
static void a_log_that_was_left_behind_is_not_applied_to_the_restored_store(void **state)
{
	struct temp_store *t = *state;
	const char *good = temp_path(t, "good"), *wal = data_path(t, "spine.db-wal");
	struct str bytes;
	struct memory m;
	struct buf kept;
	int fd;

	buf_init(&kept, 4096);
	temp_insert(t, t->space, "one");
	must(store_backup(t->c, good, &t->error));
	temp_insert(t, t->space, "after the backup");
	bytes = read_file(t, wal);
	assert_true(bytes.n > 0);
	store_close(t->c);
	unlink(data_path(t, "spine.db"));
	fd = open(wal, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
	close(fd);
	if (store_restore(t->dir, good, true, &kept, &t->error) != STORE_OK)
		fail_msg("%s", t->error.data);
	t->c = temp_store_open(t, STORE_WRITE);
	must(store_memory_get(t->c, t->space, 1, 0, &t->arena, &m));
	assert_int_equal(store_memory_get(t->c, t->space, 2, 0, &t->arena, &m), STORE_NOT_FOUND);
	buf_release(&kept);
}

int main(void)
{
	const struct CMUnitTest sqlite_engine[] = {
		with_store(the_layer_below_sqlite_answers_whatever_sqlite_may_ask),
		with_store(files_are_private_whatever_the_umask),
		with_store(opening_makes_a_readable_store_private_again),
		with_store(a_reader_makes_no_store),
		with_store(what_is_forgotten_is_gone_from_every_file),
		with_store(what_a_reader_still_held_is_gone_after_a_later_commit),
		with_store(an_event_is_never_changed_or_removed),
		with_store(a_newer_store_is_refused_by_name_and_left_untouched),
		with_store(a_newer_store_with_a_log_is_left_untouched),
		with_store(another_programs_database_is_refused_and_left_untouched),
		with_store(a_file_that_is_no_database_is_refused_and_left_untouched),
		with_store(an_empty_file_becomes_a_store),
		with_store(a_directory_that_cannot_be_made_is_named),
		with_store(a_check_finds_changed_content),
		with_store(a_check_finds_a_wrong_count),
		with_store(a_check_finds_a_sequence_that_would_repeat),
		with_store(a_check_finds_a_missing_version),
		with_store(a_check_finds_text_of_the_forgotten),
		with_store(a_check_finds_versions_of_no_memory),
		with_store(a_check_finds_envelopes_of_no_task),
		with_store(a_check_finds_what_a_handoff_lost),
		with_store(a_check_finds_a_damaged_page),
		with_store(a_restore_takes_nothing_but_a_whole_backup),
		with_store(a_backup_may_have_any_name),
		with_store(two_restores_in_a_moment_keep_both_stores),
		with_store(a_log_that_was_left_behind_is_not_applied_to_the_restored_store),
	};

	return cmocka_run_group_tests(sqlite_engine, NULL, NULL);
}
