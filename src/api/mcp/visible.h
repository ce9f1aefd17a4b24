/* What others wrote, where a model reads it: what nobody sees (text/invisible.h) is shown as its code. */
#ifndef SPINE_API_MCP_VISIBLE_H
#define SPINE_API_MCP_VISIBLE_H

#include "base/buf.h"

/* JSON of the same value, with the escapes of JSON. */
void visible_json(struct buf *out, struct str json);
/* A sentence of ours with names and values of others in it: "\u{202e}", as in a prompt. */
void visible_text(struct buf *out, struct str text);

#endif
