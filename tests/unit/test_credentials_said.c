/* What sentences say about secrets: which forms are found, and which sentences about secrets are left alone. */
#include "base/mem.h"
#include "core/guard/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define AWS40 "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKq8Lm2Vt"
#define KEY24 "q8ZtR2vLxW0nKb7JpYcD4sHf"

struct form {
	const char *kind, *before, *secret, *after;
};

static const struct form FOUND[] = {
	/* Links. */
	{"password", "the password is ", "hunter2hunter2", ""},
	{"password", "The root password is ", "hunter22", ". Change it."},
	{"password", "the password was ", "hunter2", ", and still works"},
	{"password", "The password's ", "hunter22", "\n"},
	{"password", "the password has just been changed back to: ", "hunter22", ""},
	{"password", "Set the password to ", "hunter22", " and go on"},
	{"password", "the password was reset to ", "hunter22", " yesterday"},
	{"password", "the password should be ", "hunter22", ""},
	{"password", "a password of ", "hunter22", " will do"},
	{"password", "the password equals ", "hunter22", ""},
	{"password", "password is as follows: ", "hunter22", ""},
	{"password", "The root password\nis ", "hunter22", "\n"},
	{"password", "my password = ", "hunter2", ""},
	{"password", "password = ", "hunter2", "\n"},
	{"password", "password := ", "hunter22", ""},
	{"password", "password -> ", "hunter22", ""},
	{"password", "password => ", "hunter22", ""},
	{"password", "password \u2192 ", "hunter22", ""},
	{"password", "root password - ", "hunter22", ""},
	{"password", "Password \u2014 ", "hunter22", ""},
	{"password", "log in with user root and password ", "hunter22", "."},
	{"password", "ssh root@db7 (password ", "hunter22", ")"},
	{"password", "the root password (", "hunter22", ") works"},
	{"password", "", "hunter22", " is the root password"},
	{"password", "use ", "hunter22", " as the password for db7"},
	{"password", "Use **", "hunter22", "** as password."},
	/* Names. */
	{"password", "the root pw is ", "Tr0ub4dor&3x", ""},
	{"password", "the pwd is ", "hunter22", ""},
	{"password", "root passwd is ", "hunter22", ""},
	{"password", "PASSWORD IS ", "HUNTER22", ""},
	{"password", "the passcode is ", "48291374", ""},
	{"password", "the root pass is ", "hunter22", ""},
	{"password", "root pass: ", "hunter22", ""},
	{"password", "user=root pass=", "hunter22", "\n"},
	{"password", "user root pass ", "hunter22", "\n"},
	{"password", "the pass phrase is ", "hunter22x", ""},
	{"aws_secret_key", "our AWS secret access key was ", AWS40, ""},
	{"aws_secret_key", "The AWS secret key we used was ", AWS40, "."},
	{"aws_secret_key", "secret access key => ", AWS40, "\n"},
	{"aws_secret_key", "AWS secret access key ", AWS40, "\n"},
	{"token", "the deploy token `", KEY24, "` is old"},
	{"api_key", "our API key for staging is now ", KEY24, ""},
	{"token", "the deploy token changed to ", KEY24, ""},
	{"api_key", "the api key is ", "abc123def456ghi789", ""},
	{"api_key", "API_KEY=", "abc123def456ghi789", "\n"},
	{"secret", "the secret is ", "hunter2hunter2", ""},
	{"secret", "todo: secret: ", KEY24, ""},
	/* What it is for. */
	{"password", "password for root: ", "hunter22", ""},
	{"password", "the password for the admin account on db7 is ", "hunter22", ""},
	{"password", "the password that we use is ", "hunter22", ""},
	{"password", "The root password (for db7) is ", "hunter22", "."},
	{"password", "the password, by the way, is ", "hunter22", ""},
	/* Labels and their neighbours. */
	{"password", "note: password: ", "hunter2hunter2", ""},
	{"password", "warning: note: the db password: ", "hunter2", "\n"},
	{"password", "2024-05-03 10:11:12 INFO user root, password: ", "hunter22", "\n"},
	{"password", "Username = admin, Password = ", "hunter22", ""},
	{"password", "{user: root, password: ", "hunter22", "}\n"},
	{"password", "(password: ", "hunter22", ")"},
	{"password", "run it with `password: ", "hunter22", "`"},
	{"password", "run it with `password = ", "hunter22", "`"},
	{"password", "password:", "hunter22", "\n"},
	{"password", "pw=", "hunter22", "\n"},
	{"password", "the password is:", "hunter22", ""},
	{"password", "password for the user \"admin\" was changed to \"", "hunter22", "\""},
	{"password", "Password: ", "hunter22", " (root)"},
	/* Pairs. */
	{"password", "user/pass: root/", "hunter22", ""},
	{"password", "username and password: root / ", "hunter22", ""},
	{"password", "login: root / ", "hunter22", ""},
	{"password", "Login with admin/", "hunter22", "\n"},
	{"password", "credentials are admin:", "hunter22", "\n"},
	{"password", "The credentials are root and ", "hunter22", "."},
	{"password", "creds (root/", "hunter22", ")"},
	/* Marks. */
	{"password", "The password is `", "hunter2", "`."},
	{"password", "The password is \"", "hunter2", "\"."},
	{"password", "the password is \u201c", "hunter22", "\u201d"},
	{"password", "The password is **", "hunter22", "**, ok"},
	{"password", "The **password** is ", "hunter22", ""},
	{"password", "- **Password:** ", "hunter2", ""},
	{"password", "1. the password is _", "hunter22", "_."},
	{"password", "Password is ", "hunter22", "; tell nobody"},
	{"password", "the password is ", "*ab12cd#", " with a star"},
	{"password", "the password is ", "set42xyz", ""},
	/* What makes a value one. */
	{"password", "The password is \"", "correcthorse", "\"."},
	{"password", "the password is ", "P@ssw0rd", ""},
	{"password", "the password is ", "p@ss$word", ""},
	{"password", "the password is ", "123456", ""},
	{"password", "the password is ", "password123", ""},
	{"password", "the password is ", "1q2w3e4r", ""},
	{"password", "the password is ", "xuqtyz-4facba-hunmo", ""},
	{"password", "the password has been changed to ", "vK3-plum-92x", ""},
	{"password", "the passphrase is ", "correct-horse-battery-staple-7", ""},
	{"password", "the passphrase is \"", "correct horse battery staple", "\""},
	{"password", "password: \"", "correct horse battery staple", "\"\n"},
	{"password", "passphrase: ", "correct horse battery staple", "\n"},
	/* Blocks of YAML. */
	{"password", "password: >-\n  ", "correct horse battery staple", "\n"},
	{"password", "password: >-\n  ", "correct horse\n  battery staple", "\nuser: x\n"},
	{"password", "db:\n  password: |\n    ", "correct horse battery staple", "\n  user: x\n"},
	{"password", "- password: >2-  # folded\n    ", "the quick brown fox jumps\n    over the lazy dog",
	 "\n  user: x\n"},
	{"password", "password: >\n\n  ", "tr0ub4dor and friends", "\n"},
	{"password", "password: |2-\n  ", "hunter2xy", "\n"},
	/* Cookies. */
	{"cookie", "Cookie: sid=", "abc123def456ghi789", ""},
	{"cookie", "Cookie: a=b; x=", "abc123def456ghi789", "; c=d\n"},
	{"cookie", "Set-Cookie: auth_token=", "user12345678901234", "; Path=/\n"},
};

