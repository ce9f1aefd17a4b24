#include "api/memory_json.h"

#include "api/decode.h"
#include "codec/json_member.h"

#include <stdio.h>

/* The first one says where a new memory belongs; it cannot be changed. */
static const char *const known_fields[] = {
	"scope",
	"id",     "content", "summary",  "kind",       "tags",  "importance", "agent",      "task",
	"pinned", "trust",   "metadata", "expires_at", "ttl_s", "supersedes", "created_at", NULL,
};

/* --- Reading --- */

/* Marks a field as given, and says whether its value is there to be read (it is not where the field is absent or null).
 */
static bool given(const struct json *obj, const char *name, bool patch, struct memory_draft *d, enum memory_field bit)
{
	const struct json *member = json_get(obj, name);

	if (member == NULL || (member->type == JSON_NULL && !patch))
		return false;
	d->has |= bit;
	return member->type != JSON_NULL;
}

static enum problem_code cannot_clear(const char *name, struct problem *problem)
{
	return problem_set(problem, P_INVALID_FIELD, name, "%s cannot be null", name);
}

static enum problem_code read_id(const struct json *obj, const char *name, uint64_t *ret, struct problem *problem)
{
	const struct json *value = decode_member(obj, name);
	struct memory_id id;

	if (value->type != JSON_STRING || !memory_id_parse(value->s, &id) || id.version)
		return problem_set(problem, P_INVALID_FIELD, name,
				   "%s is not an id of a memory; expected ms- and a number from 1 to %llu", name,
				   (unsigned long long)MEMORY_NUM_MAX);
	*ret = id.num;
	return P_OK;
}

static enum problem_code read_content(const struct json *obj, bool patch, struct memory_draft *d,
				      struct problem *problem)
{
	if (given(obj, "content", patch, d, MEMORY_HAS_CONTENT))
		return decode_str(obj, "content", 1, MEMORY_CONTENT_MAX, &d->content, problem);
	if (d->has & MEMORY_HAS_CONTENT)
		return cannot_clear("content", problem);
	return patch ? P_OK
		     : problem_set(problem, P_MISSING_FIELD, "content",
				   "content is missing; it is the text to remember");
}

static enum problem_code read_summary(const struct json *obj, bool patch, struct memory_draft *d,
				      struct problem *problem)
{
	if (!given(obj, "summary", patch, d, MEMORY_HAS_SUMMARY))
		return P_OK;
	return decode_str(obj, "summary", 1, MEMORY_SUMMARY_MAX, &d->summary, problem);
}

static enum problem_code read_kind(const struct json *obj, bool patch, struct memory_draft *d, struct problem *problem)
{
	enum problem_code code;

	d->kind = STR("note");
	if (!given(obj, "kind", patch, d, MEMORY_HAS_KIND))
		return P_OK;
	code = decode_str(obj, "kind", 1, MEMORY_KIND_MAX, &d->kind, problem);
	return code == P_OK ? decode_check_name(d->kind, "kind", MEMORY_KIND_MAX, problem) : code;
}

static bool is_repeated(const struct json *items, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (items[i].type == JSON_STRING && str_eq(items[i].s, items[index].s))
			return true;
	return false;
}

static enum problem_code check_tag(const struct json *tag, uint32_t index, struct problem *problem)
{
	char name[32];

	snprintf(name, sizeof(name), "tags[%u]", index);
	if (tag->type != JSON_STRING)
		return problem_set(problem, P_INVALID_FIELD, name, "%s is %s; expected a string", name,
				   json_type_name(tag->type));
	return decode_check_name(tag->s, name, MEMORY_TAG_MAX, problem);
}

static enum problem_code read_tags(struct call *call, const struct json *obj, bool patch, struct memory_draft *d)
{
	const struct json *tags = NULL;
	enum problem_code code;
	struct json_writer w;
	struct buf out;

	d->tags = STR("[]");
	if (!given(obj, "tags", patch, d, MEMORY_HAS_TAGS))
		return P_OK;
	code = decode_array(obj, "tags", MEMORY_TAGS_MAX, &tags, &call->op->problem);
	if (code != P_OK)
		return code;
	buf_init(&out, 2 + MEMORY_TAGS_MAX * (6 * MEMORY_TAG_MAX + 3));
	json_writer_init(&w, &out);
	json_begin_array(&w);
	for (uint32_t i = 0; code == P_OK && i < tags->count; i++) {
		code = check_tag(&tags->items[i], i, &call->op->problem);
		if (code == P_OK && !is_repeated(tags->items, i))
			json_put_str(&w, tags->items[i].s);
	}
	json_end_array(&w);
	if (code == P_OK)
		d->tags = arena_str(call->op->arena, buf_str(&out));
	buf_release(&out);
	return code;
}

static enum problem_code not_one_of(const struct json *value, const char *name, const char *list,
				    struct problem *problem)
{
	if (value->type != JSON_STRING)
		return problem_set(problem, P_INVALID_FIELD, name, "%s is %s; expected one of %s", name,
				   json_type_name(value->type), list);
	return problem_set(problem, P_INVALID_FIELD, name, "%s is \"%.*s\"; expected one of %s", name,
			   (int)(value->s.n < 40 ? value->s.n : 40), value->s.p, list);
}

