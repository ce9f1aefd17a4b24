/* Counting a text by its parts and by its words, and remembering the counts. */
#include "base/buf.h"
#include "base/mem.h"
#include "token/token_cache.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TEXT_MAX = 4096, PAIRS = 100000, TEXTS = 500, THREADS = 4, ROUNDS = 40 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Pieces at which the tokenizers' patterns turn: blanks of all kinds, ends of lines, what clings to them, marks, and
 * parts of words. */
static void put_random(struct buf *out, uint64_t *seed, size_t pieces)
{
	static const char *const table[] = {
		" ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "/", "//", "'s", "'LL", "'", "a", "Word", "ABC", "1",
		"12345", ".", "```", "###", "- ",
		"\xc2\xa0", "\xe2\x80\xa8", "\xe3\x80\x80", "\xcc\x81", "\xe4\xb8\xad\xe6\x96\x87",
		"\xf0\x9f\x9a\x80", "\xd0\xba", "\xc3\xa9", "\xff", "\xe2\x80",
		"\x01", "\v", "\x7f", "(", "_", "> ", "text", " the",
	};

	for (size_t i = 0; i < pieces; i++)
		buf_puts(out, table[next_random(seed) % (sizeof(table) / sizeof(table[0]))]);
}

static void where_a_text_may_be_cut_the_measures_of_its_parts_add_up(void **state)
{
	uint64_t seed = 88172645463325252u;
	size_t cut = 0;
	struct buf text;

	(void)state;
	buf_init(&text, TEXT_MAX);
	for (int i = 0; i < PAIRS; i++) {
		struct str before, after;
		size_t border;

		buf_clear(&text);
		put_random(&text, &seed, next_random(&seed) % 6);
		border = text.len;
		put_random(&text, &seed, next_random(&seed) % 6);
		before = str_sub(buf_str(&text), 0, border);
		after = str_sub(buf_str(&text), border, text.len);
		if (!tokenizer_cuts(before, after))
			continue;
		cut += before.n > 0 && after.n > 0;
		for (size_t t = 0; tokenizer_at(t); t++) {
			const struct tokenizer *k = tokenizer_at(t);
			size_t parts = tokenizer_measure(k, before) + tokenizer_measure(k, after);

			if (parts != tokenizer_measure(k, buf_str(&text)))
				fail_msg("%s: \"%.*s\" | \"%.*s\"", tokenizer_name(k), STR_ARG(before), STR_ARG(after));
			assert_int_equal(tokenizer_tokens(k, parts), tokenizer_count(k, buf_str(&text)));
		}
	}
	assert_true(cut > PAIRS / 50);
	buf_release(&text);
}

static void what_joins_across_the_border_is_not_cut(void **state)
{
	static const struct { struct str before, after; } joined[] = {
		{STR("```\n"), STR("\n")}, {STR("//\n"), STR("/x")}, {STR("a"), STR("b")}, {STR(" "), STR(" x")},
		{STR("\n"), STR(" x")},
		{STR("x"), STR("\n")}, {STR("\n"), STR("\xc2\xa0")},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]); i++)
		assert_false(tokenizer_cuts(joined[i].before, joined[i].after));
	assert_true(tokenizer_cuts(STR("x\n"), STR("# y")));
	assert_true(tokenizer_cuts(STR("x,"), STR(" y")));
	assert_true(tokenizer_cuts(STR(""), STR("/")));
}

/* Words are counted by a way of their own; encoding does not take it. */
static void a_text_has_as_many_tokens_as_its_encoding(void **state)
{
	static const char *const parts[] = {
		" the", " gateway", "answers", " After", "After", "HTtp", " HTtp", "aBc", "iPhone", " I", "-foo",
		"_bar", "(x", "\tx", "internationalization", " internationalize", " representation", "'s", "'", "'so",
		"'description", "'management", " don't", "1st", "a1", ".", ",", " ", "\n", "\r\n", "/", "{", "`", "@",
		"[", "zZ", "\x01q", "\xc3\xa9", " caf\xc3\xa9", "\xcc\x81", "\xe2\x80\x99s", "\x7f", " zxqj",
	};
	uint64_t seed = 1234567;
	struct buf text;

	(void)state;
	buf_init(&text, TEXT_MAX);
	for (int i = 0; i < PAIRS; i++) {
		buf_clear(&text);
		for (size_t left = next_random(&seed) % 12; left > 0; left--)
			buf_puts(&text, parts[next_random(&seed) % (sizeof(parts) / sizeof(parts[0]))]);
		for (size_t t = 0; !tokenizer_is_estimate(tokenizer_at(t)); t++)
			if (tokenizer_count(tokenizer_at(t), buf_str(&text)) !=
			    tokenizer_encode(tokenizer_at(t), buf_str(&text), NULL, 0))
				fail_msg("%s: \"%s\"", tokenizer_name(tokenizer_at(t)), buf_str(&text).p);
	}
	buf_release(&text);
}