static void what_a_sentence_says_is_found_and_only_the_value(void **state)
{
	char text[1024];
	struct credential hits[4];
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(FOUND); i++) {
		const struct form *f = &FOUND[i];
		size_t count;

		snprintf(text, sizeof(text), "%s%s%s", f->before, f->secret, f->after);
		count = credentials_scan(str_of(text), hits, COUNT(hits));
		if (count == 1 && strcmp(hits[0].kind, f->kind) == 0 && hits[0].at == strlen(f->before) &&
		    hits[0].len == strlen(f->secret))
			continue;
		print_error("%s: %s\n", f->kind, text);
		for (size_t k = 0; k < count; k++)
			print_error("    found %s: %.*s\n", hits[k].kind, (int)hits[k].len, text + hits[k].at);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static const char *const SPARED[] = {
	/* Words. */
	"the password is required", "password is stored hashed", "the password is case-sensitive",
	"password was reset yesterday", "the token is valid for 2 hours", "the secret is to listen",
	"The password is not stored", "the password is too short!", "password is wrong!!",
	"The password is kept as-is.",
	"set the password to something.", "password is null", "the password is \"required\"",
	"the password is 'secret'",
	"The password is only used where the user is \"anonymous\"", "login is disabled", "login: root / none",
	"credentials are read/write", "user/pass: name/secret", "my pass through the code is level2",
	/* Numbers and names with a number. */
	"password is 12 characters long", "the password is a 32-byte value", "the password is 12-character",
	"the password was last changed 30days ago", "Password must be 8+ characters",
	"password is limited to 64 characters",
	"password was changed on 2024-01-02", "login: Tue Jan 10 at 10:30", "the password is 2fa protected",
	"Password is base64-encoded", "the password is SHA-256 hashed", "password is PBKDF2-derived",
	"password is AES-256-GCM encrypted", "the password is UTF-8", "password is TLSv1.2 only",
	"change the password to comply with ISO27001", "the token is oauth2", "secret is K8sSecret",
	"this key is utf8mb4",
	"the token is base64-encoded JSON", "the secret is version2-of-the-thing", "the key is a sha256-digest",
	"  passwd and group files\n    Closes: Bug#108071, #87214\n",
	/* Stand-ins, places, addresses. */
	"The password is $PASSWORD1", "the password is ${DB_PASS1}", "the password is <your-password1>",
	"the password is changeme123", "password is [redacted: password]", "password is sent to bob1@example.org",
	"the password is in /etc/app1/secret2.conf", "password is in db7.example.org", "the password is user.password1",
	"The password is \\fBpassword1\\fR", "The password is &quot;foo&quot;", "domain-password to `\\f5x-1\\fR`",
	/* Code. */
	"let password = value22", "String password = hunter22;", "password = get_password1(user)", "password = value1",
	"password: Sha256Hash,\n", "    user: &str, password: Argon2Hash,\n", "f(x, password: hunter2xy)",
	"{name: \"private key\",\n keyHex: pkcs8P384PrivateKeyHex,\n", "password == hash2string",
	"PASS: indirect6b dynsym\n", "PASS: ld-x86-64/property-x86-ibt4-x32\n", "Pass -hscalar0 to work around",
	"Add new upstream signing key 19882D92DDA4C400C22C0D56CC2AF4472167BE03\n", "pw=func1(x)",
	"pass to httplib2. This is", "const char *set_password = \"SetPassword\"",
	/* The value before the name. */
	"SHA256 is the password hash", "sha512crypt is the password hash of the system", "auth2 is the password",
	"use base64url as the password encoding",
	/* Sentences where a passphrase might stand. */
	"password: >-\n  Please enter your password\n", "password: >-\n  The one to connect with.\n",
	"password: |\n  The password of the user,\n  as it is in the file.\n", "password: >-\n\nuser: someone\n",
	"password:\n  description: the one that opens the door\n", "passwd: fix memory leak in parser\n",
	"- userauth_password: pass on the underlying error code\n", "password: 'Password must be 8 long'",
	"password: \"Your old one is needed\"",
	/* Cookies. */
	"Cookie: lang=en; theme=dark-mode-enabled-now", "Cookie: consent=accepted-analytics-marketing",
	"Cookie: seen=2024-01-15-10-00-00", "Cookie: sid=abc123def456ghi",
};

static void sentences_about_secrets_are_left_alone(void **state)
{
	struct credential hit;
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(SPARED); i++)
		if (credentials_scan(str_of(SPARED[i]), &hit, 1)) {
			print_error("%s [%.*s] in: %s\n", hit.kind, (int)hit.len, SPARED[i] + hit.at, SPARED[i]);
			wrong++;
		}
	assert_int_equal(wrong, 0);
}

