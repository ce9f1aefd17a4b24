/* A fast keyed hash of bytes for tables in memory. Not for disk or the wire: its values may change.
 *
 * Two 64-bit words at a time are folded by a 64x64 -> 128 bit multiplication. With a random seed nobody outside can
 * prepare keys that collide; with a fixed one the results repeat from run to run.
 */
#ifndef SPINE_BASE_HASH_H
#define SPINE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t hash_load32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t a = 0, b = 0;
	size_t left = len;

	seed ^= UINT64_C(0x9e3779b97f4a7c15);
	for (; left > 16; p += 16, left -= 16)
		seed = hash_fold(hash_load64(p) ^ UINT64_C(0xd6e8feb86659fd93), hash_load64(p + 8) ^ seed);
	if (left >= 8) {
		a = hash_load64(p);
		b = hash_load64(p + left - 8);
	} else if (left >= 4) {
		a = hash_load32(p);
		b = hash_load32(p + left - 4);
	} else if (left > 0) {
		a = (uint64_t)p[0] << 16 | (uint64_t)p[left / 2] << 8 | p[left - 1];
	}
	a = hash_fold(a ^ UINT64_C(0xa0761d6478bd642f), b ^ seed);
	return hash_fold(a ^ len, seed ^ UINT64_C(0xe7037ed1a0b428db));
}

#endif
