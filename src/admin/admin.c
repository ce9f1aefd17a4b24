#include "admin/admin.h"

#include "store/store.h"

bool admin_backup(const char *data_dir, const char *file, struct buf *error)
{
	struct store_conn *c = store_open(data_dir, STORE_READ, error);
	bool ok = c && store_backup(c, file, error) == STORE_OK;

	store_close(c);
	return ok;
}

bool admin_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept, struct buf *error)
{
	return store_restore(data_dir, file, replace, ret_kept, error) == STORE_OK;
}

bool admin_check(const char *data_dir, struct admin_check *ret, struct buf *ret_problems, struct buf *error)
{
	struct store_conn *c = store_open(data_dir, STORE_READ, error);
	struct store_check counts;
	bool ok = false;

	if (c) {
		ok = store_check(c, &counts, ret_problems) == STORE_OK;
		if (ok)
			*ret = (struct admin_check){counts.memories, counts.versions, counts.problems};
		else
			buf_printf(error, "the store could not be read to its end: %s", store_error(c));
	}
	store_close(c);
	return ok;
}
