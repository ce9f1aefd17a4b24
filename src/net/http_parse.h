/* The parser's side of a request head: where llhttp finds the target and the header fields.
 *
 * llhttp.h and net/http.h both define HTTP_GET and its like, so that no file can include both: this header names
 * nothing of llhttp, and http_parse.c nothing of net/http.h.
 */
#ifndef SPINE_NET_HTTP_PARSE_H
#define SPINE_NET_HTTP_PARSE_H

#include "base/str.h"

/* A header field, as offsets into the head's bytes: half the size of two slices, and still right in a copy. */
struct http_field {
	uint32_t name_at;
	uint32_t name_len;	/* 0 where the field has been joined to an earlier one */
	uint32_t value_at;
	uint32_t value_len;
};

enum http_parse_result {
	HTTP_PARSE_OK,
	HTTP_PARSE_BAD,
	HTTP_PARSE_BAD_METHOD,
	HTTP_PARSE_BAD_TARGET,
	HTTP_PARSE_BAD_LENGTH,		/* Content-Length is not a number */
	HTTP_PARSE_BAD_FRAMING,		/* there are two lengths, or a length and a transfer coding */
	HTTP_PARSE_TOO_MANY,
};

struct http_parse {
	const char *base;
	struct http_field *fields;	/* borrowed, room for fields_max */
	size_t fields_max;
	size_t fields_len;
	struct str url;
	/* What the parser believes about the framing; http_head.c has its own opinion, and both must agree. */
	uint64_t content_length;
	bool has_content_length;
	bool is_chunked;
	/* In work. */
	bool has_value;
	bool is_complete;
	bool is_overfull;
};

/* head is one whole request head, up to and including its empty line. base, fields and fields_max are set by the
 * caller, the rest is set here. */
enum http_parse_result http_parse_head(struct http_parse *parse, struct str head);

#endif
