#include "core/envelope/result.h"

#include "codec/json_member.h"

enum { PAGE = 16 };

/* --- Making and reading --- */

static enum problem_code tell(struct delivery *d, const struct handoff_row *h, const struct memory *m,
			      struct problem *problem)
{
	struct event_row event = {
		.space = h->space,
		.at_ms = d->now_ms,
		.kind = EVENT_MEMORY_STORED,
		.memory = m->num,
		.actor = d->actor,
		.access_key = d->access_key,
		.note = arena_printf(d->arena, "result of ho-%llu", (unsigned long long)h->num),
	};
	enum store_status status = store_event_add(d->conn, &event);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

enum problem_code result_remember(struct delivery *d, const struct handoff_row *h, const struct memory_draft *draft,
				  struct result_row *result, struct problem *problem)
{
	struct memory_draft own = *draft;
	enum problem_code code;

	own.has |= MEMORY_HAS_AGENT;
	own.agent = h->agent_name;
	/* The clock may have been set back since it was prepared. */
	if (own.created_at_ms > d->now_ms)
		own.created_at_ms = d->now_ms;
	code = memory_create(d->conn, h->space, &own, d->now_ms, &d->made, problem);
	/* The space has no number left: that is no reason not to take the work. */
	if (code == P_ID_TAKEN) {
		*problem = (struct problem){0};
		result->form = RESULT_KEPT;
		return P_OK;
	}
	if (code == P_OK)
		code = tell(d, h, &d->made, problem);
	if (code != P_OK)
		return code;
	result->memory = d->result_memory = d->made.num;
	result->result = STR_NULL;
	return P_OK;
}

enum store_status result_read(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
			      struct result_row *ret)
{
	struct json value = {.type = JSON_STRING};
	struct memory m;
	enum store_status status = store_result_get(c, space, handoff, arena, ret);

	if (status != STORE_OK || ret->memory == 0)
		return status;
	status = store_memory_get(c, space, ret->memory, 1, arena, &m);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_REFUSED : status;
	ret->is_forgotten = m.forgotten_at_ms != 0;
	ret->is_quarantined = m.quarantined_at_ms != 0;
	if (ret->is_forgotten || ret->is_quarantined)
		return STORE_OK;
	value.s = m.content;
	ret->result = ret->form == RESULT_JSON ? m.content : json_canonical(&value, 6 * RESULT_MAX_BYTES, arena);
	return STORE_OK;
}

struct coming_result result_coming(const struct handoff_row *h, const struct delivery_answer *a, int64_t now_ms,
				   struct arena *arena)
{
	struct coming_result ret = {.told = {.handoff = h->num, .agent = h->agent_name, .at_ms = now_ms}};
	struct memory *m;

