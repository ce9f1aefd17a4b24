/* POST /v1/tokens */
#include "api/decode.h"
#include "api/routes.h"
#include "engine/token_count.h"

static enum problem_code decode_count(struct call *call)
{
	static const char *const known[] = {"text", "tokenizer", NULL};
	struct token_count *t = call_op(call);
	const struct json *text = decode_member(&call->body, "text");

	call_warn_unknown_members(call, &call->body, known, "");
	if (text == NULL || text->type != JSON_STRING)
		return problem_set(&call->op->problem, text ? P_INVALID_FIELD : P_MISSING_FIELD, "text",
				   "text is %s; expected a string", text ? json_type_name(text->type) : "missing");
	t->text = text->s;
	t->name = STR(TOKENIZER_DEFAULT);
	return decode_str(&call->body, "tokenizer", 0, 1024, &t->name, &call->op->problem);
}

static void encode_count(struct call *call)
{
	const struct token_count *t = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_int(&w, "tokens", (int64_t)t->tokens);
	json_member_cstr(&w, "tokenizer", tokenizer_name(t->tokenizer));
	json_member_bool(&w, "estimate", tokenizer_is_estimate(t->tokenizer));
	call_end_reply(call, &w);
}

const struct route token_routes[] = {
	{HTTP_POST, "/v1/tokens", ROUTE_BODY, &token_count_kind, decode_count, encode_count},
	{0},
};
