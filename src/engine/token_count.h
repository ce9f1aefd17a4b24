/* How many tokens a text has. */
#ifndef SPINE_ENGINE_TOKEN_COUNT_H
#define SPINE_ENGINE_TOKEN_COUNT_H

#include "engine/op.h"
#include "token/token.h"

struct token_count {
	struct op op;
	/* In. */
	struct str text;
	struct str name;		/* of the tokenizer */
	/* Out. */
	size_t tokens;
	struct str counted_by;		/* the name of the tokenizer, as it is written */
	bool is_estimate;
};

extern const struct op_kind token_count_kind;

#endif
