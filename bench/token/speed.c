/* Measures how fast texts are counted: speed ENCODING ROUNDS < CHUNKS
 *
 * Chunks are as in tests/token_reference/count.c. Counts all of them ROUNDS times on one thread and prints one
 * line: tokens, and the seconds of the fastest round.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "token/token.h"

#include <stdio.h>
#include <stdlib.h>

enum { INPUT_BYTES_MAX = 1 << 30, READ_BYTES = 1 << 16 };

static void read_all(struct buf *b)
{
	size_t n;

	do {
		char *room = buf_reserve(b, READ_BYTES);

		if (!room)
			exit(1);
		n = fread(room, 1, READ_BYTES, stdin);
		buf_commit(b, n);
	} while (n > 0);
}

static size_t count_all(const struct tokenizer *t, struct str input)
{
	size_t at = 0, tokens = 0;

	while (at + 4 <= input.n) {
		const unsigned char *b = (const unsigned char *)input.p + at;
		size_t length = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;

		if (length > input.n - at - 4)
			exit(1);
		tokens += tokenizer_count(t, (struct str){input.p + at + 4, length});
		at += 4 + length;
	}
	return tokens;
}

int main(int argc, char **argv)
{
	const struct tokenizer *t = argc == 3 ? tokenizer_find(str_of(argv[1])) : NULL;
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	int64_t best_ns = INT64_MAX;
	size_t tokens = 0;
	struct buf input;

	if (!t || rounds < 1) {
		fprintf(stderr, "usage: speed ENCODING ROUNDS < CHUNKS\n");
		return 2;
	}
	buf_init(&input, INPUT_BYTES_MAX);
	read_all(&input);
	for (int i = 0; i < rounds; i++) {
		int64_t start_ns = clock_mono_ns(), ns;

		tokens = count_all(t, buf_str(&input));
		ns = clock_mono_ns() - start_ns;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	printf("%zu %.6f\n", tokens, (double)best_ns / 1e9);
	buf_release(&input);
	return 0;
}
