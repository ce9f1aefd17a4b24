/* How often the guard cries wolf, on one sort of text after another, and how many planted credentials it finds.
 *
 * Run as it is, it reads the documents of this repository. With GUARD_CORPORA=1 it reads what the machine has, some
 * ten million words, and prints a line for each sort; with SHOW_HITS=1 also what it found. bench/guard runs it so. */
#include "base/buf.h"
#include "base/mem.h"
#include "core/guard/credentials_internal.h"
#include "core/guard/credentials_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { CORPUS_BYTES = 60 * 1000 * 1000, HITS_MAX = 8192 };

/* --- Ordinary text --- */

static const struct corpus {
	const char *name;
	const char *command;	/* prints it */
	bool is_short;		/* read in every run */
} CORPORA[] = {
	{"docs of this repository", "cat README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md "
				    "src/*/README.md 2>/dev/null", true},
	{"source of this repository", "find src sdk scripts dashboard/src -type f \\( -name '*.[ch]' -o -name '*.py' "
				      "-o -name '*.ts' -o -name '*.tsx' -o -name '*.mjs' \\) | xargs cat", false},
	{"/usr/share/doc", "find /usr/share/doc -type f \\( -iname '*.txt*' -o -iname 'README*' -o -iname '*.md*' -o "
			   "-iname '*.html' -o -name 'copyright' -o -name 'changelog*' -o -name 'NEWS*' \\) "
			   "-size -2000k | sort | xargs zcat -f 2>/dev/null | tr -d '\\000'", false},
	{"manual pages", "find /usr/share/man -name '*.[0-9]*' -type f | sort | xargs zcat -f 2>/dev/null", false},
	{"Python's library", "find /usr/lib/python3.11 /usr/lib/python3.13 -name '*.py' 2>/dev/null | sort | xargs cat",
	 false},
	{"C headers", "find /usr/include -name '*.h' | sort | xargs cat", false},
	{"conversations", "cat ${GUARD_CONVERSATIONS:-/dev/null}", false},
};

static size_t words_of(struct str text)
{
	size_t words = 0;
	bool inside = false;

	for (size_t i = 0; i < text.n; i++) {
		bool blank = credentials_is(text.p[i], CH_SPACE);

		words += !blank && !inside;
		inside = !blank;
	}
	return words;
}

static void gather(const char *command, struct buf *ret)
{
	FILE *f = popen(command, "r");
	size_t n;

	assert_non_null(f);
	do {
		char *room = buf_reserve(ret, 65536);

		n = fread(room, 1, 65536, f);
		buf_commit(ret, n);
	} while (n && ret->len + 65536 < CORPUS_BYTES);
	pclose(f);
}

static void show(struct str text, const struct credential *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t from = hits[i].at > 50 ? hits[i].at - 50 : 0;

		print_message("  %s: %.*s[[%.*s]]\n", hits[i].kind, (int)(hits[i].at - from), text.p + from,
			      (int)(hits[i].len > 80 ? 80 : hits[i].len), text.p + hits[i].at);
	}
}

static void fewer_than_1_in_10000_words_of_each_sort_of_text_are_hits(void **state)
{
	struct credential *hits = mem_calloc(HITS_MAX, sizeof(*hits));
	size_t all_words = 0, all_hits = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(CORPORA); i++) {
		struct buf text;
		size_t words, count;

		if (!CORPORA[i].is_short && !getenv("GUARD_CORPORA"))
			continue;
		buf_init(&text, CORPUS_BYTES + 65536);
		gather(CORPORA[i].command, &text);
		words = words_of(buf_str(&text));
		count = credentials_scan(buf_str(&text), hits, HITS_MAX);
		print_message("%-26s %9zu words %5zu hits, %.3f in 10,000\n", CORPORA[i].name, words, count,
			      words ? 1e4 * (double)count / (double)words : 0);
		if (getenv("SHOW_HITS"))
			show(buf_str(&text), hits, count);
		if (words > 20000)
			assert_true(count * 10000 < words);
		all_words += words;
		all_hits += count;
		buf_release(&text);
	}
	print_message("%-26s %9zu words %5zu hits\n", "all", all_words, all_hits);
	free(hits);
}

/* --- Planted credentials --- */

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ALNUM LOWER UPPER DIGITS

