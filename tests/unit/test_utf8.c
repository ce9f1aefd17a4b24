/* UTF-8 as decoders on the web read it. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct vector {
	struct str bytes;
	struct str repaired;
	size_t characters;
};

#define FFFD "\xef\xbf\xbd"

static const struct vector VECTORS[] = {
	{{"", 0}, {"", 0}, 0},
	{{"abc", 3}, {"abc", 3}, 3},
	{{"a\0b", 3}, {"a\0b", 3}, 3},
	{{"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 9}, {"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 9}, 3},
	{{"\xef\xbb\xbf!", 4}, {"\xef\xbb\xbf!", 4}, 2},
	/* A byte that begins nothing, and each of an overlong form. */
	{{"\x80", 1}, {FFFD, 3}, 1},
	{{"\xc0\xaf", 2}, {FFFD FFFD, 6}, 2},
	{{"\xe0\x80\xaf", 3}, {FFFD FFFD FFFD, 9}, 3},
	{{"\xff\xfe", 2}, {FFFD FFFD, 6}, 2},
	/* A surrogate, and more than U+10FFFF. */
	{{"\xed\xa0\x80", 3}, {FFFD FFFD FFFD, 9}, 3},
	{{"\xf4\x90\x80\x80", 4}, {FFFD FFFD FFFD FFFD, 12}, 4},
	{{"\xf5\x80", 2}, {FFFD FFFD, 6}, 2},
	/* The beginning of a sequence is one character, however long. */
	{{"\xe4\xb8", 2}, {FFFD, 3}, 1},
	{{"\xe4\xb8z", 3}, {FFFD "z", 4}, 2},
	{{"\xf0\x9f\x98", 3}, {FFFD, 3}, 1},
	{{"\xf0\x9f\x98\xf0\x9f\x98\x80", 7}, {FFFD "\xf0\x9f\x98\x80", 7}, 2},
	{{"\xc3", 1}, {FFFD, 3}, 1},
	{{"12345678\xe2\x82", 10}, {"12345678" FFFD, 11}, 9},
};

static void everything_ill_formed_reads_as_the_web_reads_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
		const struct vector *v = &VECTORS[i];
		size_t len;
		char *repaired = utf8_repair(v->bytes, &len);

		assert_int_equal(len, v->repaired.n);
		assert_memory_equal(repaired, v->repaired.p, len);
		assert_int_equal(utf8_characters(v->bytes), v->characters);
		free(repaired);
	}
}

static void valid_length_is_that_of_the_well_formed_beginning(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
		const struct vector *v = &VECTORS[i];
		size_t same = 0;

		while (same < v->bytes.n && v->bytes.p[same] == v->repaired.p[same])
			same++;
		/* Where they differ in the middle of a character, its first byte was the same by chance. */
		assert_true(utf8_valid_length(v->bytes) <= same);
		assert_true(str_is_utf8(str_sub(v->bytes, 0, utf8_valid_length(v->bytes))));
		assert_int_equal(utf8_valid_length(v->bytes) == v->bytes.n, str_is_utf8(v->bytes));
		assert_int_equal(utf8_valid_length(v->repaired), v->repaired.n);
	}
}

static void all_sequences_of_three_bytes_agree_with_the_strict_check(void **state)
{
	char text[3];

	(void)state;
	for (uint32_t i = 0; i < 1u << 24; i += 1) {
		struct str s = {text, 3};

		text[0] = (char)(i >> 16);
		text[1] = (char)(i >> 8);
		text[2] = (char)i;
		if ((utf8_valid_length(s) == 3) != str_is_utf8(s))
			fail_msg("%06x", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_ill_formed_reads_as_the_web_reads_it),
		cmocka_unit_test(valid_length_is_that_of_the_well_formed_beginning),
		cmocka_unit_test(all_sequences_of_three_bytes_agree_with_the_strict_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
