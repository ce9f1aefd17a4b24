/* Keys: the text that somebody shows, what is kept of it, and whether it is valid.
 *
 *     spk_7_…    the text: the key's number, and 32 random bytes as 43 characters of base64url
 *     key-7      its id, for people
 *
 * The text is shown once, when it is made. What is kept is its SHA-256: 256 bits of chance need no slow hash.
 */
#ifndef SPINE_CORE_ACCESS_ACCESS_KEY_H
#define SPINE_CORE_ACCESS_ACCESS_KEY_H

#include "codec/sha256.h"
#include "core/access/access.h"

enum {
	ACCESS_KEY_RANDOM = 32,
	ACCESS_KEY_TEXT_SIZE = 72,	/* "spk_", up to 19 digits, "_", 43 characters, NUL */
	ACCESS_KEY_NAME_MAX = 128,
	ACCESS_KEY_REASON_MAX = 1024,
};
#define ACCESS_KEY_NUM_MAX UINT64_C(0x7fffffffffffffff)

void access_key_text(uint64_t num, const uint8_t random[ACCESS_KEY_RANDOM], char ret[ACCESS_KEY_TEXT_SIZE]);
/* Whether it looks like one, and which number it names. */
bool access_key_parse(struct str text, uint64_t *ret_num);
void access_key_hash(struct str text, uint8_t ret[SHA256_SIZE]);

/* "key-7". */
bool access_key_id_parse(struct str id, uint64_t *ret_num);

/* ACCESS_KEY_WRONG comes first whatever else is the matter: only who has the right secret learns that it has ended. */
enum access_key_state { ACCESS_KEY_WRONG, ACCESS_KEY_VALID, ACCESS_KEY_EXPIRED, ACCESS_KEY_REVOKED };

/* Of a secret with that hash. Takes as long whether it is right or not. *ret_secret is struct access's. */
enum access_key_state access_key_check(const struct access_key_row *key, const uint8_t hash[SHA256_SIZE],
				       int64_t now_ms, uint64_t *ret_secret);
/* Of a secret that was right before. */
enum access_key_state access_key_still(const struct access_key_row *key, uint64_t secret, int64_t now_ms);
/* Of the key, whichever secret is shown. */
enum access_key_state access_key_state(const struct access_key_row *key, int64_t now_ms);
/* When something about it ends next, after that; 0: nothing does. */
int64_t access_key_next_end(const struct access_key_row *key, int64_t now_ms);

/* A new secret: the one before stays valid for so long, but no longer than the key. */
void access_key_rotate(struct access_key_row *key, const uint8_t hash[SHA256_SIZE], int64_t old_until_ms);

/* What somebody who holds it may do. Borrows the row's texts. */
struct access access_key_grant(const struct access_key_row *key, uint64_t secret);
/* The trust of a key for which nobody says it. */
enum trust access_key_usual_trust(unsigned scopes, struct str agent);
/* The first key closes a server to everybody else, so it must be able to make others. */
bool access_key_may_be_first(const struct access_key_row *key);
#define ACCESS_KEY_FIRST_MUST \
	"the first key closes the server to everybody else, so it must be able to make others: scope admin, space " \
	"\"*\", no agent"
/* May a key be made like that? Sets P_INVALID_FIELD: a name that hides something would pass for another in a list or in
 * the audit, and an agent that is admin could take the work of others. Those that there are keep what they have. */
enum problem_code access_key_may_be_made(const struct access_key_row *key, struct problem *problem);
/* Is it what a key can be? A row of a store that was tampered with or damaged is not. */
bool access_key_is_sound(const struct access_key_row *key);

#endif
