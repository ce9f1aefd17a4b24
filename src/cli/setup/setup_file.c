#include "cli/setup/setup_file.h"

#include "base/mem.h"
#include "cli/input.h"
#include "cli/setup/jsonc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTEXT_LINES = 3 };

bool setup_file_read(struct setup_file *f, const char *path, struct buf *error)
{
	*f = (struct setup_file){.path = path};
	buf_init(&f->before, JSONC_MAX_BYTES);
	buf_init(&f->after, JSONC_MAX_BYTES);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return true;
	f->exists = true;
	if (!input_read_file(path, &f->before, error))
		return false;
	buf_put(&f->after, buf_str(&f->before));
	return true;
}

void setup_file_release(struct setup_file *f)
{
	buf_release(&f->before);
	buf_release(&f->after);
}

bool setup_file_is_changed(const struct setup_file *f)
{
	return f->is_gone ? f->exists : !str_eq(buf_str(&f->before), buf_str(&f->after));
}

/* --- The difference --- */

static void put_lines(struct buf *out, char mark, struct str s)
{
	while (s.n) {
		struct str line = str_cut(&s, '\n');

		buf_printf(out, "%c %.*s\n", mark, STR_ARG(line));
	}
}

/* The beginning that both have, in whole lines. */
static size_t same_lines(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	while (n > 0 && a.p[n - 1] != '\n')
		n--;
	return n;
}

/* The end that both have, in whole lines. */
static size_t same_end(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[a.n - 1 - n] == b.p[b.n - 1 - n])
		n++;
	while (n > 0 && ((n < a.n && a.p[a.n - 1 - n] != '\n') || (n < b.n && b.p[b.n - 1 - n] != '\n')))
		n--;
	return n;
}

static struct str last_lines(struct str s)
{
	size_t from = s.n, lines = 0;

	while (from > 0 && !(s.p[from - 1] == '\n' && from < s.n && ++lines == CONTEXT_LINES))
		from--;
	return str_sub(s, from, s.n);
}

static struct str first_lines(struct str s)
{
	size_t end = 0;

	for (int lines = 0; end < s.n && lines < CONTEXT_LINES; end++)
		lines += s.p[end] == '\n';
	return str_sub(s, 0, end);
}

void setup_file_diff(const struct setup_file *f, struct buf *out)
{
	struct str old = buf_str(&f->before), new = f->is_gone ? STR("") : buf_str(&f->after);
	size_t head = same_lines(old, new), tail = same_end(str_sub(old, head, old.n), str_sub(new, head, new.n));

	buf_printf(out, "%s%s:\n", f->path, !f->exists ? " (new)" : f->is_gone ? " (deleted)" : "");
	put_lines(out, ' ', last_lines(str_sub(old, 0, head)));
	put_lines(out, '-', str_sub(old, head, old.n - tail));
	put_lines(out, '+', str_sub(new, head, new.n - tail));
	put_lines(out, ' ', first_lines(str_sub(old, old.n - tail, old.n)));
}

/* --- Writing --- */

static bool make_directories(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return false;
		*p = '/';
	}
	return true;
}

static bool write_all(int fd, struct str bytes)
{
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			bytes = str_sub(bytes, (size_t)n, bytes.n);
	}
	return fsync(fd) == 0;
}

/* With the mode of the file that it replaces. */
static bool replace(const char *target, struct str bytes)
{
	char *temporary = mem_alloc(strlen(target) + sizeof(".XXXXXX"));
	struct stat info;
	mode_t mask = umask(0);
	bool good;
	int fd;

	umask(mask);
	sprintf(temporary, "%s.XXXXXX", target);
	fd = mkstemp(temporary);
	good = fd >= 0 && write_all(fd, bytes) &&
	       fchmod(fd, stat(target, &info) == 0 ? info.st_mode & 07777 : 0666 & ~mask) == 0;
	if (fd >= 0)
		close(fd);
	good = good && rename(temporary, target) == 0;
	if (!good && fd >= 0)
		unlink(temporary);
	free(temporary);
	return good;
}

bool setup_file_write(const struct setup_file *f, struct buf *error)
{
	char *path = mem_strdup(f->path), *target = realpath(f->path, NULL);
	bool good;

	if (f->is_gone)
		good = unlink(f->path) == 0;
	else
		good = make_directories(path) && replace(target ? target : path, buf_str(&f->after));
	if (!good)
		buf_printf(error, "cannot write %s: %s", f->path, strerror(errno));
	free(target);
	free(path);
	return good;
}
