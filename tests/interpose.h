/* Functions that stand before those of the C library, in a program or a library that is preloaded: what the fault
 * injectors (tests/faults) and the recorder of writes (tests/power) have in common.
 *
 * Who includes it defines open_with() and sync_with(), which get the name of the function that was called. With
 * INTERPOSE_MEMORY it also defines memory_fails(). The functions of the C library below are made from these, so that
 * one file of a program includes it.
 */
#ifndef SPINE_TESTS_INTERPOSE_H
#define SPINE_TESTS_INTERPOSE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The C library's own function of that name. */
static inline void *real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL)
		abort();
	return function;
}

/* Does the path of the open file begin so? */
static inline bool fd_is_below(int fd, const char *root)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return strncmp(path, root, strlen(root)) == 0;
}

/* Is the call with this number, from 1 on, one that fails? It is the one at `at`, 0: none, and those behind it where
 * the fault stays. */
static inline bool call_fails(uint64_t call, uint64_t at, bool stays)
{
	return at != 0 && (call == at || (call > at && stays));
}

/* --- Files --- */

static int open_with(const char *name, const char *path, int flags, mode_t mode);
static int sync_with(const char *name, int fd);

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_with("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_with("open64", path, flags, mode);
}

int fsync(int fd)
{
	return sync_with("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_with("fdatasync", fd);
}

/* --- Memory: glibc has its own functions under other names, too --- */

#ifdef INTERPOSE_MEMORY

static bool memory_fails(void);

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return memory_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return memory_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	return memory_fails() ? NULL : __libc_realloc(p, size);
}

#endif

#endif
