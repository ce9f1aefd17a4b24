/* SHA-256, through OpenSSL. */
#ifndef SPINE_CODEC_SHA256_H
#define SPINE_CODEC_SHA256_H

#include "base/str.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

void sha256(struct str data, uint8_t ret[SHA256_SIZE]);
/* Lower-case hexadecimal, terminated. */
void sha256_hex(struct str data, char ret[SHA256_HEX_SIZE]);

/* Takes as long whatever they are: for what somebody may try to guess. */
bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]);

#endif
