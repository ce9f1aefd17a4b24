/* Lets calls of a real server fail. The test preloads it, and says through a file that both have mapped what is to fail
 * (FAULT_CONTROL): the n-th call of a kind, once or from then on. FAULT_ROOT is the data directory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The numbers are those of server.py. */
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

static int strikes(enum kind kind)
{
	int64_t call;

	if (control == NULL || control->kind != kind)
		return 0;
	call = atomic_fetch_add(&control->calls, 1) + 1;
	if (control->at == 0 || call < control->at || (call > control->at && !control->stays))
		return 0;
	atomic_fetch_add(&control->hits, 1);
	errno = (int)control->error;
	return 1;
}

static void *real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL)
		abort();
	return function;
}

static int is_store(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	if (control == NULL || control->kind == NONE)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return strncmp(path, root, strlen(root)) == 0;
}

static int is_socket(int fd)
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

int fsync(int fd)
{
	int (*next)(int) = real("fsync");

	return is_store(fd) && strikes(STORE_SYNC) ? -1 : next(fd);
}

int fdatasync(int fd)
{
	int (*next)(int) = real("fdatasync");

	return is_store(fd) && strikes(STORE_SYNC) ? -1 : next(fd);
}

static int open_with(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = real(name);

	return control && strncmp(path, root, strlen(root)) == 0 && strikes(STORE_OPEN) ? -1 : next(path, flags, mode);
}

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

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_realloc(p, size);
}
