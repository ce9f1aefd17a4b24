/* Credentials known by the place they stand in: URLs, HTTP headers, command lines, SQL. */
#include "codec/base64.h"
#include "core/guard/credentials_internal.h"

static bool hit(const struct credentials_scan *s, size_t at, size_t end, const char *kind, struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* --- URLs ---------------------------------------------------------------------------------------- */

enum { AUTHORITY_BYTES = 512 };

/* user:password is what documents write, admin:password is a credential. */
static bool is_stand_in_login(struct str user, struct str password)
{
	static const char *const users[] = {
		"user", "username", "usr", "name", "login", "me", "u", "uname", "userid", "joe", "foo", "myuser",
		"someuser", "someone", "account", "id",
	};
	static const char *const passwords[] = {
		"password", "passwd", "pass", "pwd", "passphrase", "secret", "token", "passw0rd", "mypassword",
		"mypass", "somepassword", "key", "apikey", "access_token",
	};
	bool generic_user = user.n == 0, generic = false;

	/* [user:password@]host */
	if (user.n && user.p[0] == '[')
		user = str_sub(user, 1, user.n);

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		generic_user = generic_user || str_ieq(user, str_of(users[i]));
	for (size_t i = 0; i < sizeof(passwords) / sizeof(passwords[0]); i++)
		generic = generic || str_ieq(password, str_of(passwords[i]));
	/* USERNAME:PASSWORD, whoever the user is. */
	return generic && (generic_user || !credentials_is(password.p[0], CH_LOWER));
}

/* https://hooks.slack.com/services/T…/B…/…, https://discord.com/api/webhooks/…/… */
static bool webhook(const struct credentials_scan *s, size_t host, struct credential *ret)
{
	static const struct {
		struct str start;
		size_t least;
		const char *kind;
	} hooks[] = {{{"hooks.slack.com/services/", 25}, 24, "slack_webhook"},
		     {{"hooks.slack.com/workflows/", 26}, 24, "slack_webhook"},
		     {{"hooks.slack.com/triggers/", 25}, 24, "slack_webhook"},
		     {{"discord.com/api/webhooks/", 25}, 24, "discord_webhook"},
		     {{"discordapp.com/api/webhooks/", 28}, 24, "discord_webhook"},
		     {{"hooks.zapier.com/hooks/catch/", 29}, 12, "zapier_webhook"},
		     {{".webhook.office.com/webhookb2/", 30}, 24, "teams_webhook"}};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		size_t at = host, end;

		/* Behind the name of a tenant. */
		if (hooks[i].start.p[0] == '.')
			at = credentials_run(s->text.n - at > 64 ? str_sub(s->text, 0, at + 64) : s->text, at, CH_NAME);
		if (!credentials_here(s->text, at, hooks[i].start))
			continue;
		at += hooks[i].start.n;
		end = at;
		while (end < s->text.n && end < at + 400 && (credentials_is(s->text.p[end], CH_NAME | CH_BASE64) ||
							      s->text.p[end] == '@'))
			end++;
		if (end - at < hooks[i].least || credentials_value_is_placeholder(str_sub(s->text, at, end)) ||
		    (hooks[i].least > 12 && !credentials_value_is_random(str_sub(s->text, at, end), 24)))
			return false;
		return hit(s, at, end, hooks[i].kind, ret);
	}
	return false;
}

/* https://TOKEN@github.com/…; Sentry's are public. */
static bool token_user(const struct credentials_scan *s, size_t start, size_t at_sign, struct credential *ret)
{
	enum { LEAST = 20 };
	struct str t = s->text, user = str_sub(t, start, at_sign);
	struct str host = str_sub(t, at_sign, t.n - at_sign > 80 ? at_sign + 80 : t.n);

	if (start >= s->from && credentials_token_at(s, start, ret))
		return true;
	return user.n >= LEAST && credentials_value_is_random(user, LEAST) &&
	       memmem(host.p, host.n, "sentry", 6) == NULL && hit(s, start, at_sign, "url_password", ret);
}

