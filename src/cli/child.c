#include "cli/child.h"

#include "base/clock.h"
#include "cli/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#else
#include <sys/types.h>
#include <sys/event.h>
#include <sys/time.h>
#endif

enum { CHUNK_BYTES = 64 * 1024, LINE_MAX_BYTES = 4000, NOT_EXECUTABLE = 126, NOT_THERE = 127 };

/* --- Starting --- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#ifdef __linux__
static void end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* A descriptor that can be read when that process has ended, or -1. Not glibc's function, which is newer than many
 * systems. */
static int watch_end(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}
#else
static void end_with_parent(void)
{
}

static int watch_end(pid_t pid)
{
	int queue = kqueue();
	struct kevent end;

	EV_SET(&end, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	if (queue >= 0 && kevent(queue, &end, 1, NULL, 0, NULL) != 0)
		close_fd(&queue);
	return queue;
}
#endif

static bool make_pipe(int ends[2])
{
	int code = uv_pipe(ends, 0, 0);

	errno = -code;
	return code == 0;
}

/* In the new process. Does not return. */
static void become(const char *const *argv, const struct child_variable *variables, pid_t parent, int in, int out,
		   int err)
{
	sigset_t none;

	sigemptyset(&none);
	setpgid(0, 0);
	stop_forget();
	end_with_parent();
	/* It may have died before that. */
	if (getppid() != parent)
		_exit(NOT_THERE);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(NOT_THERE);
	for (const struct child_variable *v = variables; v->name; v++) {
		if (v->value)
			setenv(v->name, v->value, 1);
		else
			unsetenv(v->name);
	}
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "spine: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == EACCES || errno == ENOEXEC ? NOT_EXECUTABLE : NOT_THERE);
}

bool child_start(struct child *c, const char *const *argv, const struct child_variable *variables, struct str input,
		 size_t max_output_bytes, struct buf *error)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
	pid_t parent = getpid();

	*c = (struct child){.pid = -1, .pid_fd = -1, .in = -1, .out = -1, .err = -1, .input = input};
	buf_init(&c->output, max_output_bytes);
	buf_init(&c->line, LINE_MAX_BYTES);
	buf_init(&c->part, LINE_MAX_BYTES);
	/* A program that does not read its input is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	if (!make_pipe(in) || !make_pipe(out) || !make_pipe(err))
		goto out;
	c->pid = fork();
	if (c->pid == 0)
		become(argv, variables, parent, in[0], out[1], err[1]);
	if (c->pid < 0)
		goto out;
	setpgid(c->pid, c->pid);
	c->pid_fd = watch_end(c->pid);
	if (c->pid_fd < 0)
		goto out;
	c->in = in[1];
	c->out = out[0];
	c->err = err[0];
	in[1] = out[0] = err[0] = -1;
	fcntl(c->in, F_SETFL, O_NONBLOCK);
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
out:
	if (c->in < 0) {
		buf_printf(error, "cannot start %s: %s", argv[0], strerror(errno));
		child_release(c);
	}
	for (size_t i = 0; i < 2; i++) {
		close_fd(&in[i]);
		close_fd(&out[i]);
		close_fd(&err[i]);
	}
	return c->in >= 0;
}

/* --- Letting it work --- */

static void write_input(struct child *c)
{
	ssize_t done = c->input.n ? write(c->in, c->input.p, c->input.n) : 0;

	if (done > 0)
		c->input = str_sub(c->input, (size_t)done, c->input.n);
	if (c->input.n == 0 || (done < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(&c->in);
}

/* Keeps the last line that says something; of a long one its beginning. */
static void note_lines(struct child *c, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '\n') {
			if (c->part.len < LINE_MAX_BYTES)
				buf_putc(&c->part, text.p[i]);
			continue;
		}
		if (str_trim(buf_str(&c->part)).n) {
			buf_clear(&c->line);
			buf_put(&c->line, buf_str(&c->part));
		}
		buf_clear(&c->part);
	}
}

/* True while there may be more at once. */
static bool read_some(struct child *c, int *fd)
{
	char chunk[CHUNK_BYTES];
	ssize_t got = *fd < 0 ? 0 : read(*fd, chunk, sizeof(chunk));

	if (got < 0)
		return errno == EINTR;
	if (got == 0) {
		close_fd(fd);
		return false;
	}
	if (fd == &c->out) {
		buf_append(&c->output, chunk, (size_t)got);
	} else {
		fwrite(chunk, 1, (size_t)got, stderr);
		note_lines(c, (struct str){chunk, (size_t)got});
	}
	return true;
}

static void end(struct child *c)
{
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	c->pid = -1;
	/* What it has written is there; what a process that it left behind may still write is not waited for. */
	while (read_some(c, &c->out))
		;
	while (read_some(c, &c->err))
		;
	note_lines(c, STR("\n"));
}

enum child_event child_wait(struct child *c, int64_t timeout_ms, int other_fd)
{
	int64_t end_ns = clock_mono_ns() + timeout_ms * 1000000;

	for (;;) {
		int64_t left_ms = (end_ns - clock_mono_ns() + 999999) / 1000000;
		struct pollfd fds[] = {
			{.fd = c->pid_fd, .events = POLLIN}, {.fd = c->out, .events = POLLIN},
			{.fd = c->err, .events = POLLIN}, {.fd = c->in, .events = POLLOUT},
			{.fd = other_fd, .events = POLLIN},
		};

		if (left_ms <= 0)
			return CHILD_TIME;
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), (int)(left_ms > 60000 ? 60000 : left_ms)) <= 0)
			continue;
		if (fds[4].revents)
			return CHILD_OTHER;
		if (fds[3].revents)
			write_input(c);
		if (fds[1].revents)
			read_some(c, &c->out);
		if (fds[2].revents)
			read_some(c, &c->err);
		if (fds[0].revents) {
			end(c);
			return CHILD_ENDED;
		}
	}
}

void child_kill(struct child *c, int signal)
{
	if (c->pid > 0)
		kill(-c->pid, signal);
}

void child_release(struct child *c)
{
	if (c->pid > 0) {
		child_kill(c, SIGKILL);
		while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
			;
		c->pid = -1;
	}
	close_fd(&c->pid_fd);
	close_fd(&c->in);
	close_fd(&c->out);
	close_fd(&c->err);
	buf_release(&c->output);
	buf_release(&c->line);
	buf_release(&c->part);
}
