/* From text to terms, and the small structures under the index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "text/analyze.h"
#include "text/everyday.h"
#include "text/dictionary.h"
#include "text/order.h"
#include "text/score.h"
#include "text/stop.h"
#include "text/termbag.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>

static int set_up(void **state)
{
	*state = analyzer_new();
	return 0;
}

static int tear_down(void **state)
{
	analyzer_free(*state);
	return 0;
}

/* --- Analysis --------------------------------------------------------------------------------------- */

static void collect(void *ctx, struct str term, float share)
{
	struct buf *out = ctx;

	assert_in_range(term.n, 1, ANALYZE_TERM_BYTES);
	assert_true(share > 0 && share <= 1);
	if (out->len)
		buf_putc(out, ' ');
	buf_put(out, term);
}

static void assert_terms(struct analyzer *a, const char *text, const char *want)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	analyzer_run(a, str_of(text), collect, &out);
	if (!str_is(buf_str(&out), want))
		fail_msg("\"%s\" gives \"%.*s\", not \"%s\"", text, STR_ARG(buf_str(&out)), want);
	buf_release(&out);
}

static void words_are_folded_and_stemmed(void **state)
{
	struct analyzer *a = *state;

	assert_terms(a, "Their Retries, retried: RETRY retrying.", "retri retri retri retri");
	assert_terms(a, "Decisions decided; decide!", "decis decid decid");
	assert_terms(a, "o'clock dog's dog\u2019s dogs' O'Brien", "o'clock dog dog dog o'brien");
	assert_terms(a, "b X 7 42 0042", "b x 7 42 0042");
	/* Words that begin and end alike are still different words to the cache of stems. */
	assert_terms(a, "bbbbbbbbb bbbbbbbb bbbbbbbbb bbbb bbbbb bbbb bbb",
		     "bbbbbbbbb bbbbbbbb bbbbbbbbb bbbb bbbbb bbbb bbb");
	assert_terms(a, "", "");
	assert_terms(a, " \t\n.,;:!?()[]{}<>\"'`~@#$%^&*-_=+|\\/ ", "");
	assert_terms(a, "end. Start (brackets) \"quotes\" 'single' word/", "end start bracket quot singl word");
}

static void identifiers_are_found_by_parts_and_as_a_whole(void **state)
{
	struct analyzer *a = *state;

	assert_terms(a, "retryPolicy", "retrypolici retri polici");
	assert_terms(a, "retry_policy", "retrypolici retri polici");
	assert_terms(a, "retry-policy", "retrypolici retri polici");
	assert_terms(a, "Retry.Policy", "retrypolici retri polici");
	assert_terms(a, "RETRY_POLICY", "retrypolici retri polici");
	assert_terms(a, "HTTPServer2", "httpserver2 http server 2");
	assert_terms(a, "parseHTTPRequest", "parsehttprequest pars http request");
	assert_terms(a, "std::vector<int>", "stdvector std vector int");
	assert_terms(a, "__init__ _x .bashrc", "init x bashrc");
	assert_terms(a, "GitHub github", "github git hub github");
	assert_terms(a, "URLs IDs PDFs getURLsFor", "url id pdf geturlsfor get url");
	assert_terms(a, "C++ c# F#. C", "c++ c c# c f# f c");
}

static void words_that_say_nothing_are_left_out(void **state)
{
	static const char *const stops[] = {"a", "an", "The", "WHAT", "whose", "yourselves", "don't", "Don\u2019t",
					    "I'm", "shouldn't", "themselves", "whatever", "us", "of", "i"};
	static const char *const words[] = {"may", "mine", "one", "c", "go", "will-o", "who2"};
	struct analyzer *a = *state;
	size_t i;

	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		assert_terms(a, stops[i], "");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct buf out;

		buf_init(&out, 1 << 10);
		analyzer_run(a, str_of(words[i]), collect, &out);
		assert_true(out.len > 0);
		buf_release(&out);
	}
	assert_terms(a, "What did the dog do with it?", "dog");
	/* In a compound, too; the whole stays. */
	assert_terms(a, "end_of_file to-do", "endoffil end file todo");
	/* Again, when the cache of stems knows them. */
	assert_terms(a, "the dog and the DOG and The dog", "dog dog dog");
}

static void note_share(void *ctx, struct str term, float share)
{
	buf_printf(ctx, "%.*s %g ", STR_ARG(term), (double)share);
}

