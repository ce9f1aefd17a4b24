/* Base64: RFC 4648's examples, both kinds, and that only the one right text of some data is read. */
#include "codec/base64.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct buf encoded(struct str data, enum base64_kind kind)
{
	struct buf out;

	buf_init(&out, 4096);
	base64_encode(data, kind, &out);
	assert_false(buf_overflowed(&out));
	return out;
}

static bool decodes(struct str text, enum base64_kind kind, struct buf *out)
{
	char *exact = mem_alloc(text.n);
	bool ok;

	if (text.n)
		memcpy(exact, text.p, text.n);
	buf_init(out, 4096);
	ok = base64_decode((struct str){exact, text.n}, kind, out);
	free(exact);
	return ok;
}

/* RFC 4648, section 10, and the two characters in which the kinds differ. */
static void test_known_answers(void **state)
{
	static const struct { struct str data; const char *padded, *url; } cases[] = {
		{STR(""), "", ""}, {STR("f"), "Zg==", "Zg"}, {STR("fo"), "Zm8=", "Zm8"}, {STR("foo"), "Zm9v", "Zm9v"},
		{STR("foob"), "Zm9vYg==", "Zm9vYg"}, {STR("fooba"), "Zm9vYmE=", "Zm9vYmE"},
		{STR("foobar"), "Zm9vYmFy", "Zm9vYmFy"}, {STR("\xfb\xff\xfe"), "+//+", "-__-"},
		{STR("\0\0"), "AAA=", "AAA"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int k = 0; k < 2; k++) {
			enum base64_kind kind = k ? BASE64_URL : BASE64_PADDED;
			struct str text = str_of(k ? cases[i].url : cases[i].padded);
			struct buf out = encoded(cases[i].data, kind);

			assert_true(str_eq(buf_str(&out), text));
			buf_release(&out);
			assert_true(decodes(text, kind, &out));
			assert_true(str_eq(buf_str(&out), cases[i].data));
			buf_release(&out);
		}
	}
}

static void test_any_bytes_come_back(void **state)
{
	uint64_t seed = 4648;

	(void)state;
	for (size_t n = 0; n < 300; n++) {
		char data[300];

		for (size_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			data[i] = (char)(seed >> 56);
		}
		for (int k = 0; k < 2; k++) {
			enum base64_kind kind = k ? BASE64_URL : BASE64_PADDED;
			struct buf text = encoded((struct str){data, n}, kind), back;

			assert_true(decodes(buf_str(&text), kind, &back));
			assert_int_equal(back.len, n);
			if (n)
				assert_memory_equal(back.data, data, n);
			buf_release(&text);
			buf_release(&back);
		}
	}
}

static void test_any_other_text_is_refused(void **state)
{
	static const char *const padded[] = {"Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm9v=", "=", "==", "====", "Zg==Zg==",
					     "Zh==", "Zm9=", "Z===", "Zm 9v", "Zm9v\n", "-__-", "Zm9\x80", "Zg=a",
					     "Z=8="};
	static const char *const url[] = {"Z", "Zg==", "Zm8=", "Zh", "Zm9", "+//+", "Zm 9v", "Zm9vZ", "Zm9v=", "=",
					  "Zm9\xff"};
	struct buf out;

	(void)state;
	for (size_t i = 0; i < sizeof(padded) / sizeof(padded[0]); i++) {
		if (decodes(str_of(padded[i]), BASE64_PADDED, &out))
			fail_msg("%s was accepted", padded[i]);
		buf_release(&out);
	}
	for (size_t i = 0; i < sizeof(url) / sizeof(url[0]); i++) {
		if (decodes(str_of(url[i]), BASE64_URL, &out))
			fail_msg("%s was accepted", url[i]);
		buf_release(&out);
	}
}

/* Of all texts of up to three characters, each that is read is what its bytes are written as. */
static void test_each_text_stands_for_bytes_of_its_own(void **state)
{
	(void)state;
	for (int a = 1; a < 128; a++) {
		for (int b = 1; b < 128; b++) {
			char text[3] = {(char)a, (char)b, 'A'};

			for (size_t n = 1; n <= 3; n++) {
				struct buf out, again;

				if (decodes((struct str){text, n}, BASE64_URL, &out)) {
					again = encoded(buf_str(&out), BASE64_URL);
					assert_true(str_eq(buf_str(&again), (struct str){text, n}));
					buf_release(&again);
				}
				buf_release(&out);
			}
		}
	}
}

static void test_a_refusal_leaves_the_buffer_as_it_was(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 10);
	buf_puts(&out, "keep");
	assert_false(base64_decode(STR("Zm9vZm9*"), BASE64_URL, &out));
	assert_string_equal(out.data, "keep");
	assert_false(buf_overflowed(&out));
	assert_false(base64_decode(STR("Zm9vYmFyZg"), BASE64_URL, &out));
	assert_true(buf_overflowed(&out));
	assert_string_equal(out.data, "keep");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_any_bytes_come_back),
		cmocka_unit_test(test_any_other_text_is_refused),
		cmocka_unit_test(test_each_text_stands_for_bytes_of_its_own),
		cmocka_unit_test(test_a_refusal_leaves_the_buffer_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
