#include "core/envelope/fidelity.h"

#include "codec/json_set.h"
#include "core/envelope/constraints.h"
#include "core/envelope/result.h"

#include <stdlib.h>

static struct fidelity_item *add(struct fidelity *f, enum fidelity_kind kind, enum fidelity_fate fate, struct str key)
{
	struct fidelity_item *item = &f->items[f->count++];

	*item = (struct fidelity_item){.kind = kind, .fate = fate, .key = key.n ? key : STR_NULL};
	if (fate != FATE_ADDED)
		f->total++;
	if (fate == FATE_KEPT || fate == FATE_NARROWED)
		f->kept++;
	f->waived += fate == FATE_WAIVED;
	return item;
}

/* --- Intent --- */

static void compare_intent(const struct envelope *a, const struct envelope *b, struct fidelity *f)
{
	if (a->intent.p == NULL && b->intent.p == NULL)
		return;
	if (a->intent.p == NULL)
		add(f, KIND_INTENT, FATE_ADDED, STR(""));
	else if (b->intent.p == NULL)
		add(f, KIND_INTENT, FATE_DROPPED, STR(""));
	else
		add(f, KIND_INTENT, str_eq(a->intent, b->intent) ? FATE_KEPT : FATE_CHANGED, STR(""));
}

/* --- Constraints --- */

static const struct json *find_waiver(const struct envelope *e, struct str key)
{
	for (uint32_t i = e->waived.count; i > 0; i--) {
		const struct json *name = json_get(&e->waived.items[i - 1], "key");

		if (name && name->type == JSON_STRING && str_eq(name->s, key))
			return &e->waived.items[i - 1];
	}
	return NULL;
}