static void assert_shares(struct analyzer *a, const char *text, const char *want)
{
	struct buf out;

	buf_init(&out, 1 << 16);
	analyzer_run(a, str_of(text), note_share, &out);
	if (!str_is(buf_str(&out), want))
		fail_msg("\"%s\" gives \"%.*s\", not \"%s\"", text, STR_ARG(buf_str(&out)), want);
	buf_release(&out);
}

/* A half for the whole, a half for all parts; what follows is a word again. */
static void a_compound_is_one_word_in_shares(void **state)
{
	struct analyzer *a = *state;

	assert_shares(a, "gateway retryPolicy gateway", "gateway 1 retrypolici 0.5 retri 0.25 polici 0.25 gateway 1 ");
	assert_shares(a, "retrypolicy", "retrypolici 1 ");
	assert_shares(a, "a/b_c.d", "abcd 0.5 b 0.125 c 0.125 d 0.125 ");
	assert_shares(a, "1.2 \u6771\u4eac", "1.2 0.5 1 0.0625 2 0.0625 \u6771\u4eac 1 ");
}

/* The most that one of the occurrences says. */
static void a_bag_keeps_the_largest_share(void **state)
{
	struct analyzer *a = *state;
	struct termbag bag;

	termbag_init(&bag, 42);
	termbag_add_aside(&bag, a, STR("dog cat"), 1);
	termbag_add_text(&bag, a, STR("cat retryPolicy"), 2);
	termbag_add_aside(&bag, a, STR("retry"), 1);
	assert_int_equal(bag.term_count, 5);
	assert_true(bag.terms[0].parts == TERMBAG_ASIDE && bag.terms[1].parts == (TERMBAG_MAIN | TERMBAG_ASIDE));
	assert_int_equal(bag.terms[1].count, 3);
	assert_true(bag.terms[0].share == 1 && bag.terms[2].share == 0.5f && bag.terms[4].share == 0.25f);
	assert_true(str_is(termbag_str(&bag, 3), "retri") && bag.terms[3].share == 1);
	assert_int_equal(bag.terms[3].count, 3);
	termbag_release(&bag);
}

static void paths_numbers_and_references_are_found_by_parts(void **state)
{
	struct analyzer *a = *state;

	assert_terms(a, "src/payments/gateway.c", "srcpaymentsgatewayc src payment gateway c");
	assert_terms(a, "C:\\Users\\Ada", "c usersada user ada");
	assert_terms(a, "https://example.com/x?b=1", "https examplecomx exampl com x b 1");
	assert_terms(a, "ada@example.com", "adaexamplecom ada exampl com");
	assert_terms(a, "ms-4821", "ms4821 ms 4821");
	assert_terms(a, "ms-4821@2", "ms4821@2 ms 4821 2");
	assert_terms(a, "v1.2.3", "v1.2.3 v 1 2 3");
	assert_terms(a, "2024-01-15", "2024-01-15 2024 01 15");
	assert_terms(a, "sha256 utf8mb4", "sha256 sha 256 utf8mb4 utf 8 mb 4");
	/* What is mixed like a hash stays whole. */
	assert_terms(a, "a3f9c2e1b4", "a3f9c2e1b4");
	assert_terms(a, "550e8400-e29b-41d4-a716-446655440000",
		     "550e8400e29b41d4a716-446655440000 550e8400 e29b 41d4 a716 446655440000");
}

static void spellings_of_many_scripts_are_one(void **state)
{
	struct analyzer *a = *state;

	assert_terms(a, "Caf\u00e9 CAFE\u0301 cafe \uff23\uff41\uff46\uff45", "cafe cafe cafe cafe");
	assert_terms(a, "Stra\u00dfe STRASSE \ufb01ne fine", "strass strass fine fine");
	assert_terms(a, "\u0130stanbul na\u00efve r\u00e9sum\u00e9 soft\u00adhyphen", "istanbul naiv resum softhyphen");
	assert_terms(a, "\u041c\u0418\u0420 \u043c\u0438\u0440 \u0451\u043b\u043a\u0430",
		     "\u043c\u0438\u0440 \u043c\u0438\u0440 \u0435\u043b\u043a\u0430");
	assert_terms(a, "\u0394\u03af\u03ba\u03b7 \u03a3\u03bf\u03c6\u03cc\u03c2",
		     "\u03b4\u03b9\u03ba\u03b7 \u03c3\u03bf\u03c6\u03bf\u03c3");
	/* Hebrew and Arabic without their points and vowel signs; Hindi keeps its vowels. */
	assert_terms(a, "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd");
	assert_terms(a, "\u0627\u0644\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u0651\u0629",
		     "\u0627\u0644\u0639\u0631\u0628\u064a\u0629");
	assert_terms(a, "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940");
	assert_terms(a, "gr\u00f6\u00dfe\u00c4nderung", "grosseanderung gross anderung");
}

