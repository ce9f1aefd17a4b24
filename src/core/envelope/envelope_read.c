/* An envelope from its canonical JSON. What is read here was written by envelope_write; anything else is damage, and is
 * said to be. */
#include "codec/rfc3339.h"
#include "core/envelope/envelope.h"

static bool read_str(const struct json *obj, const char *key, struct str *ret)
{
	const struct json *value = json_get(obj, key);

	if (value == NULL || value->type != JSON_STRING)
		return false;
	*ret = value->s;
	return true;
}

/* null is p == NULL. */
static bool read_optional(const struct json *obj, const char *key, struct str *ret)
{
	const struct json *value = json_get(obj, key);

	if (value && value->type == JSON_NULL) {
		*ret = STR_NULL;
		return true;
	}
	return read_str(obj, key, ret);
}

static bool read_int(const struct json *obj, const char *key, int64_t *ret)
{
	return json_as_int(json_get(obj, key), ret);
}

static bool read_number(const struct json *obj, const char *key, double *ret)
{
	const struct json *value = json_get(obj, key);

	if (value == NULL || (value->type != JSON_INT && value->type != JSON_DOUBLE))
		return false;
	*ret = value->type == JSON_INT ? (double)value->i : value->d;
	return true;
}

static bool read_time(const struct json *obj, const char *key, int64_t *ret)
{
	struct str text;

	return read_str(obj, key, &text) && rfc3339_parse(text, ret);
}

