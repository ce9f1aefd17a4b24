#include "core/guard/redact.h"

#include "codec/json_member.h"
#include "core/guard/credentials.h"
#include "core/envelope/unpack.h"

enum { HITS_MAX = 256, HITS_GROW = 16, FINDINGS_MAX = 1000, METADATA_BYTES_MAX = 1 << 20,
       RESULT_BYTES_MAX = 8 << 20 };

/* --- Findings --- */

struct scan {
	struct arena *arena;
	struct json *findings;		/* {kind, where} */
	size_t count;
	struct str kept;		/* the place of one that cannot be blanked; p == NULL: none */
	struct str kept_kind;
};

static struct json json_text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

static void note(struct scan *s, struct str kind, struct str where)
{
	struct json_member *m;

	if (s->count == FINDINGS_MAX)
		return;
	if (s->findings == NULL)
		s->findings = arena_calloc(s->arena, FINDINGS_MAX, sizeof(*s->findings));
	m = arena_calloc(s->arena, 2, sizeof(*m));
	m[0] = (struct json_member){STR("kind"), json_text(kind)};
	m[1] = (struct json_member){STR("where"), json_text(where)};
	s->findings[s->count++] = (struct json){.type = JSON_OBJECT, .count = 2, .members = m};
}

/* All credentials of a text; name is the key that it is the value of (p == NULL: none), which can give it away. Where
 * they are more than there is room for, it is read again with much more: a table is known by its beginning. */
static size_t find_all(struct scan *s, struct str name, struct str text, struct envelope_redaction **ret_spans)
{
	struct credential few[HITS_MAX], *hits = few;
	size_t room = HITS_MAX, count;

	for (;;) {
		count = name.p ? credentials_scan_value(name, text, hits, room) : credentials_scan(text, hits, room);
		if (count < room)
			break;
		room *= HITS_GROW;
		hits = arena_calloc(s->arena, room, sizeof(*hits));
	}
	*ret_spans = count ? arena_calloc(s->arena, count, sizeof(**ret_spans)) : NULL;
	for (size_t i = 0; i < count; i++)
		(*ret_spans)[i] = (struct envelope_redaction){(uint32_t)hits[i].at, (uint32_t)hits[i].len,
							      str_of(hits[i].kind)};
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

/* A name that something is found by. Blanked it would be another name, so the handoff is refused. */
static void scan_name(struct scan *s, struct str name, struct str where)
{
	struct credential hit;

	if (s->kept.p || name.p == NULL || credentials_scan(name, &hit, 1) == 0)
		return;
	s->kept = where;
	s->kept_kind = str_of(hit.kind);
	note(s, s->kept_kind, where);
}

static struct json scan_json(struct scan *s, struct str name, struct json value, struct str where);

/* In the order of canonical JSON again, where keys have changed. Two of the same name would not be read back. */
static void order_members(struct scan *s, struct json *object, struct str where)
{
	const struct json_member **sorted = arena_calloc(s->arena, object->count, sizeof(*sorted));
	struct json_member *members = arena_calloc(s->arena, object->count, sizeof(*members));

	json_sort_members(object, sorted);
	for (uint32_t i = 0; i < object->count; i++) {
		members[i] = *sorted[i];
		if (i > 0 && str_eq(members[i].key, members[i - 1].key) && s->kept.p == NULL) {
			s->kept = where;
			s->kept_kind = STR("in a key");
		}
	}
	object->members = members;
}

static struct json scan_object(struct scan *s, struct json value, struct str where)
{
	struct json_member *members = arena_calloc(s->arena, value.count, sizeof(*members));
	uint32_t changed = 0;

	for (uint32_t i = 0; i < value.count; i++) {
		struct str key = value.members[i].key, blanked = scan_text(s, STR_NULL, key, where, NULL, NULL);

		if (blanked.p != key.p && changed++)
			blanked = arena_printf(s->arena, "%.*s %u", STR_ARG(blanked), changed);
		members[i].key = blanked;
		members[i].value = scan_json(s, key, value.members[i].value,
					     arena_printf(s->arena, "%.*s.%.*s", STR_ARG(where), STR_ARG(blanked)));
	}
	value.members = members;
	if (changed)
		order_members(s, &value, where);
	return value;
}

/* The same for every string within a value, and every key; name is the key of the value. */
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
		value = scan_object(s, value, where);
	}
	return value;
}

static void scan_refs(struct scan *s, struct envelope *e)
{
	for (size_t i = 0; i < e->ref_count; i++) {
		struct envelope_ref *r = &e->refs[i];
		struct str where = arena_printf(s->arena, "memory.ms-%llu", (unsigned long long)r->id.num), agent;

		r->text = scan_text(s, STR_NULL, r->text, where, &r->redactions, &r->redaction_count);
		r->summary = scan_text(s, STR_NULL, r->summary, where, &r->summary_redactions,
				       &r->summary_redaction_count);
		r->kind = scan_text(s, STR_NULL, r->kind, where, NULL, NULL);
		agent = scan_text(s, STR_NULL, r->agent, where, NULL, NULL);
		r->is_renamed |= agent.p != r->agent.p;
		r->agent = agent;
	}
	for (size_t i = 0; i < e->missing_count; i++)
		e->missing[i].id = scan_text(s, STR_NULL, e->missing[i].id, STR("memory.missing"), NULL, NULL);
}