static void scripts_without_spaces_give_pairs(void **state)
{
	struct analyzer *a = *state;

	assert_terms(a, "\u6771\u4eac\u90fd", "\u6771\u4eac \u4eac\u90fd");
	assert_terms(a, "\u4e2d", "\u4e2d");
	assert_terms(a, "\u4e2d\u3002\u6587", "\u4e2d \u6587");
	assert_terms(a, "Python\u8a9e\u8a00 3", "python \u8a9e\u8a00 3");
	/* Half-width and decomposed kana are kana. */
	assert_terms(a, "\uff76\uff9e\uff77 \u30ab\u3099\u30ad \u30ac\u30ad",
		     "\u30ac\u30ad \u30ac\u30ad \u30ac\u30ad");
	assert_terms(a, "\ud55c\uad6d\uc5b4", "\ud55c\uad6d \uad6d\uc5b4");
	/* Thai: a vowel above the line belongs to its consonant. */
	assert_terms(a, "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48", "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48");
	assert_terms(a, "\u0e20\u0e32\u0e29\u0e32", "\u0e20\u0e32 \u0e32\u0e29 \u0e29\u0e32");
}

static void long_words_are_bounded_and_still_told_apart(void **state)
{
	struct analyzer *a = *state;
	char one[120], two[120];
	struct buf x, y;

	memset(one, 'b', sizeof(one));
	memset(two, 'b', sizeof(two));
	two[sizeof(two) - 1] = 'c';
	buf_init(&x, 1 << 16);
	buf_init(&y, 1 << 16);
	analyzer_run(a, (struct str){one, sizeof(one)}, collect, &x);
	analyzer_run(a, (struct str){two, sizeof(two)}, collect, &y);
	assert_int_equal(x.len, 64);
	assert_false(str_eq(buf_str(&x), buf_str(&y)));
	buf_clear(&y);
	analyzer_run(a, (struct str){one, sizeof(one)}, collect, &y);
	assert_true(str_eq(buf_str(&x), buf_str(&y)));
	buf_release(&x);
	buf_release(&y);
}

static void count_term(void *ctx, struct str term, float share)
{
	assert_in_range(term.n, 1, ANALYZE_TERM_BYTES);
	assert_true(share > 0 && share <= 1);
	++*(size_t *)ctx;
}

static void any_bytes_are_text(void **state)
{
	enum { SIZE = 256 << 10 };
	static const char *const pieces[] = {
		"a", "Z", "9", "_", "::", "'", "\u0301", "\u4e2d", "\ufdfa", "\xff", "\xe2\x82", "\u200d", "+",
		"#", " ",
	};
	struct analyzer *a = *state;
	char *text = mem_alloc(SIZE);
	uint64_t random = 1;
	size_t at, terms, round;

	assert_terms(a, "c\xff\xfe" "b \xc3 \xe2\x82", "c b");
	for (round = 0; round < 20; round++) {
		for (at = 0; at + 4 < SIZE;) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			if (round % 2) {
				text[at++] = (char)(random >> 40);
			} else {
				const char *p = pieces[(random >> 33) % (sizeof(pieces) / sizeof(pieces[0]))];

				memcpy(text + at, p, strlen(p));
				at += strlen(p);
			}
		}
		terms = 0;
		analyzer_run(a, (struct str){text, at}, count_term, &terms);
		assert_in_range(terms, 1, SIZE);
	}
	/* One kind of character without end. */
	for (round = 0; round < sizeof(pieces) / sizeof(pieces[0]); round++) {
		for (at = 0; at + 4 < SIZE; at += strlen(pieces[round]))
			memcpy(text + at, pieces[round], strlen(pieces[round]));
		terms = 0;
		analyzer_run(a, (struct str){text, at}, count_term, &terms);
		assert_in_range(terms, 0, SIZE);
	}
	free(text);
}

static void a_bag_counts_each_term_once(void **state)
{
	struct analyzer *a = *state;
	struct termbag bag;
	int round;

	termbag_init(&bag, 42);
	for (round = 0; round < 2; round++) {
		termbag_add_text(&bag, a, STR("b d b"), 1);
		termbag_add_text(&bag, a, STR("d c"), 3);
		assert_int_equal(bag.term_count, 3);
		assert_int_equal(bag.length, 9);
		assert_true(str_is(termbag_str(&bag, 0), "b") && bag.terms[0].count == 2);
		assert_true(str_is(termbag_str(&bag, 1), "d") && bag.terms[1].count == 4);
		assert_true(str_is(termbag_str(&bag, 2), "c") && bag.terms[2].count == 3);
		assert_true(bag.terms[0].hash == hash_bytes("b", 1, 42));
		termbag_clear(&bag);
		assert_int_equal(bag.term_count, 0);
	}
	termbag_release(&bag);
}

