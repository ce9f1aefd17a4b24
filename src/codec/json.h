/* JSON, read strictly and written plainly.
 *
 * Reading is simdjson's work (json_parse.cc); this module adds what the protocol asks for: duplicate names are refused,
 * depth is limited, and a number that a double cannot hold exactly as an integer (beyond ±(2^53-1)) is refused instead
 * of being rounded. The result is a tree in the caller's arena. Why a text was refused, and where, is found by a
 * second, slower reader (json_scan.c) that runs on refused texts only.
 *
 * What is read can be written and read again: a number of 2^53 up to 1e21 would be written with all its digits, as an
 * integer, so it is refused in any spelling (1e20, too). From 1e21 on a number is written with an exponent, nobody
 * takes it for an exact integer, and it is kept as a double.
 *
 * A string may hold U+0000 (written \u0000 in the text): go by its length, not by its terminator.
 */
#ifndef SPINE_CODEC_JSON_H
#define SPINE_CODEC_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever max_depth a caller asks for, it is at most this: reading and writing a tree take stack by its depth. */
enum { JSON_DEPTH_MAX = 1000 };

/* 2^53-1: every integer up to it has a double of its own. */
#define JSON_INT_MAX INT64_C(9007199254740991)

/* Of simdjson. */
const char *json_library_version(void);

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_DOUBLE, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json {
	enum json_type type;
	uint32_t count;			/* of an array or object */
	union {
		bool boolean;
		int64_t i;
		double d;
		struct str s;		/* also terminated with a NUL */
		struct json *items;	/* NULL where count is 0 */
		struct json_member *members;	/* in the order of the text */
	};
};

struct json_member {
	struct str key;
	struct json value;
};

struct json_error {
	const char *code;	/* "invalid_json", "invalid_utf8", "duplicate_key", "too_deep", "number_out_of_range" */
	char detail[200];	/* a sentence */
	size_t offset;		/* of the byte in question, where known, else 0 */
};

/* Parses all of text. On success the tree is in *ret and lives in the arena; nothing points into text. On failure
 * returns false, fills *ret_error and leaves *ret alone (the arena may have grown). A scalar has depth 0, [] has 1,
 * [[]] has 2. Any number of threads may parse at once: each keeps a parser and its buffers until the thread ends. */
bool json_parse(struct str text, int max_depth, struct arena *arena, struct json *ret, struct json_error *ret_error);
/* After json_parse of a secret of that many bytes, on the same thread: what is kept for the next text is wiped. */
void json_forget(size_t len);

/* The member named key, or NULL. obj may be of any type (NULL for all but objects), and may be NULL. */
const struct json *json_get_str(const struct json *obj, struct str key);
/* The value of an integer, or of a double that is one (5.0, 1e2), within ±JSON_INT_MAX. False, and *ret untouched, for
 * anything else, NULL included. */
bool json_as_int(const struct json *value, int64_t *ret);
/* The same value: numbers by what they are (5 and 5.0 are equal), objects whatever the order of their members. */
bool json_equal(const struct json *a, const struct json *b);
/* Fills ret[0 … obj->count - 1] with the members of an object in canonical order: by the UTF-16 code units of their
 * names, which is not the order of their bytes (U+1F600 comes before U+FB33). */
void json_sort_members(const struct json *obj, const struct json_member **ret);
const char *json_type_name(enum json_type type);	/* "a string", "an object", … for error texts */

/* --- Writing. Commas are put in where needed; the caller opens and closes. --- */

struct json_writer {
	struct buf *out;	/* borrowed */
	bool comma;		/* a value was just written at this level */
	const void *only;	/* for those who write by tables: which members to write; NULL: all */
};

void json_writer_init(struct json_writer *w, struct buf *out);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key_str(struct json_writer *w, struct str key);
void json_put_null(struct json_writer *w);
void json_put_bool(struct json_writer *w, bool value);
void json_put_int(struct json_writer *w, int64_t value);
/* The shortest text that reads back as the same double, as ECMAScript writes it (RFC 8785, 3.2.2.3); finite only. */
void json_put_double(struct json_writer *w, double value);
/* Must be UTF-8. Escapes as RFC 8785 does: only what must be. */
void json_put_str(struct json_writer *w, struct str value);
/* Bytes that are JSON already. */
void json_put_raw(struct json_writer *w, struct str json);
/* A tree, in its own order of members. */
void json_put(struct json_writer *w, const struct json *value);
/* A tree in canonical form (RFC 8785): members sorted by their UTF-16 code units. */
void json_put_canonical(struct json_writer *w, const struct json *value);

/* --- The same for strings with a NUL. Here, so that the compiler measures those that it knows. --- */

static inline const struct json *json_get(const struct json *obj, const char *key)
{
	return json_get_str(obj, str_of(key));
}

static inline void json_key(struct json_writer *w, const char *key)
{
	json_key_str(w, str_of(key));
}

static inline void json_put_cstr(struct json_writer *w, const char *value)
{
	json_put_str(w, str_of(value));
}

/* Both at once: a member of the object being written. */
static inline void json_member_str(struct json_writer *w, const char *key, struct str value)
{
	json_key(w, key);
	json_put_str(w, value);
}

static inline void json_member_cstr(struct json_writer *w, const char *key, const char *value)
{
	json_member_str(w, key, str_of(value));
}

static inline void json_member_int(struct json_writer *w, const char *key, int64_t value)
{
	json_key(w, key);
	json_put_int(w, value);
}

static inline void json_member_double(struct json_writer *w, const char *key, double value)
{
	json_key(w, key);
	json_put_double(w, value);
}

static inline void json_member_bool(struct json_writer *w, const char *key, bool value)
{
	json_key(w, key);
	json_put_bool(w, value);
}

#ifdef __cplusplus
}
#endif

#endif
