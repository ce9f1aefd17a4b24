/* The rules for a request head: what is let in, and what is refused.
 *
 * Two steps. http_scan() follows the bytes as they arrive, until the head's empty line: it knows lines, not their
 * meaning, and refuses early what no head may hold. http_head_parse() then reads the whole head. Whatever is
 * ambiguous is refused, never repaired.
 */
#ifndef SPINE_NET_HTTP_HEAD_H
#define SPINE_NET_HTTP_HEAD_H

#include "net/http.h"
#include "net/http_parse.h"

/* Why a request is refused. All strings are static. */
struct http_problem {
	int status;
	const char *code;
	const char *detail;
};

struct http_scan {
	uint32_t at;		/* bytes seen */
	uint32_t line_at;	/* where the line in work begins */
	uint32_t lines;		/* lines that are whole, without an empty one in front */
};

enum http_scan_result { HTTP_SCAN_MORE, HTTP_SCAN_DONE, HTTP_SCAN_REFUSED };

/* data is everything since the start of the request: the same bytes as in the last call, and more. Start with a zeroed
 * scan. DONE: the head is the first scan->at bytes. REFUSED: *ret_problem is set. */
enum http_scan_result http_scan(struct http_scan *scan, struct str data, const struct http_limits *limits,
				const struct http_problem **ret_problem);

struct http_head {
	enum http_method method;
	struct str method_name;
	struct str path;
	struct str query;
	uint64_t content_length;	/* 0 where it has none, or is chunked */
	bool is_chunked;
	bool is_http10;
	bool keep_alive;
	bool expects_continue;
	bool has_duplicates;		/* of fields that may be joined */
	struct http_field *fields;	/* names in lower case */
	size_t fields_len;
};

/* head: a whole head that has passed http_scan(); the names of its fields are turned to lower case in place. fields:
 * borrowed room for limits->max_headers. Returns NULL and fills *ret (slices of head), or why it is refused. */
const struct http_problem *http_head_parse(char *head, size_t head_len, const struct http_limits *limits,
					   struct http_field *fields, struct http_head *ret);

/* Whether it is a word that the name of a field or a method can be (RFC 9110, 5.6.2). */
bool http_head_is_token(struct str s);

#endif
