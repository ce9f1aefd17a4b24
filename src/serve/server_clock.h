/* The server's time: what every deadline, order and age is on. It is a timeline (base/timeline.h) of the machine's
 * clocks, which goes on over a restart.
 *
 * DATA/clock holds where it was last, with the name of the boot. It is written after commits, without a sync: within
 * the boot, which is when it says how to go on, the system's cache has it, however the process ended. After a power cut
 * it may be old; the newest time in the store, which is durable with each commit, is asked, too.
 */
#ifndef SPINE_SERVE_SERVER_CLOCK_H
#define SPINE_SERVE_SERVER_CLOCK_H

#include "base/log.h"

struct server_clock;

/* Borrows both. is_reset: begins as the wall clock, whatever is known. Returns owned. */
struct server_clock *server_clock_new(const char *data_dir, const struct log *log, bool is_reset);
/* NULL-safe. */
void server_clock_free(struct server_clock *clock);

/* Once, before the time is asked for, with the newest time in the store; 0: none. */
void server_clock_begin(void *clock, int64_t newest_ms);
/* From any thread. Never less than before. */
int64_t server_clock_now_ms(void *clock);
/* From any thread: so much is the server's time ahead of the wall clock; below 0: behind. */
int64_t server_clock_offset_ms(void *clock);
/* From one thread: writes where it is, where the last time was long enough ago or is_last. */
void server_clock_keep(struct server_clock *clock, bool is_last);

#endif
