/* Collecting and resolving: which memories go with the handoff, and why. */
#include "core/envelope/assemble_internal.h"
#include "core/envelope/result.h"

void collection_note(struct collection *c, size_t from, enum envelope_why why)
{
	if (c->ids.count > c->known_cap) {
		size_t cap = c->ids.cap;
		struct collected *grown = arena_calloc(c->arena, cap, sizeof(*grown));

		if (from)
			memcpy(grown, c->known, from * sizeof(*grown));
		c->known = grown;
		c->known_cap = cap;
	}
	for (size_t i = from; i < c->ids.count; i++)
		c->known[i] = (struct collected){.why = why};
}

/* What an envelope that is packed again had found by relevance is no more than that. */
static void collect_refs(struct collection *c, const struct envelope_draft *d, bool found)
{
	for (size_t i = 0; i < d->ref_count; i++)
		if ((d->ref_is_found && d->ref_is_found[i]) == found)
			mention_add(&c->ids, d->refs[i], c->arena);
}

static void collect_cited(struct collection *c, const struct envelope_draft *d)
{
	size_t cited;

	collect_refs(c, d, false);
	mention_collect(&c->ids, d->summary, c->arena);
	for (uint32_t i = 0; i < d->history.count; i++) {
		const struct json *id = json_get(&d->history.items[i], "memory_id");

		if (id && id->type == JSON_STRING)
			mention_collect(&c->ids, id->s, c->arena);
	}
	collection_note(c, 0, WHY_CITED);
	cited = c->ids.count;
	collect_refs(c, d, true);
	collection_note(c, cited, WHY_RELEVANT);
}

/* --- Inheriting --- */

/* Adds the newest version of a memory. */
static void add_newest(struct collection *c, uint64_t num)
{
	mention_add(&c->ids, (struct memory_id){num, 0}, c->arena);
}

/* What was named is inherited; what came by relevance is looked for again, for the new summary. Envelopes of minor 0
 * do not say why a memory was left out: it might have been named. */
static bool is_inherited(enum envelope_why why)
{
	return why == WHY_CITED || why == WHY_INHERITED;
}

/* Whether it still is pinned is seen when it is resolved. */
static void collect_pinned(struct collection *c, const struct envelope *parent)
{
	struct memory_id id;
	size_t from = c->ids.count;

	for (size_t i = 0; i < parent->ref_count; i++)
		if (parent->refs[i].why == WHY_PINNED)
			add_newest(c, parent->refs[i].id.num);
	for (size_t i = 0; parent->minor > 0 && i < parent->trim_count; i++)
		if (parent->trimmed[i].why == WHY_PINNED && memory_id_parse(parent->trimmed[i].id, &id))
			add_newest(c, id.num);
	collection_note(c, from, WHY_PINNED);
}

static void collect_named(struct collection *c, const struct envelope *parent)
{
	struct mention_list results = {0};
	struct memory_id id;

	/* A result is cited once, by the hop behind it. Later ones have it in the history, and find it by relevance. */
	result_steps_collect(&results, &parent->history, c->arena);
	for (size_t i = 0; i < parent->ref_count; i++) {
		id = (struct memory_id){parent->refs[i].id.num, 0};
		if (is_inherited(parent->refs[i].why) && !mention_has(&results, id))
			add_newest(c, id.num);
	}
	for (size_t i = 0; i < parent->trim_count; i++)
		if (memory_id_parse(parent->trimmed[i].id, &id) && !mention_has(&results, id) &&
		    (parent->minor == 0 || is_inherited(parent->trimmed[i].why)))
			add_newest(c, id.num);
	for (size_t i = 0; i < parent->missing_count; i++)
		if (memory_id_parse(parent->missing[i].id, &id))
			mention_add(&c->ids, id, c->arena);
}

/* A step that says what was decided names the memory that it was decided by. */
static void collect_decided(struct collection *c, const struct envelope *parent)
{
	for (uint32_t i = 0; i < parent->history.count; i++) {
		const struct json *step = &parent->history.items[i], *id = json_get(step, "memory_id");

		if (id && id->type == JSON_STRING && json_get(step, "decision"))
			mention_collect(&c->ids, id->s, c->arena);
	}
}

