/* Exact token counts. The vectors come from the reference, tiktoken's encode_ordinary; tests/token_reference
 * compares much more. */
#include "base/mem.h"
#include "token/bpe.h"
#include "token/split.h"
#include "token/tables.h"
#include "token/token.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { IDS_MAX = 16, PIECE_MAX = 400 };

struct vector {
	const char *tokenizer;
	struct str text;
	size_t count;
	uint32_t ids[IDS_MAX];
};

static const struct vector VECTORS[] = {
	{"o200k_base", STR("a"), 1, {64}},
	{"o200k_base", STR(" "), 1, {220}},
	{"o200k_base", STR("\012"), 1, {198}},
	{"o200k_base", STR("hello world"), 2, {24912, 2375}},
	{"o200k_base", STR("Hello, world!"), 4, {13225, 11, 2375, 0}},
	{"o200k_base", STR("  two  spaces"), 4, {220, 1920, 220, 18608}},
	{"o200k_base", STR("tabs\011\011and\015\012lines\012\012\012"), 6, {68999, 197, 128995, 370, 10105, 2499}},
	{"o200k_base", STR("I'll we've DON'T it'S x'\305\277y"),
	 9, {67504, 24716, 153384, 480, 31233, 1215, 6, 70067, 88}},
	{"o200k_base", STR("<|endoftext|>"), 7, {27, 91, 419, 1440, 919, 91, 29}},
	{"o200k_base", STR("\314\201ABC"), 2, {13430, 44197}},
	{"o200k_base", STR("\344\270\255\346\226\207ABCd \344\270\255\346\226\207ABC"),
	 5, {10667, 44197, 67, 83711, 44197}},
	{"o200k_base", STR("1234567 \331\241\331\242\331\243\331\244"),
	 8, {7633, 19354, 22, 220, 46600, 53184, 81473, 98713}},
	{"o200k_base", STR("x\302\205y\357\273\277z\302\240 w"), 8, {87, 126, 227, 88, 5574, 89, 5310, 286}},
	{"o200k_base", STR("//\012/a --foo -bar"), 7, {22704, 14, 64, 2230, 16660, 533, 2990}},
	{"o200k_base", STR("\360\237\221\250\342\200\215\360\237\221\251\342\200\215\360\237\221\247\360\237\230\200"),
	 9, {28823, 101, 2524, 28823, 102, 2524, 28823, 100, 84083}},
	{"o200k_base", STR("a\357\277\275b"), 3, {64, 3251, 65}},
	{"o200k_base", STR("na\303\257ve Stra\303\237e \320\241\320\241\320\241\320\240 \340\270\252\340\270\247\340"
		"\270\261\340\270\252\340\270\224\340\270\265"),
	 9, {1503, 9954, 737, 71184, 92957, 6152, 187986, 21883, 2293}},
	{"cl100k_base", STR("a"), 1, {64}},
	{"cl100k_base", STR(" "), 1, {220}},
	{"cl100k_base", STR("\012"), 1, {198}},
	{"cl100k_base", STR("hello world"), 2, {15339, 1917}},
	{"cl100k_base", STR("Hello, world!"), 4, {9906, 11, 1917, 0}},
	{"cl100k_base", STR("  two  spaces"), 4, {220, 1403, 220, 12908}},
	{"cl100k_base", STR("tabs\011\011and\015\012lines\012\012\012"), 6, {32093, 197, 53577, 319, 8128, 1432}},
	{"cl100k_base", STR("I'll we've DON'T it'S x'\305\277y"),
	 13, {40, 3358, 584, 3077, 45373, 17773, 433, 13575, 865, 6, 129, 123, 88}},
	{"cl100k_base", STR("<|endoftext|>"), 7, {27, 91, 8862, 728, 428, 91, 29}},
	{"cl100k_base", STR("\314\201ABC"), 2, {54939, 26484}},
	{"cl100k_base", STR("\344\270\255\346\226\207ABCd \344\270\255\346\226\207ABC"),
	 7, {16325, 17161, 26484, 67, 73958, 17161, 26484}},
	{"cl100k_base", STR("1234567 \331\241\331\242\331\243\331\244"),
	 12, {4513, 10961, 22, 220, 149, 94, 149, 95, 149, 96, 149, 97}},
	{"cl100k_base", STR("x\302\205y\357\273\277z\302\240 w"), 8, {87, 126, 227, 88, 3305, 89, 4194, 289}},
	{"cl100k_base", STR("//\012/a --foo -bar"), 6, {2341, 14520, 1198, 8134, 482, 2308}},
	{"cl100k_base", STR("\360\237\221\250\342\200\215\360\237\221\251\342\200\215\360\237\221\247\360\237\230\200"),
	 15, {9468, 239, 101, 378, 235, 9468, 239, 102, 378, 235, 9468, 239, 100, 76460, 222}},
	{"cl100k_base", STR("a\357\277\275b"), 3, {64, 5809, 65}},
	{"cl100k_base", STR("na\303\257ve Stra\303\237e \320\241\320\241\320\241\320\240 \340\270\252\340\270\247\340"
		"\270\261\340\270\252\340\270\224\340\270\265"),
	 16,
	 {3458, 38672, 588, 27745, 24352, 28599, 19871, 19871, 34604, 220, 36748, 38313, 24152, 36748, 38133, 29419}},
};

