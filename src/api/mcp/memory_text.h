/* Memories as text, for a model that is shown the text of an answer: fewer tokens than JSON, and nothing less said. */
#ifndef SPINE_API_MCP_MEMORY_TEXT_H
#define SPINE_API_MCP_MEMORY_TEXT_H

#include "codec/json.h"

/* Of an answer that is a memory, or has a list of them. */
void memory_text(const struct json *answer, struct buf *out);

#endif
