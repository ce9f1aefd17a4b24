#include "api/envelope_decode.h"

#include "api/decode.h"
#include "api/describe/shapes.h"
#include "api/translate.h"
#include "core/delivery/agent.h"
#include "core/memory/mention.h"
#include "core/envelope/repack.h"

enum { TASK_NAME_MAX = 128, ENVELOPE_ID_MAX = 64 };

/* --- Fields of any of the three forms --- */

static enum problem_code read_agent(const struct json *obj, const char *name, struct str *ret, struct problem *p)
{
	enum problem_code code = decode_str(obj, name, 1, AGENT_NAME_MAX, ret, p);

	return code == P_OK && ret->p ? decode_check_name(*ret, name, AGENT_NAME_MAX, p) : code;
}

static enum problem_code read_tree(const struct json *obj, const char *name, enum json_type type, struct json *ret,
				   struct problem *p)
{
	const struct json *value = decode_member(obj, name);

	if (value == NULL)
		return P_OK;
	if (value->type != type)
		return problem_set(p, P_INVALID_FIELD, name, "%s is %s; expected %s", name, json_type_name(value->type),
				   json_type_name(type));
	*ret = *value;
	return P_OK;
}

static enum problem_code read_objects(const struct json *obj, const char *name, size_t max, struct json *ret,
				      struct problem *p)
{
	const struct json *list = NULL;
	enum problem_code code = decode_array(obj, name, max, &list, p);

	for (uint32_t i = 0; code == P_OK && list && i < list->count; i++) {
		if (list->items[i].type == JSON_OBJECT)
			continue;
		code = problem_set(p, P_INVALID_FIELD, NULL, "an item is %s; expected an object",
				   json_type_name(list->items[i].type));
		problem_prefix(p, name, i);
	}
	if (code == P_OK && list)
		*ret = *list;
	return code;
}

static enum problem_code read_parent(const struct json *obj, const char *name, uint64_t *ret, struct problem *p)
{
	struct str text = STR_NULL;
	enum problem_code code = decode_str(obj, name, 1, 64, &text, p);

	if (code == P_OK && text.p && !envelope_id_parse(text, ret))
		code = problem_set(p, P_INVALID_FIELD, name, "%s is not an id of an envelope; expected one as in "
				   "env-17", name);
	return code;
}

static enum problem_code read_strategy(const struct json *obj, struct envelope_draft *d, struct problem *p)
{
	struct str name = STR_NULL;
	enum problem_code code = decode_str(obj, "strategy", 0, 64, &name, p);

	if (code == P_OK && name.p && !envelope_strategy_parse(name, &d->strategy))
		code = problem_set(p, P_INVALID_FIELD, "strategy", "strategy is \"%.*s\"; expected one of priority, "
				   "full, summary, lazy", STR_ARG(name));
	return code;
}

static enum problem_code require(struct str value, const char *name, const char *what, struct problem *p)
{
	return value.p ? P_OK : problem_set(p, P_MISSING_FIELD, name, "%s is missing; %s", name, what);
}

/* --- Version 1, and version 2 as a whole --- */

enum { PARTS = 5 };

/* The members of an object that are not known; appended to kept, which has room. */
static uint32_t take_unknown(const struct json *obj, const char *const *known, struct json_member *kept, uint32_t count)
{
	for (uint32_t i = 0; i < obj->count; i++) {
		const char *const *k = known;

		while (*k && !str_is(obj->members[i].key, *k))
			k++;
		if (*k == NULL)
			kept[count++] = obj->members[i];
	}
	return count;
}

