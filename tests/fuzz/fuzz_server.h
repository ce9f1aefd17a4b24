/* A whole server in the fuzzer's process, on a directory of its own, and a client that gives it bytes. Whatever comes
 * is answered or closed, and nothing is answered 500. */
#ifndef SPINE_TESTS_FUZZ_SERVER_H
#define SPINE_TESTS_FUZZ_SERVER_H

#include "fuzz.h"

#include "cli/cli.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { FUZZ_START_MS = 30000, FUZZ_PATIENCE_MS = 20000, FUZZ_ANSWER_MAX = 64 << 20 };

static char fuzz_root[128];
static int fuzz_port;

static inline void *fuzz_serve(void *arg)
{
	char data[160];
	const char *args[] = {
		"spine", "serve", "--quiet", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error",
		"--threads", "1", "--header-timeout", "5s", "--idle-timeout", "5s", "--keep-handoffs", "20s",
		"--keep-events", "20s", NULL,
	};
	struct arena arena;

	(void)arg;
	snprintf(data, sizeof(data), "%s/data", fuzz_root);
	arena_init(&arena);
	if (cli_run(&arena, (int)(sizeof(args) / sizeof(args[0])) - 1, (char **)(void *)args) != 0)
		abort();
	return NULL;
}

static inline int fuzz_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* The server's threads are still there: nothing of the process is taken down under them. A finding never gets here. */
static inline void fuzz_clean(void)
{
	nftw(fuzz_root, fuzz_remove, 16, FTW_DEPTH | FTW_PHYS);
	fflush(NULL);
	_exit(0);
}

/* The port stands in server.json, which is written when requests are taken. */
static inline int fuzz_read_port(void)
{
	char path[192], text[1024];
	const char *at;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/data/server.json", fuzz_root);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	at = strstr(text, "127.0.0.1:");
	return at ? atoi(at + strlen("127.0.0.1:")) : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *temp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	const struct timespec moment = {0, 1000000};
	pthread_t thread;

	(void)argc;
	(void)argv;
	snprintf(fuzz_root, sizeof(fuzz_root), "%s/spine-fuzz-XXXXXX", temp);
	PROMISE(mkdtemp(fuzz_root) != NULL, "there is a directory");
	atexit(fuzz_clean);
	PROMISE(pthread_create(&thread, NULL, fuzz_serve, NULL) == 0, "there is a thread");
	for (int i = 0; fuzz_port == 0 && i < FUZZ_START_MS; i++) {
		fuzz_port = fuzz_read_port();
		nanosleep(&moment, NULL);
	}
	PROMISE(fuzz_port != 0, "the server starts");
	return 0;
}

/* The fuzzer's own alarm interrupts: then it goes on by itself, and is over when the socket can be written to. */
static inline bool fuzz_is_connected(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = 0, ready;
	socklen_t size = sizeof(error);

	while ((ready = poll(&p, 1, FUZZ_PATIENCE_MS)) < 0 && errno == EINTR)
		continue;
	return ready == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

static inline int fuzz_connect(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fuzz_port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	/* A reset in the end leaves no port behind that nobody can use for a minute. */
	struct linger hard = {1, 0};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	PROMISE(fd >= 0, "there is a socket");
	PROMISE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
		(errno == EINTR && fuzz_is_connected(fd)), "a client can connect");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	return fd;
}

/* All that comes until the server closes. */
static inline void fuzz_read_answer(int fd, struct buf *answer)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		char *room = buf_reserve(answer, 16384);
		ssize_t n;
		int ready;

		PROMISE(room != NULL, "an answer is not endless");
		/* The fuzzer's own alarm interrupts. */
		while ((ready = poll(&p, 1, FUZZ_PATIENCE_MS)) < 0 && errno == EINTR)
			continue;
		PROMISE(ready == 1, "whatever comes is answered or closed");
		n = read(fd, room, 16384);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf_commit(answer, (size_t)n);
	}
}

/* Sends it, and reads what is answered. */
static inline void fuzz_ask(struct str request, struct buf *answer)
{
	int fd = fuzz_connect();
	size_t at = 0;

	while (at < request.n) {
		ssize_t n = send(fd, request.p + at, request.n - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	shutdown(fd, SHUT_WR);
	fuzz_read_answer(fd, answer);
	close(fd);
	PROMISE(answer->len < 12 || memcmp(answer->data, "HTTP/1.1 ", 9) == 0, "an answer is one of HTTP");
	PROMISE(answer->len < 12 || memcmp(answer->data + 9, "500", 3) != 0, answer->data);
}

#endif
