/* Credentials in text: what is found and what is left alone. How often it errs is in test_credentials_rates.c.
 *
 * Keys of known forms are written in pieces ("gh" "p_…"), or drawn at random, so that nobody's scanner of source code
 * takes them for lost ones. */
#include "base/mem.h"
#include "core/guard/credentials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- Positives ----------------------------------------------------------------------------------- */

/* A text is before, secret, after; the secret alone is found. */
struct positive {
	const char *kind, *before, *secret, *after;
};

#define HEX32 "9f86d081884c7d659a2feaa0c55ad015"
#define HEX64 HEX32 "a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define ALNUM36 "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
#define BASE64_40 "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define BASE64_86 "lJzRc1YdHaAA2KCNJJ1tkYwF/+mKK6Ygw0NGe170Xu592euJv2wYUtBlV8z+qnlcNQSnIYVTkLWntUO1F8j8rQ"
#define JWT "ey" "JhbGciOiJIUzI1NiJ9.ey" "JzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

static const struct positive POSITIVES[] = {
	/* A label in a sentence. */
	{"password", "The db password: ", "hunter2xy", ""}, {"password", "Staging password: ", "hunter2xy", "\n"},
	{"password", "- our root password: ", "hunter2xy", ". Change it"},
	{"password", "the admin's password: ", "Winter2024", ", as before"},
	/* Columns of a file. */
	{"password", "user,password,mail\nbob,", "hunter2xy", ",b@example.org\n"},
	{"password", "password,user\n", "hunter2xy", ",bob\n"},
	{"password", "user,password\nann,changeme\nbob,", "hunter2xy", ""},
	{"password", "\"user\",\"password\"\n\"bob\",\"", "hunter2xy", "\"\n"},
	{"api_key", "name,api_key,plan\r\nbob,", "q8Zr3Lw0Tx5Vb7Nk2Md9Ys4P", ",free\r\n"},
	/* The first column of a table. */
	{"password", "| password | user |\n|---|---|\n| ", "hunter2xy", " | bob |\n"},
	{"password", "password | user\n--- | ---\n", "hunter2xy", " | bob\n"},
	{"password", "user | password\n--- | ---\nbob | ", "hunter2xy", ""},
	{"discord_token", "bot: ", "MTIzNDU2Nzg5MDEyMzQ1Njc4" ".Gh7kLm.aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z", "\n"},
	{"discord_token", "\"", "MTA4NzY1NDMyMTA5ODc2NTQzMg" ".GqW_-x.Zx8cVb7nMq6wEr5tYu4iOp3aSd2fGh1jKl0", "\""},
	{"airtable_token", "use ", "pat" "Q3xW7zLk9Vb2Nm" "." HEX64, ", please"},
	{"facebook_token", "fb ", "EA" "ACEdEose0cBAJ7ZBx2Wq9Lm4Rt8Yv3Kp6Nd1Hs5Gf0Tc7Xb2Zk9Wj4Vq8Mr3Pn6Ly1Ds5Fh0Gt7"
	 "Cx2Bz9Kw4Jq8Vm3Rp6Nn1Ly5", "\n"},
	/* Cloud keys. */
	{"aws_access_key", "aws_access_key_id = ", "AK" "IAIOSFODNN7EXAMPLE", "\n"},
	{"aws_access_key", "{\"id\":\"", "AS" "IAQ3EGMXW5XK2WVJQA", "\"}"},
	{"aws_access_key", "see\\n", "AK" "IAQ3EGMXW5XK2WVJQA", "\\nthere"},
	{"aws_secret_key", "aws_secret_access_key = ", BASE64_40, "\n"},
	{"aws_secret_key", "\"SecretAccessKey\": \"", BASE64_40, "\","},
	{"aws_secret_key", "AWS_SECRET_KEY='", "Zr6ZNZmHmgvy4v7Jt9zVYwQH0Ux/0vPSb9f+k0dd", "'"},
	{"gcp_api_key", "key=", "AI" "zaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "&callback=init"},
	{"gcp_oauth_secret", "secret ", "GOC" "SPX-4fH3kzOa9sJ2lQp7VtXw8bNc1dEg", ""},
	{"azure_key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", BASE64_86 "==",
	 ";EndpointSuffix=core.windows.net"},
	/* Tokens with a prefix. */
	{"github_token", "git clone https://x-access-token:", "gh" "p_" ALNUM36, "@github.com/a/b"},
	{"github_token", "the token is ", "gh" "o_" ALNUM36, ". Keep it"},
	{"github_token", "", "gh" "s_" ALNUM36, ""},
	{"github_token", "`",
	 "github" "_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567", "`"},
	{"gitlab_token", "PRIVATE-TOKEN: ", "gl" "pat-zX9_kLmQ2wErTyUiOp4s", "\n"},
	{"slack_token", "token=", "xo" "xb-523423234243-234233e039d0-2840a0b9379cAbCdEfGh", "&"},
	{"slack_webhook", "https://hooks.slack.com/services/", "T0DCUJB1Q/B0DD08H5G/bJtrpFi1fO1JMCcwLx8uZyAg",
	 " posts"},
	{"discord_webhook", "https://discord.com/api/webhooks/",
	 "1034567890123456789/kT9xQz_LmPw2RvYb8NcHs4JdF6gA0eUoViKyXtB", "\n"},
	{"stripe_key", "stripe.api_key = \"", "sk" "_live_ReTllpYQYfIZu2Jnf2lAPFjD", "\""},
	{"stripe_key", "(", "rk" "_live_5TcWfjKmJgpql9hjpRnwRXbT", ")"},
	{"stripe_key", "", "sk" "_test_4eC39HqLyjWDarjtT1zdp7dc", "\n"},
	{"openai_key", "OPENAI_API_KEY=", "sk" "-Xi8tcNiHV9awbCcvilTeT3BlbkFJ3UDnpdEwNNm6wVBpYM0o", ""},
	{"openai_key", "'", "sk" "-proj-SevzWEV_NmNnMndQ5gn6PjFcX_9ay5SEKse8AL0EuYAB0cIg", "'"},
	{"anthropic_key", "x-api-key: ", "sk" "-ant-api03-kX9_pQ2mZ7vB4nL8wR1tY6uJ3sD5fG0hA-AAAA", "\n"},
	{"npm_token", "//registry/:_authToken=", "np" "m_" ALNUM36, "\n"},
	{"pypi_token", "password = ", "py" "pi-AgEIcHlwaS5vcmcCJDU3OTM1MjliLWIyYTYtNDEwOC05NzRkLTM0MjNiNmEwNWIzYg",
	 "\n"},
	{"twilio_key", "Twilio API key ", "SK" HEX32, ", use it"},
	{"twilio_key", "TWILIO_SID=", "AC" HEX32, "\n"},
	{"sendgrid_key", "key ", "SG" ".ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", "."},
	{"huggingface_token", "HF_TOKEN=", "h" "f_QzWxEcRvTbYnUmIkOlPaSdFgHjKlZxCvBn", "\n"},
	{"digitalocean_token", "", "do" "p_v1_" HEX64, "\n"},
	{"telegram_token", "https://api.telegram.org/bot", "110201543:AA" "HdqTcvCH1vGWJxfSe1ofSAs0K5PALDsaw",
	 "/getMe"},
	{"vault_token", "X-Vault-Token: ", "hv" "s.CAESIJ2xQk9sT3vPz7LmN4wRyB8cD1fG6hJ0kA5eU2oI", "\n"},
	{"jwt", "cookie ", JWT, ";"},
	{"jwt", "Authorization: Bearer ", JWT, "\n"},
	{"jwt", "\"id_token\":\"", JWT, "\""},
	/* Places. */
	{"url_password", "postgres://app:", "s3cr3t-Pa55", "@db.internal:5432/app"},
	{"url_password", "redis://:", "hunter2", "@cache/0"},
	{"url_password", "DATABASE_URL=mysql://root:", "p@ss:word", "@localhost/x"},
	{"url_password", "amqp://guest:", "guest", "@rabbit"},
	{"url_password", "https://admin:", "password", "@host/"},
	{"bearer_token", "-H 'Authorization: Bearer ", "cfcabd11c7ed9a41b1a3e063c32d5114", "'"},
	{"bearer_token", "bearer ", "mF_9.B5f-4.1JqM", " was refused"},
	{"basic_auth", "Authorization: Basic ", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "\r\n"},
	{"basic_auth", "curl -s -u admin:", "d2LkV78zLx!t", " https://x"},
	{"basic_auth", "curl -X POST \\\n  --user 'api:", "d2LkV78zLx!t", "' https://x"},
	{"authorization", "Authorization: Token ", "22cb987851bc5659229114c62e60c79abd0d2c08", "\n"},
	{"password", "mysql -u root -p", "S3cretRoot", " app"},
	{"password", "sshpass -p '", "Winter2023!", "' ssh host"},
	{"password", "machine h login bob password ", "tr0ub4dor", "\n"},
	{"password", "The password is ", "Tr0ub4dor&3", ", tell nobody."},
	{"password", "The password is: ", "Tr0ub4dor&3", "\n"},
	{"password", "The root password is:\n", "Tr0ub4dor&3", "\n"},
	{"password", "log in as root with password `", "Tr0ub4dor&3", "`"},
	{"password", "CREATE USER 'a'@'%' IDENTIFIED BY '", "Gr33nTea", "';"},
	/* Names. */
	{"password", "password = \"", "correcthorse", "\""},
	{"password", "password: '", "hunter2", "'"},
	{"password", "\"db_password\": \"", "Summer2023", "\","},
	{"password", "{\\\"password\\\": \\\"", "Summer\\\\2023", "\\\"}"},
	{"password", "DB_PASSWORD=", "supersecret", "\n"},
	{"password", "env:\\nDB_PASSWORD=", "hunter22", "\\nX=1"},
	{"password", "docker run -e MYSQL_ROOT_PASSWORD=", "hunter22", " mysql"},
	{"password", "spring:\n  datasource:\n    password: ", "Summer2023", "\n"},
	{"password", "Server=x;User Id=sa;Password=", "Gr33nTea!", ";Encrypt=true"},
	{"password", "--password ", "Summer2023", " --force"},
	{"password", "--db-password=", "Summer2023", " x"},
	{"password", "Log in with user=admin password=", "Tr0ub4dor3", ", then run it."},
	{"password", "use password=", "hunter2hunter2", " and go"},
	{"password", "It starts with db_password=", "Summer2023", "."},
	{"password", "<Password>", "Summer2023", "</Password>"},
	{"password", "<add key=\"DbPassword\" value=\"", "Summer2023", "\"/>"},
	{"password", "- name: DB_PASSWORD\n  value: ", "Summer2023", "\n"},
	{"password", "if (password == \"", "letmein99", "\")"},
	{"password", "password: Optional[str] = \"", "letmein99", "\""},
	{"password", "**Password:** ", "Tr0ub4dor&3", "\n"},
	{"password", "\xe5\xaf\x86\xe7\xa0\x81 password: ", "Tr0ub4dor&3", "\xef\xbc\x8c\xe7\x84\xb6"},
	{"password", "| Password | ", "Tr0ub4dor&3", " |"},
	{"password", "{\"user\":\"admin\",\"pass\":\"", "S3cr3t!x", "\"}"},
	{"password", "client.setPassword(\"", "Summer2023", "\")"},
	{"password", "char password[32] = \"", "letmein99", "\";"},
	{"password", "Password: **", "Tr0ub4dor&3", "**\n"},
	{"password", "my $passwd = '", "geheim$parole", "';"},
	{"password", "password := `", "pa\"ss'w0rd!", "`"},
	{"password", "password = \"", "p\xc3\xa4ssw\xc3\xb6rd1", "\""},
	{"api_key", "api_key = \"", "d3d1443e0adc9c24564c6c5676d679d47e2ca", "\""},
	{"api_key", "X-Api-Key: ", "c4ed6c21-9dd5-4a05-8e3f-c56d1151cce8", "\n"},
	{"api_key", "apiKey:\"", "6fe4476ee5a1832882e326b506d14126", "\","},
	{"api_key", "The API key: ", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", ". Use it"},
	{"api_key", "setenv(\"MY_API_KEY\", \"", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", "\", 1)"},
	{"api_key", "#define API_KEY \"", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", "\""},
	{"api_key", "https://x/y?a=1&api_key=", "Zf3D0LXCM3EIMbgJ", "&b=2"},
	{"secret", "client_secret: ", "6da89121079f83b2eb6acccf8219ea98", "\n"},
	{"secret", "\"clientSecret\" : \"", "bP88Q~rcBcYjzzOhg1Hnn76Wm3jGgakZiZ.8vMgR", "\""},
	{"secret", "$config['app_secret'] = '", "6dca6432e45d933e13650d1882bd5e69", "';"},
	{"secret", "JWT_SECRET_PROD=", "kq8Xw2vTz5Lm9RbY", "\n"},
	{"secret_key", "private_key = \"", "0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318", "\""},
	{"secret_key", "ENCRYPTION_KEY=", "OSMM+vkKUTCvQs9YL/CVMIMt43HFhkUpqJxTmGl6rYw=", "\n"},
	{"token", "access_token = '", "346a14f2-a672-4668-a892-956a462ab56e", "'"},
	{"token", "self.token: str = \"", "8rzj7r2eqJ2U7affEOO3HJN0", "\""},
	{"token", "refreshToken => '", "tGzv3JOkF0XG5Qx2TlKWIA", "'"},
};

static size_t scan(const char *text, size_t len, struct credential *hits, size_t max)
{
	/* A copy of its own, so that the sanitizer sees a byte read behind the end. */
	char *copy = mem_alloc(len ? len : 1);
	size_t count;

	memcpy(copy, text, len);
	count = credentials_scan((struct str){copy, len}, hits, max);
	free(copy);
	return count;
}

static void show(const char *what, const char *kind, const char *text, size_t len, const struct credential *hits,
		 size_t count)
{
	print_error("%s %s in: %.*s\n", what, kind, (int)len, text);
	for (size_t i = 0; i < count; i++)
		print_error("    found %s: %.*s\n", hits[i].kind, (int)hits[i].len, text + hits[i].at);
}

static bool finds(const struct positive *p)
{
	struct credential hits[4];
	char text[4096];
	int len = snprintf(text, sizeof(text), "%s%s%s", p->before, p->secret, p->after);
	size_t count = scan(text, (size_t)len, hits, COUNT(hits));

	if (count == 1 && hits[0].at == strlen(p->before) && hits[0].len == strlen(p->secret) && strcmp(hits[0].kind,
		p->kind) == 0)
		return true;
	show("not just the", p->kind, text, (size_t)len, hits, count);
	return false;
}

static void each_kind_is_found_and_only_its_value(void **state)
{
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(POSITIVES); i++)
		missed += !finds(&POSITIVES[i]);
	assert_int_equal(missed, 0);
}

#define KEY_LINES "MIIEpAIBAAKCAQEAn6/O8li+SX4m98LLYt/PKSzEmQ++ZBD7\nZ0Xu592euJv2wYUtBlV8z+qnlcNQSnIYVTkLWntUO1F8j8rQ\n"

static void private_keys_are_found_as_whole_blocks(void **state)
{
	static const struct positive blocks[] = {
		{"private_key", "key:\n",
		 "-----BEGIN RSA PRIV" "ATE KEY-----\n" KEY_LINES "-----END RSA PRIV" "ATE KEY-----", "\nthen"},
		{"private_key", "{\"private_key\": \"",
		 "-----BEGIN PRIV" "ATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n-----END PRIV" "ATE KEY-----",
		 "\\n\"}"},
		{"private_key", "",
		 "-----BEGIN RSA PRIV" "ATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" KEY_LINES
		 "-----END RSA PRIV" "ATE KEY-----", "\n"},
		{"private_key", "",
		 "-----BEGIN PGP PRIV" "ATE KEY BLOCK-----\nVersion: x\n\n" KEY_LINES
		 "-----END PGP PRIV" "ATE KEY BLOCK-----", ""},
		{"private_key", "cut: ", "-----BEGIN OPENSSH PRIV" "ATE KEY-----\n" KEY_LINES "and what follows", ""},
		{"private_key", "x ",
		 "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\nAAAB\n"
		 "Private-MAC: 9f86d081884c7d65", "\nmore"},
		{"private_key", "client-key-data: ",
		 "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVBbjYvTzhsaStTWDRtOThMTF"
		 "l0L1BLU3pFbVErK1pCRDcKWjBYdTU5MmV1"
		 "SnYyd1lVdEJsVjg=", "\n"},
	};
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(blocks); i++)
		missed += !finds(&blocks[i]);
	assert_int_equal(missed, 0);
}