/* The same for the parts of a version 2 envelope: {"task": {"their own": …}}. */
static uint32_t take_unknown_of_parts(struct call *call, const struct json *obj, struct json_member *kept,
				      uint32_t count)
{
	static const char *const task[] = {"id", "intent", "state", "summary", "open_decisions", NULL};
	static const char *const memory[] = {"refs", "missing", NULL};
	static const char *const lineage[] = {"parent", "parent_digest", "root", "hop", "max_hops", "path", NULL};
	static const char *const budget[] = {"max_tokens", "token_count", "tokenizer", "strategy", "utilization",
					     "trimmed", "worth", NULL};
	static const char *const completeness[] = {"requested", "resolved", "score", NULL};
	static const struct {
		const char *name;
		const char *const *known;
	} parts[PARTS] = {{"task", task}, {"memory", memory}, {"lineage", lineage}, {"budget", budget},
			  {"completeness", completeness}};

	for (size_t i = 0; i < PARTS; i++) {
		const struct json *part = json_get(obj, parts[i].name);
		struct json own = {.type = JSON_OBJECT};

		if (part == NULL || part->type != JSON_OBJECT)
			continue;
		own.members = arena_calloc(call->op->arena, part->count + 1, sizeof(*own.members));
		own.count = take_unknown(part, parts[i].known, own.members, 0);
		if (own.count)
			kept[count++] = (struct json_member){str_of(parts[i].name), own};
	}
	return count;
}

/* The members of an object, and those of an earlier one that it does not say anew. */
static struct json add_unsaid(struct call *call, struct json said, const struct json *before)
{
	struct json_member *members;
	uint32_t count = said.count;

	if (said.type != JSON_OBJECT || before->type != JSON_OBJECT)
		return said;
	members = arena_calloc(call->op->arena, said.count + before->count + 1, sizeof(*members));
	for (uint32_t i = 0; i < said.count; i++)
		members[i] = said.members[i];
	for (uint32_t i = 0; i < before->count; i++)
		if (json_get_str(&said, before->members[i].key) == NULL)
			members[count++] = before->members[i];
	return (struct json){.type = JSON_OBJECT, .count = count, .members = members};
}

/* The members that are not ours, as they came: they are kept in the envelope's extensions under `name`, beside what
 * the sender's own extensions hold. */
static struct json keep_unknown(struct call *call, const struct json *obj, const char *const *known, struct str name)
{
	static const struct json nothing = {.type = JSON_OBJECT};
	const struct json *given = decode_member(obj, "extensions"), *before;
	const struct json *own = given && given->type == JSON_OBJECT ? given : &nothing;
	struct json_member *kept, *outer = arena_calloc(call->op->arena, own->count + 1, sizeof(*outer));
	uint32_t count, outer_count = 0, new_count;

	before = json_get_str(own, name);
	if (before == NULL || before->type != JSON_OBJECT)
		before = &nothing;
	kept = arena_calloc(call->op->arena, obj->count + PARTS + before->count, sizeof(*kept));
	count = take_unknown(obj, known, kept, 0);
	if (str_is(name, "v2"))
		count = take_unknown_of_parts(call, obj, kept, count);
	/* What was kept of an earlier one stays, where this one does not say it anew. */
	new_count = count;
	for (uint32_t i = 0; new_count && i < before->count; i++) {
		uint32_t at = 0;

		while (at < new_count && !str_eq(kept[at].key, before->members[i].key))
			at++;
		if (at == new_count)
			kept[count++] = before->members[i];
		else
			kept[at].value = add_unsaid(call, kept[at].value, &before->members[i].value);
	}
	for (uint32_t i = 0; i < own->count; i++)
		if (count == 0 || !str_eq(own->members[i].key, name))
			outer[outer_count++] = own->members[i];
	if (count)
		outer[outer_count++] = (struct json_member){name, {.type = JSON_OBJECT, .count = count,
								   .members = kept}};
	return (struct json){.type = JSON_OBJECT, .count = outer_count, .members = outer};
}

/* Which envelope a body says that it is: id and digest, both or neither. */
static enum problem_code read_claim(const struct json *b, const char *id_name, uint64_t *ret, struct str *ret_digest,
				    struct problem *p)
{
	const struct json *id = decode_member(b, id_name), *digest = decode_member(b, "digest");

