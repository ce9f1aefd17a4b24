/* Passwords that have signs in them, such as a manager of passwords draws, and files with columns: the whole value is
 * found, and never a part of it. */
#include "core/guard/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS = 500, HITS_MAX = 16 };

static uint32_t rng(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* 16 to 20 bytes of all that ASCII can print, but for those that the form has for itself. */
static void draw(char *out, const char *without, uint64_t *seed)
{
	size_t n = 16 + rng(seed) % 5, i = 0;

	while (i < n) {
		char c = (char)('!' + rng(seed) % ('~' - '!' + 1));

		if (!strchr(without, c))
			out[i++] = c;
	}
	out[n] = '\0';
}

static const struct form {
	const char *text;	/* %s is the password */
	const char *without;
	bool is_sentence;
} FORMS[] = {
	{"DB_HOST=db\nDB_PASSWORD=%s\nX=1\n", "", false}, {"export DB_PASSWORD=%s\n", "", false},
	{"DB_PASSWORD=\"%s\"\n", "\"\\", false}, {"DB_PASSWORD='%s'\n", "'\\", false},
	{"db:\n  password: %s\n  host: x\n", "", false}, {"Password: %s", "", false},
	{"{\"user\": \"app\", \"password\": \"%s\"}", "\"\\", false}, {"**Password:** `%s`", "`", false},
	{"The password is `%s`.", "`", false}, {"The password is \"%s\".", "\"\\", false},
	{"| user | password |\n|---|---|\n| bob | %s |\n", "|`*", false},
	{"db.internal:5432:app:app:%s\n", ":\\", false}, {"user,password,role\nbob,%s,x\n", ",\"", false},
	{"user,password,role\nbob,\"%s\",x\n", "\"", false}, {"user;password\nbob;%s\n", "\"", false},
	{"user\tpassword\nbob\t%s\n", "\"", false},
	{"The root password is %s", "", true}, {"The root password for db7 is %s.", "", true},
	{"I changed the password to %s yesterday.", "", true}, {"The password is **%s**.", "*", true},
	{"Log in as root with password %s and go on.", "", true}, {"use the password %s", "", true},
	{"%s is the root password", "", true},
};

/* All of it, but for a last byte that closes a sentence as well. */
static bool finds(const struct form *f, uint64_t *seed)
{
	struct credential hits[HITS_MAX];
	char password[32], text[256];
	size_t at = (size_t)(strstr(f->text, "%s") - f->text), n, count;

	draw(password, f->without, seed);
	n = strlen(password);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)at, f->text, password, f->text + at + 2);
	count = credentials_scan(str_of(text), hits, HITS_MAX);
	for (size_t i = 0; i < count; i++)
		if (hits[i].at <= at + 1 && hits[i].at + hits[i].len + 2 >= at + n)
			return true;
	if (getenv("SHOW_HITS"))
		print_message("missed %s\n", text);
	return false;
}

static void of_passwords_with_any_signs_95_in_100_are_found_where_a_form_ends_them_and_80_in_sentences(void **state)
{
	uint64_t seed = 20261119;
	size_t found[2] = {0}, all[2] = {0};

	(void)state;
	for (size_t k = 0; k < COUNT(FORMS); k++) {
		size_t of_form = 0, least = FORMS[k].is_sentence ? 80 : 92;

		for (int i = 0; i < ROUNDS; i++)
			of_form += finds(&FORMS[k], &seed);
		found[FORMS[k].is_sentence] += of_form;
		all[FORMS[k].is_sentence] += ROUNDS;
		if (of_form * 100 < least * ROUNDS)
			fail_msg("%s: %zu of %d", FORMS[k].text, of_form, ROUNDS);
	}
	print_message("of random passwords with signs %.1f %% are found in forms, %.1f %% in sentences\n",
		      100.0 * (double)found[0] / (double)all[0], 100.0 * (double)found[1] / (double)all[1]);
	assert_true(found[0] * 100 >= all[0] * 95 && found[1] * 100 >= all[1] * 80);
}

/* One sign of each sort among letters and digits: nothing of what is behind it stays. */
static void a_part_of_a_password_is_never_found_alone(void **state)
{
	static const char *const signs[] = {",", ";", "(", ")", "{", "}", "[", "]", "'", "\"", "`", "<", ">", "|", "/",
					    "\\", "&", "$", "#", "*", "@", "!", "%", "^", "+", "=", "~", "?", ":",
					    ".", "-", "_", "\u00fc", "\u20ac", "\u0436"};
	static const char *const forms[] = {"DB_PASSWORD=%s", "password: %s\nhost: x", "The root password is %s.",
					    "Password: %s", "root pw: %s", "--db-password=%s --force"};

	(void)state;
	for (size_t k = 0; k < COUNT(signs); k++)
		for (size_t f = 0; f < COUNT(forms); f++) {
			struct credential hits[HITS_MAX];
			char password[32], text[128];
			size_t at = (size_t)(strstr(forms[f], "%s") - forms[f]), count;

			snprintf(password, sizeof(password), "qR7tLm2%sXk9vB4n", signs[k]);
			snprintf(text, sizeof(text), "%.*s%s%s", (int)at, forms[f], password, forms[f] + at + 2);
			count = credentials_scan(str_of(text), hits, HITS_MAX);
			if (count != 1 || hits[0].at != at || hits[0].len != strlen(password))
				fail_msg("%s", text);
		}
}

