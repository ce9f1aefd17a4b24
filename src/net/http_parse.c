/* llhttp over a whole head, with none of its lenient flags.
 *
 * The head is given in one piece, so that every span comes in one call: a second value span for the same field
 * means a folded line, and is refused. The parser is stopped where the head ends; bodies are not its business.
 */
#include "net/http_parse.h"

#include <assert.h>
#include <llhttp.h>

static int on_url(llhttp_t *llhttp, const char *at, size_t length)
{
	struct http_parse *parse = llhttp->data;

	parse->url = (struct str){at, length};
	return 0;
}

static int on_field(llhttp_t *llhttp, const char *at, size_t length)
{
	struct http_parse *parse = llhttp->data;

	if (parse->fields_len == parse->fields_max) {
		parse->is_overfull = true;
		return HPE_USER;
	}
	parse->fields[parse->fields_len++] = (struct http_field){
		.name_at = (uint32_t)(at - parse->base),
		.name_len = (uint32_t)length,
		.value_at = (uint32_t)(at - parse->base),
	};
	parse->has_value = false;
	return 0;
}

static int on_value(llhttp_t *llhttp, const char *at, size_t length)
{
	struct http_parse *parse = llhttp->data;
	struct str value = str_trim((struct str){at, length});
	struct http_field *field;

	if (parse->has_value || parse->fields_len == 0)
		return HPE_USER;
	parse->has_value = true;
	field = &parse->fields[parse->fields_len - 1];
	field->value_at = (uint32_t)(value.p - parse->base);
	field->value_len = (uint32_t)value.n;
	return 0;
}

static int on_headers_complete(llhttp_t *llhttp)
{
	struct http_parse *parse = llhttp->data;

	parse->is_complete = true;
	return HPE_PAUSED;
}

static enum http_parse_result result_of(const llhttp_t *llhttp, llhttp_errno_t err)
{
	switch (err) {
	case HPE_INVALID_METHOD:
		return HTTP_PARSE_BAD_METHOD;
	case HPE_INVALID_URL:
		return HTTP_PARSE_BAD_TARGET;
	case HPE_INVALID_CONTENT_LENGTH:
		/* llhttp 9 says so of any length behind a Transfer-Encoding, too. */
		return llhttp->flags & F_TRANSFER_ENCODING ? HTTP_PARSE_BAD_FRAMING : HTTP_PARSE_BAD_LENGTH;
	case HPE_UNEXPECTED_CONTENT_LENGTH:
	case HPE_INVALID_TRANSFER_ENCODING:
		return HTTP_PARSE_BAD_FRAMING;
	default:
		return HTTP_PARSE_BAD;
	}
}

enum http_parse_result http_parse_head(struct http_parse *parse, struct str head)
{
	static const llhttp_settings_t settings = {
		.on_url = on_url,
		.on_header_field = on_field,
		.on_header_value = on_value,
		.on_headers_complete = on_headers_complete,
	};
	llhttp_t llhttp;
	llhttp_errno_t err;

	parse->fields_len = 0;
	parse->url = STR_NULL;
	parse->has_value = parse->is_complete = parse->is_overfull = false;

	llhttp_init(&llhttp, HTTP_REQUEST, &settings);
	llhttp.data = parse;
	err = llhttp_execute(&llhttp, head.p, head.n);
	if (parse->is_overfull)
		return HTTP_PARSE_TOO_MANY;
	if (err != HPE_PAUSED || !parse->is_complete || llhttp_get_error_pos(&llhttp) != head.p + head.n)
		return result_of(&llhttp, err);
	assert(llhttp.lenient_flags == 0);
	parse->content_length = llhttp.content_length;
	parse->has_content_length = llhttp.flags & F_CONTENT_LENGTH;
	parse->is_chunked = llhttp.flags & F_CHUNKED;
	return HTTP_PARSE_OK;
}
