#include "recorder.h"

#include "base/mem.h"
#include "interpose.h"

#include <dirent.h>
#include <errno.h>

/* There is one process, and one C library. Everything runs on one thread. */
static struct {
	struct recording *to;	/* NULL: nothing is recorded */
	bool is_paused;
	char root[256];
	ino_t inodes[NODES_MAX];	/* of the system's files, by node */
	int nodes;
} recorder;

static bool is_recording(void)
{
	return recorder.to && !recorder.is_paused;
}

static struct record *add(enum record_kind kind, int node)
{
	struct recording *to = recorder.to;

	if (to->count == to->cap) {
		to->cap = to->cap ? 2 * to->cap : 1024;
		to->records = mem_reallocarray(to->records, to->cap, sizeof(*to->records));
	}
	to->records[to->count] = (struct record){.kind = kind, .node = node};
	return &to->records[to->count++];
}

static int node_of_inode(ino_t inode)
{
	for (int i = 0; i < recorder.nodes; i++)
		if (recorder.inodes[i] == inode)
			return i;
	return -1;
}

/* A file that is new may have the inode of one that is gone. */
static int node_new(ino_t inode)
{
	int old = node_of_inode(inode);

	if (old >= 0)
		recorder.inodes[old] = 0;
	if (recorder.nodes == NODES_MAX)
		abort();
	recorder.inodes[recorder.nodes] = inode;
	return recorder.nodes++;
}

static int node_of_path(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? node_of_inode(st.st_ino) : -1;
}

/* -1: not one of those that are recorded. */
static int node_of_fd(int fd)
{
	struct stat st;

	return is_recording() && fstat(fd, &st) == 0 ? node_of_inode(st.st_ino) : -1;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

static void set_name(char ret[NAME_SIZE], const char *name)
{
	size_t n = strlen(name);

	if (n >= NAME_SIZE)
		abort();
	memcpy(ret, name, n + 1);
}

/* Is the path one of ours? Then in which directory, and which name it has there. */
static bool place(const char *path, int *ret_dir, char ret_name[NAME_SIZE])
{
	char dir[512];
	const char *slash = strrchr(path, '/');
	size_t n = strlen(recorder.root);

	if (!is_recording() || slash == NULL || strncmp(path, recorder.root, n) != 0 || path[n] != '/')
		return false;
	if (ends_with(path, "-shm") || ends_with(path, "/lock"))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	set_name(ret_name, slash + 1);
	*ret_dir = node_of_path(dir);
	return *ret_dir >= 0;
}

static void add_name(int dir, const char *name, int node, bool is_dir)
{
	struct record *r = add(RECORD_NAME, dir);

	r->to_node = node;
	r->is_dir = is_dir;
	set_name(r->name, name);
}

static void add_write(int node, const void *data, size_t len, int64_t at)
{
	struct record *r = add(RECORD_WRITE, node);

	r->at = at;
	r->len = len;
	r->data = mem_alloc(len + 1);
	memcpy(r->data, data, len);
}

/* --- What is there at the beginning --- */

static void take_file(int node, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char block[65536];
	int64_t at = 0;
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0) {
		add_write(node, block, (size_t)n, at);
		at += n;
	}
	close(fd);
	add(RECORD_SYNC, node);
}

static void take_directory(int node, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL) {
		char below[768];
		struct stat st;
		int child;

		snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
		if (e->d_name[0] == '.' || ends_with(below, "-shm") || ends_with(below, "/lock") ||
		    stat(below, &st) != 0)
			continue;
		child = node_new(st.st_ino);
		add_name(node, e->d_name, child, S_ISDIR(st.st_mode));
		if (S_ISDIR(st.st_mode))
			take_directory(child, below);
		else
			take_file(child, below);
	}
	closedir(dir);
	add(RECORD_SYNC, node);
}

