#include "api/call.h"

#include "api/translate.h"

void call_warn(struct call *call, const char *code, struct str field, struct str detail)
{
	op_warn(call->op, code, field, detail);
}

void call_warn_unknown(struct call *call, struct str field)
{
	call_warn(call, "unknown_field", field, STR("this field is not known here and was ignored"));
}

/* A name that was cut within a character must not make the reply invalid. */
static struct str whole_characters(struct str s)
{
	while (s.n > 0 && !str_is_utf8(s))
		s.n--;
	return s;
}

void call_end_reply(struct call *call, struct json_writer *w)
{
	if (call->op->warning_count) {
		json_key(w, "warnings");
		json_begin_array(w);
		for (size_t i = 0; i < call->op->warning_count; i++) {
			json_begin_object(w);
			json_member_cstr(w, "code", call->op->warnings[i].code);
			json_member_str(w, "field", whole_characters(call->op->warnings[i].field));
			json_member_str(w, "detail", call->op->warnings[i].detail);
			json_end_object(w);
		}
		json_end_array(w);
	}
	json_end_object(w);
}

void call_encode(struct call *call)
{
	call->status = 200;
	call->etag = call->location = STR_NULL;
	buf_clear(&call->reply);
	translate_encode(call);
}

void call_keep(struct call *call, struct kept_reply *ret)
{
	call_encode(call);
	ret->status = call->status;
	ret->etag = call->etag;
	ret->location = call->location;
	ret->body = buf_str(&call->reply);
}

void call_put_kept(struct call *call)
{
	const struct kept_reply *kept = &call->op->kept;

	call->status = kept->status;
	call->etag = kept->etag;
	call->location = kept->location;
	buf_clear(&call->reply);
	buf_put(&call->reply, kept->body);
}

struct str call_query(const struct call *call, const char *name)
{
	for (size_t i = 0; i < call->query_count; i++)
		if (str_is(call->query[i].name, name))
			return call->query[i].value;
	return STR_NULL;
}
