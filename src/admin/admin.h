/* What a person does to a data directory by hand, beside the server or without it. */
#ifndef SPINE_ADMIN_ADMIN_H
#define SPINE_ADMIN_ADMIN_H

#include "base/buf.h"

/* Each returns true on success. On failure *error holds a sentence for the person. */

/* A consistent copy of the store, also while a server runs. file must not exist; it is made 0600. */
bool admin_backup(const char *data_dir, const char *file, struct buf *error);

/* Puts a backup in the place of the store. No server may run on data_dir. A store that is there already is refused,
 * unless replace is true: then it is kept beside, under a name that is appended to *ret_kept. The backup is checked
 * first. */
bool admin_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept, struct buf *error);

/* Reads everything and verifies it, also while a server runs. Each problem found is one line in *ret_problems. Returns
 * false where the store could not be read at all. */
struct admin_check {
	int64_t memories;
	int64_t versions;
	int64_t envelopes;
	int64_t handoffs;
	int64_t events;
	int64_t problems;
};

bool admin_check(const char *data_dir, struct admin_check *ret, struct buf *ret_problems, struct buf *error);
/* The same for a backup, where it lies. */
bool admin_check_file(const char *file, struct admin_check *ret, struct buf *ret_problems, struct buf *error);

#endif
