/* Lines of an import that are stored together, by one request: all of them or none. */
#ifndef SPINE_CLI_IMPORT_BATCH_H
#define SPINE_CLI_IMPORT_BATCH_H

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/id_map.h"

struct import_counts {
	int64_t imported;
	int64_t unchanged;	/* were there already, the same */
	int64_t forgotten;	/* tombstones, skipped */
	int64_t unlinked;	/* superseded something that does not exist any more: stored without saying so */
	int64_t reactivated;	/* were superseded by something that does not exist any more */
};

struct import_item {
	uint64_t line;
	uint64_t id;			/* 0: the line names none */
	uint64_t supersedes;		/* 0: nothing */
	const struct json *memory;	/* in the batch's arena */
	bool is_done;			/* needs not be sent (any more) */
};

struct import_batch {
	struct arena arena;
	struct import_item *items;
	size_t count;
	size_t room;
	size_t bytes;			/* of the lines */
};

/* What lives as long as the import. */
struct import {
	struct cli *cli;
	bool new_ids;
	const char *agent;		/* author of lines that name none; or NULL */
	struct import_counts counts;
	int64_t warnings;		/* of the server, so far */
	struct id_map lines;		/* id of the file -> its line */
	struct id_map renamed;		/* id of the file -> id in the space; with new_ids */
	struct id_map successors;	/* ids that superseded what was imported -> the line of that */
	/* Why it stopped. */
	uint64_t failed_line;		/* 0: not about a line */
	struct str failed_code;
	struct str failed_detail;
};

void import_batch_init(struct import_batch *batch, size_t max_items);
/* Forgets the items, keeps the room. */
void import_batch_clear(struct import_batch *batch);
void import_batch_release(struct import_batch *batch);

/* Takes memory, a tree in the batch's arena. There must be room. */
void import_batch_add(struct import_batch *batch, const struct json *memory, uint64_t line, size_t bytes);
/* The batch holds the memory of that id, not sent yet. */
bool import_batch_holds(const struct import_batch *batch, uint64_t id);
/* Stores what is in the batch and counts it. Returns the exit code; unless it is CLI_OK, *import says why. */
int import_batch_send(struct import *import, struct import_batch *batch);

#endif
