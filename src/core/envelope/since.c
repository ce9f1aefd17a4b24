#include "core/envelope/since.h"

#include "core/access/space_policy.h"
#include "core/guard/redact.h"

/* What was forgotten, or has expired, is no news. The text is read where it is shown. */
static enum store_status read_memory(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms,
				     struct arena *arena, struct memory *ret, bool *ret_is_news)
{
	enum store_status status = store_memory_get(c, space, num, 0, arena, ret);
	enum memory_state state = status == STORE_OK ? memory_state(ret, now_ms) : MEMORY_GONE;

	*ret_is_news = state == MEMORY_ACTIVE || state == MEMORY_SUPERSEDED;
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

/* Is it trusted as much as the space asks for? The receiver has not asked for it: it is told by nobody's choice. */
static enum store_status may_tell(struct store_conn *c, int64_t space, const struct memory *m, bool *ret)
{
	struct problem problem = {0};
	enum trust floor;
	struct arena arena;
	enum problem_code code;

	arena_init(&arena);
	code = space_policy_floor(c, space, &arena, &floor, &problem);
	arena_release(&arena);
	*ret = m->trust <= floor;
	return code == P_STORE_DAMAGED ? STORE_OK : problem_store_status(code);
}

static enum store_status look_at(struct store_conn *c, int64_t space, const struct envelope *e, int64_t now_ms,
				 bool is_shown, struct arena *arena, struct since_result *r, bool *ret_is_news)
{
	struct arena scratch;
	struct memory m;
	enum store_status status;

	arena_init(&scratch);
	status = read_memory(c, space, r->past.memory, now_ms, is_shown ? arena : &scratch, &m, ret_is_news);
	if (is_shown && *ret_is_news)
		status = may_tell(c, space, &m, &is_shown);
	if (status == STORE_OK && is_shown && *ret_is_news) {
		r->memory = m;
		if (e->guard.type == JSON_OBJECT)
			redact_memory(&r->memory, arena);
	}
	arena_release(&scratch);
	return status;
}

enum problem_code since_results(struct store_conn *c, int64_t space, const struct envelope *e, int64_t now_ms,
				struct arena *arena, struct since_result **ret, size_t *ret_count,
				struct problem *problem)
{
	struct mention_list named = {0};
	struct past_result *past = NULL;
	size_t count = 0, news = 0;
	enum problem_code code = P_OK;
	enum store_status status = STORE_OK;

	*ret_count = 0;
	if (e->parent)
		code = results_of(c, space, e->parent, arena, &past, &count, problem);
	if (code != P_OK || count == 0)
		return code;
	*ret = arena_calloc(arena, count, sizeof(**ret));
	past_results_collect(&named, &e->history, arena);
	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		struct since_result *r = &(*ret)[news];
		bool is_news = !past_result_is_named(&past[i], &named, &e->history, arena);

		*r = (struct since_result){.past = past[i]};
		if (e->guard.type == JSON_OBJECT)
			r->past.agent = redact_text(r->past.agent, arena);
		if (is_news && r->past.memory)
			status = look_at(c, space, e, now_ms, news < SINCE_SHOWN_MAX, arena, r, &is_news);
		news += status == STORE_OK && is_news;
	}
	*ret_count = news;
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}