static uint32_t rng(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static void draw(char *out, size_t n, const char *alphabet, uint64_t *seed)
{
	size_t letters = strlen(alphabet);

	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[rng(seed) % letters];
	out[n] = '\0';
}

/* A word that a person would choose, with digits behind it and perhaps a sign. */
static void choose(char *out, uint64_t *seed)
{
	static const char *const words[] = {"winter", "Dragon", "coffee", "Bayern", "sunflower", "Falcon", "maple",
					    "Quantum", "harbour", "pepper"};
	static const char *const ends[] = {"", "!", "#", "x", "$", "_a"};

	sprintf(out, "%s%u%s", words[rng(seed) % COUNT(words)], 10 + rng(seed) % 9990, ends[rng(seed) % COUNT(ends)]);
}

static const char *const SURROUNDINGS[][2] = {
	{"Deployment notes, Tuesday\n\n"
	 "The rollout of the gateway stopped at step 3.\n", "\nAsk Petra before you go on.\n"},
	{"def connect():\n    # staging\n    ", "\n    return client\n"},
	{"2024-05-03 10:11:12 INFO retry 3 of 5, host db-7\n", "\n2024-05-03 10:11:13 WARN slow query (35 ms)\n"},
	{"services:\n  web:\n    image: nginx:1.25\n", "\n    ports: [8080]\n"},
	{"- [x] read ms-4821\n- [ ] rotate\n\n", "\n\n> and thanks for the quick answer\n"},
};

/* %s is drawn or chosen: p a person's password, r a random key of 32, a AWS's of 40, h 32 hexadecimal digits. */
static const struct place {
	char sort;
	const char *text;
} PLACES[] = {
	{'a', "the AWS secret access key is %s"}, {'a', "aws_secret_access_key = %s"}, {'a', "secret access key: %s"},
	{'r', "the api key is %s"}, {'r', "API_KEY=%s"}, {'r', "\"apiKey\": \"%s\","}, {'r', "x-api-key: %s"},
	{'r', "Authorization: Bearer %s"}, {'r', "Authorization: Token %s"}, {'r', "client_secret = '%s'"},
	{'r', "export AUTH_TOKEN=%s"}, {'r', "--token %s --verbose"}, {'r', "Cookie: lang=de; session=%s; theme=dark"},
	{'r', "Set-Cookie: sid=%s; Path=/; HttpOnly"}, {'r', "| service | token |\n|---|---|\n| pay | %s |"},
	{'r', "<secret>%s</secret>"}, {'r', "?access_token=%s&page=2"}, {'r', "webhookSecret: \"%s\""},
	{'h', "DATABRICKS_TOKEN=dap" "i%s"}, {'h', "api_key: %s"}, {'h', "secret=%s;"},
	{'p', "password: %s"}, {'p', "password = \"%s\""}, {'p', "DB_PASSWORD=%s"}, {'p', "password:\n  %s"},
	{'p', "password: >-\n  %s"}, {'p', "password: |\n  %s"}, {'p', "root pw: %s"}, {'p', "Passwort: %s"},
	{'p', "mot de passe : %s"}, {'p', "contrase\u00f1a: %s"}, {'p', "senha: %s"}, {'p', "пароль: %s"},
	{'p', "密码：%s"}, {'p', "パスワード: %s"}, {'p', "비밀번호: %s"}, {'p', "wachtwoord: %s"},
	{'p', "db.internal:5432:orders:app:%s"}, {'p', "postgres://app:%s@db/orders"},
	{'p', "curl -u admin:%s https://h/"},
	{'p', "variable \"admin_password\" {\n  default = \"%s\"\n}"}, {'p', "mysql -u root -p%s orders"},
	{'p', "| user | password |\n| --- | --- |\n| root | %s |"}, {'p', "<password>%s</password>"},
	{'p', "IDENTIFIED BY '%s'"}, {'p', "sshpass -p %s ssh root@h"}, {'p', "machine h login me password %s"},
	{'p', "{\"user\": \"root\", \"password\": \"%s\"}"}, {'p', "PGPASSWORD=%s psql"},
	/* Sentences. */
	{'p', "the password is %s"}, {'p', "The root password was %s."}, {'p', "my password = %s"},
	{'p', "root pw is %s"}, {'p', "the password for db7 is now %s, ask Petra"}, {'p', "password changed to %s"},
	{'p', "note: password: %s"}, {'p', "use password %s for it"}, {'p', "Password -> %s"},
	{'p', "user/pass: root / %s"}, {'p', "creds: admin:%s"},
	{'p', "- the **password** is `%s`"}, {'a', "our AWS secret access key was %s"}, {'r', "the api key was %s"},
	{'r', "our token for staging has been changed to %s."}, {'p', "%s is the root password"},
};

static bool finds(const char *secret, const char *text, uint64_t *seed)
{
	const char *const *around = SURROUNDINGS[rng(seed) % COUNT(SURROUNDINGS)];
	struct credential hits[8];
	char whole[2048];
	size_t count, at;

	snprintf(whole, sizeof(whole), "%s%s%s", around[0], text, around[1]);
	at = (size_t)(strstr(whole, secret) - whole);
	count = credentials_scan(str_of(whole), hits, COUNT(hits));
	for (size_t i = 0; i < count; i++)
		if (hits[i].at <= at && hits[i].at + hits[i].len >= at + strlen(secret))
			return true;
	if (getenv("SHOW_HITS"))
		print_message("missed %s\n", whole);
	return false;
}

static size_t plant_places(uint64_t *seed, size_t *ret_all)
{
	size_t found = 0;

	for (size_t i = 0; i < COUNT(PLACES); i++)
		for (int k = 0; k < 10; k++) {
			char secret[128], text[512];
			const char *hole = strstr(PLACES[i].text, "%s");

			switch (PLACES[i].sort) {
			case 'a': draw(secret, 40, ALNUM "/+", seed); break;
			case 'r': draw(secret, 32, ALNUM, seed); break;
			case 'h': draw(secret, 32, DIGITS "abcdef", seed); break;
			default: choose(secret, seed); break;
			}
			snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - PLACES[i].text), PLACES[i].text,
				 secret, hole + 2);
			found += finds(secret, text, seed);
			++*ret_all;
		}
	return found;
}

