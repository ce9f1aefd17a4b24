/* What the parts of the scanner for credentials share. A part is asked about one place of the text, the one where a
 * byte stands that makes it possible, and either fills a credential or says no. */
#ifndef SPINE_CORE_CREDENTIALS_INTERNAL_H
#define SPINE_CORE_CREDENTIALS_INTERNAL_H

#include "core/guard/credentials.h"

/* --- Bytes --------------------------------------------------------------------------------------- */

enum {
	CH_LOWER = 1,
	CH_UPPER = 2,
	CH_DIGIT = 4,
	CH_UNDER = 8,
	CH_DASH = 16,
	CH_DOT = 32,
	CH_BASE64 = 64,	/* + and / */
	CH_SPACE = 128,	/* blank, tab, CR, LF */
	CH_LETTER = CH_LOWER | CH_UPPER,
	CH_ALNUM = CH_LETTER | CH_DIGIT,
	CH_WORD = CH_ALNUM | CH_UNDER,
	CH_NAME = CH_WORD | CH_DASH
};

extern const uint8_t credentials_class[256];

static inline bool credentials_is(char c, unsigned classes)
{
	return (credentials_class[(unsigned char)c] & classes) != 0;
}

/* Unlike strchr, not for NUL. */
static inline bool credentials_among(char c, const char *set)
{
	return c && strchr(set, c);
}

/* The byte at i; behind the end it is as if a line ended there. */
static inline char credentials_byte(struct str text, size_t i)
{
	return i < text.n ? text.p[i] : '\n';
}

/* The end of the run of such bytes that begins at from. */
static inline size_t credentials_run(struct str text, size_t from, unsigned classes)
{
	while (from < text.n && credentials_is(text.p[from], classes))
		from++;
	return from;
}

/* Does the word, of a byte at least, stand at at? */
static inline bool credentials_here(struct str text, size_t at, struct str word)
{
	return at <= text.n && text.n - at >= word.n && text.p[at] == word.p[0] &&
	       memcmp(text.p + at, word.p, word.n) == 0;
}

/* The same, of any case; word is in lower case. */
bool credentials_here_nocase(struct str text, size_t at, struct str word);

/* May a token begin here? Not behind a letter, a digit, '_' or '-', but for those of an escape: \n, %3D. */
bool credentials_starts(struct str text, size_t at);

enum credentials_name {
	NAME_NONE,
	NAME_PASSWORD,
	NAME_TOKEN,
	NAME_SECRET,
	NAME_API_KEY,
	NAME_SECRET_KEY,	/* access_key, private_key, signing_key, … */
	NAME_AWS_SECRET,	/* secret_access_key, aws_secret_key */
	NAME_AZURE_KEY,		/* AccountKey, SharedAccessKey */
	NAME_AUTHORIZATION,
	NAME_VALUE		/* "value", whose name stands beside it: name: X, value: Y */
};

/* --- One scan ------------------------------------------------------------------------------------ */

enum { CREDENTIALS_COLUMNS = 32 };	/* of a table */

struct credentials_scan {
	struct str text;
	size_t from;		/* the end of the last hit: nothing that begins before is one */
	size_t pem_end;		/* the first "-----END" at or behind the place last asked for; text.n: none */
	bool pem_end_known;
	struct {
		size_t seen;	/* behind the last '|' */
		unsigned column;	/* that begins there */
		uint32_t named;	/* columns of the row whose cell is a secret's name, and of which sort */
		uint32_t secret;	/* the same of the header that holds for this row */
		uint8_t sort[CREDENTIALS_COLUMNS];
	} table;
	struct {
		size_t seen;	/* up to here lines have been looked at */
		size_t next;	/* where the row begins that the header holds for */
		char separator;
		unsigned count;	/* of the header's columns; 0: there is none */
		unsigned cell;	/* of the row, from which on no secret was found yet */
		uint32_t secret;	/* columns that name a secret, and of which sort */
		uint8_t sort[CREDENTIALS_COLUMNS];
	} columns;
	struct {
		size_t comma;	/* the last that a string follows */
		size_t open;	/* of the call that it is in */
		unsigned argument;	/* that begins behind it */
	} call;
};

/* Each is called with the place of the byte that its name says, or that its comment says; true with *ret filled. */

