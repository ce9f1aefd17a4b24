/* What each operation of the protocol takes, answers and refuses, said once.
 *
 *     field         one member of a JSON object, or one parameter: name, type, bounds, a sentence
 *     shape         an object: a list of fields
 *     answer        a status, a sentence, a shape
 *     description   an operation: its fields, its answers, its problems, who may call it, its tool
 *
 * All of it is constant tables (desc_*.c). From them come the decoding of bodies (read.c) and queries (query.c), the
 * encoding of answers (write.c), the OpenAPI document (openapi.c) and the tables of the documentation (tables.c).
 *
 * A field belongs to a member of a C struct. Its macro looks at the type of that member: a text that would be read into
 * a number does not compile. A field without a member (DOC_…) is described, and checked where it is read, but kept by
 * nobody.
 */
#ifndef SPINE_API_DESCRIBE_DESCRIBE_H
#define SPINE_API_DESCRIBE_DESCRIBE_H

#include "codec/json.h"
#include "core/access/access.h"
#include "core/memory/memory_id.h"
#include "core/problem.h"
#include "net/http.h"

struct call;
struct field;
struct shape;
struct shape_reader;
struct shown;

enum field_type {
	TYPE_END,		/* ends a list of fields */
	TYPE_TEXT,		/* struct str: min to max bytes, no NUL character; max 0: any text */
	TYPE_NAME,		/* struct str: 1 to max bytes, no control characters */
	TYPE_AGENT,		/* struct str: a name that work can go to, so not "next" */
	TYPE_BOOL,		/* bool */
	TYPE_INT,		/* any integer: min to max */
	TYPE_NUMBER,		/* double: min to max */
	TYPE_SECONDS,		/* int64_t milliseconds, min to max; a number of seconds on the wire */
	TYPE_TIME,		/* int64_t milliseconds since 1970; RFC 3339 on the wire */
	TYPE_MEMORY_ID,		/* uint64_t; "ms-4821" */
	TYPE_MEMORY_REF,	/* struct memory_id; "ms-4821" or "ms-4821@2" */
	TYPE_ENVELOPE_ID,	/* uint64_t; "env-17" */
	TYPE_HANDOFF_ID,	/* uint64_t; "ho-12" */
	TYPE_ALERT_ID,		/* int64_t; "al-3" */
	TYPE_KEY_ID,		/* uint64_t; "key-7" */
	TYPE_ENUM,		/* an enumeration or int: the place of the word in its list */
	TYPE_OBJECT,		/* struct json, or a pointer to one: any object */
	TYPE_ARRAY,		/* the same: any array, min to max items */
	TYPE_ANY,		/* the same: any value but null */
	TYPE_OBJECTS,		/* the same: an array of objects; a shape only says which members are known */
	TYPE_NAMES,		/* the same: an array of names, each of at most item_max bytes */
	TYPE_AGENTS,		/* the same: an array of names of agents */
	TYPE_MEMORY_REFS,	/* the same: an array of ids of memories, or of versions */
	TYPE_RAW,		/* struct str: JSON as it is stored; answers only */
	TYPE_TEXTS,		/* struct str * and a count */
	TYPE_SHAPE,		/* a struct: an object of that shape */
	TYPE_SHAPES,		/* a pointer to structs and a count: an array of objects of that shape */
	TYPE_INCLUDE,		/* a struct: the fields of that shape stand here, as if they were written here */
};

/* How the member of a field is kept. */
enum member_kind {
	MEMBER_PLAIN, MEMBER_I32, MEMBER_U32, MEMBER_I64, MEMBER_U64,
	MEMBER_BOOL,			/* of an enumeration with two words */
	MEMBER_JSON, MEMBER_JSON_POINTER,
	MEMBER_TEXT,		/* of an enumeration or an id: its text; answers only */
	MEMBER_POINTER,		/* of a shape: NULL where it is not set; answers only */
	MEMBER_LIST,		/* of ids: a pointer and a count; requests only */
	MEMBER_CSTR,			/* of a text; answers only */
};

#define FIELD_NOWHERE UINT32_MAX
#define NO_MIN INT64_MIN
#define NO_MAX INT64_MAX

