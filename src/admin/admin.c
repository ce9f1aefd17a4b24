#include "admin/admin.h"

#include "core/access/space_policy.h"
#include "core/envelope/unpack.h"
#include "core/guard/redact.h"
#include "store/embedded.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY_MAX = 8192 };

bool admin_store_is_good(const char *store, struct buf *error)
{
	return store_address_is_good(store, error);
}

/* A directory without a store is most often the wrong directory. */
static struct store_conn *open_store(const char *data_dir, struct buf *error)
{
	if (!store_is_missing(data_dir))
		return store_open(data_dir, STORE_READ, error);
	buf_printf(error, "there is no store in %s; --data names another data directory", data_dir);
	return NULL;
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
	if (encrypted_is(file)) {
		buf_printf(error, "%s is encrypted: name the private key with --decrypt-with", file);
		return false;
	}
	return store_restore(data_dir, file, replace, ret_kept, error) == STORE_OK;
}

/* The next number to look at; 0: that was the last. Where the way to it is damaged they are looked at one by one, and
 * each that cannot be read is told. */
static bool next_envelope(struct store_conn *c, int64_t space, uint64_t last, uint64_t *num, struct buf *error)
{
	uint64_t next = 0;
	enum store_status status = *num < last ? store_envelope_next(c, space, *num, &next) : STORE_OK;

	if (status != STORE_OK && status != STORE_DAMAGED)
		buf_printf(error, "the store could not be read to its end: %s", store_error(c));
	*num = status == STORE_DAMAGED ? *num + 1 : next;
	return status == STORE_OK || status == STORE_DAMAGED;
}

/* Every envelope against its digest and that of its parent; a line for each that does not match. */
static bool check_envelopes(struct store_conn *c, const struct space_row *space, struct admin_check *k,
			    struct buf *problems, struct buf *error)
{
	struct problem problem = {0};
	struct arena arena;
	uint64_t last, num = 0;
	enum store_status status = store_envelope_last(c, space->id, &last);
	bool ok = status == STORE_OK;

