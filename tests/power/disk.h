/* A disk that may lose its power: what was synced is on it, what was only written may be, in part, in any order.
 *
 * A recording (recorder.h) is a list of what was done to the files below a directory. The disk plays it up to a place,
 * and then says what it may hold when the power goes there. The rules are those of POSIX, and no kinder: a file's bytes
 * and its size are safe behind a sync of the file, a name is safe behind a sync of its directory, a rename is whole or
 * not at all. What is not safe is decided by a seed.
 */
#ifndef SPINE_TESTS_POWER_DISK_H
#define SPINE_TESTS_POWER_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
	RECORD_WRITE, RECORD_TRUNCATE,	/* of a file */
	RECORD_SYNC,			/* of a file or a directory */
	RECORD_NAME,			/* a directory has a name more: a new file, a new directory, a link */
	RECORD_UNNAME,
	RECORD_RENAME,
	RECORD_MARK,			/* somebody was told something: see recorder_mark */
};

enum { NODE_ROOT = 0, NODES_MAX = 256, NAME_SIZE = 64 };

struct record {
	enum record_kind kind;
	int node;			/* the file that was written, the directory whose names were changed */
	int to_node;			/* NAME, RENAME: the file that is named */
	bool is_dir;			/* NAME: to_node is a directory */
	int64_t at;			/* WRITE: where; TRUNCATE: the size; MARK: its number */
	size_t len;
	unsigned char *data;		/* WRITE; owned by the recording */
	char name[NAME_SIZE], to_name[NAME_SIZE];
};

struct recording {
	struct record *records;
	size_t count, cap;
};

void recording_release(struct recording *r);

struct disk;

/* Borrows the recording. Returns owned. */
struct disk *disk_new(const struct recording *r);
void disk_free(struct disk *d);
/* Plays one more record. False: there is none. */
bool disk_step(struct disk *d);
/* How many were played. */
size_t disk_at(const struct disk *d);

/* Puts what is left after a power cut at this place into the directory, which is empty. Seed 0: nothing that was not
 * synced is there; 1: all of it. Any other decides by itself. */
void disk_cut(const struct disk *d, uint64_t seed, const char *directory);

#endif
