#include "api/describe/query.h"

#include "api/call.h"
#include "api/decode.h"
#include "api/describe/read_list.h"
#include "codec/rfc3339.h"

enum { SHOWN = 64 };

/* `state is "x"; expected …`, or the sentence that the field has for it. */
static enum problem_code refuse(const struct field *f, struct str value, const char *expected, struct problem *problem)
{
	if (f->refusal)
		return problem_set(problem, P_INVALID_FIELD, f->name.p, "%s %s", f->name.p, f->refusal);
	return problem_set(problem, P_INVALID_FIELD, f->name.p, "%s is \"%.*s\"; %s", f->name.p,
			   (int)(value.n < SHOWN ? value.n : SHOWN), value.p, expected);
}

static enum problem_code read_bool(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	const struct json json = {.type = JSON_BOOL, .boolean = str_is(value, "true")};

	if (!json.boolean && !str_is(value, "false"))
		return refuse(f, value, "expected true or false", r->problem);
	return field_read(f, &json, into, r);
}

static enum problem_code read_int(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	uint64_t number;

	if (str_to_u64(value, &number) && number <= INT64_MAX && (int64_t)number >= f->min &&
	    (int64_t)number <= f->max) {
		read_keep_int(f, into, (int64_t)number);
		return P_OK;
	}
	if (f->refusal)
		return refuse(f, value, NULL, r->problem);
	return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s is not a number from %lld to %lld", f->name.p,
			   (long long)f->min, (long long)f->max);
}

static enum problem_code read_time(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	const struct json json = {.type = JSON_STRING, .s = value};
	int64_t ms;

	if (!rfc3339_parse(value, &ms))
		return refuse(f, value, "expected an RFC 3339 time, as in 2026-01-30T12:00:00Z", r->problem);
	return field_read(f, &json, into, r);
}

static enum problem_code read_word_of(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	int place = read_word(f->words, value);

	if (place < 0)
		return refuse(f, value, read_expected(f, r->arena).p, r->problem);
	read_keep_int(f, into, place);
	return P_OK;
}

/* A number as JSON has it; anything else is a string, which is refused as one. */
static enum problem_code read_number(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	struct json json;
	struct json_error error;

	if (!json_parse(value, 1, r->arena, &json, &error))
		json = (struct json){.type = JSON_STRING, .s = value};
	return field_read(f, &json, into, r);
}

enum problem_code query_value(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	const struct json json = {.type = JSON_STRING, .s = value};
	enum problem_code code;

	switch (f->type) {
	case TYPE_BOOL:
		return read_bool(f, value, into, r);
	case TYPE_INT:
		return read_int(f, value, into, r);
	case TYPE_TIME:
		return read_time(f, value, into, r);
	case TYPE_ENUM:
		return read_word_of(f, value, into, r);
	case TYPE_NUMBER:
	case TYPE_SECONDS:
		return read_number(f, value, into, r);
	default:
		code = field_read(f, &json, into, r);
		return code != P_OK && f->refusal ? refuse(f, value, NULL, r->problem) : code;
	}
}

static enum problem_code read_value(const struct field *f, struct str value, void *into, struct shape_reader *r)
{
	const struct json json = {.type = JSON_STRING, .s = value};
	enum problem_code code = read_check_names(f, value, r->access, r->problem);

	if (code != P_OK)
		return code;
	return f->read ? f->read(f, &json, into, r) : query_value(f, value, into, r);
}

/* --- All of them --- */

static const struct query_pair *first_of(const struct query_pair *pairs, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(pairs[i].name, name))
			return &pairs[i];
	return NULL;
}

/* Warns of what is not known, and refuses what stands twice in a list. */
static enum problem_code check_names(const struct shape *s, enum query_kind kind, const struct query_pair *pairs,
				     size_t count, struct shape_reader *r)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *f = shape_find(s, pairs[i].name);

		if (f == NULL && r->warn && kind != QUERY_LOOSE)
			r->warn(r->ctx, pairs[i].name);
		if (f && kind == QUERY_LIST && !f->is_repeated && first_of(pairs, i, f->name))
			return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s was given twice; give it once",
					   f->name.p);
	}
	return P_OK;
}

static enum problem_code read_in_order(const struct shape *s, const struct query_pair *pairs, size_t count, void *into,
				       struct shape_reader *r)
{
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < count; i++) {
		const struct field *f = shape_find(s, pairs[i].name);
		struct field named;

		if (f && f->is_prefix) {
			named = *f;
			named.name = pairs[i].name;
			f = &named;
		}
		if (f)
			code = read_value(f, pairs[i].value, into, r);
	}
	return code;
}

enum problem_code query_read(const struct shape *s, enum query_kind kind, const struct query_pair *pairs, size_t count,
			     void *into, struct shape_reader *r)
{
	enum problem_code code = check_names(s, kind, pairs, count, r);

	if (code != P_OK)
		return code;
	if (kind == QUERY_OPEN)
		return read_in_order(s, pairs, count, into, r);
	for (const struct field *f = s->fields; code == P_OK && f->type != TYPE_END; f++) {
		const struct query_pair *pair = first_of(pairs, count, f->name);

		if (pair && (pair->value.n || f->required == NULL))
			code = read_value(f, pair->value, into, r);
		else if (f->required)
			code = problem_set(r->problem, P_MISSING_FIELD, f->name.p, "%s is missing; %s", f->name.p,
					   f->required);
	}
	return code;
}