/* An enumeration. The place of a word, counted from first, is the value in C; a word may stand twice, where two values
 * are told alike. */
struct words {
	const char *component;		/* its name in the OpenAPI document; NULL: it is told where it is used */
	const char *says;		/* NULL: the names say it */
	const char *const *list;	/* ended by NULL */
	int first;			/* the value of the first word */
};

/* What a key must be allowed to do. */
enum scope {
	SCOPE_OPEN = 1,			/* nothing: no key is needed */
	SCOPE_READ,
	SCOPE_WRITE,
	SCOPE_RECEIVE,			/* take and settle work */
	SCOPE_ADMIN,			/* run the server: settings, people's decisions, all spaces */
};

/* Whom a name in a request names. With keys, a name of the caller must be that of its key: reading refuses another. */
enum field_names {
	NAMES_NOBODY,
	NAMES_CALLER,		/* who asks, or whose work it takes: an agent */
	NAMES_OTHER,		/* anybody; test_describe.c wants it said of a name that looks like the caller's */
	NAMES_SPACE,		/* a space */
	NAMES_INBOX,		/* whose work is looked at: an agent */
};

typedef enum problem_code field_read_fn(const struct field *f, const struct json *value, void *into,
					struct shape_reader *r);
typedef enum problem_code field_absent_fn(const struct field *f, void *into, struct shape_reader *r);
typedef void field_write_fn(const struct field *f, const void *from, const void *with, struct json_writer *w);

struct field {
	struct str name;
	enum field_type type;
	enum member_kind kind;
	uint32_t offset;		/* of the member; FIELD_NOWHERE: there is none */
	uint32_t count_offset;		/* of a list's count */
	uint32_t item_size;		/* of a list's items */
	unsigned bit;			/* in the struct's set of what was given; see struct shape */
	int64_t min, max;
	int64_t unset;			/* the number that stands for none, where the field may be none */
	size_t item_max;
	const struct words *words;
	const struct shape *shape;
	const char *says;		/* a sentence */

	/* The rest is given behind it where it is needed, as in `.required = "it is who gets the work"`. */
	const char *required;		/* of a request: it must be there; ends the sentence "x is missing; …" */
	const char *otherwise;		/* what holds where it is absent, as JSON */
	const char *expected;		/* ends `x is "y"; …`; NULL: "expected one of" and the words */
	const char *refusal;		/* the whole sentence but the name, of a parameter: "is not a number …" */
	const char *called;		/* of a piece of an address: what problems call it; NULL: its name */
	const char *component;		/* the type's name in the OpenAPI document */
	const char *schema;		/* members of its JSON Schema instead of what the type says; ' stands for " */
	const char *items;		/* the same for the items of an array */
	const char *docs;		/* what docs/protocol.md says in place of the sentence; Markdown */
	const char *usually;		/* what it says in the column of defaults */
	const char *raw_unset;		/* of TYPE_RAW, and of JSON: what is written where there is none */
	uint32_t given;			/* of an answer: INTO a bool, false where it is not set; 0: its value says it */
	enum field_names names;		/* of a request */
	int since;			/* of a request: see struct description */
	enum scope needs;		/* of a request: a key must have this scope, too, to give it; 0: none */
	bool is_nullable;		/* of an answer: null where it is not set */
	bool is_maybe;			/* of an answer: absent where it is not set */
	bool is_immutable;		/* refused in a patch */
	bool is_new_only;		/* not known in a patch */
	bool is_null_absent;		/* null is the same as absent in a patch, too */
	bool is_repeated;		/* of a query: may stand more than once */
	bool is_prefix;			/* of a query: stands for all names that begin with it */
	bool warns_unnumbered;		/* unknown fields of its items are "memories[].x", not "memories[3].x" */
	field_read_fn *read;		/* instead of what the type does */
	field_absent_fn *absent;	/* of a body: what to make of its absence */
	field_write_fn *write;		/* the same; writes the name, too */
};

/* For the end of a field of a request. */
#define OF_CALLER .names = NAMES_CALLER
#define OF_INBOX .names = NAMES_INBOX
#define OF_ANYBODY .names = NAMES_OTHER
#define NEEDS(scope) .needs = (scope)

