/* One line of time out of two clocks. Pure: readings go in, times come out.
 *
 * DESIGN. The wall clock says what time it is, and may be set; a deadline on it ends early or late by as much. The
 * clock of the boot (time since the machine was started, sleep included) is never set, but starts anew with each boot.
 * A timeline begins as the wall clock and advances by the clock of the boot. Where the wall clock says otherwise it is
 * steered towards it, by at most a tenth of the time that passes: so it never goes back, a time span on it is off by at
 * most a tenth, and it comes to agree with the wall clock again, an hour apart in ten hours. What NTP corrects while it
 * runs (at most 500 parts in a million) is followed at once.
 *
 * Over a restart of the program within one boot it goes on exactly. Over a reboot nobody knows how long the machine was
 * off but the wall clock: the larger of it and the last known time is taken. So a wall clock that is set forward while
 * the machine is off cannot be told from time that passed.
 */
#ifndef SPINE_BASE_TIMELINE_H
#define SPINE_BASE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Steered by at most one part in so many of the time that passes. A tenth: what is timed by it (leases, timeouts,
 * backoffs) has to stand that much anyhow, from load and the network; and an hour is made good within a working day. */
enum { TIMELINE_STEER_PARTS = 10 };

/* What the machine's clocks say, at one moment. */
struct timeline_reading {
	int64_t boot_ns;
	int64_t wall_ns;
};

/* At boot_ns it was time_ns. */
struct timeline {
	int64_t boot_ns;
	int64_t time_ns;
};

/* Where the timeline begins. kept: what was kept of it last, NULL: nothing. is_same_boot: that was since the machine
 * was started. least_ns: a time that has surely been, 0: none. */
struct timeline timeline_begin(const struct timeline *kept, bool is_same_boot, int64_t least_ns,
			       struct timeline_reading now);
/* Moves on to the reading, and returns the time. Never less than before. */
int64_t timeline_advance(struct timeline *t, struct timeline_reading now);

#endif
