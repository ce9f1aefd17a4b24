/* What the test programs say: the line that does not hold, and the end. */
#ifndef CHECK_H
#define CHECK_H

#include "memory_spine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int check_count;

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
/* A call that must go well: its error is told where it does not. */
#define WELL(call) check_well((call), &error, #call, __FILE__, __LINE__)

static inline void check_that(bool good, const char *what, const char *file, int line)
{
	check_count++;
	if (good)
		return;
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
	exit(1);
}

static inline void check_well(ms_status status, const ms_error *error, const char *what, const char *file, int line)
{
	check_count++;
	if (status == MS_OK)
		return;
	fprintf(stderr, "%s:%d: %s\n  %d %s: %s (field \"%s\", HTTP %d)\n", file, line, what, (int)status, error->code,
		error->detail, error->field, error->http_status);
	exit(1);
}

/* Texts that may be NULL. */
static inline bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static inline const char *text_at(const ms_answer *answer, const char *pointer)
{
	return ms_json_text(ms_json_find(ms_answer_json(answer), pointer), NULL);
}

#endif
