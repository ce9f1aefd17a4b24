/* Every rule of the guard's tables with its examples; the forms that are known by their place, by languages and by
 * lines; and the time that hostile texts of 8 MB take. Keys of known forms are put together here, so that nobody's
 * scanner of source code takes them for lost ones. */
#include "base/buf.h"
#include "base/mem.h"
#include "core/guard/credentials_internal.h"
#include "core/guard/credentials_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct rule {
	const char *prefix;
	size_t stop, min, max;
	bool weak;
	const char *kind, *finds, *spares;
};

#define RULE(prefix, stop, body, min, max, weak, kind, finds, spares) \
	{prefix, stop, min, max, weak, kind, finds, spares},

static const struct rule UNDERSCORE[] = {CREDENTIALS_RULES_UNDERSCORE(RULE)};
static const struct rule DASH[] = {CREDENTIALS_RULES_DASH(RULE)};
static const struct rule DOT[] = {CREDENTIALS_RULES_DOT(RULE)};

static void check_rule(const struct rule *r, char joint)
{
	static const char *const around[][2] = {{"", ""}, {"use ", " now"}, {"\"", "\","}, {"key=", "\n"}, {"(", ")"},
						{"see\\n", "\\n"}, {"- ", ".\n"}};
	char text[2048];
	struct credential hit;

	assert_int_equal(r->prefix[r->stop], joint);
	assert_int_equal(strcspn(r->prefix, "_-."), r->stop);
	assert_in_range(strlen(r->finds), r->min, r->max);
	for (size_t k = 0; k < COUNT(around); k++) {
		snprintf(text, sizeof(text), "%s%s%s%s", around[k][0], r->prefix, r->finds, around[k][1]);
		if (credentials_scan(str_of(text), &hit, 1) != 1 || strcmp(hit.kind, r->kind) != 0 ||
		    hit.at != strlen(around[k][0]) || hit.len != strlen(r->prefix) + strlen(r->finds))
			fail_msg("not found: %s", text);
		snprintf(text, sizeof(text), "%s%s%s%s", around[k][0], r->prefix, r->spares, around[k][1]);
		if (credentials_scan(str_of(text), &hit, 1))
			fail_msg("not spared: %s", text);
	}
}

static void every_rule_finds_its_example_and_spares_the_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(UNDERSCORE); i++)
		check_rule(&UNDERSCORE[i], '_');
	for (size_t i = 0; i < COUNT(DASH); i++)
		check_rule(&DASH[i], '-');
	for (size_t i = 0; i < COUNT(DOT); i++)
		check_rule(&DOT[i], '.');
}

/* Behind a public half, as Dynatrace's and others' have one, more is drawn. */
static void no_rule_ends_before_the_token_does(void **state)
{
	static const char *const behind[] = {".LR8AY1YKCYVERI7PZFR3BZ1O1NG7", "_k3Lq9ZtR2vLxW0nKb7JpYcD4",
					     "-9f86d081884c7d65",
					     "$k3Lq9ZtR2vLxW0nKb7Jp"};
	const struct {
		const struct rule *table;
		size_t count;
	} tables[] = {{UNDERSCORE, COUNT(UNDERSCORE)}, {DASH, COUNT(DASH)}, {DOT, COUNT(DOT)}};
	char text[2048];
	struct credential hits[4];

	(void)state;
	for (size_t t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; i < tables[t].count; i++)
			for (size_t k = 0; k < COUNT(behind); k++) {
				const struct rule *r = &tables[t].table[i];
				size_t n = (size_t)snprintf(text, sizeof(text), "%s%s%s", r->prefix, r->finds,
							    behind[k]);
				size_t count = credentials_scan(str_of(text), hits, COUNT(hits));

				if (count && (hits[0].at || hits[0].len != n))
					fail_msg("%zu of %zu bytes of %s", hits[0].len, n, text);
			}
}

static void rules_are_in_the_order_that_they_are_found_by(void **state)
{
	const struct {
		const struct rule *table;
		size_t count;
	} tables[] = {{UNDERSCORE, COUNT(UNDERSCORE)}, {DASH, COUNT(DASH)}, {DOT, COUNT(DOT)}};

	(void)state;
	for (size_t t = 0; t < COUNT(tables); t++)
		for (size_t i = 1; i < tables[t].count; i++) {
			const struct rule *a = &tables[t].table[i - 1], *b = &tables[t].table[i];

			assert_true(a->prefix[a->stop - 1] <= b->prefix[b->stop - 1]);
			for (size_t k = 0; k < i; k++)	/* the longer of two that begin alike is first */
				assert_false(str_has_prefix(str_of(b->prefix), str_of(tables[t].table[k].prefix)));
		}
}

/* --- Places, lines and languages --- */

struct form {
	const char *kind, *before, *secret, *after;
};