static const char *const EXACT[] = {"o200k_base", "cl100k_base"};

static const struct tokenizer *find(const char *name)
{
	const struct tokenizer *t = tokenizer_find(str_of(name));

	assert_non_null(t);
	return t;
}

static size_t count(const char *name, const char *text)
{
	return tokenizer_count(find(name), str_of(text));
}

static uint32_t random_next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* --- Names ------------------------------------------------------------------------------------------------------- */

static void tokenizers_are_found_by_their_names_only(void **state)
{
	(void)state;
	assert_string_equal(tokenizer_name(tokenizer_at(0)), TOKENIZER_DEFAULT);
	for (size_t i = 0; tokenizer_at(i); i++)
		assert_ptr_equal(tokenizer_find(str_of(tokenizer_name(tokenizer_at(i)))), tokenizer_at(i));
	assert_null(tokenizer_at(3));
	assert_null(tokenizer_find(STR("")));
	assert_null(tokenizer_find(STR_NULL));
	assert_null(tokenizer_find(STR("O200K_BASE")));
	assert_null(tokenizer_find(STR("o200k_base ")));
	assert_null(tokenizer_find(STR("gpt2")));
}

static void only_the_estimate_says_that_it_is_one(void **state)
{
	(void)state;
	assert_true(tokenizer_is_estimate(find("estimate")));
	assert_false(tokenizer_is_estimate(find("o200k_base")));
	assert_false(tokenizer_is_estimate(find("cl100k_base")));
}

static void the_estimate_is_a_quarter_for_ascii_and_one_for_the_rest(void **state)
{
	(void)state;
	assert_int_equal(count("estimate", ""), 0);
	assert_int_equal(count("estimate", "a"), 1);
	assert_int_equal(count("estimate", "abcd"), 1);
	assert_int_equal(count("estimate", "abcde"), 2);
	assert_int_equal(count("estimate", "\xe4\xb8\xad\xe6\x96\x87"), 2);
	assert_int_equal(count("estimate", "\xff\xff" "abc"), 3);
}

/* --- Against the reference --------------------------------------------------------------------------------------- */

static void tokens_are_those_of_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
		const struct vector *v = &VECTORS[i];
		uint32_t ids[IDS_MAX];

		assert_int_equal(tokenizer_encode(find(v->tokenizer), v->text, ids, IDS_MAX), v->count);
		assert_memory_equal(ids, v->ids, v->count * sizeof(ids[0]));
		assert_int_equal(tokenizer_count(find(v->tokenizer), v->text), v->count);
	}
}

static void an_empty_text_has_no_tokens(void **state)
{
	(void)state;
	for (size_t i = 0; tokenizer_at(i); i++) {
		assert_int_equal(tokenizer_count(tokenizer_at(i), STR("")), 0);
		assert_int_equal(tokenizer_count(tokenizer_at(i), STR_NULL), 0);
		assert_int_equal(tokenizer_prefix(tokenizer_at(i), STR_NULL, 5), 0);
	}
}

static void encode_writes_no_more_than_it_may(void **state)
{
	uint32_t ids[3] = {7, 7, 7};

	(void)state;
	assert_int_equal(tokenizer_encode(find("o200k_base"), STR("Hello, world!"), ids, 2), 4);
	assert_int_equal(ids[0], 13225);
	assert_int_equal(ids[1], 11);
	assert_int_equal(ids[2], 7);
	assert_int_equal(tokenizer_encode(find("o200k_base"), STR("Hello, world!"), NULL, 0), 4);
}

