/* The value in a sentence: where it ends, and whether it is a password or a key rather than a word. */
#include "core/guard/credentials_said.h"

/* Without Markdown's stars and the quotes that are no ASCII. */
static bool read_value(struct str t, size_t at, struct credentials_value *ret)
{
	static const struct str opens[] = {{"\xe2\x80\x9c", 3}, {"\xe2\x80\x98", 3}, {"\xe2\x80\x9e", 3},
					   {"\xc2\xab", 2}, {"***", 3}, {"**", 2}, {"*", 1}, {"__", 2}, {"_", 1}};
	size_t begin = at;
	bool opened = false;

	for (size_t k = 0; k < sizeof(opens) / sizeof(opens[0]) && !opened; k++)
		if (credentials_here(t, at, opens[k])) {
			at += opens[k].n;
			opened = true;
		}
	if (credentials_is(credentials_byte(t, at), CH_SPACE) || !credentials_read_value(t, at, ret) || ret->code)
		return false;
	if (!ret->quoted && ret->end - ret->at == CREDENTIALS_VALUE_LOOK)
		ret->end = ret->plain_end = credentials_read_on(t, ret->end);
	while (opened && !ret->quoted && ret->end > at && credentials_among(t.p[ret->end - 1], "*_.,:;"))
		ret->end--;
	/* A password may begin with a star. */
	if (opened && !ret->quoted && credentials_among(t.p[at - 1], "*_") &&
	    !credentials_among(credentials_byte(t, ret->end), "*_"))
		return credentials_read_value(t, begin, ret);
	return ret->end > ret->at;
}

/* A sentence goes on or ends behind the value; an expression does not. */
bool credentials_said_ends(struct str t, size_t end, char sign)
{
	while (credentials_among(credentials_byte(t, end), sign == '=' ? ".*_`" : sign ? ".,*_!?)}`" : ".,*_!?);\"'"))
		end++;
	return credentials_is(credentials_byte(t, end), CH_SPACE) || (unsigned char)credentials_byte(t, end) >= 0x80;
}

/* root / …, root:…: the value behind a name of a person. */
bool credentials_said_pair(const struct credentials_scan *s, size_t at, struct credential *ret)
{
	struct str t = s->text;
	struct credentials_value v;
	size_t end;

	at += credentials_among(credentials_byte(t, at), "\"'`");
	end = credentials_run(t.n - at > CREDENTIALS_NAME_BYTES ? str_sub(t, 0, at + CREDENTIALS_NAME_BYTES) : t, at,
			      CH_NAME | CH_DOT);
	if (end == at)
		return false;
	end += credentials_among(credentials_byte(t, end), "\"'`");
	at = end;
	while (at < t.n && at < end + 3 && credentials_among(t.p[at], " /:|,"))
		at++;
	if (at == end || (at == end + 1 && t.p[end] == ' ')) {
		if (!credentials_here(t, end, STR(" and ")))
			return false;
		at = end + 5;
	}
	return read_value(t, at, &v) && credentials_said_ends(t, v.end + v.quoted, 0) &&
	       credentials_word_is_password(str_sub(t, v.at, v.end), v.quoted ? WORD_QUOTED : WORD_SAID) &&
	       credentials_said_hit(s, v.at, v.end, "password", ret);
}

/* A key or a token that somebody typed: what is drawn at random is found in another way. */
static bool is_key(struct str v, enum credentials_word how)
{
	enum { LEAST = 12 };

	return v.n >= LEAST && str_find(v, '/') == v.n && str_find(v, '.') == v.n &&
	       (how == WORD_ASSIGNED ? credentials_word_is_shuffled(v, 4) : credentials_word_is_password(v, how));
}

/* Credentials: admin … */
static bool named_pair(const struct credentials_scan *s, const struct said *said, size_t at, struct credential *ret)
{
	struct str t = s->text;
	size_t end = credentials_run(t.n - at > 32 ? str_sub(t, 0, at + 32) : t, at, CH_NAME | CH_DOT);
	struct credentials_value v;

	return said->sign == ':' && end > at && credentials_byte(t, end) == ' ' && read_value(t, end + 1, &v) &&
	       credentials_said_ends(t, v.end + v.quoted, 0) &&
	       credentials_word_is_password(str_sub(t, v.at, v.end), WORD_ASSIGNED) &&
	       credentials_said_hit(s, v.at, v.end, "password", ret);
}

bool credentials_said_judge(const struct credentials_scan *s, const struct said *said, size_t at,
			    struct credential *ret)
{
	struct str t = s->text, value;
	struct credentials_value v;
	enum credentials_word how = said->sign ? WORD_ASSIGNED : WORD_SAID;
	const char *kind;

	if (said->is_pair && said->linked && (credentials_said_pair(s, at, ret) || named_pair(s, said, at, ret)))
		return true;
	if (!read_value(t, at, &v) || v.at < s->from || t.p[v.at] == '\\')
		return false;
	if (credentials_token_at(s, v.at, ret))
		return true;
	value = str_sub(t, v.at, v.end);
	if (v.quoted && said->linked && said->sort == NAME_PASSWORD && credentials_drawn(value, DRAWN_ALONE) &&
	    !credentials_value_is_placeholder(value))
		return credentials_said_hit(s, v.at, v.end, "password", ret);
	if (said->linked &&
	    credentials_read_secret(t, &v, said->sort, v.quoted ? FORM_LOOSE : FORM_BARE, &kind))
		return credentials_said_hit(s, v.at, v.end, kind, ret);
	if (!v.quoted && !credentials_said_ends(t, v.end, said->sign))
		return false;
	if (said->sort != NAME_PASSWORD)
		return said->linked && is_key(value, how) &&
		       credentials_said_hit(s, v.at, v.end, credentials_value_kind(said->sort), ret);
	if (said->is_pass && (said->linked ? said->sign && credentials_here(t, said->name_at, STR("PASS"))
					   : !credentials_line_has_user(t, said->name_at)))
		return false;
	/* "The password is only used where the user is 'anonymous'." */
	if (said->about && credentials_run(value, 0, CH_LETTER) == value.n)
		return false;
	return credentials_word_is_password(value, v.quoted && !said->is_pass ? WORD_QUOTED : how) &&
	       credentials_said_hit(s, v.at, v.end, "password", ret);
}
