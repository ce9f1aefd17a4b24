/* The pass over the text. Few bytes can be the place where a credential is found: the sign of an assignment, the joint
 * of a known prefix, a rare letter of one. The pass runs to the next of them and asks the parts that such a byte may
 * concern; behind a hit it goes on, so that hits come in order and do not overlap.
 *
 * Time is linear on any text, because each part looks at a bounded number of bytes, or at bytes up to a place that no
 * other question of its kind goes beyond (a token begins where no token byte stands before; a name ends at the sign
 * before it).
 */
#include "core/guard/credentials_internal.h"

/* The bytes to stop at, in groups by what the byte before must be. */
enum {
	STOP_ALWAYS = 1,	/* = : | # */
	STOP_COMMA = 2,		/* , behind a quote */
	STOP_GREATER = 4,	/* > behind a letter */
	STOP_UNDER = 8,		/* _ in a prefix */
	STOP_DOT = 16,		/* . in a prefix */
	STOP_DASH = 32,		/* - in a prefix, or where an option or a block begins */
	STOP_LOWER_Z = 64,	/* AIza */
	STOP_UPPER_J = 128,	/* eyJ */
	STOP_UPPER_I = 256,	/* AKIA; IDENTIFIED BY */
	STOP_W = 512,		/* pw of a name in a sentence */
	STOP_UPPER_K = 1024,	/* SK… of Twilio */
	STOP_UPPER_C = 2048,	/* AC… of Twilio */
	STOP_WORD = 4096,	/* Bearer, Basic, LS0t: behind no letter but that of \n */
	STOP_QUOTE = 8192,	/* " and ' behind ( */
	STOP_LOWER_P = 16384,	/* dapi */
	STOP_UPPER_T = 32768,	/* ATATT3 */
	STOP_S = 65536,		/* ss: pass, password */
	STOP_COLON_WIDE = 131072,	/* the last byte of U+FF1A */
	STOP_UPPER_A = 262144,	/* EAA */
	STOP_DOT_ANY = 524288,	/* . of Discord and Airtable */
	STOP_COMMA_ANY = 1048576,	/* , of a file with columns */
	STOP_K = 2097152,	/* ok: token */
	STOP_Y = 4194304,	/* ey: key */
	STOP_R = 8388608,	/* cr: secret, credentials */
	STOP_I = 16777216,	/* gi: login */
	STOP_RARE = 33554432,	/* 2 V ~ Z 0, inside tokens without a joint */
	STOP_BASE58 = 67108864,	/* 5K 5J 5H */
	STOP_KC = 134217728,	/* AKCp */
	STOP_XP = 268435456,	/* xprv */
	STOP_CI = 536870912	/* cio */
};

static const uint32_t STOPS[256] = {
	['='] = STOP_ALWAYS, [':'] = STOP_ALWAYS, ['|'] = STOP_ALWAYS, ['#'] = STOP_ALWAYS,
	[','] = STOP_COMMA | STOP_COMMA_ANY, ['>'] = STOP_GREATER, ['"'] = STOP_QUOTE, ['\''] = STOP_QUOTE,
	['_'] = STOP_UNDER, ['.'] = STOP_DOT | STOP_DOT_ANY, ['-'] = STOP_DASH,
	['z'] = STOP_LOWER_Z, ['I'] = STOP_UPPER_I | STOP_I,
	['K'] = STOP_UPPER_K | STOP_K | STOP_BASE58, ['C'] = STOP_UPPER_C | STOP_KC,
	['2'] = STOP_RARE, ['V'] = STOP_RARE, ['~'] = STOP_RARE, ['Z'] = STOP_RARE, ['0'] = STOP_RARE,
	['J'] = STOP_UPPER_J | STOP_BASE58, ['H'] = STOP_BASE58,
	['w'] = STOP_W, ['W'] = STOP_W, ['B'] = STOP_WORD, ['b'] = STOP_WORD, ['L'] = STOP_WORD,
	['p'] = STOP_LOWER_P | STOP_XP, ['T'] = STOP_UPPER_T, ['s'] = STOP_S, ['S'] = STOP_S, ['k'] = STOP_K,
	['y'] = STOP_Y, ['Y'] = STOP_Y, ['r'] = STOP_R, ['R'] = STOP_R, ['i'] = STOP_I | STOP_CI, ['A'] = STOP_UPPER_A,
	[0x9a] = STOP_COLON_WIDE,
};

