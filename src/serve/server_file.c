#include "serve/server_file.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *server_file(const char *data_dir)
{
	struct buf path;

	buf_init(&path, 4096);
	buf_printf(&path, "%s/server.json", data_dir);
	return buf_take(&path);
}

void server_file_write(const char *data_dir, const char *url, const struct log *log)
{
	char *path = server_file(data_dir), *next = mem_alloc(strlen(path) + 5);
	int fd;

	sprintf(next, "%s.new", path);
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "{\"pid\":%ld,\"url\":\"%s\",\"version\":\"%s\"}\n", (long)getpid(), url,
			      SPINE_VERSION) < 0 || rename(next, path) != 0)
		log_write(log, LOG_WARN, "cannot write server.json", LOG_STR("error", strerror(errno)));
	if (fd >= 0)
		close(fd);
	free(next);
	free(path);
}

void server_file_remove(const char *data_dir)
{
	char *path = server_file(data_dir);

	unlink(path);
	free(path);
}
