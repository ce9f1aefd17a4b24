#include "measure.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { CAP_FIRST = 1 << 16 };

void measure_add(struct measure *m, int64_t ns)
{
	int64_t us = ns / 1000;

	if (m->count == m->cap) {
		m->cap = m->cap ? m->cap * 2 : CAP_FIRST;
		m->us = mem_reallocarray(m->us, m->cap, sizeof(*m->us));
	}
	m->us[m->count++] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void measure_release(struct measure *m)
{
	free(m->us);
	*m = (struct measure){0};
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void measure_sort(struct measure *m)
{
	if (m->count)
		qsort(m->us, m->count, sizeof(*m->us), compare);
}

double measure_ms(const struct measure *m, double part)
{
	size_t at = (size_t)(part * (double)m->count);

	if (m->count == 0)
		return 0;
	return m->us[at < m->count ? at : m->count - 1] / 1000.0;
}

double measure_own_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