/* --- Numbers ---------------------------------------------------------------------------------------- */

static void lengths_of_bounds_are_rounded_down_a_little(void **state)
{
	uint32_t n;

	(void)state;
	for (n = 0; n < 300000; n++) {
		uint32_t back = (uint32_t)score_length_of(score_length_code((float)n));

		assert_true(back <= n && (n > 262143 || back >= n - n / 16));
		assert_true(n >= 64 || back == n);
		assert_true(n == 0 || score_length_code((float)n) >= score_length_code((float)(n - 1)));
	}
	assert_int_equal(score_length_code(score_length(UINT64_MAX)), 255);
}

static void lengths_and_counts_of_scores_are_not_rounded(void **state)
{
	uint32_t n;

	(void)state;
	for (n = 0; n < 200000; n++)
		assert_true((uint32_t)score_length(n) == n);
	assert_true((uint32_t)score_length(SCORE_LENGTH_MAX - 1) == SCORE_LENGTH_MAX - 1);
	for (n = 0; n < SCORE_COUNT_MANY; n++)
		assert_true(score_count_code(n) == n && (n == 0 || score_inverse[n] == 1.0f / (float)n));
	assert_int_equal(score_count_code(SCORE_COUNT_MANY), SCORE_COUNT_MANY);
	assert_int_equal(score_count_code(UINT32_MAX), SCORE_COUNT_MANY);
}

static void worth_grows_with_the_count_and_falls_with_the_length(void **state)
{
	static const double averages[] = {0.5, 1, 3, 50, 1e5};
	struct score_curve c;
	uint32_t count, length;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(averages) / sizeof(averages[0]); i++) {
		score_curve_set(&c, 1.2, 0.75, averages[i], 24);
		for (count = 1; count < 3000; count += 1 + count / 40)
			for (length = 1; length < 3000; length += 1 + length / 40) {
				float worth = score_worth(&c, 1e6f, 1.0f / (float)count, (float)length);

				assert_true(worth >= score_worth(&c, 1e6f, 1.0f / (float)count, (float)length + 1));
				assert_true(worth <= score_worth(&c, 1e6f, 1.0f / (float)(count + 1), (float)length));
				assert_true(worth <= score_worth(&c, 1e6f, score_inverse[SCORE_COUNT_MANY], 0));
				assert_true(score_worth(&c, 1e6f, score_inverse[0], (float)length) < 1);
			}
	}
	/* The length of a short text makes no difference to one of average length, and less of one for the others. */
	for (length = 1; length <= 64; length *= 4) {
		struct score_curve plain;
		float differs;

		score_curve_set(&plain, 1.2, 0.75, 16, 0);
		score_curve_set(&c, 1.2, 0.75, 16, 24);
		if (length == 16)
			assert_true(fabsf(score_worth(&c, 2.2e6f, 1, 16) - 1e6f) < 1);
		differs = fabsf(score_worth(&plain, 1e6f, 1, (float)length) - score_worth(&plain, 1e6f, 1, 16));
		assert_true(fabsf(score_worth(&c, 1e6f, 1, (float)length) - score_worth(&c, 1e6f, 1, 16)) <=
			    0.7f * differs);
	}
	/* Not even where counts and lengths do not matter is an absent word worth anything. */
	score_curve_set(&c, 0, 1, 1, 0);
	assert_true(score_worth(&c, 1e6f, score_inverse[0], 0) < 1 && score_worth(&c, 1e6f, 1, 10) == 1e6f);
	assert_true(score_idf(1000, 1000) > 0 && score_idf(1000, 1) > score_idf(1000, 2));
}

