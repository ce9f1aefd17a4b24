/* A file that is about to change: what it is, what it will be, and the lines between the two. */
#ifndef SPINE_CLI_SETUP_FILE_H
#define SPINE_CLI_SETUP_FILE_H

#include "base/buf.h"

struct setup_file {
	const char *path;	/* borrowed */
	struct buf before;
	struct buf after;	/* where it is not there any more: empty, and is_gone */
	bool exists;
	bool is_gone;		/* it is to be deleted */
};

/* Reads it, where it is there; after is the same then. False with a sentence. To be released in either case. */
bool setup_file_read(struct setup_file *f, const char *path, struct buf *error);
void setup_file_release(struct setup_file *f);
bool setup_file_is_changed(const struct setup_file *f);
/* The lines that go (-) and those that come (+), with some around them. */
void setup_file_diff(const struct setup_file *f, struct buf *out);
/* Replaces it at once, or deletes it; makes the directories above it. A link stays one. False with a sentence. */
bool setup_file_write(const struct setup_file *f, struct buf *error);

#endif
