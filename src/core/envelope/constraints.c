#include "core/envelope/constraints.h"

#include "codec/json_set.h"
#include "codec/rfc3339.h"
#include "core/guard/redact.h"
#include "text/lookalike.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

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
	/* A key that says both, as "min_budget", says neither. A count below nothing is no count: -1 often stands for
	 * "as many as you like". */
	if (as_number(before, &old_number) && as_number(next, &new_number)) {
		if (is_maximum(key) == is_minimum(key))
			return false;
		return is_minimum(key) ? new_number >= old_number
				       : new_number <= old_number && (new_number >= 0 || old_number < 0);
	}
	if (before->type == JSON_ARRAY && next->type == JSON_ARRAY) {
		if (is_prohibition(key))
			return is_subset(before, next);
		return is_permission(key) && is_subset(next, before);
	}
	/* "not_before" is no deadline. */
	if (is_deadline(key) && !is_prohibition(key) && as_time(before, &old_ms) && as_time(next, &new_ms))
		return new_ms <= old_ms;
	return false;
}

static struct json json_text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

/* --- The keys that are there --- */

struct set {
	struct json_member *members;
	struct str *folded;		/* of their keys; made when the first look-alike is looked for */
	size_t count;
	size_t folded_count;
	const struct json_member **dropped;	/* what standing waivers have taken out */
	size_t dropped_count;
};

static struct json_member *find(struct set *set, struct str key)
{
	for (size_t i = 0; i < set->count; i++)
		if (str_eq(set->members[i].key, key))
			return &set->members[i];
	return NULL;
}

/* Where another key is that a reader takes for this one; set->count: nowhere. */
static size_t find_lookalike(struct set *set, struct str key, struct arena *arena)
{
	struct str folded = lookalike_fold(key, arena);

	for (; set->folded_count < set->count; set->folded_count++)
		set->folded[set->folded_count] = lookalike_fold(set->members[set->folded_count].key, arena);
	for (size_t i = 0; i < set->count; i++)
		if (str_eq(set->folded[i], folded))
			return i;
	return set->count;
}

static void copy_inherited(struct set *set, const struct json *inherited)
{
	for (uint32_t i = 0; inherited && i < inherited->count; i++)
		if (!str_is(inherited->members[i].key, "max_tokens"))
			set->members[set->count++] = inherited->members[i];
}

static int cut(struct str s, size_t max)
{
	return (int)str_utf8_prefix(str_sub(s, 0, s.n < max ? s.n : max));
}

/* --- Locks --- */

static bool is_listed(const struct json *list, struct str key)
{
	for (uint32_t i = 0; list && list->type == JSON_ARRAY && i < list->count; i++)
		if (list->items[i].type == JSON_STRING && str_eq(list->items[i].s, key))
			return true;
	return false;
}

/* By the space's policy, however the key is spelled. */
static bool is_of_policy(const struct constraints_input *in, struct str key, struct arena *arena)
{
	for (uint32_t i = 0; in->policy && in->policy->type == JSON_ARRAY && i < in->policy->count; i++)
		if (in->policy->items[i].type == JSON_STRING &&
		    str_eq(lookalike_fold(in->policy->items[i].s, arena), lookalike_fold(key, arena)))
			return true;
	return false;
}

static bool is_locked(const struct constraints_input *in, const struct json_member *m, struct arena *arena)
{
	return is_listed(in->locked, m->key) || redact_reads(m) || is_of_policy(in, m->key, arena);
}

static enum problem_code refuse_locked(const struct constraints_input *in, struct str key, struct problem *problem)
{
	return problem_set(problem, P_CONSTRAINT_LOCKED, "key",
			   "the constraint \"%.*s\" is locked: no agent waives it. Keep it or narrow it; a person may "
			   "waive it: spine waive %.*s '%.*s' --reason ..., POST /v1/tasks/{id}/waive",
			   cut(key, 60), key.p, cut(in->task, 60), in->task.p ? in->task.p : "", cut(key, 60), key.p);
}

static int compare_texts(const void *a, const void *b)
{
	return str_cmp(((const struct json *)a)->s, ((const struct json *)b)->s);
}