/* --- Negatives ----------------------------------------------------------------------------------- */

static const char *const NEGATIVES[] = {
	/* No labels, no columns, no tokens. */
	"let password: UInt8Array", "private password: Sha256Hash\n", "f(the password: Sha256Hash)",
	"The password: required",
	"Reset the password: see step 2", "The new password: changeme123",
	"user,password,mail\nbob,none,b@example.org\n",
	"user, password, and hunter2xy\nare three words, not a row, hunter2xy\n", "user,password\nbob\nann,\n",
	"user,password\n\nbob,hunter2xy\n", "call(user, password,\n     hunter2xy, other)\n",
	"com.example.package.Class2Name",
	"1.2.3-beta.4", "MTIzNDU2Nzg5MDEyMzQ1Njc4", "abcdefghijklmnopqrstuvwx.abcdef.abcdefghijklmnopqrstuvwxyzabc",
	"pattern.matches", "patQ3xW7zLk9Vb2Nm." HEX32, "user | password\nplain | hunter2xy without a rule\n",
	"EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	/* Stand-ins. */
	"password = \"xxxxxxxxxxxx\"", "password: ********", "api_key = \"<your-api-key>\"",
	"API_KEY=your_api_key_here",
	"connect(host=h, password=value1, port=2)", "f(1, password=password2)", "set it with password=some_value, "
	"please",
	"connect(user=me password=value1 and so on)", "x.password=value1 + 2",
	"password: ${DB_PASSWORD}", "PASSWORD=$DB_PASSWORD", "password=\"$1\"", "token: \"{{ vault.token }}\"",
	"password = '%s'",
	"password=%(password)s", "password: changeme", "secret: null", "token = None", "password: true",
	"secret = \"REDACTED-REDACTED\"",
	"password = os.environ[\"DB_PASSWORD_2\"]", "api_key = getenv(\"API_KEY_1\")",
	"const token = process.env.GITHUB_TOKEN_2;",
	"password: !vault |", "password: \"#{ENV['X1']}\"", "set PASSWORD=%DB_PASSWORD1%", "password = \"...\"",
	"token: ENC[AES256,data:x1y2z3]",
	"api_key = f\"{prefix}-{number1}\"", "token: ${{ secrets.DEPLOY_TOKEN_2 }}",
	"gh" "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	"AK" "IAXXXXXXXXXXXXXXXX", "sk" "-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	"password = \"your-password1\"", "password: 'example123'", "password = \"ChangeMe123\"",
	"PASSWORD=REPLACE_ME_1",
	"api_key = \"https://keys.x.org/a1B2c3D4e5F6\"", "password: \"dummy-pass1\"",
	/* URLs with a stand-in. */
	"postgres://user:$PASSWORD@host/db", "postgres://user:<password>@host", "https://user:****@host",
	"https://user:{password}@host",
	"https://user:%s@host", "https://${USER}:${PASS}@host", "http://user:password@example.com",
	"ftp://username:pass@host",
	"https://USER:PASSWORD@host", "http://localhost:8080/@scope/package", "ssh://git@github.com:22/x",
	"http://[::1]:80/a@b:c",
	"https://x:@host", "\"http://\" + user + \":\" + pass + \"@\" + host",
	/* Names of other things, expressions, types. */
	"token = parser.next_token()", "password: string", "secret_name = \"db-credentials\"", "tokens: 4000",
	"max_tokens=4000",
	"token_count = 81231231", "api_key=api_key", "self.password = password", "password = get_password1(user)",
	"token: Token2D",
	"String password = user.getPassword2();", "secretKey: svcAcctReq.SecretKey", "password = input(\"Password: \")",
	"token = tokens[index2]", "next_page_token = \"CAUQAA9x8B7zK2mQ\"",
	"password_hash = \"9f86d081884c7d659a2feaa0c55ad015\"",
	"hashed_password: 9f86d081884c7d659a2feaa0c55ad015",
	"public_key = \"9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit\"",
	"password = \"$2b$12$KIXQ2c0V1bJ8J3nT5rYv1uZ0yX8w7v6u5t4s3r2q1p0o9n8m7l6k5\"", "type=\"password\"",
	"password: 'Password must be 8 long'",
	"#define CHALLENGE_PASSWORD \"challengePassword\"", "API_TOKEN = \"apiToken\"",
	"(\"token\", \"identifier\"), (\"password\", \"string\")",
	"| token | string | the token |", "--password PASSWORD", "--token TOKEN  the token to use",
	"<password>string</password>",
	"password == other.password1", "secret >= 0x1234abcd5678", "token::Kind::Number9x",
	"passwords = [\"a1b2c3d4e5\"]",
	"private_key = \"/etc/ssl/private/server1.key\"", "token_file: ./run/secrets/token1",
	"secret = \"projects/p1/secrets/db/versions/2\"",
	"client_secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:x-AbCdEf", "password: /run/secrets/db1",
	/* Digests, ids, images, times. */
	"commit 3f786850e387550fdab836ed7e6dc881de23001b", "image: x@sha256:" HEX64,
	"id = \"346a14f2-a672-4668-a892-956a462ab56e\"",
	"see ms-4821 through ms-4825 and env-01HXYZ", "etag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
	"<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4\">",
	"integrity: sha512-Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznBZf3D0LXCM3EIMbgJpUNnkRtOfOueHznB==",
	"2024-01-15T10:00:00Z token=42",
	"SK" HEX32, "AC" HEX32 " is a checksum", "npm_config_registry_of_the_whole_company",
	"hf_hub_download_and_other_names_here_x",
	"sk-estimator-doc-link-and-more", "class=\"task-0123456789abcdefghijkl\"",
	/* Headers and words. */
	"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN",
	"Bearer authentication is described in RFC 6750",
	"Basic authentication", "Basic usage: 12", "bearer token", "the password is required",
	"password is hashed with sha256",
	"The password was changed yesterday at 10:30", "curl -u $USER:$PASS https://x",
	"curl -u user:password https://x",
	/* Blocks. */
	"if (strstr(s, \"-----BEGIN PRIV" "ATE KEY-----\")) return 1;",
	"\"-----BEGIN PRIV" "ATE KEY-----\\n\" + key + \"\\n-----END PRIV" "ATE KEY-----\"",
	"-----BEGIN RSA PRIV" "ATE KEY-----\n...\n-----END RSA PRIV" "ATE KEY-----",
	"PWD=/home/user1", "pwd = \"src/lib/x86\"", "pass: \"analysis\"", "getpass(\"Password: \")",
	"token(\"identifier\")",
	"-----BEGIN CERTIFICATE-----\n" KEY_LINES "-----END CERTIFICATE-----",
	"-----BEGIN PUBLIC KEY-----\n" KEY_LINES "-----END PUBLIC KEY-----",
	"PuTTY-User-Key-File-2 is the name of the format", "",
};

