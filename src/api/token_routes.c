/* POST /v1/tokens */
#include "api/decode.h"
#include "api/routes.h"
#include "token/token.h"

struct count {
	struct str text;
	const struct tokenizer *tokenizer;
	size_t tokens;
};

static enum problem_code unknown_tokenizer(struct call *call, struct str name)
{
	struct buf names;
	enum problem_code code;

	buf_init(&names, 1024);
	for (size_t i = 0; tokenizer_at(i); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", tokenizer_name(tokenizer_at(i)));
	code = problem_set(&call->op->problem, P_UNKNOWN_TOKENIZER, "tokenizer",
			   "there is no tokenizer \"%.*s\"; expected one of %s", (int)(name.n < 64 ? name.n : 64),
			   name.p, names.data);
	buf_release(&names);
	return code;
}

static enum problem_code decode_count(struct call *call)
{
	static const char *const known[] = {"text", "tokenizer", NULL};
	struct count *count = arena_zalloc(call->op->arena, sizeof(*count));
	const struct json *text = decode_member(&call->body, "text");
	struct str name = STR(TOKENIZER_DEFAULT);
	enum problem_code code;

	call->input = count;
	call_warn_unknown_members(call, &call->body, known, "");
	if (text == NULL || text->type != JSON_STRING)
		return problem_set(&call->op->problem, text ? P_INVALID_FIELD : P_MISSING_FIELD, "text",
				   "text is %s; expected a string", text ? json_type_name(text->type) : "missing");
	count->text = text->s;
	code = decode_str(&call->body, "tokenizer", 0, 1024, &name, &call->op->problem);
	if (code != P_OK)
		return code;
	count->tokenizer = tokenizer_find(name);
	return count->tokenizer ? P_OK : unknown_tokenizer(call, name);
}

static enum problem_code read_count(struct call *call, struct store_conn *c)
{
	struct count *count = call->input;

	(void)c;
	count->tokens = tokenizer_count(count->tokenizer, count->text);
	return P_OK;
}

static void encode_count(struct call *call)
{
	struct count *count = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_int(&w, "tokens", (int64_t)count->tokens);
	json_member_cstr(&w, "tokenizer", tokenizer_name(count->tokenizer));
	json_member_bool(&w, "estimate", tokenizer_is_estimate(count->tokenizer));
	call_end_reply(call, &w);
}

const struct route token_routes[] = {
	{HTTP_POST, "/v1/tokens", ROUTE_BODY | ROUTE_NO_SPACE, .decode = decode_count, .read = read_count,
	 .encode = encode_count},
	{0},
};