/* For the end of a field of an answer. */
#define NULLABLE .is_nullable = true
#define MAYBE .is_maybe = true

struct shape {
	const char *name;		/* in the OpenAPI document; NULL: it is told where it is used */
	const char *says;		/* NULL: the operation says it */
	const struct field *fields;	/* ended by one of TYPE_END */
	size_t size;			/* of the C struct; 0: there is none */
	const char *noun;		/* "a memory"; NULL: "an item" */
	const char *also;		/* more members of its JSON Schema; ' stands for " */
	bool is_input;			/* a request: what is not required may be absent or null */
	bool is_patch;			/* a request that changes: nothing is required, null clears */
	bool warns;			/* an answer that may end with warnings */
	const void *defaults;		/* of a request: what the struct is before it is read; NULL: as it was */
	uint32_t has_offset;		/* of the unsigned that collects the bits of what was given; SHAPE_HAS */
};
#define SHAPE_HAS(s, m) .has_offset = _Generic(((s *)0)->m, unsigned: (uint32_t)offsetof(s, m))

/* --- Operations --- */

enum takes {
	TAKES_AGENT = 1 << 0,		/* Spine-Agent means something */
	TAKES_TASK = 1 << 1,		/* Spine-Task, too: it stores memories */
	TAKES_KEY = 1 << 2,		/* Idempotency-Key */
	TAKES_IF_MATCH = 1 << 3,
	TAKES_NO_SPACE = 1 << 4,	/* it is not about a space */
	TAKES_BODY = 1 << 5,		/* a body must be there */
	TAKES_BODY_MAYBE = 1 << 6,	/* it may be there */
	TAKES_PERSON = 1 << 7,		/* Spine-Person: it is for persons only */
};

/* What is said of parameters of a query that are not known, and of one that stands twice. */
enum query_kind {
	QUERY_LOOSE,	/* the first one counts; what is not known is ignored */
	QUERY_OPEN,	/* each is read, in their order; what is not known is warned of */
	QUERY_LIST,	/* each may stand once; what is not known is warned of */
};

enum gives {
	GIVES_ETAG = 1 << 0,
	GIVES_AGENT_ETAG = 1 << 1,
	GIVES_LOCATION = 1 << 2,
	GIVES_TRACEPARENT = 1 << 3,
	GIVES_ANEW = 1 << 4,		/* not a header: it is not kept for Idempotency-Key */
};

struct answer {
	int status;			/* 0 ends a list; one that stands again is another form of the same answer */
	const char *says;
	const struct shape *shape;	/* NULL: see schema */
	const char *media;		/* NULL: application/json */
	const char *schema;		/* of what has no shape; ' stands for "; NULL: nothing is answered */
	unsigned headers;		/* enum gives */
	const char *component;		/* in the OpenAPI document; NULL: it is told where it is used */
};

enum { DESCRIPTION_PATHS_MAX = 2, DESCRIPTION_BODIES_MAX = 3 };

struct description {
	const char *id;			/* operationId: clients depend on it */
	const char *tag;
	enum scope scope;
	enum scope also;		/* a key must have this scope as well; 0: none */
	const struct shown *blind;	/* what is told to a key without the scope read; NULL: all */
	int since;			/* older nodes do not know it (core/cluster/protocol.h); 0: all do */
	bool is_of_all;			/* it is about all spaces: a key of one space may not */
	const char *is_of_nobody;	/* a key that is bound to an agent may not; why: "rows name other authors" */
	bool has_secret;		/* its request or its answer has one: overwritten in memory afterwards */
	const char *tool;		/* of MCP; NULL: none */
	const char *summary;
	const char *says;		/* NULL: the summary is enough */
	unsigned takes;			/* enum takes */
	const struct field *path[DESCRIPTION_PATHS_MAX];	/* what stands for each "{}" of the address */
	const struct shape *query;	/* NULL: no parameters */
	const struct shape *headers;	/* beside those of takes; NULL: none */
	const struct shape *body[DESCRIPTION_BODIES_MAX];	/* more than one: any of them; the first is decoded */
	const struct answer *answers;
	const enum problem_code *problems;	/* of its own, ended by P_OK; NULL: those that any call may have */

