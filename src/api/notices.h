/* What a sender is told of its handoffs, as the wire shows it; see engine/notices.h. */
#ifndef SPINE_API_NOTICES_H
#define SPINE_API_NOTICES_H

#include "codec/json.h"
#include "engine/delivery/notices.h"

/* The member "notices", where there are any. */
void notices_put(const struct notices *n, struct json_writer *w);

#endif
