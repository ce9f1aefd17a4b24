/* A store in a directory of its own under $TMPDIR, for the tests of what stands on a store. */
#ifndef SPINE_TESTS_TEMP_STORE_H
#define SPINE_TESTS_TEMP_STORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "codec/sha256.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define T0 INT64_C(1700000000000)	/* a time like any other */

struct temp_store {
	char root[256];			/* holds everything; removed at the end */
	char dir[272];			/* the data directory */
	struct store_conn *c;		/* writes */
	struct arena arena;
	struct buf error;
	int64_t space;
};

static inline int temp_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline struct store_conn *temp_store_open(struct temp_store *t, enum store_mode mode)
{
	struct store_conn *c;

	buf_clear(&t->error);
	c = store_open(t->dir, mode, &t->error);
	if (c == NULL)
		print_error("%s\n", t->error.data);
	assert_non_null(c);
	return c;
}

/* A path in the temporary directory. Borrowed from the arena. */
static inline const char *temp_path(struct temp_store *t, const char *name)
{
	return arena_printf(&t->arena, "%s/%s", t->root, name).p;
}

/* Commits and begins, and fails the test where the store does. */
#define must(status) assert_int_equal(status, STORE_OK)

/* With one space, "default", committed. */
static inline void temp_store_init(struct temp_store *t)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->root, sizeof(t->root), "%s/spine-test-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(t->root));
	snprintf(t->dir, sizeof(t->dir), "%s/data", t->root);
	arena_init(&t->arena);
	buf_init(&t->error, 65536);
	t->c = temp_store_open(t, STORE_WRITE);
	must(store_begin(t->c));
	must(store_space_create(t->c, STR("default"), T0, &t->space));
	must(store_commit(t->c));
}

static inline void temp_store_release(struct temp_store *t)
{
	store_close(t->c);
	arena_release(&t->arena);
	buf_release(&t->error);
	assert_int_equal(nftw(t->root, temp_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void temp_store_reopen(struct temp_store *t)
{
	store_close(t->c);
	t->c = temp_store_open(t, STORE_WRITE);
}

/* Version 1 of a memory as the core would make it. Borrows content. */
static inline struct memory temp_memory(int64_t space, const char *content)
{
	struct memory m = {
		.space = space,
		.created_at_ms = T0,
		.updated_at_ms = T0,
		.importance = IMPORTANCE_MEDIUM,
		.trust = TRUST_AGENT,
		.content = str_of(content),
		.kind = STR("note"),
		.tags = STR("[]"),
		.metadata = STR("{}"),
	};

	sha256(m.content, m.digest);
	return m;
}

/* Stores one in a transaction of its own and returns its number. */
static inline uint64_t temp_insert(struct temp_store *t, int64_t space, const char *content)
{
	struct memory m = temp_memory(space, content);

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_commit(t->c));
	return m.num;
}

static inline int64_t temp_space(struct temp_store *t, const char *name)
{
	int64_t id = 0;

	must(store_begin(t->c));
	must(store_space_create(t->c, str_of(name), T0, &id));
	must(store_commit(t->c));
	return id;
}

#define assert_str(s, literal) assert_true(str_is(s, literal))

/* For cmocka_unit_test_setup_teardown. */
static inline int temp_store_setup(void **state)
{
	struct temp_store *t = mem_zalloc(sizeof(*t));

	temp_store_init(t);
	*state = t;
	return 0;
}

static inline int temp_store_teardown(void **state)
{
	struct temp_store *t = *state;

	temp_store_release(t);
	free(t);
	return 0;
}

#define with_store(test) cmocka_unit_test_setup_teardown(test, temp_store_setup, temp_store_teardown)

#endif
