/* A file that only the owner of a private key can read, and that tells whether it is whole.
 *
 * FORMAT. All numbers have their highest byte first.
 *
 *     8 bytes    "SPNENC1\n"
 *     1 byte     how the key of the file is given: 1 X25519, 2 RSA
 *     2 bytes    the length of what follows
 *     ...        1: a public key of X25519, made for this file. The file's key is HKDF-SHA256 of what it shares with
 *                   the receiver's, with both public keys (this one first) as salt, and "memory-spine backup 1" as
 *                   info
 *                2: the file's key, by RSA-OAEP with SHA-256 and MGF1 with SHA-256
 *     chunks     of 65,536 bytes each, the last one shorter (or empty): AES-256-GCM of them, and its tag of 16 bytes
 *
 * The nonce of a chunk is 3 zeros, its number (8 bytes, from 0) and 1 for the last one, else 0. All that stands before
 * the chunks is authenticated with each. So a byte that has changed, chunks in another order, one that is missing and
 * an end that was cut off are all found. The key serves for this file alone: a nonce is never used twice.
 */
#ifndef SPINE_ADMIN_ENCRYPTED_H
#define SPINE_ADMIN_ENCRYPTED_H

#include "base/buf.h"

/* The key that a file is read with. */
struct encrypted_key {
	const char *file;		/* PEM; only its owner may be able to read it */
	const char *passphrase_file;	/* whose first line opens it; NULL: it needs none */
};

/* Each returns true on success; else *error has a sentence. */

/* Whether to is the PEM file of a public key that can be used. */
bool encrypted_key_is_good(const char *to, struct buf *error);
/* Writes from, encrypted to the public key, to a new file of mode 0600, and syncs it. What could not be finished is
 * removed. */
bool encrypted_write(const char *from, const char *file, const char *to, struct buf *error);
/* Reads all of it and writes nothing. */
bool encrypted_verify(const char *file, const struct encrypted_key *key, struct buf *error);
/* The same, and writes what it holds to a new file of mode 0600. */
bool encrypted_read(const char *file, const struct encrypted_key *key, const char *to, struct buf *error);
/* Whether a file is one of these; false also where it cannot be read. */
bool encrypted_is(const char *file);

#endif