static void what_replaces_a_value_is_none(void **state)
{
	char text[1024];
	struct credential hit;

	(void)state;
	for (size_t i = 0; i < COUNT(FOUND); i++) {
		snprintf(text, sizeof(text), "%s[redacted: %s]%s", FOUND[i].before, FOUND[i].kind, FOUND[i].after);
		if (credentials_scan(str_of(text), &hit, 1))
			fail_msg("%s: %.*s in %s", hit.kind, (int)hit.len, text + hit.at, text);
	}
}

/* --- Time --- */

static double seconds_of(struct str text)
{
	enum { HITS = 1 << 17 };
	struct credential *hits = mem_calloc(HITS, sizeof(*hits));
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	credentials_scan(text, hits, HITS);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	free(hits);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

static void hostile_sentences_take_time_that_grows_with_their_length(void **state)
{
	static const char *const units[] = {
		"password is is is ", "password for is was ", "password, is ", "password (", "password (a) is ",
		"login with a/", "user/pass: ", "is the password ", "hunter22 is the password ", "as a password ",
		"pass ", "passphrase: >-\n  a b c d\n", "password: |\n", "password:\n\n\n", "user and password: a and ",
		"a: password: ", "the secret access key of the ", "pass-pass-", "password                ",
		"password is **", "password now still just ", "Cookie: sid=abc123def456ghi789; ",
	};
	enum { SMALL = 128 * 1024, LARGE = 8 * SMALL };
	char *text = mem_alloc(LARGE);

	(void)state;
	for (size_t k = 0; k < COUNT(units); k++) {
		double small, large;

		for (size_t i = 0; i < LARGE; i++)
			text[i] = units[k][i % strlen(units[k])];
		small = seconds_of((struct str){text, SMALL});
		large = seconds_of((struct str){text, LARGE});
		/* A square would be 64 times as long. */
		if (large > 20 * small + 0.1)
			fail_msg("%s: %.0f ms for an eighth, %.0f ms for all", units[k], small * 1e3, large * 1e3);
		print_message("%6.1f ms for 1 MiB of '%s'\n", large * 1e3, units[k]);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_sentence_says_is_found_and_only_the_value),
		cmocka_unit_test(sentences_about_secrets_are_left_alone),
		cmocka_unit_test(what_replaces_a_value_is_none),
		cmocka_unit_test(hostile_sentences_take_time_that_grows_with_their_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
