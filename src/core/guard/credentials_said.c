/* What a sentence says a secret is: "the root password is …", "root pw: …", "the password for db7 was changed to …".
 *
 * The scan stops at a few letters that the names have in them. From the name on, a sentence is read as
 *   name, perhaps what it is for ("for root", "(admin)"), a link ("is", "=", "->"), fillers ("now", "set to"), value;
 * the words are in the tables below. It is a bounded number of words, so that the time stays linear. The value must be
 * more than a word, see credentials_word.c.
 */
#include "core/guard/credentials_said.h"

enum {
	LINK_WORDS_MAX = 7,	/* "has just been changed back to:" */
	ABOUT_WORDS_MAX = 8,	/* "for the admin account on db7" */
	ABOUT_BYTES = 80
};

/* Between a name and its value. */
static const char *const LINKS[] = {
	"is", "was", "are", "were", "be", "been", "being", "has", "had", "will", "would", "should", "must", "can",
	"may", "might", "could", "set", "changed", "reset", "rotated", "updated", "switched", "became", "becomes",
	"equals", "remains", "stays", "reads", "gets", "got", "'s", "\xe2\x80\x99s", NULL,
};

/* The same, but not for "pass": "pass to …", "as part of pass 2". */
static const char *const JOINS[] = {"as", "to", "of", NULL};

/* Among links; alone they link nothing. */
static const char *const FILLERS[] = {
	"now", "currently", "still", "just", "simply", "actually", "again", "back", "always", "probably",
	"temporarily", "literally", "really", "only", "today", "apparently", "presently", "exactly", "going", "then",
	"instead", "already", "recently", "once", "originally", "initially", "previously", "formerly", "usually",
	"follows", "most", "likely", "definitely", "also", "here", "below", "there", "the", "following", "value",
	"string", NULL,
};

/* What begins to say what a name is for. */
static const char *const ABOUTS[] = {
	"for", "of", "on", "at", "to", "in", "from", "with", "here", "there", "we", "you", "i", "they", "that",
	"which", "used", "behind", "under", "called", "by", NULL,
};

static bool is_one_of(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_ieq(word, str_of(*list)))
			return true;
	return false;
}

/* Behind blanks, and perhaps one end of a line. */
static size_t skip_space(struct str t, size_t i)
{
	size_t limit = t.n - i > 64 ? i + 64 : t.n;
	bool newline = false;

	for (; i < limit && credentials_is(t.p[i], CH_SPACE); i++) {
		if (t.p[i] == '\n' && newline)
			break;
		newline |= t.p[i] == '\n';
	}
	return i;
}

/* The end of the word at i: letters, or 's behind the name. i where it goes on as no word does: a password may begin
 * with one. */
static size_t word_end(struct str t, size_t i)
{
	size_t limit = t.n - i > 16 ? i + 16 : t.n, end;

	if (credentials_here(t, i, STR("'s ")))
		return i + 2;
	if (credentials_here(t, i, STR("\xe2\x80\x99s ")))
		return i + 4;
	end = credentials_run(str_sub(t, 0, limit), i, CH_LETTER);
	return credentials_is(credentials_byte(t, end), CH_NAME) ||
	       credentials_among(credentials_byte(t, end), "!@#$%^&*+") ? i : end;
}

/* = := : -> => → – — and -, with the first of them in *ret_sign where code has it, too. Returns its end, or i. */
static size_t sign_end(struct str t, size_t i, char *ret_sign)
{
	static const struct str arrows[] = {{"->", 2}, {"-->", 3}, {"=>", 2}, {"\xe2\x86\x92", 3}, {"\xe2\x80\x93", 3},
					    {"\xe2\x80\x94", 3}, {"- ", 2}};
	char c = credentials_byte(t, i);

	*ret_sign = c;
	for (size_t k = 0; k < sizeof(arrows) / sizeof(arrows[0]); k++)
		if (credentials_here(t, i, arrows[k])) {
			*ret_sign = c == '=' || c == '-' ? '>' : 0;
			return i + arrows[k].n;
		}
	if (credentials_here(t, i, STR(":= ")))
		return i + 2;
	if ((c == '=' || c == ':') && credentials_is(credentials_byte(t, i + 1), CH_SPACE | CH_ALNUM))
		return i + 1;
	return i;
}

/* --- The name ------------------------------------------------------------------------------------ */

