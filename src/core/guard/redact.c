#include "core/guard/redact.h"

#include "codec/json_member.h"
#include "core/guard/credentials.h"
#include "core/envelope/unpack.h"
#include "text/lookalike.h"

enum { HITS_MAX = 256, FINDINGS_MAX = 1000, METADATA_BYTES_MAX = 1 << 20, KEY_MAX = 128 };

static const char *const policy_names[] = {"off", "redact", "refuse"};

const char *redact_policy_name(enum redact_policy policy)
{
	return policy_names[policy];
}

static bool contains_ignoring_case(struct str text, struct str part)
{
	for (size_t i = 0; i + part.n <= text.n; i++)
		if (str_ieq(str_sub(text, i, i + part.n), part))
			return true;
	return false;
}

/* A text that says so, or a list with such a text in it. */
static bool forbids_credentials(const struct json *value)
{
	if (value->type == JSON_STRING)
		return contains_ignoring_case(value->s, STR("no plaintext credentials"));
	for (uint32_t i = 0; value->type == JSON_ARRAY && i < value->count; i++)
		if (value->items[i].type == JSON_STRING && forbids_credentials(&value->items[i]))
			return true;
	return false;
}

static bool is_named(const struct json_member *m, const char *name)
{
	struct arena arena;
	bool is;

	if (m->key.n > KEY_MAX)
		return false;
	arena_init(&arena);
	is = str_is(lookalike_fold(m->key, &arena), name);
	arena_release(&arena);
	return is;
}

/* What one constraint asks for. People write constraints: whoever writes "Security" or "Refuse" means it, too. */
static enum redact_policy policy_of_one(const struct json_member *m)
{
	if (forbids_credentials(&m->value) && is_named(m, "security"))
		return REDACT_BLANK;
	for (int i = REDACT_REFUSE; m->value.type == JSON_STRING && i > REDACT_OFF; i--)
		if (str_ieq(m->value.s, str_of(policy_names[i])))
			return is_named(m, "credentials") ? (enum redact_policy)i : REDACT_OFF;
	return REDACT_OFF;
}

bool redact_reads(const struct json_member *constraint)
{
	return policy_of_one(constraint) != REDACT_OFF;
}

enum redact_policy redact_policy_of(const struct json *constraints, enum redact_policy space)
{
	enum redact_policy policy = space;

	for (uint32_t i = 0; constraints->type == JSON_OBJECT && i < constraints->count; i++) {
		enum redact_policy wanted = policy_of_one(&constraints->members[i]);

		policy = wanted > policy ? wanted : policy;
	}
	return policy;
}

/* --- Findings --- */

struct scan {
	struct arena *arena;
	struct json *findings;		/* {kind, where} */
	size_t count;
};

static struct json json_text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

static void note(struct scan *s, struct str kind, struct str where)
{
	struct json_member *m = arena_calloc(s->arena, 2, sizeof(*m));

	if (s->count == FINDINGS_MAX)
		return;
	m[0] = (struct json_member){STR("kind"), json_text(kind)};
	m[1] = (struct json_member){STR("where"), json_text(where)};
	s->findings[s->count++] = (struct json){.type = JSON_OBJECT, .count = 2, .members = m};
}

/* All credentials of a text; name is the key that it is the value of (p == NULL: none), which can give it away. */
static size_t find_all(struct scan *s, struct str name, struct str text, struct envelope_redaction **ret_spans)
{
	struct credential hits[HITS_MAX];
	struct envelope_redaction *spans = NULL;
	size_t count = 0, cap = 0, from = 0, n;

	do {
		struct str rest = str_sub(text, from, text.n);

		n = name.p && from == 0 ? credentials_scan_value(name, rest, hits, HITS_MAX)
					: credentials_scan(rest, hits, HITS_MAX);
		if (count + n > cap) {
			struct envelope_redaction *grown = arena_calloc(s->arena, (count + n) * 2, sizeof(*grown));

			if (count)
				memcpy(grown, spans, count * sizeof(*grown));
			spans = grown;
			cap = (count + n) * 2;
		}
		for (size_t i = 0; i < n; i++)
			spans[count++] = (struct envelope_redaction){(uint32_t)(from + hits[i].at),
								     (uint32_t)hits[i].len, str_of(hits[i].kind)};
		if (n)
			from = spans[count - 1].at + spans[count - 1].len;
	} while (n == HITS_MAX);
	*ret_spans = spans;
	return count;
}

/* Finds the credentials of a text, and returns it without them. ret_redactions may be NULL. */
static struct str scan_text(struct scan *s, struct str name, struct str text, struct str where,
			    const struct envelope_redaction **ret_redactions, size_t *ret_count)
{
	struct envelope_redaction *spans = NULL;
	size_t count = text.p ? find_all(s, name, text, &spans) : 0;

	if (count == 0)
		return text;
	for (size_t i = 0; i < count; i++)
		note(s, spans[i].kind, where);
	if (ret_redactions) {
		*ret_redactions = spans;
		*ret_count = count;
	}
	return unpack_redacted(s->arena, text, spans, count);
}

