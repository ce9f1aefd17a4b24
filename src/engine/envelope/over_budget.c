#include "engine/envelope/over_budget.h"

#include "core/delivery/agent.h"
#include "token/token.h"

enum { NAMED_MAX = 5, COUNTED_MAX = 100, TEXT_MAX = 4096 };

static bool is_over(struct op *op, struct store_conn *c, const struct envelope *e, struct str name,
		    int64_t *ret_max_tokens)
{
	struct problem problem = {0};
	struct agent agent;
	struct arena arena;
	bool is_over = false;

	if (str_eq(name, e->to))
		return false;
	arena_init(&arena);
	if (agent_read(c, op->space, name, &arena, &agent, &problem) == P_OK && agent.max_tokens) {
		struct str tokenizer = agent.tokenizer.p ? agent.tokenizer : STR(TOKENIZER_DEFAULT);

		is_over = str_eq(tokenizer, e->tokenizer) && e->token_count > agent.max_tokens;
		*ret_max_tokens = agent.max_tokens;
	}
	arena_release(&arena);
	return is_over;
}

static bool is_among(const struct str *names, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

void over_budget_warn(struct op *op, struct store_conn *c, const struct envelope *e, const char *field,
		      const struct str *agents, size_t count)
{
	struct str names[COUNTED_MAX];
	struct buf text;
	size_t over = 0;

	buf_init(&text, TEXT_MAX);
	for (size_t i = 0; i < count && over < COUNTED_MAX; i++) {
		int64_t max_tokens;

		if (is_among(names, over, agents[i]) || !is_over(op, c, e, agents[i], &max_tokens))
			continue;
		if (over < NAMED_MAX)
			buf_printf(&text, "%s%.*s takes %lld tokens", over ? ", " : "", STR_ARG(agents[i]),
				   (long long)max_tokens);
		names[over++] = agents[i];
	}
	if (over > NAMED_MAX)
		buf_printf(&text, ", and %zu%s take too few", over - NAMED_MAX,
			   over == COUNTED_MAX ? " or more others" : " more");
	if (over)
		op_warn(op, "over_budget", str_of(field),
			  arena_printf(op->arena, "%.*s; the envelope has %lld, packed for %.*s. It was sent all the "
				       "same; an envelope of its own would fit",
				       STR_ARG(buf_str(&text)), (long long)e->token_count, STR_ARG(e->to)));
	buf_release(&text);
}
