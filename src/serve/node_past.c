#include "serve/node_past.h"

#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool path_of(const char *data_dir, const char *name, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%s/%s", data_dir, name) < PATH_MAX;
}

bool node_past_read(const char *data_dir, char ret_id[NODE_PAST_SIZE])
{
	char path[PATH_MAX], boot[CLOCK_BOOT_ID_SIZE], now[CLOCK_BOOT_ID_SIZE];
	FILE *f = path_of(data_dir, "node", path) ? fopen(path, "re") : NULL;
	bool is_known;

	if (f == NULL)
		return false;
	_Static_assert(NODE_PAST_SIZE == 64 && CLOCK_BOOT_ID_SIZE == 64, "%63s %63s");
	clock_boot_id(now);
	is_known = fscanf(f, "%63s %63s", ret_id, boot) == 2 && now[0] && strcmp(boot, now) == 0;
	fclose(f);
	return is_known;
}

/* Beside the file and then in its place: one that is not whole names nobody. */
void node_past_write(const char *data_dir, const char *id)
{
	char path[PATH_MAX], beside[PATH_MAX], boot[CLOCK_BOOT_ID_SIZE];
	bool is_written;
	FILE *f;

	if (!path_of(data_dir, "node", path) || !path_of(data_dir, "node.new", beside))
		return;
	f = fopen(beside, "we");
	if (f == NULL)
		return;
	clock_boot_id(boot);
	is_written = fprintf(f, "%s %s\n", id, boot) > 0;
	is_written = fclose(f) == 0 && is_written;
	if (!is_written || rename(beside, path) != 0)
		unlink(beside);
}
