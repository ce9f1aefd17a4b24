#include "injector.h"

#ifndef __SANITIZE_ADDRESS__
#define INTERPOSE_MEMORY
#endif
#include "interpose.h"

#include <errno.h>
#include <stdatomic.h>

/* There is one C library in a process. The index may be read by a thread of its own. */
static struct {
	struct injection wanted;
	bool is_armed, is_paused;
	char root[256];
	_Atomic(uint64_t) calls, hits;
} injector;

void injector_arm(const struct injection *i, const char *root)
{
	injector.wanted = *i;
	snprintf(injector.root, sizeof(injector.root), "%s/", root);
	injector.calls = 0;
	injector.hits = 0;
	injector.is_armed = true;
}

void injector_disarm(void)
{
	injector.is_armed = false;
}

void injector_pause(bool is_paused)
{
	injector.is_paused = is_paused;
}

uint64_t injector_calls(void)
{
	return injector.calls;
}

uint64_t injector_hits(void)
{
	return injector.hits;
}

/* Counts the call. True: it is the one. */
static bool strikes(enum call_kind kind)
{
	const struct injection *w = &injector.wanted;
	uint64_t call;

	if (!injector.is_armed || injector.is_paused || kind != w->kind)
		return false;
	call = ++injector.calls;
	if (!call_fails(call, w->at, w->stays))
		return false;
	injector.hits++;
	errno = w->error;
	return true;
}

static bool is_ours(const char *path)
{
	return injector.is_armed && strncmp(path, injector.root, strlen(injector.root)) == 0;
}

static bool is_our_fd(int fd)
{
	return injector.is_armed && fd_is_below(fd, injector.root);
}

static bool is_short(size_t len)
{
	return injector.wanted.error == 0 && len > 1;
}

/* --- Files --- */

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) = real("pwrite64");

	if (!is_our_fd(fd) || !strikes(CALL_WRITE))
		return next(fd, data, len, at);
	return is_short(len) ? next(fd, data, len / 2, at) : injector.wanted.error ? -1 : next(fd, data, len, at);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	return pwrite64(fd, data, len, at);
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) = real("write");

	if (!is_our_fd(fd) || !strikes(CALL_WRITE))
		return next(fd, data, len);
	return is_short(len) ? next(fd, data, len / 2) : injector.wanted.error ? -1 : next(fd, data, len);
}

ssize_t pread64(int fd, void *data, size_t len, off64_t at)
{
	ssize_t (*next)(int, void *, size_t, off64_t) = real("pread64");

	if (!is_our_fd(fd) || !strikes(CALL_READ))
		return next(fd, data, len, at);
	return is_short(len) ? next(fd, data, len / 2, at) : injector.wanted.error ? -1 : next(fd, data, len, at);
}

ssize_t pread(int fd, void *data, size_t len, off_t at)
{
	return pread64(fd, data, len, at);
}

ssize_t read(int fd, void *data, size_t len)
{
	ssize_t (*next)(int, void *, size_t) = real("read");

	if (!is_our_fd(fd) || !strikes(CALL_READ))
		return next(fd, data, len);
	return is_short(len) ? next(fd, data, len / 2) : injector.wanted.error ? -1 : next(fd, data, len);
}

static int sync_with(const char *name, int fd)
{
	int (*next)(int) = real(name);

	return is_our_fd(fd) && strikes(CALL_SYNC) ? -1 : next(fd);
}

int ftruncate64(int fd, off64_t size)
{
	int (*next)(int, off64_t) = real("ftruncate64");

	return is_our_fd(fd) && strikes(CALL_TRUNCATE) ? -1 : next(fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static int open_with(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = real(name);

	return is_ours(path) && strikes(CALL_OPEN) ? -1 : next(path, flags, mode);
}

/* --- Names --- */

int unlink(const char *path)
{
	int (*next)(const char *) = real("unlink");

	return is_ours(path) && strikes(CALL_NAME) ? -1 : next(path);
}

int rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *) = real("rename");

	return is_ours(to) && strikes(CALL_NAME) ? -1 : next(from, to);
}

int link(const char *from, const char *to)
{
	int (*next)(const char *, const char *) = real("link");

	return is_ours(to) && strikes(CALL_NAME) ? -1 : next(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t) = real("mkdir");

	return is_ours(path) && strikes(CALL_NAME) ? -1 : next(path, mode);
}

/* --- Memory --- */

#ifdef INTERPOSE_MEMORY
static bool memory_fails(void)
{
	return strikes(CALL_MEMORY);
}
#endif
