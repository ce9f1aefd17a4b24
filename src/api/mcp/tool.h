/* A tool is a row of a table (tools.c): what a model reads of it, and the described operations that it calls. What it
 * takes and answers is said by these descriptions; the row only names the fields that a model is shown. */
#ifndef SPINE_API_MCP_TOOL_H
#define SPINE_API_MCP_TOOL_H

#include "api/describe/write.h"
#include "api/mcp/mcp_call.h"

/* Where an argument goes. */
enum tool_place {
	PLACE_BODY,
	PLACE_PATH,		/* the piece of the address */
	PLACE_QUERY,
	PLACE_PACK,		/* of agent_handoff: what the envelope is packed from */
	PLACE_OWN,		/* the tool itself takes it: it is in no description */
};

struct tool_arg {
	const char *name;	/* NULL ends a list */
	enum tool_place place;
	const char *says;	/* NULL: the description's sentence; "": none */
	bool is_required;
	const char *schema;	/* of PLACE_OWN: members of its JSON Schema; ' stands for " */
};

enum tool_hint {
	TOOL_READS = 1 << 0,		/* changes nothing */
	TOOL_REPEATS = 1 << 1,		/* the same again changes nothing more */
	TOOL_TASK = 1 << 2,		/* may be a task */
};

/* TOOL_ROOM: so many members a fill may add to the body. */
enum { TOOL_CALLS_MAX = 6, TOOL_ROOM = 4 };

struct tool {
	const char *name;	/* NULL ends the table */
	const char *title;
	const char *says;	/* begins with when to use it */
	unsigned hints;
	const struct description *calls[TOOL_CALLS_MAX];
	const struct tool_arg *args;
	const struct shown *shows;
	/* Which of the calls; NULL: the first. NULL is returned where the problem is set. */
	const struct description *(*choose)(struct mcp_call *m);
	/* Optional, when the arguments are placed: gives more input. */
	void (*fill)(struct mcp_call *m);
	/* Optional, when the input is read: sets more of the operation. */
	void (*prepare)(struct mcp_call *m);
	/* Optional: the answer that is shown, made from that of the operation; in the arena. */
	const struct json *(*reshape)(struct mcp_call *m, const struct json *answer);
	/* Optional: instead of calling at once. True: it has answered, or will. */
	bool (*before)(struct mcp_call *m);
	/* Optional: what a model reads that is shown only the text; NULL: the structured answer as JSON. */
	void (*text)(const struct json *answer, struct buf *out);
};

extern const struct tool tools[];

/* NULL: there is none. */
const struct tool *tool_find(struct str name);
/* The field of an argument in the description(s); NULL: there is none. */
const struct field *tool_field(const struct tool *t, const struct tool_arg *arg);
/* The list as tools/list answers it, for that revision. */
void tool_put_list(struct json_writer *w, enum mcp_version version);

/* Answers with an error that a model reads: what is wrong, and what to do. */
void tool_error(struct mcp_call *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for the problem of the operation. */
void tool_problem(struct mcp_call *m);
/* Calls the operation(s) of the tool and answers. */
void tool_run(struct mcp_call *m);
/* Writes the answer of the operation that is over as members of a result: content and structuredContent. */
void tool_put_answer(struct mcp_call *m, const struct json *answer, struct json_writer *w);
/* Adds a member to an object that has room for it. */
void tool_add_member(struct json *object, struct str key, struct json value);
/* An argument of that type, or NULL; null is the same as absent. */
const struct json *tool_arg(const struct mcp_call *m, const char *name, enum json_type type);

#endif
