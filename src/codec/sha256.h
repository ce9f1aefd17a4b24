/* SHA-256, through OpenSSL. */
#ifndef SPINE_CODEC_SHA256_H
#define SPINE_CODEC_SHA256_H

#include "base/str.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

void sha256(struct str data, uint8_t ret[SHA256_SIZE]);
/* Lower-case hexadecimal, terminated. */
void sha256_hex(struct str data, char ret[SHA256_HEX_SIZE]);

#endif