static struct str text_of(const struct json *obj, const char *key)
{
	const struct json *value = json_get(obj, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

/* max_tokens belongs to the receiver: it is nobody's to keep. */
static bool is_own(struct str key)
{
	return str_is(key, "max_tokens");
}

static void compare_constraint(const struct json_member *m, const struct envelope *b, struct fidelity *f)
{
	const struct json *after = json_get_str(&b->constraints, m->key), *waiver = find_waiver(b, m->key);
	enum fidelity_fate fate = FATE_DROPPED;
	struct fidelity_item *item;

	if (after && json_equal(&m->value, after))
		fate = FATE_KEPT;
	else if (after && constraints_narrows(m->key, &m->value, after))
		fate = FATE_NARROWED;
	else if (waiver)
		fate = FATE_WAIVED;
	else if (after)
		fate = FATE_CHANGED;
	item = add(f, KIND_CONSTRAINT, fate, m->key);
	item->before = &m->value;
	item->after = after;
	if (fate == FATE_WAIVED) {
		item->reason = text_of(waiver, "reason");
		item->by = text_of(waiver, "by");
		item->unauthenticated = json_get(waiver, "unauthenticated") != NULL;
	}
}

static void compare_constraints(const struct envelope *a, const struct envelope *b, struct fidelity *f)
{
	for (uint32_t i = 0; i < a->constraints.count; i++)
		if (!is_own(a->constraints.members[i].key))
			compare_constraint(&a->constraints.members[i], b, f);
	for (uint32_t i = 0; i < b->constraints.count; i++) {
		const struct json_member *m = &b->constraints.members[i];

		if (!is_own(m->key) && json_get_str(&a->constraints, m->key) == NULL)
			add(f, KIND_CONSTRAINT, FATE_ADDED, m->key)->after = &m->value;
	}
}

/* --- Lists: open decisions and history --- */

static struct str short_text(const struct json *value, struct arena *arena)
{
	struct json_writer w;
	struct buf out;
	struct str text;

	if (value->type == JSON_STRING)
		return value->s;
	if (json_get(value, "action") && json_get(value, "action")->type == JSON_STRING)
		return json_get(value, "action")->s;
	buf_init(&out, 1024 * 1024);
	json_writer_init(&w, &out);
	json_put_canonical(&w, value);
	text = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* Kept are those of a that are in b or, where carried is given, in that; added are those of b that are not in a. */
static void compare_list(enum fidelity_kind kind, const struct json *a, const struct json *b,
			 const struct json *carried, struct arena *arena, struct fidelity *f)
{
	struct json_set in_a, in_b, in_carried;
	struct json none = {.type = JSON_ARRAY};

	json_set_init(&in_a, a);
	json_set_init(&in_b, b);
	json_set_init(&in_carried, carried ? carried : &none);
	for (uint32_t i = 0; i < a->count; i++) {
		bool kept = json_set_has(&in_b, &a->items[i]) || json_set_has(&in_carried, &a->items[i]);

		add(f, kind, kept ? FATE_KEPT : FATE_DROPPED, short_text(&a->items[i], arena));
	}
	for (uint32_t i = 0; i < b->count; i++)
		if (!json_set_has(&in_a, &b->items[i]))
			add(f, kind, FATE_ADDED, short_text(&b->items[i], arena));
	json_set_release(&in_a);
	json_set_release(&in_b);
	json_set_release(&in_carried);
}

/* A decision that is not open any more but stands in the history as decided was carried, not lost. */
static struct json decided(const struct envelope *e, struct arena *arena)
{
	struct json *items = arena_calloc(arena, e->history.count + 1, sizeof(*items));
	uint32_t count = 0;

	for (uint32_t i = 0; i < e->history.count; i++) {
		const struct json *action = json_get(&e->history.items[i], "action");

		if (action && json_get(&e->history.items[i], "decision"))
			items[count++] = *action;
	}
	return (struct json){.type = JSON_ARRAY, .count = count, .items = items};
}

static void compare_lists(const struct envelope *a, const struct envelope *b, struct arena *arena, struct fidelity *f)
{
	struct json carried = decided(b, arena);

	compare_list(KIND_DECISION, &a->open_decisions, &b->open_decisions, &carried, arena, f);
	compare_list(KIND_STEP, &a->history, &b->history, NULL, arena, f);
}

/* --- References --- */

/* A memory that an envelope names, and why it is not there in full where the envelope says so. Sorted by number, what
 * comes first in the envelope first. */
struct named {
	uint64_t num;
	size_t order;
	struct str reason;
};

struct names {
	struct named *items;
	size_t count;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *left = a, *right = b;

	if (left->num != right->num)
		return left->num < right->num ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static void name(struct names *n, uint64_t num, struct str reason)
{
	n->items[n->count] = (struct named){num, n->count, reason};
	n->count++;
}

static void name_text(struct names *n, struct str text, struct str reason)
{
	struct memory_id id;

	if (memory_id_parse(text, &id) && id.version == 0)
		name(n, id.num, reason);
}

static struct names names_of_refs(const struct envelope *e, struct arena *arena)
{
	struct names n = {.items = arena_calloc(arena, e->ref_count + 1, sizeof(*n.items))};

	for (size_t i = 0; i < e->ref_count; i++)
		name(&n, e->refs[i].id.num, STR_NULL);
	qsort(n.items, n.count, sizeof(*n.items), compare_named);
	return n;
}

static struct names names_of_the_rest(const struct envelope *e, struct arena *arena)
{
	struct names n = {.items = arena_calloc(arena, e->trim_count + e->missing_count + 1, sizeof(*n.items))};

	for (size_t i = 0; i < e->trim_count; i++)
		name_text(&n, e->trimmed[i].id, e->trimmed[i].reason);
	for (size_t i = 0; i < e->missing_count; i++)
		name_text(&n, e->missing[i].id, e->missing[i].reason);
	qsort(n.items, n.count, sizeof(*n.items), compare_named);
	return n;
}

/* The first of that number, or NULL. */
static const struct named *find_named(const struct names *n, uint64_t num)
{
	size_t low = 0, high = n->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (n->items[middle].num < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n->count && n->items[low].num == num ? &n->items[low] : NULL;
}

static struct str id_of(uint64_t num, struct arena *arena)
{
	return arena_printf(arena, "ms-%llu", (unsigned long long)num);
}

/* What came by relevance alone was never promised to the next hop, which looks for it again. */
static bool is_promised(const struct envelope_ref *r)
{
	return r->why != WHY_RELEVANT && r->why != WHY_RECENT;
}

/* A result goes along once; then the history names it. */
static void compare_refs(const struct envelope *a, const struct envelope *b, struct arena *arena, struct fidelity *f)
{
	struct names in_a = names_of_refs(a, arena), in_b = names_of_refs(b, arena), rest = names_of_the_rest(b, arena);
	struct mention_list results = {0};

	result_steps_collect(&results, &b->history, arena);
	for (size_t i = 0; i < a->ref_count; i++) {
		uint64_t num = a->refs[i].id.num;
		bool kept = find_named(&in_b, num) || mention_has(&results, (struct memory_id){num, 0});
		const struct named *why = kept ? NULL : find_named(&rest, num);
		struct fidelity_item *item;

		if (!is_promised(&a->refs[i]))
			continue;
		item = add(f, KIND_REF, kept ? FATE_KEPT : FATE_DROPPED, id_of(num, arena));
		item->reason = why ? why->reason : STR_NULL;
	}
	for (size_t i = 0; i < b->ref_count; i++)
		if (is_promised(&b->refs[i]) && find_named(&in_a, b->refs[i].id.num) == NULL)
			add(f, KIND_REF, FATE_ADDED, id_of(b->refs[i].id.num, arena));
}

static bool has_memory(const struct envelope *e, uint64_t num)
{
	struct mention_list results = {0};
	struct arena arena;
	bool has = false;

	for (size_t i = 0; !has && i < e->ref_count; i++)
		has = e->refs[i].id.num == num && is_promised(&e->refs[i]);
	if (has)
		return true;
	arena_init(&arena);
	result_steps_collect(&results, &e->history, &arena);
	has = mention_has(&results, (struct memory_id){num, 0});
	arena_release(&arena);
	return has;
}

double fidelity_score(size_t kept, size_t total)
{
	size_t digits = total ? kept * 10000 / total : 10000;

	return (double)digits / 10000.0;
}

void fidelity_compare(const struct envelope *before, const struct envelope *after, struct arena *arena,
		      struct fidelity *ret)
{
	size_t room = 2 + before->constraints.count + after->constraints.count + before->open_decisions.count +
		      after->open_decisions.count + before->history.count + after->history.count +
		      before->ref_count + after->ref_count;
	struct fidelity f = {.items = arena_calloc(arena, room, sizeof(*f.items))};

	compare_intent(before, after, &f);
	compare_constraints(before, after, &f);
	compare_lists(before, after, arena, &f);
	compare_refs(before, after, arena, &f);
	f.score = fidelity_score(f.kept, f.total);
	*ret = f;
}

bool fidelity_has(const struct envelope *e, struct str key)
{
	struct memory_id id;

	if (str_is(key, "intent"))
		return e->intent.p != NULL;
	if (json_get_str(&e->constraints, key))
		return true;
	if (memory_id_parse(key, &id) && has_memory(e, id.num))
		return true;
	for (uint32_t i = 0; i < e->open_decisions.count; i++)
		if (e->open_decisions.items[i].type == JSON_STRING && str_eq(e->open_decisions.items[i].s, key))
			return true;
	return false;
}
