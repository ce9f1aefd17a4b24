#include "core/delivery/keeping.h"

bool keeping_is_live(enum handoff_state state)
{
	return !(KEEPING_ENDED >> state & 1);
}

int64_t keeping_time_ms(int64_t of_space, int64_t of_server)
{
	int64_t keep_ms = of_space == KEEP_AS_SERVER ? of_server : of_space;

	return keep_ms > 0 ? keep_ms : 0;
}

int64_t keeping_until_ms(int64_t keep_ms, int64_t now_ms)
{
	return keep_ms > 0 ? now_ms - keep_ms : INT64_MIN;
}

bool keeping_result_stays(const struct memory *m)
{
	return m->pinned || m->current_version > 1 || m->supersedes || m->superseded_by;
}
