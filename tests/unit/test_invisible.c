/* Invisible characters: an attack is told from a script that needs them by the characters beside them. */
#include "base/buf.h"
#include "text/invisible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const flagged[] = {
	"pay\u200bload", "ig\u200cnore", "ig\u200dnore", "a\u2060b", "a\ufeffb", "\u202egnp.exe", "user\u202d",
	"a\u2066b\u2069 c", "x\u200e y", "\U000e0041\U000e0042", "hi\U000e0069\U000e0067\U000e006e", "a\ufe01",
	"\U0001f600\ufe0f\ufe01\ufe02", "b\ufe0f", "a\U000e0100\U000e0101", "字\U000e0100\U000e0101",
	"\u3164", "a\u00ad\u00adb", "\u115fx", "x\u2063y", "\ufffa", "word\u2800word", "\U0001f3f4 \U000e0067",
	"\u206a", "ok \"\ufeff\ufeff\"", "سلام hello\u200cworld", "a\u034fb", "\U000e0001", "x\U000e01f0",
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067"
	"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	/* Flags of nothing: IGNORE, a b, z z 9 9, and of England what is not whole, or goes on. */
	"\U0001f3f4\U000e0049\U000e0047\U000e004e\U000e004f\U000e0052\U000e0045\U000e007f",
	"\U0001f3f4\U000e0061\U000e0062\U000e007f", "\U0001f3f4\U000e007a\U000e007a\U000e0039\U000e0039\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067", "\U0001f3f4\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U000e0061",
};

static const char *const legitimate[] = {
	"", "plain ASCII, of more than eight bytes", "café naïve", "\ufeff# A file with a mark",
	"{\"a\":\"\ufeffTitle\"}", "family \U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f",
	"\u2764\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3", "\u00a9\ufe0f", "\u2602\ufe0e",
	"\U0001f44d\U0001f3fd", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	"\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	"می\u200cخواهم", "नमस्\u200dते", "क्\u200cष", "שלום\u200f (abc)",
	"\u200fשלום", "abc \u200eשלום", "عربي \u2067نص\u2069", "ไทย\u200bภาษา",
	"中文\u200b文字", "auf\u00adhören", "葛\U000e0100", "ᠮᠣᠩ\u180bᠭᠣᠯ",
	"⠓⠑⠇⠇⠕\u2800⠺", "tab\tand\nlines\r\n\x1b[31mred\x1b[0m",
};

static void what_hides_is_flagged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flagged) / sizeof(flagged[0]); i++)
		if (!invisible_is_flagged(str_of(flagged[i])))
			fail_msg("not flagged: %zu, %s", i, flagged[i]);
}

static void what_a_script_or_an_emoji_needs_is_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(legitimate) / sizeof(legitimate[0]); i++)
		if (invisible_is_flagged(str_of(legitimate[i])))
			fail_msg("flagged: %zu, %s", i, legitimate[i]);
}

static void each_is_found_where_it_stands(void **state)
{
	struct str text = STR("abcdefgh\u200b \u2764\ufe0f\U000e0041\xff");
	struct invisible first = invisible_next(text, 0), second = invisible_next(text, first.end);

	(void)state;
	assert_true(first.at == 8 && first.end == 11 && first.code == 0x200b);
	assert_true(second.at == 18 && second.end == 22 && second.code == 0xe0041);
	assert_int_equal(invisible_next(text, second.end).at, text.n);
	assert_int_equal(invisible_next(STR_NULL, 0).at, 0);
}

static void any_bytes_may_come(void **state)
{
	char bytes[64];
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		size_t n = round % sizeof(bytes);

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (char)(seed >> 24);
		}
		invisible_is_flagged((struct str){bytes, n});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_hides_is_flagged),
		cmocka_unit_test(what_a_script_or_an_emoji_needs_is_not),
		cmocka_unit_test(each_is_found_where_it_stands),
		cmocka_unit_test(any_bytes_may_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
