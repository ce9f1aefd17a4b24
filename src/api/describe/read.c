/* Reading a JSON object by its description.
 *
 * What is wrong is said in the words of api/decode.c: "to is a number; expected a string". Where a word is not in its
 * list, or a field is missing, the sentence ends with what the description says of it.
 */
#include "api/describe/read.h"

#include "api/decode.h"
#include "api/describe/read_list.h"
#include "codec/rfc3339.h"
#include "core/access/access_key.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/envelope_id.h"
#include "core/memory/memory.h"

enum { ID_MAX_BYTES = 64, WORD_SHOWN = 40, SHOWN = 64 };

/* --- Members --- */

/* Where the value goes; NULL where nobody keeps it. */
static void *member(const struct field *f, void *into)
{
	return f->offset == FIELD_NOWHERE ? NULL : (char *)into + f->offset;
}

static void keep_text(const struct field *f, void *into, struct str text)
{
	struct str *at = member(f, into);

	if (at)
		*at = text;
}

static void keep_ms(const struct field *f, void *into, int64_t ms)
{
	int64_t *at = member(f, into);

	if (at)
		*at = ms;
}

static void keep_num(const struct field *f, void *into, uint64_t num)
{
	uint64_t *at = member(f, into);

	if (at)
		*at = num;
}

void read_keep_int(const struct field *f, void *into, int64_t value)
{
	void *at = member(f, into);

	if (at == NULL)
		return;
	switch (f->kind) {
	case MEMBER_I32:
		*(int *)at = (int)value;
		break;
	case MEMBER_U32:
		*(unsigned *)at = (unsigned)value;
		break;
	case MEMBER_U64:
		*(uint64_t *)at = (uint64_t)value;
		break;
	case MEMBER_BOOL:
		*(bool *)at = value != 0;
		break;
	default:
		*(int64_t *)at = value;
	}
}

void read_keep_json(const struct field *f, void *into, const struct json *value)
{
	void *at = member(f, into);

	if (at && f->kind == MEMBER_JSON)
		*(struct json *)at = *value;
	else if (at)
		*(const struct json **)at = value;
}

/* --- Values --- */

enum problem_code read_wrong_type(const struct json *value, const char *name, const char *expected,
				  struct problem *problem)
{
	return problem_set(problem, P_INVALID_FIELD, name, "%s is %s; expected %s", name, json_type_name(value->type),
			   expected);
}

static enum problem_code read_text(const struct field *f, const struct json *value, struct str *ret,
				   struct problem *problem)
{
	size_t max = f->max ? (size_t)f->max : SIZE_MAX;

	if (value->type != JSON_STRING)
		return read_wrong_type(value, f->name.p, "a string", problem);
	*ret = value->s;
	if (f->type == TYPE_AGENT)
		return decode_check_agent(value->s, f->name.p, problem);
	if (f->type == TYPE_NAME)
		return decode_check_name(value->s, f->name.p, max, problem);
	if (f->max == 0 && f->min == 0)
		return P_OK;
	return decode_check_text(value->s, f->name.p, (size_t)f->min, max, problem);
}

static enum problem_code read_int(const struct field *f, const struct json *value, void *into, struct problem *problem)
{
	int64_t i;

	if (!json_as_int(value, &i))
		return read_wrong_type(value, f->name.p, "a whole number", problem);
	if (i < f->min || i > f->max)
		return problem_set(problem, P_INVALID_FIELD, f->name.p, "%s is %lld; expected %lld to %lld", f->name.p,
				   (long long)i, (long long)f->min, (long long)f->max);
	read_keep_int(f, into, i);
	return P_OK;
}

/* A bound that is not there holds for every number. */
static bool is_within(const struct field *f, double number)
{
	return (f->min == NO_MIN || number >= (double)f->min) && (f->max == NO_MAX || number <= (double)f->max);
}

static enum problem_code read_number(const struct field *f, const struct json *value, void *into,
				     struct problem *problem)
{
	bool is_time = f->type == TYPE_SECONDS;
	double number, scale = is_time ? 1000 : 1;
	double *at = member(f, into);

	if (value->type != JSON_INT && value->type != JSON_DOUBLE)
		return read_wrong_type(value, f->name.p, is_time ? "a number of seconds" : "a number", problem);
	number = value->type == JSON_INT ? (double)value->i : value->d;
	if (!is_within(f, number * scale))
		return problem_set(problem, P_INVALID_FIELD, f->name.p, "%s is %g; expected %g to %g%s", f->name.p,
				   number, (double)f->min / scale, (double)f->max / scale, is_time ? " seconds" : "");
	if (is_time)
		keep_ms(f, into, (int64_t)(number * 1000 + 0.5));
	else if (at)
		*at = number;
	return P_OK;
}