/* Groups whose bytes may stand behind c. */
#define IS(c, byte, group) ((c) == (byte) ? (group) : 0)
#define EITHER(c, byte, group) (((c) | 0x20) == (byte) ? (group) : 0)
#define RANGE(c, from, to, group) ((c) >= (from) && (c) <= (to) ? (group) : 0)
#define ALNUM(c) (((c) >= 'a' && (c) <= 'z') || ((c) >= 'A' && (c) <= 'Z') || ((c) >= '0' && (c) <= '9') || (c) == '_')
#define BEHIND(c) \
	(STOP_ALWAYS | STOP_COMMA_ANY | (ALNUM(c) ? STOP_DOT_ANY : 0) | IS(c, 'A', STOP_UPPER_A) | \
	 (ALNUM(c) ? 0 : STOP_WORD | STOP_UPPER_I | STOP_DASH) | \
	 IS(c, 'n', STOP_WORD) | IS(c, 'r', STOP_WORD) | IS(c, 't', STOP_WORD) | \
	 IS(c, '"', STOP_COMMA) | IS(c, '\'', STOP_COMMA) | IS(c, '(', STOP_QUOTE) | \
	 RANGE(c, 'a', 'z', STOP_GREATER | STOP_UNDER | STOP_DASH) | RANGE(c, 'A', 'Z', STOP_GREATER) | \
	 IS(c, 'a', STOP_LOWER_P) | IS(c, 'T', STOP_UPPER_T) | IS(c, 's', STOP_S) | IS(c, 'S', STOP_S) | \
	 EITHER(c, 'o', STOP_K) | EITHER(c, 'e', STOP_Y) | EITHER(c, 'c', STOP_R) | EITHER(c, 'g', STOP_I) | \
	 EITHER(c, 'p', STOP_W) | \
	 IS(c, 0xbc, STOP_COLON_WIDE) | IS(c, '2', STOP_UNDER) | IS(c, '1', STOP_UNDER) | IS(c, '1', STOP_DOT) | \
	 IS(c, 'r', STOP_DOT) | \
	 IS(c, 'p', STOP_DOT) | IS(c, 'k', STOP_DOT) | IS(c, 'T', STOP_UNDER | STOP_DASH) | \
	 IS(c, 'S', STOP_UNDER | STOP_DASH) | \
	 IS(c, 'K', STOP_DASH) | IS(c, 'I', STOP_DASH) | IS(c, 'U', STOP_DASH) | \
	 IS(c, '8', STOP_UNDER) | IS(c, 'G', STOP_DOT) | IS(c, '9', STOP_DOT) | IS(c, 'b', STOP_DOT) | \
	 IS(c, 's', STOP_DOT) | IS(c, 'S', STOP_UPPER_I | STOP_UPPER_K) | \
	 IS(c, 'X', STOP_DASH) | IS(c, 'E', STOP_DASH) | IS(c, 'Y', STOP_DASH) | \
	 IS(c, 'm', STOP_RARE) | IS(c, 'y', STOP_RARE) | IS(c, 'Q', STOP_RARE) | IS(c, '/', STOP_RARE) | \
	 IS(c, 'A', STOP_RARE) | IS(c, '5', STOP_BASE58) | IS(c, 'K', STOP_KC) | IS(c, 'x', STOP_XP) | \
	 IS(c, 'c', STOP_CI) | RANGE(c, '0', '9', STOP_DASH) | \
	 IS(c, 'I', STOP_LOWER_Z) | IS(c, 'y', STOP_UPPER_J) | \
	 IS(c, 'K', STOP_UPPER_I) | IS(c, 'B', STOP_UPPER_I) | IS(c, 'A', STOP_UPPER_C))