static void stand_ins_names_and_digests_are_left_alone(void **state)
{
	struct credential hits[4];
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(NEGATIVES); i++) {
		size_t count = scan(NEGATIVES[i], strlen(NEGATIVES[i]), hits, COUNT(hits));

		if (count) {
			wrong++;
			show("nothing to find, but", hits[0].kind, NEGATIVES[i], strlen(NEGATIVES[i]), hits, count);
		}
	}
	assert_int_equal(wrong, 0);
}

/* --- Several in one text ------------------------------------------------------------------------- */

static void hits_come_in_order_without_overlap_up_to_max(void **state)
{
	static const char text[] = "A=1\npassword = \"Summer2023\"\nurl: postgres://app:s3cr3t-Pa55@db\n"
				   "AK" "IAQ3EGMXW5XK2WVJQA," BASE64_40 "\napi_key: \"gh" "p_" ALNUM36 "\"\n";
	static const char *const kinds[] = {"password", "url_password", "aws_access_key", "aws_secret_key",
					    "github_token"};
	struct credential hits[8], fewer[8];
	size_t count = scan(text, strlen(text), hits, COUNT(hits)), end = 0;

	(void)state;
	assert_int_equal(count, COUNT(kinds));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(hits[i].kind, kinds[i]);
		assert_true(hits[i].at >= end);
		end = hits[i].at + hits[i].len;
	}
	for (size_t max = 0; max <= count; max++) {
		assert_int_equal(scan(text, strlen(text), fewer, max), max);
		assert_memory_equal(fewer, hits, max * sizeof(hits[0]));
	}
}

