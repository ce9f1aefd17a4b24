/* Reading an envelope, and what is kept beside it. */
#ifndef SPINE_ENGINE_ENVELOPE_GET_H
#define SPINE_ENGINE_ENVELOPE_GET_H

#include "core/envelope/considered.h"
#include "core/envelope/fidelity.h"
#include "core/envelope/since.h"
#include "core/envelope/unpack.h"
#include "engine/op.h"

enum envelope_format { ENVELOPE_AS_JSON, ENVELOPE_AS_PROMPT, ENVELOPE_AS_V1, ENVELOPE_AS_BOTH };

struct envelope_get {
	struct op op;
	/* In. */
	uint64_t num;
	enum envelope_format format;
	/* Out. */
	struct envelope envelope;
	struct since_result *results;	/* of ENVELOPE_AS_JSON: those that have come since */
	size_t result_count;
};

extern const struct op_kind envelope_get_kind;

/* Are it and those before it as they were packed? */
struct envelope_verify {
	struct op op;
	/* In. */
	uint64_t num;
	/* Out. */
	enum unpack_verdict verdict;
	bool is_ok;			/* intact, but for what was forgotten or pruned */
	uint64_t at;			/* the first that is not; 0: there is none */
	size_t checked;
};

extern const struct op_kind envelope_verify_kind;

/* Who opened which of its memories. */
struct envelope_receipts {
	struct op op;
	/* In. */
	uint64_t num;
	/* Out. */
	struct receipt_row *rows;
	size_t count;
};

extern const struct op_kind envelope_receipts_kind;

/* What it was chosen from. */
struct envelope_considered {
	struct op op;
	/* In. */
	uint64_t num;
	/* Out. */
	struct considered considered;
};

extern const struct op_kind envelope_considered_kind;

/* What one envelope kept of another. */
struct envelope_diff {
	struct op op;
	/* In. */
	uint64_t nums[2];
	/* Out. */
	struct fidelity kept;
};

extern const struct op_kind envelope_diff_kind;

#endif
