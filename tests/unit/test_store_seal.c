/* store/sqlite/sqlite_seal.c, sqlite_convert.c and what sqlite_file.c verifies. tests/wire/test_damage.py damages whole
 * stores.
 */
#include "temp_store.h"
#include "temp_database.h"

#include "store/embedded.h"
#include "store/sqlite/sqlite_internal.h"

#include <fcntl.h>

static void every_changed_bit_of_a_page_and_another_number_change_its_seal(void **state)
{
	unsigned char page[SQLITE_PAGE_BYTES];

	(void)state;
	for (int i = 0; i < SQLITE_PAGE_BYTES; i++)
		page[i] = (unsigned char)(i * 7 + i / 256);
	sqlite_seal_put(page, 42);
	assert_true(sqlite_seal_holds(page, 42));
	for (int bit = 0; bit < 8 * SQLITE_PAGE_BYTES; bit++) {
		page[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_false(sqlite_seal_holds(page, 42));
		page[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	for (uint32_t number = 1; number < 100000; number++)
		assert_int_equal(sqlite_seal_holds(page, number), number == 42);
}

/* The format is on disks: it never changes. tests/database.py computes the same in Python. */
static void the_seal_of_a_page_is_that_of_the_format(void **state)
{
	unsigned char page[SQLITE_PAGE_BYTES];

	(void)state;
	for (int i = 0; i < SQLITE_PAGE_BYTES; i++)
		page[i] = (unsigned char)i;
	assert_true(sqlite_seal_of(page, 4088, 1) == UINT64_C(0xe49310d08d558469));
	assert_true(sqlite_seal_of(page, 24, 0) == UINT64_C(0xbf24dc8c4959897b));
}

static int reserved(struct temp_store *t)
{
	int fd = open(temp_path(t, "data/spine.db"), O_RDONLY);
	unsigned char header[100];

	assert_int_equal(pread(fd, header, sizeof(header), 0), sizeof(header));
	close(fd);
	return header[20];
}

static void assert_sound(struct temp_store *t, int64_t memories)
{
	struct store_check counts;
	struct buf problems;

	buf_init(&problems, 65536);
	must(store_check(t->c, &counts, &problems));
	if (counts.problems)
		fail_msg("%s", problems.data);
	assert_int_equal(counts.memories, memories);
	buf_release(&problems);
}

/* A store as the server before this one left it, with some rows. */
static void make_old(struct temp_store *t)
{
	struct buf error;
	sqlite3 *db;

	store_close(t->c);
	t->c = NULL;
	assert_int_equal(remove(temp_path(t, "data/spine.db")), 0);
	assert_int_equal(remove(temp_path(t, "data/spine.db-extent")), 0);
	assert_int_equal(sqlite3_open(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	buf_init(&error, 4096);
	assert_true(sqlite_schema_migrate(db, SQLITE_SCHEMA_SEALED - 1, &error));
	buf_release(&error);
	assert_int_equal(sqlite3_exec(db, "INSERT INTO space (id, name, next_memory, memories, created_at) "
				      "VALUES (1, 'default', 1, 0, 5)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(reserved(t), 0);
}

static void a_store_without_seals_gets_them_when_it_is_opened(void **state)
{
	struct temp_store *t = *state;

	make_old(t);
	t->c = temp_store_open(t, STORE_WRITE);
	assert_int_equal(reserved(t), SQLITE_SEAL_BYTES);
	assert_int_not_equal(access(temp_path(t, "data/spine.db.sealed"), F_OK), 0);
	assert_sound(t, 0);
	t->space = 1;
	temp_insert(t, t->space, "and it goes on");
	assert_sound(t, 1);
}

static void a_conversion_that_did_not_end_is_made_anew(void **state)
{
	struct temp_store *t = *state;
	FILE *f;

	make_old(t);
	f = fopen(temp_path(t, "data/spine.db.sealed"), "w");
	fputs("half of a copy", f);
	fclose(f);
	t->c = temp_store_open(t, STORE_WRITE);
	assert_int_equal(reserved(t), SQLITE_SEAL_BYTES);
	assert_sound(t, 0);
}

/* Whoever claims that pages have no seals must be older than they are. */
static void a_header_that_denies_the_seals_is_damage(void **state)
{
	struct temp_store *t = *state;
	int fd;

	store_close(t->c);
	fd = open(temp_path(t, "data/spine.db"), O_WRONLY);
	assert_int_equal(pwrite(fd, "", 1, 20), 1);
	close(fd);
	t->c = store_open(t->dir, STORE_WRITE, &t->error);
	assert_null(t->c);
	assert_non_null(strstr(t->error.data, "damaged"));
	fd = open(temp_path(t, "data/spine.db"), O_WRONLY);
	assert_int_equal(pwrite(fd, "\10", 1, 20), 1);
	close(fd);
	t->c = temp_store_open(t, STORE_WRITE);
}

/* The cache of pages is so small that they go to the log before the commit, are read from there, changed, and
 * overwritten in place: their checksums are right only from the commit on. */
static void a_transaction_larger_than_the_cache_reads_what_it_has_written(void **state)
{
	static const char work[] =
		"PRAGMA cache_size = 5; PRAGMA cache_spill = 5; BEGIN;"
		"CREATE TABLE large (id INTEGER PRIMARY KEY, t TEXT);"
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
		"  INSERT INTO large SELECT i, printf('%0500d', i) FROM n;"
		"UPDATE large SET t = t || 'x' WHERE id % 3 = 0; UPDATE large SET t = t || 'y' WHERE id % 5 = 0;"
		"DELETE FROM large WHERE id % 7 = 0; COMMIT;"
		"BEGIN; UPDATE large SET t = t || 'z'; ROLLBACK;"
		"BEGIN; UPDATE large SET t = t || 'w' WHERE id % 2 = 0; COMMIT;";
	struct temp_store *t = *state;
	char *message = NULL;
	struct buf why;
	sqlite3 *db, *reader;

	buf_init(&why, 8192);
	assert_int_equal(temp_database(temp_path(t, "data/spine.db"), &db), SQLITE_OK);
	if (sqlite3_exec(db, work, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	assert_int_equal(temp_database(temp_path(t, "data/spine.db"), &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "SELECT sum(length(t)) FROM large; PRAGMA integrity_check", NULL, NULL,
				      &message), SQLITE_OK);
	if (!sqlite_extent_holds(temp_path(t, "data/spine.db"), NULL, NULL, &why))
		fail_msg("%s", why.data);
	assert_int_equal(sqlite3_exec(db, "DROP TABLE large", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(reader);
	sqlite3_close(db);
	assert_sound(t, 0);
	buf_release(&why);
}

/* A copy that is larger than SQLite's cache gets pages before the first one, which says that they have seals. */
static void a_large_backup_has_seals_on_every_page(void **state)
{
	enum { BYTES = 256 * 1024 };
	struct temp_store *t = *state;
	char *text = mem_zalloc(BYTES + 1);
	struct store_check counts;
	struct store_conn *copy;
	struct buf problems;

	memset(text, 'x', BYTES);
	for (int i = 0; i < 120; i++)
		temp_insert(t, t->space, text);
	must(store_backup(t->c, temp_path(t, "copy"), &t->error));
	copy = store_open_file(temp_path(t, "copy"), &t->error);
	assert_non_null(copy);
	buf_init(&problems, 1 << 20);
	must(store_check(copy, &counts, &problems));
	assert_int_equal(counts.problems, 0);
	store_close(copy);
	buf_release(&problems);
	free(text);
}

int main(void)
{
	const struct CMUnitTest store_seal[] = {
		cmocka_unit_test(every_changed_bit_of_a_page_and_another_number_change_its_seal),
		cmocka_unit_test(the_seal_of_a_page_is_that_of_the_format),
		with_store(a_store_without_seals_gets_them_when_it_is_opened),
		with_store(a_large_backup_has_seals_on_every_page),
		with_store(a_conversion_that_did_not_end_is_made_anew),
		with_store(a_header_that_denies_the_seals_is_damage),
		with_store(a_transaction_larger_than_the_cache_reads_what_it_has_written),
	};

	return cmocka_run_group_tests(store_seal, NULL, NULL);
}
