/* How often the scanner for credentials errs, and how long it takes: over random credentials in random places, hostile
 * texts, and the code and prose that a machine which builds this has. With SHOW_HITS in the environment it prints what
 * it found in ordinary text, and what it missed of random credentials. */
#include "base/buf.h"
#include "base/mem.h"
#include "core/guard/credentials.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { HITS_MAX = 4096 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX32 "9f86d081884c7d659a2feaa0c55ad015"
#define HEX64 HEX32 "a3bf4f1b2b0b822cd15d6c15b0f00a08"

/* --- Random credentials -------------------------------------------------------------------------- */

static uint64_t rng_next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t rng_below(uint64_t *seed, size_t n)
{
	return (size_t)(rng_next(seed) % n);
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ALNUM LOWER UPPER DIGITS

struct generator {
	const char *kind;
	const char *prefix;
	const char *alphabet;
	size_t min, max;
	const char *suffix;
	const char *const *places;	/* with %s for the value; NULL: anywhere */
};

static const char *const ANYWHERE[] = {"\"%s\"", "'%s'", "`%s`", "=%s\n", ": %s\n", " %s ", "(%s)", "\\n%s\\n",
				       "\\\"%s\\\"", ">%s<", "token=%s&x=1",
				       "api_key = \"%s\"", "the key %s, then", "KEY=%s\n", "\t%s\r\n", "[%s]",
				       "{\"k\":\"%s\"}", NULL};
static const char *const TWILIO[] = {"twilio: %s\n", "client = Twilio(\"%s\")", "TWILIO_API_KEY=%s\n", NULL};
static const char *const URLS[] = {"postgres://app:%s@db:5432/x", "\"redis://:%s@h\"",
				   "https://bob:%s@example.com/a?b=c ", "<amqp://q:%s@mq>", NULL};
static const char *const BEARERS[] = {"Authorization: Bearer %s\n", "-H \"Authorization: Bearer %s\"",
				      "'authorization': 'bearer %s'", NULL};
static const char *const AZURE[] = {"AccountName=x;AccountKey=%s;EndpointSuffix=y", "\"accountKey\": \"%s\"",
				    "AZURE_STORAGE_ACCOUNT_KEY=%s\n", NULL};
static const char *const AWS[] = {"aws_secret_access_key = %s\n", "AWS_SECRET_ACCESS_KEY=%s\n",
				  "\"secretAccessKey\": \"%s\"",
				  "secret_access_key: '%s'", "--aws-secret-access-key %s ", NULL};
static const char *const SLACK[] = {"https://hooks.slack.com/services/%s\n", "\"https://hooks.slack.com/services/%s\"",
				    NULL};
static const char *const SECRETS[] = {"client_secret = \"%s\"", "\"app_secret\": \"%s\"", "JWT_SECRET=%s\n",
				      "secret: %s\n", "--client-secret %s ",
				      "x?secret=%s&y=1", "webhookSecret: '%s',", "<secret>%s</secret>",
				      "secret := `%s`", "\\\"secret\\\":\\\"%s\\\"",
				      "config['secret'] = '%s'", "secret: str = \"%s\"",
				      "setSecret(\"secret\", \"%s\")", "- name: APP_SECRET\n  value: %s\n", NULL};
static const char *const TOKENS[] = {"token = \"%s\"", "\"access_token\": \"%s\"", "AUTH_TOKEN=%s\n",
				     "export TOKEN=%s\n", "refreshToken: '%s',",
				     "X-Auth-Token: %s\n", "--token=%s ", "token=%s;", "if token == '%s':",
				     "#define AUTH_TOKEN \"%s\"", "token: `%s`", NULL};
static const char *const API_KEYS[] = {"api_key = \"%s\"", "\"apiKey\": \"%s\"", "SOME_API_KEY=%s\n", "x-api-key: %s\n",
				       "api-key: %s\n", "apikey=%s&q=1",
				       "API key: %s\n", "-H 'X-API-Key: %s'", "| API key | %s |", NULL};
static const char *const PASSWORDS[] = {"password = \"%s\"", "'password': '%s'", "DB_PASSWORD=%s\n", "password: %s\n",
					"--password %s ", "<password>%s</password>",
					"Password=%s;Server=x", "PGPASSWORD=%s psql", "passwd => '%s'",
					"\"db_password\": \"%s\"", "password=\"%s\",",
					"- name: DB_PASSWORD\n  value: \"%s\"\n", NULL};

static const struct generator GENERATORS[] = {
	{"aws_access_key", "AK" "IA", UPPER "234567", 16, 16, "", ANYWHERE},
	{"aws_access_key", "AS" "IA", UPPER "234567", 16, 16, "", ANYWHERE},
	{"aws_secret_key", "", ALNUM "+/", 40, 40, "", AWS},
	{"gcp_api_key", "AI" "zaSy", ALNUM "_-", 33, 33, "", ANYWHERE},
	{"azure_key", "", ALNUM "+/", 86, 86, "==", AZURE},
	{"github_token", "gh" "p_", ALNUM, 36, 36, "", ANYWHERE},
	{"github_token", "gh" "o_", ALNUM, 36, 36, "", ANYWHERE},
	{"github_token", "gh" "u_", ALNUM, 36, 36, "", ANYWHERE},
	{"github_token", "gh" "s_", ALNUM, 36, 36, "", ANYWHERE},
	{"github_token", "gh" "r_", ALNUM, 36, 36, "", ANYWHERE},
	{"github_token", "github" "_pat_", ALNUM "_", 82, 82, "", ANYWHERE},
	{"gitlab_token", "gl" "pat-", ALNUM "_-", 20, 20, "", ANYWHERE},
	{"slack_token", "xo" "xb-", DIGITS, 12, 12, "-2398742398742-aZ3kQ9xLmP2vTbYcWdRs8JuN", ANYWHERE},
	{"slack_token", "xo" "xp-", DIGITS "abcdef-", 40, 60, "7", ANYWHERE},
	{"slack_webhook", "T0DCUJB1Q/B0DD08H5G/", ALNUM, 24, 24, "", SLACK},
	{"stripe_key", "sk" "_live_", ALNUM, 24, 24, "", ANYWHERE},
	{"stripe_key", "rk" "_live_", ALNUM, 24, 99, "", ANYWHERE},
	{"stripe_key", "sk" "_test_", ALNUM, 24, 24, "", ANYWHERE},
	{"openai_key", "sk" "-", ALNUM, 48, 48, "", ANYWHERE},
	{"openai_key", "sk" "-proj-", ALNUM "_-", 100, 156, "A", ANYWHERE},
	{"anthropic_key", "sk" "-ant-api03-", ALNUM "_-", 93, 93, "AA", ANYWHERE},
	{"npm_token", "np" "m_", ALNUM, 36, 36, "", ANYWHERE},
	{"pypi_token", "py" "pi-AgEIcHlwaS5vcmc", ALNUM "_-", 70, 170, "A", ANYWHERE},
	{"twilio_key", "SK", DIGITS "abcdef", 32, 32, "", TWILIO},
	{"twilio_key", "AC", DIGITS "abcdef", 32, 32, "", TWILIO},
	{"sendgrid_key", "SG" ".", ALNUM "_-", 22, 22, ".TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", ANYWHERE},
	{"huggingface_token", "h" "f_", LOWER UPPER, 34, 34, "", ANYWHERE},
	{"digitalocean_token", "do" "p_v1_", DIGITS "abcdef", 64, 64, "", ANYWHERE},
	{"jwt", "ey" "JhbGciOiJIUzI1NiJ9.ey" "JzdWIiOi", ALNUM "_-", 30, 200,
	 ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", ANYWHERE},
	{"telegram_token", "110201543:AA", ALNUM "_-", 33, 33, "", ANYWHERE},
	{"url_password", "", ALNUM "!$-_.+*", 8, 24, "", URLS},
	{"bearer_token", "", ALNUM "-._", 24, 64, "x", BEARERS},
	{"bearer_token", "", DIGITS "abcdef", 32, 64, "", BEARERS},
	{"secret", "", ALNUM, 20, 64, "", SECRETS},
	{"secret", "", DIGITS "abcdef", 32, 64, "", SECRETS},
	{"secret", "", ALNUM "+/", 43, 43, "=", SECRETS},
	{"token", "", ALNUM, 20, 64, "", TOKENS},
	{"token", "", DIGITS "abcdef", 32, 40, "", TOKENS},
	{"api_key", "", ALNUM, 20, 48, "", API_KEYS},
	{"api_key", "", DIGITS LOWER, 20, 40, "", API_KEYS},
	{"password", "", ALNUM "!@#$%^*+-_", 10, 24, "", PASSWORDS},
	{"password", "Summer", DIGITS, 4, 4, "!", PASSWORDS},
	{"password", "dragon", DIGITS, 3, 6, "", PASSWORDS},
};

static const char *const SURROUNDINGS[] = {
	"", "\n", "int main(void)\n{\n\treturn 0;\n}\n", "The quick brown fox; see ms-4821.\n",
	"{\"status\": \"ok\", \"count\": 3}\n",
	"# Notes\n\n- first\n- second\n\n", "2024-01-15 10:00:00 INFO started in 35 ms\n",
	"commit 3f786850e387550fdab836ed7e6dc881de23001b\n",
	"caf\xc3\xa9 \xe2\x80\x94 na\xc3\xafve\n", "for item in items:\n    token = lexer.next()\n",
	"image: app@sha256:" HEX64 "\n",
};

static void draw(const struct generator *g, uint64_t *seed, char *ret_value)
{
	size_t n = g->min + rng_below(seed, g->max - g->min + 1), at = strlen(g->prefix);

	memcpy(ret_value, g->prefix, at);
	for (size_t i = 0; i < n; i++)
		ret_value[at++] = g->alphabet[rng_below(seed, strlen(g->alphabet))];
	strcpy(ret_value + at, g->suffix);
}

/* One credential in one place among other text: found, whole and alone? */
static bool finds_drawn(const struct generator *g, uint64_t *seed, bool report)
{
	size_t places = 0, at, count;
	char value[512], place[1024], text[4096];
	struct credential hits[8];
	const char *before = SURROUNDINGS[rng_below(seed, COUNT(SURROUNDINGS))], *after = SURROUNDINGS[rng_below(seed,
		COUNT(SURROUNDINGS))];
	const char *pattern, *hole;

	while (g->places[places])
		places++;
	pattern = g->places[rng_below(seed, places)];
	hole = strstr(pattern, "%s");
	draw(g, seed, value);
	snprintf(place, sizeof(place), "%.*s%s%s", (int)(hole - pattern), pattern, value, hole + 2);
	snprintf(text, sizeof(text), "%s%s%s", before, place, after);
	at = strlen(before) + (size_t)(hole - pattern);
	count = credentials_scan(str_of(text), hits, COUNT(hits));
	if (count == 1 && hits[0].at == at && hits[0].len == strlen(value))
		return true;
	if (report)
		print_message("missed %s in: %s\n", g->kind, place);
	return false;
}

static void of_random_credentials_of_each_kind_99_in_100_are_found(void **state)
{
	uint64_t seed = 2024;
	enum { ROUNDS = 1000 };
	size_t all = 0;

	(void)state;
	for (size_t k = 0; k < COUNT(GENERATORS); k++) {
		size_t found = 0;

		for (size_t i = 0; i < ROUNDS; i++)
			found += finds_drawn(&GENERATORS[k], &seed, getenv("SHOW_HITS") != NULL);
		if (found * 100 < ROUNDS * 99)
			fail_msg("%s %s…: %zu of %d", GENERATORS[k].kind, GENERATORS[k].prefix, found, ROUNDS);
		all += found;
	}
	print_message("true positives: %.3f %% of %zu, found whole\n",
		      100.0 * (double)all / (double)(ROUNDS * COUNT(GENERATORS)),
		      ROUNDS * COUNT(GENERATORS));
}

/* --- Time ---------------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The best of three. */
static double scan_seconds(struct str text, struct credential *hits)
{
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		double start = cpu_seconds();

		credentials_scan(text, hits, HITS_MAX);
		start = cpu_seconds() - start;
		best = start < best ? start : best;
	}
	return best;
}

static void time_grows_with_the_length_on_hostile_text(void **state)
{
	static const char *const units[] = {
		"token=", "password=\"", "password:\\\"", "Password = a.b",
		"-----BEGIN PRIV" "ATE KEY-----\nMIIEpAIBAAKC\n", "-----BEGIN PRIV" "ATE KEY-----",
		"ey" "Jaaaaaaaaaaaa.ey" "J", "SG" ".", "gl" "pat-.", "sk" "-", "gh" "p_", "PuTTY-User-Key-File-2:",
		"a://b:c", "a://b:c@", "Bearer a", "Basic aaaa",
		" -p", "mysql -p", "curl -u a:", "--password ", "Authorization: ", "\"token\",", "| token ",
		"<token>",
		"#define TOKEN ", "value=",
		"name=token value=", "AK" "IA", "LS0tLS1CRUdJTi", "LS0tLS1CRUdJTi/", "12345678:AA", "secret(\"a",
		"password: \\\"\\\\\\\"", "password is ", "twilio SK" HEX32 "0",
		"\\", "\"", "-", "=", ":", "token: ${", "whsec" "_+",
		"api key: ", "x: y = '",
		/* What signs, columns, commands, calls and objects add. */
		"password=(((", "password: ,;|", "password: \u00fc", "password='a'", "\"password\": \"(",
		"user,password\n",
		"user;password\na;b;c\n", "user  password\n", "a,b,password,", "docker login -p ",
		"echo a | sudo -S ",
		"curl -b a=b; ", " -P ", "f('a', 'b', ", "f(a, \"", "VALUES ('a', 'b', ", "'a','b',", "a:b@", "1//0",
		"AAAA", "Q~",
		"cio", "Password:\n```\n", "### Password\n", "<td>Password</td>", "{\"value\": \"", "value = {",
		"\"d\":",
		"{\"kty\", \"d\":\"", "cookies {'sid': '", "\tsession\t", "mnemonic: abc abc ", "clave de x y z: ",
		"\u043f\u0430\u0440\u043e\u043b\u044c x: ", "password? A: ", "pw (a/", "-us1", "&sig=",
		"dt0" "c01.A.A",
	};
	enum { SMALL = 64 * 1024, LARGE = 8 * SMALL };
	struct credential *hits = mem_calloc(HITS_MAX, sizeof(*hits));
	char *text = mem_alloc(LARGE);
	double worst = 0;
	const char *worst_unit = "";

	(void)state;
	for (size_t k = 0; k < COUNT(units); k++) {
		size_t n = strlen(units[k]);
		double small, large;

		for (size_t i = 0; i < LARGE; i++)
			text[i] = units[k][i % n];
		small = scan_seconds((struct str){text, SMALL}, hits);
		large = scan_seconds((struct str){text, LARGE}, hits);
		if (large > worst) {
			worst = large;
			worst_unit = units[k];
		}
		/* 8 times the text. A square would be 64 times the time. */
		if (large > 24 * small + 0.02)
			fail_msg("%s: %.1f ms for 64 KiB, %.1f ms for 512 KiB", units[k], small * 1e3, large * 1e3);
	}
	print_message("worst of the hostile texts: %.1f ms for 512 KiB of '%s'\n", worst * 1e3, worst_unit);
	free(text);
	free(hits);
}

/* --- Ordinary code and prose --------------------------------------------------------------------- */

enum { CORPUS_BYTES = 80 * 1000 * 1000, CORPUS_FILE_BYTES = 1000 * 1000 };

/* nftw has no argument for its callback. */
static struct buf corpus;

static bool is_text_file(const char *path)
{
	static const char *const ends[] = {".h", ".c", ".cc", ".hpp", ".py", ".md", ".txt", ".rst", ".js", ".mjs",
					   ".ts", ".json", ".yml", ".yaml", ".toml", ".pm",
					   ".pod", ".sh", ".html", ".css"};

	if (strstr(path, "/common-licenses/") || strstr(path, "/c++/"))
		return true;
	for (size_t i = 0; i < COUNT(ends); i++)
		if (str_has_suffix(str_of(path), str_of(ends[i])))
			return true;
	return false;
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	FILE *f;
	char *room;

	(void)ftw;
	/* The tests of this are full of them. */
	if (type != FTW_F || st->st_size > CORPUS_FILE_BYTES || !is_text_file(path) || strstr(path, "test_credentials"))
		return 0;
	if (corpus.len + (size_t)st->st_size + 1 > corpus.max)
		return 1;
	f = fopen(path, "rb");
	if (!f)
		return 0;
	room = buf_reserve(&corpus, (size_t)st->st_size);
	buf_commit(&corpus, fread(room, 1, (size_t)st->st_size, f));
	buf_putc(&corpus, '\n');
	fclose(f);
	return 0;
}

static size_t words_of(struct str text)
{
	size_t words = 0;
	bool inside = false;

	for (size_t i = 0; i < text.n; i++) {
		bool blank = text.p[i] == ' ' || text.p[i] == '\n' || text.p[i] == '\t' || text.p[i] == '\r';

		words += !blank && !inside;
		inside = !blank;
	}
	return words;
}

static int gather(void **state)
{
	static const char *const roots[] = {"src", "docs", "sdk", "tests", "scripts", "/usr/share/common-licenses",
					    "/usr/lib/python3/dist-packages",
					    "/usr/lib/python3.11", "tools/node_modules", "/usr/share/perl",
					    "/usr/share/perl5", "/usr/share/nodejs",
					    "/usr/share/doc", "/usr/lib/node_modules", "/usr/include"};

	(void)state;
	buf_init(&corpus, CORPUS_BYTES);
	for (size_t i = 0; i < COUNT(roots); i++)
		nftw(roots[i], add_file, 16, FTW_PHYS);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	buf_release(&corpus);
	return 0;
}

static void fewer_than_1_in_10000_words_of_ordinary_text_are_hits(void **state)
{
	struct credential *hits = mem_calloc(HITS_MAX, sizeof(*hits));
	struct str text = buf_str(&corpus);
	size_t words = words_of(text), count;

	(void)state;
	/* Of the machine's own files; one that has too few says nothing. */
	if (words < 1000000) {
		free(hits);
		skip();
	}
	count = credentials_scan(text, hits, HITS_MAX);
	print_message("ordinary text: %.1f million words, %zu hits, 1 in %.0f words\n", (double)words / 1e6, count,
		      (double)words / (double)(count ? count : 1));
	for (size_t i = 0; getenv("SHOW_HITS") && i < count; i++) {
		size_t from = hits[i].at > 60 ? hits[i].at - 60 : 0;

		print_message("%s: %.*s[%.*s]\n", hits[i].kind, (int)(hits[i].at - from), text.p + from,
			      (int)hits[i].len, text.p + hits[i].at);
	}
	assert_true(count < HITS_MAX && count * 10000 < words);
	free(hits);
}

static void ordinary_text_is_scanned_fast(void **state)
{
	struct credential *hits = mem_calloc(HITS_MAX, sizeof(*hits));
	struct str text = buf_str(&corpus);
	double rate;

	(void)state;
	if (text.n > 20 * 1000 * 1000)
		text.n = 20 * 1000 * 1000;
	rate = (double)text.n / 1e6 / scan_seconds(text, hits);
	print_message("ordinary text: %.0f MB/s\n", rate);
	free(hits);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* 115 to 180 on a machine of 2023, by what else it does: an envelope of 8 MB takes less than a tenth of a
	 * second. The rest is for slower ones. */
	if (text.n > 1000 * 1000)
		assert_true(rate > 50);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_random_credentials_of_each_kind_99_in_100_are_found),
		cmocka_unit_test(time_grows_with_the_length_on_hostile_text),
		cmocka_unit_test(fewer_than_1_in_10000_words_of_ordinary_text_are_hits),
		cmocka_unit_test(ordinary_text_is_scanned_fast),
	};

	return cmocka_run_group_tests(tests, gather, forget);
}
