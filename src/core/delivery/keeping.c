#include "core/delivery/keeping.h"

#include "base/clock.h"
#include "core/delivery/handoff_state.h"

bool keeping_is_live(enum handoff_state state)
{
	return !(KEEPING_ENDED >> state & 1);
}

int64_t keeping_time_ms(int64_t of_space, int64_t of_server)
{
	int64_t keep_ms = of_space == KEEP_AS_SERVER ? of_server : of_space;

	return keep_ms > 0 ? keep_ms : 0;
}

bool keeping_space_stays(struct str space_name)
{
	return str_is(space_name, "default");
}

int64_t keeping_idle_ms(struct str space_name, int64_t of_space, int64_t of_server)
{
	return keeping_space_stays(space_name) ? 0 : keeping_time_ms(of_space, of_server);
}

int64_t keeping_until_ms(int64_t keep_ms, int64_t now_ms)
{
	return keep_ms > 0 ? now_ms - keep_ms : INT64_MIN;
}

bool keeping_result_stays(const struct memory *m)
{
	return m->pinned || m->current_version > 1 || m->supersedes || m->superseded_by;
}

enum problem_code handoff_missing(struct store_conn *c, int64_t space, uint64_t num, struct problem *problem)
{
	struct pruned_handoff left;
	enum store_status status = space ? store_pruned_handoff(c, space, num, &left) : STORE_NOT_FOUND;
	char at[CLOCK_TEXT_SIZE];

	if (status == STORE_NOT_FOUND)
		return problem_set(problem, P_HANDOFF_NOT_FOUND, "id", "there is no ho-%llu in this space",
				   (unsigned long long)num);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	clock_format(left.changed_at_ms, at);
	return problem_set(problem, P_HANDOFF_PRUNED, "id", "ho-%llu is not kept any more: it handed over "
			   "env-%llu, and ended at %s as %s, longer ago than this space keeps handoffs",
			   (unsigned long long)num, (unsigned long long)left.envelope, at,
			   handoff_state_name(left.state));
}
