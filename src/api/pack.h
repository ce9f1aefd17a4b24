/* agent_handoff on behalf of a call: an envelope is packed on the HTTP thread and stored by the writer. */
#ifndef SPINE_API_PACK_H
#define SPINE_API_PACK_H

#include "api/envelope_decode.h"
#include "core/envelope/considered.h"

enum { PACK_DRY_RUNS = 3 };

/* The usual budgets, for a dry run. */
extern const int64_t pack_dry_budgets[PACK_DRY_RUNS];

struct pack_dry {
	struct envelope envelope;
	struct problem problem;
};

struct pack {
	struct handoff_input in;
	struct envelope envelope;
	struct str considered;		/* what it was chosen from, to be kept beside it */
	bool has_texts;			/* of memories, which may be forgotten: then the next is set */
	uint8_t body_digest[32];
	struct problem refusal;		/* the chain may not go on: its last envelope is parked when that is written */
	struct pack_dry dry[PACK_DRY_RUNS];
	struct considered dry_considered;
};

/* Reads the request, which is the call's body or a part of it. */
enum problem_code pack_decode(struct call *call, const struct json *body, struct pack *ret);
/* Finds the successor where it is asked for, and packs the envelope. */
enum problem_code pack_prepare(struct call *call, struct store_conn *c, struct pack *p);
/* Stores it. Where the chain may not go on (hop limit, loop) its last envelope is parked instead, and that is the
 * problem. */
enum problem_code pack_write(struct call *call, struct store_conn *c, struct pack *p);

#endif
