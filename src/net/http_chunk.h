/* Decoder of a chunked request body (RFC 9112, 7.1), a byte at a time or many.
 *
 * Strict: sizes have at most eight hexadecimal digits, lines end in CRLF, extensions are skipped up to a limit, and
 * trailer fields are refused.
 */
#ifndef SPINE_NET_HTTP_CHUNK_H
#define SPINE_NET_HTTP_CHUNK_H

#include "base/str.h"

struct http_chunk {
	uint32_t left;		/* bytes of the chunk in work that are still to come */
	uint16_t line_len;
	uint16_t extension_len;	/* of all chunks */
	uint8_t state;		/* enum chunk_state, in http_chunk.c; 0 at the start */
};

enum http_chunk_result {
	HTTP_CHUNK_MORE,	/* the input is used up */
	HTTP_CHUNK_DATA,	/* *ret_data is a piece of the body; call again */
	HTTP_CHUNK_SIZE,	/* a chunk of `left` bytes begins; call again */
	HTTP_CHUNK_END,		/* the body is whole; what is left in *input belongs to the next request */
	HTTP_CHUNK_BAD,
};

/* Takes bytes from the front of *input, up to the next event. Start with a zeroed decoder. */
enum http_chunk_result http_chunk_decode(struct http_chunk *chunk, struct str *input, struct str *ret_data);

#endif
