#include "base/timeline.h"

static int64_t within(int64_t value, int64_t limit)
{
	return value > limit ? limit : value < -limit ? -limit : value;
}

int64_t timeline_advance(struct timeline *t, struct timeline_reading now)
{
	/* Threads that read the clocks one after the other may come here in another order. */
	int64_t passed_ns = now.boot_ns - t->boot_ns;

	if (passed_ns <= 0)
		return t->time_ns;
	t->boot_ns = now.boot_ns;
	t->time_ns += passed_ns;
	t->time_ns += within(now.wall_ns - t->time_ns, passed_ns / TIMELINE_STEER_PARTS);
	return t->time_ns;
}

struct timeline timeline_begin(const struct timeline *kept, bool is_same_boot, int64_t least_ns,
			       struct timeline_reading now)
{
	struct timeline t = {now.boot_ns, now.wall_ns};

	/* A clock of the boot that is behind what was kept is another one, whatever it is called. */
	if (kept && is_same_boot && kept->boot_ns <= now.boot_ns) {
		t = *kept;
		timeline_advance(&t, now);
	} else if (kept && kept->time_ns > t.time_ns) {
		t.time_ns = kept->time_ns;
	}
	if (t.time_ns < least_ns)
		t.time_ns = least_ns;
	return t;
}
