/* The answers in the directory of the fuzzer's seeds, whole, cut at every byte, and damaged from fixed seeds:
 * answers DIRECTORY DAMAGED. The same on every machine, and without clang. */
#include "answer_use.h"

#include <dirent.h>
#include <stdio.h>

enum { SEED_MAX_BYTES = 1 << 16 };

static char seed_text[SEED_MAX_BYTES];

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* A copy of its exact size, so that reading behind it is seen. */
static void use_copy(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, text, len);
	use_answer(copy, len);
	free(copy);
}

static void damage(char *text, size_t *len, uint64_t *state)
{
	static const char pieces[] = "{}[]\",:0-.eE\\u\xff\xc3\x00truefalsn ";
	size_t at = *len ? next_random(state) % *len : 0;

	switch (next_random(state) % 4) {
	case 0:
		text[at] = pieces[next_random(state) % (sizeof(pieces) - 1)];
		break;
	case 1:
		text[at] ^= (char)(1 << next_random(state) % 8);
		break;
	case 2:
		memmove(text + at, text + at + 1, *len - at - 1);
		--*len;
		break;
	default:
		*len = at + 1;
	}
}

static size_t read_seed(const char *directory, const char *name)
{
	char path[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (file == NULL)
		return 0;
	len = fread(seed_text, 1, sizeof(seed_text), file);
	fclose(file);
	return len;
}

static void use_seed(size_t len, long damaged)
{
	static char text[SEED_MAX_BYTES];
	uint64_t state = 88172645463325252u;

	for (size_t cut = 0; cut <= len; cut++)
		use_copy(seed_text, cut);
	for (long i = 0; i < damaged; i++) {
		size_t now = len;

		memcpy(text, seed_text, len);
		for (uint64_t times = 1 + next_random(&state) % 4; times > 0 && now > 1; times--)
			damage(text, &now, &state);
		use_copy(text, now);
	}
}

int main(int argc, char **argv)
{
	DIR *directory = argc == 3 ? opendir(argv[1]) : NULL;
	const struct dirent *entry;
	int seeds = 0;

	if (directory == NULL)
		return 2;
	while ((entry = readdir(directory)) != NULL) {
		size_t len = entry->d_name[0] == '.' ? 0 : read_seed(argv[1], entry->d_name);

		if (len == 0)
			continue;
		use_seed(len, atol(argv[2]));
		seeds++;
	}
	closedir(directory);
	printf("%d answers\n", seeds);
	return seeds ? 0 : 1;
}
