#include "cli/demo/demo_server.h"

#include "cli/local_server.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LOG_MAX_BYTES = 64 * 1024,
	NOTE_MAX_BYTES = 4096,
	LOOK_EVERY_MS = 10,
	LOOKS_MAX = 3000,
	STOP_MAX_MS = 15000,
	OPEN_MAX = 8,		/* directories at a time, while they are removed */
};

/* It is told in the data directory when requests are taken. */
static bool read_url(struct demo_server *s, struct arena *arena)
{
	const char *url = local_server_url(arena, arena_printf(arena, "%s/data", s->data_dir).p);

	if (url == NULL || strlen(url) >= sizeof(s->url))
		return false;
	memcpy(s->url, url, strlen(url) + 1);
	return true;
}

static bool start(struct demo_server *s, const struct cli *cli)
{
	const char *data = arena_printf(cli->arena, "%s/data", s->data_dir).p;
	const char *const argv[] = {
		cli_program(cli->arena), "serve", "--quiet", "--listen", "127.0.0.1:0", "--log-level", "error",
		"--config", "/dev/null", "--data", data, NULL,
	};
	/* A person's settings of their own server do not belong here. */
	static const struct child_variable variables[] = {
		{"SPINE_LISTEN", NULL}, {"SPINE_DATA", NULL}, {"SPINE_LOG_LEVEL", NULL}, {"SPINE_CONFIG", NULL},
		{NULL, NULL},
	};
	struct buf error;
	bool good;

	buf_init(&error, NOTE_MAX_BYTES);
	good = child_start(&s->child, argv, variables, STR(""), LOG_MAX_BYTES, &error);
	if (!good)
		cli_error(cli, "%s", buf_str(&error).p);
	buf_release(&error);
	return good;
}

bool demo_server_start(struct demo_server *s, const struct cli *cli, int other_fd)
{
	const char *tmp = getenv("TMPDIR");

	*s = (struct demo_server){0};
	if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > sizeof(s->data_dir) / 2)
		tmp = "/tmp";
	snprintf(s->data_dir, sizeof(s->data_dir), "%s/spine-demo-XXXXXX", tmp);
	if (mkdtemp(s->data_dir) == NULL) {
		cli_error(cli, "cannot make a temporary directory: %s", strerror(errno));
		s->data_dir[0] = '\0';
		return false;
	}
	if (!start(s, cli))
		return false;
	s->is_running = true;
	for (int looks = 0; looks < LOOKS_MAX; looks++) {
		enum child_event event = child_wait(&s->child, LOOK_EVERY_MS, other_fd);

		if (event == CHILD_ENDED)
			cli_error(cli, "the server of the demonstration has ended before it served");
		if (event != CHILD_TIME)
			return false;
		if (read_url(s, cli->arena))
			return true;
	}
	cli_error(cli, "the server of the demonstration does not start");
	return false;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info, (void)type, (void)where;
	return remove(path);
}

void demo_server_stop(struct demo_server *s, bool keep)
{
	if (s->is_running) {
		child_kill(&s->child, SIGTERM);
		child_wait(&s->child, STOP_MAX_MS, -1);
		child_release(&s->child);
		s->is_running = false;
	}
	if (s->data_dir[0] && !keep)
		nftw(s->data_dir, remove_one, OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}