static void a_token_under_a_secret_name_is_one_hit_of_its_own_kind(void **state)
{
	static const struct positive nested[] = {
		{"stripe_key", "password: \"", "sk" "_live_ReTllpYQYfIZu2Jnf2lAPFjD", "\""},
		{"github_token", "https://x:", "gh" "p_" ALNUM36, "@github.com"},
		{"jwt", "Authorization: Bearer ", JWT, ""},
		{"private_key", "private_key: \"",
		 "-----BEGIN PRIV" "ATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0\\n-----END PRIV" "ATE KEY-----", "\""},
	};
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(nested); i++)
		missed += !finds(&nested[i]);
	assert_int_equal(missed, 0);
}

static void a_value_is_judged_by_the_name_that_it_is_given_to(void **state)
{
	static const struct {
		const char *name, *value, *kind;	/* NULL: none */
		size_t at, len;
	} cases[] = {
		{"db_password", "Summer2023", "password", 0, 10},
		{"apiKey", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", "api_key", 0, 32},
		{"token", "gh" "p_" ALNUM36, "github_token", 0, 40},
		{"url", "redis://:hunter2@cache", "url_password", 9, 7},
		{"Authorization", "Token 22cb987851bc5659229114c62e60c79abd0d2c08", "authorization", 6, 40},
		{"note", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", NULL, 0, 0},
		{"password", "${DB_PASSWORD}", NULL, 0, 0},
		{"token_count", "81234567", NULL, 0, 0},
		{"password", "", NULL, 0, 0},
		{"", "Summer2023", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct credential hit = {0};
		size_t count = credentials_scan_value(str_of(cases[i].name), str_of(cases[i].value), &hit, 1);

		if (count != (cases[i].kind != NULL) || (count && strcmp(hit.kind, cases[i].kind) != 0))
			fail_msg("%s: %s", cases[i].name, cases[i].value);
		assert_int_equal(hit.at, cases[i].at);
		assert_int_equal(hit.len, cases[i].len);
		assert_int_equal(credentials_scan_value(str_of(cases[i].name), str_of(cases[i].value), &hit, 0), 0);
	}
}

static void what_replaces_a_credential_is_none(void **state)
{
	struct credential hits[4];
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(POSITIVES); i++) {
		const struct positive *p = &POSITIVES[i];
		char text[4096];
		int len = snprintf(text, sizeof(text), "%s[redacted: %s]%s", p->before, p->kind, p->after);
		size_t count = scan(text, (size_t)len, hits, COUNT(hits));

		wrong += count > 0;
		if (count)
			show("redacted, but", hits[0].kind, text, (size_t)len, hits, count);
	}
	assert_int_equal(wrong, 0);
}

/* --- Any bytes ----------------------------------------------------------------------------------- */

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

/* What the pass stops at, and pieces that lead far into the parts. */
static const char *const PIECES[] = {
	"password", "token", "api_key", "=", ": ", "\"", "'", "\\\"", "\\", "\n", "://", "@", "-----BEGIN ",
	"PRIV" "ATE KEY", "-----", "-----END ",
	"PuTTY-User-Key-File-2:", "Private-Lines:", "ey" "J", ".", "AK" "IA", "AI" "za", "gh" "p_", "sk" "-", "SG" ".",
	"Bearer ", "Basic ", "curl -u ",
	"--password ", " is ", "value", "name", "Authorization", "<", ">", "|", ",", "#define ", "${", "}}", "%3D",
	"caf\xc3\xa9", "\xe2\x80\xa6",
	"\xf0\x9f\x98\x80", "0123456789abcdef", "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB", "IDENTIFIED BY ", "LS0tLS1CRUdJTi",
	"twilio SK", "mysql -p", " ", "x",
};

static void check_spans(const char *text, size_t len, const struct credential *hits, size_t count)
{
	size_t end = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(hits[i].at >= end && hits[i].len > 0 && hits[i].len <= len - hits[i].at);
		end = hits[i].at + hits[i].len;
		/* Neither end is inside a character. */
		assert_true(((unsigned char)text[hits[i].at] & 0xc0) != 0x80);
		assert_true(end == len || ((unsigned char)text[end] & 0xc0) != 0x80);
	}
}

static void any_text_gives_sound_spans_that_split_no_character(void **state)
{
	uint64_t seed = 7;
	struct credential hits[64];
	char text[2048];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t len = 0, pieces = 1 + rng_below(&seed, 24);

		for (size_t i = 0; i < pieces; i++) {
			const char *piece = PIECES[rng_below(&seed, COUNT(PIECES))];

			memcpy(text + len, piece, strlen(piece));
			len += strlen(piece);
		}
		assert_true(str_is_utf8((struct str){text, len}));
		check_spans(text, len, hits, scan(text, len, hits, COUNT(hits)));
		/* And bytes that are nothing. */
		for (size_t i = 0; i < 8; i++)
			text[rng_below(&seed, len)] = (char)rng_next(&seed);
		scan(text, len, hits, COUNT(hits));
	}
}

