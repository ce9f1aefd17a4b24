/* Passwords on command lines: the options of programs that take one, what is piped into a program that reads one, and
 * the arguments that stand for one by their place.
 */
#include "core/guard/credentials_internal.h"

static bool hit(const struct credentials_scan *s, size_t at, size_t end, const char *kind, struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* --- Options --- */

enum takes {
	TAKES_NEXT,	/* -p password */
	TAKES_REST,	/* -ppassword */
	TAKES_EITHER,
	TAKES_BEHIND,	/* -U user%password */
	TAKES_COOKIES	/* -b 'session=…' */
};

/* Of a program that says so before it on the line. Others have the same option for a port or a path. */
static const struct option {
	const char *program;
	struct str option;
	enum takes takes;
} OPTIONS[] = {
	{"mysql", {"-p", 2}, TAKES_REST}, {"mariadb", {"-p", 2}, TAKES_REST}, {"sshpass", {"-p", 2}, TAKES_EITHER},
	{"7z", {"-p", 2}, TAKES_REST}, {"docker login", {"-p", 2}, TAKES_NEXT},
	{"podman login", {"-p", 2}, TAKES_NEXT}, {"helm registry login", {"-p", 2}, TAKES_NEXT},
	{"az login", {"-p", 2}, TAKES_NEXT}, {"useradd", {"-p", 2}, TAKES_NEXT}, {"usermod", {"-p", 2}, TAKES_NEXT},
	{"redis-cli", {"-a", 2}, TAKES_NEXT}, {"sqlcmd", {"-P", 2}, TAKES_EITHER}, {"bcp", {"-P", 2}, TAKES_EITHER},
	{"ipmitool", {"-P", 2}, TAKES_NEXT}, {"zip", {"-P", 2}, TAKES_NEXT}, {"ldap", {"-w", 2}, TAKES_NEXT},
	{"openssl enc", {"-k", 2}, TAKES_NEXT}, {"snmp", {"-A", 2}, TAKES_NEXT}, {"snmp", {"-X", 2}, TAKES_NEXT},
	{"gh secret", {"-b", 2}, TAKES_NEXT}, {"gh secret", {"--body", 6}, TAKES_NEXT},
	{"put-parameter", {"--value", 7}, TAKES_NEXT}, {"secretsmanager", {"--secret-string", 15}, TAKES_NEXT},
	{"smbclient", {"-U", 2}, TAKES_BEHIND}, {"rpcclient", {"-U", 2}, TAKES_BEHIND},
	{"curl", {"-b", 2}, TAKES_COOKIES}, {"curl", {"--cookie", 8}, TAKES_COOKIES},
	{"ConvertTo-SecureString", {"-String", 7}, TAKES_NEXT},
};

static bool judge(const struct credentials_scan *s, struct credentials_value *v, struct credential *ret)
{
	const char *kind;

	if (v->code || v->at < s->from)
		return false;
	if (credentials_token_at(s, v->at, ret))
		return true;
	return credentials_read_secret(s->text, v, NAME_PASSWORD, v->quoted ? FORM_QUOTED : FORM_LITERAL, &kind) &&
	       hit(s, v->at, v->end, kind, ret);
}

static bool read_option(const struct credentials_scan *s, size_t i, const struct option *o, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i + o->option.n;
	bool next = credentials_byte(t, at) == ' ' || credentials_byte(t, at) == '=';
	struct credentials_value v;

	if (o->takes == TAKES_COOKIES)
		return credentials_cookie_pairs(s, at + next, ret);
	if ((next && o->takes == TAKES_REST) || (!next && o->takes != TAKES_REST && o->takes != TAKES_EITHER) ||
	    !credentials_read_value(t, at + next, &v))
		return false;
	if (o->takes == TAKES_BEHIND) {
		v.at += str_find(str_sub(t, v.at, v.end), '%') + 1;
		v.plain_end = v.plain_end < v.at ? v.end : v.plain_end;
		if (v.at >= v.end)
			return false;
	}
	return judge(s, &v, ret);
}

/* There are many options, and few begin like these. */
bool credentials_command_option(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	char first = credentials_byte(s->text, i + 1), second = credentials_byte(s->text, i + 2);

	if (!credentials_among(first, "-pPawkAXbUS") || (first == '-' && !credentials_among(second, "bvsc")))
		return false;
	for (size_t k = 0; k < sizeof(OPTIONS) / sizeof(OPTIONS[0]); k++)
		if (credentials_here(s->text, i, OPTIONS[k].option) &&
		    credentials_place_line_has(s->text, i, OPTIONS[k].program))
			return read_option(s, i, &OPTIONS[k], ret);
	return false;
}

/* --- Pipes --- */

/* Programs that read a password or a token from their input, with what their line has then. */
static const struct reader {
	struct str program;
	const char *text;
	bool is_pair;		/* user:password */
} READERS[] = {
	{{"docker ", 7}, "--password-stdin", false}, {{"podman ", 7}, "--password-stdin", false},
	{{"helm ", 5}, "--password-stdin", false}, {{"sudo ", 5}, "S ", false}, {{"sudo ", 5}, "chpasswd", true},
	{{"chpasswd", 8}, "", true}, {{"passwd ", 7}, "--stdin", false}, {{"sudo ", 5}, "passwd --stdin", false},
	{{"gh ", 3}, "--with-token", false}, {{"gh ", 3}, "secret set", false}, {{"gcloud ", 7}, "secrets", false},
	{{"docker ", 7}, "secret create", false}, {{"kubectl ", 8}, "create secret", false},
	{{"vault ", 6}, "login -", false}, {{"cryptsetup ", 11}, "", false},
};

/* The last argument of echo or printf before the bar at i. */
static bool read_echo(struct str text, size_t i, struct credentials_value *ret)
{
	static const struct str commands[] = {{"echo ", 5}, {"printf ", 7}};
	size_t line = credentials_read_line(text, i);
	const char *found = NULL;
	size_t at;

	for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]) && !found; k++) {
		found = memmem(text.p + line, i - line, commands[k].p, commands[k].n);
		found = found ? found + commands[k].n : NULL;
	}
	if (!found)
		return false;
	at = (size_t)(found - text.p);
	while (at < i && (text.p[at] == ' ' || (text.p[at] == '-' && at + 2 < i && text.p[at + 2] == ' ')))
		at += text.p[at] == '-' ? 2 : 1;
	return credentials_read_value(text, at, ret) && ret->end <= i;
}

