#include "cli/server_start.h"

#include "cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_OTHER_FD = 3, NOT_STARTED = 127, DATA_ARGUMENT = 6 };

/* Makes the directory and those above it, as the server would. */
static bool make_directory(struct arena *arena, const char *path)
{
	char *copy = arena_cstr(arena, str_of(path));

	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			return false;
		*p = c;
		if (c == '\0')
			return true;
	}
}

/* "http://localhost" is "127.0.0.1:80" to a server. */
const char *server_start_address(struct arena *arena, const char *url)
{
	struct str rest = str_of(url + strlen("http://")), host;
	const char *port = strrchr(rest.p, ':');

	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	if (port && strchr(port, ']'))
		port = NULL;	/* within an IPv6 address */
	host = port ? str_sub(rest, 0, (size_t)(port - rest.p)) : rest;
	if (str_ieq(host, STR("localhost")))
		host = STR("127.0.0.1");
	return arena_printf(arena, "%.*s:%.*s", STR_ARG(host), port ? (int)(rest.p + rest.n - port - 1) : 2,
			    port ? port + 1 : "80").p;
}

/* The server has another working directory. In the arena; NULL for NULL. */
static const char *absolute(struct arena *arena, const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;
	const char *copy = real ? arena_cstr(arena, str_of(real)) : path;

	free(real);
	return copy;
}

/* Pipes of the host, and connections: a server must not hold them open. */
static void close_others(void)
{
#ifdef __linux__
	close_range(FIRST_OTHER_FD, ~0U, 0);
#else
	for (long fd = FIRST_OTHER_FD, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
		close((int)fd);
#endif
}

/* In the new process. Does not return. */
static void become(const char *program, const char *const *argv, int log)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	setsid();
	stop_forget();
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0 || chdir("/") != 0)
		_exit(NOT_STARTED);
	close_others();
	execv(program, (char *const *)argv);
	dprintf(STDERR_FILENO, "spine: cannot run %s: %s\n", program, strerror(errno));
	_exit(NOT_STARTED);
}

pid_t server_start(const struct cli *cli, const char *url, const char *data_dir, const char **ret_log,
		   struct buf *error)
{
	const char *program = cli_program(cli->arena);
	const char *config = absolute(cli->arena, options_is_given(&cli->options, "config") ?
				      options_text(&cli->options, "config") : NULL);
	const char *argv[] = {
		"spine", "serve", "--quiet", "--listen", server_start_address(cli->arena, url), "--data", NULL,
		config ? "--config" : NULL, config, NULL,
	};
	pid_t pid;
	int log;

	if (!make_directory(cli->arena, data_dir)) {
		buf_printf(error, "cannot make %s: %s", data_dir, strerror(errno));
		return -1;
	}
	argv[DATA_ARGUMENT] = absolute(cli->arena, data_dir);
	*ret_log = arena_printf(cli->arena, "%s/server.log", argv[DATA_ARGUMENT]).p;
	log = open(*ret_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0) {
		buf_printf(error, "cannot write %s: %s", *ret_log, strerror(errno));
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(program, argv, log);
	if (pid < 0)
		buf_printf(error, "cannot start another program: %s", strerror(errno));
	close(log);
	return pid;
}