bool credentials_place_url(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, user, password;
	size_t start = i + 3, limit = t.n - i > AUTHORITY_BYTES ? i + AUTHORITY_BYTES : t.n;
	size_t colon = 0, at_sign = 0, end;

	if (i == 0 || !credentials_is(t.p[i - 1], CH_ALNUM) || !credentials_here(t, i, STR("://")))
		return false;
	for (end = start; end < limit; end++) {
		if ((unsigned char)t.p[end] <= ' ' || credentials_among(t.p[end], "/\"'`\\"))
			break;
		if (t.p[end] == ':' && colon == 0)
			colon = end;
		else if (t.p[end] == '@')
			at_sign = end;
	}
	if (at_sign && (colon == 0 || at_sign < colon))
		return token_user(s, start, at_sign, ret);
	if (colon == 0 || at_sign < colon)
		return webhook(s, start, ret);
	user = str_sub(t, start, colon);
	password = str_sub(t, colon + 1, at_sign);
	if (password.n < 4 || credentials_value_is_placeholder(password) || is_stand_in_login(user, password))
		return false;
	if (colon + 1 >= s->from && credentials_token_at(s, colon + 1, ret))
		return true;
	return hit(s, colon + 1, at_sign, "url_password", ret);
}

/* --- HTTP ---------------------------------------------------------------------------------------- */

/* Base64 of user:password. */
static bool is_basic(struct str value)
{
	struct buf plain;
	bool is = false;

	buf_init(&plain, 512);
	if (base64_decode(value, BASE64_PADDED, &plain) && plain.len >= 3 && str_is_utf8(buf_str(&plain))) {
		size_t colon = str_find(buf_str(&plain), ':');

		is = colon + 1 < plain.len;
		for (size_t i = 0; i < plain.len; i++)
			is = is && (unsigned char)plain.data[i] >= ' ';
	}
	buf_release(&plain);
	return is;
}

/* Both cases and digits: no word that follows "bearer" in a sentence has that. */
static bool is_mixed(struct str value)
{
	unsigned seen = 0;

	for (size_t i = 0; i < value.n; i++)
		seen |= credentials_class[(unsigned char)value.p[i]];
	return value.n >= 12 && (seen & CH_ALNUM) == CH_ALNUM;
}

bool credentials_place_header(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, value;
	bool basic = credentials_here_nocase(t, i, STR("basic "));
	size_t at, end, limit;

	if ((!basic && !credentials_here_nocase(t, i, STR("bearer "))) || !credentials_starts(t, i))
		return false;
	at = i + (basic ? 6 : 7);
	limit = t.n - at > 4096 ? at + 4096 : t.n;
	for (end = at; end < limit && (credentials_is(t.p[end], CH_NAME | CH_DOT | CH_BASE64) || t.p[end] == '~');)
		end++;
	while (end < limit && t.p[end] == '=')
		end++;
	while (end > at && t.p[end - 1] == '.')
		end--;
	value = str_sub(t, at, end);
	if (basic)
		return value.n >= 8 && value.n <= 256 && is_basic(value) && hit(s, at, end, "basic_auth", ret);
	if (at >= s->from && credentials_token_at(s, at, ret))
		return true;
	if (value.n < 8 || credentials_value_is_placeholder(value) ||
	    !(is_mixed(value) || credentials_value_is_random(value, 8)))
		return false;
	return hit(s, at, end, "bearer_token", ret);
}

/* --- Command lines ------------------------------------------------------------------------------- */

bool credentials_place_line_has(struct str text, size_t i, const char *word)
{
	size_t start = credentials_read_line(text, i), low = i > 512 ? i - 512 : 0;

	while (start > low + 1 && text.p[start - 1] == '\n' && text.p[start - 2] == '\\')
		start = credentials_read_line(text, start - 1);
	return memmem(text.p + start, i - start, word, strlen(word)) != NULL;
}

