/* What a constraint says about credentials, however it is spelled.
 *
 * A spelling is folded (lookalike.h), and only its letters and digits are kept, so that "No plain-text credentials.",
 * "no_plaintext_credentials" and "NoPlaintextCredentials" are one. A sentence may hold more than that: what is looked
 * for begins where a word begins.
 */
#include "codec/json_member.h"
#include "core/guard/redact.h"
#include "text/lookalike.h"

enum { KEY_MAX = 128, SAYING_MAX = 4096, DEPTH_MAX = 4 };

static const char *const policy_names[] = {"off", "redact", "refuse"};

const char *redact_policy_name(enum redact_policy policy)
{
	return policy_names[policy];
}

enum redact_policy redact_policy_kept(int64_t number)
{
	return number >= REDACT_OFF && number <= REDACT_REFUSE ? (enum redact_policy)number : REDACT_REFUSE;
}

/* --- Words --- */

/* Letters and digits of a spelling; begins[i]: a word begins at i. */
struct saying {
	struct str text;
	bool *begins;
};

static bool is_joint(char c)
{
	return (unsigned char)c < 0x80 && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9');
}

/* A letter is the same without its accent, and "don’t" without its apostrophe: how many bytes of such a mark stand
 * there. */
static size_t mark_bytes(struct str text, size_t i)
{
	unsigned char a = (unsigned char)text.p[i], b = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;

	if (a == 0xe2 && b == 0x80)	/* U+2000 to U+203F: dashes and quotes */
		return text.n - i < 3 ? 2 : 3;
	return (a == 0xcc || (a == 0xcd && b < 0xb0) || (a == 0xca && b >= 0xb0)) ? 2 : 0;
}

static struct saying read_saying(struct str spelling, struct arena *arena)
{
	struct str cut = str_sub(spelling, 0, spelling.n < SAYING_MAX ? spelling.n : SAYING_MAX), folded;
	struct saying s = {0};
	char *out;

	cut.n = str_utf8_prefix(cut);
	folded = lookalike_fold(cut, arena);
	out = arena_alloc(arena, folded.n + 1);
	s.begins = arena_calloc(arena, folded.n + 1, sizeof(*s.begins));
	s.text.p = out;
	for (size_t i = 0, marks; i < folded.n; i++) {
		if (is_joint(folded.p[i]))
			continue;
		marks = mark_bytes(folded, i);
		if (marks) {
			i += marks - 1;
			continue;
		}
		s.begins[s.text.n] = i == 0 || is_joint(folded.p[i - 1]);
		out[s.text.n++] = folded.p[i];
	}
	return s;
}

/* The longest of the words that stands at at, or 0. */
static size_t one_of(struct str text, size_t at, const char *const *words)
{
	struct str rest = str_sub(text, at, text.n);
	size_t longest = 0;

	for (; *words; words++)
		if (str_has_prefix(rest, str_of(*words)) && strlen(*words) > longest)
			longest = strlen(*words);
	return longest;
}

static const char *const THINGS[] = {"credential", "creds", "secret", "password", "apikey", "accesskey", "privatekey",
				     "accesstoken", "authtoken", "apitoken", "passphrase",
				     /* In other languages, without accents. */
				     "passwort", "zugangsdaten", "kennwort", "contrasena", "motdepasse", "motsdepasse",
				     "senha", "credenzial", "credencia", "wachtwoord", NULL};

/* What begins to forbid. */
static const char *const NOS[] = {"no", "not", "never", "without", "zero", "donot", "dont", "mustnot", "shallnot",
				  "forbid", "forbidden", "avoid", "hide", "redact", "mask", "strip", "remove", "omit",
				  "exclude", "prohibit", "prohibited", "keep", "protect",
				  "kein", "keine", "nie", "niemals", "ohne", "sans", "pasde", "jamais", "sin", "sem",
				  "nunca", "senza", "geen", NULL};

/* Behind the thing: "credentials must be redacted", "credentials not allowed". */
static const char *const ENDS[] = {"not", "never", "cannot", "mustnt", "redact", "mask", "hidden", "removed",
				   "stripped", "blanked", "forbidden", "prohibited", "banned", "disallowed", "out",
				   "verboten",
				   "interdit", "prohibid", "proibid", NULL};

