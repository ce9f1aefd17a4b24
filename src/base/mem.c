#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void mem_exhausted(size_t size)
{
	if (size)
		fprintf(stderr, "spine: out of memory (%zu bytes wanted); stopping. "
				"What was acknowledged is on disk.\n", size);
	else
		fprintf(stderr, "spine: out of memory; stopping. What was acknowledged is on disk.\n");
	abort();
}

/* By default glibc gives back whatever is beyond 128 KB at the end of a thread's memory, and a thread whose memory ends
 * about there does so, and takes it again page by page, with every other request. To set the one keeps glibc from
 * raising the other, the size from which a block is the system's own: that is set to the most it would be raised to. */
void mem_tune(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 4 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

static void *checked(void *ptr, size_t size)
{
	if (ptr == NULL && size != 0)
		mem_exhausted(size);
	return ptr;
}

static size_t product(size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		mem_exhausted(SIZE_MAX);
	return total;
}

void *mem_alloc(size_t size)
{
	return checked(malloc(size), size);
}

void *mem_zalloc(size_t size)
{
	return checked(calloc(1, size), size);
}

void *mem_calloc(size_t count, size_t size)
{
	return checked(calloc(count, size), product(count, size));
}

void *mem_realloc(void *ptr, size_t size)
{
	return checked(realloc(ptr, size), size);
}

void *mem_reallocarray(void *ptr, size_t count, size_t size)
{
	size_t total = product(count, size);

	return checked(realloc(ptr, total), total);
}

char *mem_strndup(const char *s, size_t len)
{
	char *copy = mem_alloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}