/* --- The cache --- */

struct texts {
	struct token_cache *cache;
	struct str texts[TEXTS];
	size_t measures[TEXTS][3];
};

static struct texts *make_texts(struct token_cache *cache)
{
	struct texts *all = mem_zalloc(sizeof(*all));
	uint64_t seed = 42;
	struct buf text;

	all->cache = cache;
	buf_init(&text, TEXT_MAX);
	for (size_t i = 0; i < TEXTS; i++) {
		buf_clear(&text);
		put_random(&text, &seed, i % 60);
		all->texts[i] = (struct str){mem_strndup(buf_str(&text).p, text.len), text.len};
		for (size_t t = 0; t < 3; t++)
			all->measures[i][t] = tokenizer_measure(tokenizer_at(t), all->texts[i]);
	}
	buf_release(&text);
	return all;
}

static void free_texts(struct texts *all)
{
	for (size_t i = 0; i < TEXTS; i++)
		free((char *)(uintptr_t)all->texts[i].p);
	free(all);
}

/* Returns the number of wrong answers. */
static void *ask_often(void *arg)
{
	struct texts *all = arg;
	uintptr_t wrong = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < TEXTS; i++)
			for (size_t t = 0; t < 3; t++)
				wrong += token_cache_measure(all->cache, tokenizer_at(t), all->texts[i]) !=
					 all->measures[i][t];
	return (void *)wrong;
}

static void ask_from_threads(struct token_cache *cache)
{
	struct texts *all = make_texts(cache);
	pthread_t threads[THREADS];
	void *wrong;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, all), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	free_texts(all);
	token_cache_free(cache);
}

static void a_remembered_count_is_the_count_whoever_asks(void **state)
{
	(void)state;
	ask_from_threads(token_cache_new(1 << 14, 7));
	ask_from_threads(NULL);
}

static void a_cache_that_is_far_too_small_forgets_and_never_lies(void **state)
{
	(void)state;
	ask_from_threads(token_cache_new(4, 7));
}

static void what_a_text_is_made_into_is_remembered_apart_from_the_text(void **state)
{
	struct token_cache *cache = token_cache_new(1 << 10, 7);
	struct str text = STR("some words"), other = STR("other words");
	const struct tokenizer *t = tokenizer_at(0);
	struct token_key key = token_cache_key(cache, t, text, 1);
	size_t plain = tokenizer_measure(t, text), measure;

	(void)state;
	assert_int_equal(token_cache_measure(cache, t, text), plain);
	assert_false(token_cache_get(cache, key, &measure));
	token_cache_put(cache, key, plain + 7);
	assert_true(token_cache_get(cache, key, &measure));
	assert_int_equal(measure, plain + 7);
	assert_int_equal(token_cache_measure(cache, t, text), plain);
	assert_false(token_cache_get(cache, token_cache_key(cache, t, text, 2), &measure));
	assert_false(token_cache_get(cache, token_cache_key(cache, t, other, 1), &measure));
	assert_false(token_cache_get(cache, token_cache_key(cache, tokenizer_at(1), text, 1), &measure));
	token_cache_put(NULL, token_cache_key(NULL, t, text, 1), plain);
	assert_false(token_cache_get(NULL, key, &measure));
	token_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_text_may_be_cut_the_measures_of_its_parts_add_up),
		cmocka_unit_test(what_joins_across_the_border_is_not_cut),
		cmocka_unit_test(a_text_has_as_many_tokens_as_its_encoding),
		cmocka_unit_test(a_remembered_count_is_the_count_whoever_asks),
		cmocka_unit_test(a_cache_that_is_far_too_small_forgets_and_never_lies),
		cmocka_unit_test(what_a_text_is_made_into_is_remembered_apart_from_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