/* [share any] [plain text] credentials */
static bool is_thing_at(struct str text, size_t at)
{
	static const char *const verbs[] = {"any", "use", "share", "send", "pass", "include", "store", "log", "expose",
					    "leak", "handover", "thereare", "contain", "allow", "allowed", "all", "the",
					    "every", "your", "our", "out", "print", "write", "reveal", "disclose",
					    "put", NULL};
	static const char *const plain[] = {"plain", "plaintext", "cleartext", "clear", "unencrypted", "raw", "bare",
					    "hardcoded", "readable", "visible", NULL};

	/* A password begins with a verb. */
	for (int i = 0; i < 2 && one_of(text, at, THINGS) == 0; i++)
		at += one_of(text, at, verbs);
	if (one_of(text, at, THINGS) == 0)
		at += one_of(text, at, plain);
	return one_of(text, at, THINGS) > 0 || str_is(str_sub(text, at, text.n), "tokens");
}

/* no [plain text] credentials, in one of many ways to say it; at a word that begins with no. */
static bool forbids_at(struct str text, size_t at)
{
	size_t n = one_of(text, at, NOS);

	/* "no tokens" is not "not okens". */
	return n && (is_thing_at(text, at + n) ||
		     (n > 2 && str_has_prefix(str_sub(text, at, text.n), STR("no")) && is_thing_at(text, at + 2)));
}

/* credentials [must be] redacted; at a word that begins with the thing. */
static bool forbids_behind(const struct saying *s, size_t at)
{
	enum { WORDS = 5 };
	size_t n = one_of(s->text, at, THINGS);

	if (n == 0)
		return false;
	for (int words = 0; words < WORDS; words++) {
		for (at += n, n = 1; at < s->text.n && !s->begins[at];)
			at++;
		if (at >= s->text.n)
			return false;
		if (one_of(s->text, at, ENDS) > 0)
			return true;
	}
	return false;
}

static bool says_none(struct str spelling, struct arena *arena)
{
	struct saying s = read_saying(spelling, arena);

	for (size_t i = 0; i < s.text.n; i++)
		if (s.begins[i] && (forbids_at(s.text, i) || forbids_behind(&s, i)))
			return true;
	return false;
}

/* --- Constraints --- */

/* What the guard makes of a value. */
enum reading { READ_OFF = REDACT_OFF, READ_BLANK = REDACT_BLANK, READ_REFUSE = REDACT_REFUSE, READ_NOT };

/* The whole of a value under "credentials". */
static enum reading read_word(struct str spelling, struct arena *arena)
{
	static const struct {
		const char *words[16];
		enum reading reading;
	} table[] = {
		{{"refuse", "refused", "reject", "rejected", "deny", "denied", "block", "blocked", "forbid",
		  "forbidden", "prohibited", "error", "fail", NULL}, READ_REFUSE},
		{{"redact", "redacted", "redaction", "none", "no", "never", "mask", "masked", "blank", "blanked",
		  "strip", "remove", "hide", "hidden", "false", NULL}, READ_BLANK},
		{{"notallowed", "noplaintext", "notinplaintext", "noplain", "nocleartext", "notincleartext",
		  "mustnotappear", "0", NULL}, READ_BLANK},
		{{"off", "allow", "allowed", "ok", "yes", "any", "true", "permitted", NULL}, READ_OFF},
	};
	struct str said = read_saying(spelling, arena).text;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (size_t k = 0; table[i].words[k]; k++)
			if (str_is(said, table[i].words[k]))
				return table[i].reading;
	return says_none(spelling, arena) ? READ_BLANK : READ_NOT;
}

/* The stricter; a value that is understood counts before one that is not. */
static enum reading both(enum reading a, enum reading b)
{
	if (a == READ_NOT || b == READ_NOT)
		return a == READ_NOT ? b : a;
	return a > b ? a : b;
}

/* PROHIBITION: do_not, forbidden, never: what is named there is not to be. GUARD: the word alone is read. */
enum subject { SUBJECT_OTHER, SUBJECT_SECURITY, SUBJECT_CREDENTIALS, SUBJECT_PROHIBITION, SUBJECT_GUARD };

static enum subject subject_of(struct str key, struct arena *arena)
{
	static const char *const credentials[] = {"credentials", "credential", "secrets", "plaintextcredentials", NULL};
	static const char *const prohibits[] = {"donot", "dont", "mustnot", "shallnot", "never", "forbidden", "forbid",
						"prohibited", "prohibit", "disallowed", "notallowed", "banned", "avoid",
						"redact", "mask", "hide", "strip", "omit", "exclude", NULL};
	struct str said;

