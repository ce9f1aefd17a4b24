/* What a person does to a data directory by hand, beside the server or without it. */
#ifndef SPINE_ADMIN_ADMIN_H
#define SPINE_ADMIN_ADMIN_H

#include "admin/encrypted.h"

/* Each returns true on success. On failure *error holds a sentence for the person. */

/* Can what --store says be used? Connects to nobody. Where not, *error says what to do, and has no part of it: a
 * password may be in it. */
bool admin_store_is_good(const char *store, struct buf *error);

/* A consistent copy of the store, also while a server runs. file must not exist; it is made 0600. */
bool admin_backup(const char *data_dir, const char *file, struct buf *error);

/* Puts a backup in the place of the store. No server may run on data_dir. A store that is there already is refused,
 * unless replace is true: then it is kept beside, under a name that is appended to *ret_kept. The backup is checked
 * first. */
bool admin_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept, struct buf *error);

/* The same with a backup that is encrypted. All of it is verified before anything is written. */
bool admin_restore_encrypted(const char *data_dir, const char *file, const struct encrypted_key *key, bool replace,
			     struct buf *ret_kept, struct buf *error);

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

/* A backup that only the owner of the private key can read. to is the PEM file of the public key. SQLite needs a file
 * to write the copy to, so it is made in data_dir, where the same is as readable, then checked, as the two below do,
 * encrypted, and removed. */
bool admin_backup_encrypted(const char *data_dir, const char *file, const char *to, struct admin_check *ret,
			    struct buf *ret_problems, struct buf *error);

bool admin_check(const char *data_dir, struct admin_check *ret, struct buf *ret_problems, struct buf *error);
/* The same for a backup, where it lies. */
bool admin_check_file(const char *file, struct admin_check *ret, struct buf *ret_problems, struct buf *error);

#endif