/* Where the words before the name begin, count of them at most. */
static size_t words_before(struct str t, size_t at, unsigned count)
{
	size_t low = at > CREDENTIALS_NAME_BYTES ? at - CREDENTIALS_NAME_BYTES : 0;

	while (count-- && at > low + 1 && t.p[at - 1] == ' ' && credentials_is(t.p[at - 2], CH_NAME))
		for (at--; at > low && credentials_is(t.p[at - 1], CH_NAME);)
			at--;
	return at;
}

/* "user/pass", "username and password": what is given is a name and a password. */
static bool names_pair(struct str t, size_t at)
{
	static const char *const users[] = {"user", "username", "login", "name", "account", "id", "u", "usr", NULL};
	size_t end = at, low = at > 24 ? at - 24 : 0, start;

	while (end > low && credentials_among(t.p[end - 1], " /&+:,"))
		end--;
	if (end == at)
		return false;
	for (start = end; start > low && credentials_is(t.p[start - 1], CH_LETTER);)
		start--;
	if (str_ieq(str_sub(t, start, end), STR("and")) && start > 1 && t.p[start - 1] == ' ') {
		end = start - 1;
		for (start = end; start > low && credentials_is(t.p[start - 1], CH_LETTER);)
			start--;
	} else if (at - end == 1 && t.p[end] == ' ') {
		return false;
	}
	return is_one_of(str_sub(t, start, end), users);
}

/* Code has most of the names, and most of them before another sign. */
static bool goes_on(struct str t, size_t end)
{
	char c = credentials_byte(t, end);

	return credentials_is(c, CH_SPACE) || credentials_among(c, "*`\"':=,([-") || (unsigned char)c >= 0x80 ||
	       (credentials_among(c, ".;)!?") && credentials_is(credentials_byte(t, end + 1), CH_SPACE));
}

static bool read_name(struct str t, size_t i, struct said *ret)
{
	static const struct str seconds[] = {{"phrase", 6}, {"word", 4}, {"code", 4}};
	static const char *const pairs[] = {"creds", "credentials", "login", "logins", NULL};
	size_t low = i > CREDENTIALS_NAME_BYTES ? i - CREDENTIALS_NAME_BYTES : 0, start = i, end;
	struct str word;

	while (start > low && credentials_is(t.p[start - 1], CH_NAME))
		start--;
	end = credentials_run(t.n - i > CREDENTIALS_NAME_BYTES ? str_sub(t, 0, i + CREDENTIALS_NAME_BYTES) : t, i,
			      CH_NAME);
	while (end > i + 1 && t.p[end - 1] == '-')	/* password-> */
		end--;
	if (!goes_on(t, end))
		return false;
	word = str_sub(t, start, end);
	*ret = (struct said){.name_at = start, .name_end = end};
	if (start == low && low > 0)
		return false;
	ret->is_pair = is_one_of(word, pairs);
	ret->is_pass = str_ieq(word, STR("pass"));
	/* pass phrase */
	for (size_t k = 0; ret->is_pass && k < sizeof(seconds) / sizeof(seconds[0]); k++)
		if (credentials_here_nocase(t, end + 1, seconds[k]) && t.p[end] == ' ' &&
		    !credentials_is(credentials_byte(t, end + 1 + seconds[k].n), CH_WORD)) {
			ret->name_end = end + 1 + seconds[k].n;
			ret->is_pass = false;
			ret->sort = NAME_PASSWORD;
			return true;
		}
	ret->sort = str_ieq(word, STR("pw")) || ret->is_pair
			    ? NAME_PASSWORD
			    : credentials_name_of(str_sub(t, words_before(t, start, str_ieq(word, STR("key")) ? 2 : 1),
							  end));
	if (ret->sort == NAME_PASSWORD && !ret->is_pair)
		ret->is_pair = names_pair(t, start);
	return ret->sort != NAME_NONE && ret->sort != NAME_VALUE && ret->sort != NAME_AUTHORIZATION;
}

/* --- The sentence -------------------------------------------------------------------------------- */

/* Links, signs and fillers from at on, then the value. */
static bool read_linked(const struct credentials_scan *s, struct said said, size_t at, struct credential *ret)
{
	struct str t = s->text;

	said.linked = said.joined = false;
	said.sign = 0;
	for (int words = 0; words < LINK_WORDS_MAX; words++) {
		size_t i = skip_space(t, at), end = word_end(t, i), signed_end;
		struct str word = str_sub(t, i, end);
		char sign;

		if (end > i && is_one_of(word, LINKS)) {
			said.linked = true;
		} else if (end > i && is_one_of(word, JOINS)) {
			said.joined = true;
		} else if (end == i || !is_one_of(word, FILLERS)) {
			signed_end = sign_end(t, i, &sign);
			if (signed_end == i || said.sign)
				break;
			end = signed_end;
			said.sign = said.linked ? 0 : sign;
			said.linked = true;
		}
		at = end;
	}
	said.linked |= said.joined && !said.is_pass;
	if (!said.linked || (said.sign && !credentials_place_prose(t, said.name_at)))
		return false;
	return credentials_said_judge(s, &said, skip_space(t, at), ret);
}

