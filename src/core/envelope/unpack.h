/* A stored envelope, read back whole: the texts of its references are put in again from the memories' versions. */
#ifndef SPINE_CORE_UNPACK_H
#define SPINE_CORE_UNPACK_H

#include "core/envelope/envelope.h"

/* The problem of an envelope that is not there: P_ENVELOPE_PRUNED where it was, with `field`. */
enum problem_code unpack_missing(struct store_conn *c, int64_t space, uint64_t num, const char *field,
				 struct problem *problem);
/* The row of an envelope; P_ENVELOPE_NOT_FOUND or P_ENVELOPE_PRUNED, with `field`, where there is none. space may be 0:
 * nothing is in it. */
enum problem_code unpack_find(struct store_conn *c, int64_t space, uint64_t num, const char *field, struct arena *arena,
			      struct envelope_row *ret, struct problem *problem);
/* The envelope, found in the same way. Everything lives in the arena. */
enum problem_code unpack(struct store_conn *c, int64_t space, uint64_t num, const char *field, struct arena *arena,
			 struct envelope *ret, struct problem *problem);
/* The same for a row that was read already. */
enum problem_code unpack_row(struct store_conn *c, const struct envelope_row *row, struct arena *arena,
			     struct envelope *ret, struct problem *problem);
/* The same without the texts of the references, and without what became of the memories: takes no further read of
 * the store. */
enum problem_code unpack_skeleton(const struct envelope_row *row, struct arena *arena, struct envelope *ret,
				  struct problem *problem);
/* What the skeleton lacks. */
enum problem_code unpack_texts(struct store_conn *c, int64_t space, struct arena *arena, struct envelope *e,
			       struct problem *problem);
/* The text without what was redacted. */
struct str unpack_redacted(struct arena *arena, struct str text, const struct envelope_redaction *redactions,
			   size_t count);

enum unpack_verdict {
	UNPACK_INTACT,		/* content, digest and link to the parent match */
	/* A memory that it carried was forgotten since. The rest matches the digest of the body; of an envelope
	 * without one only its numbers and links were checked. */
	UNPACK_FORGOTTEN,
	UNPACK_DAMAGED,		/* does not match its digest */
	UNPACK_UNCHAINED,	/* does not match the digest that its child has of it, or the parent is not there */
	UNPACK_PRUNED,		/* it is not kept any more; the digest that is left is what its child has of it */
};

/* One envelope alone, and whether its parent is there and is the one that it was packed from. P_ENVELOPE_NOT_FOUND
 * where there is none. */
enum problem_code unpack_verify_one(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				    enum unpack_verdict *ret, struct problem *problem);
/* Follows the chain from num to its root. *ret_at is the first envelope that is not intact (UNPACK_DAMAGED,
 * UNPACK_UNCHAINED), or num itself. *ret_checked counts the envelopes that were looked at. */
enum problem_code unpack_verify(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				enum unpack_verdict *ret, uint64_t *ret_at, size_t *ret_checked,
				struct problem *problem);

#endif
