#include "api/decode.h"

#include "codec/rfc3339.h"
#include "core/delivery/agent.h"
#include "core/delivery/route_rule.h"

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

	if (code == P_OK && route_rule_is_next(value))
		code = problem_set(problem, P_INVALID_FIELD, name, "%s is \"" ROUTE_RULE_NEXT "\", which no agent is "
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
