/* The key of one encrypted file, and how it is given to the owner of a private key; see encrypted.h for the format. */
#ifndef SPINE_ADMIN_ENCRYPTED_KEY_H
#define SPINE_ADMIN_ENCRYPTED_KEY_H

#include "admin/encrypted.h"

/* RSA of 16,384 bits is the largest that OpenSSL makes. */
enum { ENCRYPTED_KEY_BYTES = 32, ENCRYPTED_WRAPPED_MAX = 2048 };

/* Makes a key for a new file, and what stands in the file for it. to is the PEM file of a public key. Returns the
 * kind, 0 and a sentence on failure. */
int encrypted_key_make(const char *to, unsigned char ret_wrapped[ENCRYPTED_WRAPPED_MAX], size_t *ret_len,
		       unsigned char ret_key[ENCRYPTED_KEY_BYTES], struct buf *error);
/* The other way, with the private key. That it is another one's can be seen with RSA only: with X25519 a key comes out
 * that opens nothing. */
bool encrypted_key_open(const struct encrypted_key *with, const char *file, int kind, const unsigned char *wrapped,
			size_t len, unsigned char ret_key[ENCRYPTED_KEY_BYTES], struct buf *error);

#endif