	/* How it is read into its operation, and written from it (api/translate.h). */
	uint32_t path_into[DESCRIPTION_PATHS_MAX];	/* INTO a member for each piece of the address; 0: none */
	uint32_t page_into;		/* INTO a struct page: the query is a list's; 0: it is none. Its size is the
					 * default's where defaults sets it */
	uint64_t page_max;		/* of a list that is read from its start: so deep at most; 0: it is not */
	enum query_kind query_kind;
	uint32_t query_into;		/* INTO what the parameters go; 0: the route reads them */
	uint32_t body_into;		/* INTO what the first of the bodies goes; 0: the route reads it */
	uint32_t body_whole;		/* INTO a const struct json *: the operation checks the body itself; 0: no */
	uint32_t wait_into;		/* INTO how many ms the operation may wait; 0: it does not, or knows itself */
	void (*defaults)(void *op);	/* what holds where a field is absent; NULL: zero */
	void (*gives)(struct call *call, const void *from);	/* sets the headers of the answer; NULL: none */
	uint32_t from;			/* FROM which member the answer is written; 0: the operation itself */
	size_t (*which)(const void *op);	/* of the answers; NULL: the first */
};

/* A member of a struct; INTO(struct x, op) is all of it. */
#define INTO(s, m) ((uint32_t)offsetof(s, m) + 1)
#define FROM(s, m) ((uint32_t)offsetof(s, m))

/* An operation with its address. */
struct operation {
	enum http_method method;
	const char *pattern;		/* "{}" stands for one piece of the path */
	const struct description *description;
};
/* All of them, in the order of the routes, ended by one without a pattern. */
const struct operation *operations_all(void);

/* --- Rows of a table of fields --- */

#define FIELD_BASE_(t, n, text) .type = (t), .name = {(n), sizeof(n) - 1}, .says = (text)
#define FIELD_NONE_ .offset = FIELD_NOWHERE
#define FIELD_AT_(s, m, T) .offset = _Generic(((s *)0)->m, T: (uint32_t)offsetof(s, m))
/* An enumeration counts as int or unsigned, whichever the compiler takes for it. */
#define FIELD_INT_AT_(s, m) \
	.offset = (uint32_t)offsetof(s, m), \
	.kind = _Generic(((s *)0)->m, \
			 int: MEMBER_I32, unsigned: MEMBER_U32, long: MEMBER_I64, unsigned long: MEMBER_U64, \
			 long long: MEMBER_I64, unsigned long long: MEMBER_U64, bool: MEMBER_BOOL)
#define FIELD_JSON_AT_(s, m) \
	.offset = (uint32_t)offsetof(s, m), \
	.kind = _Generic(((s *)0)->m, \
			 struct json: MEMBER_JSON, struct json *: MEMBER_JSON_POINTER, \
			 const struct json *: MEMBER_JSON_POINTER)
#define FIELD_LIST_AT_(s, m, c) \
	.offset = (uint32_t)offsetof(s, m), .item_size = sizeof(*((s *)0)->m), \
	.count_offset = _Generic(((s *)0)->c, size_t: (uint32_t)offsetof(s, c))

#define FIELD_TEXT(n, s, m, lo, hi, text, ...) \
	{FIELD_BASE_(TYPE_TEXT, n, text), FIELD_AT_(s, m, struct str), .min = (lo), .max = (hi), __VA_ARGS__}
/* Of an answer: a C string that is always there. */
#define FIELD_CSTR(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_TEXT, n, text), FIELD_AT_(s, m, const char *), .kind = MEMBER_CSTR, __VA_ARGS__}
#define FIELD_NAME(n, s, m, hi, text, ...) \
	{FIELD_BASE_(TYPE_NAME, n, text), FIELD_AT_(s, m, struct str), .min = 1, .max = (hi), __VA_ARGS__}
#define FIELD_AGENT(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_AGENT, n, text), FIELD_AT_(s, m, struct str), __VA_ARGS__}
#define FIELD_BOOL(n, s, m, text, ...) {FIELD_BASE_(TYPE_BOOL, n, text), FIELD_AT_(s, m, bool), __VA_ARGS__}
#define FIELD_INT(n, s, m, lo, hi, text, ...) \
	{FIELD_BASE_(TYPE_INT, n, text), FIELD_INT_AT_(s, m), .min = (lo), .max = (hi), __VA_ARGS__}
