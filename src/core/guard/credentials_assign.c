/* Values given to a name that stands for a secret: name = value and its kin.
 *
 * The scan stops at the sign; the name is read backwards from it, and only a secret's name has the value read and
 * judged. Names end at the sign before, so that all of them together cost no more than the text; values are judged by
 * their first 256 bytes.
 */
#include "core/guard/credentials_said.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The value as a token known by its form, or as what its name makes of it. */
bool credentials_assign_judge(const struct credentials_scan *s, struct credentials_value *v,
			      enum credentials_name name, enum credentials_form form, struct credential *ret)
{
	const char *kind;
	size_t end;

	if (v->at < s->from || v->code)
		return false;
	if (credentials_token_at(s, v->at, ret) || credentials_block_base64(s, v->at, ret))
		return true;
	if (!credentials_read_secret(s->text, v, name, form, &kind))
		return false;
	end = v->end;
	if (!v->quoted && end - v->at == CREDENTIALS_VALUE_LOOK)
		end = credentials_read_on(s->text, end);
	*ret = (struct credential){v->at, end - v->at, kind};
	return true;
}

/* --- Name, sign, value --------------------------------------------------------------------------- */

/* Before "{ get; set; } =": the end of the property's name. */
static bool before_property(struct str text, size_t i, size_t *ret_name_end)
{
	static const struct str bodies[] = {{"{ get; set; } ", 14}, {"{ get; init; } ", 15}, {"{ get; } ", 9}};

	for (size_t k = 0; k < sizeof(bodies) / sizeof(bodies[0]); k++)
		if (i > bodies[k].n && credentials_here(text, i - bodies[k].n, bodies[k])) {
			*ret_name_end = i - bodies[k].n;
			return true;
		}
	return false;
}

/* Where the sign at i ends the name and lets the value begin; false where it is another sign: <= -> :: =~. A comparison
 * counts too, with a value in quotes. */
static bool read_sign(struct str text, size_t i, size_t *ret_name_end, size_t *ret_value, bool *ret_compares)
{
	char prev = i > 0 ? text.p[i - 1] : '\n', next = credentials_byte(text, i + 1);

	*ret_compares = false;
	*ret_name_end = i;
	*ret_value = i + 1;
	/* C#: Password { get; set; } = … */
	if (text.p[i] == '=' && prev == ' ' && before_property(text, i, ret_name_end))
		return true;
	/* "password:: …" of AsciiDoc and Org; Haskell's types are no passwords. */
	if (text.p[i] == ':' && prev == ':' && next == ' ' && i > 1 && text.p[i - 2] != ':') {
		*ret_name_end = i - 1;
		return true;
	}
	if (text.p[i] == ':')
		return prev != ':' && next != ':' && next != '=';
	/* =~ is an operator where a blank follows, or a pattern. */
	if (next == '~' && !credentials_is(credentials_byte(text, i + 2), CH_ALNUM))
		return false;
	if (next == '=' || credentials_among(prev, "<>+-*/%&^~"))
		return false;
	if (next == '>')
		*ret_value = i + 2;
	if (prev == '=' || prev == '!') {
		*ret_compares = true;
		while (*ret_name_end > 0 && i - *ret_name_end < 2 && credentials_among(text.p[*ret_name_end - 1], "=!"))
			--*ret_name_end;
	} else {
		while (*ret_name_end > 0 && i - *ret_name_end < 2 &&
		       credentials_among(text.p[*ret_name_end - 1], ":?|"))
			--*ret_name_end;
	}
	return true;
}

/* "api key: …" in a sentence. */
enum credentials_name credentials_assign_two_words(struct str text, struct str name)
{
	size_t at = (size_t)(name.p - text.p);
	struct str first;

	/* "root pw: …": a word that is too short to count alone. */
	if (str_ieq(name, STR("pw")) && credentials_byte(text, at + 2) == ':' &&
	    (at == 0 || credentials_is(text.p[at - 1], CH_SPACE)))
		return NAME_PASSWORD;
	if (!str_ieq(name, STR("key")) || at < 3 || text.p[at - 1] != ' ' ||
	    !credentials_is(text.p[at - 2], CH_ALNUM) || !credentials_read_name(text, at - 1, &first))
		return NAME_NONE;
	return credentials_name_of((struct str){first.p, (size_t)(name.p + name.n - first.p)});
}