static enum problem_code read_time(const struct field *f, const struct json *value, void *into, struct problem *problem)
{
	int64_t ms;

	if (value->type != JSON_STRING || !rfc3339_parse(value->s, &ms))
		return problem_set(problem, P_INVALID_FIELD, f->name.p, "%s is not a time of the years 1970 to 9999; "
				   "expected RFC 3339, as in 2026-01-30T12:00:00Z", f->name.p);
	keep_ms(f, into, ms);
	return P_OK;
}

static enum problem_code read_bool(const struct field *f, const struct json *value, void *into, struct problem *problem)
{
	bool *at = member(f, into);

	if (value->type != JSON_BOOL)
		return read_wrong_type(value, f->name.p, "true or false", problem);
	if (at)
		*at = value->boolean;
	return P_OK;
}

/* --- Ids --- */

static enum problem_code read_memory_id(const struct field *f, const struct json *value, void *into,
					struct problem *problem)
{
	struct memory_id id = {0}, *at = member(f, into);
	bool ok = value->type == JSON_STRING && memory_id_parse(value->s, &id);

	if (!ok || (f->type == TYPE_MEMORY_ID && id.version))
		return problem_set(problem, P_INVALID_FIELD, f->name.p,
				   "%s is not an id of a memory; expected ms- and a number from 1 to %llu", f->name.p,
				   (unsigned long long)MEMORY_NUM_MAX);
	if (f->type == TYPE_MEMORY_ID)
		keep_num(f, into, id.num);
	else if (at)
		*at = id;
	return P_OK;
}

static bool alert_id_parse(struct str s, uint64_t *ret)
{
	return str_has_prefix(s, STR("al-")) && str_to_u64(str_sub(s, 3, s.n), ret) && *ret > 0 && *ret <= INT64_MAX;
}

/* Of envelopes, handoffs, alerts and keys: a number in the end. */
static const struct id_kind {
	enum field_type type;
	const char *what, *example;
	enum problem_code not_found;
	bool (*parse)(struct str s, uint64_t *ret);
	const char *path_says;		/* of an address that is none */
} id_kinds[] = {
	{TYPE_ENVELOPE_ID, "an id of an envelope", "env-17", P_ENVELOPE_NOT_FOUND, envelope_id_parse,
	 "an id of an envelope; ids look like env-17"},
	{TYPE_HANDOFF_ID, "an id of a handoff", "ho-17", P_HANDOFF_NOT_FOUND, handoff_id_parse,
	 "an id of a handoff; ids look like ho-17"},
	{TYPE_ALERT_ID, "the id of an alert", "al-12", P_ALERT_NOT_FOUND, alert_id_parse,
	 "the id of an alert; expected one as in al-12"},
	{TYPE_KEY_ID, "an id of a key", "key-7", P_KEY_NOT_FOUND, access_key_id_parse,
	 "an id of a key; ids look like key-7"},
};

static const struct id_kind *id_kind_of(enum field_type type)
{
	const struct id_kind *k = id_kinds;

	while (k->type != type)
		k++;
	return k;
}

static enum problem_code read_id(const struct field *f, const struct json *value, void *into, struct problem *problem)
{
	const struct id_kind *kind = id_kind_of(f->type);
	enum problem_code code;
	uint64_t num;

	if (value->type != JSON_STRING)
		return read_wrong_type(value, f->name.p, "a string", problem);
	code = decode_check_text(value->s, f->name.p, 1, ID_MAX_BYTES, problem);
	if (code == P_OK && !kind->parse(value->s, &num))
		code = problem_set(problem, P_INVALID_FIELD, f->name.p, "%s is not %s; expected one as in %s",
				   f->name.p, kind->what, kind->example);
	if (code == P_OK)
		keep_num(f, into, num);
	return code;
}

static enum problem_code path_memory(const struct field *f, struct str piece, void *ret, struct problem *problem)
{
	struct memory_id id;

	if (!memory_id_parse(piece, &id))
		return problem_set(problem, P_MEMORY_NOT_FOUND, "id", "\"%.*s\" is not an id of a memory; ids "
				   "look like ms-4821", (int)(piece.n < SHOWN ? piece.n : SHOWN), piece.p);
	if (id.version && f->type == TYPE_MEMORY_ID)
		return problem_set(problem, P_INVALID_FIELD, "id", "only the memory as a whole can be changed; "
				   "leave out \"@%u\"", id.version);
	if (f->type == TYPE_MEMORY_ID)
		*(uint64_t *)ret = id.num;
	else
		*(struct memory_id *)ret = id;
	return P_OK;
}

