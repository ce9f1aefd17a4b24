/* Collecting and resolving: which memories go with the handoff, and why. */
#include "core/assemble_internal.h"
#include "core/mention.h"

/* A memory is taken for the first reason that is found for it; the reasons are asked in this order. */
struct collection {
	struct mention_list ids;	/* each once */
	enum envelope_why *why;		/* by position in ids; grows with it */
	size_t why_cap;
	struct arena *arena;
};

static void note_why(struct collection *c, size_t from, enum envelope_why why)
{
	if (c->ids.count > c->why_cap) {
		size_t cap = c->ids.cap;
		enum envelope_why *grown = arena_calloc(c->arena, cap, sizeof(*grown));

		if (from)
			memcpy(grown, c->why, from * sizeof(*grown));
		c->why = grown;
		c->why_cap = cap;
	}
	for (size_t i = from; i < c->ids.count; i++)
		c->why[i] = why;
}

static void collect_cited(struct collection *c, const struct handoff_draft *d)
{
	for (size_t i = 0; i < d->ref_count; i++)
		mention_add(&c->ids, d->refs[i], c->arena);
	mention_collect(&c->ids, d->summary, c->arena);
	for (uint32_t i = 0; i < d->history.count; i++) {
		const struct json *id = json_get(&d->history.items[i], "memory_id");

		if (id && id->type == JSON_STRING)
			mention_collect(&c->ids, id->s, c->arena);
	}
	note_why(c, 0, WHY_CITED);
}

/* What the parent carried, what it had to leave out, and what it could not find: all are asked for again, in their
 * newest version. */
static void collect_inherited(struct collection *c, const struct envelope *parent)
{
	size_t from = c->ids.count;
	struct memory_id id;

	for (size_t i = 0; i < parent->ref_count; i++)
		mention_add(&c->ids, (struct memory_id){parent->refs[i].id.num, 0}, c->arena);
	for (size_t i = 0; i < parent->trim_count; i++)
		if (memory_id_parse(parent->trimmed[i].id, &id))
			mention_add(&c->ids, (struct memory_id){id.num, 0}, c->arena);
	for (size_t i = 0; i < parent->missing_count; i++)
		if (memory_id_parse(parent->missing[i].id, &id))
			mention_add(&c->ids, id, c->arena);
	note_why(c, from, WHY_INHERITED);
}

/* Adds what the query finds, up to max of what is not there yet. Returns how many were added. What is there already
 * may be found again, so that more must be asked for than are wanted; but it is not often, and each one more that is
 * asked for takes time: a second page follows where the first was not enough. */
static size_t collect_found(const struct assemble_tools *t, const struct assemble_input *in, struct collection *c,
			    struct recall_query *q, size_t max, enum envelope_why why)
{
	size_t from = c->ids.count, left = max + from, page = max < RECALL_LIMIT_MAX ? max : RECALL_LIMIT_MAX, found;
	struct recall_hit *hits;

	/* A listing goes on where it stopped; a search for words begins again with each page. */
	if (q->text.p && left > RECALL_LIMIT_MAX)
		left = RECALL_LIMIT_MAX;
	q->now_ms = in->now_ms;
	hits = arena_alloc(t->arena, page * sizeof(*hits));
	for (; in->space && left > 0 && c->ids.count - from < max; left -= found) {
		q->limit = page < left ? page : left;
		if (!recall_search(t->recall, t->scratch, in->space, q, t->arena, hits, &found) || found == 0)
			break;
		for (size_t i = 0; i < found && c->ids.count - from < max; i++)
			mention_add(&c->ids, (struct memory_id){hits[i].num, 0}, c->arena);
		q->after_num = hits[found - 1].num;
		q->after_score = hits[found - 1].score;
		if (found < q->limit)
			break;
	}
	note_why(c, from, why);
	return c->ids.count - from;
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

	collect_found(t, in, c, &space, MENTION_MAX + 1, WHY_PINNED);
	collect_found(t, in, c, &task, MENTION_MAX + 1, WHY_PINNED);
}

