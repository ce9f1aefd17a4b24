#include "admin/admin.h"

#include "core/unpack.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 8192 };

/* A directory without a store is most often the wrong directory. */
static struct store_conn *open_store(const char *data_dir, struct buf *error)
{
	struct store_conn *c = NULL;
	struct stat st;
	struct buf path;

	buf_init(&path, PATH_MAX_BYTES);
	buf_printf(&path, "%s/spine.db", data_dir);
	if (!buf_overflowed(&path) && stat(buf_str(&path).p, &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
		buf_printf(error, "there is no store in %s; --data names another data directory", data_dir);
	else
		c = store_open(data_dir, STORE_READ, error);
	buf_release(&path);
	return c;
}

bool admin_backup(const char *data_dir, const char *file, struct buf *error)
{
	struct store_conn *c = open_store(data_dir, error);
	bool ok = c && store_backup(c, file, error) == STORE_OK;

	store_close(c);
	return ok;
}

bool admin_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept, struct buf *error)
{
	return store_restore(data_dir, file, replace, ret_kept, error) == STORE_OK;
}

/* Every envelope against its digest and that of its parent; a line for each that does not match. */
static bool check_envelopes(struct store_conn *c, const struct space_row *space, struct admin_check *k,
			    struct buf *problems, struct buf *error)
{
	struct problem problem = {0};
	struct arena arena;
	uint64_t last, num;
	bool ok = store_envelope_last(c, space->id, &last) == STORE_OK;

	if (!ok)
		buf_printf(error, "the store could not be read to its end: %s", store_error(c));
	arena_init(&arena);
	for (num = 1; ok && num <= last; num++) {
		enum unpack_verdict verdict;
		enum problem_code code = unpack_verify_one(c, space->id, num, &arena, &verdict, &problem);

		arena_release(&arena);
		/* A number may have been given to an envelope that was then refused. */
		if (code == P_ENVELOPE_NOT_FOUND)
			continue;
		ok = code == P_OK;
		if (!ok) {
			buf_printf(error, "the store could not be read to its end: %s", problem.detail);
		} else if (verdict == UNPACK_DAMAGED || verdict == UNPACK_UNCHAINED) {
			k->problems++;
			buf_printf(problems, "env-%llu of the space %.*s: %s\n", (unsigned long long)num,
				   STR_ARG(space->name),
				   verdict == UNPACK_DAMAGED ? "it does not match its digest" :
				   "its parent is not the one that it was packed from");
		}
	}
	arena_release(&arena);
	return ok;
}

static bool check_spaces(struct store_conn *c, struct admin_check *k, struct buf *problems, struct buf *error)
{
	struct space_row space;
	struct arena arena;
	int64_t after = 0;
	size_t count = 0;
	bool ok = true;

	arena_init(&arena);
	while (ok) {
		ok = store_spaces(c, after, 1, &arena, &space, &count) == STORE_OK;
		if (!ok)
			buf_printf(error, "the store could not be read to its end: %s", store_error(c));
		if (!ok || count == 0)
			break;
		ok = check_envelopes(c, &space, k, problems, error);
		after = space.id;
	}
	arena_release(&arena);
	return ok;
}

/* Closes the connection; NULL-safe. */
static bool check_store(struct store_conn *c, struct admin_check *ret, struct buf *ret_problems, struct buf *error)
{
	struct store_check counts;
	int64_t events = 0;
	bool ok = false;

	if (c) {
		/* Events are never removed, and their numbers have no gaps. */
		ok = store_check(c, &counts, ret_problems) == STORE_OK && store_event_last(c, &events) == STORE_OK;
		if (ok) {
			*ret = (struct admin_check){
				.memories = counts.memories, .versions = counts.versions,
				.envelopes = counts.envelopes, .handoffs = counts.handoffs, .events = events,
				.problems = counts.problems,
			};
			ok = check_spaces(c, ret, ret_problems, error);
		} else {
			buf_printf(error, "the store could not be read to its end: %s", store_error(c));
		}
	}
	store_close(c);
	return ok;
}

bool admin_check(const char *data_dir, struct admin_check *ret, struct buf *ret_problems, struct buf *error)
{
	return check_store(open_store(data_dir, error), ret, ret_problems, error);
}

/* What a check of a file works in: a data directory of which that file is the store. */
struct stand_in {
	char dir[PATH_MAX_BYTES];
	char link[PATH_MAX_BYTES + 16];
};

static bool make_stand_in(const char *file, struct stand_in *ret, struct buf *error)
{
	const char *temporary = getenv("TMPDIR");
	char *whole = realpath(file, NULL);
	struct stat st;
	bool ok = false;

	snprintf(ret->dir, sizeof(ret->dir), "%.4000s/spine-check-XXXXXX",
		 temporary && temporary[0] ? temporary : "/tmp");
	if (whole == NULL || stat(whole, &st) != 0) {
		buf_printf(error, "cannot open %s: %s", file, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		buf_printf(error, "%s is not a backup file%s", file,
			   S_ISDIR(st.st_mode) ? "; --data names a data directory" : "");
	} else if (mkdtemp(ret->dir) == NULL) {
		buf_printf(error, "cannot make %s: %s", ret->dir, strerror(errno));
	} else {
		snprintf(ret->link, sizeof(ret->link), "%s/spine.db", ret->dir);
		ok = symlink(whole, ret->link) == 0;
		if (!ok) {
			buf_printf(error, "cannot make %s: %s", ret->link, strerror(errno));
			rmdir(ret->dir);
		}
	}
	free(whole);
	return ok;
}

bool admin_check_file(const char *file, struct admin_check *ret, struct buf *ret_problems, struct buf *error)
{
	struct stand_in place;
	struct buf why;
	bool ok;

	if (!make_stand_in(file, &place, error))
		return false;
	buf_init(&why, PATH_MAX_BYTES);
	ok = check_store(store_open(place.dir, STORE_READ, &why), ret, ret_problems, &why);
	if (!ok)
		buf_printf(error, "%s: %s", file, buf_str(&why).p);
	unlink(place.link);
	rmdir(place.dir);
	buf_release(&why);
	return ok;
}