void recorder_begin(struct recording *r, const char *root)
{
	struct stat st;

	memset(&recorder, 0, sizeof(recorder));
	*r = (struct recording){0};
	snprintf(recorder.root, sizeof(recorder.root), "%s", root);
	if (stat(root, &st) != 0)
		abort();
	recorder.to = r;
	recorder.is_paused = true;
	take_directory(node_new(st.st_ino), root);
	recorder.is_paused = false;
}

void recorder_end(void)
{
	recorder.to = NULL;
}

void recorder_pause(bool is_paused)
{
	recorder.is_paused = is_paused;
}

void recorder_mark(int64_t number)
{
	add(RECORD_MARK, NODE_ROOT)->at = number;
}

/* --- The calls --- */

static int open_with(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = real(name);
	char base[NAME_SIZE];
	int dir, fd, saved;
	struct stat st;
	bool is_ours = place(path, &dir, base), was_there = is_ours && stat(path, &st) == 0;

	fd = next(path, flags, mode);
	if (!is_ours || fd < 0)
		return fd;
	saved = errno;
	if (!was_there && (flags & O_CREAT) && fstat(fd, &st) == 0)
		add_name(dir, base, node_new(st.st_ino), false);
	else if (flags & O_TRUNC)
		add(RECORD_TRUNCATE, node_of_fd(fd))->at = 0;
	errno = saved;
	return fd;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) = real("pwrite64");
	ssize_t n = next(fd, data, len, at);
	int node = node_of_fd(fd);

	if (node >= 0 && n > 0)
		add_write(node, data, (size_t)n, at);
	return n;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	return pwrite64(fd, data, len, at);
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) = real("write");
	int node = node_of_fd(fd);
	off_t at = node >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
	ssize_t n = next(fd, data, len);

	if (node >= 0 && n > 0)
		add_write(node, data, (size_t)n, at);
	return n;
}

int ftruncate64(int fd, off64_t size)
{
	int (*next)(int, off64_t) = real("ftruncate64");
	int rc = next(fd, size), node = node_of_fd(fd);

	if (rc == 0 && node >= 0)
		add(RECORD_TRUNCATE, node)->at = size;
	return rc;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static int sync_with(const char *name, int fd)
{
	int (*next)(int) = real(name);
	int rc = next(fd), node = node_of_fd(fd);

	if (rc == 0 && node >= 0)
		add(RECORD_SYNC, node);
	return rc;
}

int unlink(const char *path)
{
	int (*next)(const char *) = real("unlink");
	char name[NAME_SIZE];
	int dir, rc;
	bool is_ours = place(path, &dir, name);

	rc = next(path);
	if (rc == 0 && is_ours)
		set_name(add(RECORD_UNNAME, dir)->name, name);
	return rc;
}

int rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *) = real("rename");
	char name[NAME_SIZE], to_name[NAME_SIZE];
	int dir, to_dir, rc, node = node_of_path(from);
	bool is_ours = place(from, &dir, name) && place(to, &to_dir, to_name);

	rc = next(from, to);
	if (rc == 0 && is_ours) {
		struct record *r = add(RECORD_RENAME, dir);

		if (dir != to_dir)
			abort();	/* the disk knows only renames within a directory */
		r->to_node = node;
		set_name(r->name, name);
		set_name(r->to_name, to_name);
	}
	return rc;
}

int link(const char *from, const char *to)
{
	int (*next)(const char *, const char *) = real("link");
	char name[NAME_SIZE];
	int dir, rc;
	bool is_ours = place(to, &dir, name);

	rc = next(from, to);
	if (rc == 0 && is_ours)
		add_name(dir, name, node_of_path(to), false);
	return rc;
}

int mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t) = real("mkdir");
	char name[NAME_SIZE];
	int dir, rc;
	bool is_ours = place(path, &dir, name);
	struct stat st;

	rc = next(path, mode);
	if (rc == 0 && is_ours && stat(path, &st) == 0)
		add_name(dir, name, node_new(st.st_ino), true);
	return rc;
}
