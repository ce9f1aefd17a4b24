/* What the handoff before this one has brought goes along by itself: nobody has to copy it.
 *
 * The results of the direct parent's handoffs count as cited, and each is a step of the history. Older ones stay named
 * there, because the history is inherited; their texts are found by relevance. A handoff that is not completed yet may
 * bring its result while this envelope is on its way: the envelope stays as it is, and whoever hands it out says so
 * (since.h), with the tokens that are kept free here.
 */
#include "base/clock.h"
#include "core/envelope/assemble_internal.h"
#include "core/envelope/result.h"
#include "core/envelope/since.h"

enum { SUMMARY_BYTES = 80, STEP_MEMBERS = 4 };

static struct json text(struct str s)
{
	return (struct json){.type = JSON_STRING, .s = s};
}

/* The beginning of the first line, without half a character. */
static struct str beginning(struct str summary, bool *ret_is_cut)
{
	struct str rest = str_trim(summary), line = str_trim(str_cut(&rest, '\n'));

	*ret_is_cut = line.n > SUMMARY_BYTES;
	if (*ret_is_cut) {
		line.n = SUMMARY_BYTES;
		line.n = str_utf8_prefix(line);
	}
	return line;
}

/* In the order of canonical JSON. */
static struct json step_of(const struct past_result *r, const struct envelope *parent, struct arena *arena)
{
	struct json_member *m = arena_calloc(arena, STEP_MEMBERS, sizeof(*m));
	bool is_cut;
	struct str summary = beginning(parent->summary, &is_cut);
	struct str action = arena_printf(arena, PAST_RESULT_ACTION "%.*s%s", STR_ARG(summary),
					 is_cut ? "\xe2\x80\xa6" : "");
	char at[CLOCK_TEXT_SIZE];

	if (r->memory == 0)
		action = arena_printf(arena, "%.*s (%.*s)", STR_ARG(action), STR_ARG(past_result_place(r, arena)));
	clock_format(r->at_ms, at);
	m[0] = (struct json_member){STR("action"), text(action)};
	m[1] = (struct json_member){STR("agent"), text(r->agent)};
	m[2] = (struct json_member){STR("at"), text(arena_str(arena, str_of(at)))};
	m[3] = (struct json_member){STR("memory_id"),
				    text(arena_printf(arena, "ms-%llu", (unsigned long long)r->memory))};
	return (struct json){.type = JSON_OBJECT, .count = r->memory ? STEP_MEMBERS : STEP_MEMBERS - 1, .members = m};
}

/* What was forgotten or has expired is not asked for: nobody named it. */
static bool is_there(const struct assemble_tools *t, const struct assemble_input *in, uint64_t memory)
{
	enum memory_state state = MEMORY_GONE;
	struct arena arena;	/* its text is read again where it is resolved */
	struct memory m;

	if (in->coming && memory == in->coming->told.memory)
		return true;
	arena_init(&arena);
	if (store_memory_get(t->conn, in->space, memory, 0, &arena, &m) == STORE_OK)
		state = memory_state(&m, in->now_ms);
	arena_release(&arena);
	return state == MEMORY_ACTIVE || state == MEMORY_SUPERSEDED;
}

static void add_results(const struct assemble_tools *t, const struct assemble_input *in,
			const struct past_result *results, size_t count, struct envelope_draft *draft)
{
	struct json *steps = arena_calloc(t->arena, draft->history.count + count, sizeof(*steps));
	struct memory_id *refs = arena_calloc(t->arena, draft->ref_count + count, sizeof(*refs));
	bool *is_found = arena_calloc(t->arena, draft->ref_count + count, sizeof(*is_found));
	struct json history = {.type = JSON_ARRAY, .items = steps, .count = draft->history.count};
	const struct json *inherited = &in->parent->history;
	struct mention_list named = {0};

	if (history.count)
		memcpy(steps, draft->history.items, history.count * sizeof(*steps));
	if (draft->ref_count)
		memcpy(refs, draft->refs, draft->ref_count * sizeof(*refs));
	if (draft->ref_is_found)
		memcpy(is_found, draft->ref_is_found, draft->ref_count * sizeof(*is_found));
	past_results_collect(&named, inherited, t->arena);
	past_results_collect(&named, &history, t->arena);
	for (size_t i = 0; i < count; i++) {
		const struct past_result *r = &results[i];

		if (r->memory && !is_there(t, in, r->memory))
			continue;
		if (r->memory)
			refs[draft->ref_count++] = (struct memory_id){r->memory, 0};
		if (!past_result_is_named(r, &named, inherited, t->arena) &&
		    !past_result_is_named(r, &named, &history, t->arena))
			steps[history.count++] = step_of(r, in->parent, t->arena);
	}
	draft->refs = refs;
	draft->ref_is_found = is_found;
	draft->history = history;
}

/* With the one that is not stored yet. */
static void add_coming(const struct coming_result *coming, struct arena *arena, struct past_result **results,
		       size_t *count)
{
	struct past_result *all = arena_calloc(arena, *count + 1, sizeof(*all));

	if (*count)
		memcpy(all, *results, *count * sizeof(*all));
	all[(*count)++] = coming->told;
	*results = all;
}

enum problem_code assemble_results(const struct assemble_tools *tools, const struct assemble_input *in,
				   struct envelope_draft *draft, int64_t *ret_reserve, struct problem *problem)
{
	uint64_t completed = in->coming ? in->coming->told.handoff : 0;
	struct past_result *results;
	size_t count = 0;
	bool may_follow = false;
	enum problem_code code;

	if (in->parent == NULL || in->space == 0)
		return P_OK;
	code = results_of(tools->conn, in->space, in->parent->num, tools->arena, &results, &count, problem);
	if (code == P_OK)
		code = results_may_follow(tools->conn, in->space, in->parent->num, completed, tools->arena, &may_follow,
					  problem);
	if (code != P_OK)
		return code;
	if (in->coming && in->coming->is_told)
		add_coming(in->coming, tools->arena, &results, &count);
	if (count)
		add_results(tools, in, results, count, draft);
	*ret_reserve = may_follow ? SINCE_RESERVE_TOKENS : 0;
	return P_OK;
}