/* --- Structures ------------------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((*state >> 33) % below);
}

static void a_dictionary_keeps_numbers_until_they_are_dropped(void **state)
{
	enum { STRINGS = 5000 };
	struct dictionary d;
	uint32_t numbers[STRINGS], i, n, most = 0;
	uint64_t random = 3;
	int step;

	(void)state;
	dictionary_init(&d);
	for (i = 0; i < STRINGS; i++)
		numbers[i] = DICTIONARY_NONE;
	for (step = 0; step < 200000; step++) {
		uint64_t hash;

		i = next_random(&random, step / 50000 % 2 ? STRINGS / 4 : STRINGS);
		hash = hash_bytes(&i, sizeof(i), 9);
		assert_int_equal(dictionary_find(&d, hash), numbers[i]);
		if (numbers[i] == DICTIONARY_NONE) {
			numbers[i] = dictionary_intern(&d, hash);
			assert_int_equal(dictionary_intern(&d, hash), numbers[i]);
		} else if (next_random(&random, 2)) {
			dictionary_drop(&d, numbers[i]);
			numbers[i] = DICTIONARY_NONE;
		}
		most = d.entry_count > most ? d.entry_count : most;
	}
	assert_true(most <= STRINGS);
	for (i = 0; i < STRINGS; i++)
		for (n = 0; n < i && numbers[i] != DICTIONARY_NONE && i < 300; n++)
			assert_true(numbers[n] != numbers[i]);
	dictionary_release(&d);
}

static void an_order_stays_sorted(void **state)
{
	enum { KEYS = 3000 };
	struct order o;
	struct order_place place;
	uint32_t values[KEYS] = {0}, key, value, count;
	uint64_t random = 4;
	int step;

	(void)state;
	order_init(&o);
	for (step = 1; step < 60000; step++) {
		/* Upwards first, then anywhere. */
		key = step < KEYS ? (uint32_t)step : next_random(&random, KEYS);
		if (step < KEYS || next_random(&random, step < 40000 ? 2 : 5) == 0) {
			order_set(&o, key, (uint32_t)step);
			values[key] = (uint32_t)step;
		} else {
			assert_int_equal(order_remove(&o, key), values[key] != 0);
			values[key] = 0;
		}
		key = next_random(&random, KEYS);
		assert_int_equal(order_get(&o, key, &value), values[key] != 0);
		if (values[key])
			assert_int_equal(value, values[key]);
		if (step % 500 != 0)
			continue;
		/* Both ways through all of it. */
		count = 0;
		for (key = 0; key < KEYS && !values[key]; key++)
			;
		if (order_at_least(&o, 0, &place)) {
			do {
				assert_int_equal(order_key(&o, place), key);
				assert_int_equal(order_value(&o, place), values[key]);
				count++;
				for (key++; key < KEYS && !values[key]; key++)
					;
			} while (order_next(&o, &place));
		}
		assert_int_equal(count, o.count);
		assert_int_equal(key, KEYS);
		if (order_at_most(&o, UINT64_MAX, &place))
			for (; count > 1; count--)
				assert_true(order_previous(&o, &place));
		assert_true(o.count == 0 || !order_previous(&o, &place));
	}
	order_release(&o);
}

static void lists_of_words_are_found_from_end_to_end(void **state)
{
	static const char *const stops[] = {"a", "about", "i'm", "the", "what", "whoever", "yourselves", "you've",
					    "can", "us"};
	static const char *const everyday[] = {"abl", "actual", "add", "hello", "say", "thing", "today", "wrong",
					       "yesterday", "yet", "zzz"};
	static const char *const others[] = {"", "may", "gateway", "doctor", "run", "zeppelin", "thee", "{"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		assert_true(stop_word(str_of(stops[i])) && !everyday_word(str_of(stops[i])));
	for (i = 0; i + 1 < sizeof(everyday) / sizeof(everyday[0]); i++)
		assert_true(everyday_word(str_of(everyday[i])) && !stop_word(str_of(everyday[i])));
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(stop_word(str_of(others[i])) || everyday_word(str_of(others[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_words_are_found_from_end_to_end),
		cmocka_unit_test_setup_teardown(words_are_folded_and_stemmed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(identifiers_are_found_by_parts_and_as_a_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_that_say_nothing_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_compound_is_one_word_in_shares, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bag_keeps_the_largest_share, set_up, tear_down),
		cmocka_unit_test_setup_teardown(paths_numbers_and_references_are_found_by_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(spellings_of_many_scripts_are_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(scripts_without_spaces_give_pairs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_words_are_bounded_and_still_told_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_bytes_are_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bag_counts_each_term_once, set_up, tear_down),
		cmocka_unit_test(lengths_of_bounds_are_rounded_down_a_little),
		cmocka_unit_test(lengths_and_counts_of_scores_are_not_rounded),
		cmocka_unit_test(worth_grows_with_the_count_and_falls_with_the_length),
		cmocka_unit_test(a_dictionary_keeps_numbers_until_they_are_dropped),
		cmocka_unit_test(an_order_stays_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
