/* One message on its way. A method (methods.h) answers it with mcp_begin … mcp_end or mcp_error, now or later, exactly
 * once. Everything hangs on the request's arena. */
#ifndef SPINE_API_MCP_MCP_CALL_H
#define SPINE_API_MCP_MCP_CALL_H

#include "api/call.h"
#include "api/http/held.h"
#include "api/mcp/mcp.h"
#include "base/list.h"
#include "codec/json.h"

/* In the order of their age. */
enum mcp_version { MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25, MCP_2026_07_28, MCP_VERSIONS };

/* What the client has said that it can do. */
enum mcp_can {
	MCP_CAN_ELICIT = 1 << 0,	/* ask its user, by a form */
	MCP_CAN_SAMPLE = 1 << 1,
	MCP_CAN_ROOTS = 1 << 2,
	MCP_CAN_TASKS = 1 << 3,		/* the extension of 2026-07-28 */
};

/* Codes of errors: of JSON-RPC, and those that the specification adds. */
enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL = -32603,
	MCP_SESSION_NOT_FOUND = -32001,		/* before 2026-07-28, as the next */
	MCP_RESOURCE_NOT_FOUND = -32002,
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
};

enum { MCP_INPUTS_MAX = 8, MCP_SESSION_SIZE = 64, MCP_OWNER_SIZE = 88, MCP_ANSWER_MAX = 512 * 1024 * 1024 };

struct mcp_call;
struct mcp_task;
struct tool;

/* What the client was asked, and what it said. */
struct mcp_input {
	struct str key;
	struct json answer;		/* JSON_NULL: not yet */
	char id[40];			/* of the request that asks, before 2026-07-28 */
};

struct mcp_call {
	struct call call;
	struct mcp *mcp;
	struct http_req *req;
	bool is_parsed;			/* else parse_error says why not */
	struct json_error parse_error;
	const struct access *access;	/* of the key; NULL: none is needed */
	struct held held;		/* while it waits */
	struct json message;
	const struct json *id;		/* NULL: a notification, or nothing that can be answered */
	struct str method;
	const struct json *params;	/* an object, or NULL */
	const struct json *meta;	/* its _meta, or NULL */
	enum mcp_version version;
	unsigned client;		/* enum mcp_can */
	struct str session;		/* p == NULL: none */
	struct str new_session;		/* that the answer tells; p == NULL: none */
	bool is_taken;			/* a method has it: what is wrong now is wrong within the protocol */
	struct str agent;		/* as the message says it; p == NULL: as the connection does */

	struct json_writer w;		/* of the answer, into out */
	struct buf out;
	bool is_stream;			/* the reply has begun, as events */

	bool is_encoded;		/* call.reply is written: a worker did it */
	void (*done)(struct mcp_call *m);	/* when the operation is over, with its answer or its problem */

	/* Of a tool. */
	const struct tool *tool;
	const struct description *calls;
	const struct json *args;
	struct mcp_task *task;		/* whose result this is; NULL: it is answered */

	/* Of waiting. */
	const struct json *progress_token;	/* NULL: the client wants no progress */
	int64_t began_ns, until_ns;
	struct list waiting;		/* of those that may be cancelled; next is NULL: it never was */

	/* Of asking the client. */
	void (*again)(struct mcp_call *m);	/* when it has answered */
	struct mcp_input inputs[MCP_INPUTS_MAX];
	size_t input_count;
	struct str state;		/* requestState, verified; p == NULL: none */
	struct mcp_call *next_asking;
};

struct mcp {
	struct api *api;
	struct listening *listening;
	struct asking *asking;
	struct cancelling *cancelling;
	struct tasks *tasks;
	uint8_t key[32];		/* that requestState is signed with; made at the start */
};

static inline bool mcp_is_modern(const struct mcp_call *m)
{
	return m->version == MCP_2026_07_28;
}

const char *mcp_version_name(enum mcp_version version);
/* MCP_VERSIONS: not one that this server speaks. */
enum mcp_version mcp_version_of(struct str name);

/* --- Answering --- */

/* Begins the result: the caller writes its members. */
struct json_writer *mcp_begin(struct mcp_call *m);
/* The same, with another resultType than "complete". */
struct json_writer *mcp_begin_type(struct mcp_call *m, const char *type);
/* How long a client may keep the answer, and whether others may have it. Only where the revision knows it. */
void mcp_cache(struct mcp_call *m, int64_t ttl_ms, bool is_public);
/* Ends the result and sends it. */
void mcp_end(struct mcp_call *m);
/* An error with a sentence, in place of a result. Its HTTP status follows from the code. */
void mcp_error(struct mcp_call *m, enum mcp_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with data, which is JSON. */
void mcp_error_data(struct mcp_call *m, enum mcp_code code, struct str data, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The problem of an operation as such an error. */
void mcp_problem(struct mcp_call *m);
/* Begins a reply that is a stream, where it has not begun. */
void mcp_stream(struct mcp_call *m);
/* Sends a message on the stream. */
void mcp_stream_put(struct mcp_call *m, struct str message);
/* Does the client take a stream? */
bool mcp_takes_stream(const struct mcp_call *m);

/* --- Operations --- */

/* Makes the operation of a description: the caller then gives params, query and body. False: the caller's names were
 * refused, and the problem is set. */
bool mcp_make(struct mcp_call *m, const struct description *d);
/* Reads the input by the description and runs it; done is called in any case. */
void mcp_run(struct mcp_call *m, void (*done)(struct mcp_call *m));
/* In two steps, for one that sets more. */
bool mcp_decode(struct mcp_call *m);
void mcp_start(struct mcp_call *m);
/* Writes the answer of an operation that had no problem, into call.reply. */
void mcp_encode(struct mcp_call *m);
/* The same, read: in the arena; NULL where it was too large to be answered, and then the problem is set. */
const struct json *mcp_answer(struct mcp_call *m);
/* A parameter for a description's query. */
void mcp_add_query(struct mcp_call *m, struct str name, struct str value);

/* --- What a message says --- */

/* A text of params; p == NULL: it is not there, or no text. */
struct str mcp_param(const struct mcp_call *m, const char *name);
/* The beginning of a text from outside, for an error: at most 80 bytes of whole characters. */
struct str mcp_short(struct str text);
/* The agent that asks: of the message, of the connection, or of the key; p == NULL: none says it. */
struct str mcp_agent(const struct mcp_call *m);
/* The number of the key; 0: none is needed. What a message leaves behind belongs to it. */
uint64_t mcp_key(const struct mcp_call *m);
/* Whose subscriptions these are: the session of that key. */
void mcp_owner(const struct mcp_call *m, char ret[MCP_OWNER_SIZE]);

#endif