#define FIELD_NUMBER(n, s, m, lo, hi, text, ...) \
	{FIELD_BASE_(TYPE_NUMBER, n, text), FIELD_AT_(s, m, double), .min = (lo), .max = (hi), __VA_ARGS__}
#define FIELD_SECONDS(n, s, m, lo_ms, hi_ms, text, ...) \
	{FIELD_BASE_(TYPE_SECONDS, n, text), FIELD_AT_(s, m, int64_t), .min = (lo_ms), .max = (hi_ms), __VA_ARGS__}
#define FIELD_TIME(n, s, m, text, ...) {FIELD_BASE_(TYPE_TIME, n, text), FIELD_AT_(s, m, int64_t), __VA_ARGS__}
#define FIELD_MEMORY_ID(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_MEMORY_ID, n, text), FIELD_AT_(s, m, uint64_t), __VA_ARGS__}
#define FIELD_MEMORY_REF(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_MEMORY_REF, n, text), FIELD_AT_(s, m, struct memory_id), __VA_ARGS__}
#define FIELD_ENVELOPE_ID(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_ENVELOPE_ID, n, text), FIELD_AT_(s, m, uint64_t), __VA_ARGS__}
#define FIELD_HANDOFF_ID(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_HANDOFF_ID, n, text), FIELD_AT_(s, m, uint64_t), __VA_ARGS__}
#define FIELD_ALERT_ID(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_ALERT_ID, n, text), FIELD_AT_(s, m, int64_t), __VA_ARGS__}
#define FIELD_KEY_ID(n, s, m, text, ...) \
	{FIELD_BASE_(TYPE_KEY_ID, n, text), FIELD_AT_(s, m, uint64_t), __VA_ARGS__}
/* max_bytes 0: a word is looked for whatever its length; otherwise what is longer is too large. */
#define FIELD_ENUM(n, s, m, w, max_bytes, text, ...) \
	{FIELD_BASE_(TYPE_ENUM, n, text), FIELD_INT_AT_(s, m), .words = (w), .max = (max_bytes), __VA_ARGS__}
/* Of an answer: kept as the text that it is told as. */
#define FIELD_TOLD(t, n, s, m, text, ...) \
	{FIELD_BASE_(t, n, text), FIELD_AT_(s, m, struct str), .kind = MEMBER_TEXT, __VA_ARGS__}
#define FIELD_WORD(n, s, m, w, text, ...) FIELD_TOLD(TYPE_ENUM, n, s, m, text, .words = (w), __VA_ARGS__)
#define FIELD_OBJECT(n, s, m, text, ...) {FIELD_BASE_(TYPE_OBJECT, n, text), FIELD_JSON_AT_(s, m), __VA_ARGS__}
#define FIELD_ARRAY(n, s, m, hi, text, ...) \
	{FIELD_BASE_(TYPE_ARRAY, n, text), FIELD_JSON_AT_(s, m), .max = (hi), __VA_ARGS__}
#define FIELD_ANY(n, s, m, text, ...) {FIELD_BASE_(TYPE_ANY, n, text), FIELD_JSON_AT_(s, m), __VA_ARGS__}
#define FIELD_OBJECTS(n, s, m, hi, text, ...) \
	{FIELD_BASE_(TYPE_OBJECTS, n, text), FIELD_JSON_AT_(s, m), .max = (hi), __VA_ARGS__}
#define FIELD_NAMES(n, s, m, hi, bytes, text, ...) \
	{FIELD_BASE_(TYPE_NAMES, n, text), FIELD_JSON_AT_(s, m), .max = (hi), .item_max = (bytes), __VA_ARGS__}
#define FIELD_AGENTS(n, s, m, hi, text, ...) \
	{FIELD_BASE_(TYPE_AGENTS, n, text), FIELD_JSON_AT_(s, m), .max = (hi), __VA_ARGS__}
#define FIELD_MEMORY_REFS(n, s, m, hi, text, ...) \
	{FIELD_BASE_(TYPE_MEMORY_REFS, n, text), FIELD_JSON_AT_(s, m), .max = (hi), __VA_ARGS__}
