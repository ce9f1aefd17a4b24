#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024 };

static bool read_all(int fd, const char *name, struct buf *ret, struct buf *error)
{
	for (;;) {
		size_t room = ret->max - ret->len;
		size_t want = room < CHUNK_BYTES ? room : CHUNK_BYTES;
		char probe = 0, *at = want ? buf_reserve(ret, want) : &probe;
		ssize_t got = read(fd, at, want ? want : 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			buf_printf(error, "cannot read %s: %s", name, strerror(errno));
			return false;
		}
		if (got == 0)
			return true;
		if (want == 0) {
			buf_printf(error, "%s is larger than %zu bytes", name, ret->max);
			return false;
		}
		buf_commit(ret, (size_t)got);
	}
}

bool input_read_file(const char *file, struct buf *ret, struct buf *error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	bool good;

	if (fd < 0) {
		buf_printf(error, "cannot read %s: %s", file, strerror(errno));
		return false;
	}
	good = read_all(fd, file, ret, error);
	close(fd);
	return good;
}

bool input_read_stdin(const struct cli *cli, struct buf *ret, struct buf *error)
{
	if (isatty(STDIN_FILENO))
		cli_note(cli, "(reading from the terminal; Ctrl-D ends it)");
	return read_all(STDIN_FILENO, "standard input", ret, error);
}

bool input_text(const struct cli *cli, const char *arg, struct buf *ret, struct buf *error)
{
	if (arg && strcmp(arg, "-") != 0) {
		buf_puts(ret, arg);
		return true;
	}
	if (!input_read_stdin(cli, ret, error))
		return false;
	if (ret->len > 0 && ret->data[ret->len - 1] == '\n')
		ret->data[--ret->len] = '\0';
	return true;
}
