/* token/token.h: eight times the text takes about eight times as long, whatever is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "token/token.h"

#include <stdlib.h>
#include <time.h>

/* What grows with the square takes 64 times as long. Caches and the memory of a larger text may cost double. */
enum { SMALL = 64 << 10, LARGE = 8 * SMALL, FACTOR_MAX = 24, TRIES = 3 };

struct kind {
	const char *name;
	const char *alphabet[8];	/* drawn from by chance */
};

static const struct kind kinds[] = {
	{"random letters", {"a", "e", "q", "z", "t", "h", "x", "k"}},
	{"capitals", {"A", "E", "Q", "Z", "T", "H", "X", "K"}},
	{"one letter", {"a"}},
	{"two letters", {"ab"}},
	{"spaces", {" "}},
	{"lines", {"\n", " ", "\r\n"}},
	{"digits", {"0", "1", "5", "7", "9"}},
	{"signs", {"=", "!", "{", ")", "/", "#"}},
	{"one sign", {"="}},
	{"Chinese", {"\xe4\xb8\xad", "\xe6\x96\x87", "\xe9\xbe\x8d", "\xe5\xad\x97"}},
	{"emoji", {"\xf0\x9f\x98\x80", "\xf0\x9f\x9a\x80", "\xf0\x9f\x91\xa9", "\xe2\x80\x8d"}},
	{"accents", {"\xcc\x81", "\xcc\x82"}},
	{"apostrophes", {"'s", "'ll", "'"}},
	{"no text", {"\xff", "\xc3", "\x80", "\x01"}},
};

static void fill(struct buf *b, const struct kind *kind, size_t size)
{
	unsigned int seed = 7;
	size_t count = 0;

	while (count < 8 && kind->alphabet[count])
		count++;
	buf_clear(b);
	while (b->len < size)
		buf_puts(b, kind->alphabet[(size_t)rand_r(&seed) % count]);
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The fastest of some tries. */
static int64_t count_ns(const struct tokenizer *t, struct str text)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		int64_t began = cpu_ns(), took;

		assert_true(tokenizer_count(t, text) > 0);
		took = cpu_ns() - began;
		best = took < best ? took : best;
	}
	return best;
}

static void eight_times_the_text_takes_eight_times_as_long(void **state)
{
	static const char *const names[] = {"o200k_base", "cl100k_base"};
	struct buf small, large;

	(void)state;
	buf_init(&small, 2 * SMALL);
	buf_init(&large, 2 * LARGE);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct tokenizer *t = tokenizer_find(str_of(names[n]));

		assert_non_null(t);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			int64_t small_ns, large_ns;

			fill(&small, &kinds[i], SMALL);
			fill(&large, &kinds[i], LARGE);
			small_ns = count_ns(t, buf_str(&small));
			large_ns = count_ns(t, buf_str(&large));
			if (large_ns > FACTOR_MAX * small_ns)
				print_error("%s, %s: %lld and %lld ns\n", names[n], kinds[i].name, (long long)small_ns,
					    (long long)large_ns);
			assert_true(large_ns <= FACTOR_MAX * small_ns);
		}
	}
	buf_release(&small);
	buf_release(&large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(eight_times_the_text_takes_eight_times_as_long)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