/* password: Optional[str] = "…", with the value in quotes. */
static enum credentials_name name_before_type(struct str text, size_t end, size_t value)
{
	size_t low = end > 40 ? end - 40 : 0, i = end;
	struct str name;

	value += credentials_byte(text, value) == ' ';
	if (!credentials_among(credentials_byte(text, value), "\"'`\\"))
		return NAME_NONE;
	while (i > low &&
	       (credentials_is(text.p[i - 1], CH_WORD | CH_DOT) || credentials_among(text.p[i - 1], " &'<>[]|?*")))
		i--;
	if (i < 2 || i == low || text.p[i - 1] != ':' || text.p[i - 2] == ':' ||
	    !credentials_read_name(text, i - 1, &name))
		return NAME_NONE;
	return credentials_name_of(name);
}

/* {"key": "DB_PASSWORD", "type": "env", "value": "…"}, <input type="password" name="p" value="…">: a member or an
 * attribute of the same object, before "value" at at. */
static enum credentials_name name_in_object(struct str text, size_t at)
{
	enum { LOOK = 240 };
	size_t low = at > LOOK ? at - LOOK : 0, i = at;
	struct credentials_value v;
	struct str name;

	while (i > low && !credentials_among(text.p[i - 1], "{}<>")) {
		enum credentials_name sort;

		i--;
		if ((text.p[i] != ':' && text.p[i] != '=') || !credentials_read_name(text, i, &name) ||
		    !credentials_name_names(name) || !credentials_read_value(text, i + 1, &v) || v.end >= at)
			continue;
		sort = credentials_name_of(str_sub(text, v.at, v.end));
		if (sort != NAME_NONE && sort != NAME_VALUE && sort != NAME_AUTHORIZATION)
			return sort;
	}
	return NAME_NONE;
}

/* name: DB_PASSWORD, value: "…", over lines, in JSON and in XML: the name that "value" at at is of. */
static enum credentials_name name_beside(struct str text, size_t at)
{
	size_t low = at > 80 ? at - 80 : 0, end = at;
	struct str given, name;

	while (end > low && credentials_among(text.p[end - 1], " \t\r\n\"'\\,{-"))
		end--;
	if (end == at || !credentials_read_name(text, end, &given))
		return NAME_NONE;
	end = (size_t)(given.p - text.p);
	while (end > low && credentials_among(text.p[end - 1], " \t\"'\\"))
		end--;
	if (end >= 2 && (text.p[end - 1] == ':' || text.p[end - 1] == '=') &&
	    credentials_read_name(text, end - 1, &name) && credentials_name_names(name) &&
	    credentials_name_of(given) != NAME_NONE)
		return credentials_name_of(given);
	return name_in_object(text, at);
}

/* Only such words stand between the beginning of a line and a name in an environment file, a Dockerfile, YAML or a
 * log. */
static bool begins_line(struct str text, size_t at)
{
	static const struct str words[] = {{"export", 6}, {"set", 3}, {"ENV", 3}, {"env", 3}, {"ARG", 3}, {"-e", 2}};
	struct str before = str_trim(str_sub(text, credentials_read_line(text, at), at));

	while (before.n && credentials_among(before.p[0], "-+#>*\"'") && !str_is(before, "-e"))
		before = str_trim(str_sub(before, 1, before.n));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_has_suffix(before, words[i]))
			return true;
	return before.n == 0;
}

static bool ends_line(struct str text, size_t end)
{
	while (end < text.n && (is_blank(text.p[end]) || text.p[end] == '\r'))
		end++;
	return end >= text.n || text.p[end] == '\n' || (text.p[end] == '#' && is_blank(text.p[end - 1])) ||
	       (text.p[end] == '\\' && credentials_byte(text, end + 1) == 'n') || text.p[end] == '"' ||
	       text.p[end] == '\'';
}

static bool is_capitals(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (credentials_is(name.p[i], CH_LOWER))
			return false;
	return true;
}

