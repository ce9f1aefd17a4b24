/* Is a word of a sentence a password, or a word? And several words a passphrase, or a sentence?
 *
 * In a sentence any word may follow "the password is", so a password must be more than one: letters and digits mixed
 * (hunter2), digits alone (eight and more), or letters with signs inside (p@ssw!rd). What people write with letters and
 * digits, and is none, is a matter of tables: names of technology with a number (SHA-256, base64-encoded), quantities
 * (12-character, 30days), names of variables (value1).
 */
#include "core/guard/credentials_internal.h"

/* Names that are followed by a number. In small letters, in the order of the alphabet. */
static const char *const NUMBERED[] = {
	"aes", "appendix", "argon", "arm", "base", "bcrypt", "blake", "blowfish", "bug", "case", "cert", "chapter",
	"char", "cipher", "class", "column", "cp", "crc", "crypt", "curve", "cve", "debian", "des", "ecdsa", "ed",
	"elf", "example", "figure", "fips", "float", "hmac", "html", "http", "https", "id", "idp", "imap", "int",
	"ip", "ipv", "iso", "issue", "item", "java", "jsr", "k", "kdf", "latin", "ldap", "level", "line", "linux",
	"log",
	"mac", "md", "mode", "mozilla", "mysql", "netbios", "node", "ntlm", "ntlmv", "oauth", "office", "openid",
	"option", "page", "part", "pbes", "pbkdf", "perl", "phase", "php", "pkcs", "point", "postgres", "pop", "pr",
	"python", "rc", "rfc", "ripemd", "rot", "rsa", "saml", "scram", "scrypt", "section", "series", "sha",
	"smb", "smbv", "snmp", "snmpv", "socks", "sqlite", "srp", "ssha", "ssh", "sshv", "ssl", "step", "system",
	"table", "ticket", "tls", "tlsv", "tpm", "type", "ucs", "uint", "usb", "utf", "uuid", "uuidv", "varchar", "vec",
	"vector", "version", "web", "win", "windows", "wpa", "x",
};

/* Names of variables and of members, with one digit or two behind them. */
static const char *const VARIABLES[] = {
	"account", "admin", "arg", "bar", "buf", "client", "data", "db", "field", "foo", "hash", "host", "input",
	"key", "name", "num", "obj", "param", "pass", "passwd", "password", "pw", "pwd", "res", "result", "secret",
	"server", "str", "string", "temp", "test", "text", "tmp", "token", "user", "username", "val", "value", "var",
};

/* What a number counts. */
static const char *const UNITS[] = {
	"bit", "bits", "byte", "bytes", "char", "chars", "character", "characters", "day", "days", "digit", "digits",
	"hour", "hours", "letter", "letters", "min", "mins", "minute", "minutes", "month", "months", "sec", "secs",
	"second", "seconds", "symbol", "symbols", "time", "times", "week", "weeks", "word", "words", "year", "years",
};

/* Of these a text about passwords has one; a passphrase has none. */
static const char *const EXPLAINING[] = {
	"password", "passwords", "passwort", "passphrase", "passcode", "secret", "token", "credential", "credentials",
	"please", "enter", "must", "should", "shall", "required", "optional", "invalid", "incorrect", "wrong",
	"failed", "missing", "forgot", "forgotten", "confirm", "repeat", "choose", "type", "string", "default",
	"characters", "least", "null", "none", "empty", "your", "username", "login", "used", "see", "e.g.", "i.e.",
};

/* A sentence has many of these. */
static const char *const LITTLE[] = {
	"a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have",
	"if", "in", "into", "is", "it", "its", "may", "no", "not", "of", "on", "or", "so", "than", "that", "the",
	"then", "there", "this", "to", "was", "we", "when", "where", "which", "will", "with", "you",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_one_of(struct str word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_ieq(word, str_of(list[i])))
			return true;
	return false;
}

static size_t count_of(struct str v, unsigned classes)
{
	size_t count = 0;

	for (size_t i = 0; i < v.n; i++)
		count += credentials_is(v.p[i], classes);
	return count;
}

/* SHA256, base64url, Sha256Hash; TLSv1: a name, a number, and nothing more than letters. */
static bool is_numbered(struct str piece)
{
	size_t name = credentials_run(piece, 0, CH_LETTER), digits = credentials_run(piece, name, CH_DIGIT);

	return digits > name && credentials_run(piece, digits, CH_LETTER) == piece.n &&
	       is_one_of(str_sub(piece, 0, name), NUMBERED, COUNT(NUMBERED));
}

