/* The seal of a page: a checksum in the last 8 bytes, so that what is read from the disk is what was written to it.
 *
 * FORMAT. SQLite leaves as many bytes free at the end of each page as byte 20 of the file says; a store has 8 there.
 * They hold a number of 64 bits, the lowest byte first, over the 4,088 bytes before them and the number of the page.
 * So a page that stands in another one's place is found, too.
 *
 * HOW. Four lanes take 8 bytes each in turn: lane = rotate((lane ^ word) * odd, 29). Each step can be reversed, for
 * every word and every lane, and so can the way in which the lanes are put together at the end. So a change within one
 * group of 8 bytes, or of the number of the page alone, always changes the seal. Larger ones go unseen with a chance of
 * 1 in 2^64. It is no protection from somebody who means to deceive: there is no key in it. The multiplications of the
 * four lanes do not wait for each other, which is what makes it fast (bench/results/verified_reads.md).
 *
 * What it cannot see is a write that the disk has taken and not carried out: the page that was there before has a good
 * seal, too.
 *
 * Pages in the log have SQLite's own checksum, which SQLite looks at only when it recovers. It runs from frame to
 * frame: that of a frame begins with the one that the frame before it has (sqlite.org/fileformat2.html#walformat).
 */
#include "store/sqlite/sqlite_internal.h"

/* Odd, and about as many ones as zeros in no order: the fractional parts of the golden ratio and of the square roots of
 * 2, 3, 5 and 7. */
#define SEAL_STEP UINT64_C(0x9e3779b97f4a7c15)
static const uint64_t starts[4] = {
	UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
	UINT64_C(0xa54ff53a5f1d36f1),
};

static inline uint64_t load_64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline uint64_t step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * SEAL_STEP;
	return lane << 29 | lane >> 35;
}

uint64_t sqlite_seal_of(const void *data, size_t len, uint64_t number)
{
	const unsigned char *p = data, *end = p + len / 8 * 8;
	uint64_t a = starts[0] + number, b = starts[1], c = starts[2], d = starts[3];

	for (; end - p >= 32; p += 32) {
		a = step(a, load_64(p));
		b = step(b, load_64(p + 8));
		c = step(c, load_64(p + 16));
		d = step(d, load_64(p + 24));
	}
	for (; p < end; p += 8)
		d = step(d, load_64(p));
	a = step(step(step(a, b), c), d);
	return a ^ a >> 32;
}

void sqlite_seal_put(unsigned char page[SQLITE_PAGE_BYTES], uint32_t number)
{
	uint64_t seal = sqlite_seal_of(page, SQLITE_PAGE_BYTES - SQLITE_SEAL_BYTES, number);

	for (int i = 0; i < SQLITE_SEAL_BYTES; i++)
		page[SQLITE_PAGE_BYTES - SQLITE_SEAL_BYTES + i] = (unsigned char)(seal >> 8 * i);
}

bool sqlite_seal_holds(const unsigned char page[SQLITE_PAGE_BYTES], uint32_t number)
{
	return load_64(page + SQLITE_PAGE_BYTES - SQLITE_SEAL_BYTES) ==
	       sqlite_seal_of(page, SQLITE_PAGE_BYTES - SQLITE_SEAL_BYTES, number);
}

/* --- The log --- */

static inline uint32_t load_32(const unsigned char *p, bool is_big)
{
	uint32_t little = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return is_big ? __builtin_bswap32(little) : little;
}

uint32_t sqlite_log_number(const unsigned char *p)
{
	return load_32(p, true);
}

static void add_up(const unsigned char *data, size_t len, bool is_big, uint32_t sums[2])
{
	uint32_t a = sums[0], b = sums[1];

	for (size_t i = 0; i < len; i += 8) {
		a += load_32(data + i, is_big) + b;
		b += load_32(data + i + 4, is_big) + a;
	}
	sums[0] = a;
	sums[1] = b;
}

static bool is_sum(const unsigned char stored[8], const uint32_t sums[2])
{
	return sqlite_log_number(stored) == sums[0] && sqlite_log_number(stored + 4) == sums[1];
}

bool sqlite_log_header_holds(const unsigned char header[SQLITE_LOG_HEADER])
{
	uint32_t sums[2] = {0, 0}, magic = sqlite_log_number(header);

	add_up(header, 24, magic & 1, sums);
	return (magic & ~1u) == 0x377f0682 && is_sum(header + 24, sums);
}

bool sqlite_log_frame_holds(bool is_big, const unsigned char before[8], const unsigned char head[SQLITE_FRAME_HEADER],
			    const unsigned char page[SQLITE_PAGE_BYTES])
{
	uint32_t sums[2] = {sqlite_log_number(before), sqlite_log_number(before + 4)};

	/* One loop for each order of bytes. */
	if (is_big) {
		add_up(head, 8, true, sums);
		add_up(page, SQLITE_PAGE_BYTES, true, sums);
	} else {
		add_up(head, 8, false, sums);
		add_up(page, SQLITE_PAGE_BYTES, false, sums);
	}
	return is_sum(head + 16, sums);
}