#define AWS40 "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKq8Lm2Vt"
#define HEX32 "9f86d081884c7d659a2feaa0c55ad015"
#define SESSION "q8ZtR2vLxW0nKb7JpYcD4sHf"

static const struct form FOUND[] = {
	{"aws_secret_key", "The AWS secret access key is ", AWS40, ", and the id is known."},
	{"aws_secret_key", "The AWS secret access key is: ", AWS40, "\n"},
	{"api_key", "Note: the api key is ", "f3KqZ81LmXv0RtYw2BnC", "\n"},
	{"token", "our deploy token is `", "f3KqZ81LmXv0RtYw2BnC", "`."},
	{"databricks_token", "host and ", "dap" "i" HEX32, " for it"},
	{"databricks_token", "token: \"", "dap" "i" HEX32 "-2", "\""},
	{"atlassian_token", "Jira with ",
	 "ATA" "TT3xFfGF0qLm8Zt2VbN4wXyR7KpDcJhS6GfQeUiOaTnBvCxZlKjHgFdSaPoIuYtReWq=1A2B3C4D",
	 "\n"},
	{"cookie", "Cookie: lang=en; session_id=", SESSION, "; theme=dark\n"},
	{"cookie", "Set-Cookie: sid=", SESSION, "; Path=/; HttpOnly\n"},
	{"cookie", "-H 'Cookie: a=", SESSION "; b=" SESSION "x", "'"},
	{"pgpass", "db.example.org:5432:orders:app:", "Tr0ub4dor", "\n"},
	{"pgpass", "*:*:*:replicator:", "s3cretWord9", ""},
	{"htpasswd", "admin:", "$apr" "1$x8Kq2LmZ$Vb0nRtYw7JpXcD4sHf1Kq/", "\n"},
	{"htpasswd", "users:\n  bob:", "$2" "y$05$abcdefghijklmnopqrstuuQ7Z8x9C0vB1nM2aS3dF4gH5jK6lO7p", "\n"},
	{"htpasswd", "alice:", "{SH" "A}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "\n"},
	{"password", "variable \"db_password\" {\n  type    = string\n  default = \"", "Winter2031x", "\"\n}\n"},
	{"password", "| user | password |\n| --- | --- |\n| root | ", "hunter2xy", " |\n"},
	{"password", "user | password\n-----|-----\nroot | ", "hunter2xy", "\n"},
	{"password", " name | password \n------+----------\n root | ", "hunter2xy", "\n"},
	{"token", "| Dienst | Token | Ort |\n|:--|:--:|--:|\n| a | `", "f3KqZ81LmXv0RtYw2BnC", "` | x |\n"},
	{"password", "password:\n  ", "hunter2xy", "\n"},
	{"password", "Password:\n\n", "hunter2xy", "\n\nThen go on."},
	{"password", "password: >-\n  ", "hunter2xy", "\n"},
	{"password", "db_password: |\n    ", "hunter2xy", "\nuser: x\n"},
	{"password", "root pw: ", "hunter2xy", "\n"},
	{"password", "pw: ", "hunter2xy", "\n"},
	{"password", "Passwort: ", "hunter2xy", "\n"},
	{"password", "Kennwort: ", "hunter2xy", "\n"},
	{"password", "mot de passe : ", "hunter2xy", "\n"},
	{"password", "Contrase\u00f1a: ", "hunter2xy", "\n"},
	{"password", "senha: ", "hunter2xy", "\n"},
	{"password", "db_senha=", "hunter2xy", "\n"},
	{"password", "wachtwoord: ", "hunter2xy", "\n"},
	{"password", "has\u0142o: ", "hunter2xy", "\n"},
	{"password", "пароль: ", "hunter2xy", "\n"},
	{"password", "Пароль = \"", "hunter2xy", "\"\n"},
	{"password", "密码：", "hunter2xy", "\n"},
	{"password", "密码: ", "hunter2xy", "\n"},
	{"password", "パスワード：", "hunter2xy", "\n"},
	{"password", "비밀번호: ", "hunter2xy", "\n"},
	{"password", "كلمة المرور: ", "hunter2xy", "\n"},
	{"password", "סיסמה: ", "hunter2xy", "\n"},
	{"password", "m\u1eadt kh\u1ea9u: ", "hunter2xy", "\n"},
	{"dynatrace_token", "For the deploy we use ",
	 "dt0" "c01.AVV55FS0NT448KVOC47TIK3J.LR8AY1YKCYVERI7PZFR3BZ1O1NG7HLFIF3DRNMF6QO3NPIA9UHUMMBONXLLPTHZP",
	 " and it works."},
	{"gcp_refresh_token", "For the deploy we use ", "1/"
	 "/0gpLIix6MEOLeMa61EqJomTEI1JEzO3joOj37HyVaQXekW9LctXb03rEMU64yT", " and it works."},
	{"azure_client_secret", "For the deploy we use ", "eWX8Q"
	 "~Y6BzUZKC97i4xgciFnq9RBXO2tAG1yKwIL", " and it works."},
	{"jfrog_key", "For the deploy we use ", "AK"
	 "CpALo5vR67b2rMQSkS3u9I5KKgTPnO1KrsheE2OEfwZeA5jbsBXA3hcMNWcyTLvJ47rGpct", " and it works."},
	{"jfrog_token", "For the deploy we use ", "cmVm"
	 "dGtuOjAxOjaegMIc8mAsNqjSc3vux9i53yyD3HyP3MRJgN8ZGrBOUTp7tBqH", " and it works."},
	{"nuget_key", "For the deploy we use ", "oy"
	 "2t9va0ubyidv3wwr5bdbxq3tulxluxqtygbit6orpul1", " and it works."},
	{"crates_token", "For the deploy we use ", "ci"
	 "oPSggMu8vR1oCZ29kfvVPn4KCroYhcH9m", " and it works."},
	{"wallet_key", "For the deploy we use ", "xp"
	 "rv9s21ZrQH143KMtvvdCxJNtui6tgPe9TKaswJWPhTKTdT3TAD1XvygZUcnF3pWvqjpaKbNyFx5weK8t"
	 "G33ztmZDzyzUd41Xp8BZLGj2abT4g8", " and it works."},
	{"wallet_key", "For the deploy we use ", "5"
	 "KN9HxbXts4PFD8byu8BGsJyt9u1YhdxS4qJGJgaaU4XMru1w4r", " and it works."},
	{"square_token", "For the deploy we use ", "EA"
	 "AAichdeEc2TfGGFukuewyPyLtxqmvBhiJaTUyYfKlcxDMPYIyOZcN4BdxOFWSu", " and it works."},
	{"mailchimp_key", "For the deploy we use ", ""
	 "dde07682d7d40ab83e3c3a30f47c123c-us12", " and it works."},
	{"azure_devops_token", "For the deploy we use ", ""
	 "l0bv12hb2hRE1S8sLtZfcXKGHTpgJVg7JdJu3Kl0eplPpDNSW8zqxMz8wJA9fyGp7A1V9kASKWLRAZDO7HRE", " and it works."},
	{"twitter_token", "For the deploy we use ", "AAAAAAAAAAAAAAAAAAAAA"
	 "jPz54jkgFVE6SH8CLU2lirWmjLGu7o2SI9XsQT2AM2LLr4ntbrEZymlKxpuE%3DX3jASESMnDL150PJb"
	 "EUe28zYU49cD6o5pPTXRe9n", " and it works."},
	{"aws_access_key", "keyid", "AK" "IAQ3EGMXW5XK2WVJQA", "andmore"},
	{"aws_access_key", "AWSKEY", "AK" "IAQ3EGMXW5XK2WVJQA", ""},
	{"github_token", "fix-", "gh" "p_u8jzPde0IgxLd6GncfBAepfJk29s", ""},
	{"spine_key", "Authorization header with ", "sp" "k_12_q8ZtR2vLxW0nKb7JpYcD4sHfE1gTa9MuOi3BkQw6NzX", " in it"},
};

static void the_forms_that_have_no_prefix_are_found(void **state)
{
	char text[1024];
	struct credential hits[4];

	(void)state;
	for (size_t i = 0; i < COUNT(FOUND); i++) {
		const struct form *f = &FOUND[i];
		size_t count;

		snprintf(text, sizeof(text), "%s%s%s", f->before, f->secret, f->after);
		count = credentials_scan(str_of(text), hits, COUNT(hits));
		if (count != 1 || strcmp(hits[0].kind, f->kind) != 0 || hits[0].at != strlen(f->before) ||
		    hits[0].len != strlen(f->secret))
			fail_msg("%zu (%s, %zu, %zu): %s", count, count ? hits[0].kind : "", count ? hits[0].at : 0,
				 count ? hits[0].len : 0, text);
	}
}

static const char *const SPARED[] = {
	"The access key is optional.", "the token is required for this call", "Its API key is documented below.",
	"Cookie: lang=en; theme=dark\n", "Set-Cookie: id=deleted; expires=Thu, 01 Jan 1970 00:00:00 GMT\n",
	"file.c:123:45:error:undeclared\n", "10:20:30:40:50", "2001:db8:85a3:1234:5678", "00:11:22:33:44:55",
	"localhost:5432:db:user:password\n",
	"x = {\"password_hash\": \"$2b$12$abcdefghijklmnopqrstuuQ7Z8x9C0vB1nM2aS3dF4gH5jK6lO7p\"}",
	"variable \"region\" {\n  default = \"eu-central-1\"\n}\n",
	"variable \"db_password\" {\n  sensitive = true\n}\nvariable \"size\" {\n  default = \"db.t3.medium2\"\n}\n",
	"| field | type |\n| --- | --- |\n| password | string |\n| token | text32 |\n",
	"| password | meaning |\n| --- | --- |\n| required | a word |\n",
	"a | token\nb | c\n\nd | f3KqZ81LmXv0RtYw2BnC\n",
	"if password:\n    return\n", "password:\n  secretKeyRef:\n    name: x1y2z3\n", "def f(token):\n    pass\n",
	"password: |\n  ${DB_PASSWORD}\n", "пароль: обязательно\n", "密码：不能为空\n", "mot de passe : obligatoire\n",
	"MZXW6YTBOJRGAKIAQ3EGMXW5XK2WVJQAMZXW6YTBOI======", "risk-assessment-of-the-quarterly-report-2024",
	"dapi_client_for_the_new_service", "cioaccumulatorforinternalstreamsof", "https://host//0/path/of/a/file",
	"9f86d081884c7d659a2feaa0c55ad015-usage", "oy2",
	"see s.addEventListenerForEvents2 there", "HTTP ATATT3 is a prefix",
};

static void what_only_looks_like_one_is_spared(void **state)
{
	struct credential hit;

	(void)state;
	for (size_t i = 0; i < COUNT(SPARED); i++)
		if (credentials_scan(str_of(SPARED[i]), &hit, 1))
			fail_msg("%s: [%.*s] in %s", hit.kind, (int)hit.len, SPARED[i] + hit.at, SPARED[i]);
}

static void every_row_of_a_table_counts(void **state)
{
	struct credential hits[700];
	struct buf text;

	(void)state;
	buf_init(&text, 1 << 20);
	buf_puts(&text, "| user | password | note |\n|---|---|---|\n");
	for (int i = 0; i < 600; i++)
		buf_printf(&text, "| u%d | hunter%dxy | n |\n", i, i);
	assert_int_equal(credentials_scan(buf_str(&text), hits, COUNT(hits)), 600);
	buf_release(&text);
}

/* --- Time --- */

static double seconds_of(struct str text)
{
	enum { HITS = 1 << 20 };
	struct credential *hits = mem_calloc(HITS, sizeof(*hits));
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	credentials_scan(text, hits, HITS);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	free(hits);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

static void eight_megabytes_take_eight_times_as_long_as_one(void **state)
{
	static const char *const units[] = {
		NULL, "password:", "password:\n", "password: |\n",
		"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0MTIzNDU2Nzg5", "\"'`",
		"| password ", "| password | x |\n|---|---|\n| a | b |\n", "Cookie: a=b; ",
		"Cookie:", "Cookie: a=b;", "a:1:b:c:",
		"a:*:", "u:$2y$", "variable \"password\" default = ", "default = ", "the secret key is ", "key is a ",
		"\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c: ", "\xe5\xaf\x86\xe7\xa0\x81\xef\xbc\x9a",
		"gh" "p_", "da" "pi", "ATA" "TT3",
		"AK" "IA", "spk" "_1_", "root pw: ", "|", "|\n", "-|-\n",
	};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	enum { LARGE = 1 << 20, SMALL = LARGE / 8 };	/* all of it is slower there */
#else
	enum { LARGE = 8 << 20, SMALL = LARGE / 8 };
#endif
	char *text = mem_alloc(LARGE);
	uint32_t seed = 1;
	double worst = 0;
	const char *worst_unit = "";

	(void)state;
	for (size_t k = 0; k < COUNT(units); k++) {
		double small, large;

		for (size_t i = 0; i < LARGE; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = units[k] ? units[k][i % strlen(units[k])] : (char)('a' + (seed >> 24) % 26);
		}
		small = seconds_of((struct str){text, SMALL});
		large = seconds_of((struct str){text, LARGE});
		if (large > worst) {
			worst = large;
			worst_unit = units[k] ? units[k] : "random letters";
		}
		/* A square would be 64 times as long. */
		if (large > 20 * small + 0.1)
			fail_msg("%s: %.0f ms for an eighth, %.0f ms for all", units[k] ? units[k] : "random letters",
				 small * 1e3, large * 1e3);
	}
	print_message("worst: %.2f s for %d MiB of '%s'\n", worst, LARGE >> 20, worst_unit);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_finds_its_example_and_spares_the_other),
		cmocka_unit_test(no_rule_ends_before_the_token_does),
		cmocka_unit_test(rules_are_in_the_order_that_they_are_found_by),
		cmocka_unit_test(the_forms_that_have_no_prefix_are_found),
		cmocka_unit_test(what_only_looks_like_one_is_spared),
		cmocka_unit_test(every_row_of_a_table_counts),
		cmocka_unit_test(eight_megabytes_take_eight_times_as_long_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
