/* Counts or encodes chunks of bytes, for the comparison with the reference.
 *
 *   count ENCODING count|ids < CHUNKS
 *
 * A chunk is its length in bytes, 32 bits, little-endian, and then the bytes. For each, one line: the number of
 * tokens, or the ids with spaces between them.
 */
#include "base/mem.h"
#include "token/token.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_BYTES_MAX = 64 << 20 };

static bool read_length(size_t *ret)
{
	unsigned char b[4];

	if (fread(b, 1, sizeof(b), stdin) != sizeof(b))
		return false;
	*ret = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
	return true;
}

static void print_ids(const struct tokenizer *t, struct str text)
{
	uint32_t *ids = mem_calloc(text.n * 3 + 1, sizeof(*ids));
	size_t count = tokenizer_encode(t, text, ids, text.n * 3 + 1);

	for (size_t i = 0; i < count; i++)
		printf(i ? " %u" : "%u", ids[i]);
	printf("\n");
	free(ids);
}

int main(int argc, char **argv)
{
	const struct tokenizer *t = argc == 3 ? tokenizer_find(str_of(argv[1])) : NULL;
	size_t length;

	if (!t) {
		fprintf(stderr, "usage: count ENCODING count|ids < CHUNKS\n");
		return 2;
	}
	while (read_length(&length)) {
		/* Of the exact size, so that a read past the end is seen by the sanitizers. */
		char *bytes = mem_alloc(length ? length : 1);

		if (length > CHUNK_BYTES_MAX || fread(bytes, 1, length, stdin) != length) {
			fprintf(stderr, "count: a chunk of %zu bytes is not there\n", length);
			return 1;
		}
		if (strcmp(argv[2], "ids") == 0)
			print_ids(t, (struct str){bytes, length});
		else
			printf("%zu\n", tokenizer_count(t, (struct str){bytes, length}));
		free(bytes);
	}
	return 0;
}