enum problem_code path_read(const struct field *f, struct str piece, void *ret, struct problem *problem)
{
	const struct json value = {.type = JSON_STRING, .s = piece};
	struct field named = *f;
	const struct id_kind *kind;

	if (f->called)
		named.name = str_of(f->called);
	if (f->type == TYPE_MEMORY_ID || f->type == TYPE_MEMORY_REF)
		return path_memory(f, piece, ret, problem);
	if (f->type == TYPE_NAME || f->type == TYPE_AGENT)
		return read_text(&named, &value, ret, problem);
	/* Whatever it is: what cannot be there is not found. */
	if (f->type == TYPE_TEXT) {
		*(struct str *)ret = piece;
		return P_OK;
	}
	kind = id_kind_of(f->type);
	if (kind->parse(piece, ret))
		return P_OK;
	return problem_set(problem, kind->not_found, "id", "\"%.*s\" is not %s",
			   (int)(piece.n < SHOWN ? piece.n : SHOWN), piece.p, kind->path_says);
}

/* --- Enumerations --- */

int read_word(const struct words *words, struct str word)
{
	for (int i = 0; words->list[i]; i++)
		if (str_is(word, words->list[i]))
			return words->first + i;
	return -1;
}

struct str read_expected(const struct field *f, struct arena *arena)
{
	struct str list = STR_NULL;

	if (f->expected)
		return str_of(f->expected);
	for (const char *const *w = f->words->list; *w; w++)
		list = list.p ? arena_printf(arena, "%.*s, %s", STR_ARG(list), *w)
			      : arena_printf(arena, "expected one of %s", *w);
	return list;
}

/* With a bound it is a text first; without one nothing is expected but the words. */
static enum problem_code read_enum(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	enum problem_code code = P_OK;
	int place = value->type == JSON_STRING ? read_word(f->words, value->s) : -1;

	if (place >= 0) {
		read_keep_int(f, into, place);
		return P_OK;
	}
	if (value->type != JSON_STRING && f->max)
		return read_wrong_type(value, f->name.p, "a string", r->problem);
	if (value->type != JSON_STRING)
		return problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s is %s; %.*s", f->name.p,
				   json_type_name(value->type), STR_ARG(read_expected(f, r->arena)));
	if (f->max)
		code = decode_check_text(value->s, f->name.p, (size_t)f->min, (size_t)f->max, r->problem);
	return code != P_OK ? code
			    : problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s is \"%.*s\"; %.*s", f->name.p,
					  (int)(f->max || value->s.n < WORD_SHOWN ? value->s.n : WORD_SHOWN),
					  value->s.p, STR_ARG(read_expected(f, r->arena)));
}

/* --- Fields --- */

enum problem_code read_check_names(const struct field *f, struct str value, const struct access *access,
				   struct problem *problem)
{
	const char *name = f->called ? f->called : f->name.p;

	if (f->names == NAMES_CALLER && access_check_name(name, value, problem) != P_OK)
		return problem->code;
	if (f->names == NAMES_CALLER || f->names == NAMES_INBOX)
		return access_check_agent(access, name, value, problem);
	return f->names == NAMES_SPACE ? access_check_space(access, name, value, problem) : P_OK;
}

static enum problem_code read_words(const struct field *f, const struct json *value, void *into, struct problem *p)
{
	struct str text = STR_NULL;
	enum problem_code code = read_text(f, value, &text, p);

	if (code == P_OK)
		keep_text(f, into, text);
	return code;
}

enum problem_code field_read(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	switch (f->type) {
	case TYPE_TEXT:
	case TYPE_NAME:
	case TYPE_AGENT:
		return read_words(f, value, into, r->problem);
	case TYPE_BOOL:
		return read_bool(f, value, into, r->problem);
	case TYPE_INT:
		return read_int(f, value, into, r->problem);
	case TYPE_NUMBER:
	case TYPE_SECONDS:
		return read_number(f, value, into, r->problem);
	case TYPE_TIME:
		return read_time(f, value, into, r->problem);
	case TYPE_MEMORY_ID:
	case TYPE_MEMORY_REF:
		return read_memory_id(f, value, into, r->problem);
	case TYPE_ENVELOPE_ID:
	case TYPE_HANDOFF_ID:
	case TYPE_ALERT_ID:
	case TYPE_KEY_ID:
		return read_id(f, value, into, r->problem);
	case TYPE_ENUM:
		return read_enum(f, value, into, r);
	default:
		return read_list(f, value, into, r);
	}
}
