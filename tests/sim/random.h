/* Chance that repeats: every decision of a simulation comes out of one seed. */
#ifndef SPINE_TESTS_SIM_RANDOM_H
#define SPINE_TESTS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* splitmix64: any state will do, also 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1; n is not 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(state) * n >> 64);
}

/* from to to, both included. */
static inline int64_t random_between(uint64_t *state, int64_t from, int64_t to)
{
	return from + (int64_t)random_below(state, (uint64_t)(to - from + 1));
}

/* True in so many of a thousand cases. */
static inline bool random_chance(uint64_t *state, unsigned permille)
{
	return random_below(state, 1000) < permille;
}

#endif