/* By these an envelope, its task and its constraints are found again. */
static void scan_names(struct scan *s, const struct envelope *e)
{
	scan_name(s, e->to, STR("to"));
	scan_name(s, e->from, STR("from"));
	scan_name(s, e->task, STR("task.id"));
	scan_name(s, e->space, STR("space"));
	for (uint32_t i = 0; e->path.type == JSON_ARRAY && i < e->path.count; i++)
		if (e->path.items[i].type == JSON_STRING)
			scan_name(s, e->path.items[i].s, arena_printf(s->arena, "chain.path[%u]", i));
	for (uint32_t i = 0; e->constraints.type == JSON_OBJECT && i < e->constraints.count; i++)
		scan_name(s, e->constraints.members[i].key, STR("constraints (a key)"));
	for (uint32_t i = 0; e->waived.type == JSON_ARRAY && i < e->waived.count; i++) {
		const struct json *key = json_get(&e->waived.items[i], "key");

		if (key && key->type == JSON_STRING)
			scan_name(s, key->s, STR("waived (a key)"));
	}
}

static void scan_envelope(struct scan *s, struct envelope *e)
{
	scan_names(s, e);
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

static enum problem_code refuse_name(const struct scan *s, struct problem *problem)
{
	problem_set(problem, P_CREDENTIALS_FOUND, s->kept.p, "what looks like a credential (%.*s) stands in %.*s, "
		    "where it cannot be redacted: the handoff would be another one; give it another name",
		    STR_ARG(s->kept_kind), STR_ARG(s->kept));
	problem->extra_key = "findings";
	problem->extra = (int64_t)s->count;
	return problem->code;
}

enum problem_code redact(struct envelope *e, enum redact_policy policy, struct arena *arena, struct problem *problem)
{
	struct scan s = {.arena = arena};
	struct json_member *m;

	e->guard = (struct json){.type = JSON_NULL};
	if (policy == REDACT_OFF)
		return P_OK;
	scan_envelope(&s, e);
	if (s.kept.p)
		return refuse_name(&s, problem);
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

enum problem_code redact_check_sent(const struct envelope *e, struct str name, const char *field, struct arena *arena,
				    struct problem *problem)
{
	struct scan s = {.arena = arena};

	if (redact_policy_packed(e) == REDACT_OFF)
		return P_OK;
	scan_name(&s, name, str_of(field));
	return s.kept.p ? refuse_name(&s, problem) : P_OK;
}

struct str redact_text(struct str text, struct arena *arena)
{
	struct scan s = {.arena = arena};

	return scan_text(&s, STR_NULL, text, STR("text"), NULL, NULL);
}

/* --- Memories and answers --- */

/* Tags, metadata and gaps, which are kept as JSON; `nothing` where they cannot be read. */
static struct str scan_text_of_json(struct scan *s, struct str text, struct str where, struct str nothing)
{
	struct json value;
	struct json_error error;

	if (text.n <= 2)
		return text;
	if (!json_parse(text, JSON_DEPTH_MAX, s->arena, &value, &error))
		return nothing;
	value = scan_json(s, STR_NULL, value, where);
	return json_canonical(&value, METADATA_BYTES_MAX, s->arena);
}

void redact_memory(struct memory *m, struct arena *arena)
{
	struct scan s = {.arena = arena};

	m->content = scan_text(&s, STR_NULL, m->content, STR("content"), NULL, NULL);
	m->summary = scan_text(&s, STR_NULL, m->summary, STR("summary"), NULL, NULL);
	m->kind = scan_text(&s, STR_NULL, m->kind, STR("kind"), NULL, NULL);
	m->agent = scan_text(&s, STR_NULL, m->agent, STR("agent"), NULL, NULL);
	m->task = scan_text(&s, STR_NULL, m->task, STR("task"), NULL, NULL);
	m->tags = scan_text_of_json(&s, m->tags, STR("tags"), STR("[]"));
	m->metadata = scan_text_of_json(&s, m->metadata, STR("metadata"), STR("{}"));
}

bool redact_answer(const struct redact_answer *answer, struct arena *arena, struct redact_answer *ret)
{
	struct scan s = {.arena = arena};

	*ret = *answer;
	ret->text = scan_text(&s, STR_NULL, answer->text, str_of(answer->text_field), NULL, NULL);
	if (answer->gaps.p)
		ret->gaps = scan_text_of_json(&s, answer->gaps, STR("gaps"), STR("[]"));
	if (answer->result.p) {
		struct json value;
		struct json_error error;

		if (json_parse(answer->result, JSON_DEPTH_MAX, arena, &value, &error)) {
			ret->value = scan_json(&s, STR_NULL, value, STR("result"));
			ret->result = json_canonical(&ret->value, RESULT_BYTES_MAX, arena);
		}
	}
	if (s.count == 0)
		return false;
	ret->kind = json_get(&s.findings[0], "kind")->s;
	ret->where = json_get(&s.findings[0], "where")->s;
	return true;
}

enum problem_code redact_refuse_answer(const struct redact_answer *found, struct problem *problem)
{
	return problem_set(problem, P_CREDENTIALS_FOUND, found->where.p, "the answer holds what looks like a "
			   "credential (%.*s) in %.*s; nothing was changed: take it out, say where it is kept, "
			   "and answer again",
			   STR_ARG(found->kind), STR_ARG(found->where));
}
