/* The parts of reading that read.c and read_list.c and query.c share; nobody else needs them. */
#ifndef SPINE_API_DESCRIBE_READ_LIST_H
#define SPINE_API_DESCRIBE_READ_LIST_H

#include "api/describe/read.h"

/* What is made of other values: arrays, objects, shapes. */
enum problem_code read_list(const struct field *f, const struct json *value, void *into, struct shape_reader *r);

void read_keep_int(const struct field *f, void *into, int64_t value);
void read_keep_json(const struct field *f, void *into, const struct json *value);
enum problem_code read_wrong_type(const struct json *value, const char *name, const char *expected,
				  struct problem *problem);
/* The place of a word; -1: it is not in the list. */
int read_word(const struct words *words, struct str word);
/* "expected one of a, b, c", or what the field says instead. */
struct str read_expected(const struct field *f, struct arena *arena);

#endif
