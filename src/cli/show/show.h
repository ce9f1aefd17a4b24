/* Memories as people read them. What was stored is made safe to print. */
#ifndef SPINE_CLI_SHOW_H
#define SPINE_CLI_SHOW_H

#include "cli/show/columns.h"
#include "codec/json.h"

/* A line for each memory: id, age, kind, author, and the beginning of the text. With its score and what made it, where
 * those are there. */
extern const struct column memory_columns[];
/* A line for each version of one memory. */
extern const struct column version_columns[];
/* All of each, a head and its content, divided by an empty line. */
void show_memories(const struct cli *cli, const struct json *memories);
/* Which version of which memory it is, in a line: "ms-4821@3". */
void show_version(const struct cli *cli, const struct json *memory);
/* A text byte for byte, so that it can be piped; on a terminal with what is dangerous made visible. */
void show_text(const struct cli *cli, struct str text);
/* The texts of memories in that way, and nothing else. */
void show_texts(const struct cli *cli, const struct json *memories);
/* What an answer with memories says is missing, each a sentence on standard error. CLI_NOT_FOUND where something is. */
int show_missing(const struct cli *cli, const struct json *answer);
/* "task-1: No lost payments.": an id, and what there is to say about it. */
void show_title(const struct cli *cli, struct str id, struct str text);
/* Appends a text with what stands before it; nothing where the text is empty. */
void show_fact(struct buf *out, const char *before, struct str text);
/* "12.5 MiB"; in the arena. */
struct str show_size(struct arena *arena, int64_t bytes);
/* A table that the command filled itself. */
void show_rows(const struct cli *cli, const struct table *table);
/* An object of the server, "key  value" in lines, objects within as "key.key". */
void show_object(const struct cli *cli, const struct json *object);

/* What people call a member, and what they read where it is null. */
struct show_word {
	const char *name;	/* as show_object() would print it: "store bytes"; NULL ends the list */
	const char *label;
	const char *none;	/* NULL: "null" */
};

/* The same in these words; a member that is not among them keeps its name. */
void show_object_as(const struct cli *cli, const struct json *object, const struct show_word *words);

#endif