/* What stands behind a value as syntax is none of it. */
static void what_follows_a_value_in_code_stays(void **state)
{
	static const char *const texts[][2] = {
		{"Server=db;Password=hunter2;Encrypt=true", ";Encrypt=true"},
		{"{user: app, password: hunter2xy, host: x}", ", host"},
		{"x?password=hunter2xy&page=2", "&page=2"},
		{"(password: hunter2xy), then", "), then"}, {"the password is hunter2xy, ask Petra", ", ask"},
		{"-o username=bob,password=hunter2xy,vers=3.0", ",vers=3.0"},
		{"| note | password: hunter2!xy | x |", " | x"}, {"[\"DB_PASSWORD=hunter2xy\", 1]", "\", 1"},
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++) {
		struct credential hits[HITS_MAX];
		size_t count = credentials_scan(str_of(texts[k][0]), hits, HITS_MAX);

		if (count != 1 || hits[0].at + hits[0].len != (size_t)(strstr(texts[k][0], texts[k][1]) - texts[k][0]))
			fail_msg("%s", texts[k][0]);
	}
}

static void expressions_and_sentences_are_no_passwords(void **state)
{
	static const char *const texts[] = {
		"password = getPassword(user, 12);", "password: z.string().min(8).max(64),",
		"password = os.environ['DB_PASSWORD2']", "PASSWORD=$(vault read -field=pw secret/db2)",
		"password: crypto.createHash('sha256').update(pw2)", "token = fromHex(\"3272189698C3594D18F58EFA3F\")",
		"password: Optional[Dict[str, int64]]", "password := r.FormValue(\"password2\")",
		"password: обязательное поле",
		"パスワード：8文字以上で入力",
		"PASS: gdb.cp/infcall-nodebug-c++-d0.exp", "PASSWORD=<your-password-1>", "password=args[0]->value2",
		/* It has no kind, and was read through. */
		"value: str = \"iLtpF0LmcZ&0\"", "value: x2 = 'Kq8ZtR2vLxW0nKb7'", "val: T = `q8Zr3Lw0Tx5Vb7Nk2Md9`",
		"password, 12 characters, a sign\nname, 8 letters, none\n",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++) {
		struct credential hit;

		if (credentials_scan(str_of(texts[k]), &hit, 1) != 0)
			fail_msg("%.*s in %s", (int)hit.len, texts[k] + hit.at, texts[k]);
	}
}

/* --- Columns --- */

static void every_row_of_a_file_with_columns_is_read(void **state)
{
	static const struct {
		const char *header, *row, *between;
	} files[] = {
		{"user,password", "amy,%s", "\n"}, {"user,password", "amy,%s", "\r\n"},
		{"user;password;role", "amy;%s;admin", "\n"}, {"user\tpassword", "amy\t%s", "\n"},
		{"password,user", "%s,amy", "\n"}, {"email,password", "amy@example.org,%s", "\n"},
		{"USER     PASSWORD      ROLE", "amy      %s    admin", "\n"},
		{"USER     PASSWORD", "amy      %s", "\n"}, {"user, password, role", "amy, %s, x", "\n"},
		{"\"user\",\"password\"", "\"amy\",\"%s\"", "\n"},
		{"User name;Root password", "amy;%s", "\n"},
		{"Here is the list:\nuser,password,role", "amy,%s,x", "\n"},
		{"Benutzer;Passwort", "amy;%s", "\n"},
	};
	uint64_t seed = 5;

	(void)state;
	for (size_t k = 0; k < COUNT(files); k++) {
		char text[1024], value[8][16];
		size_t n = (size_t)snprintf(text, sizeof(text), "%s%s", files[k].header, files[k].between), at[8];
		struct credential hits[HITS_MAX];
		const char *hole = strstr(files[k].row, "%s");

		for (size_t i = 0; i < 8; i++) {
			snprintf(value[i], sizeof(value[i]), "Wm%uxz%c7", rng(&seed) % 90000 + 10000, 'a' + (char)i);
			at[i] = n + (size_t)(hole - files[k].row);
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s%s%s%s", (int)(hole - files[k].row),
					      files[k].row, value[i], hole + 2, files[k].between);
		}
		if (credentials_scan(str_of(text), hits, HITS_MAX) != 8)
			fail_msg("%s", text);
		for (size_t i = 0; i < 8; i++)
			if (hits[i].at != at[i] || hits[i].len != strlen(value[i]))
				fail_msg("row %zu of %s", i, text);
	}
}

static void a_file_ends_where_its_rows_do(void **state)
{
	static const char text[] = "user,password\namy,Wm59xzT7rv\n\nbob,Kd83jfL2pq, and so on\n"
				   "user;token_count\nx;Wm59xzT7rv\n";
	struct credential hits[HITS_MAX];

	(void)state;
	assert_int_equal(credentials_scan(str_of(text), hits, HITS_MAX), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			of_passwords_with_any_signs_95_in_100_are_found_where_a_form_ends_them_and_80_in_sentences),
		cmocka_unit_test(a_part_of_a_password_is_never_found_alone),
		cmocka_unit_test(what_follows_a_value_in_code_stays),
		cmocka_unit_test(expressions_and_sentences_are_no_passwords),
		cmocka_unit_test(every_row_of_a_file_with_columns_is_read),
		cmocka_unit_test(a_file_ends_where_its_rows_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