/* …;Server=x, …&user=y: one of several in a connection string or a query. */
static bool precedes_another(struct str text, size_t end)
{
	struct str look = text.n - end > CREDENTIALS_NAME_BYTES ? str_sub(text, 0, end + CREDENTIALS_NAME_BYTES) : text;
	size_t name_end;

	if (!credentials_among(credentials_byte(text, end), ";&"))
		return false;
	name_end = credentials_run(look, end + 1, CH_NAME | CH_DOT);
	return name_end > end + 1 && credentials_byte(text, name_end) == '=';
}

/* -o username=bob,password=x,vers=3.0: between commas, and in no call. */
static bool is_option(struct str text, size_t at, size_t end)
{
	struct str line = str_sub(text, credentials_read_line(text, at), at);

	return credentials_among(at > 0 ? text.p[at - 1] : ' ', ",") && str_find(line, '=') < line.n &&
	       str_find(line, '(') == line.n && credentials_among(credentials_byte(text, end), ", \n\r");
}

/* "Log in with user=admin password=…, then go on.": a name with nothing but a space before it, and behind the value
 * a word, or the end of the sentence. A list of arguments ends with a bracket. */
static bool in_sentence(struct str text, size_t at, size_t end)
{
	struct str line = str_sub(text, credentials_read_line(text, at), text.n);

	if (at > 0 && !credentials_is(text.p[at - 1], CH_SPACE))
		return false;
	if (memchr(line.p, '(', (size_t)(text.p + at - line.p)))
		return false;
	if (end < text.n && credentials_among(text.p[end], ".,"))
		end++;
	if (end < text.n && !credentials_is(text.p[end], CH_SPACE))
		return false;
	while (end < text.n && is_blank(text.p[end]))
		end++;
	return end >= text.n || credentials_is(text.p[end], CH_LETTER | CH_SPACE);
}

/* May an expression stand here, or only a value? */
static enum credentials_form form_of(struct str text, struct str name, size_t sign, const struct credentials_value *v)
{
	size_t at = (size_t)(name.p - text.p);
	bool tight = at + name.n == sign && v->at == sign + 1;
	char before = at > 0 ? text.p[at - 1] : '\n';

	if (v->quoted)
		return FORM_QUOTED;
	if (text.p[sign] == '=' && tight &&
	    (name.p[0] == '-' || credentials_among(before, "?&;=") || precedes_another(text, v->end) ||
	     is_option(text, at, v->end)))
		return FORM_LITERAL;
	if (!ends_line(text, v->end) || !begins_line(text, at))
		return text.p[sign] == '=' && tight && (is_capitals(name) || in_sentence(text, at, v->end))
			       ? FORM_LITERAL : FORM_BARE;
	if (text.p[sign] == '=' && tight)
		return is_capitals(name) ? FORM_QUOTED : FORM_LITERAL;
	return text.p[sign] == ':' && v->at > sign + 1 ? FORM_LITERAL : FORM_BARE;
}

/* NAME=value alone on its line: nothing that ends it belongs to a sentence. */
static void end_of_line(struct str text, size_t name, struct credentials_value *v)
{
	size_t end;

	if (v->quoted || v->end == v->at || v->end - v->at >= CREDENTIALS_VALUE_LOOK || !begins_line(text, name) ||
	    (name > 0 && !credentials_is(text.p[name - 1], CH_SPACE)))
		return;
	for (end = v->end; end < text.n && credentials_among(text.p[end], ".,;:?*)]}>\"'`");)
		end++;
	if (end == text.n || credentials_is(text.p[end], CH_SPACE))
		v->end = end;
}

/* Authorization: Token …; Bearer and Basic are found without the header's name. */
bool credentials_assign_authorization(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	struct credentials_value v = {0};
	size_t scheme;

	while (i < t.n && (is_blank(t.p[i]) || credentials_among(t.p[i], "\"'`\\")))
		i++;
	scheme = credentials_run(t, i, CH_LETTER | CH_DASH);
	if (scheme > i && scheme + 1 < t.n && t.p[scheme] == ' ') {
		if (str_ieq(str_sub(t, i, scheme), STR("bearer")) || str_ieq(str_sub(t, i, scheme), STR("basic")))
			return false;
		i = scheme + 1;
	}
	if (credentials_here(t, i, STR("AWS4-")))
		return false;
	return credentials_read_value(t, i, &v) && credentials_assign_judge(s, &v, NAME_AUTHORIZATION, FORM_BARE, ret);
}