static enum problem_code read_importance(const struct json *obj, bool patch, struct memory_draft *d,
					 struct problem *problem)
{
	const struct json *value = decode_member(obj, "importance");

	d->importance = IMPORTANCE_MEDIUM;
	if (!given(obj, "importance", patch, d, MEMORY_HAS_IMPORTANCE))
		return P_OK;
	if (value->type == JSON_STRING && memory_importance_parse(value->s, &d->importance))
		return P_OK;
	return not_one_of(value, "importance", "low, medium, high, critical", problem);
}

static enum problem_code read_trust(const struct json *obj, bool patch, struct memory_draft *d, struct problem *problem)
{
	const struct json *value = decode_member(obj, "trust");

	d->trust = TRUST_AGENT;
	if (!given(obj, "trust", patch, d, MEMORY_HAS_TRUST))
		return P_OK;
	if (value->type == JSON_STRING && memory_trust_parse(value->s, &d->trust))
		return P_OK;
	return not_one_of(value, "trust", "system, user, agent, external", problem);
}

static enum problem_code read_name(const struct json *obj, const char *name, size_t max, bool patch,
				   struct memory_draft *d, enum memory_field bit, struct str *ret,
				   struct problem *problem)
{
	enum problem_code code;

	if (!given(obj, name, patch, d, bit))
		return P_OK;
	code = decode_str(obj, name, 1, max, ret, problem);
	return code == P_OK ? decode_check_name(*ret, name, max, problem) : code;
}

static enum problem_code read_metadata(struct call *call, const struct json *obj, bool patch, struct memory_draft *d)
{
	const struct json *value = decode_member(obj, "metadata");
	struct problem *p = &call->op->problem;

	d->metadata = STR("{}");
	if (!given(obj, "metadata", patch, d, MEMORY_HAS_METADATA))
		return P_OK;
	if (value->type != JSON_OBJECT)
		return problem_set(p, P_INVALID_FIELD, "metadata", "metadata is %s; expected an object",
				   json_type_name(value->type));
	d->metadata = json_canonical(value, MEMORY_METADATA_MAX, call->op->arena);
	return d->metadata.p ? P_OK : problem_set(p, P_TOO_LARGE, "metadata", "metadata is larger than %d bytes as "
						  "JSON", MEMORY_METADATA_MAX);
}

static enum problem_code read_times(const struct json *obj, bool patch, struct memory_draft *d, struct problem *problem)
{
	enum problem_code code = P_OK;

	if (given(obj, "expires_at", patch, d, MEMORY_HAS_EXPIRES_AT)) {
		code = decode_time(obj, "expires_at", &d->expires_at_ms, problem);
		if (d->expires_at_ms == 0)
			d->expires_at_ms = 1;	/* 0 stands for never; 1970 is long past either way */
	}
	if (code == P_OK && given(obj, "ttl_s", false, d, MEMORY_HAS_TTL))
		code = decode_int(obj, "ttl_s", 1, MEMORY_TTL_MAX_S, &d->ttl_s, problem);
	if (code == P_OK && (d->has & MEMORY_HAS_TTL) && (d->has & MEMORY_HAS_EXPIRES_AT))
		code = problem_set(problem, P_INVALID_FIELD, "ttl_s",
				   "expires_at and ttl_s were both given; give one of them");
	return code;
}

/* id, supersedes and created_at: given once, when the memory is made. */
static enum problem_code read_immutable(const struct json *obj, bool patch, struct memory_draft *d,
					struct problem *problem)
{
	static const char *const names[] = {"id", "supersedes", "created_at"};
	enum problem_code code = P_OK;

	for (size_t i = 0; patch && i < sizeof(names) / sizeof(names[0]); i++)
		if (json_get(obj, names[i]))
			return problem_set(problem, P_IMMUTABLE_FIELD, names[i], "%s cannot be changed; leave it out",
					   names[i]);
	if (given(obj, "id", patch, d, MEMORY_HAS_ID))
		code = read_id(obj, "id", &d->num, problem);
	if (code == P_OK && given(obj, "supersedes", patch, d, MEMORY_HAS_SUPERSEDES))
		code = read_id(obj, "supersedes", &d->supersedes, problem);
	if (code == P_OK && given(obj, "created_at", patch, d, MEMORY_HAS_CREATED_AT))
		code = decode_time(obj, "created_at", &d->created_at_ms, problem);
	return code;
}

static enum problem_code read_pinned(const struct json *obj, bool patch, struct memory_draft *d,
				     struct problem *problem)
{
	if (given(obj, "pinned", patch, d, MEMORY_HAS_PINNED))
		return decode_bool(obj, "pinned", &d->pinned, problem);
	return P_OK;
}

/* A new memory that says it is for the whole space is given no task: it does not get that of the work under way. */
static enum problem_code read_scope(const struct json *obj, struct memory_draft *d, struct problem *problem)
{
	const struct json *scope = decode_member(obj, "scope");