/* 12-character, 30days, 2nd, 64bit */
bool credentials_word_is_quantity(struct str v)
{
	size_t digits = credentials_run(v, 0, CH_DIGIT);

	if (digits == 0 || digits == v.n || credentials_run(v, digits, CH_LETTER | CH_DASH) != v.n)
		return false;
	return v.p[digits] == '-' || v.n - digits <= 2 || is_one_of(str_sub(v, digits, v.n), UNITS, COUNT(UNITS));
}

static bool is_variable(struct str piece)
{
	size_t name = credentials_run(piece, 0, CH_LETTER);

	return piece.n - name <= 2 && credentials_run(piece, name, CH_DIGIT) == piece.n &&
	       is_one_of(str_sub(piece, 0, name), VARIABLES, COUNT(VARIABLES));
}

/* Http2Client, X509Cert, Token2D: a type, whose words begin with capitals. */
static bool is_type(struct str piece)
{
	size_t i = credentials_run(piece, 0, CH_LETTER), end = credentials_run(piece, i, CH_DIGIT);

	return credentials_is(piece.p[0], CH_UPPER) && end > i && end - i <= 3 && end < piece.n &&
	       credentials_is(piece.p[end], CH_UPPER) && credentials_run(piece, end, CH_LETTER) == piece.n;
}

/* vK3: no word, however short. */
static bool turns_upper(struct str piece)
{
	for (size_t i = 1; i < piece.n; i++)
		if (credentials_is(piece.p[i - 1], CH_LOWER) && credentials_is(piece.p[i], CH_UPPER))
			return true;
	return false;
}

static bool is_plain_piece(struct str piece, enum credentials_word how)
{
	size_t letters = count_of(piece, CH_LETTER), digits = count_of(piece, CH_DIGIT);

	if (letters == 0 || digits == 0 || (piece.n < 4 && !turns_upper(piece)) || (letters == 1 && digits < 5))
		return true;
	if (is_numbered(piece) || credentials_word_is_quantity(piece))
		return true;
	return how == WORD_ASSIGNED && (is_variable(piece) || is_type(piece));
}

/* Cut at - _ + and the like: is one of the pieces no word? A dot is in names of hosts and files. */
static bool has_odd_piece(struct str v, enum credentials_word how)
{
	size_t start = 0, pieces = 0, numbers = 0, mixed = 0;

	for (size_t i = 0; i <= v.n; i++) {
		struct str piece = str_sub(v, start, i);

		if (i < v.n && credentials_is(v.p[i], CH_ALNUM))
			continue;
		if (piece.n && !is_plain_piece(piece, how))
			return true;
		pieces += piece.n > 0;
		numbers += piece.n > 0 && credentials_run(piece, 0, CH_DIGIT) == piece.n;
		mixed += count_of(piece, CH_DIGIT) && count_of(piece, CH_LETTER);
		start = i + 1;
	}
	/* correct-horse-battery-7 */
	return pieces >= 4 && numbers == 1 && mixed == 0 && count_of(v, CH_UNDER) == 0;
}

/* Bug#108071, Issue#7, mysql#12 */
static bool is_number_of(struct str v, size_t i)
{
	size_t digits = v.n - i - 1;

	return v.p[i] == '#' && digits > 0 && credentials_run(v, i + 1, CH_DIGIT) == v.n &&
	       (digits > 2 || credentials_run(v, 0, CH_LOWER) == i ||
		is_one_of(str_sub(v, 0, i), NUMBERED, COUNT(NUMBERED)));
}

/* Signs such as people put into passwords, between other bytes. '@' alone may be of an address. */
static bool has_odd_sign(struct str v, size_t letters, size_t digits)
{
	size_t signs = 0, at = 0, mixed = 0;

	for (size_t i = 1; i < v.n; i++) {
		signs += credentials_among(v.p[i], "!#$%^&") && !is_number_of(v, i);
		at += v.p[i] == '@';
		/* Secure+1: small letters alone are a variable. */
		mixed += credentials_among(v.p[i], "*+?~") && i + 1 < v.n && credentials_run(v, 0, CH_ALNUM) == i &&
			 count_of(v, CH_UPPER) && count_of(v, CH_LOWER) && i >= 4;
	}
	signs += mixed == 1 && credentials_is(v.p[v.n - 1], CH_DIGIT);
	if (digits)
		return signs > 0 || (at == 1 && str_find(v, '.') == v.n);
	signs -= credentials_among(v.p[v.n - 1], "!");
	return v.n >= 8 && letters >= 4 &&
	       (signs + at >= 2 || (signs && count_of(v, CH_UPPER) && count_of(v, CH_LOWER)));
}