	if (id == NULL && digest == NULL)
		return P_OK;
	if (id == NULL || id->type != JSON_STRING || !envelope_id_parse(id->s, ret) || digest == NULL ||
	    digest->type != JSON_STRING)
		return problem_set(p, P_LINEAGE_UNVERIFIED, id_name, "%s and digest together say which envelope this "
				   "is, and one of them is missing or not readable; send both as they came, or leave "
				   "both out and name the parent", id_name);
	*ret_digest = digest->s;
	return P_OK;
}

static enum problem_code read_new_root(const struct json *b, struct packing *in, struct problem *p)
{
	const struct json *value = decode_member(b, "new_root");

	if (value && value->type != JSON_BOOL)
		return problem_set(p, P_INVALID_FIELD, "new_root", "new_root is %s; expected true or false",
				   json_type_name(value->type));
	in->new_root = value && value->boolean;
	return P_OK;
}

/* Named by the sender; or else the envelope that the body once was. */
static enum problem_code read_v1_parent(const struct json *b, struct packing *in, struct problem *p)
{
	enum problem_code code = read_parent(b, "parent", &in->parent, p);

	if (code == P_OK)
		code = read_new_root(b, in, p);
	if (code == P_OK && in->parent == 0 && !in->new_root)
		code = read_claim(b, "envelope_id", &in->parent, &in->parent_digest, p);
	return code;
}

static enum problem_code read_v1(struct call *call, const struct json *b, struct packing *in)
{
	static const char *const known[] = {"version", "target", "summary", "constraints", "history", "memory_ids",
					    "from", "context", "extensions", "parent", "envelope_id",
					    "digest", "locked", "new_root", NULL};
	struct shape_reader reader = translate_reader(call);
	enum problem_code code;

	reader.warn = NULL;
	in->draft.include_recent = 0;
	in->draft.extensions = keep_unknown(call, b, known, STR("v1"));
	in->is_v1 = true;
	code = shape_read(&shape_envelope_1_input, b, "", in, &reader);
	return code == P_OK ? read_v1_parent(b, in, &call->op->problem) : code;
}

static struct str item_id(const struct json *item)
{
	const struct json *id = json_get(item, "id");

	return id && id->type == JSON_STRING ? id->s : STR("");
}

/* It had come along because it was relevant, not because somebody named it. */
static bool is_found_item(const struct json *item)
{
	const struct json *why = json_get(item, "why");

	return why && why->type == JSON_STRING && (str_is(why->s, "relevant") || str_is(why->s, "recent"));
}

/* What the sender's envelope refers to is asked for by id; its text comes from the memories, not from the request.
 * What it had no room for or could not find is asked for again: it must not be lost because there is another
 * envelope between. */
static void read_v2_refs(struct call *call, const struct json *memory, const struct json *budget,
			 struct envelope_draft *d)
{
	const struct json *lists[] = {json_get(memory, "refs"), json_get(memory, "missing"),
				      json_get(budget, "trimmed")};
	struct mention_list ids = {0};
	bool *is_found = NULL;

	for (int found = 0; found < 2; found++) {
		size_t named = ids.count;

		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			for (uint32_t i = 0; lists[k] && lists[k]->type == JSON_ARRAY && i < lists[k]->count; i++)
				if (is_found_item(&lists[k]->items[i]) == found)
					mention_collect(&ids, item_id(&lists[k]->items[i]), call->op->arena);
		is_found = arena_calloc(call->op->arena, ids.count, sizeof(*is_found));
		for (size_t i = named; found && i < ids.count; i++)
			is_found[i] = true;
	}
	d->refs = ids.ids;
	d->ref_is_found = is_found;
	d->ref_count = ids.count;
}

/* Where a whole envelope says that it belongs. One that was at a later hop and names no envelope has lost the rest of
 * its lineage on the way. */
static enum problem_code read_v2_lineage(const struct json *b, struct packing *in, struct problem *p)
{
	const struct json *lineage = decode_member(b, "lineage"), *digest;
	enum problem_code code = read_parent(lineage, "parent", &in->parent, p);
	int64_t hop = 1;

