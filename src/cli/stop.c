#include "cli/stop.h"

#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Before a server that was there a moment ago is asked again. */
enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 5000 };

static void wanted(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

bool stop_init(struct stop *s, const struct cli *cli)
{
	sigset_t set;

	*s = (struct stop){.fd = -1};
	wanted(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0) {
		s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
		if (s->fd < 0)
			sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	if (s->fd < 0)
		cli_error(cli, "cannot wait for signals: %s", strerror(errno));
	return s->fd >= 0;
}

void stop_release(struct stop *s)
{
	sigset_t set;

	/* What has come and was not read must not end the process now. */
	stop_count(s);
	close(s->fd);
	wanted(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	s->fd = -1;
}

int stop_count(struct stop *s)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		s->count++;
	return s->count;
}

bool stop_is_asked(void *stop)
{
	return stop_count(stop) > 0;
}

void stop_pause(struct stop *s, int64_t ms)
{
	struct pollfd fd = {.fd = s->fd, .events = POLLIN};

	poll(&fd, 1, (int)ms);
}

void stop_pause_longer(struct stop *s, int64_t *pause_ms)
{
	*pause_ms = *pause_ms == 0 ? PAUSE_FIRST_MS : *pause_ms * 2 < PAUSE_MAX_MS ? *pause_ms * 2 : PAUSE_MAX_MS;
	stop_pause(s, *pause_ms);
}
