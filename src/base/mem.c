#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* What is free within the process must be so much before it goes back. */
#define GIVE_BACK_BYTES (16LL << 20)

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

#if defined(__GLIBC__) && defined(__linux__) && __GLIBC_PREREQ(2, 33)
/* Resident memory that is no file's. */
static long long resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long long size = 0, resident = 0, shared = 0;
	int count = f ? fscanf(f, "%lld %lld %lld", &size, &resident, &shared) : 0;

	if (f)
		fclose(f);
	return count == 3 ? (resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

/* What is free counts as free before and after it has gone back; what is resident does not. */
void mem_give_back(void)
{
	struct mallinfo2 info = mallinfo2();
	long long used = (long long)(info.uordblks + info.hblkhd), resident = resident_bytes();

	if ((long long)info.fordblks > GIVE_BACK_BYTES && resident - used > GIVE_BACK_BYTES)
		malloc_trim(0);
}
#else
void mem_give_back(void)
{
}
#endif

static void *checked(void *ptr, size_t size)
{
	if (ptr == NULL)
		mem_exhausted(size);
	return ptr;
}

/* For 0 bytes a C library may give none, and realloc() may free what there is. */
static size_t at_least_one(size_t size)
{
	return size ? size : 1;
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
	return checked(malloc(at_least_one(size)), size);
}

void *mem_zalloc(size_t size)
{
	return checked(calloc(1, at_least_one(size)), size);
}

void *mem_calloc(size_t count, size_t size)
{
	return mem_zalloc(product(count, size));
}

void *mem_realloc(void *ptr, size_t size)
{
	return checked(realloc(ptr, at_least_one(size)), size);
}

void *mem_reallocarray(void *ptr, size_t count, size_t size)
{
	return mem_realloc(ptr, product(count, size));
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

char *mem_printf(const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = mem_alloc((size_t)len + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

void mem_wipe(void *p, size_t n)
{
	if (n == 0)
		return;
	memset(p, 0, n);
	__asm__ volatile("" : : "r"(p) : "memory");
}