/* What this hop locks must be there. A lock lasts as long as its constraint does. */
static enum problem_code apply_locks(const struct constraints_input *in, struct set *set, struct arena *arena,
				     struct json *ret, struct problem *problem)
{
	struct json *items = arena_calloc(arena, set->count + 1, sizeof(*items));
	uint32_t count = 0;

	for (uint32_t i = 0; in->lock && i < in->lock->count; i++) {
		struct str key = in->lock->items[i].type == JSON_STRING ? in->lock->items[i].s : STR("");

		if ((find(set, key) || is_listed(in->locked, key)) && !str_is(key, "max_tokens"))
			continue;
		problem_set(problem, P_INVALID_FIELD, NULL, "there is no constraint \"%.*s\" to lock; locked names "
			    "keys of constraints, inherited ones or this hop's%s", cut(key, 100), key.p,
			    str_is(key, "max_tokens") ? ", and max_tokens belongs to the receiver" : "");
		problem_prefix(problem, "locked", i);
		return problem->code;
	}
	for (size_t i = 0; i < set->count; i++)
		if (!str_is(set->members[i].key, "max_tokens") &&
		    (is_locked(in, &set->members[i], arena) || is_listed(in->lock, set->members[i].key)))
			items[count++] = json_text(set->members[i].key);
	qsort(items, count, sizeof(*items), compare_texts);
	*ret = (struct json){.type = JSON_ARRAY, .count = count, .items = items};
	return P_OK;
}

/* --- Waivers --- */

static enum problem_code read_waiver(const struct json *item, size_t index, struct str *ret_key, struct str *ret_reason,
				     struct problem *problem)
{
	const struct json *key = json_get(item, "key"), *reason = json_get(item, "reason");
	enum problem_code code = P_OK;

	if (key == NULL || key->type != JSON_STRING || key->s.n == 0)
		code = problem_set(problem, P_MISSING_FIELD, "key", "a waiver names the constraint in key");
	else if (reason == NULL || reason->type != JSON_STRING || lookalike_is_blank(reason->s))
		code = problem_set(problem, P_MISSING_FIELD, "reason", "a waiver says why, in reason, so that somebody "
				   "can read it");
	else if (reason->s.n > WAIVER_REASON_MAX)
		code = problem_set(problem, P_TOO_LARGE, "reason", "the reason has more than 2,048 bytes");
	if (code != P_OK) {
		problem_prefix(problem, "waive", index);
		return code;
	}
	assert(key && reason);
	*ret_key = key->s;
	*ret_reason = reason->s;
	return P_OK;
}

/* {at_hop, by, key, reason, value}, in canonical order; a standing one says whose it is, and where nobody has
 * checked that, that too. */
static struct json make_waiver(const struct constraints_input *in, const struct constraints_waiver *standing,
			       struct str key, struct str reason, const struct json *value, struct arena *arena)
{
	struct json_member *m = arena_calloc(arena, 7, sizeof(*m));
	uint32_t n = 0;

	m[n++] = (struct json_member){STR("at_hop"), {.type = JSON_INT, .i = in->hop}};
	m[n++] = (struct json_member){STR("by"), json_text(standing ? standing->by : in->by)};
	m[n++] = (struct json_member){STR("key"), json_text(key)};
	m[n++] = (struct json_member){STR("reason"), json_text(reason)};
	if (standing && !standing->is_checked)
		m[n++] = (struct json_member){STR("unauthenticated"), {.type = JSON_BOOL, .boolean = true}};
	m[n++] = (struct json_member){STR("value"), *value};
	if (standing)
		m[n++] = (struct json_member){STR("waiver"), {.type = JSON_INT, .i = standing->id}};
	return (struct json){.type = JSON_OBJECT, .count = n, .members = m};
}

/* The envelopes before this one have it already: the key may have been set anew since, and then it holds. */
static bool was_applied(const struct constraints_input *in, const struct constraints_waiver *standing)
{
	int64_t id;

	for (uint32_t i = 0; in->waived && i < in->waived->count; i++) {
		const struct json *key = json_get(&in->waived->items[i], "key");

		if (key && key->type == JSON_STRING && str_eq(key->s, standing->key) &&
		    json_as_int(json_get(&in->waived->items[i], "waiver"), &id) && id >= standing->id)
			return true;
	}
	return false;
}