static bool read_tree(const struct json *obj, const char *key, enum json_type type, struct json *ret)
{
	const struct json *value = json_get(obj, key);

	if (value == NULL || value->type != type)
		return false;
	*ret = *value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_digest(const struct json *obj, const char *key, uint8_t ret[32])
{
	struct str text;

	if (!read_str(obj, key, &text) || text.n != 7 + 64 || !str_has_prefix(text, STR("sha256:")))
		return false;
	for (size_t i = 0; i < 32; i++) {
		int high = hex_digit(text.p[7 + 2 * i]), low = hex_digit(text.p[8 + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool read_envelope_id(const struct json *obj, const char *key, uint64_t *ret)
{
	struct str text;

	if (!read_optional(obj, key, &text))
		return false;
	*ret = 0;
	return text.p == NULL || envelope_id_parse(text, ret);
}

static bool read_name(const struct json *obj, const char *key, const char *(*name)(int), int count, int *ret)
{
	struct str text;

	if (!read_str(obj, key, &text))
		return false;
	for (int i = 0; i < count; i++) {
		if (!str_is(text, name(i)))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static const char *why_name(int i)
{
	return envelope_why_name((enum envelope_why)i);
}

static const char *form_name(int i)
{
	return envelope_form_name((enum envelope_form)i);
}

static const char *strategy_name(int i)
{
	return envelope_strategy_name((enum envelope_strategy)i);
}

static bool read_redactions(const struct json *obj, struct arena *arena, struct envelope_ref *r)
{
	const struct json *list = json_get(obj, "redactions");
	struct envelope_redaction *items;

	if (list == NULL)
		return true;
	if (list->type != JSON_ARRAY)
		return false;
	items = arena_calloc(arena, list->count, sizeof(*items));
	for (uint32_t i = 0; i < list->count; i++) {
		int64_t at, len;

		if (!read_int(&list->items[i], "at", &at) || !read_int(&list->items[i], "len", &len) ||
		    !read_str(&list->items[i], "kind", &items[i].kind) || at < 0 || len < 0 || at > UINT32_MAX ||
		    len > UINT32_MAX)
			return false;
		items[i].at = (uint32_t)at;
		items[i].len = (uint32_t)len;
	}
	r->redactions = items;
	r->redaction_count = list->count;
	return true;
}

static bool read_ref(const struct json *obj, int64_t minor, struct arena *arena, struct envelope_ref *r)
{
	const struct json *text = json_get(obj, "text");
	struct str id, importance, trust, superseded_by;
	struct memory_id newer = {0};
	int64_t version;
	int why, form;

	r->has_left_agent = json_get(obj, "agent") == NULL;
	if (!read_str(obj, "id", &id) || !memory_id_parse(id, &r->id) || !read_int(obj, "version", &version) ||
	    !read_digest(obj, "digest", r->digest) || !read_name(obj, "why", why_name, 5, &why) ||
	    !read_name(obj, "form", form_name, 3, &form) || !read_str(obj, "importance", &importance) ||
	    !memory_importance_parse(importance, &r->importance) || !read_str(obj, "trust", &trust) ||
	    !memory_trust_parse(trust, &r->trust) || !read_int(obj, "tokens", &r->tokens) ||
	    !read_optional(obj, "kind", &r->kind) ||
	    (!r->has_left_agent && !read_optional(obj, "agent", &r->agent)) ||
	    !read_time(obj, "created_at", &r->created_at_ms) || !read_optional(obj, "superseded_by", &superseded_by) ||
	    !read_redactions(obj, arena, r) || (minor >= 1 && !read_number(obj, "relevance", &r->relevance)))
		return false;
	if (superseded_by.p && !memory_id_parse(superseded_by, &newer))
		return false;
	r->superseded_by = newer.num;
	r->id.version = (uint32_t)version;
	r->why = (enum envelope_why)why;
	r->form = (enum envelope_form)form;
	r->text = text && text->type == JSON_STRING ? text->s : STR_NULL;
	return true;
}

static bool read_memory(const struct json *obj, struct arena *arena, struct envelope *e)
{
	struct json refs, missing;

	if (!read_tree(obj, "refs", JSON_ARRAY, &refs) || !read_tree(obj, "missing", JSON_ARRAY, &missing))
		return false;
	e->refs = arena_calloc(arena, refs.count, sizeof(*e->refs));
	e->missing = arena_calloc(arena, missing.count, sizeof(*e->missing));
	e->ref_count = refs.count;
	e->missing_count = missing.count;
	for (uint32_t i = 0; i < refs.count; i++)
		if (!read_ref(&refs.items[i], e->minor, arena, &e->refs[i]))
			return false;
	for (uint32_t i = 0; i < missing.count; i++)
		if (!read_str(&missing.items[i], "id", &e->missing[i].id) ||
		    !read_str(&missing.items[i], "reason", &e->missing[i].reason))
			return false;
	return true;
}

/* Why it was there, and how relevant: not known of minor 0, nor of a step of the history. */
static bool read_trim_reason(const struct json *item, int64_t minor, struct envelope_trim *t)
{
	int why;

	if (minor == 0 || !str_has_prefix(t->id, STR("ms-")))
		return true;
	if (!read_name(item, "why", why_name, 5, &why) || !read_number(item, "relevance", &t->relevance))
		return false;
	t->why = (enum envelope_why)why;
	return true;
}

static bool read_budget(const struct json *obj, struct arena *arena, struct envelope *e)
{
	struct json trimmed;
	int strategy;

	if (!read_int(obj, "max_tokens", &e->max_tokens) || !read_int(obj, "token_count", &e->token_count) ||
	    !read_str(obj, "tokenizer", &e->tokenizer) || !read_name(obj, "strategy", strategy_name, 4, &strategy) ||
	    !read_tree(obj, "trimmed", JSON_ARRAY, &trimmed))
		return false;
	e->strategy = (enum envelope_strategy)strategy;
	e->trimmed = arena_calloc(arena, trimmed.count, sizeof(*e->trimmed));
	e->trim_count = trimmed.count;
	for (uint32_t i = 0; i < trimmed.count; i++) {
		const struct json *item = &trimmed.items[i];
		struct envelope_trim *t = &e->trimmed[i];

		if (!read_str(item, "id", &t->id) || !read_int(item, "tokens", &t->tokens) ||
		    !read_str(item, "reason", &t->reason) || !read_str(item, "form", &t->form) ||
		    !read_number(item, "score", &t->score) || !read_trim_reason(item, e->minor, t))
			return false;
	}
	return e->minor == 0 || read_number(obj, "worth", &e->worth);
}

static bool read_task(const struct json *obj, struct envelope *e)
{
	return read_str(obj, "id", &e->task) && read_optional(obj, "intent", &e->intent) &&
	       read_optional(obj, "state", &e->state) && read_str(obj, "summary", &e->summary) &&
	       read_tree(obj, "open_decisions", JSON_ARRAY, &e->open_decisions);
}

static bool read_lineage(const struct json *obj, struct envelope *e)
{
	return read_envelope_id(obj, "parent", &e->parent) &&
	       (e->parent == 0 || read_digest(obj, "parent_digest", e->parent_digest)) &&
	       read_envelope_id(obj, "root", &e->root) && read_int(obj, "hop", &e->hop) &&
	       read_int(obj, "max_hops", &e->max_hops) && read_tree(obj, "path", JSON_ARRAY, &e->path);
}

/* An envelope of a newer server has members that would be lost here, and with them its digest. */
static bool read_minor(const struct json *obj, struct envelope *e)
{
	struct str hint, trust;

	if (!read_int(obj, "envelope_minor", &e->minor) || e->minor < 0 || e->minor > ENVELOPE_MINOR)
		return false;
	if (e->minor >= 2 && (!read_str(obj, "trust", &trust) || !memory_trust_parse(trust, &e->trust)))
		return false;
	return e->minor == 0 || (read_optional(obj, "fetch_hint", &hint) &&
				 (hint.p == NULL || envelope_fetch_parse(hint, &e->fetch_hint)));
}

bool envelope_read(struct str text, struct arena *arena, struct envelope *ret)
{
	struct envelope e = {0};
	struct json_error error;
	const struct json *completeness;
	struct json obj;

	if (!json_parse(text, ENVELOPE_JSON_DEPTH, arena, &obj, &error))
		return false;
	completeness = json_get(&obj, "completeness");
	if (json_get(&obj, "guard"))
		e.guard = *json_get(&obj, "guard");
	if (json_get(&obj, "locked") && !read_tree(&obj, "locked", JSON_ARRAY, &e.locked))
		return false;
	if (!read_minor(&obj, &e) || !read_envelope_id(&obj, "id", &e.num) || !read_digest(&obj, "digest", e.digest) ||
	    !read_str(&obj, "space", &e.space) || !read_time(&obj, "created_at", &e.created_at_ms) ||
	    !read_optional(&obj, "from", &e.from) || !read_str(&obj, "to", &e.to) ||
	    !read_optional(&obj, "traceparent", &e.traceparent) || !read_task(json_get(&obj, "task"), &e) ||
	    !read_memory(json_get(&obj, "memory"), arena, &e) ||
	    !read_tree(&obj, "history", JSON_ARRAY, &e.history) ||
	    !read_tree(&obj, "constraints", JSON_OBJECT, &e.constraints) ||
	    !read_tree(&obj, "waived", JSON_ARRAY, &e.waived) ||
	    !read_tree(&obj, "expected_output", JSON_OBJECT, &e.expected_output) ||
	    !read_tree(&obj, "extensions", JSON_OBJECT, &e.extensions) ||
	    !read_lineage(json_get(&obj, "lineage"), &e) || !read_budget(json_get(&obj, "budget"), arena, &e) ||
	    !read_int(completeness, "requested", &e.requested) || !read_int(completeness, "resolved", &e.resolved))
		return false;
	*ret = e;
	return true;
}