/* The same for every string within a value; name is the key of the value. */
static struct json scan_json(struct scan *s, struct str name, struct json value, struct str where)
{
	if (value.type == JSON_STRING) {
		value.s = scan_text(s, name, value.s, where, NULL, NULL);
	} else if (value.type == JSON_ARRAY && value.count) {
		struct json *items = arena_calloc(s->arena, value.count, sizeof(*items));

		for (uint32_t i = 0; i < value.count; i++)
			items[i] = scan_json(s, name, value.items[i], arena_printf(s->arena, "%.*s[%u]", STR_ARG(where),
										   i));
		value.items = items;
	} else if (value.type == JSON_OBJECT && value.count) {
		struct json_member *members = arena_calloc(s->arena, value.count, sizeof(*members));

		for (uint32_t i = 0; i < value.count; i++) {
			struct str key = value.members[i].key;

			members[i].key = key;
			members[i].value = scan_json(s, key, value.members[i].value,
						     arena_printf(s->arena, "%.*s.%.*s", STR_ARG(where), STR_ARG(key)));
		}
		value.members = members;
	}
	return value;
}

static void scan_refs(struct scan *s, struct envelope *e)
{
	for (size_t i = 0; i < e->ref_count; i++) {
		struct envelope_ref *r = &e->refs[i];
		struct str where = arena_printf(s->arena, "memory.ms-%llu", (unsigned long long)r->id.num);

		r->text = scan_text(s, STR_NULL, r->text, where, &r->redactions, &r->redaction_count);
		r->summary = scan_text(s, STR_NULL, r->summary, where, &r->summary_redactions,
				       &r->summary_redaction_count);
	}
}

static void scan_envelope(struct scan *s, struct envelope *e)
{
	e->intent = scan_text(s, STR_NULL, e->intent, STR("task.intent"), NULL, NULL);
	e->state = scan_text(s, STR_NULL, e->state, STR("task.state"), NULL, NULL);
	e->summary = scan_text(s, STR_NULL, e->summary, STR("task.summary"), NULL, NULL);
	e->open_decisions = scan_json(s, STR_NULL, e->open_decisions, STR("task.open_decisions"));
	e->history = scan_json(s, STR_NULL, e->history, STR("history"));
	e->constraints = scan_json(s, STR_NULL, e->constraints, STR("constraints"));
	e->waived = scan_json(s, STR_NULL, e->waived, STR("waived"));
	e->expected_output = scan_json(s, STR_NULL, e->expected_output, STR("expected_output"));
	e->extensions = scan_json(s, STR_NULL, e->extensions, STR("extensions"));
	scan_refs(s, e);
}

enum problem_code redact(struct envelope *e, enum redact_policy policy, struct arena *arena, struct problem *problem)
{
	struct scan s = {.arena = arena};
	struct json_member *m;

	e->guard = (struct json){.type = JSON_NULL};
	if (policy == REDACT_OFF)
		return P_OK;
	s.findings = arena_calloc(arena, FINDINGS_MAX, sizeof(*s.findings));
	scan_envelope(&s, e);
	if (s.count && policy == REDACT_REFUSE) {
		struct str kind = json_get(&s.findings[0], "kind")->s, where = json_get(&s.findings[0], "where")->s;

		problem_set(problem, P_CREDENTIALS_FOUND, where.p, "the text holds what looks like a credential (%.*s) "
			    "in %.*s%s; take it out (a memory that nobody cites stays behind with include_recent 0, or "
			    "without its pin), or let such texts be redacted: PUT /v1/space {\"guard\":\"redact\"}, "
			    "spine space --guard redact", STR_ARG(kind), STR_ARG(where),
			    s.count > 1 ? ", and more" : "");
		problem->extra_key = "findings";
		problem->extra = (int64_t)s.count;
		return problem->code;
	}
	m = arena_calloc(arena, 2, sizeof(*m));
	m[0] = (struct json_member){STR("findings"), {.type = JSON_ARRAY, .count = (uint32_t)s.count,
						      .items = s.findings}};
	m[1] = (struct json_member){STR("policy"), json_text(str_of(redact_policy_name(policy)))};
	e->guard = (struct json){.type = JSON_OBJECT, .count = 2, .members = m};
	return P_OK;
}

static void scan_keys(struct scan *s, struct json *value)
{
	for (uint32_t i = 0; value->type == JSON_ARRAY && i < value->count; i++)
		scan_keys(s, &value->items[i]);
	for (uint32_t i = 0; value->type == JSON_OBJECT && i < value->count; i++) {
		struct json_member *m = &value->members[i];

		m->key = scan_text(s, STR_NULL, m->key, STR("metadata"), NULL, NULL);
		scan_keys(s, &m->value);
	}
}

/* Tags and metadata, which are kept as JSON; `nothing` where they cannot be read. */
static struct str scan_text_of_json(struct scan *s, struct str text, struct str nothing)
{
	struct json value;
	struct json_error error;

	if (text.n <= 2)
		return text;
	if (!json_parse(text, JSON_DEPTH_MAX, s->arena, &value, &error))
		return nothing;
	value = scan_json(s, STR_NULL, value, STR("metadata"));
	scan_keys(s, &value);
	return json_canonical(&value, METADATA_BYTES_MAX, s->arena);
}

void redact_memory(struct memory *m, struct arena *arena)
{
	struct scan s = {.arena = arena, .findings = arena_calloc(arena, FINDINGS_MAX, sizeof(*s.findings))};

	m->content = scan_text(&s, STR_NULL, m->content, STR("content"), NULL, NULL);
	m->summary = scan_text(&s, STR_NULL, m->summary, STR("summary"), NULL, NULL);
	m->tags = scan_text_of_json(&s, m->tags, STR("[]"));
	m->metadata = scan_text_of_json(&s, m->metadata, STR("{}"));
}
