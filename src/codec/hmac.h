/* HMAC with SHA-256 (RFC 2104), through OpenSSL. */
#ifndef SPINE_CODEC_HMAC_H
#define SPINE_CODEC_HMAC_H

#include "base/str.h"

enum { HMAC_SHA256_SIZE = 32 };

/* Over the parts, one behind the other, as if they were one text. A key of any length. */
void hmac_sha256(struct str key, const struct str *parts, size_t count, uint8_t ret[HMAC_SHA256_SIZE]);

#endif
