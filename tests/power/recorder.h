/* Records what this process does to the files below a directory, at the calls of the C library: so what SQLite, the
 * store's layer over it (sqlite_vfs.c) and the store itself write is seen alike.
 *
 * The program's own pwrite, fsync, rename and so on stand before those of the C library, and pass everything on. A
 * write is noted after it was made. What SQLite keeps in shared memory (-shm) does not survive a power cut, and is left
 * out, as is the lock.
 */
#ifndef SPINE_TESTS_POWER_RECORDER_H
#define SPINE_TESTS_POWER_RECORDER_H

#include "disk.h"

/* What is in the directory now is taken to be safe. One recording at a time. Borrows both. */
void recorder_begin(struct recording *r, const char *root);
void recorder_end(void);
/* Nothing is recorded while it is set: what looks on leaves no trace. */
void recorder_pause(bool is_paused);
/* Whatever was written so far, somebody relies on it from here on. */
void recorder_mark(int64_t number);

#endif