static void ill_formed_bytes_count_as_the_replacement_character(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *name = EXACT[i];

		assert_int_equal(count(name, "a\xff" "b"), count(name, "a\xef\xbf\xbd" "b"));
		assert_int_equal(count(name, "\xe4\xb8"), count(name, "\xef\xbf\xbd"));
		assert_int_equal(count(name, "\xed\xa0\x80"), count(name, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
		/* A byte order mark is a character. */
		assert_int_equal(count(name, "\xef\xbb\xbfx"), 2);
	}
}

static void every_byte_alone_has_tokens(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		char byte = (char)c;

		for (size_t i = 0; i < 2; i++)
			assert_int_equal(tokenizer_count(find(EXACT[i]), (struct str){&byte, 1}), 1);
	}
}

/* --- Pieces ------------------------------------------------------------------------------------------------------ */

/* The pieces with '|' between them must be `wanted`. */
static void assert_pieces(split_fn *split, const char *wanted)
{
	const uint8_t *p, *end;
	struct tables_view tables;
	char text[256], pieces[256];
	size_t n = 0, m = 0;

	assert_true(tables_view(tables_embedded(), STR("o200k_base"), &tables));
	for (const char *c = wanted; *c; c++)
		if (*c != '|')
			text[n++] = *c;
	p = (const uint8_t *)text;
	end = p + n;
	while (p < end) {
		size_t len = split(&tables.chars, p, end);

		if (m > 0)
			pieces[m++] = '|';
		memcpy(pieces + m, p, len);
		m += len;
		p += len;
	}
	pieces[m] = '\0';
	assert_string_equal(pieces, wanted);
}

static void o200k_cuts_where_its_pattern_does(void **state)
{
	static const char *const PIECES[] = {
		"Hello|Worlds|HTTPServer", "HTTP\xe4\xb8\xadHTTPs\xe4\xb8\xad|HTTP", "it's|ITS's|It'S|'Sx",
		"don't| can'T| x'll| X'LL|y|'r| z|'rx", "x'\xc5\xbf|y", "123|456|7| |89", "a|   \n",
		" \n\n| | x", "x|  | y", "   ", "-x|--|x", " --|x", "!?\n/\n|x", "//\n/|a", "\t|\tx",
		"\xcc\x81|ABC", "\xcc\x81" "abc", "\xcc\x81's|x", "A\xcc\x81|B", "a\xcc\x81|B", "\xc2\xa0x",
		"x|\xc2\x85y", "\xef\xbb\xbfx", " |\xd9\xa1\xd9\xa2\xd9\xa3|\xd9\xa4", "\r\n\r\n|x", "x|\n|x",
		"x|\n \n|x", "\xc7\x85" "a", ".\xcc\x81|AA",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++)
		assert_pieces(split_o200k, PIECES[i]);
}

