#include "cli/local_server.h"

#include "cli/ask.h"
#include "cli/input.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 4096, FILE_DEPTH = 4 };

/* A server that was killed leaves the file behind. */
static bool is_running(int64_t pid)
{
	return pid > 1 && pid <= INT32_MAX && pid != getpid() && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

const char *local_server_url(struct arena *arena, const char *data_dir)
{
	const char *url = NULL, *file = arena_printf(arena, "%s/server.json", data_dir).p;
	struct buf text, error;
	struct json_error bad;
	struct json json;

	buf_init(&text, FILE_MAX_BYTES);
	buf_init(&error, FILE_MAX_BYTES);
	if (input_read_file(file, &text, &error) && json_parse(buf_str(&text), FILE_DEPTH, arena, &json, &bad) &&
	    is_running(ask_int(&json, "pid", 0)) && ask_str(&json, "url").n)
		url = arena_cstr(arena, ask_str(&json, "url"));
	buf_release(&text);
	buf_release(&error);
	return url;
}

const char *local_server_hint(struct arena *arena, const char *url)
{
	return arena_printf(arena, "listens on %s: export SPINE_URL=%s, or give --url %s", url, url, url).p;
}
