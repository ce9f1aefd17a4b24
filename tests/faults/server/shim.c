/* Lets calls of a real server fail. The test preloads it, and says through a file that both have mapped what is to fail
 * (FAULT_CONTROL): the n-th call of a kind, once or from then on. FAULT_ROOT is the data directory.
 */
#define _GNU_SOURCE
#define INTERPOSE_MEMORY
#include "interpose.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The numbers are those of tests/fault_shim.py. */
enum kind { NONE, STORE_WRITE, STORE_SYNC, STORE_OPEN, ACCEPT, SOCKET, SOCKET_READ, SOCKET_WRITE, MEMORY };

struct control {
	_Atomic(int64_t) kind;
	_Atomic(int64_t) error;		/* errno; 0: only a part */
	_Atomic(int64_t) at;		/* 0: none fails, they are counted */
	_Atomic(int64_t) stays;
	_Atomic(int64_t) calls;
	_Atomic(int64_t) hits;
};

static struct control *control;
static const char *root;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_CONTROL");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd >= 0 ? mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	root = getenv("FAULT_ROOT");
	if (p != MAP_FAILED && root)
		control = p;
	unsetenv("LD_PRELOAD");		/* of those that the server starts */
}

static bool strikes(enum kind kind)
{
	int64_t call;

	if (control == NULL || control->kind != kind)
		return false;
	call = atomic_fetch_add(&control->calls, 1) + 1;
	if (!call_fails((uint64_t)call, (uint64_t)control->at, control->stays))
		return false;
	atomic_fetch_add(&control->hits, 1);
	errno = (int)control->error;
	return true;
}

static bool is_store(int fd)
{
	return control && control->kind != NONE && fd_is_below(fd, root);
}

static bool is_socket(int fd)
{
	struct stat st;

	return control && control->kind != NONE && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* --- The store --- */

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) = real("pwrite64");

	if (!is_store(fd) || !strikes(STORE_WRITE))
		return next(fd, data, len, at);
	return control->error ? -1 : next(fd, data, len > 1 ? len / 2 : len, at);
}

static int sync_with(const char *name, int fd)
{
	int (*next)(int) = real(name);

	return is_store(fd) && strikes(STORE_SYNC) ? -1 : next(fd);
}

static int open_with(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = real(name);

	return control && strncmp(path, root, strlen(root)) == 0 && strikes(STORE_OPEN) ? -1 : next(path, flags, mode);
}

/* --- Sockets --- */

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	int (*next)(int, struct sockaddr *, socklen_t *, int) = real("accept4");

	return strikes(ACCEPT) ? -1 : next(fd, address, size, flags);
}

int accept(int fd, struct sockaddr *address, socklen_t *size)
{
	int (*next)(int, struct sockaddr *, socklen_t *) = real("accept");

	return strikes(ACCEPT) ? -1 : next(fd, address, size);
}

int socket(int domain, int type, int protocol)
{
	int (*next)(int, int, int) = real("socket");

	return strikes(SOCKET) ? -1 : next(domain, type, protocol);
}

ssize_t read(int fd, void *data, size_t len)
{
	ssize_t (*next)(int, void *, size_t) = real("read");

	if (!is_socket(fd) || !strikes(SOCKET_READ))
		return next(fd, data, len);
	return control->error ? -1 : next(fd, data, 1);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	ssize_t (*next)(int, void *, size_t, int) = real("recv");

	if (!is_socket(fd) || !strikes(SOCKET_READ))
		return next(fd, data, len, flags);
	return control->error ? -1 : next(fd, data, 1, flags);
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) = real("write");

	if (!is_socket(fd) || !strikes(SOCKET_WRITE))
		return next(fd, data, len);
	return control->error ? -1 : next(fd, data, len > 1 ? 1 : len);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	ssize_t (*next)(int, const void *, size_t, int) = real("send");

	if (!is_socket(fd) || !strikes(SOCKET_WRITE))
		return next(fd, data, len, flags);
	return control->error ? -1 : next(fd, data, len > 1 ? 1 : len, flags);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	ssize_t (*next)(int, const struct iovec *, int) = real("writev");
	struct iovec one;

	if (!is_socket(fd) || !strikes(SOCKET_WRITE) || count == 0)
		return next(fd, parts, count);
	if (control->error)
		return -1;
	one = (struct iovec){parts[0].iov_base, parts[0].iov_len ? 1 : 0};
	return next(fd, &one, 1);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t (*next)(int, const struct msghdr *, int) = real("sendmsg");
	struct msghdr part = *message;
	struct iovec one;

	if (!is_socket(fd) || !strikes(SOCKET_WRITE) || message->msg_iovlen == 0)
		return next(fd, message, flags);
	if (control->error)
		return -1;
	one = (struct iovec){message->msg_iov[0].iov_base, message->msg_iov[0].iov_len ? 1 : 0};
	part.msg_iov = &one;
	part.msg_iovlen = 1;
	return next(fd, &part, flags);
}

/* --- Memory --- */

static bool memory_fails(void)
{
	return strikes(MEMORY);
}
