#include "engine/token_count.h"

static enum problem_code unknown_tokenizer(struct op *op, struct str name)
{
	struct buf names;
	enum problem_code code;

	buf_init(&names, 1024);
	for (size_t i = 0; tokenizer_at(i); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", tokenizer_name(tokenizer_at(i)));
	code = problem_set(&op->problem, P_UNKNOWN_TOKENIZER, "tokenizer",
			   "there is no tokenizer \"%.*s\"; expected one of %s", (int)(name.n < 64 ? name.n : 64),
			   name.p, names.data);
	buf_release(&names);
	return code;
}

static enum problem_code count(struct op *op, struct store_conn *c)
{
	struct token_count *t = (struct token_count *)op;
	const struct tokenizer *tokenizer = tokenizer_find(t->name);

	(void)c;
	if (tokenizer == NULL)
		return unknown_tokenizer(op, t->name);
	if (op_is_too_much(op, t->text.n))
		return P_OVERLOADED;
	t->tokens = tokenizer_count(tokenizer, t->text);
	t->counted_by = str_of(tokenizer_name(tokenizer));
	t->is_estimate = tokenizer_is_estimate(tokenizer);
	return P_OK;
}

const struct op_kind token_count_kind = {
	.name = "token_count", .size = sizeof(struct token_count), .flags = OP_NO_SPACE, .read = count,
};