	if (code != P_OK)
		problem_within(p, "lineage");
	if (code == P_OK)
		code = read_new_root(b, in, p);
	if (code == P_OK)
		code = read_claim(b, "id", &in->copied, &in->copied_digest, p);
	if (code != P_OK)
		return code;
	digest = decode_member(lineage, "parent_digest");
	if (digest && in->parent)
		in->parent_digest = digest->type == JSON_STRING ? digest->s : STR("");
	json_as_int(decode_member(lineage, "hop"), &hop);
	if (in->copied == 0 && in->parent == 0 && !in->new_root && (hop > 1 || decode_member(lineage, "root")))
		return problem_set(p, P_LINEAGE_UNVERIFIED, "lineage.parent", "the lineage says that this is within a "
				   "chain, and names no parent; send the envelope back as it came, with id, digest and "
				   "lineage, or name the envelope that it goes on from in lineage.parent");
	return P_OK;
}

/* All waivers of the envelope, and what its hop has decided. What is inherited is told apart when the parent is known.
 */
static enum problem_code read_v2_own(struct call *call, const struct json *b, struct packing *in)
{
	struct envelope_draft *d = &in->draft;
	struct json none = {.type = JSON_ARRAY};
	enum problem_code code = read_objects(b, "waived", PACK_DECISIONS_MAX, &d->waive, &call->op->problem);

	if (code == P_OK)
		code = read_tree(b, "locked", JSON_ARRAY, &d->locked, &call->op->problem);
	if (code != P_OK || (in->parent == 0 && in->copied == 0))
		return code;
	d->resolved_decisions = repack_decisions(d->history.type == JSON_ARRAY ? &d->history : &none,
						 d->open_decisions.type == JSON_ARRAY ? &d->open_decisions : &none,
						 d->from, call->op->arena);
	return P_OK;
}

/* What is no object would be read as if it were absent: a lineage that is lost without a word begins another task. */
static enum problem_code check_v2_parts(const struct json *b, struct problem *p)
{
	static const char *const parts[] = {"task", "memory", "lineage", "budget"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct json *part = decode_member(b, parts[i]);

		if (part && part->type != JSON_OBJECT)
			return problem_set(p, P_INVALID_FIELD, parts[i], "%s is %s; expected an object", parts[i],
					   json_type_name(part->type));
	}
	return P_OK;
}

static enum problem_code read_v2_task(const struct json *task, struct envelope_draft *d, struct problem *p)
{
	enum problem_code code;

	if ((code = decode_str(task, "summary", 1, PACK_TEXT_MAX, &d->summary, p)) != P_OK ||
	    (code = require(d->summary, "summary", "it says what the receiver is to accomplish", p)) != P_OK ||
	    (code = decode_str(task, "intent", 1, PACK_TEXT_MAX, &d->intent, p)) != P_OK ||
	    (code = decode_str(task, "state", 1, PACK_TEXT_MAX, &d->state, p)) != P_OK ||
	    (code = read_tree(task, "open_decisions", JSON_ARRAY, &d->open_decisions, p)) != P_OK ||
	    (code = decode_str(task, "id", 1, TASK_NAME_MAX, &d->task, p)) != P_OK ||
	    (code = d->task.p ? decode_check_name(d->task, "id", TASK_NAME_MAX, p) : P_OK) != P_OK)
		problem_within(p, "task");
	return code;
}

/* What the parts say that is checked, besides the lineage's own. */
static enum problem_code read_v2_limits(const struct json *budget, const struct json *lineage, struct envelope_draft *d,
					struct problem *p)
{
	enum problem_code code = read_strategy(budget, d, p);

	if (code != P_OK) {
		problem_within(p, "budget");
		return code;
	}
	code = decode_int(lineage, "max_hops", 1, PACK_HOPS_MAX, &d->max_hops, p);
	if (code != P_OK)
		problem_within(p, "lineage");
	return code;
}