/* Who opens a memory needs it. */
static enum store_status collect_opened(const struct assemble_tools *t, const struct assemble_input *in,
					struct collection *c)
{
	struct receipt_row *rows = arena_alloc(t->arena, PACK_RECENT_MAX * sizeof(*rows));
	size_t count = 0;
	enum store_status status =
		store_receipts(t->conn, in->space, in->parent->num, PACK_RECENT_MAX, t->arena, rows, &count);

	for (size_t i = 0; status == STORE_OK && i < count; i++)
		add_newest(c, rows[i].memory);
	return status;
}

/* Adds what the query lists, up to max of what is not there yet. What is there already may be listed again: a second
 * page follows where the first was not enough. */
static void collect_listed(const struct assemble_tools *t, const struct assemble_input *in, struct collection *c,
			   struct recall_query *q, size_t max, enum envelope_why why)
{
	size_t from = c->ids.count, left = max + from, page = max < RECALL_LIMIT_MAX ? max : RECALL_LIMIT_MAX, found;
	struct recall_hit *hits = arena_alloc(t->arena, page * sizeof(*hits));

	q->now_ms = in->now_ms;
	for (; in->space && left > 0 && c->ids.count - from < max; left -= found) {
		q->limit = page < left ? page : left;
		if (!recall_search(t->recall, t->scratch, in->space, q, t->arena, hits, &found) || found == 0)
			break;
		for (size_t i = 0; i < found && c->ids.count - from < max; i++)
			add_newest(c, hits[i].num);
		q->after_num = hits[found - 1].num;
		if (found < q->limit)
			break;
	}
	collection_note(c, from, why);
}

static enum store_status collect_inherited(const struct assemble_tools *t, const struct assemble_input *in,
					   const struct envelope *e, struct collection *c)
{
	struct recall_filter decisions[] = {{RECALL_KIND, STR_NULL, STR("decision")}, {RECALL_TASK, STR_NULL, e->task}};
	struct recall_query query = {.filters = decisions, .filter_count = 2};
	size_t from = c->ids.count;
	enum store_status status;

	collect_named(c, in->parent);
	collect_decided(c, in->parent);
	status = collect_opened(t, in, c);
	collection_note(c, from, WHY_INHERITED);
	collect_pinned(c, in->parent);
	collect_listed(t, in, c, &query, HANDOFF_DECISIONS_KEPT, WHY_INHERITED);
	return status;
}

/* What is pinned for the whole space, and for this task. One more than there is room for, so that it is seen when there
 * are too many. */
static void collect_pins(const struct assemble_tools *t, const struct assemble_input *in, const struct envelope *e,
			 struct collection *c)
{
	struct recall_filter of_space = {RECALL_PINNED, STR_NULL, STR(RECALL_PINNED_SPACE)};
	struct recall_filter of_task[] = {{RECALL_PINNED, STR_NULL, STR("true")}, {RECALL_TASK, STR_NULL, e->task}};
	struct recall_query space = {.filters = &of_space, .filter_count = 1};
	struct recall_query task = {.filters = of_task, .filter_count = 2};

	collect_listed(t, in, c, &space, MENTION_MAX + 1, WHY_PINNED);
	collect_listed(t, in, c, &task, MENTION_MAX + 1, WHY_PINNED);
}

static bool is_pinned_for(const struct memory *m, const struct envelope *e)
{
	return m->pinned && (m->task.p == NULL || str_eq(m->task, e->task));
}

/* --- Resolving --- */

static void add_missing(struct envelope *e, struct memory_id id, const char *reason, struct arena *arena)
{
	char text[MEMORY_ID_SIZE];

	memory_id_format(id.num, id.version, text);
	e->missing[e->missing_count++] = (struct envelope_missing){arena_str(arena, str_of(text)), str_of(reason)};
}

/* A memory that was cited with the version that is its newest anyhow is the same reference. */
static bool is_there(const struct envelope *e, const struct memory *m)
{
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].id.num == m->num && e->refs[i].id.version == m->version)
			return true;
	return false;
}

static void add_ref(struct envelope *e, const struct memory *m, const struct collected *known)
{
	bool is_pin = known->why != WHY_CITED && is_pinned_for(m, e);
	struct envelope_ref *r = &e->refs[e->ref_count++];

	*r = (struct envelope_ref){
		.id = {m->num, m->version},
		.why = is_pin ? WHY_PINNED : known->why,
		.relevance = known->relevance,
		.repeats = known->repeats,
		.importance = m->importance,
		.trust = m->trust,
		.form = FORM_FULL,
		.kind = m->kind,
		.agent = m->agent,
		.created_at_ms = m->created_at_ms,
		.superseded_by = m->superseded_by,
		.text = m->content,
		.summary = m->summary,
	};
	memcpy(r->digest, m->digest, sizeof(r->digest));
}

