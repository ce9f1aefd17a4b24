/* What is secret under a name that is none elsewhere: "sig" of a signed address, "d" of a key in JSON, the words of a
 * wallet behind "mnemonic". */
#include "core/guard/credentials_internal.h"

static bool hit(const struct credentials_scan *s, size_t at, size_t end, const char *kind, struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

static bool is_near(struct str text, size_t i, size_t before, size_t behind, struct str word)
{
	size_t from = i > before ? i - before : 0, to = text.n - i > behind ? i + behind : text.n;

	return memmem(text.p + from, to - from, word.p, word.n) != NULL;
}

/* …&sig=…, &X-Amz-Signature=…: who has the address has what it opens. */
static bool read_signature(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LEAST = 40, MOST = 600 };
	static const struct str names[] = {{"X-Amz-Signature", 15}, {"X-Goog-Signature", 16}, {"sig", 3}};
	struct str t = s->text;
	size_t end = i + 1, limit = t.n - i > MOST ? i + MOST : t.n;
	bool found = false;

	for (size_t k = 0; k < 3 && !found; k++)
		found = i > names[k].n && credentials_here(t, i - names[k].n, names[k]) &&
			credentials_among(t.p[i - names[k].n - 1], "?&") &&
			(k < 2 || is_near(t, i, 300, 200, STR("sv=")));
	if (!found)
		return false;
	while (end < limit && (credentials_is(t.p[end], CH_NAME | CH_BASE64) || t.p[end] == '%' || t.p[end] == '='))
		end++;
	return end - i > LEAST && credentials_value_distinct(str_sub(t, i + 1, end)) >= 10 &&
	       hit(s, i + 1, end, "signature", ret);
}

/* {"kty": "EC", …, "d": "…"} */
static bool read_jwk(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LEAST = 40 };
	struct credentials_value v;

	return i >= 3 && credentials_here(s->text, i - 3, STR("\"d\"")) &&
	       is_near(s->text, i, 600, 600, STR("\"kty\"")) && credentials_read_value(s->text, i + 1, &v) &&
	       v.quoted && v.end - v.at >= LEAST && credentials_value_is_random(str_sub(s->text, v.at, v.end), LEAST) &&
	       hit(s, v.at, v.end, "private_key", ret);
}

/* 12 words to 24, as wallets have them. */
static size_t words_end(struct str text, size_t at)
{
	size_t words = 0, end = at, last = at;

	while (words < 25) {
		end = credentials_run(text.n - last > 9 ? str_sub(text, 0, last + 9) : text, last, CH_LOWER);
		if (end - last < 3 || end - last > 8)
			break;
		words++;
		at = end;
		if (credentials_byte(text, end) != ' ')
			break;
		last = end + 1;
	}
	return words >= 12 && words <= 24 && words % 3 == 0 ? at : 0;
}

static bool read_mnemonic(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	static const struct str kinds[] = {{"seed ", 5}, {"recovery ", 9}, {"mnemonic ", 9}, {"backup ", 7},
					   {"secret ", 7}, {"seed_", 5}, {"recovery_", 9}, {"wallet ", 7}};
	struct str t = s->text, name;
	size_t at = i + 1, end;
	bool found;

	if (!credentials_read_name(t, i, &name))
		return false;
	found = str_ieq(name, STR("mnemonic")) ||
		(name.n > 9 && credentials_here_nocase(name, name.n - 9, STR("_mnemonic"))) ||
		(name.n > 7 && credentials_here_nocase(name, name.n - 7, STR("_phrase")));
	if (!found && (str_ieq(name, STR("phrase")) || str_ieq(name, STR("words")))) {
		size_t start = (size_t)(name.p - t.p);

		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			found |= start >= kinds[k].n && credentials_here_nocase(t, start - kinds[k].n, kinds[k]);
	}
	if (!found)
		return false;
	while (at < t.n && at < i + 8 && credentials_among(t.p[at], " \t\n*\"'`"))
		at++;
	end = words_end(t, at);
	return end && hit(s, at, end, "seed_phrase", ret);
}

bool credentials_named(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	size_t end = i;
	char last;

	if (i < 3)
		return false;
	/* Perhaps in quotes, or before a blank: mnemonic, phrase, words. */
	while (end > 1 && i - end < 3 && credentials_among(s->text.p[end - 1], "\"'* "))
		end--;
	last = s->text.p[end - 1];
	if (s->text.p[i] == '=' && (last == 'g' || last == 'e') && read_signature(s, i, ret))
		return true;
	if (s->text.p[i] == ':' && last == 'd' && read_jwk(s, i, ret))
		return true;
	return end >= 6 && (credentials_here_nocase(s->text, end - 5, STR("words")) ||
			    credentials_here_nocase(s->text, end - 6, STR("phrase")) ||
			    credentials_here_nocase(s->text, end - 5, STR("monic"))) && read_mnemonic(s, i, ret);
}