/* "for root on db7": up to a link, at any of which the value may follow. */
static bool read_about(const struct credentials_scan *s, struct said said, size_t at, struct credential *ret)
{
	struct str t = s->text;
	size_t i = skip_space(t, at), limit = t.n - at > ABOUT_BYTES ? at + ABOUT_BYTES : t.n;
	bool comma = credentials_byte(t, at) == ',' && at == said.name_end;

	if (!comma && !is_one_of(str_sub(t, i, word_end(t, i)), ABOUTS))
		return false;
	said.about = true;
	for (int words = 0; words < ABOUT_WORDS_MAX; words++) {
		while (i < limit && !credentials_is(t.p[i], CH_SPACE) && !credentials_among(t.p[i], ";!?={}"))
			i++;
		if (i >= limit || !credentials_is(t.p[i], CH_SPACE) || t.p[i - 1] == '.')
			return false;
		if (t.p[i - 1] == ':' && comma)
			return false;
		if (read_linked(s, said, i - (t.p[i - 1] == ':'), ret))
			return true;
		comma |= t.p[i] == '\n';
		i = skip_space(t, i);
	}
	return false;
}

/* machine x login y password z */
static bool read_netrc(const struct credentials_scan *s, const struct said *said, size_t at, struct credential *ret)
{
	struct str t = s->text;
	size_t line = credentials_read_line(t, said->name_at);
	struct credentials_value v;
	const char *kind;

	return !said->is_pair && memmem(t.p + line, said->name_at - line, "login ", 6) &&
	       credentials_read_value(t, at, &v) && !v.code &&
	       credentials_read_secret(t, &v, NAME_PASSWORD, v.quoted ? FORM_LOOSE : FORM_LITERAL, &kind) &&
	       credentials_said_hit(s, v.at, v.end, kind, ret);
}

/* AWS secret access key …, token …: with no link it must look drawn, and be long. Behind "signing key" stands a
 * fingerprint; a text that begins with it may be what a header has: Token …. */
static bool read_key_beside(const struct credentials_scan *s, const struct said *said, size_t at,
			    struct credential *ret)
{
	enum { LEAST = 20 };
	struct credentials_value v;
	struct str value;
	const char *kind;

	enum credentials_name sort = said->sort;

	/* The secret that belongs to an access key before it. */
	if (sort == NAME_SECRET && s->from && said->name_at - s->from < 80)
		sort = NAME_AWS_SECRET;
	if ((sort != NAME_AWS_SECRET && sort != NAME_TOKEN && sort != NAME_API_KEY && sort != NAME_SECRET) ||
	    (said->name_at == 0 && sort == NAME_TOKEN) ||
	    !credentials_read_value(s->text, at, &v) || v.code || v.end - v.at < LEAST ||
	    !(v.quoted || credentials_said_ends(s->text, v.end, 0)))
		return false;
	if (credentials_token_at(s, v.at, ret))
		return true;
	value = str_sub(s->text, v.at, v.end);
	return (sort == NAME_AWS_SECRET || value.n >= 32 || credentials_word_is_shuffled(value, 4)) &&
	       credentials_value_is_secret(value, sort, FORM_BARE, &kind) &&
	       credentials_said_hit(s, v.at, v.end, kind, ret);
}

/* What is the password? …, or behind "A: " or a name and a colon on the next line. */
static bool read_reply(const struct credentials_scan *s, struct said said, size_t at, struct credential *ret)
{
	struct str t = s->text;
	size_t label;

	at = skip_space(t, at);
	label = credentials_run(t.n - at > 24 ? str_sub(t, 0, at + 24) : t, at, CH_NAME);
	if (label > at && credentials_here(t, label, STR(": ")))
		at = label + 2;
	if (credentials_here_nocase(t, at, STR("it's ")) || credentials_here_nocase(t, at, STR("it is ")))
		at += t.p[at + 2] == ' ' ? 6 : 5;
	return said.sort == NAME_PASSWORD && !said.is_pass && credentials_said_judge(s, &said, at, ret);
}