#define BEHIND_4(c) BEHIND(c), BEHIND((c) + 1), BEHIND((c) + 2), BEHIND((c) + 3)
#define BEHIND_16(c) BEHIND_4(c), BEHIND_4((c) + 4), BEHIND_4((c) + 8), BEHIND_4((c) + 12)
#define BEHIND_64(c) BEHIND_16(c), BEHIND_16((c) + 16), BEHIND_16((c) + 32), BEHIND_16((c) + 48)
static const uint32_t BEHIND_BYTE[256] = {BEHIND_64(0), BEHIND_64(64), BEHIND_64(128), BEHIND_64(192)};

static bool at_dash(struct credentials_scan *s, size_t i, struct credential *ret)
{
	char prev = i > 0 ? s->text.p[i - 1] : '\n';

	/* Rules and tables are made of dashes. */
	if (prev == '-')
		return false;
	if (credentials_is(prev, CH_DIGIT))
		return credentials_issued_mailchimp(s, i, ret);
	return credentials_block_pem(s, i, ret) || credentials_token_prefixed(s, i, ret) ||
	       credentials_beside_flag(s, i, ret) || credentials_place_command(s, i, ret) ||
	       credentials_command_argument(s, i, ret) ||
	       (prev == 'Y' && credentials_block_putty(s, i, ret)) || credentials_issued_mailchimp(s, i, ret);
}

static bool at_stop(struct credentials_scan *s, size_t i, struct credential *ret)
{
	char prev = i > 0 ? s->text.p[i - 1] : '\n';

	switch (s->text.p[i]) {
	case '=':
		return credentials_cookie_header(s, i, ret) || credentials_named(s, i, ret) ||
		       credentials_assign_sign(s, i, ret);
	case ':':
		return credentials_place_url(s, i, ret) || credentials_token_telegram(s, i, ret) ||
		       credentials_cookie_header(s, i, ret) || credentials_cookie_member(s, i, ret) ||
		       credentials_login_dsn(s, i, ret) || credentials_named(s, i, ret) ||
		       credentials_line_htpasswd(s, i, ret) ||
		       credentials_line_pgpass(s, i, ret) || credentials_assign_sign(s, i, ret);
	case ',':
		credentials_columns_header(s, i);
		return credentials_beside_pair(s, i, ret) || credentials_cookie_member(s, i, ret) ||
		       credentials_login_argument(s, i, ret);
	case '|':
		return credentials_command_pipe(s, i, ret) || credentials_line_cell(s, i, ret) ||
		       credentials_beside_cell(s, i, ret);
	case '"':
	case '\'':
		return credentials_beside_call(s, i, ret);
	case '>':
		return credentials_beside_element(s, i, ret);
	case '#':
		return credentials_beside_define(s, i, ret);
	case '-':
		return at_dash(s, i, ret);
	case '.':
		return credentials_is(credentials_byte(s->text, i + 1), CH_NAME) &&
		       (credentials_token_prefixed(s, i, ret) || credentials_token_airtable(s, i, ret) ||
			credentials_token_discord(s, i, ret));
	case '_':
		return credentials_token_prefixed(s, i, ret);
	case 'A':
		return credentials_token_facebook(s, i, ret) || credentials_issued(s, i, ret);
	case 'z':
		return credentials_token_google(s, i, ret);
	case 'J':
		return prev == '5' ? credentials_issued(s, i, ret) : credentials_token_jwt(s, i, ret);
	case 'I':
		return credentials_token_aws(s, i, ret) || credentials_place_sql(s, i, ret) ||
		       credentials_said(s, i, ret);
	case 'p':
		return prev == 'x' ? credentials_issued(s, i, ret) : credentials_token_databricks(s, i, ret);
	case 'T':
		return credentials_token_atlassian(s, i, ret);
	case '\x9a':
		return credentials_foreign_colon(s, i, ret);
	case 'L':
		return credentials_block_base64(s, i, ret);
	case 'K':
		return credentials_token_twilio(s, i, ret) || (prev == '5' && credentials_issued(s, i, ret)) ||
		       credentials_said(s, i, ret);
	case 'C':
		return prev == 'K' ? credentials_issued(s, i, ret) : credentials_token_twilio(s, i, ret);
	case '2':
	case 'V':
	case '~':
	case 'Z':
	case '0':
	case 'H':
		return credentials_issued(s, i, ret);
	case 'B':
	case 'b':
		return credentials_place_header(s, i, ret);
	case 's':
	case 'S':
	case 'w':
	case 'W':
	case 'k':
	case 'y':
	case 'Y':
	case 'r':
	case 'R':
		credentials_columns_header(s, i);
		return credentials_cookie_file(s, i, ret) || credentials_said(s, i, ret) ||
		       credentials_command_argument(s, i, ret);
	case 'i':
		if (prev == 'c')
			return credentials_issued(s, i, ret);
		credentials_columns_header(s, i);
		return credentials_said(s, i, ret) || credentials_command_argument(s, i, ret);
	default:
		return false;
	}
}

