/* Credentials by the place that they stand in: command lines, cookies, blocks below a name, arguments, objects,
 * sentences, other languages. Each with values that are drawn anew. */
#include "core/guard/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define HEX "0123456789abcdef"

enum { ROUNDS = 60, HITS_MAX = 16 };

static uint32_t rng(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static size_t draw(char *out, size_t n, const char *alphabet, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[rng(seed) % strlen(alphabet)];
	out[n] = '\0';
	return n;
}

static void draw_words(char *out, size_t count, uint64_t *seed)
{
	static const char *const words[] = {"abandon", "ability", "absorb", "acid", "acoustic", "adapt", "advice",
		"again",
					    "alarm", "album", "amount", "anchor", "ankle", "apple", "arctic"};

	*out = '\0';
	for (size_t i = 0; i < count; i++)
		out += sprintf(out, "%s%s", i ? " " : "", words[rng(seed) % COUNT(words)]);
}

/* p: a person's password with a sign, w: a word, a sign and a digit, k: 40 letters and digits, s: 40 of base64, h: 32
 * hexadecimal digits, H: 40, u: a UUID, m and M: 12 and 24 words. */
static void draw_value(char sort, char *out, uint64_t *seed)
{
	static const char *const words[] = {"Dragon", "Blumen", "Secure", "Bayern", "Falcon"};
	char a[16], b[16];

	switch (sort) {
	case 'p':
		draw(a, 7, LOWER UPPER, seed);
		draw(b, 2, DIGITS, seed);
		sprintf(out, "x%s%c%s", a, "!#%&*"[rng(seed) % 5], b);
		break;
	case 'w':
		sprintf(out, "%s%c%u", words[rng(seed) % COUNT(words)], "*#+!"[rng(seed) % 4], rng(seed) % 90 + 1);
		break;
	case 'k':
		draw(out, 40, LOWER UPPER DIGITS, seed);
		break;
	case 's':
		draw(out, 40, LOWER UPPER DIGITS "+/", seed);
		break;
	case 'h':
		draw(out, 32, HEX, seed);
		break;
	case 'H':
		draw(out, 40, HEX, seed);
		break;
	case 'm':
	case 'M':
		draw_words(out, sort == 'm' ? 12 : 24, seed);
		break;
	default:
		for (size_t i = 0, n = 0; i < 5; i++, n = strlen(out)) {
			static const size_t parts[] = {8, 4, 4, 4, 12};

			if (i)
				out[n++] = '-';
			draw(out + n, parts[i], HEX, seed);
		}
	}
}

struct place {
	char sort;
	const char *text;
};

/* Of each hole of each place 95 in 100: a value that chance makes a word is none. */
static void check(const struct place *places, size_t count)
{
	uint64_t seed = 20261119;

	for (size_t k = 0; k < count; k++) {
		size_t found = 0, at = (size_t)(strstr(places[k].text, "{}") - places[k].text);

		for (int round = 0; round < ROUNDS; round++) {
			struct credential hits[HITS_MAX];
			char value[256], text[1024];
			size_t n, i;

			draw_value(places[k].sort, value, &seed);
			snprintf(text, sizeof(text), "%.*s%s%s", (int)at, places[k].text, value,
				 places[k].text + at + 2);
			n = credentials_scan(str_of(text), hits, HITS_MAX);
			for (i = 0; i < n && (hits[i].at != at || hits[i].len != strlen(value)); i++)
				;
			found += i < n;
			if (i == n && getenv("SHOW_HITS"))
				print_message("missed %s\n", text);
		}
		if (found * 100 < ROUNDS * 95)
			fail_msg("%zu of %d: %s", found, ROUNDS, places[k].text);
	}
}

static void passwords_on_command_lines_are_found(void **state)
{
	static const struct place places[] = {
		{'k', "echo {} | docker login ghcr.io -u bob --password-stdin"},
		{'p', "echo '{}' | docker login --password-stdin"},
		{'p', "docker login -u ci -p {} r.example"}, {'p', "echo 'root:{}' | chpasswd"},
		{'p', "echo \"deploy:{}\" | sudo chpasswd"}, {'p', "echo {} | sudo -S apt update"},
		{'p', "printf '{}' | gh secret set DB_PASSWORD"}, {'p', "curl -uadmin:{} https://x"},
		{'p', "curl -sSu admin:{} https://x"}, {'k', "curl https://api.example.com -u {}:\n"},
		{'p', "redis-cli -h r -a {} ping"}, {'p', "az login --service-principal -u app -p {} --tenant t"},
		{'p', "sqlcmd -S db -U sa -P {} -Q 'x'"}, {'p', "bcp x in y -U sa -P{}"},
		{'p', "gh secret set N --body '{}'"},
		{'p', "aws ssm put-parameter --name /x/password --value {} --type S"},
		{'p', "$p = ConvertTo-SecureString '{}' -AsPlainText"}, {'p', "setx DB_PASSWORD \"{}\""},
		{'p', "keytool -storepass {} -list"}, {'H', "wandb login {}"}, {'p', "htpasswd -b .htpasswd bob {}"},
		{'p', "zip -P {} a.zip b"}, {'p', "smbclient //s/x -U bob%{}"},
		{'p', "ldapsearch -D cn=a -w {} -b x"},
		{'p', "7z a -p{} a.7z b"}, {'p', "requirepass {}\n"}, {'p', "enable secret {}\n"},
		{'k', "git clone https://{}@github.com/x/y.git"}, {'p', "snmpwalk -v3 -u bob -A {} host"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void cookies_are_found_outside_of_headers(void **state)
{
	static const struct place places[] = {
		{'k', "curl -b 'session={}' https://x"}, {'h', "curl --cookie \"JSESSIONID={}\" https://x"},
		{'h', "cookies = {'sessionid': '{}'}"}, {'k', "s.cookies.set('session', '{}')"},
		{'k', "document.cookie = \"session={}\""},
		{'k', ".example.com\tTRUE\t/\tTRUE\t1790000000\tsession\t{}\n"},
		{'k', "{\"name\":\"session\",\"value\":\"{}\",\"domain\":\"x\"}"},
		{'k', "{\"name\":\"Cookie\",\"value\":\"session={}\"}"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void a_value_below_its_name_is_found(void **state)
{
	static const struct place places[] = {
		{'p', "Password:\n```\n{}\n```\n"}, {'p', "### Password\n{}\n"}, {'p', "## Root password\n\n`{}`\n"},
		{'p', "### Password\n\n```text\n{}\n```\n"}, {'h', "API key:\n```\n{}\n```"},
		{'p', "password = <<EOT\n{}\nEOT"},
		{'p', "Q: What's the password?\nA: {}\n"}, {'p', "alice: what's the root password?\nbob: {}"},
		{'p', "What is the password? {}"}, {'s', "AKIA" "Q3EGMXW5XK2WVJQA\n{}\n"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void passwords_are_found_as_arguments(void **state)
{
	static const struct place places[] = {
		{'p', "requests.get(u, auth=('admin', '{}'))"}, {'p', "HTTPBasicAuth('admin', '{}')"},
		{'p', "server.login('bob@example.org', '{}')"}, {'p', "new PDO('mysql:host=db', 'root', '{}')"},
		{'p', "mysqli_connect('db','root','{}','app')"},
		{'p', "DriverManager.getConnection(url, \"app\", \"{}\")"},
		{'p', "sql.Open(\"mysql\", \"app:{}@tcp(db:3306)/prod\")"},
		{'p', "CREATE LOGIN app WITH PASSWORD = N'{}';"},
		{'p', "INSERT INTO users (name,password) VALUES ('bob','{}');"},
		{'p', "INSERT INTO `users` (`id`, `password`, `role`) VALUES (1, '{}', 'x');"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void a_value_beside_its_name_in_an_object_is_found(void **state)
{
	static const struct place places[] = {
		{'p', "{\"key\":\"DB_PASSWORD\",\"type\":\"env\",\"value\":\"{}\"}"},
		{'p', "{\"label\":\"Password\",\"value\":\"{}\"}"},
		{'p', "{\"ParameterKey\":\"DbPassword\",\"ParameterValue\":\"{}\"}"},
		{'p', "<key>password</key>\n\t<string>{}</string>"}, {'p', "<tr><td>Password</td><td>{}</td></tr>"},
		{'p', "<dt>Password</dt><dd>{}</dd>"}, {'p', "<input type=\"password\" value=\"{}\">"},
		{'p', "variable \"db_password\" {\n  validation {\n    condition = true\n  }\n  default = \"{}\"\n}"},
		{'p', "password: !!str {}\n"}, {'p', "public string Password { get; set; } = \"{}\";"},
		{'p', "password\uff1a{}"}, {'p', "password:: {}\n"}, {'p', "psk=\"{}\""}, {'p', "PSK: {}\n"},
		{'s', "PresharedKey = {}\n"}, {'h', "secret_key_base: {}\n"},
		{'k', "{\"kty\":\"EC\",\"x\":\"a\",\"d\":\"{}\"}"}, {'k', "https://b/c?sv=2022&se=2026&sig={}"},
		{'H', "https://b/c?X-Amz-Date=1&X-Amz-Signature={}"}, {'k', "AZURE_DEVOPS_EXT_PAT={}\n"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void sentences_are_read(void **state)
{
	static const struct place places[] = {
		{'w', "Log in as root with password {}."}, {'w', "The password is {}."}, {'w', "password `{}` works"},
		{'w', "admin (pw {})"}, {'w', "{} is the root password."},
		{'w', "Connect with user app and password {}."},
		{'w', "Credentials: admin/{}"}, {'p', "Credentials: admin {}"}, {'p', "Use {} for the password."},
		{'p', "The default password (admin/{}) must be changed."},
		{'s', "Use AKIA" "Q3EGMXW5XK2WVJQA with the secret {} for it"}, {'h', "using API key {}"},
		{'h', "apikey {}"},
		{'u', "client secret {}"}, {'k', "Sign it with the secret {}."},
		{'m', "seed phrase: {}\n"}, {'M', "mnemonic: \"{}\""}, {'m', "MNEMONIC={}\n"},
		{'m', "WALLET_MNEMONIC=\"{}\""},
	};

	(void)state;
	check(places, COUNT(places));
}

static void other_languages_are_read_with_a_colon(void **state)
{
	static const struct place places[] = {
		{'p', "Passwort für root: {}"}, {'p', "mot de passe root : {}"}, {'p', "contraseña de root: {}"},
		{'p', "senha do root: {}"}, {'p', "hasło do bazy: {}"}, {'p', "пароль от базы: {}"},
		{'p', "DBのパスワードは：{}"}, {'p', "clave: {}"}, {'p', "Zugangsdaten: {}"},
		{'p', "Zugangsdaten: admin / {}"},
		{'p', "Passwörter: {}"}, {'p', "Zugangscode: {}"}, {'k', "токен: {}"}, {'k', "секретный ключ: {}"},
		{'k', "密钥：{}"}, {'k', "令牌: {}"}, {'k', "秘密鍵：{}"}, {'k', "clé API : {}"}, {'k', "klucz API: {}"},
		{'k', "chave secreta: {}"}, {'k', "chiave segreta: {}"}, {'p', "contrasenya: {}"},
	};

	(void)state;
	check(places, COUNT(places));
}

static void what_only_stands_in_such_a_place_is_spared(void **state)
{
	static const char *const texts[] = {
		"docker run -p 8080:80 web2", "ssh -p 2222 root@h", "echo ready2go | tee log",
		"curl -u \"$USER:$PASS\" https://x",
		"curl -b cookies.txt https://x", "document.cookie = \"theme=dark\"",
		"### Password\nAt least 12 characters\n",
		"Password:\n```\n$ pass show db2\n```\n", "login('bob', user2)", "auth=('user', os.environ['PW2'])",
		"INSERT INTO users (name,role) VALUES ('bob','admin2x')",
		"{\"name\":\"region\",\"value\":\"eu-west-1b\"}",
		"<td>Password</td><td>required</td>", "<input type=\"text\" name=\"q\" value=\"abc123x\">",
		"using API key authentication since v1.2", "the client secret must be rotated in Q1 2025",
		"mnemonic: the words of the instruction set are add and sub and so on",
		"passphrase: choose at least four words",
		"Passwort für root: siehe Tresor", "пароль от базы: см. сейф", "clave: véase la caja", "密钥：见保险箱",
		"What is the password? See the vault.", "Issue#7 is the password issue", "password length+1",
		"git clone https://github.com/a/b.git",
		"https://9f86d081884c7d659a2feaa0c55ad015@o1.ingest.sentry.io/2",
		"enable secret rotation in v2", "user:pass@tcp is Go's form",
		"Password complexity: upper+lower+digit",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++) {
		struct credential hit;

		if (credentials_scan(str_of(texts[k]), &hit, 1) != 0)
			fail_msg("%.*s in %s", (int)hit.len, texts[k] + hit.at, texts[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passwords_on_command_lines_are_found),
		cmocka_unit_test(cookies_are_found_outside_of_headers),
		cmocka_unit_test(a_value_below_its_name_is_found),
		cmocka_unit_test(passwords_are_found_as_arguments),
		cmocka_unit_test(a_value_beside_its_name_in_an_object_is_found),
		cmocka_unit_test(sentences_are_read),
		cmocka_unit_test(other_languages_are_read_with_a_colon),
		cmocka_unit_test(what_only_stands_in_such_a_place_is_spared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
