/* Tokens that can be told by their form alone: a prefix that their issuer gave them, followed by enough of the right
 * bytes.
 *
 * The tables are in credentials_rules.h, by the byte that the scan stops at: the first '_', '-' or '.' of the prefix.
 */
#include "core/guard/credentials_internal.h"
#include "core/guard/credentials_rules.h"

struct form {
	char prefix[28];
	uint8_t prefix_len;
	uint8_t stop;		/* place in prefix of the byte that the scan stops at */
	uint8_t body;		/* classes of the bytes behind the prefix */
	uint16_t min, max;	/* how many of them */
	bool weak;		/* the prefix is that of other things too: the rest must look random */
	const char *kind;
};

#define FORM(prefix, stop, body, min, max, weak, kind, finds, spares) \
	{prefix, sizeof(prefix) - 1, stop, body, min, max, weak, kind},

static const struct form UNDERSCORE[] = {CREDENTIALS_RULES_UNDERSCORE(FORM)};
static const struct form DASH[] = {CREDENTIALS_RULES_DASH(FORM)};
static const struct form DOT[] = {CREDENTIALS_RULES_DOT(FORM)};

/* More would be the end of base32 of something else: a line of that has 40 and more. */
enum { GLUED_CAPITALS = 12 };

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_hex_digit(char c)
{
	return str_hex_digit(c) >= 0;
}

/* Without padding; returns how many bytes. ret has room for three of four. */
static size_t decode_base64(struct str text, uint8_t *ret)
{
	unsigned bits = 0, have = 0;
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		unsigned value = credentials_is(c, CH_UPPER)   ? (unsigned)(c - 'A')
				 : credentials_is(c, CH_LOWER) ? (unsigned)(c - 'a') + 26
							       : (unsigned)(c - '0') + 52;

		bits = bits << 6 | value;
		have += 6;
		if (have >= 8)
			ret[n++] = (uint8_t)(bits >> (have -= 8));
	}
	return n;
}

bool credentials_starts(struct str text, size_t at)
{
	char prev;

	if (at == 0)
		return true;
	prev = text.p[at - 1];
	if (!credentials_is(prev, CH_NAME))
		return true;
	if (at >= 2 && text.p[at - 2] == '\\' && (prev == 'n' || prev == 't' || prev == 'r'))
		return true;
	return at >= 3 && text.p[at - 3] == '%' && is_hex_digit(text.p[at - 2]) && is_hex_digit(prev);
}

