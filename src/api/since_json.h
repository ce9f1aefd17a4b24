/* What has happened since an envelope was packed, as the wire shows it. */
#ifndef SPINE_API_SINCE_JSON_H
#define SPINE_API_SINCE_JSON_H

#include "codec/json.h"
#include "core/envelope/since.h"

/* Writes an array, empty where nothing has: what became of the memories (the envelope was read back with unpack), and
 * the results that have come. */
void since_json_put(struct json_writer *w, const struct envelope *e, const struct since_result *results, size_t count,
		    int64_t now_ms);

#endif