	if (key.n > KEY_MAX)
		return SUBJECT_OTHER;
	said = read_saying(key, arena).text;
	if (str_is(said, "security"))
		return SUBJECT_SECURITY;
	if (said.n && one_of(said, 0, credentials) == said.n)
		return SUBJECT_CREDENTIALS;
	if (said.n && one_of(said, 0, prohibits) == said.n)
		return SUBJECT_PROHIBITION;
	return str_is(said, "guard") ? SUBJECT_GUARD : SUBJECT_OTHER;
}

/* do_not: "include credentials", redact: "passwords"; guard: "redact". What says something else is of no concern. */
static enum reading read_beside(struct str spelling, enum subject subject, struct arena *arena)
{
	struct str said;

	if (subject == SUBJECT_PROHIBITION) {
		said = arena_printf(arena, "no %.*s", STR_ARG(spelling));
		return says_none(said, arena) ? READ_BLANK : READ_OFF;
	}
	said = read_saying(spelling, arena).text;
	return str_is(said, "redact") || str_is(said, "refuse") ? read_word(spelling, arena) : READ_OFF;
}

static enum reading read_member(const struct json_member *m, enum subject within, int depth, struct arena *arena);

static enum reading read_value(const struct json *value, enum subject subject, int depth, struct arena *arena)
{
	enum reading reading = READ_NOT;

	switch (value->type) {
	case JSON_STRING:
		if (subject == SUBJECT_CREDENTIALS)
			return read_word(value->s, arena);
		if (subject == SUBJECT_GUARD || subject == SUBJECT_PROHIBITION)
			return read_beside(value->s, subject, arena);
		return says_none(value->s, arena) ? READ_BLANK : READ_NOT;
	case JSON_BOOL:
		if (subject != SUBJECT_CREDENTIALS)
			return subject == SUBJECT_SECURITY ? READ_NOT : READ_OFF;
		return value->boolean ? READ_OFF : READ_BLANK;
	case JSON_ARRAY:
		/* An empty list of credentials is none of them. */
		if (value->count == 0 && subject == SUBJECT_CREDENTIALS)
			return READ_BLANK;
		for (uint32_t i = 0; depth < DEPTH_MAX && i < value->count; i++)
			reading = both(reading, read_value(&value->items[i], subject, depth + 1, arena));
		return reading;
	case JSON_OBJECT:
		for (uint32_t i = 0; depth < DEPTH_MAX && i < value->count; i++)
			reading = both(reading, read_member(&value->members[i], subject, depth + 1, arena));
		return reading;
	default:
		return subject == SUBJECT_PROHIBITION || subject == SUBJECT_GUARD ? READ_OFF : READ_NOT;
	}
}

/* True, yes, required: what a key says holds. False, no, off: it does not. */
static enum reading read_answer(const struct json *value, struct arena *arena)
{
	static const char *const yes[] = {"true", "yes", "required", "always", "on", "must", "enforced", "1", NULL};
	static const char *const no[] = {"false", "no", "off", "never", "0", NULL};
	struct str said;

	if (value->type == JSON_BOOL)
		return value->boolean ? READ_BLANK : READ_OFF;
	if (value->type == JSON_INT && (value->i == 0 || value->i == 1))
		return value->i ? READ_BLANK : READ_OFF;
	if (value->type != JSON_STRING)
		return READ_NOT;
	said = read_saying(value->s, arena).text;
	if (said.n && one_of(said, 0, yes) == said.n)
		return READ_BLANK;
	return said.n && one_of(said, 0, no) == said.n ? READ_OFF : READ_NOT;
}

static enum reading read_member(const struct json_member *m, enum subject within, int depth, struct arena *arena)
{
	enum subject subject = subject_of(m->key, arena);

	if (subject == SUBJECT_OTHER && m->key.n <= KEY_MAX && says_none(m->key, arena))
		return read_answer(&m->value, arena);
	subject = subject == SUBJECT_OTHER ? within : subject;
	return subject == SUBJECT_OTHER ? READ_OFF : read_value(&m->value, subject, depth, arena);
}

static enum reading read_constraint(const struct json_member *m)
{
	struct arena arena;
	enum reading reading;

	arena_init(&arena);
	reading = read_member(m, SUBJECT_OTHER, 0, &arena);
	arena_release(&arena);
	return reading;
}

