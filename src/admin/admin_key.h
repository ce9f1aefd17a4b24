/* Keys of a store whose server does not run: the way in for who has lost them all, or has none yet. */
#ifndef SPINE_ADMIN_ADMIN_KEY_H
#define SPINE_ADMIN_ADMIN_KEY_H

#include "base/buf.h"
#include "base/str.h"

struct admin_key {
	const char *name;
	const char *space;		/* "*" or NULL: all of them */
	const char *agent;		/* NULL: any */
	const char *const *scopes;	/* so many; none: admin */
	size_t scope_count;
	const char *trust;		/* NULL: as usual */
	int64_t expires_at_ms;		/* 0: never */
};

/* Each returns true on success. On failure *error holds a sentence for the person. No server may run on data_dir. */

/* Makes a key; its text and its id are appended. Where there was none before, the server needs keys from now on. */
bool admin_key_create(const char *data_dir, const struct admin_key *key, int64_t now_ms, struct buf *ret_text,
		      struct buf *ret_id, struct buf *error);
/* Removes all keys; the server needs none any more. */
bool admin_key_reset(const char *data_dir, int64_t now_ms, size_t *ret_removed, struct buf *error);

#endif
