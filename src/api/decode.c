#include "api/decode.h"

#include "codec/rfc3339.h"
#include "core/delivery/agent.h"
#include "core/delivery/successor.h"

#include <stdio.h>

const struct json *decode_member(const struct json *obj, const char *name)
{
	const struct json *member = json_get(obj, name);

	return member && member->type != JSON_NULL ? member : NULL;
}

static enum problem_code wrong_type(const struct json *value, const char *name, const char *expected,
				    struct problem *problem)
{
	return problem_set(problem, P_INVALID_FIELD, name, "%s is %s; expected %s", name, json_type_name(value->type),
			   expected);
}

enum problem_code decode_check_text(struct str value, const char *name, size_t min, size_t max, struct problem *problem)
{
	if (value.n > max)
		return problem_set(problem, P_TOO_LARGE, name, "%s has %zu bytes; at most %zu are allowed", name,
				   value.n, max);
	if (value.n < min)
		return problem_set(problem, P_INVALID_FIELD, name, "%s is empty; expected some text", name);
	if (value.n && memchr(value.p, '\0', value.n))
		return problem_set(problem, P_INVALID_FIELD, name, "%s holds a NUL character (\\u0000); remove it",
				   name);
	return P_OK;
}

/* Does s, well-formed UTF-8, begin with a control character? U+0080 to U+009F are some, too. */
static bool is_control(struct str s)
{
	unsigned char first = (unsigned char)s.p[0];

	return first < 0x20 || first == 0x7f || (first == 0xc2 && s.n > 1 && (unsigned char)s.p[1] < 0xa0);
}

enum problem_code decode_check_name(struct str value, const char *name, size_t max, struct problem *problem)
{
	enum problem_code code = decode_check_text(value, name, 1, max, problem);

	for (size_t i = 0; code == P_OK && i < value.n; i++)
		if (is_control(str_sub(value, i, value.n)))
			code = problem_set(problem, P_INVALID_FIELD, name, "%s holds a control character; remove it",
					   name);
	return code;
}

enum problem_code decode_check_agent(struct str value, const char *name, struct problem *problem)
{
	enum problem_code code = decode_check_name(value, name, AGENT_NAME_MAX, problem);

	if (code == P_OK && successor_is_next(value))
		code = problem_set(problem, P_INVALID_FIELD, name, "%s is \"" SUCCESSOR_NEXT "\", which no agent is "
				   "called: an envelope that is packed for it asks the routes", name);
	return code;
}

enum problem_code decode_str(const struct json *obj, const char *name, size_t min, size_t max, struct str *ret,
			     struct problem *problem)
{
	const struct json *value = decode_member(obj, name);
	enum problem_code code;

	if (value == NULL)
		return P_OK;
	if (value->type != JSON_STRING)
		return wrong_type(value, name, "a string", problem);
	code = decode_check_text(value->s, name, min, max, problem);
	if (code == P_OK)
		*ret = value->s;
	return code;
}

enum problem_code decode_bool(const struct json *obj, const char *name, bool *ret, struct problem *problem)
{
	const struct json *value = decode_member(obj, name);

	if (value == NULL)
		return P_OK;
	if (value->type != JSON_BOOL)
		return wrong_type(value, name, "true or false", problem);
	*ret = value->boolean;
	return P_OK;
}

enum problem_code decode_int(const struct json *obj, const char *name, int64_t min, int64_t max, int64_t *ret,
			     struct problem *problem)
{
	const struct json *value = decode_member(obj, name);
	int64_t i;

	if (value == NULL)
		return P_OK;
	if (!json_as_int(value, &i))
		return wrong_type(value, name, "a whole number", problem);
	if (i < min || i > max)
		return problem_set(problem, P_INVALID_FIELD, name, "%s is %lld; expected %lld to %lld", name,
				   (long long)i, (long long)min, (long long)max);
	*ret = i;
	return P_OK;
}

enum problem_code decode_seconds(const struct json *obj, const char *name, int64_t min_ms, int64_t max_ms,
				 int64_t *ret_ms, struct problem *problem)
{
	const struct json *value = decode_member(obj, name);
	double seconds;

	if (value == NULL)
		return P_OK;
	if (value->type != JSON_INT && value->type != JSON_DOUBLE)
		return wrong_type(value, name, "a number of seconds", problem);
	seconds = value->type == JSON_INT ? (double)value->i : value->d;
	if (!(seconds * 1000 >= (double)min_ms && seconds * 1000 <= (double)max_ms))
		return problem_set(problem, P_INVALID_FIELD, name, "%s is %g; expected %g to %g seconds", name, seconds,
				   (double)min_ms / 1000, (double)max_ms / 1000);
	*ret_ms = (int64_t)(seconds * 1000 + 0.5);
	return P_OK;
}

enum problem_code decode_time(const struct json *obj, const char *name, int64_t *ret_ms, struct problem *problem)
{
	const struct json *value = decode_member(obj, name);

	if (value == NULL)
		return P_OK;
	if (value->type != JSON_STRING || !rfc3339_parse(value->s, ret_ms))
		return problem_set(problem, P_INVALID_FIELD, name, "%s is not a time of the years 1970 to 9999; "
				   "expected RFC 3339, as in 2026-01-30T12:00:00Z", name);
	return P_OK;
}

enum problem_code decode_array(const struct json *obj, const char *name, size_t max, const struct json **ret,
			       struct problem *problem)
{
	const struct json *value = decode_member(obj, name);

	if (value == NULL)
		return P_OK;
	if (value->type != JSON_ARRAY)
		return wrong_type(value, name, "an array", problem);
	if (value->count > max)
		return problem_set(problem, P_TOO_LARGE, name, "%s has %u items; at most %zu are allowed", name,
				   value->count, max);
	*ret = value;
	return P_OK;
}

enum problem_code decode_agent(const struct json *obj, const char *name, struct str *ret, struct problem *problem)
{
	struct str agent = STR_NULL;
	enum problem_code code = decode_str(obj, name, 1, AGENT_NAME_MAX, &agent, problem);

	if (code == P_OK && agent.p) {
		code = decode_check_agent(agent, name, problem);
		if (code == P_OK)
			*ret = agent;
	}
	return code;
}

enum problem_code decode_agents(const struct json *obj, const char *name, size_t max, const struct json **ret,
				struct problem *problem)
{
	const struct json *list = NULL;
	enum problem_code code = decode_array(obj, name, max, &list, problem);

	for (uint32_t i = 0; code == P_OK && list && i < list->count; i++) {
		const struct json *item = &list->items[i];
		char place[64];

		snprintf(place, sizeof(place), "%s[%u]", name, i);
		code = item->type == JSON_STRING ? decode_check_agent(item->s, place, problem)
						 : wrong_type(item, place, "the name of an agent", problem);
	}
	if (code == P_OK && list)
		*ret = list;
	return code;
}