/* Letters beyond ASCII, and digits; beside ideographs and signs ASCII's letters, too: a sentence may go on there. */
static bool is_wide_password(struct str v, size_t digits)
{
	bool wide = false, others = false;

	for (size_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.p[i];

		if (c <= ' ' || credentials_among(v.p[i], "\\<>{}()[]|;`\"='"))
			return false;
		wide |= c >= 0xc3 && c <= 0xe1;
		others |= c >= 0xe2;
	}
	return (wide || others) && digits >= 2 && (!others || count_of(v, CH_LETTER) >= 2) &&
	       !credentials_is(v.p[0], CH_DIGIT);
}

bool credentials_word_is_password(struct str v, enum credentials_word how)
{
	size_t letters = count_of(v, CH_LETTER), digits = count_of(v, CH_DIGIT);

	if (v.n < 6 || v.n > 64)
		return false;
	if (credentials_drawn(v, DRAWN_IN_SENTENCE))
		return !credentials_value_is_placeholder(v);
	if (is_wide_password(v, digits))
		return true;
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] == ' ')
			return how == WORD_QUOTED && credentials_word_is_phrase(v, PHRASE_SURE);
		if ((unsigned char)v.p[i] <= ' ' || (unsigned char)v.p[i] >= 0x7f ||
		    credentials_among(v.p[i], "\\<>{}()[]|;`\"='"))
			return false;
	}
	if (credentials_value_is_placeholder(v) || credentials_value_is_word(v))
		return false;
	if (letters == 0)
		return digits == v.n && digits >= (how == WORD_ASSIGNED ? 8 : 6);
	if (has_odd_sign(v, letters, digits))
		return true;
	if (digits == 0)
		return how == WORD_QUOTED && letters == v.n && v.n >= 8 &&
		       !is_one_of(v, EXPLAINING, COUNT(EXPLAINING)) && credentials_name_of(v) == NAME_NONE;
	if (credentials_among(v.p[0], "-+.:/@~#%$&") || str_find(v, '.') < v.n || str_find(v, '/') < v.n ||
	    str_find(v, ':') < v.n || str_find(v, '@') < v.n)
		return false;
	return has_odd_piece(v, how);
}

bool credentials_word_is_shuffled(struct str v, size_t changes)
{
	size_t seen = 0;

	for (size_t i = 1; i < v.n; i++)
		seen += credentials_is(v.p[i], CH_ALNUM) && credentials_is(v.p[i - 1], CH_ALNUM) &&
			credentials_is(v.p[i], CH_DIGIT) != credentials_is(v.p[i - 1], CH_DIGIT);
	/* Names of hosts, files and addresses; calls. */
	for (size_t i = 0; i < v.n; i++)
		if (credentials_among(v.p[i], ".:/("))
			return false;
	return v.n >= 16 && seen >= changes && count_of(v, CH_DIGIT) >= 4 && count_of(v, CH_LETTER) >= 4;
}

/* The next of the words of a text. */
static struct str next_word(struct str v, size_t *i)
{
	size_t start;

	while (*i < v.n && credentials_is(v.p[*i], CH_SPACE))
		++*i;
	for (start = *i; *i < v.n && !credentials_is(v.p[*i], CH_SPACE);)
		++*i;
	return str_sub(v, start, *i);
}

bool credentials_word_is_phrase(struct str v, size_t least)
{
	size_t words = 0, little = 0;
	struct str word;

	if (v.n < 8 || v.n > CREDENTIALS_VALUE_LOOK || credentials_value_is_placeholder(v))
		return false;
	for (size_t i = 0; (word = next_word(v, &i)).n > 0; words++) {
		size_t signs = word.n - count_of(word, CH_ALNUM | CH_DASH);

		while (word.n > 1 && credentials_among(word.p[word.n - 1], ".,:!?"))
			word.n--;
		if (is_one_of(word, EXPLAINING, COUNT(EXPLAINING)) || signs > (least < PHRASE_SURE ? 1 : 0) ||
		    (least >= PHRASE_SURE && word.n > 1 && count_of(word, CH_UPPER) && !count_of(word, CH_DIGIT)))
			return false;
		little += is_one_of(word, LITTLE, COUNT(LITTLE));
	}
	/* A sentence begins with a capital and ends with a full stop. */
	if (credentials_is(v.p[0], CH_UPPER) && credentials_among(v.p[v.n - 1], ".:!?"))
		return false;
	return words >= least && words <= 24 && (least < PHRASE_SURE ? 5 * little < 2 * words : 4 * little < words);
}