	if (status == STORE_DAMAGED) {
		k->problems++;
		buf_printf(problems, "the envelopes of the space %.*s cannot be counted\n", STR_ARG(space->name));
		return true;
	}
	if (!ok)
		buf_printf(error, "the store could not be read to its end: %s", store_error(c));
	arena_init(&arena);
	while (ok && next_envelope(c, space->id, last, &num, error) && num) {
		enum unpack_verdict verdict;
		enum problem_code code = unpack_verify_one(c, space->id, num, &arena, &verdict, &problem);

		arena_release(&arena);
		/* A number may have been given to an envelope that was then refused. */
		if (code == P_ENVELOPE_NOT_FOUND || code == P_ENVELOPE_PRUNED)
			continue;
		ok = code == P_OK || code == P_STORE_DAMAGED;
		if (code == P_STORE_DAMAGED) {
			k->problems++;
			buf_printf(problems, "env-%llu of the space %.*s cannot be read, or its parent cannot\n",
				   (unsigned long long)num, STR_ARG(space->name));
		} else if (!ok) {
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
	return ok && num == 0;
}

static void tell_policy(const struct space_row *space, const char *setting, struct admin_check *k, struct buf *problems)
{
	k->problems++;
	buf_printf(problems, "the space %.*s: what it has for %s cannot be read; set it again (spine space)\n",
		   STR_ARG(space->name), setting);
}

/* What the space has decided about everything in it. */
static void check_policy(struct store_conn *c, const struct space_row *space, struct admin_check *k,
			 struct buf *problems, struct arena *arena)
{
	struct problem problem = {0};
	struct str locked = STR_NULL;

	if (space_policy_check_floor(space, &problem) != P_OK)
		tell_policy(space, "trust_floor", k, problems);
	if (space_policy_check_quota(space, &problem) != P_OK)
		tell_policy(space, "its quotas", k, problems);
	if ((int64_t)redact_policy_kept(space->guard) != space->guard)
		tell_policy(space, "guard", k, problems);
	if (store_space_locked(c, space->id, arena, &locked) == STORE_OK && !space_policy_locked_is_sound(locked))
		tell_policy(space, "locked", k, problems);
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
		enum store_status status = store_spaces(c, after, 1, &arena, &space, &count);

		if (status == STORE_DAMAGED) {
			k->problems++;
			buf_puts(problems, "the list of spaces cannot be read; their envelopes were not checked\n");
			break;
		}
		ok = status == STORE_OK;
		if (!ok)
			buf_printf(error, "the store could not be read to its end: %s", store_error(c));
		if (!ok || count == 0)
			break;
		check_policy(c, &space, k, problems, &arena);
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
	enum store_status status;
	int64_t events = 0;
	bool ok = false;

	if (c) {
		/* Events are never removed, and their numbers have no gaps. One that is damaged was told of. */
		ok = store_check(c, &counts, ret_problems) == STORE_OK &&
		     (status = store_event_last(c, 0, &events), status == STORE_OK || status == STORE_DAMAGED);
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

bool admin_check_file(const char *file, struct admin_check *ret, struct buf *ret_problems, struct buf *error)
{
	struct buf why;
	bool ok;

	if (encrypted_is(file)) {
		buf_printf(error, "%s is encrypted, and cannot be checked where it lies; spine restore verifies all of "
			   "it before it writes anything", file);
		return false;
	}
	buf_init(&why, WHY_MAX);
	ok = check_store(store_open_file(file, &why), ret, ret_problems, &why);
	if (!ok)
		buf_printf(error, "cannot check %s: %s", file, buf_str(&why).p);
	buf_release(&why);
	return ok;
}

/* --- Encrypted --- */

/* A name in data_dir that no other process takes. Returns owned. */
static char *scratch_path(const char *data_dir, const char *what)
{
	struct buf path;

	buf_init(&path, 8192);
	buf_printf(&path, "%s/%s-%ld.tmp", data_dir, what, (long)getpid());
	return buf_take(&path);
}

/* Who was killed leaves a copy of the store that is not encrypted. It goes with the next backup or restore. */
static void remove_left(const char *data_dir, const char *what)
{
	DIR *dir = opendir(data_dir);
	const struct dirent *entry;
	struct buf path;

	buf_init(&path, 8192);
	while (dir && (entry = readdir(dir))) {
		size_t n = strlen(what);
		char *end = NULL;
		long pid = strncmp(entry->d_name, what, n) == 0 && entry->d_name[n] == '-'
				   ? strtol(entry->d_name + n + 1, &end, 10) : 0;

		if (pid <= 0 || strncmp(end, ".tmp", 4) != 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		buf_clear(&path);
		buf_printf(&path, "%s/%s", data_dir, entry->d_name);
		unlink(buf_str(&path).p);
	}
	if (dir)
		closedir(dir);
	buf_release(&path);
}

static bool is_free(const char *file, struct buf *error)
{
	if (access(file, F_OK) != 0)
		return true;
	buf_printf(error, "cannot make %s: %s", file, strerror(EEXIST));
	return false;
}

bool admin_backup_encrypted(const char *data_dir, const char *file, const char *to, struct admin_check *ret,
			    struct buf *ret_problems, struct buf *error)
{
	char *plain = scratch_path(data_dir, "backup");
	bool ok = encrypted_key_is_good(to, error) && is_free(file, error);

	remove_left(data_dir, "backup");
	ok = ok && admin_backup(data_dir, plain, error);
	if (ok) {
		char *part = store_part_of(file);

		unlink(part);
		ok = admin_check_file(plain, ret, ret_problems, error) && encrypted_write(plain, part, to, error) &&
		     store_place(part, file, error);
		unlink(plain);
		free(part);
	}
	free(plain);
	return ok;
}

bool admin_restore_encrypted(const char *data_dir, const char *file, const struct encrypted_key *key, bool replace,
			     struct buf *ret_kept, struct buf *error)
{
	char *plain = scratch_path(data_dir, "restore");
	bool ok = encrypted_verify(file, key, error) && store_make_directory(data_dir, error);

	remove_left(data_dir, "restore");
	if (ok) {
		ok = encrypted_read(file, key, plain, error) &&
		     admin_restore(data_dir, plain, replace, ret_kept, error);
		unlink(plain);
	}
	free(plain);
	return ok;
}