static void cl100k_cuts_where_its_pattern_does(void **state)
{
	static const char *const PIECES[] = {
		"HelloWorld", "it|'s", "x|'\xc5\xbf|y", "'s|x", "''|s|'ll|'l| '|s", "123|4", " \n\n| | x",
		"-x|--|x", "!?\n|/a", "a|\xcc\x81" "bc", "\xcc\x81" "ABC", "a|\xcc\x81\xcc\x81|b",
		"\xe4\xb8\xadHTTPs", "\tx|\t| y", "x|  | y", "   ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++)
		assert_pieces(split_cl100k, PIECES[i]);
}

/* --- Byte-pair encoding ------------------------------------------------------------------------------------------ */

/* Merges as the definition says, one merge at a time; a token is what the trie knows as one. Returns the number of
 * tokens. */
static size_t merge_slowly(const struct tables_view *tables, const uint8_t *p, size_t n, uint32_t *ret_ranks)
{
	size_t *ends = mem_calloc(n, sizeof(*ends)), parts = n;
	struct bpe b;

	bpe_init(&b);
	for (size_t i = 0; i < n; i++)
		ends[i] = i + 1;
	for (;;) {
		uint32_t lowest = UINT32_MAX;
		size_t best = 0;

		for (size_t i = 0; i + 1 < parts; i++) {
			size_t from = i ? ends[i - 1] : 0;

			if (bpe_encode(&b, tables, p + from, ends[i + 1] - from) == 1 && bpe_rank(&b, 0) < lowest) {
				lowest = bpe_rank(&b, 0);
				best = i;
			}
		}
		if (lowest == UINT32_MAX)
			break;
		parts--;
		memmove(&ends[best], &ends[best + 1], (parts - best) * sizeof(*ends));
	}
	for (size_t i = 0; i < parts; i++) {
		size_t from = i ? ends[i - 1] : 0;

		assert_int_equal(bpe_encode(&b, tables, p + from, ends[i] - from), 1);
		ret_ranks[i] = bpe_rank(&b, 0);
	}
	bpe_release(&b);
	free(ends);
	return parts;
}

/* Bytes that make many tokens possible: from a small alphabet, in runs, or anything. */
static void make_piece(uint32_t *seed, uint8_t *p, size_t n)
{
	static const char *const ALPHABETS[] = {
		"-", "ab", " \n", "etaoin", "-=", "aAbB", "\xd0\xbe\xd1\x82", "*/", "0", "\xe4\xb8\xad\xad",
	};
	const char *alphabet = ALPHABETS[random_next(seed) % (sizeof(ALPHABETS) / sizeof(ALPHABETS[0]))];
	bool any = random_next(seed) % 8 == 0;

	for (size_t i = 0; i < n; i++) {
		bool again = i > 0 && random_next(seed) % 4 != 0 && strlen(alphabet) < 3;

		if (any)
			p[i] = (uint8_t)random_next(seed);
		else
			p[i] = again ? p[i - 1] : (uint8_t)alphabet[random_next(seed) % strlen(alphabet)];
	}
}

static void encoding_is_what_merging_one_by_one_gives(void **state)
{
	uint32_t seed = 4711, ranks[PIECE_MAX];
	uint8_t piece[PIECE_MAX];
	struct bpe b;

	(void)state;
	bpe_init(&b);
	for (size_t e = 0; e < 2; e++) {
		struct tables_view tables;

		assert_true(tables_view(tables_embedded(), str_of(EXACT[e]), &tables));
		for (int round = 0; round < 300; round++) {
			size_t n = 1 + random_next(&seed) % (round % 20 ? 60 : sizeof(piece)), parts;

			make_piece(&seed, piece, n);
			parts = merge_slowly(&tables, piece, n, ranks);
			assert_int_equal(bpe_encode(&b, &tables, piece, n), parts);
			for (size_t i = 0; i < parts; i++)
				assert_int_equal(bpe_rank(&b, i), ranks[i]);
		}
	}
	bpe_release(&b);
}

/* --- Cutting ----------------------------------------------------------------------------------------------------- */

/* Every boundary between characters, tried. */
static size_t longest_prefix_slowly(const struct tokenizer *t, struct str text, const bool *boundary, size_t max_tokens)
{
	for (size_t n = text.n; n > 0; n--)
		if (boundary[n] && tokenizer_count(t, str_sub(text, 0, n)) <= max_tokens)
			return n;
	return 0;
}

static size_t make_text(uint32_t *seed, char *text, bool *boundary)
{
	static const char *const BITS[] = {
		"a", "B", "the ", " ", "  ", "\n", "\r\n", "'s", "'", "1", "23", ".", "//", "-", "\xcc\x81",
		"\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xc3\xa9", "Hello", "\t", "\xff", "\xe4\xb8",
		"\xef\xbb\xbf", "ing", "\xc2\xa0",
	};
	size_t n = 0, bits = random_next(seed) % 14;

	memset(boundary, 0, 128 * sizeof(*boundary));
	boundary[0] = true;
	for (size_t i = 0; i < bits; i++) {
		const char *bit = BITS[random_next(seed) % (sizeof(BITS) / sizeof(BITS[0]))];
		bool one = (unsigned char)bit[0] >= 0x80;

		for (size_t j = 0; bit[j]; j++) {
			text[n++] = bit[j];
			boundary[n] = !one || bit[j + 1] == '\0';
		}
	}
	return n;
}

static void a_prefix_is_the_longest_that_fits(void **state)
{
	uint32_t seed = 99;
	bool boundary[128];
	char text[128];

	(void)state;
	for (int round = 0; round < 1500; round++) {
		struct str s = {text, make_text(&seed, text, boundary)};

		for (size_t i = 0; tokenizer_at(i); i++) {
			const struct tokenizer *t = tokenizer_at(i);
			size_t all = tokenizer_count(t, s);

			assert_int_equal(tokenizer_prefix(t, s, all), s.n);
			for (size_t max = 0; max <= all; max++)
				assert_int_equal(tokenizer_prefix(t, s, max),
						 longest_prefix_slowly(t, s, boundary, max));
		}
	}
}

static void a_prefix_of_one_long_run_fits_and_is_nearly_the_longest(void **state)
{
	static const char *const RUNS[] = {"a", " ", "-", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\n ", "ab"};
	enum { SIZE = 20000 };
	char *text = mem_alloc(SIZE);

	(void)state;
	for (size_t r = 0; r < sizeof(RUNS) / sizeof(RUNS[0]); r++) {
		size_t len = strlen(RUNS[r]), n = SIZE / len * len;

		for (size_t i = 0; i < n; i++)
			text[i] = RUNS[r][i % len];
		for (size_t e = 0; e < 2; e++) {
			const struct tokenizer *t = find(EXACT[e]);
			size_t all = tokenizer_count(t, (struct str){text, n});

			for (size_t max = 0; max < all; max += 1 + all / 5) {
				size_t cut = tokenizer_prefix(t, (struct str){text, n}, max);

				assert_true(cut < n);
				assert_true(((unsigned char)text[cut] & 0xc0) != 0x80);
				assert_true(tokenizer_count(t, (struct str){text, cut}) <= max);
				assert_true(tokenizer_count(t, (struct str){text, cut + len}) > max);
			}
		}
	}
	free(text);
}

/* --- Hostile input ----------------------------------------------------------------------------------------------- */

static double seconds_to_count(const struct tokenizer *t, struct str text)
{
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		struct timespec a, b;
		double s;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		tokenizer_count(t, text);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
		best = s < best ? s : best;
	}
	return best;
}

/* Eight times the text may take thirty times as long, where quadratic work would take sixty-four times: room for
 * caches and noise. And no text may take thirty times as long as a plain one of words that are not looked up whole: the
 * slowest take 8 to 18 times as long, from run to run, by where the tables happen to lie in memory. */
static void time_grows_with_the_length_of_hostile_text(void **state)
{
	static const char *const RUNS[] = {
		"a", "A", " ", "\n", "0", "-", "=", "*", "/", "\xf0\x9f\x98\x80", "\xe4\xb8\xad", "\xcc\x81",
		"\xff", "\xe4\xb8", " \n", "\n ", "aA", "Z\xe4\xb8\xad", "'", "'s", "\t ", "\xc2\xa0",
		"\xe3\x80\x80", "\r", "/\n", "ab", "\xcc\x81" "A", ".A",
	};
	static const char PLAIN[] = "\xd0\x92\xd1\x81\xd0\xb5 \xd0\xbb\xd1\x8e\xd0\xb4\xd0\xb8 \xd1\x80\xd0\xbe\xd0\xb6"
		"\xd0\xb4\xd0\xb0\xd1\x8e\xd1\x82\xd1\x81\xd1\x8f \xd1\x81\xd0\xb2\xd0\xbe\xd0\xb1\xd0\xbe"
		"\xd0\xb4\xd0\xbd\xd1\x8b\xd0\xbc\xd0\xb8. ";
	enum { SMALL = 32 << 10, LARGE = 8 * SMALL };
	char *text = mem_alloc(LARGE);
	double plain[2];

	(void)state;
	for (size_t i = 0; i < LARGE; i++)
		text[i] = PLAIN[i % (sizeof(PLAIN) - 1)];
	for (size_t e = 0; e < 2; e++)
		plain[e] = seconds_to_count(find(EXACT[e]), (struct str){text, LARGE});
	for (size_t r = 0; r < sizeof(RUNS) / sizeof(RUNS[0]); r++) {
		for (size_t i = 0, len = strlen(RUNS[r]); i < LARGE; i++)
			text[i] = RUNS[r][i % len];
		for (size_t e = 0; e < 2; e++) {
			const struct tokenizer *t = find(EXACT[e]);
			double small = seconds_to_count(t, (struct str){text, SMALL});
			double large = seconds_to_count(t, (struct str){text, LARGE});

			if (large > 30 * small || large > 30 * plain[e])
				fail_msg("%s, run %zu: %.6f s, eight times as much %.6f s, plain text %.6f s",
					 EXACT[e], r, small, large, plain[e]);
		}
	}
	free(text);
}

static void a_megabyte_of_one_thing_has_the_tokens_it_must_have(void **state)
{
	static const struct {
		const char *thing;
		size_t o200k, cl100k;
	} RUNS[] = {
		{"a", 125000, 125000}, {" ", 7813, 7813}, {"-", 15625, 15625}, {"0", 333334, 333334},
		{"\n", 62500, 31250}, {"\xf0\x9f\x98\x80", 250000, 500000},
	};
	enum { SIZE = 1000000 };
	char *text = mem_alloc(SIZE);

	(void)state;
	for (size_t r = 0; r < sizeof(RUNS) / sizeof(RUNS[0]); r++) {
		for (size_t i = 0, len = strlen(RUNS[r].thing); i < SIZE; i++)
			text[i] = RUNS[r].thing[i % len];
		assert_int_equal(tokenizer_count(find("o200k_base"), (struct str){text, SIZE}), RUNS[r].o200k);
		assert_int_equal(tokenizer_count(find("cl100k_base"), (struct str){text, SIZE}), RUNS[r].cl100k);
	}
	free(text);
}

/* --- Threads ----------------------------------------------------------------------------------------------------- */

static void *count_vectors(void *arg)
{
	size_t *wrong = arg;

	for (size_t i = 0; i < 200 * sizeof(VECTORS) / sizeof(VECTORS[0]); i++) {
		const struct vector *v = &VECTORS[i % (sizeof(VECTORS) / sizeof(VECTORS[0]))];

		if (tokenizer_count(tokenizer_find(str_of(v->tokenizer)), v->text) != v->count)
			++*wrong;
	}
	return NULL;
}

static void threads_count_at_the_same_time(void **state)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	size_t wrong[THREADS] = {0};

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_vectors, &wrong[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
}

/* --- The tables -------------------------------------------------------------------------------------------------- */

static void the_tables_in_the_binary_are_whole(void **state)
{
	struct tables_view view;

	(void)state;
	assert_true(tables_check(tables_embedded()));
	assert_true(tables_checksum_ok(tables_embedded()));
	assert_true(tables_view(tables_embedded(), STR("cl100k_base"), &view));
	assert_false(tables_view(tables_embedded(), STR("gpt2"), &view));
}

static void tables_with_a_broken_header_are_refused(void **state)
{
	struct str file = tables_embedded();
	char *copy = aligned_alloc(64, (file.n + 63) / 64 * 64);
	size_t head = sizeof(struct tables_header) + 2 * sizeof(struct tables_encoding);

	(void)state;
	memcpy(copy, file.p, file.n);
	assert_true(tables_check((struct str){copy, file.n}));
	assert_false(tables_check((struct str){copy, file.n - 1}));
	assert_false(tables_check((struct str){copy, 10}));
	assert_false(tables_check((struct str){copy, 0}));
	for (size_t i = 0; i < head; i += 4) {
		bool counts = i < sizeof(struct tables_header) ? (i < 16 || (i >= 20 && i < 40)) :
			(i % 64 >= 16 && i % 64 < 56);

		memset(copy + i, 0xff, 4);
		if (counts)
			assert_false(tables_check((struct str){copy, file.n}));
		memcpy(copy + i, file.p + i, 4);
	}
	copy[file.n - 1] ^= 1;
	assert_false(tables_checksum_ok((struct str){copy, file.n}));
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokenizers_are_found_by_their_names_only),
		cmocka_unit_test(only_the_estimate_says_that_it_is_one),
		cmocka_unit_test(the_estimate_is_a_quarter_for_ascii_and_one_for_the_rest),
		cmocka_unit_test(tokens_are_those_of_the_reference),
		cmocka_unit_test(an_empty_text_has_no_tokens),
		cmocka_unit_test(encode_writes_no_more_than_it_may),
		cmocka_unit_test(ill_formed_bytes_count_as_the_replacement_character),
		cmocka_unit_test(every_byte_alone_has_tokens),
		cmocka_unit_test(o200k_cuts_where_its_pattern_does),
		cmocka_unit_test(cl100k_cuts_where_its_pattern_does),
		cmocka_unit_test(encoding_is_what_merging_one_by_one_gives),
		cmocka_unit_test(a_prefix_is_the_longest_that_fits),
		cmocka_unit_test(a_prefix_of_one_long_run_fits_and_is_nearly_the_longest),
		cmocka_unit_test(time_grows_with_the_length_of_hostile_text),
		cmocka_unit_test(a_megabyte_of_one_thing_has_the_tokens_it_must_have),
		cmocka_unit_test(threads_count_at_the_same_time),
		cmocka_unit_test(the_tables_in_the_binary_are_whole),
		cmocka_unit_test(tables_with_a_broken_header_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
