/* Allocation that cannot fail.
 *
 * Running out of memory stops the process with one line on standard error. That is safe here,
 * because nothing is acknowledged before it is on disk, and it keeps the error paths of every
 * other module about errors that can be answered. Sizes that come from outside are bounded by a
 * limit long before they reach this file.
 */
#ifndef SPINE_BASE_MEM_H
#define SPINE_BASE_MEM_H

#include <stddef.h>

/* For those who look at the source, compilers and others: what is returned is never NULL. */
#define MEM_NOT_NULL __attribute__((returns_nonnull))

/* Each returns owned memory, to be released with free(), also for a size of 0. mem_zalloc's and mem_calloc's is
 * zeroed. */
void *mem_alloc(size_t size) MEM_NOT_NULL;
void *mem_zalloc(size_t size) MEM_NOT_NULL;
void *mem_calloc(size_t count, size_t size) MEM_NOT_NULL;
void *mem_realloc(void *ptr, size_t size) MEM_NOT_NULL;
void *mem_reallocarray(void *ptr, size_t count, size_t size) MEM_NOT_NULL;
char *mem_strdup(const char *s) MEM_NOT_NULL;
char *mem_strndup(const char *s, size_t len) MEM_NOT_NULL;
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2))) MEM_NOT_NULL;

/* For a process that runs long, before it has threads: freed memory goes back to the system in large parts only. */
void mem_tune(void);
/* From any thread, now and then: gives freed memory back to the system, where there is much of it. */
void mem_give_back(void);

/* Says that this memory will be looked at soon. GCC takes a function that only fetches ahead for one that does nothing,
 * and drops the calls to it: hence the empty statement. */
static inline void mem_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* Stops the process as a failed allocation does: for a library that reports its own. */
void mem_exhausted(size_t size) __attribute__((noreturn));

/* Overwrites a secret; not left out by a compiler that sees nobody read it any more. NULL-safe where n is 0. */
void mem_wipe(void *p, size_t n);

#endif
