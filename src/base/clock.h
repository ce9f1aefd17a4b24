/* The machine's clocks. Only the edges (main, api, net) read them; what decides gets the time as an argument. */
#ifndef SPINE_BASE_CLOCK_H
#define SPINE_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970 UTC. */
int64_t clock_wall_ms(void);
/* The same in nanoseconds, up to the year 2255. */
int64_t clock_wall_ns(void);
/* Nanoseconds since some moment; never goes back. */
int64_t clock_mono_ns(void);
/* Nanoseconds since the machine was started, those that it slept included; never goes back. */
int64_t clock_boot_ns(void);
/* What the system calls the time since it was started: another name after each boot. "" where it has none. */
enum { CLOCK_BOOT_ID_SIZE = 64 };
void clock_boot_id(char ret[CLOCK_BOOT_ID_SIZE]);

/* "2026-01-30T12:00:00.000Z", 24 characters and a NUL. */
enum { CLOCK_TEXT_SIZE = 25 };
void clock_format(int64_t ms, char ret[CLOCK_TEXT_SIZE]);

#endif