static enum problem_code read_v2(struct call *call, const struct json *b, struct packing *in)
{
	static const char *const known[] = {"envelope_version", "envelope_minor", "id", "digest", "space", "created_at",
					    "from", "to", "traceparent", "task", "memory", "history", "constraints",
					    "waived", "expected_output", "lineage", "budget", "completeness",
					    "extensions", "guard", "fetch_hint", "trust", "since", "locked", "new_root",
					    "warnings", NULL};
	const struct json *task = json_get(b, "task"), *lineage = json_get(b, "lineage"),
		*budget = json_get(b, "budget");
	struct envelope_draft *d = &in->draft;
	struct problem *p = &call->op->problem;
	enum problem_code code;

	in->is_v2 = true;
	d->include_recent = 0;
	d->extensions = keep_unknown(call, b, known, STR("v2"));
	if ((code = read_agent(b, "from", &d->from, p)) != P_OK || (code = read_agent(b, "to", &d->to, p)) != P_OK ||
	    (code = require(d->to, "to", "it is who gets the work", p)) != P_OK ||
	    (code = check_v2_parts(b, p)) != P_OK || (code = read_v2_task(task, d, p)) != P_OK ||
	    (code = read_tree(b, "constraints", JSON_OBJECT, &d->constraints, p)) != P_OK ||
	    (code = read_objects(b, "history", PACK_HISTORY_MAX, &d->history, p)) != P_OK ||
	    (code = read_tree(b, "expected_output", JSON_OBJECT, &d->expected_output, p)) != P_OK ||
	    (code = read_v2_limits(budget, lineage, d, p)) != P_OK || (code = read_v2_lineage(b, in, p)) != P_OK)
		return code;
	read_v2_refs(call, json_get(b, "memory"), budget, d);
	return read_v2_own(call, b, in);
}

static enum problem_code unsupported(struct call *call, const struct json *version)
{
	struct json_writer w;
	struct buf text;

	buf_init(&text, 65536);
	json_writer_init(&w, &text);
	json_put(&w, version);
	call_refuse(call, P_UNSUPPORTED_VERSION, "envelope_version", "envelope version %.60s is not known; "
		    "this server reads 1 and \"2\"", text.data ? text.data : "?");
	buf_release(&text);
	return call->op->problem.code;
}

/* W3C Trace Context: a header that is not well-formed is treated as absent. */
static struct str read_traceparent(struct str value)
{
	static const char form[] = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

	if (value.n != sizeof(form) - 1)
		return STR_NULL;
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];
		bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');

		if (form[i] == '-' ? c != '-' : !hex)
			return STR_NULL;
	}
	return value;
}

enum problem_code envelope_decode(struct call *call, const struct json *body, struct packing *ret)
{
	const struct json *v1 = json_get(body, "version"), *v2 = json_get(body, "envelope_version");
	struct packing in = {.draft = {.include_recent = 20, .include_pins = true}};
	struct shape_reader reader = translate_reader(call);
	enum problem_code code;

	if (v2 && v2->type == JSON_STRING && str_is(v2->s, ENVELOPE_VERSION))
		code = read_v2(call, body, &in);
	else if (v2)
		code = unsupported(call, v2);
	else if (v1 && v1->type == JSON_INT && v1->i == 1)
		code = read_v1(call, body, &in);
	else if (v1)
		code = unsupported(call, v1);
	else
		code = shape_read(&shape_pack, body, "", &in, &reader);
	if (code != P_OK)
		return code;
	if (in.draft.from.p == NULL)
		in.draft.from = call->op->agent;
	/* Whichever form it came in. */
	if (in.draft.from.p)
		code = access_check_agent(call->op->access, "from", in.draft.from, &call->op->problem);
	if (code != P_OK)
		return code;
	in.draft.traceparent = read_traceparent(call->beside(call, "traceparent"));
	*ret = in;
	return P_OK;
}
