#include "store/task_work.h"

/* What is parked comes first, because a person must look at it; then what somebody has, then what waits. */
static int rank_of(enum handoff_state state)
{
	switch (state) {
	case HANDOFF_PARKED:
		return 0;
	case HANDOFF_LEASED:
	case HANDOFF_WORKING:
		return 1;
	case HANDOFF_QUEUED:
	case HANDOFF_DELAYED:
		return 2;
	default:
		return 3;
	}
}

bool task_work_add(struct task_work *w, uint64_t num, int64_t agent, enum handoff_state state, int64_t changed_at_ms)
{
	int rank = rank_of(state), kept = w->handoff ? rank_of(w->state) : 4;

	w->counts[state]++;
	if (w->recent == 0 || changed_at_ms > w->changed_at_ms ||
	    (changed_at_ms == w->changed_at_ms && num > w->recent)) {
		w->recent = num;
		w->changed_at_ms = changed_at_ms;
	}
	if (rank > kept || (rank == kept && num < w->handoff))
		return false;
	w->handoff = num;
	w->agent = agent;
	w->state = state;
	return true;
}