/* Does the line end behind blanks at i, or behind YAML's | or >, with - or + ? */
static bool is_open(struct str text, size_t i)
{
	while (i < text.n && is_blank(text.p[i]))
		i++;
	if (i < text.n && credentials_among(text.p[i], "|>"))
		i += 1 + credentials_among(credentials_byte(text, i + 1), "-+");
	return i < text.n && credentials_among(text.p[i], "\r\n");
}

/* password = <<EOT, and the fence of Markdown behind "Password:": the value is on the line below. */
static size_t skip_opening(struct str text, size_t sign, size_t i)
{
	size_t at = i, limit = text.n - i > 40 ? i + 40 : text.n;

	while (at < limit && credentials_is(text.p[at], CH_SPACE))
		at++;
	if (!(text.p[sign] == ':' && credentials_here(text, at, STR("```"))) &&
	    !(text.p[sign] == '=' && credentials_here(text, at, STR("<<"))))
		return i;
	while (at < limit && text.p[at] != '\n')
		at++;
	return at < limit ? at : i;
}

/* A value on the next line is read where it is in quotes, or alone on that line behind a colon: no key and no
 * statement. */
static size_t next_line(struct str text, size_t sign, size_t i, bool *ret_is_next)
{
	size_t start = i, limit = text.n - i > 80 ? i + 80 : text.n, end;
	size_t opening = skip_opening(text, sign, i);
	bool open = (text.p[sign] == ':' && is_open(text, opening)) || opening != i;

	*ret_is_next = false;
	i = opening;
	limit = text.n - i > 80 ? i + 80 : text.n;
	while (i < limit && (credentials_is(text.p[i], CH_SPACE) || (open && credentials_among(text.p[i], "|>-+"))))
		i++;
	if (i < limit && (text.p[i] == '"' || text.p[i] == '\''))
		return i;
	if (!open || i >= limit)
		return start;
	for (end = i; end < limit && !credentials_is(text.p[end], CH_SPACE);)
		end++;
	*ret_is_next = end > i && ends_line(text, end) && !credentials_among(text.p[end - 1], ":,;({[");
	return *ret_is_next ? i : start;
}

/* No bracket closes what is open at from. */
static bool is_within(const char *from, const char *to)
{
	int depth = 0;

	for (; from < to && depth >= 0; from++)
		depth += *from == '{' ? 1 : *from == '}' ? -1 : 0;
	/* The block of the variable itself. */
	return depth == 1;
}

/* variable "db_password" { … default = "…" } */
static enum credentials_name name_of_variable(struct str text, size_t at)
{
	size_t low = at > 400 ? at - 400 : 0, end;
	const char *found = NULL, *from = text.p + low;

	while ((from = memmem(from, (size_t)(text.p + at - from), "variable \"", 10)))
		found = from += 10;
	if (found == NULL || !is_within(found, text.p + at))
		return NAME_NONE;
	end = credentials_run(str_sub(text, 0, at), (size_t)(found - text.p), CH_NAME);
	return credentials_byte(text, end) == '"' ? credentials_name_of(str_sub(text, (size_t)(found - text.p), end))
						  : NAME_NONE;
}

/* **Password:** … */
static size_t skip_stars(struct str text, size_t i)
{
	size_t end = i;

	while (end < text.n && end - i < 3 && text.p[end] == '*')
		end++;
	return is_blank(credentials_byte(text, end)) ? end : i;
}

/* "The password is: …": the name before that word. */
static bool read_named(struct str text, size_t end, struct str *ret)
{
	size_t at;

	if (!credentials_read_name(text, end, ret))
		return false;
	at = (size_t)(ret->p - text.p);
	if (!str_is(*ret, "is") || at < 2 || text.p[at - 1] != ' ')
		return true;
	return credentials_read_name(text, at - 1, ret);
}