static bool is_pinned_for(const struct memory *m, const struct envelope *e)
{
	return m->pinned && (m->task.p == NULL || str_eq(m->task, e->task));
}

/* The best by relevance and recency; where fewer are relevant at all, the newest. */
static void collect_recent(const struct assemble_tools *t, const struct assemble_input *in, struct collection *c)
{
	size_t room = MENTION_MAX - c->ids.count, want = (size_t)in->draft->include_recent, got = 0;
	struct str text = in->draft->summary;
	struct recall_query relevant = {0}, newest = {0};

	if (text.n > HANDOFF_QUERY_MAX)
		text.n = HANDOFF_QUERY_MAX;
	/* Nobody has asked for these by name: where what was named takes all the room, they stay behind. */
	if (want > room)
		want = room;
	relevant.text = text;
	relevant.max_postings = HANDOFF_QUERY_POSTINGS;
	relevant.shortlist = 2 * want + c->ids.count;
	if (relevant.shortlist > RECALL_LIMIT_MAX)
		relevant.shortlist = RECALL_LIMIT_MAX;
	if (want)
		got = collect_found(t, in, c, &relevant, want, WHY_RELEVANT);
	if (got < want)
		collect_found(t, in, c, &newest, want - got, WHY_RECENT);
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

static void add_ref(struct envelope *e, const struct memory *m, enum envelope_why why)
{
	struct envelope_ref *r = &e->refs[e->ref_count++];

	*r = (struct envelope_ref){
		.id = {m->num, m->version},
		.why = is_pinned_for(m, e) && why != WHY_CITED ? WHY_PINNED : why,
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

/* has_versions: some ids name a version, so that two of them may turn out to be one reference. */
static void resolve(const struct assemble_tools *t, const struct assemble_input *in, struct memory_id id,
		    enum envelope_why why, bool has_versions, struct envelope *e)
{
	bool asked = why == WHY_CITED || why == WHY_INHERITED;
	struct memory m;
	enum store_status status = STORE_NOT_FOUND;

	if (in->space)
		status = store_memory_get(t->conn, in->space, id.num, id.version, t->arena, &m);
	if (asked)
		e->requested++;
	if (status == STORE_OK && memory_state(&m, in->now_ms) != MEMORY_GONE &&
	    memory_state(&m, in->now_ms) != MEMORY_EXPIRED) {
		if (!has_versions || !is_there(e, &m))
			add_ref(e, &m, why);
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
		add_missing(e, id, m.forgotten_at_ms ? "forgotten" : "expired", t->arena);
}

/* All of one state of the store. */
static void resolve_all(const struct assemble_tools *t, const struct assemble_input *in, const struct collection *c,
			bool has_versions, struct envelope *e)
{
	bool snapshot = in->space && store_snapshot_begin(t->conn);

	for (size_t i = 0; i < c->ids.count; i++)
		resolve(t, in, c->ids.ids[i], c->why[i], has_versions, e);
	if (snapshot)
		store_snapshot_end(t->conn);
}

enum problem_code assemble_refs(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *e,
				struct problem *problem)
{
	struct collection c = {.arena = tools->arena};
	bool has_versions = false;

	collect_cited(&c, in->draft);
	if (in->parent)
		collect_inherited(&c, in->parent);
	if (c.ids.truncated)
		return problem_set(problem, P_TOO_LARGE, "refs",
				   "the handoff and those before it name more than %d memories", MENTION_MAX);
	if (in->draft->include_pins)
		collect_pins(tools, in, e, &c);
	if (c.ids.truncated)
		return problem_set(problem, P_TOO_LARGE, "include_pins",
				   "the memories that are named and the pins are more than %d; unpin some, or leave "
				   "the pins out", MENTION_MAX);
	collect_recent(tools, in, &c);
	e->refs = arena_calloc(tools->arena, c.ids.count, sizeof(*e->refs));
	e->missing = arena_calloc(tools->arena, c.ids.count, sizeof(*e->missing));
	for (size_t i = 0; i < c.ids.count; i++)
		has_versions |= c.ids.ids[i].version != 0;
	resolve_all(tools, in, &c, has_versions, e);
	return P_OK;
}