/* curl -u user:password; either may be in quotes of its own. */
static bool curl_user(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, user, password;
	struct credentials_value v, quoted;
	size_t colon;

	if (!credentials_read_value(t, i, &v) || v.code)
		return false;
	colon = v.at + str_find(str_sub(t, v.at, v.end), ':');
	if (colon >= v.end && credentials_byte(t, v.end) != ':')
		return false;
	user = str_sub(t, v.at, colon);
	/* KEY: with no password */
	if (user.n >= 20 && colon + 1 >= v.end && credentials_is(credentials_byte(t, colon + 1), CH_SPACE) &&
	    credentials_value_is_random(user, 20))
		return hit(s, v.at, colon, "basic_auth", ret);
	if (colon + 1 >= v.end) {
		if (!credentials_read_value(t, colon + 1, &quoted) || !quoted.quoted)
			return false;
		v = quoted;
		colon = v.at - 1;
	}
	password = str_sub(t, colon + 1, v.end);
	if (password.n < 4 || credentials_value_is_placeholder(password) || is_stand_in_login(user, password))
		return false;
	return hit(s, colon + 1, v.end, "basic_auth", ret);
}

/* The end of curl's option for a user, alone or behind others: -u, -sSu, --user; 0: it is none. */
static size_t user_option(struct str text, size_t i)
{
	size_t end = i + 1;

	if (credentials_here(text, i, STR("--user ")) || credentials_here(text, i, STR("--user=")))
		return i + 7;
	while (end < text.n && end < i + 8 && credentials_is(text.p[end], CH_LETTER) && text.p[end] != 'u')
		end++;
	if (credentials_byte(text, end) != 'u')
		return 0;
	end++;
	/* -uuser:password; other options go on with letters. */
	return credentials_is(credentials_byte(text, end), CH_SPACE) ||
			       credentials_byte(text, credentials_run(text, end, CH_NAME | CH_DOT)) == ':'
		       ? end : 0;
}

/* curl -u user:password, -sSu user:password, -uuser:password */
bool credentials_place_command(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	size_t end;

	if (i == 0 || s->text.p[i - 1] != ' ')
		return false;
	end = user_option(s->text, i);
	if (end && credentials_place_line_has(s->text, i, "curl") && curl_user(s, end, ret))
		return true;
	return credentials_command_option(s, i, ret);
}

/* --- SQL ------------------------------------------------------------------------------------------- */

bool credentials_place_sql(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	struct credentials_value v;
	const char *kind;

	if (!credentials_here(t, i, STR("IDENTIFIED BY ")) || !credentials_read_value(t, i + 14, &v) || !v.quoted ||
	    v.at < s->from ||
	    !credentials_value_is_secret(str_sub(t, v.at, v.end), NAME_PASSWORD, FORM_QUOTED, &kind))
		return false;
	return hit(s, v.at, v.end, kind, ret);
}

/* --- Prose --- */

/* What is put before a name or a type in code: no sentence begins with it. */
static const char *const CODE_WORDS[] = {
	"let", "var", "val", "const", "pub", "mut", "private", "public", "protected", "internal", "static", "final",
	"readonly", "def", "fn", "func", "fun", "function", "param", "required", "optional", "override", "lazy",
	"weak", "string", "char", "int", "auto", "unsigned", "return", "if", "local", "case",
};

static bool is_code_word(struct str word)
{
	for (size_t i = 0; i < sizeof(CODE_WORDS) / sizeof(CODE_WORDS[0]); i++)
		if (str_ieq(word, str_of(CODE_WORDS[i])))
			return true;
	return false;
}

bool credentials_place_prose(struct str t, size_t at)
{
	struct str words = str_trim(str_sub(t, credentials_read_line(t, at), at)), first;
	int open = 0;

	if (at > 0 && !credentials_among(t.p[at - 1], " \t\n*`_\"'/&+("))
		return false;
	for (size_t i = 0; i < words.n; i++) {
		char c = words.p[i];

		/* f(x: is code, (x: a remark. */
		open += (c == '(' && i > 0 && words.p[i - 1] != ' ') - (c == ')');
		if ((unsigned char)c < 0x80 && !credentials_is(c, CH_NAME | CH_DOT | CH_SPACE) &&
		    !credentials_among(c, "'*`\"/:,;&@#>!?+(){="))
			return false;
	}
	first = str_cut(&words, ' ');
	return open <= 0 && (words.p == NULL || !is_code_word(first));
}
