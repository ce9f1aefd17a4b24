#include "core/envelope/constraints.h"

#include "codec/json_set.h"
#include "codec/rfc3339.h"

#include <stdio.h>

/* --- Narrowing --- */

/* The words of a key, whatever joins them: "max_retries", "maxRetries", "max-retries" start with the word "max". */
static bool next_word(struct str *rest, char word[32])
{
	size_t n = 0, i = 0;

	while (i < rest->n && (rest->p[i] == '_' || rest->p[i] == '-' || rest->p[i] == '.' || rest->p[i] == ' '))
		i++;
	for (; i < rest->n && n < 31; i++) {
		char c = rest->p[i];

		if (c == '_' || c == '-' || c == '.' || c == ' ' ||
		    (n > 0 && c >= 'A' && c <= 'Z' && !(rest->p[i - 1] >= 'A' && rest->p[i - 1] <= 'Z')))
			break;
		word[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	word[n] = '\0';
	*rest = str_sub(*rest, i, rest->n);
	return n > 0;
}

static bool has_word(struct str key, const char *const *words)
{
	char word[32];

	while (next_word(&key, word))
		for (const char *const *w = words; *w; w++)
			if (strcmp(*w, word) == 0)
				return true;
	return false;
}

static bool is_maximum(struct str key)
{
	static const char *const words[] = {"max", "maximum", "limit", "most", "budget", "cap", "ceiling", NULL};

	return has_word(key, words);
}

static bool is_minimum(struct str key)
{
	static const char *const words[] = {"min", "minimum", "least", "floor", NULL};

	return has_word(key, words);
}

static bool is_deadline(struct str key)
{
	static const char *const words[] = {"deadline", "due", "before", NULL};

	return has_word(key, words);
}

static bool is_prohibition(struct str key)
{
	static const char *const words[] = {"not", "dont", "never", "no", "forbid", "forbidden", "prohibited",
					    "prohibitions", "deny", "denied", "denylist", "exclude", "excluded",
					    "avoid", "blocked", "blocklist", "ban", "banned", "without", NULL};

	return has_word(key, words);
}

static bool is_permission(struct str key)
{
	static const char *const words[] = {"allow", "allowed", "allowlist", "only", "permitted", "permissions", NULL};

	return has_word(key, words);
}

static bool as_number(const struct json *value, double *ret)
{
	if (value->type == JSON_INT)
		*ret = (double)value->i;
	else if (value->type == JSON_DOUBLE)
		*ret = value->d;
	else
		return false;
	return true;
}

/* A date alone is its last moment, in UTC. */
static bool as_time(const struct json *value, int64_t *ret)
{
	static const char date[] = "2026-01-30";
	char text[sizeof(date) + sizeof("T23:59:59.999Z")];

	if (value->type != JSON_STRING)
		return false;
	if (value->s.n != sizeof(date) - 1)
		return rfc3339_parse(value->s, ret);
	snprintf(text, sizeof(text), "%.*sT23:59:59.999Z", STR_ARG(value->s));
	return rfc3339_parse(str_of(text), ret);
}

/* Every item of a is also in b. */
static bool is_subset(const struct json *a, const struct json *b)
{
	struct json_set set;
	bool ok = true;

	json_set_init(&set, b);
	for (uint32_t i = 0; ok && i < a->count; i++)
		ok = json_set_has(&set, &a->items[i]);
	json_set_release(&set);
	return ok;
}

bool constraints_narrows(struct str key, const struct json *before, const struct json *next)
{
	double old_number, new_number;
	int64_t old_ms, new_ms;

	if (json_equal(before, next))
		return true;
	if (as_number(before, &old_number) && as_number(next, &new_number))
		return (is_maximum(key) && new_number <= old_number) ||
		       (is_minimum(key) && !is_maximum(key) && new_number >= old_number);
	if (before->type == JSON_ARRAY && next->type == JSON_ARRAY) {
		if (is_prohibition(key))
			return is_subset(before, next);
		return is_permission(key) && is_subset(next, before);
	}
	if (is_deadline(key) && as_time(before, &old_ms) && as_time(next, &new_ms))
		return new_ms <= old_ms;
	return false;
}

/* --- Waivers --- */

static struct json json_text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

static enum problem_code read_waiver(const struct json *item, size_t index, struct str *ret_key, struct str *ret_reason,
				     struct problem *problem)
{
	const struct json *key = json_get(item, "key"), *reason = json_get(item, "reason");
	enum problem_code code = P_OK;

	if (key == NULL || key->type != JSON_STRING || key->s.n == 0)
		code = problem_set(problem, P_MISSING_FIELD, "key", "a waiver names the constraint in key");
	else if (reason == NULL || reason->type != JSON_STRING || str_trim(reason->s).n == 0)
		code = problem_set(problem, P_MISSING_FIELD, "reason", "a waiver says why, in reason");
	else if (reason->s.n > 2048)
		code = problem_set(problem, P_TOO_LARGE, "reason", "the reason has more than 2,048 bytes");
	if (code != P_OK) {
		problem_prefix(problem, "waive", index);
		return code;
	}
	*ret_key = key->s;
	*ret_reason = reason->s;
	return P_OK;
}

/* {at_hop, by, key, reason, value}, in canonical order. */
static struct json make_waiver(const struct constraints_input *in, struct str key, struct str reason,
			       const struct json *value, struct arena *arena)
{
	struct json_member *m = arena_calloc(arena, 5, sizeof(*m));

	m[0] = (struct json_member){STR("at_hop"), {.type = JSON_INT, .i = in->hop}};
	m[1] = (struct json_member){STR("by"), json_text(in->by)};
	m[2] = (struct json_member){STR("key"), json_text(key)};
	m[3] = (struct json_member){STR("reason"), json_text(reason)};
	m[4] = (struct json_member){STR("value"), *value};
	return (struct json){.type = JSON_OBJECT, .count = 5, .members = m};
}

/* --- Inheriting --- */

struct set {
	struct json_member *members;
	size_t count;
};

static struct json_member *find(struct set *set, struct str key)
{
	for (size_t i = 0; i < set->count; i++)
		if (str_eq(set->members[i].key, key))
			return &set->members[i];
	return NULL;
}

static void copy_inherited(struct set *set, const struct json *inherited)
{
	for (uint32_t i = 0; inherited && i < inherited->count; i++)
		if (!str_is(inherited->members[i].key, "max_tokens"))
			set->members[set->count++] = inherited->members[i];
}

static enum problem_code apply_waivers(const struct constraints_input *in, struct set *set, struct arena *arena,
				       struct json *ret_waived, struct problem *problem)
{
	size_t before = in->waived ? in->waived->count : 0, count = in->waive ? in->waive->count : 0;
	struct json *list = arena_calloc(arena, before + count + 1, sizeof(*list));
	struct str key, reason;

	if (before + count > WAIVERS_MAX)
		return problem_set(problem, P_TOO_LARGE, "waive", "there would be more than %d waivers", WAIVERS_MAX);
	for (size_t i = 0; i < before; i++)
		list[i] = in->waived->items[i];
	for (size_t i = 0; i < count; i++) {
		enum problem_code code = read_waiver(&in->waive->items[i], i, &key, &reason, problem);
		struct json_member *m;

		if (code != P_OK)
			return code;
		m = find(set, key);
		if (m == NULL) {
			problem_set(problem, P_INVALID_FIELD, "key", "there is no inherited constraint \"%.*s\" to "
				    "waive", (int)(key.n < 100 ? key.n : 100), key.p);
			problem_prefix(problem, "waive", i);
			return problem->code;
		}
		list[before + i] = make_waiver(in, key, reason, &m->value, arena);
		*m = set->members[--set->count];
	}
	*ret_waived = (struct json){.type = JSON_ARRAY, .count = (uint32_t)(before + count), .items = list};
	return P_OK;
}

static enum problem_code conflict(const struct json_member *inherited, const struct json *given, struct arena *arena,
				  struct problem *problem)
{
	struct json_writer w;
	struct buf old_text, new_text;
	struct str field = arena_printf(arena, "constraints.%.*s",
					(int)(inherited->key.n < 100 ? inherited->key.n : 100), inherited->key.p);

	buf_init(&old_text, 65536);
	buf_init(&new_text, 65536);
	json_writer_init(&w, &old_text);
	json_put(&w, &inherited->value);
	json_writer_init(&w, &new_text);
	json_put(&w, given);
	problem_set(problem, P_CONSTRAINT_CONFLICT, field.p, "the inherited constraint \"%.*s\" is %.120s; this hop "
		    "says %.120s, which does not narrow it. Leave it out to keep it, or waive it with a reason",
		    (int)(inherited->key.n < 60 ? inherited->key.n : 60), inherited->key.p,
		    old_text.data ? old_text.data : "…", new_text.data ? new_text.data : "…");
	buf_release(&old_text);
	buf_release(&new_text);
	return problem->code;
}

static enum problem_code too_many(size_t count, struct problem *problem)
{
	return problem_set(problem, P_TOO_LARGE, "constraints", "there would be %zu constraints; at most %d are "
			   "allowed", count, CONSTRAINTS_MAX);
}

static enum problem_code apply_given(const struct constraints_input *in, struct set *set, struct arena *arena,
				     struct problem *problem)
{
	/* Each is looked for among those before it: not before it is known that there are few. */
	if (in->given && in->given->count > CONSTRAINTS_MAX)
		return too_many(in->given->count, problem);
	for (uint32_t i = 0; in->given && i < in->given->count; i++) {
		const struct json_member *given = &in->given->members[i];
		struct json_member *m = find(set, given->key);

		if (given->key.n == 0 || given->key.n > CONSTRAINT_KEY_MAX)
			return problem_set(problem, P_INVALID_FIELD, "constraints", "a constraint's key has %zu bytes; "
					   "expected 1 to %d", given->key.n, CONSTRAINT_KEY_MAX);
		if (m == NULL)
			set->members[set->count++] = *given;
		else if (constraints_narrows(given->key, &m->value, &given->value))
			m->value = given->value;
		else
			return conflict(m, &given->value, arena, problem);
	}
	return set->count > CONSTRAINTS_MAX ? too_many(set->count, problem) : P_OK;
}

enum problem_code constraints_inherit(const struct constraints_input *in, struct arena *arena,
				      struct json *ret_constraints, struct json *ret_waived, struct problem *problem)
{
	size_t room = (in->inherited ? in->inherited->count : 0) + (in->given ? in->given->count : 0) + 1;
	struct set set = {.members = arena_calloc(arena, room, sizeof(*set.members))};
	struct json all, waived;
	enum problem_code code;

	copy_inherited(&set, in->inherited);
	code = apply_waivers(in, &set, arena, &waived, problem);
	if (code == P_OK)
		code = apply_given(in, &set, arena, problem);
	if (code != P_OK)
		return code;
	all = (struct json){.type = JSON_OBJECT, .count = (uint32_t)set.count, .members = set.members};
	*ret_constraints = all;
	*ret_waived = waived;
	return P_OK;
}
