#include "disk.h"

#include "base/mem.h"
#include "sim/random.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
	unsigned char *p;	/* owned */
	size_t len, cap;
};

struct entry {
	char name[NAME_SIZE];
	int node;
};

enum { ENTRIES_MAX = 32 };

struct names {
	struct entry entries[ENTRIES_MAX];
	int count;
};

/* A file or a directory: what is safe, and what was done to it since. */
struct node {
	bool is_dir;
	struct bytes bytes;
	struct names names;
	size_t *pending;	/* places in the recording; owned */
	size_t pending_count, pending_cap;
};

struct disk {
	const struct recording *recording;
	size_t at;
	struct node nodes[NODES_MAX];
};

void recording_release(struct recording *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->records[i].data);
	free(r->records);
	*r = (struct recording){0};
}

/* --- Bytes --- */

/* What is between the old end and the new one is zero. */
static void bytes_resize(struct bytes *b, size_t len)
{
	if (len > b->cap) {
		b->cap = len > 2 * b->cap ? len : 2 * b->cap;
		b->p = mem_reallocarray(b->p, b->cap, 1);
	}
	if (len > b->len)
		memset(b->p + b->len, 0, len - b->len);
	b->len = len;
}

static void bytes_write(struct bytes *b, size_t at, const unsigned char *data, size_t len)
{
	if (at + len > b->len)
		bytes_resize(b, at + len);
	memcpy(b->p + at, data, len);
}

static void bytes_apply(struct bytes *b, const struct record *r)
{
	if (r->kind == RECORD_TRUNCATE)
		bytes_resize(b, (size_t)r->at);
	else
		bytes_write(b, (size_t)r->at, r->data, r->len);
}

/* Of a write that was under way some sectors are there. The file may have its new size all the same. */
static void bytes_tear(struct bytes *b, const struct record *r, size_t sector, uint64_t *random)
{
	size_t at = (size_t)r->at, end = at + r->len;

	if (r->kind != RECORD_WRITE) {
		bytes_apply(b, r);
		return;
	}
	if (end > b->len && random_chance(random, 500))
		bytes_resize(b, end);
	while (at < end) {
		size_t next = (at / sector + 1) * sector;

		if (next > end)
			next = end;
		if (random_chance(random, 500))
			bytes_write(b, at, r->data + (at - (size_t)r->at), next - at);
		at = next;
	}
}

/* --- Names --- */

static struct entry *names_find(struct names *n, const char *name)
{
	for (int i = 0; i < n->count; i++)
		if (strcmp(n->entries[i].name, name) == 0)
			return &n->entries[i];
	return NULL;
}

static void names_put(struct names *n, const char *name, int node)
{
	struct entry *e = names_find(n, name);

	if (e == NULL) {
		if (n->count == ENTRIES_MAX)
			abort();
		e = &n->entries[n->count++];
		snprintf(e->name, sizeof(e->name), "%s", name);
	}
	e->node = node;
}

static void names_remove(struct names *n, const char *name)
{
	struct entry *e = names_find(n, name);

	if (e)
		*e = n->entries[--n->count];
}

/* A rename is one step; it stays within its directory here. */
static void names_apply(struct names *n, const struct record *r)
{
	if (r->kind == RECORD_NAME)
		names_put(n, r->name, r->to_node);
	if (r->kind == RECORD_UNNAME || r->kind == RECORD_RENAME)
		names_remove(n, r->name);
	if (r->kind == RECORD_RENAME)
		names_put(n, r->to_name, r->to_node);
}

/* --- Playing --- */

struct disk *disk_new(const struct recording *r)
{
	struct disk *d = mem_zalloc(sizeof(*d));

	d->recording = r;
	d->nodes[NODE_ROOT].is_dir = true;
	return d;
}

void disk_free(struct disk *d)
{
	for (int i = 0; i < NODES_MAX; i++) {
		free(d->nodes[i].bytes.p);
		free(d->nodes[i].pending);
	}
	free(d);
}

static void sync_node(struct disk *d, struct node *n)
{
	for (size_t i = 0; i < n->pending_count; i++) {
		const struct record *r = &d->recording->records[n->pending[i]];

		if (n->is_dir)
			names_apply(&n->names, r);
		else
			bytes_apply(&n->bytes, r);
	}
	n->pending_count = 0;
}