static void take_out(struct set *set, struct json_member *m)
{
	*m = set->members[--set->count];
}

/* What a person waived for the whole task goes with the next hop of each line of it. */
static uint32_t apply_standing(const struct constraints_input *in, struct set *set, struct arena *arena,
			       struct json *list, uint32_t count)
{
	set->dropped = arena_calloc(arena, in->standing_count + 1, sizeof(struct json_member *));
	/* The newest first: of one key only that one counts. */
	for (size_t i = in->standing_count; i > 0; i--) {
		const struct constraints_waiver *standing = &in->standing[i - 1];
		struct json_member *m = find(set, standing->key), *dropped;

		if (m == NULL || was_applied(in, standing))
			continue;
		dropped = arena_alloc(arena, sizeof(*dropped));
		*dropped = *m;
		set->dropped[set->dropped_count++] = dropped;
		list[count++] = make_waiver(in, standing, dropped->key, standing->reason, &dropped->value, arena);
		take_out(set, m);
	}
	return count;
}

static const struct json_member *find_dropped(const struct set *set, struct str key)
{
	for (size_t i = 0; i < set->dropped_count; i++)
		if (str_eq(set->dropped[i]->key, key))
			return set->dropped[i];
	return NULL;
}

static enum problem_code no_such(struct str key, size_t index, struct problem *problem)
{
	problem_set(problem, P_INVALID_FIELD, "key", "there is no inherited constraint \"%.*s\" to waive",
		    cut(key, 100), key.p);
	problem_prefix(problem, "waive", index);
	return problem->code;
}

static enum problem_code apply_waivers(const struct constraints_input *in, struct set *set, struct arena *arena,
				       struct json *ret_waived, struct problem *problem)
{
	uint32_t count = in->waived ? in->waived->count : 0, given = in->waive ? in->waive->count : 0;
	struct json *list = arena_calloc(arena, count + given + in->standing_count + 1, sizeof(*list));
	struct str key, reason;

	if (count + given > WAIVERS_MAX)
		return problem_set(problem, P_TOO_LARGE, "waive", "there would be more than %d waivers", WAIVERS_MAX);
	for (uint32_t i = 0; i < count; i++)
		list[i] = in->waived->items[i];
	count = apply_standing(in, set, arena, list, count);
	for (uint32_t i = 0; i < given; i++) {
		enum problem_code code = read_waiver(&in->waive->items[i], i, &key, &reason, problem);
		struct json_member *m = code == P_OK ? find(set, key) : NULL;

		if (code != P_OK)
			return code;
		if (m == NULL && find_dropped(set, key))
			continue;
		if (m == NULL)
			return no_such(key, i, problem);
		if (is_locked(in, m, arena)) {
			code = refuse_locked(in, key, problem);
			problem_prefix(problem, "waive", i);
			return code;
		}
		list[count++] = make_waiver(in, NULL, key, reason, &m->value, arena);
		take_out(set, m);
	}
	*ret_waived = (struct json){.type = JSON_ARRAY, .count = count, .items = list};
	return P_OK;
}

/* --- What this hop says --- */

static enum problem_code conflict(const struct constraints_input *in, const struct json_member *inherited,
				  const struct json *given, struct arena *arena, struct problem *problem)
{
	struct json_writer w;
	struct buf old_text, new_text;
	struct str field = arena_printf(arena, "constraints.%.*s", cut(inherited->key, 100), inherited->key.p);

	buf_init(&old_text, 65536);
	buf_init(&new_text, 65536);
	json_writer_init(&w, &old_text);
	json_put(&w, &inherited->value);
	json_writer_init(&w, &new_text);
	json_put(&w, given);
	problem_set(problem, P_CONSTRAINT_CONFLICT, field.p, "the inherited constraint \"%.*s\" is %.120s; this hop "
		    "says %.120s, which does not narrow it. Leave it out to keep it%s", cut(inherited->key, 60),
		    inherited->key.p, old_text.data ? old_text.data : "…", new_text.data ? new_text.data : "…",
		    is_locked(in, inherited, arena) ? "; it is locked, and no agent can waive it"
						    : ", or waive it with a reason");
	buf_release(&old_text);
	buf_release(&new_text);
	return problem->code;
}