	if (scope == NULL)
		return P_OK;
	if (scope->type != JSON_STRING || !str_is(scope->s, "space"))
		return not_one_of(scope, "scope", "space (for what belongs to no task); leave it out otherwise",
				  problem);
	if (d->has & MEMORY_HAS_TASK)
		return problem_set(problem, P_INVALID_FIELD, "scope",
				   "task and scope were both given; scope \"space\" is for what belongs to no task");
	d->has |= MEMORY_HAS_TASK;
	return P_OK;
}

enum problem_code memory_json_read(struct call *call, const struct json *obj, bool patch, const char *prefix,
				   struct memory_draft *ret)
{
	struct problem *p = &call->op->problem;
	struct memory_draft d = {0};
	enum problem_code code = P_OK;

	if (obj->type != JSON_OBJECT)
		return problem_set(p, P_INVALID_FIELD, NULL, "a memory is %s; expected an object",
				   json_type_name(obj->type));
	call_warn_unknown_members(call, obj, known_fields + (patch ? 1 : 0), prefix);
	if ((code = read_immutable(obj, patch, &d, p)) != P_OK || (code = read_content(obj, patch, &d, p)) != P_OK ||
	    (code = read_summary(obj, patch, &d, p)) != P_OK || (code = read_kind(obj, patch, &d, p)) != P_OK ||
	    (code = read_tags(call, obj, patch, &d)) != P_OK || (code = read_importance(obj, patch, &d, p)) != P_OK ||
	    (code = read_trust(obj, patch, &d, p)) != P_OK || (code = read_metadata(call, obj, patch, &d)) != P_OK ||
	    (code = read_times(obj, patch, &d, p)) != P_OK || (code = read_pinned(obj, patch, &d, p)) != P_OK ||
	    (code = read_name(obj, "agent", MEMORY_AGENT_MAX, patch, &d, MEMORY_HAS_AGENT, &d.agent, p)) != P_OK ||
	    (code = read_name(obj, "task", MEMORY_TASK_MAX, patch, &d, MEMORY_HAS_TASK, &d.task, p)) != P_OK)
		return code;
	code = patch ? P_OK : read_scope(obj, &d, p);
	if (code == P_OK)
		*ret = d;
	return code;
}

/* --- Writing --- */

static void put_id(struct json_writer *w, const char *key, uint64_t num)
{
	char text[MEMORY_ID_SIZE];

	memory_id_format(num, 0, text);
	json_member_optional(w, key, num ? str_of(text) : STR_NULL);
}

static void put_digest(struct json_writer *w, const struct memory *m)
{
	static const char hex[] = "0123456789abcdef";
	char text[7 + 64 + 1] = "sha256:";

	json_key(w, "digest");
	if (m->forgotten_at_ms) {
		json_put_null(w);
		return;
	}
	for (size_t i = 0; i < sizeof(m->digest); i++) {
		text[7 + 2 * i] = hex[m->digest[i] >> 4];
		text[8 + 2 * i] = hex[m->digest[i] & 15];
	}
	json_put_cstr(w, text);
}

void memory_json_begin(struct json_writer *w, const struct memory *m, int64_t now_ms)
{
	json_begin_object(w);
	put_id(w, "id", m->num);
	json_member_int(w, "version", m->version);
	json_member_cstr(w, "state", memory_state_name(memory_state(m, now_ms)));
	json_member_optional(w, "content", m->content);
	json_member_optional(w, "summary", m->summary);
	json_member_optional(w, "kind", m->kind);
	json_key(w, "tags");
	json_put_raw(w, m->tags.p ? m->tags : STR("[]"));
	json_member_optional(w, "importance",
			     m->forgotten_at_ms ? STR_NULL : str_of(memory_importance_name(m->importance)));
	json_member_optional(w, "agent", m->agent);
	json_member_optional(w, "task", m->task);
	json_member_bool(w, "pinned", m->pinned);
	json_member_optional(w, "trust", m->forgotten_at_ms ? STR_NULL : str_of(memory_trust_name(m->trust)));
	json_key(w, "metadata");
	json_put_raw(w, m->metadata.p ? m->metadata : STR("{}"));
	json_member_time_optional(w, "expires_at", m->expires_at_ms);
	put_id(w, "supersedes", m->supersedes);
	put_id(w, "superseded_by", m->superseded_by);
	put_digest(w, m);
	json_member_time(w, "created_at", m->created_at_ms);
	json_member_time(w, "updated_at", m->forgotten_at_ms ? m->forgotten_at_ms : m->updated_at_ms);
	if (m->forgotten_at_ms)
		json_member_time(w, "forgotten_at", m->forgotten_at_ms);
	if (m->version != m->current_version)
		json_member_int(w, "current_version", m->current_version);
}

void memory_json_put(struct json_writer *w, const struct memory *m, int64_t now_ms)
{
	memory_json_begin(w, m, now_ms);
	json_end_object(w);
}
