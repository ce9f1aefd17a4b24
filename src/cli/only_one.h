/* Of several processes of a person that do the same, the newest goes on, and the one before ends. */
#ifndef SPINE_CLI_ONLY_ONE_H
#define SPINE_CLI_ONLY_ONE_H

#include "base/buf.h"
#include "base/str.h"

/* Asks the other one of this name, where there is one, to end (SIGTERM), and waits a moment for that. Returns a
 * descriptor that is to be kept open; -1 with a sentence where it cannot be known. */
int only_one_be(struct str name, struct buf *error);

#endif