/* credentials_token.c: '_', '-' and '.' inside a known prefix. */
bool credentials_token_prefixed(const struct credentials_scan *s, size_t i, struct credential *ret);
/* A token with a form of its own that begins at i. */
bool credentials_token_at(const struct credentials_scan *s, size_t i, struct credential *ret);
/* 'I' of AKIA…, 'z' of AIza…, 'J' of eyJ…, 'K' or 'C' of Twilio's SK… and AC…, ':' of a Telegram bot's token. */
bool credentials_token_aws(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_google(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_jwt(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_twilio(const struct credentials_scan *s, size_t i, struct credential *ret);
/* 'p' of dapi…, the second 'T' of TT in ATATT3… */
bool credentials_token_databricks(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_atlassian(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_telegram(const struct credentials_scan *s, size_t i, struct credential *ret);
/* The first '.' of a Discord bot's token, the '.' of Airtable's pat….…, the second 'A' of Facebook's EAA… */
bool credentials_token_discord(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_airtable(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_token_facebook(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_issued.c: a byte inside a token that has no joint; '-' of Mailchimp's …-us12. */
bool credentials_issued(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_issued_mailchimp(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_block.c: the first '-' of "-----BEGIN", the '-' of "PuTTY-User-Key-File-", 'L' of the
 * former in base64. */
bool credentials_block_pem(struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_block_putty(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_block_base64(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_place.c: ':' of "://", 'B' or 'b' of Bearer and Basic, '-' of curl's -u and the like, 'I' of SQL's
 * IDENTIFIED BY. */
bool credentials_place_url(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_place_header(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_place_command(const struct credentials_scan *s, size_t i, struct credential *ret);
/* Does the word stand before i, on its line or on lines that a backslash joins to it? */
bool credentials_place_line_has(struct str text, size_t i, const char *word);
/* credentials_command.c: '-' of an option, '|' of a pipe, a byte inside a command whose argument is a password. */
bool credentials_command_option(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_command_pipe(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_command_argument(const struct credentials_scan *s, size_t i, struct credential *ret);
/* Has the line before the name at at words or nothing, and no code? Then a sign behind it gives it a value. */
bool credentials_place_prose(struct str text, size_t at);
bool credentials_place_sql(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_said.c: the second letter of ss, pw, ok, ey, cr or gi: of a name in a sentence (pass, password, pw,
 * token, key, secret, credentials, login). */
bool credentials_said(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_assign.c: '=' or ':'. */
bool credentials_assign_sign(const struct credentials_scan *s, size_t i, struct credential *ret);
/* The value behind the sign at i is given to a name of that sort; value is where it begins. */
bool credentials_assign_given(const struct credentials_scan *s, enum credentials_name sort, size_t i, size_t value,
			      struct credential *ret);
/* All of value is given to name. */
bool credentials_assign_whole(struct str name, struct str value, struct credential *ret);

/* credentials_beside.c: ',' in ("name", "value"), the quote in name("value"), '|' in a table, '>' of <name>, '#' of
 * #define, the first '-' of --name value. */
bool credentials_beside_pair(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_beside_call(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_beside_cell(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_beside_element(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_beside_define(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_beside_flag(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_cookie.c: what begins at at; ':' or '=' behind "cookie"; ':' or ',' behind the name of a session; a byte
 * of such a name in a file of cookies. */
bool credentials_cookie_pairs(const struct credentials_scan *s, size_t at, struct credential *ret);
bool credentials_cookie_header(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_cookie_member(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_cookie_file(const struct credentials_scan *s, size_t i, struct credential *ret);
/* credentials_login.c: ',' before an argument, ':' of user:password@tcp(…). */
bool credentials_login_argument(struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_login_dsn(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_named.c: '=' or ':' behind a name that is a secret's there alone. */
bool credentials_named(const struct credentials_scan *s, size_t i, struct credential *ret);

/* credentials_line.c: ':' of .pgpass and htpasswd; '|' of a table, by the header above. */
bool credentials_line_pgpass(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_line_htpasswd(const struct credentials_scan *s, size_t i, struct credential *ret);
bool credentials_line_cell(struct credentials_scan *s, size_t i, struct credential *ret);
/* ':' or '=' behind the name of a password at at: several words, on the line or in a block of YAML below. */
bool credentials_line_phrase(const struct credentials_scan *s, size_t i, size_t at, struct credential *ret);
/* Does a user stand before i on its line? user=root pass=… */
bool credentials_line_has_user(struct str text, size_t i);

/* credentials_columns.c: ',' or a byte of a name, in what may be the first line of a file with columns. */
void credentials_columns_header(struct credentials_scan *s, size_t i);
/* The next secret of the rows below, where it begins at before or earlier. */
bool credentials_columns_next(struct credentials_scan *s, size_t before, struct credential *ret);

/* credentials_foreign.c: the last byte of a full-width colon behind a word for password in another script. */
bool credentials_foreign_colon(const struct credentials_scan *s, size_t i, struct credential *ret);
/* Does a word for password end at end, in letters that no name of a program has? */
bool credentials_foreign_word(struct str text, size_t end);
/* The same for keys and tokens, too, and with up to three words behind the name: пароль от базы. */
enum credentials_name credentials_foreign_sort(struct str text, size_t end);

/* --- Names and values ---------------------------------------------------------------------------- */


/* What a value for this name would be: the words of the name decide, however they are joined (api_key, apiKey,
 * API-KEY). */
enum credentials_name credentials_name_of(struct str name);
/* The name's name, where "value" is said of it. */
bool credentials_name_names(struct str name);

enum credentials_form {
	FORM_QUOTED,	/* "…", '…', `…` */
	FORM_LITERAL,	/* bare, where no expression can stand: an environment file, YAML, a command line */
	FORM_BARE,	/* bare, in code or prose */
	FORM_LOOSE	/* the name may be one by chance: a pair of strings, a table */
};

/* Is this value a credential, for a name of this sort? *ret_kind is then its kind. */
bool credentials_value_is_secret(struct str value, enum credentials_name name, enum credentials_form form,
				 const char **ret_kind);
/* What a secret of such a name is called. */
const char *credentials_value_kind(enum credentials_name name);
/* Something that stands for a value: xxxx, ****, <key>, ${VAR}, {{ var }}, %s, changeme. */
bool credentials_value_is_placeholder(struct str value);
/* Does it look drawn at random, rather than written? min is the least length for which that can be said. */
bool credentials_value_is_random(struct str value, size_t min);
/* How surprising c is behind prev and before, in half bits; of letters and digits, see credentials_value.c. */
unsigned credentials_value_surprise(char before, char prev, char c);
/* A word that stands where a password would: required, sha256. */
bool credentials_value_is_word(struct str value);
/* Is it the end of the name that it is given to? token=token, API_TOKEN = "apiToken" */
bool credentials_value_is_name(struct str name, struct str value);
/* How many different bytes, up to the first 256. */
unsigned credentials_value_distinct(struct str value);

/* --- credentials_drawn.c: a password that has signs, or an expression ------------------------------ */

enum credentials_drawn {
	DRAWN_ALONE,		/* nothing but a value stands there */
	DRAWN_IN_SENTENCE	/* or in code */
};

/* Is it drawn from letters, digits and signs? At least eight bytes of ASCII, with a sign. */
bool credentials_drawn(struct str value, enum credentials_drawn where);

/* --- credentials_assign.c: what is given to a name ----------------------------------------------- */

struct credentials_value;

/* The value as a token known by its form, or as what its name makes of it. */
bool credentials_assign_judge(const struct credentials_scan *s, struct credentials_value *v,
			      enum credentials_name name, enum credentials_form form, struct credential *ret);
/* What a header says behind "Authorization:" at i. */
bool credentials_assign_authorization(const struct credentials_scan *s, size_t i, struct credential *ret);
/* "api key", where name is "key". */
enum credentials_name credentials_assign_two_words(struct str text, struct str name);

/* --- credentials_read.c: where a name and a value begin and end ---------------------------------- */

enum {
	CREDENTIALS_NAME_BYTES = 64,
	CREDENTIALS_VALUE_LOOK = 256	/* no more of a value is looked at to judge it */
};

struct credentials_value {
	size_t at, end;
	size_t plain_end;	/* bare, and a sign follows that ends a value in code, as ',' does; else end */
	bool quoted;
	bool code;	/* bare, and a bracket follows: a call, an index */
};

/* The value that begins at i, or behind blanks there: up to the quote that closes it, or, bare, to white space, without
 * what closes a sentence or a bracket that is open before it. False where there is none, or no end to it on its
 * line. */
bool credentials_read_value(struct str text, size_t i, struct credentials_value *ret);
/* Is what was read a secret, all of it or the part before a sign? Of a password a part is never blanked alone; what
 * issuers hand out has no such signs, and v ends before the first. */
bool credentials_read_secret(struct str text, struct credentials_value *v, enum credentials_name name,
			     enum credentials_form form, const char **ret_kind);
/* The end of a bare value that was longer than CREDENTIALS_VALUE_LOOK. */
size_t credentials_read_on(struct str text, size_t end);
/* The name that ends at end, or before blanks, a quote, a bracket or Markdown's stars there.
 * False where there is none. */
bool credentials_read_name(struct str text, size_t end, struct str *ret);
/* Where the line of i begins, behind a newline or a \n, or 256 bytes before i. */
size_t credentials_read_line(struct str text, size_t i);

/* --- credentials_word.c: words of a sentence ------------------------------------------------------ */

enum credentials_word {
	WORD_SAID,	/* behind "the password is" */
	WORD_ASSIGNED,	/* behind a sign, where it may be a variable's name or a type */
	WORD_QUOTED
};

/* Is it a password, rather than a word of the sentence? */
bool credentials_word_is_password(struct str value, enum credentials_word how);
/* 16 bytes and more that go to and fro between letters and digits so many times, be they drawn or typed. */
bool credentials_word_is_shuffled(struct str value, size_t changes);
/* 12-character, 30days: how much, and no password. */
bool credentials_word_is_quantity(struct str value);
enum {
	PHRASE_WHOLE = 2,	/* words at least, where nothing but the value stands there */
	PHRASE_SURE = 4		/* where a message may stand: in small letters, without signs */
};
/* Is it a passphrase, rather than a sentence or what explains one? */
bool credentials_word_is_phrase(struct str value, size_t least);

#endif