#define PREFIX(prefix, stop, body, min, max, weak, kind, finds, spares) {prefix, finds},

static size_t plant_tokens(uint64_t *seed, size_t *ret_all)
{
	static const char *const rules[][2] = {CREDENTIALS_RULES_UNDERSCORE(PREFIX) CREDENTIALS_RULES_DASH(PREFIX)
					       CREDENTIALS_RULES_DOT(PREFIX)};
	static const char *const places[] = {"use %s for it", "TOKEN=%s", "\"value\": \"%s\"", "see `%s`."};
	size_t found = 0;

	for (size_t i = 0; i < COUNT(rules); i++)
		for (int k = 0; k < 3; k++) {
			char secret[1200], text[1300];
			const char *place = places[rng(seed) % COUNT(places)], *hole = strstr(place, "%s");
			size_t n = (size_t)sprintf(secret, "%s%s", rules[i][0], rules[i][1]);

			/* Another body of the same shape: letters for letters, digits for digits. */
			for (size_t c = strlen(rules[i][0]); c < n; c++)
				if (secret[c] >= 'g' && secret[c] <= 'z')
					secret[c] = (char)('g' + rng(seed) % 20);
				else if (secret[c] >= 'A' && secret[c] <= 'Z')
					secret[c] = (char)('A' + rng(seed) % 26);
				else if (secret[c] >= '0' && secret[c] <= '9')
					secret[c] = (char)('0' + rng(seed) % 10);
			snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - place), place, secret, hole + 2);
			found += finds(secret, text, seed);
			++*ret_all;
		}
	return found;
}

static void of_planted_credentials_97_in_100_are_found(void **state)
{
	uint64_t seed = 20261118;
	size_t all = 0, tokens = 0, found = plant_places(&seed, &all), of_tokens = plant_tokens(&seed, &tokens);

	(void)state;
	print_message("planted: %zu of %zu by their place, %zu of %zu by their form\n", found, all, of_tokens, tokens);
	assert_true(all >= 300 && found * 100 >= all * 97 && of_tokens * 100 >= tokens * 97);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_than_1_in_10000_words_of_each_sort_of_text_are_hits),
		cmocka_unit_test(of_planted_credentials_97_in_100_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
