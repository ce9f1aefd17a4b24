/* A message of JSON-RPC, as far as a proxy must know it: what it is, whose answer it is, which headers go with it. */
#ifndef SPINE_CLI_MCP_MESSAGE_H
#define SPINE_CLI_MCP_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"

/* Of JSON-RPC 2.0. */
enum { MCP_PARSE_ERROR = -32700, MCP_INVALID_REQUEST = -32600, MCP_INTERNAL_ERROR = -32603 };

enum mcp_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE, MCP_BATCH };

struct mcp_message {
	enum mcp_kind kind;
	struct json tree;
	struct str method;		/* of requests and notifications */
	const struct json *id;		/* of requests and responses; NULL: none. Points into the tree */
	const struct json *params;	/* NULL: none */
	struct str version;		/* the protocol version that it carries itself (2026-07-28 on), else empty */
	struct str name;		/* what Mcp-Name says; p NULL: that header does not go with it */
};

struct mcp_refusal {
	int code;
	const char *text;		/* a sentence, in the arena */
	struct str id;			/* JSON of the id, where it can be told; else empty */
};

/* Everything in *ret lives in the arena. False where the text is no message, and *ret_refusal says why. */
bool mcp_message_read(struct str text, struct arena *arena, struct mcp_message *ret, struct mcp_refusal *ret_refusal);
/* The member of an object that is a string; else p NULL. */
struct str mcp_text(const struct json *object, const char *key);
/* It can be asked again where nobody knows whether it was carried out. */
bool mcp_is_repeatable(const struct mcp_message *message);

/* "Name: value", in the arena; a value that cannot stand in a header is encoded as the protocol wants it. */
const char *mcp_header(struct arena *arena, const char *name, struct str value);
/* A response that is an error, without a line break. id is its JSON; empty: null. */
void mcp_put_error(struct buf *out, struct str id, int code, struct str text, bool is_retryable);
/* The JSON of a value, in the arena. */
struct str mcp_json(struct arena *arena, const struct json *value);

#endif