/* Without a link: password "…", with the password …, password (…). */
static bool read_beside(const struct credentials_scan *s, const struct said *said, size_t at, struct credential *ret)
{
	struct str t = s->text;

	if (credentials_byte(t, at) == '?')
		return read_reply(s, *said, at + 1, ret);
	if (credentials_byte(t, at) != ' ')
		return false;
	if (said->sort != NAME_PASSWORD)
		return read_key_beside(s, said, at, ret);
	if (read_netrc(s, said, at, ret))
		return true;
	at++;
	/* Cisco: written in plain text. */
	at += credentials_here(t, at, STR("0 ")) ? 2 : 0;
	if (credentials_byte(t, at) == '(' && credentials_said_pair(s, at + 1, ret))
		return true;
	at += credentials_byte(t, at) == '(';
	if (!said->is_pair)
		return credentials_said_judge(s, said, at, ret);
	if (credentials_here(t, at, STR("with ")))
		at += 5;
	/* Other pairs than root/… may be two words of a sentence. */
	return credentials_among(credentials_byte(t, skip_space(t, credentials_run(t, at, CH_NAME))), "/:") &&
	       credentials_said_pair(s, at, ret);
}

/* The run of bytes before end, out of the quotes, the bracket or the stars that it stands in. */
static struct str word_before(const struct credentials_scan *s, size_t end)
{
	struct str t = s->text;
	size_t start = end;

	while (start > s->from && end - start < 65 && (unsigned char)t.p[start - 1] > ' ')
		start--;
	while (end > start + 1 && credentials_among(t.p[start], "`\"'*(") &&
	       (t.p[start] == '(' || t.p[end - 1] == t.p[start])) {
		end -= t.p[start] != '(';
		start++;
	}
	return str_sub(t, start, end);
}

/* "… is the root password", "use … as the password": the name ends its part of the sentence. */
static bool read_after(const struct credentials_scan *s, const struct said *said, struct credential *ret)
{
	static const char *const links[] = {"is", "was", "as", "for", "becomes", "became", NULL};
	struct str t = s->text, word;
	size_t next = skip_space(t, said->name_end), end = said->name_at, start;

	if (said->sort != NAME_PASSWORD || said->is_pass || !credentials_said_ends(t, said->name_end, 0) ||
	    (credentials_byte(t, said->name_end) == ' ' && credentials_is(credentials_byte(t, next), CH_ALNUM) &&
	     !is_one_of(str_sub(t, next, word_end(t, next)), ABOUTS)))
		return false;
	for (int words = 0; words < 4; words++, end = start) {
		if (end == 0 || t.p[end - 1] != ' ')
			return false;
		start = words_before(t, end, 1);
		word = str_sub(t, start, end - (start < end));
		if (start < end && is_one_of(word, links))
			break;
	}
	if (start < 7 || t.p[start - 1] != ' ' || !is_one_of(word, links))
		return false;
	word = word_before(s, start - 1);
	start = (size_t)(word.p - t.p);
	end = start + word.n;
	return credentials_word_is_password(str_sub(t, start, end), WORD_ASSIGNED) &&
	       credentials_said_hit(s, start, end, "password", ret);
}

/* Most words that have these letters are others. */
static bool may_name(struct str t, size_t i)
{
	char before = i > 1 ? t.p[i - 2] : ' ', after = credentials_byte(t, i + 1);

	switch (t.p[i] | 0x20) {
	case 's':
		return (before | 0x20) == 'a' && i > 2 && (t.p[i - 3] | 0x20) == 'p';
	case 'k':
		return (before | 0x20) == 't' && (after | 0x20) == 'e';
	case 'y':
		return (before | 0x20) == 'k';
	case 'r':
		return (after | 0x20) == 'e';
	case 'i':
		return (before | 0x20) == 'o' && (after | 0x20) == 'n';
	default:
		return true;
	}
}

bool credentials_said(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	struct said said;
	size_t at;

	if (!may_name(t, i) || !read_name(t, i, &said))
		return false;
	for (at = said.name_end; at < t.n && at < said.name_end + 3 && credentials_among(t.p[at], "*`\"_"); )
		at++;
	if (read_linked(s, said, at, ret) || read_beside(s, &said, at, ret) || read_about(s, said, at, ret) ||
	    read_after(s, &said, ret))
		return true;
	/* The password (root): … */
	if (credentials_here(t, at, STR(" (")) || credentials_here(t, at, STR(" ["))) {
		size_t end = at + 2, limit = t.n - at > 40 ? at + 40 : t.n;

		while (end < limit && !credentials_among(t.p[end], ")]\n"))
			end++;
		return end < limit && t.p[end] != '\n' && read_linked(s, said, end + 1, ret);
	}
	return false;
}