static bool hit(struct credential *ret, size_t at, size_t end, const char *kind)
{
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* Some tokens have a secret behind their public half, a checksum or a place: what is drawn behind a joint is of
 * them. */
static size_t end_behind_joint(struct str text, size_t end)
{
	enum { PIECES = 4, PIECE_LEAST = 8, PIECE_MOST = 400 };

	for (int k = 0; k < PIECES && credentials_among(credentials_byte(text, end), "._-~$"); k++) {
		struct str look = text.n - end > PIECE_MOST ? str_sub(text, 0, end + PIECE_MOST) : text;
		size_t next = credentials_run(look, end + 1, CH_NAME);
		struct str piece = str_sub(text, end + 1, next);

		/* A sentence or a file's name goes on with words; another token stands for itself. */
		if (!credentials_value_is_random(piece, PIECE_LEAST) || piece.n == PIECE_MOST - 1)
			break;
		end = next;
	}
	return end;
}

/* The end of the token of this form that begins at at, or 0. */
static size_t match(struct str text, size_t at, const struct form *f)
{
	struct str prefix = {f->prefix, f->prefix_len}, body;
	size_t from = at + prefix.n, end;

	if (!credentials_here(text, at, prefix))
		return 0;
	/* One byte more than it may have, however long the run is: the next prefix may stand inside it. */
	end = credentials_run(text.n - from > f->max + 1u ? str_sub(text, 0, from + f->max + 1u) : text, from, f->body);
	/* What ends a sentence is not part of it. */
	while (end > from && text.p[end - 1] == '.')
		end--;
	body = str_sub(text, from, end);
	if (body.n < f->min || body.n > f->max || credentials_value_distinct(body) < 6)
		return 0;
	/* Glued to a word before it (deploy-ghp_…): a weak prefix is then the end of that word, as in disk-…. */
	if (!credentials_starts(text, at) && (f->weak || !credentials_value_is_random(body, 20)))
		return 0;
	if (f->weak && !credentials_value_is_random(body, f->min))
		return 0;
	return end_behind_joint(text, end);
}

/* The first row whose prefix has that byte before the joint, or one behind it. */
static size_t first_of(const struct form *table, size_t count, char before)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (table[mid].prefix[table[mid].stop - 1] < before)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool prefixed(const struct credentials_scan *s, size_t i, const struct form *table, size_t count,
		     struct credential *ret)
{
	char before = i > 0 ? s->text.p[i - 1] : 0;

	/* The byte before the joint rules out nearly all. */
	for (size_t k = first_of(table, count, before); k < count; k++) {
		const struct form *f = &table[k];
		size_t end;

		if (f->prefix[f->stop - 1] != before)
			break;
		if (i < s->from + f->stop)
			continue;
		end = match(s->text, i - f->stop, f);
		if (end)
			return hit(ret, i - f->stop, end, f->kind);
	}
	return false;
}

bool credentials_token_prefixed(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	switch (s->text.p[i]) {
	case '_':
		return prefixed(s, i, UNDERSCORE, COUNT(UNDERSCORE), ret);
	case '-':
		return prefixed(s, i, DASH, COUNT(DASH), ret);
	default:
		return prefixed(s, i, DOT, COUNT(DOT), ret);
	}
}

/* Behind other capitals and digits only a few of them: a long run is base32 of something else, where AKIA stands by
 * chance. */
static bool is_in_base32(struct str text, size_t at)
{
	size_t before = 0;

	while (before <= GLUED_CAPITALS && before < at &&
	       credentials_is(text.p[at - 1 - before], CH_UPPER | CH_DIGIT))
		before++;
	return before > GLUED_CAPITALS;
}

/* Of an access key id: 16 capitals and digits, and no more; it may be glued to text. */
static bool is_aws_id(struct str text, size_t at)
{
	static const char *const prefixes[] = {"AKIA", "ASIA", "ABIA"};
	bool known = false;

	if (text.n < 20 || at > text.n - 20 || credentials_is(credentials_byte(text, at + 20), CH_UPPER | CH_DIGIT) ||
	    is_in_base32(text, at))
		return false;
	for (size_t i = 0; i < COUNT(prefixes); i++)
		known = known || credentials_here(text, at, str_of(prefixes[i]));
	text.n = at + 20;
	return known && credentials_run(text, at, CH_UPPER | CH_DIGIT) == text.n &&
	       credentials_value_distinct(str_sub(text, at + 4, text.n)) >= 6 &&
	       (credentials_starts(text, at) || credentials_value_is_random(str_sub(text, at, text.n), 20));
}

bool credentials_token_aws(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	if (i < s->from + 2 || s->text.p[i - 2] != 'A' || !is_aws_id(s->text, i - 2))
		return false;
	return hit(ret, i - 2, i + 18, "aws_access_key");
}

bool credentials_token_google(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 2, end;

	if (i < s->from + 2 || !credentials_here(t, at, STR("AIza")) || !credentials_starts(t, at))
		return false;
	end = credentials_run(t, at, CH_NAME);
	if (end - at < 39 || end - at > 44 || credentials_value_distinct(str_sub(t, at, end)) < 10)
		return false;
	return hit(ret, at, end, "gcp_api_key");
}

/* Prefixes without a joint, by the byte that the scan stops at: dapi and 32 hexadecimal digits of Databricks, ATATT3 of
 * Atlassian. */
bool credentials_token_databricks(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 2, end = i + 2;

	if (i < s->from + 2 || !credentials_here(t, at, STR("dapi")) || !credentials_starts(t, at))
		return false;
	while (end < t.n && end < at + 37 && is_hex_digit(t.p[end]))
		end++;
	if (end != at + 36 || credentials_is(credentials_byte(t, end), CH_WORD) ||
	    credentials_value_distinct(str_sub(t, at + 4, end)) < 6)
		return false;
	/* dapi…-2: of a workspace with several. */
	if (credentials_byte(t, end) == '-' && credentials_is(credentials_byte(t, end + 1), CH_DIGIT))
		end += 2;
	return hit(ret, at, end, "databricks_token");
}

bool credentials_token_atlassian(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 4, end;

	if (i < s->from + 4 || !(credentials_here(t, at, STR("ATATT3")) || credentials_here(t, at, STR("ATCTT3"))) ||
	    !credentials_starts(t, at))
		return false;
	end = credentials_run(t.n - at > 400 ? str_sub(t, 0, at + 400) : t, at, CH_NAME);
	if (credentials_byte(t, end) == '=')
		end = credentials_run(t.n - end > 32 ? str_sub(t, 0, end + 32) : t, end + 1, CH_ALNUM);
	if (end - at < 60 || !credentials_value_is_random(str_sub(t, at + 6, end), 50))
		return false;
	return hit(ret, at, end, "atlassian_token");
}

/* Header and claims are JSON objects, so that both begin with eyJ; the signature may be anything. */
bool credentials_token_jwt(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 2, header, claims, end;

	if (i < s->from + 2 || !credentials_here(t, at, STR("eyJ")) || !credentials_starts(t, at))
		return false;
	header = credentials_run(t, at, CH_NAME);
	if (header - at < 12 || !credentials_here(t, header, STR(".eyJ")))
		return false;
	claims = credentials_run(t, header + 1, CH_NAME);
	if (claims - header < 8 || claims >= t.n || t.p[claims] != '.')
		return false;
	end = credentials_run(t, claims + 1, CH_NAME);
	if (end - claims < 11)
		return false;
	return hit(ret, at, end, "jwt");
}

/* 32 hexadecimal digits behind two letters are many things; Twilio's only where its name stands before them. */
bool credentials_token_twilio(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i - 1, end = i + 1, look;

	if (i < s->from + 1 || !(credentials_here(t, at, STR("SK")) || credentials_here(t, at, STR("AC"))))
		return false;
	while (end < t.n && end < at + 36 && is_hex_digit(t.p[end]))
		end++;
	if (end != at + 34 || !credentials_starts(t, at) || (end < t.n && credentials_is(t.p[end], CH_NAME)))
		return false;
	for (look = at > 200 ? at - 200 : 0; look < at; look++)
		if (credentials_here_nocase(t, look, STR("twilio")))
			return hit(ret, at, end, "twilio_key");
	return false;
}

/* 123456789:AA… and 33 more. */
bool credentials_token_telegram(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i, end;

	if (!credentials_here(t, i, STR(":AA")))
		return false;
	while (at > s->from && i - at < 11 && credentials_is(t.p[at - 1], CH_DIGIT))
		at--;
	end = credentials_run(t, i + 1, CH_NAME);
	/* In a URL it stands behind "bot". */
	if (i - at < 8 || i - at > 10 || end - i != 36 ||
	    (!credentials_starts(t, at) && !(at >= 3 && credentials_here(t, at - 3, STR("bot")))))
		return false;
	return credentials_value_is_random(str_sub(t, i + 1, end), 35) && hit(ret, at, end, "telegram_token");
}

/* A user's number in base64, a time and a signature, with dots between. The number has 17 to 20 digits: that alone
 * tells it from everything else that has two dots. */
bool credentials_token_discord(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { TIME_BYTES = 6, SIGNATURE_MIN = 27, SIGNATURE_MAX = 38, NUMBER_MIN = 17, NUMBER_MAX = 20, ID_MAX = 28 };
	struct str t = s->text;
	size_t at = i, end, digits;
	uint8_t number[3 * ID_MAX / 4];

	if (credentials_byte(t, i + 1 + TIME_BYTES) != '.' ||
	    credentials_run(str_sub(t, 0, i + 1 + TIME_BYTES), i + 1, CH_NAME) != i + 1 + TIME_BYTES)
		return false;
	while (at > s->from && i - at <= ID_MAX && credentials_is(t.p[at - 1], CH_ALNUM))
		at--;
	end = credentials_run(t.n - i > 64 ? str_sub(t, 0, i + 64) : t, i + 2 + TIME_BYTES, CH_NAME);
	if (i - at > ID_MAX || end - (i + 2 + TIME_BYTES) < SIGNATURE_MIN ||
	    end - (i + 2 + TIME_BYTES) > SIGNATURE_MAX || !credentials_starts(t, at))
		return false;
	digits = decode_base64(str_sub(t, at, i), number);
	if (digits < NUMBER_MIN || digits > NUMBER_MAX)
		return false;
	while (digits > 0)
		if (number[--digits] < '0' || number[digits] > '9')
			return false;
	return hit(ret, at, end, "discord_token");
}

/* pat and 14 letters and digits, a dot, 64 hexadecimal digits. */
bool credentials_token_airtable(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { BEFORE = 17, HEX = 64 };
	struct str t = s->text;
	size_t at = i - BEFORE, end = i + 1;

	if (i < s->from + BEFORE || !credentials_here(t, at, STR("pat")) ||
	    credentials_run(str_sub(t, 0, i), at, CH_ALNUM) != i || !credentials_starts(t, at))
		return false;
	while (end < t.n && end < i + 2 + HEX && is_hex_digit(t.p[end]))
		end++;
	return end == i + 1 + HEX && !credentials_is(credentials_byte(t, end), CH_WORD) &&
	       credentials_value_distinct(str_sub(t, i + 1, end)) >= 6 && hit(ret, at, end, "airtable_token");
}

/* Base64 of pictures has EAA, too, but not where a word begins; and it has + and / soon. */
bool credentials_token_facebook(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LEAST = 100, MOST = 400 };
	struct str t = s->text;
	size_t at = i - 2, end;

	if (i < s->from + 2 || t.p[at] != 'E' || !credentials_starts(t, at) ||
	    (at > 0 && credentials_among(t.p[at - 1], "+/")))
		return false;
	end = credentials_run(t.n - at > MOST + 1 ? str_sub(t, 0, at + MOST + 1) : t, at, CH_ALNUM);
	return end - at >= LEAST && end - at <= MOST && !credentials_among(credentials_byte(t, end), "+/=") &&
	       credentials_value_distinct(str_sub(t, at, end)) >= 20 &&
	       credentials_value_is_random(str_sub(t, at + 3, end), LEAST - 3) && hit(ret, at, end, "facebook_token");
}

bool credentials_token_at(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	const struct {
		const struct form *table;
		size_t count;
	} tables[] = {{UNDERSCORE, COUNT(UNDERSCORE)}, {DASH, COUNT(DASH)}, {DOT, COUNT(DOT)}};

	for (size_t k = 0; k < COUNT(tables); k++)
		for (size_t f = 0; f < tables[k].count; f++) {
			size_t end = match(s->text, i, &tables[k].table[f]);

			if (end)
				return hit(ret, i, end, tables[k].table[f].kind);
		}
	if (is_aws_id(s->text, i))
		return hit(ret, i, i + 20, "aws_access_key");
	return credentials_token_google(s, i + 2, ret) || credentials_token_jwt(s, i + 2, ret) ||
	       credentials_token_databricks(s, i + 2, ret) || credentials_token_atlassian(s, i + 4, ret) ||
	       credentials_token_twilio(s, i + 1, ret) ||
	       (credentials_byte(s->text, i + 17) == '.' && credentials_token_airtable(s, i + 17, ret)) ||
	       (credentials_here(s->text, i, STR("EAA")) && credentials_token_facebook(s, i + 2, ret));
}