/* The same, read into a pointer to struct memory_id and a count. */
#define FIELD_MEMORY_IDS(n, s, m, c, hi, text, ...) \
	{FIELD_BASE_(TYPE_MEMORY_REFS, n, text), FIELD_LIST_AT_(s, m, c), .kind = MEMBER_LIST, .max = (hi), __VA_ARGS__}
#define FIELD_RAW(n, s, m, text, ...) {FIELD_BASE_(TYPE_RAW, n, text), FIELD_AT_(s, m, struct str), __VA_ARGS__}
#define FIELD_TEXTS(n, s, m, c, text, ...) \
	{FIELD_BASE_(TYPE_TEXTS, n, text), FIELD_LIST_AT_(s, m, c), __VA_ARGS__}
#define FIELD_SHAPE(n, s, m, sh, text, ...) \
	{FIELD_BASE_(TYPE_SHAPE, n, text), .offset = (uint32_t)offsetof(s, m), .item_size = sizeof(((s *)0)->m), \
	 .shape = (sh), __VA_ARGS__}
/* The member is a pointer to the struct; NULL: there is none. */
#define FIELD_SHAPE_AT(n, s, m, sh, text, ...) \
	{FIELD_BASE_(TYPE_SHAPE, n, text), .offset = (uint32_t)offsetof(s, m), .kind = MEMBER_POINTER, \
	 .item_size = sizeof(*((s *)0)->m), .shape = (sh), __VA_ARGS__}
#define FIELD_SHAPES(n, s, m, c, hi, sh, text, ...) \
	{FIELD_BASE_(TYPE_SHAPES, n, text), FIELD_LIST_AT_(s, m, c), .max = (hi), .shape = (sh), __VA_ARGS__}
#define FIELD_INCLUDE(s, m, sh) \
	{.type = TYPE_INCLUDE, .offset = (uint32_t)offsetof(s, m), .item_size = sizeof(((s *)0)->m), .shape = (sh)}
#define FIELD_INCLUDE_AT(s, m, sh) \
	{.type = TYPE_INCLUDE, .offset = (uint32_t)offsetof(s, m), .kind = MEMBER_POINTER, \
	 .item_size = sizeof(*((s *)0)->m), .shape = (sh)}
/* The same where that bool is true. */
#define FIELD_INCLUDE_GIVEN(s, m, b, sh) \
	{.type = TYPE_INCLUDE, .offset = (uint32_t)offsetof(s, m), .item_size = sizeof(((s *)0)->m), .shape = (sh), \
	 .given = INTO(s, b)}
/* The struct itself is of that shape, too. */
#define FIELD_INCLUDE_SAME(s, sh) {.type = TYPE_INCLUDE, .offset = 0, .item_size = sizeof(s), .shape = (sh)}
/* An object of members of the struct itself. */
#define FIELD_SHAPE_SAME(n, s, sh, text, ...) \
	{FIELD_BASE_(TYPE_SHAPE, n, text), .offset = 0, .item_size = sizeof(s), .shape = (sh), __VA_ARGS__}
/* What only the functions at its end know how to read or write. */
#define FIELD_ODD(t, n, text, ...) {FIELD_BASE_(t, n, text), FIELD_NONE_, __VA_ARGS__}

/* The same without a member. */
#define DOC_TEXT(n, lo, hi, text, ...) FIELD_ODD(TYPE_TEXT, n, text, .min = (lo), .max = (hi), __VA_ARGS__)
#define DOC_NAME(n, hi, text, ...) FIELD_ODD(TYPE_NAME, n, text, .min = 1, .max = (hi), __VA_ARGS__)
#define DOC_AGENT(n, text, ...) FIELD_ODD(TYPE_AGENT, n, text, __VA_ARGS__)
#define DOC_BOOL(n, text, ...) FIELD_ODD(TYPE_BOOL, n, text, __VA_ARGS__)
#define DOC_INT(n, lo, hi, text, ...) FIELD_ODD(TYPE_INT, n, text, .min = (lo), .max = (hi), __VA_ARGS__)
#define DOC_NUMBER(n, lo, hi, text, ...) FIELD_ODD(TYPE_NUMBER, n, text, .min = (lo), .max = (hi), __VA_ARGS__)
#define DOC_SECONDS(n, lo_ms, hi_ms, text, ...) \
	FIELD_ODD(TYPE_SECONDS, n, text, .min = (lo_ms), .max = (hi_ms), __VA_ARGS__)