bool disk_step(struct disk *d)
{
	const struct record *r = &d->recording->records[d->at];
	struct node *n;

	if (d->at == d->recording->count)
		return false;
	n = &d->nodes[r->node];
	if (r->kind == RECORD_SYNC) {
		sync_node(d, n);
	} else if (r->kind != RECORD_MARK) {
		if (n->pending_count == n->pending_cap) {
			n->pending_cap = n->pending_cap ? 2 * n->pending_cap : 64;
			n->pending = mem_reallocarray(n->pending, n->pending_cap, sizeof(*n->pending));
		}
		n->pending[n->pending_count++] = d->at;
		if (r->kind == RECORD_NAME)
			d->nodes[r->to_node].is_dir = r->is_dir;
	}
	d->at++;
	return true;
}

size_t disk_at(const struct disk *d)
{
	return d->at;
}

/* --- Cutting --- */

enum fate {
	FATE_NONE,		/* nothing that was not synced is there */
	FATE_ALL,
	FATE_PREFIX,		/* the first so many, the last of them torn */
	FATE_SOME,		/* any of them, in their order */
	FATE_SOME_TORN,		/* any of them, and of those any sectors */
	FATE_SHUFFLED,		/* any of them, in any order: an older one may lie over a newer one */
	FATES,
};

static enum fate choose_fate(uint64_t seed, uint64_t *random)
{
	return seed == 0 ? FATE_NONE : seed == 1 ? FATE_ALL : (enum fate)random_below(random, FATES);
}

static void shuffle(size_t *places, size_t count, uint64_t *random)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)random_below(random, i), place = places[i - 1];

		places[i - 1] = places[k];
		places[k] = place;
	}
}

/* What is left of a file's bytes. Returns owned. */
static struct bytes cut_bytes(const struct disk *d, const struct node *n, enum fate fate, uint64_t *random)
{
	struct bytes b = {0};
	size_t count = n->pending_count, *places = mem_calloc(count + 1, sizeof(*places));
	size_t sector = random_chance(random, 500) ? 512 : 4096;
	unsigned survive = (unsigned)random_below(random, 1001);

	bytes_resize(&b, n->bytes.len);
	if (b.len)
		memcpy(b.p, n->bytes.p, b.len);
	if (count)
		memcpy(places, n->pending, count * sizeof(*places));
	if (fate == FATE_NONE)
		count = 0;
	if (fate == FATE_PREFIX)
		count = (size_t)random_below(random, count + 1);
	if (fate == FATE_SHUFFLED)
		shuffle(places, count, random);
	for (size_t i = 0; i < count; i++) {
		const struct record *r = &d->recording->records[places[i]];

		if (fate >= FATE_SOME && !random_chance(random, survive))
			continue;
		if (fate == FATE_SOME_TORN || (fate == FATE_PREFIX && i + 1 == count))
			bytes_tear(&b, r, sector, random);
		else
			bytes_apply(&b, r);
	}
	free(places);
	return b;
}

static struct names cut_names(const struct disk *d, const struct node *n, enum fate fate, uint64_t *random)
{
	struct names names = n->names;
	size_t count = n->pending_count;

	if (fate == FATE_NONE)
		count = 0;
	if (fate == FATE_PREFIX)
		count = (size_t)random_below(random, count + 1);
	for (size_t i = 0; i < count; i++)
		if (fate < FATE_SOME || random_chance(random, 500))
			names_apply(&names, &d->recording->records[n->pending[i]]);
	return names;
}

static void write_file(const char *path, const struct bytes *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t at = 0;

	while (fd >= 0 && at < b->len) {
		ssize_t n = pwrite(fd, b->p + at, b->len - at, (off_t)at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (fd < 0 || at < b->len) {
		perror(path);
		abort();
	}
	close(fd);
}

/* Two names of one file become two files: nobody looks at the second one. */
static void put_node(const struct disk *d, int node, uint64_t seed, const char *path)
{
	const struct node *n = &d->nodes[node];
	/* Each file has a fate of its own, whichever is looked at first. */
	uint64_t random = seed ^ (uint64_t)node * UINT64_C(0x9e3779b97f4a7c15);
	enum fate fate = choose_fate(seed, &random);
	struct names names;
	struct bytes b;

	if (!n->is_dir) {
		b = cut_bytes(d, n, fate, &random);
		write_file(path, &b);
		free(b.p);
		return;
	}
	if (node != NODE_ROOT && mkdir(path, 0700) != 0)
		abort();
	names = cut_names(d, n, fate, &random);
	for (int i = 0; i < names.count; i++) {
		char below[512];

		snprintf(below, sizeof(below), "%s/%s", path, names.entries[i].name);
		put_node(d, names.entries[i].node, seed, below);
	}
}

void disk_cut(const struct disk *d, uint64_t seed, const char *directory)
{
	put_node(d, NODE_ROOT, seed, directory);
}