/* AWS hands out its two keys side by side, in a table of two columns: the secret one has no mark of its own. */
static bool aws_pair(const struct credentials_scan *s, struct credential *ret)
{
	struct str t = s->text;
	size_t at = s->from, end;
	const char *kind;

	while (at < t.n && at < s->from + 4 && credentials_among(t.p[at], " \t\r\n,;:|\"'"))
		at++;
	end = credentials_run(t.n - at > 41 ? str_sub(t, 0, at + 41) : t, at, CH_ALNUM | CH_BASE64);
	if (at == s->from || end - at != 40 ||
	    !credentials_value_is_secret(str_sub(t, at, end), NAME_AWS_SECRET, FORM_LOOSE, &kind))
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

static unsigned stops_at(struct str text, size_t i)
{
	return STOPS[(unsigned char)text.p[i]] & BEHIND_BYTE[i > 0 ? (unsigned char)text.p[i - 1] : '\n'];
}

/* The next byte to stop at from i on, or the end. Stops are some twenty bytes apart, so four are asked at once. */
static size_t next_stop(struct str text, size_t i)
{
	while (i < text.n && !stops_at(text, i)) {
		i++;
		while (text.n - i >= 4 &&
		       !(stops_at(text, i) | stops_at(text, i + 1) | stops_at(text, i + 2) | stops_at(text, i + 3)))
			i += 4;
	}
	return i;
}

size_t credentials_scan(struct str text, struct credential *ret, size_t max)
{
	struct credentials_scan s = {.text = text};
	size_t count = 0, i = 0;

	while (count < max && i < text.n) {
		i = next_stop(text, i);
		if (!(s.columns.count && credentials_columns_next(&s, i, &ret[count])) &&
		    (i == text.n || !at_stop(&s, i, &ret[count]))) {
			i++;
			continue;
		}
		s.from = i = ret[count].at + ret[count].len;
		count++;
		if (strcmp(ret[count - 1].kind, "aws_access_key") == 0 && count < max && aws_pair(&s, &ret[count])) {
			s.from = i = ret[count].at + ret[count].len;
			count++;
		}
	}
	return count;
}

size_t credentials_scan_value(struct str name, struct str value, struct credential *ret, size_t max)
{
	size_t count = credentials_scan(value, ret, max);

	if (count == 0 && max > 0)
		count = credentials_assign_whole(name, value, ret);
	return count;
}