	ret.is_told = a->memory || a->result.form == RESULT_LARGE;
	if (a->memory == NULL)
		return ret;
	m = arena_zalloc(arena, sizeof(*m));
	*m = memory_of_draft(h->space, a->memory, now_ms);
	m->agent = h->agent_name;
	m->version = m->current_version = 1;
	ret.memory = m;
	ret.told.memory = m->num;
	return ret;
}

/* --- Those of an envelope --- */

static enum store_status read_past(struct store_conn *c, const struct handoff_row *h, struct past_result *ret,
				   bool *ret_is_told)
{
	struct result_row row;
	enum store_status status = store_result_find(c, h->space, h->num, &row);

	*ret_is_told = status == STORE_OK && (row.memory || row.form == RESULT_LARGE);
	*ret = (struct past_result){.handoff = h->num, .agent = h->agent_name, .at_ms = h->changed_at_ms};
	if (status == STORE_OK)
		ret->memory = row.memory;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum problem_code results_of(struct store_conn *c, int64_t space, uint64_t envelope, struct arena *arena,
			     struct past_result **ret, size_t *ret_count, struct problem *problem)
{
	struct handoff_filter filter = {.space = space, .envelope = envelope, .states = 1u << HANDOFF_COMPLETED};
	struct handoff_row rows[PAGE];
	size_t count = PAGE, cap = 0, found = 0;
	struct past_result *list = NULL;
	enum store_status status = STORE_OK;
	uint64_t after = 0;
	bool is_told;

	while (status == STORE_OK && count == PAGE && found + PAGE <= RESULTS_MAX) {
		status = store_handoffs(c, &filter, after, PAGE, arena, rows, &count);
		if (status == STORE_OK && found + count > cap) {
			struct past_result *grown = arena_calloc(arena, cap = 2 * cap + PAGE, sizeof(*grown));

			if (found)
				memcpy(grown, list, found * sizeof(*grown));
			list = grown;
		}
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			after = rows[i].num;
			status = read_past(c, &rows[i], &list[found], &is_told);
			found += status == STORE_OK && is_told;
		}
	}
	*ret = list;
	*ret_count = found;
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

enum problem_code results_may_follow(struct store_conn *c, int64_t space, uint64_t envelope, uint64_t but,
				     struct arena *arena, bool *ret, struct problem *problem)
{
	unsigned ended = 1u << HANDOFF_COMPLETED | 1u << HANDOFF_DISCARDED;
	struct handoff_filter filter = {
		.space = space, .envelope = envelope, .states = ((1u << HANDOFF_STATES) - 1) & ~ended,
	};
	struct handoff_row rows[2];
	size_t count = 0;
	enum store_status status = store_handoffs(c, &filter, 0, 2, arena, rows, &count);

	*ret = count > 1 || (count == 1 && rows[0].num != but);
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

/* --- In a history --- */

struct str past_result_place(const struct past_result *r, struct arena *arena)
{
	return arena_printf(arena, "result of ho-%llu", (unsigned long long)r->handoff);
}

void past_results_collect(struct mention_list *named, const struct json *history, struct arena *arena)
{
	struct mention_list ids = {0};

	for (uint32_t i = 0; i < history->count; i++) {
		const struct json *id = json_get(&history->items[i], "memory_id");

		if (id && id->type == JSON_STRING)
			mention_collect(&ids, id->s, arena);
	}
	for (size_t i = 0; i < ids.count; i++)
		mention_add(named, (struct memory_id){ids.ids[i].num, 0}, arena);
}

bool past_result_is_named(const struct past_result *r, const struct mention_list *named, const struct json *history,
			  struct arena *arena)
{
	struct str place;

	if (r->memory)
		return mention_has(named, (struct memory_id){r->memory, 0});
	place = arena_printf(arena, "(%.*s)", STR_ARG(past_result_place(r, arena)));
	for (uint32_t i = 0; i < history->count; i++) {
		const struct json *action = json_get(&history->items[i], "action");

		if (action && action->type == JSON_STRING && str_has_suffix(action->s, place))
			return true;
	}
	return false;
}

/* Who is said to have completed something, by a step that tells a result; p == NULL where it tells none. */
static struct str teller(const struct json *step)
{
	const struct json *action = json_get(step, "action"), *agent = json_get(step, "agent");

	if (action == NULL || action->type != JSON_STRING || !str_has_prefix(action->s, STR(PAST_RESULT_ACTION)) ||
	    agent == NULL || agent->type != JSON_STRING)
		return STR_NULL;
	return agent->s;
}

void result_steps_collect(struct mention_list *ret, const struct json *history, struct arena *arena)
{
	for (uint32_t i = 0; i < history->count; i++) {
		const struct json *id = json_get(&history->items[i], "memory_id");
		struct memory_id memory;

		if (teller(&history->items[i]).p && id && id->type == JSON_STRING && memory_id_parse(id->s, &memory))
			mention_add(ret, (struct memory_id){memory.num, 0}, arena);
	}
}

/* The memory that a step of that agent tells as its result; false where it tells none. */
static bool read_told(struct store_conn *c, int64_t space, const struct json *step, struct str agent,
		      const struct coming_result *coming, struct arena *arena, struct memory *ret)
{
	const struct json *id = json_get(step, "memory_id");
	struct memory_id memory;

	if (id == NULL || id->type != JSON_STRING || !memory_id_parse(id->s, &memory))
		return false;
	if (coming && coming->memory && coming->memory->num == memory.num)
		*ret = *coming->memory;
	else if (store_memory_get(c, space, memory.num, 1, arena, ret) != STORE_OK)
		return false;
	return ret->forgotten_at_ms == 0 && ret->quarantined_at_ms == 0 && str_is(ret->kind, RESULT_KIND) &&
	       ret->agent.p && str_eq(ret->agent, agent);
}

/* The agent's last one before that step says the same as m. */
static bool is_last(struct store_conn *c, int64_t space, const struct json *history, uint32_t index, struct str agent,
		    const struct memory *m, struct arena *arena)
{
	struct memory last;

	while (index-- > 0) {
		struct str other = teller(&history->items[index]);

		if (other.p && str_eq(other, agent) &&
		    read_told(c, space, &history->items[index], agent, NULL, arena, &last))
			return memcmp(last.digest, m->digest, sizeof(last.digest)) == 0;
	}
	return false;
}

bool past_result_is_repeated(struct store_conn *c, int64_t space, const struct json *history, uint32_t index,
			     const struct coming_result *coming)
{
	struct str agent = teller(&history->items[index]);
	struct arena arena;	/* texts may be large, and only their digests are compared */
	struct memory told;
	bool is_repeated;

	if (agent.p == NULL)
		return false;
	arena_init(&arena);
	is_repeated = read_told(c, space, &history->items[index], agent, coming, &arena, &told) &&
		      is_last(c, space, history, index, agent, &told, &arena);
	arena_release(&arena);
	return is_repeated;
}
