/* The machine's clocks. Only the edges (main, api, net) read them; what decides gets the time as an argument. */
#ifndef SPINE_BASE_CLOCK_H
#define SPINE_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970 UTC. */
int64_t clock_wall_ms(void);
/* Nanoseconds since some moment; never goes back. */
int64_t clock_mono_ns(void);

/* "2026-01-30T12:00:00.000Z", 24 characters and a NUL. */
enum { CLOCK_TEXT_SIZE = 25 };
void clock_format(int64_t ms, char ret[CLOCK_TEXT_SIZE]);

#endif