static enum problem_code too_many(size_t count, struct problem *problem)
{
	return problem_set(problem, P_TOO_LARGE, "constraints", "there would be %zu constraints; at most %d are "
			   "allowed", count, CONSTRAINTS_MAX);
}

/* A key that is not there yet: it must be one that a reader can tell from the others. */
static enum problem_code add_key(struct set *set, const struct json_member *given, struct arena *arena,
				 struct problem *problem)
{
	struct str field, other;
	size_t at;

	if (given->key.n == 0 || given->key.n > CONSTRAINT_KEY_MAX)
		return problem_set(problem, P_INVALID_FIELD, "constraints", "a constraint's key has %zu bytes; "
				   "expected 1 to %d", given->key.n, CONSTRAINT_KEY_MAX);
	if (lookalike_has_control(given->key))
		return problem_set(problem, P_INVALID_FIELD, "constraints", "a constraint's key has a control "
				   "character in it; expected text that can be read");
	if (lookalike_is_blank(given->key))
		return problem_set(problem, P_INVALID_FIELD, "constraints", "a constraint's key has nothing in it that "
				   "can be seen; expected text that can be read");
	at = find_lookalike(set, given->key, arena);
	if (at < set->count) {
		other = set->members[at].key;
		field = arena_printf(arena, "constraints.%.*s", cut(given->key, 100), given->key.p);
		return problem_set(problem, P_CONSTRAINT_CONFLICT, field.p, "the key \"%.*s\" can be taken for "
				   "\"%.*s\", which is a constraint already (case, invisible characters and letters "
				   "that look alike do not tell keys apart); spell it the same way, or give it a name "
				   "of its own", cut(given->key, 60), given->key.p, cut(other, 60), other.p);
	}
	set->members[set->count++] = *given;
	return P_OK;
}

static enum problem_code apply_given(const struct constraints_input *in, struct set *set, struct arena *arena,
				     struct problem *problem)
{
	enum problem_code code = P_OK;

	/* Each is looked for among those before it: not before it is known that there are few. */
	if (in->given && in->given->count > CONSTRAINTS_MAX)
		return too_many(in->given->count, problem);
	for (uint32_t i = 0; code == P_OK && in->given && i < in->given->count; i++) {
		const struct json_member *given = &in->given->members[i], *dropped = find_dropped(set, given->key);
		struct json_member *m = find(set, given->key);

		/* Who only repeats what a person has just waived does not bring it back. */
		if (dropped && json_equal(&dropped->value, &given->value))
			continue;
		if (m == NULL)
			code = add_key(set, given, arena, problem);
		else if (constraints_narrows(given->key, &m->value, &given->value))
			m->value = given->value;
		else
			code = conflict(in, m, &given->value, arena, problem);
	}
	if (code != P_OK)
		return code;
	return set->count > CONSTRAINTS_MAX ? too_many(set->count, problem) : P_OK;
}

enum problem_code constraints_inherit(const struct constraints_input *in, struct arena *arena, struct constraints *ret,
				      struct problem *problem)
{
	size_t room = (in->inherited ? in->inherited->count : 0) + (in->given ? in->given->count : 0) + 1;
	struct set set = {.members = arena_calloc(arena, room, sizeof(*set.members)),
			  .folded = arena_calloc(arena, room, sizeof(*set.folded))};
	struct constraints made;
	enum problem_code code;

	copy_inherited(&set, in->inherited);
	code = apply_waivers(in, &set, arena, &made.waived, problem);
	if (code == P_OK)
		code = apply_given(in, &set, arena, problem);
	if (code == P_OK)
		code = apply_locks(in, &set, arena, &made.locked, problem);
	if (code != P_OK)
		return code;
	made.all = (struct json){.type = JSON_OBJECT, .count = (uint32_t)set.count, .members = set.members};
	*ret = made;
	return P_OK;
}
