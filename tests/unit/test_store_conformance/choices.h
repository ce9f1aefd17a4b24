/* What the random operations choose from: little, so that they meet. */
#ifndef SPINE_TESTS_CHOICES_H
#define SPINE_TESTS_CHOICES_H

#include "base/str.h"
#include "sim/random.h"

#define CHOICES_T0 INT64_C(1700000000000)

/* Three are made at first, the others seldom or never. */
static inline int64_t some_space(uint64_t *random)
{
	return 1 + (int64_t)random_below(random, 4);
}

static inline struct str some_space_name(uint64_t *random)
{
	static const struct str names[] = {{"default", 7}, {"one", 3}, {"two", 3}, {"three", 5}, {"four", 4}};

	return names[random_below(random, 5)];
}

static inline uint64_t some_num(uint64_t *random)
{
	return 1 + random_below(random, 12);
}

static inline struct str some_name(uint64_t *random)
{
	static const struct str names[] = {{"a", 1}, {"b", 1}, {"ab", 2}, {"B", 1}, {"\xc3\xa4", 2}};

	return names[random_below(random, 5)];
}

/* Or none. */
static inline struct str some_text(uint64_t *random)
{
	static const struct str texts[] = {{NULL, 0}, {"", 0}, {"a", 1}, {"a word", 6}, {"b", 1}, {"ab", 2},
					   {"{\"b\":1}", 7}};

	return texts[random_below(random, 7)];
}

/* Or what is no agent's id. */
static inline int64_t some_agent(uint64_t *random)
{
	return (int64_t)random_below(random, 10);
}

static inline int64_t some_time(uint64_t *random)
{
	return CHOICES_T0 + (int64_t)random_below(random, 20);
}

#endif
