#include "cli/own_key.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key has at most 71 characters; a file that has far more is none. */
enum { FILE_MAX_BYTES = 256 };

static bool read_file(const struct cli *cli, const char *path, const char **ret)
{
	char text[FILE_MAX_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_MAX_BYTES);
	struct stat st;
	struct str key;

	if (n < 0 || fstat(fd, &st) != 0) {
		cli_error(cli, "cannot read the key in %.400s: %s", path, strerror(errno));
	} else if (st.st_mode & 077) {
		cli_error(cli, "others can read the key in %.400s; make it yours alone: chmod 600 %.400s", path, path);
		n = -1;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	key = str_trim((struct str){text, (size_t)n});
	*ret = arena_cstr(cli->arena, key);
	mem_wipe(text, sizeof(text));
	if (key.n == 0)
		cli_error(cli, "there is no key in %.400s", path);
	return key.n > 0;
}

bool own_key_is_there(const struct cli *cli)
{
	const struct option_value *file = options_find(&cli->options, "key-file");
	const char *key = getenv("SPINE_KEY");

	return (file && file->text) || (key && key[0]);
}

bool own_key_read(const struct cli *cli, const char **ret)
{
	const struct option_value *file = options_find(&cli->options, "key-file");
	const char *key = getenv("SPINE_KEY");

	*ret = NULL;
	if (file == NULL)
		return true;
	if (key && key[0] && file->source != OPTION_FROM_ARGS) {
		*ret = key;
		return true;
	}
	return file->text == NULL || read_file(cli, file->text, ret);
}
