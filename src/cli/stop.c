#include "cli/stop.h"

#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

/* Before a server that was there a moment ago is asked again. */
enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 5000 };

/* Where the handler tells; there is one for the process, as there is one set of signals. */
static int told = -1;

static void tell(int signal)
{
	int kept = errno;
	ssize_t written = write(told, "", 1);

	(void)signal;
	(void)written;		/* a full pipe says already that there were signals */
	errno = kept;
}

/* A signal that is ignored, as below nohup, stays so. */
static void handle(int signal, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(signal, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(signal, &action, NULL);
}

bool stop_init(struct stop *s, const struct cli *cli)
{
	int ends[2], code = uv_pipe(ends, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);

	*s = (struct stop){.fd = -1};
	if (code != 0) {
		cli_error(cli, "cannot wait for signals: %s", uv_strerror(code));
		return false;
	}
	s->fd = ends[0];
	told = ends[1];
	handle(SIGINT, tell);
	handle(SIGTERM, tell);
	return true;
}

void stop_forget(void)
{
	handle(SIGINT, SIG_DFL);
	handle(SIGTERM, SIG_DFL);
}

/* Who was asked to stop is about to end. The same signal once more, as timeout(1) sends it to the group, too, is not to
 * change the exit code. */
void stop_release(struct stop *s)
{
	void (*afterwards)(int) = stop_count(s) > 0 ? SIG_IGN : SIG_DFL;

	handle(SIGINT, afterwards);
	handle(SIGTERM, afterwards);
	close(s->fd);
	close(told);
	s->fd = told = -1;
}

int stop_count(struct stop *s)
{
	char bytes[64];
	ssize_t got;

	while ((got = read(s->fd, bytes, sizeof(bytes))) > 0)
		s->count += (int)got;
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
