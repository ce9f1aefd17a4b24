/* What there is in a store or a backup, for the commands that read the whole of it. */
#ifndef SPINE_CLI_CONTENTS_H
#define SPINE_CLI_CONTENTS_H

#include "admin/admin.h"
#include "codec/json.h"

/* "3 memories in 4 versions, 2 envelopes, 1 handoff, 17 events" */
void contents_put(struct buf *out, const struct admin_check *found);
/* A member for each. */
void contents_put_json(struct json_writer *w, const struct admin_check *found);

#endif
