/* Passwords that are the argument of a call by their place: login(user, 'X'), auth=('user', 'X'), VALUES ('bob', 'X')
 * behind the columns that they are for, and user:X@tcp(…) of Go's databases.
 */
#include "core/guard/credentials_internal.h"

static bool judge(const struct credentials_scan *s, enum credentials_name sort, size_t at, struct credential *ret)
{
	struct credentials_value v;
	const char *kind;

	if (!credentials_read_value(s->text, at, &v) || !v.quoted || v.at < s->from)
		return false;
	if (credentials_token_at(s, v.at, ret))
		return true;
	if (!credentials_read_secret(s->text, &v, sort, FORM_LITERAL, &kind))
		return false;
	*ret = (struct credential){v.at, v.end - v.at, kind};
	return true;
}

/* The place of the bracket that the argument behind the comma at i stands in, and its number; text.n: none near. What
 * was found for the comma before is of use: a list may be long. */
static size_t read_call(struct credentials_scan *s, size_t i, unsigned *ret_argument)
{
	enum { LOOK = 200 };
	struct str text = s->text;
	size_t low = i > LOOK ? i - LOOK : 0, at = i;
	int depth = 0;

	*ret_argument = 1;
	while (at > low) {
		char c = text.p[--at];

		if (at == s->call.comma && depth == 0 && at > 0) {
			*ret_argument = s->call.argument + 1;
			return s->call.open;
		}
		if (c == ')' || c == ']')
			depth++;
		else if ((c == '(' || c == '[') && depth-- == 0)
			return at;
		else if (c == ',' && depth == 0)
			++*ret_argument;
		else if (c == ';' || c == '\n')
			break;
	}
	return text.n;
}

/* Is the argument a password by the name of what is called? */
static bool takes_password(struct str before, unsigned argument)
{
	static const struct {
		struct str name;
		unsigned argument;
	} calls[] = {
		{{"auth=", 5}, 1}, {{"auth:", 5}, 1}, {{"auth = ", 7}, 1}, {{"basicauth", 9}, 1},
		{{"basic_auth", 10}, 1}, {{".login", 6}, 1}, {{"digestauth", 10}, 1}, {{"pdo", 3}, 2},
		{{"mysqli_connect", 14}, 2}, {{"mysql_connect", 13}, 2}, {{"mysqli", 6}, 2}, {{"getconnection", 13}, 2},
		{{"networkcredential", 17}, 1}, {{"usernamepasswordcredentials", 27}, 1},
		{{"passwordauthentication", 22}, 1}, {{"ftp_login", 9}, 2}, {{"ssh2_auth_password", 18}, 2},
		{{".authenticate", 13}, 1}, {{"plainauth", 9}, 2},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (argument == calls[i].argument && before.n >= calls[i].name.n &&
		    credentials_here_nocase(before, before.n - calls[i].name.n, calls[i].name))
			return true;
	return false;
}

/* The name of the column that the value is for: (a, b) VALUES (1, 2) */
static enum credentials_name column_of(struct str before, unsigned argument)
{
	struct str list, name = STR_NULL;
	size_t end = before.n, start;

	before = str_trim(before);
	if (before.n < 6 || !credentials_here_nocase(before, before.n - 6, STR("values")))
		return NAME_NONE;
	before = str_trim(str_sub(before, 0, before.n - 6));
	end = before.n;
	if (end == 0 || before.p[end - 1] != ')')
		return NAME_NONE;
	for (start = end - 1; start > 0 && before.p[start] != '(';)
		start--;
	if (before.p[start] != '(')
		return NAME_NONE;
	list = str_sub(before, start + 1, end - 1);
	for (unsigned k = 0; k <= argument; k++)
		name = list.p ? str_trim(str_cut(&list, ',')) : STR_NULL;
	while (name.n && credentials_among(name.p[0], "`\"["))
		name = str_sub(name, 1, name.n);
	while (name.n && credentials_among(name.p[name.n - 1], "`\"]"))
		name.n--;
	return name.n ? credentials_name_of(name) : NAME_NONE;
}

bool credentials_login_argument(struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LOOK = 400 };
	struct str t = s->text, before;
	size_t at = i + 1, open;
	unsigned argument;
	enum credentials_name sort;

	while (at < t.n && at < i + 16 && credentials_is(t.p[at], CH_SPACE))
		at++;
	if (!credentials_among(credentials_byte(t, at), "'\""))
		return false;
	open = read_call(s, i, &argument);
	s->call.comma = i;
	s->call.open = open;
	s->call.argument = argument;
	if (open == t.n)
		return false;
	before = str_sub(t, open > LOOK ? open - LOOK : 0, open);
	if (takes_password(before, argument))
		return judge(s, NAME_PASSWORD, at, ret);
	sort = column_of(before, argument);
	return sort != NAME_NONE && sort != NAME_VALUE && sort != NAME_AUTHORIZATION && judge(s, sort, at, ret);
}

/* app:X@tcp(db:3306)/prod */
bool credentials_login_dsn(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LOOK = 64 };
	struct str t = s->text;
	size_t end = i + 1, limit = t.n - i > LOOK ? i + LOOK : t.n;
	const char *at_sign;

	if (i == 0 || !credentials_is(t.p[i - 1], CH_WORD) || credentials_among(credentials_byte(t, i + 1), "/ :"))
		return false;
	at_sign = memchr(t.p + end, '@', limit - end);
	if (at_sign == NULL)
		return false;
	while (end < limit && (unsigned char)t.p[end] > ' ' && t.p[end] != '@' && t.p[end] != '"')
		end++;
	if (!credentials_here(t, end, STR("@tcp(")) && !credentials_here(t, end, STR("@unix(")))
		return false;
	if (end - i < 5 || i + 1 < s->from || credentials_value_is_placeholder(str_sub(t, i + 1, end)))
		return false;
	*ret = (struct credential){i + 1, end - i - 1, "url_password"};
	return true;
}
