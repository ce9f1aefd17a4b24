/* Base64 (RFC 4648), strict both ways. */
#ifndef SPINE_CODEC_BASE64_H
#define SPINE_CODEC_BASE64_H

#include "base/buf.h"

enum base64_kind {
	BASE64_PADDED,	/* section 4: + and /, filled up with = */
	BASE64_URL	/* section 5: - and _, without padding; stands in a URL as it is */
};

/* Appends the text of data. */
void base64_encode(struct str data, enum base64_kind kind, struct buf *out);

/* Appends the bytes of text. False where text is not what base64_encode gives for some data (another alphabet, spaces,
 * padding missing or too much, bits that should be 0), or where the buffer overflowed; out then has its old content. */
bool base64_decode(struct str text, enum base64_kind kind, struct buf *out);

#endif