#define DOC_TIME(n, text, ...) FIELD_ODD(TYPE_TIME, n, text, __VA_ARGS__)
#define DOC_MEMORY_ID(n, text, ...) FIELD_ODD(TYPE_MEMORY_ID, n, text, __VA_ARGS__)
#define DOC_MEMORY_REF(n, text, ...) FIELD_ODD(TYPE_MEMORY_REF, n, text, __VA_ARGS__)
#define DOC_ENVELOPE_ID(n, text, ...) FIELD_ODD(TYPE_ENVELOPE_ID, n, text, __VA_ARGS__)
#define DOC_HANDOFF_ID(n, text, ...) FIELD_ODD(TYPE_HANDOFF_ID, n, text, __VA_ARGS__)
#define DOC_ALERT_ID(n, text, ...) FIELD_ODD(TYPE_ALERT_ID, n, text, __VA_ARGS__)
#define DOC_KEY_ID(n, text, ...) FIELD_ODD(TYPE_KEY_ID, n, text, __VA_ARGS__)
#define DOC_ENUM(n, w, max_bytes, text, ...) \
	FIELD_ODD(TYPE_ENUM, n, text, .words = (w), .max = (max_bytes), __VA_ARGS__)
#define DOC_OBJECT(n, text, ...) FIELD_ODD(TYPE_OBJECT, n, text, __VA_ARGS__)
#define DOC_ARRAY(n, hi, text, ...) FIELD_ODD(TYPE_ARRAY, n, text, .max = (hi), __VA_ARGS__)
#define DOC_ANY(n, text, ...) FIELD_ODD(TYPE_ANY, n, text, __VA_ARGS__)
#define DOC_OBJECTS(n, hi, text, ...) FIELD_ODD(TYPE_OBJECTS, n, text, .max = (hi), __VA_ARGS__)
#define DOC_NAMES(n, hi, bytes, text, ...) \
	FIELD_ODD(TYPE_NAMES, n, text, .max = (hi), .item_max = (bytes), __VA_ARGS__)
#define DOC_AGENTS(n, hi, text, ...) FIELD_ODD(TYPE_AGENTS, n, text, .max = (hi), __VA_ARGS__)
#define DOC_MEMORY_REFS(n, hi, text, ...) FIELD_ODD(TYPE_MEMORY_REFS, n, text, .max = (hi), __VA_ARGS__)
#define DOC_TEXTS(n, text, ...) FIELD_ODD(TYPE_TEXTS, n, text, __VA_ARGS__)
#define DOC_SHAPE(n, sh, text, ...) FIELD_ODD(TYPE_SHAPE, n, text, .shape = (sh), __VA_ARGS__)
#define DOC_SHAPES(n, hi, sh, text, ...) FIELD_ODD(TYPE_SHAPES, n, text, .max = (hi), .shape = (sh), __VA_ARGS__)
#define DOC_INCLUDE(sh) {.type = TYPE_INCLUDE, .offset = FIELD_NOWHERE, .shape = (sh)}
#define FIELDS_END {.type = TYPE_END}

/* --- Asking a table --- */

/* Must it be there? May it be null? By the shape that it stands in: a request or an answer. */
bool field_is_required(const struct shape *s, const struct field *f);
bool field_is_nullable(const struct shape *s, const struct field *f);
/* Is it a field of this shape at all? A patch leaves out what cannot be changed. */
bool field_is_shown(const struct shape *s, const struct field *f);
/* The field of that name, included ones too; NULL: there is none. */
const struct field *shape_find(const struct shape *s, struct str name);
/* NULL: there is none. */
const struct operation *operation_find(const char *id);
const char *scope_name(enum scope scope);
/* The same as one of enum access_scope; 0: none. */
unsigned scope_access(enum scope scope);
/* Has the key all scopes that the operation needs? */
enum problem_code scope_check(const struct description *d, const struct access *access, struct problem *problem);

#endif
