/* Which node a data directory was before: DATA/node holds its id, and the name of the boot.
 *
 * A node that was killed has its lease for five seconds yet. Whoever holds the directory's lock, in the same boot of
 * the same machine, knows that it is dead, and need not wait. The lock is the caller's; a directory that was copied to
 * another machine, or a machine that was started anew, has another boot.
 */
#ifndef SPINE_SERVE_NODE_PAST_H
#define SPINE_SERVE_NODE_PAST_H

#include <stdbool.h>

enum { NODE_PAST_SIZE = 64 };

/* False where there was none, or nobody knows. */
bool node_past_read(const char *data_dir, char ret_id[NODE_PAST_SIZE]);
/* Where it cannot be written, the next one waits for the lease. */
void node_past_write(const char *data_dir, const char *id);

#endif