bool credentials_command_pipe(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LOOK = 120 };
	struct str t = s->text, behind = str_sub(t, i, t.n - i > LOOK ? i + LOOK : t.n);
	struct credentials_value v;
	const char *newline;

	if (credentials_byte(t, i + 1) != ' ' || i < 6 || t.p[i - 1] != ' ')
		return false;
	for (size_t k = 0; k < sizeof(READERS) / sizeof(READERS[0]); k++) {
		if (!credentials_here(t, i + 2, READERS[k].program))
			continue;
		newline = memchr(behind.p, '\n', behind.n);
		behind.n = newline ? (size_t)(newline - behind.p) : behind.n;
		if (!memmem(behind.p, behind.n, READERS[k].text, strlen(READERS[k].text)))
			continue;
		if (!read_echo(t, i, &v))
			return false;
		if (READERS[k].is_pair)
			v.at += str_find(str_sub(t, v.at, v.end), ':') + 1;
		return v.at < v.end && judge(s, &v, ret);
	}
	return false;
}

/* --- Arguments --- */

/* Behind the words, and so many more arguments. */
static const struct argument {
	struct str words;
	size_t stop;		/* place in words of the byte that the scan stops at */
	unsigned skip;
	bool drawn;		/* a token, and no file or user */
} ARGUMENTS[] = {
	{{"htpasswd -b ", 12}, 5, 2, false}, {{"htpasswd -cb ", 13}, 5, 2, false},
	{{"htpasswd -bc ", 13}, 5, 2, false}, {{"htpasswd -bB ", 13}, 5, 2, false},
	{{"htpasswd -nb ", 13}, 5, 1, false}, {{"htpasswd -nbB ", 14}, 5, 1, false},
	{{"requirepass ", 12}, 10, 0, false}, {{"enable password ", 16}, 10, 0, false},
	{{"enable secret ", 14}, 10, 0, false}, {{"wandb login ", 12}, 9, 0, true},
	{{"_authToken ", 11}, 7, 0, true}, {{"-SecureString ", 14}, 0, 0, false},
};

bool credentials_command_argument(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;

	for (size_t k = 0; k < sizeof(ARGUMENTS) / sizeof(ARGUMENTS[0]); k++) {
		const struct argument *a = &ARGUMENTS[k];
		size_t at = i - a->stop + a->words.n;
		struct credentials_value v;

		if (a->words.p[a->stop] != t.p[i] || i < a->stop || !credentials_here(t, i - a->stop, a->words))
			continue;
		for (unsigned skip = a->skip; skip; skip--) {
			if (!credentials_read_value(t, at, &v))
				return false;
			at = v.end + v.quoted;
		}
		/* Cisco says how it is written: 0 in plain text. */
		if (credentials_here(t, at, STR("0 ")))
			at += 2;
		if (!credentials_read_value(t, at, &v) || t.p[v.at] == '-' || t.p[v.at] == '$' ||
		    (a->drawn && !credentials_value_is_random(str_sub(t, v.at, v.end), 20)))
			return false;
		return judge(s, &v, ret);
	}
	return false;
}