/* Zugangsdaten: admin / … */
static bool given_pair(const struct credentials_scan *s, size_t i, size_t value, struct credential *ret)
{
	size_t at = value;

	while (at < s->text.n && at < value + 4 && is_blank(s->text.p[at]))
		at++;
	return credentials_said_pair(s, at, ret) || credentials_assign_given(s, NAME_PASSWORD, i, value, ret);
}

bool credentials_assign_sign(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	size_t name_end, value;
	bool compares, is_next;
	enum credentials_name sort;
	enum credentials_form form;
	struct credentials_value v;

	if (!read_sign(t, i, &name_end, &value, &compares))
		return false;
	sort = credentials_foreign_sort(t, name_end);
	if (sort == NAME_VALUE)
		return given_pair(s, i, value, ret);
	if (sort != NAME_NONE)
		return credentials_assign_given(s, sort, i, value, ret);
	if (!read_named(t, name_end, &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE)
		sort = credentials_assign_two_words(t, name);
	if (sort == NAME_NONE && str_is(name, "default"))
		sort = name_of_variable(t, (size_t)(name.p - t.p));
	if (sort == NAME_PASSWORD && !str_ieq(name, STR("pass")) &&
	    credentials_line_phrase(s, i, (size_t)(name.p - t.p), ret))
		return true;
	value = skip_stars(t, value);
	value = next_line(t, i, value, &is_next);
	if (credentials_here(t, value + 1, STR("!!str ")))
		value += 7;
	if (sort == NAME_NONE && t.p[i] == '=') {
		sort = name_before_type(t, name_end, value);
	} else if (sort == NAME_VALUE) {
		sort = name_beside(t, (size_t)(name.p - t.p));
	} else if (sort == NAME_AUTHORIZATION) {
		return credentials_assign_authorization(s, value, ret);
	}
	if (sort == NAME_NONE || !credentials_read_value(t, value, &v) || (compares && !v.quoted))
		return false;
	/* Password: **…** */
	if (credentials_here(t, v.at, STR("**")) && credentials_here(t, v.end, STR("**")) && v.end - v.at > 2)
		v.at += 2;
	if (credentials_value_is_name(name, str_sub(t, v.at, v.end)))
		return false;
	form = form_of(t, name, i, &v);
	if (form != FORM_BARE && t.p[i] == '=')
		end_of_line(t, (size_t)(name.p - t.p), &v);
	/* Nobody names a member of a program "pw" and gives it a type behind a colon. */
	if (str_ieq(name, STR("pw")) && t.p[i] == ':' && v.at > i + 1 && ends_line(t, v.end) && form == FORM_BARE)
		form = FORM_LITERAL;
	if (is_next && !v.quoted)
		form = begins_line(t, (size_t)(name.p - t.p)) ? FORM_LITERAL : FORM_BARE;
	/* A pass is also what a compiler makes: the value must be more of a password. */
	if (str_ieq(name, STR("pass")) && !credentials_line_has_user(t, (size_t)(name.p - t.p)))
		form = form == FORM_QUOTED ? FORM_LITERAL : FORM_BARE;
	return credentials_assign_judge(s, &v, sort, form, ret);
}

bool credentials_assign_given(const struct credentials_scan *s, enum credentials_name sort, size_t i, size_t value,
			      struct credential *ret)
{
	struct credentials_value v;
	bool is_next;

	value = next_line(s->text, i, skip_stars(s->text, value), &is_next);
	return credentials_read_value(s->text, value, &v) &&
	       credentials_assign_judge(s, &v, sort, v.quoted ? FORM_QUOTED : FORM_LITERAL, ret);
}

bool credentials_assign_whole(struct str name, struct str value, struct credential *ret)
{
	struct credentials_scan s = {.text = value};
	struct credentials_value v = {0, value.n, value.n, true, false};
	enum credentials_name sort = credentials_name_of(name);

	if (sort == NAME_NONE || sort == NAME_VALUE || credentials_value_is_name(name, value))
		return false;
	if (sort == NAME_AUTHORIZATION)
		return credentials_assign_authorization(&s, 0, ret);
	return credentials_assign_judge(&s, &v, sort, FORM_QUOTED, ret);
}
