/* Times that were measured, what is told of them, and the CPU time that the measuring took. */
#ifndef SPINE_BENCH_LOAD_MEASURE_H
#define SPINE_BENCH_LOAD_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* All zeroes: none yet. */
struct measure {
	uint32_t *us;
	size_t count;
	size_t cap;
};

void measure_add(struct measure *m, int64_t ns);
void measure_release(struct measure *m);

/* Before the first measure_ms(). */
void measure_sort(struct measure *m);
/* The time that this part of them, 0 to 1, does not pass; 0 where there is none. */
double measure_ms(const struct measure *m, double part);

/* The CPU time of this process so far. */
double measure_own_cpu_us(void);

#endif
