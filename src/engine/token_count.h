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
	const struct tokenizer *tokenizer;
	size_t tokens;
};

extern const struct op_kind token_count_kind;

#endif
