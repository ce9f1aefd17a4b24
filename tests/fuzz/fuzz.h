/* What the fuzzers share: a promise that does not hold ends the process, and says which. */
#ifndef SPINE_TESTS_FUZZ_H
#define SPINE_TESTS_FUZZ_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(holds, what) \
	do { \
		if (!(holds)) { \
			fprintf(stderr, "broken promise: %s\n", what); \
			abort(); \
		} \
	} while (0)

/* The first byte, which chooses something; 0 where there is none. */
static inline uint8_t fuzz_choice(const uint8_t **data, size_t *size)
{
	if (*size == 0)
		return 0;
	(*size)--;
	return *(*data)++;
}

static inline struct str fuzz_str(const uint8_t *data, size_t size)
{
	return (struct str){(const char *)data, size};
}

static inline bool fuzz_is_inside(struct str part, struct str whole)
{
	return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

#endif