static enum store_status read_memory(const struct assemble_tools *t, const struct assemble_input *in,
				     struct memory_id id, struct memory *ret)
{
	if (in->coming && in->coming->memory && in->coming->memory->num == id.num && id.version <= 1) {
		*ret = *in->coming->memory;
		return STORE_OK;
	}
	return in->space ? store_memory_get(t->conn, in->space, id.num, id.version, t->arena, ret) : STORE_NOT_FOUND;
}

/* has_versions: some ids name a version, so that two of them may turn out to be one reference. */
static void resolve(const struct assemble_tools *t, const struct assemble_input *in, struct memory_id id,
		    const struct collected *known, bool has_versions, struct envelope *e)
{
	bool asked = known->why == WHY_CITED || known->why == WHY_INHERITED;
	struct memory m;
	enum store_status status = read_memory(t, in, id, &m);
	enum memory_state state = MEMORY_GONE;

	if (asked)
		e->requested++;
	if (status == STORE_OK)
		state = memory_state(&m, in->now_ms);
	if (state == MEMORY_ACTIVE || state == MEMORY_SUPERSEDED) {
		if (known->why == WHY_PINNED && !is_pinned_for(&m, e))
			return;
		if (!has_versions || !is_there(e, &m))
			add_ref(e, &m, known);
		e->resolved += asked;
		return;
	}
	/* What nobody asked for by name and is gone since it was found is no loss to anybody. */
	if (!asked)
		return;
	if (status == STORE_NOT_FOUND)
		add_missing(e, id, "unknown", t->arena);
	else if (status != STORE_OK)
		add_missing(e, id, "unavailable", t->arena);
	else
		add_missing(e, id, memory_state_name(state), t->arena);
}

/* Of the references from `from` on: so much is to be counted and written of them, about. */
static size_t work_in_refs(const struct envelope *e, size_t from)
{
	size_t bytes = 0;

	for (size_t i = from; i < e->ref_count; i++)
		bytes += sizeof(*e->refs) + e->refs[i].text.n + e->refs[i].summary.n;
	return bytes;
}

/* All of one state of the store. False where it is too much for now. */
static bool resolve_all(const struct assemble_tools *t, const struct assemble_input *in, const struct collection *c,
			bool has_versions, struct envelope *e)
{
	bool snapshot = in->space && store_snapshot_begin(t->conn);
	bool goes_on = true;
	size_t work = 0;

	for (size_t i = 0; goes_on && i < c->ids.count; i++) {
		size_t before = e->ref_count;

		resolve(t, in, c->ids.ids[i], &c->known[i], has_versions, e);
		work += work_in_refs(e, before);
		goes_on = !t->is_too_much || !t->is_too_much(t->ctx, work);
	}
	if (snapshot)
		store_snapshot_end(t->conn);
	return goes_on;
}

enum problem_code assemble_refs(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *e,
				struct problem *problem)
{
	struct collection c = {.arena = tools->arena};
	enum store_status status = STORE_OK;
	bool has_versions = false;

	collect_cited(&c, in->draft);
	if (in->parent)
		status = collect_inherited(tools, in, e, &c);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (c.ids.truncated)
		return problem_set(problem, P_TOO_LARGE, "refs",
				   "the handoff and those before it name more than %d memories", MENTION_MAX);
	if (in->draft->include_pins)
		collect_pins(tools, in, e, &c);
	if (c.ids.truncated)
		return problem_set(problem, P_TOO_LARGE, "include_pins",
				   "the memories that are named and the pins are more than %d; unpin some, or leave "
				   "the pins out", MENTION_MAX);
	assemble_relevant(tools, in, e, &c);
	e->refs = arena_calloc(tools->arena, c.ids.count, sizeof(*e->refs));
	e->missing = arena_calloc(tools->arena, c.ids.count, sizeof(*e->missing));
	for (size_t i = 0; i < c.ids.count; i++)
		has_versions |= c.ids.ids[i].version != 0;
	return resolve_all(tools, in, &c, has_versions, e) ? P_OK : P_OVERLOADED;
}