/* So much of a value is looked at to judge it; all of it is a secret. */
static void a_secret_that_is_longer_than_what_is_looked_at_is_found_whole(void **state)
{
	static const size_t lengths[] = {255, 256, 257, 300, 5000};
	const char alphabet[] = "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx";
	char text[6000];
	struct credential found[4];

	(void)state;
	for (size_t k = 0; k < COUNT(lengths); k++) {
		size_t begin = (size_t)snprintf(text, sizeof(text), "set api_key="), end = begin;
		uint32_t seed = 7;

		while (end < begin + lengths[k]) {
			seed = seed * 1664525 + 1013904223;
			text[end++] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		snprintf(text + end, sizeof(text) - end, " and go on");
		assert_int_equal(credentials_scan(str_of(text), found, COUNT(found)), 1);
		assert_int_equal(found[0].at, begin);
		assert_int_equal(found[0].len, lengths[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_that_is_longer_than_what_is_looked_at_is_found_whole),
		cmocka_unit_test(each_kind_is_found_and_only_its_value),
		cmocka_unit_test(private_keys_are_found_as_whole_blocks),
		cmocka_unit_test(stand_ins_names_and_digests_are_left_alone),
		cmocka_unit_test(hits_come_in_order_without_overlap_up_to_max),
		cmocka_unit_test(a_token_under_a_secret_name_is_one_hit_of_its_own_kind),
		cmocka_unit_test(a_value_is_judged_by_the_name_that_it_is_given_to),
		cmocka_unit_test(what_replaces_a_credential_is_none),
		cmocka_unit_test(any_text_gives_sound_spans_that_split_no_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