static enum redact_policy policy_of_one(const struct json_member *m)
{
	enum reading reading = read_constraint(m);

	return reading == READ_NOT ? REDACT_OFF : (enum redact_policy)reading;
}

bool redact_reads(const struct json_member *constraint)
{
	return policy_of_one(constraint) != REDACT_OFF;
}

enum redact_policy redact_policy_of(const struct json *constraints, enum redact_policy space)
{
	enum redact_policy policy = space;

	for (uint32_t i = 0; constraints->type == JSON_OBJECT && i < constraints->count; i++) {
		enum redact_policy wanted = policy_of_one(&constraints->members[i]);

		policy = wanted > policy ? wanted : policy;
	}
	return policy;
}

/* Does a text name credentials and something that forbids, hides or keeps, wherever? */
static bool names_both(struct str spelling, struct arena *arena)
{
	struct saying s = read_saying(spelling, arena);
	bool thing = false, no = false;

	for (size_t i = 0; i < s.text.n; i++) {
		thing |= s.begins[i] && one_of(s.text, i, THINGS) > 0;
		no |= s.begins[i] && (one_of(s.text, i, NOS) > 2 || one_of(s.text, i, ENDS) > 2);
	}
	return thing && no;
}

static bool names_thing(struct str key, struct arena *arena)
{
	struct saying s = read_saying(key, arena);

	for (size_t i = 0; i < s.text.n; i++)
		if (s.begins[i] && one_of(s.text, i, THINGS) > 0)
			return true;
	return false;
}

/* What would switch the guard on in another place: policy: "no plaintext credentials", passwords: "none". */
static bool is_elsewhere(const struct json *value, bool of_thing, int depth, struct arena *arena)
{
	enum reading reading;
	bool is = false;

	switch (value->type) {
	case JSON_STRING:
		reading = of_thing ? read_word(value->s, arena) : READ_OFF;
		return reading == READ_BLANK || reading == READ_REFUSE || says_none(value->s, arena) ||
		       names_both(value->s, arena);
	case JSON_BOOL:
		return of_thing && !value->boolean;
	case JSON_ARRAY:
		for (uint32_t i = 0; !is && depth < DEPTH_MAX && i < value->count; i++)
			is = is_elsewhere(&value->items[i], of_thing, depth + 1, arena);
		return is;
	case JSON_OBJECT:
		for (uint32_t i = 0; !is && depth < DEPTH_MAX && i < value->count; i++)
			is = is_elsewhere(&value->members[i].value, names_thing(value->members[i].key, arena),
					  depth + 1, arena);
		return is;
	default:
		return false;
	}
}

/* Under a prohibition whatever names credentials is worth a word. */
static bool mentions(const struct json *value, int depth, struct arena *arena)
{
	bool is = value->type == JSON_STRING && names_thing(value->s, arena);

	for (uint32_t i = 0; !is && value->type == JSON_ARRAY && depth < DEPTH_MAX && i < value->count; i++)
		is = mentions(&value->items[i], depth + 1, arena);
	return is;
}

bool redact_is_unread(const struct json_member *constraint, enum redact_policy policy)
{
	struct arena arena;
	enum subject subject;
	enum reading reading = read_constraint(constraint);
	bool is = false;

	arena_init(&arena);
	subject = subject_of(constraint->key, &arena);
	/* "security" says many things. Where the guard is on anyway, nothing is lost with what it does not read. */
	if (reading == READ_NOT)
		is = subject == SUBJECT_CREDENTIALS || policy == REDACT_OFF;
	else if (reading == READ_OFF && policy == REDACT_OFF && subject != SUBJECT_CREDENTIALS &&
		 subject != SUBJECT_SECURITY && !says_none(constraint->key, &arena))
		is = is_elsewhere(&constraint->value, names_thing(constraint->key, &arena), 0, &arena) ||
		     (subject == SUBJECT_PROHIBITION && mentions(&constraint->value, 0, &arena));
	arena_release(&arena);
	return is;
}

enum redact_policy redact_policy_packed(const struct envelope *e)
{
	const struct json *policy = e->guard.type == JSON_OBJECT ? json_get(&e->guard, "policy") : NULL;

	if (policy == NULL || policy->type != JSON_STRING)
		return REDACT_OFF;
	return str_is(policy->s, policy_names[REDACT_REFUSE]) ? REDACT_REFUSE : REDACT_BLANK;
}
