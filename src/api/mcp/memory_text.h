/* Memories as text, for a model that is shown the text of an answer: fewer tokens than JSON.
 *
 * As in a prompt (core/envelope/render_text.h): what an author wrote stands in backticks or between fences, or is a
 * single plain word, so that it cannot pass for another memory, and what nobody sees is shown as its code. */
#ifndef SPINE_API_MCP_MEMORY_TEXT_H
#define SPINE_API_MCP_MEMORY_TEXT_H

#include "codec/json.h"

/* Of an answer that is a memory, or has a list of them. */
void memory_text(const struct json *answer, struct buf *out);

#endif
