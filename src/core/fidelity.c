#include "core/fidelity.h"

#include "core/constraints.h"

static const char *const fate_names[] = {"kept", "added", "narrowed", "changed", "waived", "dropped"};
static const char *const kind_names[] = {"intent", "constraint", "decision", "step", "memory"};

const char *fidelity_fate_name(enum fidelity_fate fate)
{
	return fate_names[fate];
}

const char *fidelity_kind_name(enum fidelity_kind kind)
{
	return kind_names[kind];
}

static struct fidelity_item *add(struct fidelity *f, enum fidelity_kind kind, enum fidelity_fate fate, struct str key)
{
	struct fidelity_item *item = &f->items[f->count++];

	*item = (struct fidelity_item){.kind = kind, .fate = fate, .key = key};
	if (fate != FATE_ADDED)
		f->total++;
	if (fate == FATE_KEPT || fate == FATE_NARROWED || fate == FATE_WAIVED)
		f->kept++;
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

static bool contains(const struct json *list, const struct json *value)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (json_equal(&list->items[i], value))
			return true;
	return false;
}

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

/* A decision that is not open any more but stands in the history as decided was carried, not lost. */
static bool was_decided(const struct envelope *e, const struct json *decision)
{
	for (uint32_t i = 0; i < e->history.count; i++) {
		const struct json *action = json_get(&e->history.items[i], "action");

		if (action && json_get(&e->history.items[i], "decision") && json_equal(action, decision))
			return true;
	}
	return false;
}

static void compare_lists(const struct envelope *a, const struct envelope *b, struct arena *arena, struct fidelity *f)
{
	for (uint32_t i = 0; i < a->open_decisions.count; i++) {
		const struct json *d = &a->open_decisions.items[i];

		add(f, KIND_DECISION, contains(&b->open_decisions, d) || was_decided(b, d) ? FATE_KEPT : FATE_DROPPED, short_text(d, arena));
	}
	for (uint32_t i = 0; i < b->open_decisions.count; i++)
		if (!contains(&a->open_decisions, &b->open_decisions.items[i]))
			add(f, KIND_DECISION, FATE_ADDED, short_text(&b->open_decisions.items[i], arena));
	for (uint32_t i = 0; i < a->history.count; i++)
		add(f, KIND_STEP, contains(&b->history, &a->history.items[i]) ? FATE_KEPT : FATE_DROPPED,
		    short_text(&a->history.items[i], arena));
	for (uint32_t i = 0; i < b->history.count; i++)
		if (!contains(&a->history, &b->history.items[i]))
			add(f, KIND_STEP, FATE_ADDED, short_text(&b->history.items[i], arena));
}

/* --- References --- */

static const struct envelope_ref *find_ref(const struct envelope *e, uint64_t num)
{
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].id.num == num)
			return &e->refs[i];
	return NULL;
}

/* Why a memory is not among the references, where the envelope says so. */
static struct str why_not(const struct envelope *e, struct str id)
{
	for (size_t i = 0; i < e->trim_count; i++)
		if (str_eq(e->trimmed[i].id, id))
			return e->trimmed[i].reason;
	for (size_t i = 0; i < e->missing_count; i++)
		if (str_eq(e->missing[i].id, id))
			return e->missing[i].reason;
	return STR_NULL;
}

static void compare_refs(const struct envelope *a, const struct envelope *b, struct arena *arena, struct fidelity *f)
{
	for (size_t i = 0; i < a->ref_count; i++) {
		struct str id = arena_printf(arena, "ms-%llu", (unsigned long long)a->refs[i].id.num);

		if (find_ref(b, a->refs[i].id.num))
			add(f, KIND_REF, FATE_KEPT, id);
		else
			add(f, KIND_REF, FATE_DROPPED, id)->reason = why_not(b, id);
	}
	for (size_t i = 0; i < b->ref_count; i++)
		if (find_ref(a, b->refs[i].id.num) == NULL)
			add(f, KIND_REF, FATE_ADDED, arena_printf(arena, "ms-%llu", (unsigned long long)b->refs[i].id.num));
}

void fidelity_compare(const struct envelope *before, const struct envelope *after, struct arena *arena, struct fidelity *ret)
{
	size_t room = 2 + before->constraints.count + after->constraints.count + before->open_decisions.count +
		      after->open_decisions.count + before->history.count + after->history.count + before->ref_count + after->ref_count;
	struct fidelity f = {.items = arena_calloc(arena, room, sizeof(*f.items))};

	compare_intent(before, after, &f);
	compare_constraints(before, after, &f);
	compare_lists(before, after, arena, &f);
	compare_refs(before, after, arena, &f);
	f.score = f.total ? (double)(f.kept * 10000 / f.total) / 10000.0 : 1.0;
	*ret = f;
}

bool fidelity_has(const struct envelope *e, struct str key)
{
	struct memory_id id;

	if (str_is(key, "intent"))
		return e->intent.p != NULL;
	if (json_get_str(&e->constraints, key))
		return true;
	if (memory_id_parse(key, &id) && find_ref(e, id.num))
		return true;
	for (uint32_t i = 0; i < e->open_decisions.count; i++)
		if (e->open_decisions.items[i].type == JSON_STRING && str_eq(e->open_decisions.items[i].s, key))
			return true;
	return false;
}
