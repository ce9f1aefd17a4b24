/* Does a name stand for a secret?
 *
 * A name is cut into words at '_', '-', '.', blanks and changes of case: "DB_PASSWORD_PROD" -> db password prod,
 * "apiKey" -> api key, "XApiKey2" -> x api key 2. Words behind that only tell one from another are left out (prod, 2);
 * then the last word decides, for "key" and some others together with the one before. So "token" is a secret's name,
 * "token_count", "tokens", "secret_name" and "password_file" are not.
 */
#include "core/guard/credentials_internal.h"

enum { WORDS_MAX = 6, NAME_BYTES = 80 };

struct words {
	char bytes[NAME_BYTES];		/* in lower case */
	struct str word[WORDS_MAX];	/* the last one first */
	size_t count;
};

/* word is not empty. */
static bool in(struct str word, const char *const *list)
{
	for (; *list; list++)
		if ((*list)[0] == word.p[0] && str_is(word, *list))
			return true;
	return false;
}

static bool ends_with(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_has_suffix(word, str_of(*list)))
			return true;
	return false;
}

/* Where the word that ends before end begins. */
static size_t word_start(struct str name, size_t end)
{
	size_t i = end - 1;
	unsigned sort = credentials_class[(unsigned char)name.p[i]] & CH_ALNUM;

	if (sort == CH_UPPER) {
		while (i > 0 && credentials_is(name.p[i - 1], CH_UPPER))
			i--;
		return i;
	}
	while (i > 0 && credentials_is(name.p[i - 1], sort))
		i--;
	if (sort == CH_LOWER && i > 0 && credentials_is(name.p[i - 1], CH_UPPER))
		i--;
	return i;
}

static void cut(struct str name, struct words *w)
{
	size_t end;

	if (name.n > NAME_BYTES)
		name = str_sub(name, name.n - NAME_BYTES, name.n);
	for (size_t i = 0; i < name.n; i++)
		w->bytes[i] = credentials_is(name.p[i], CH_UPPER) ? (char)(name.p[i] + ('a' - 'A')) : name.p[i];
	w->count = 0;
	for (end = name.n; end > 0 && w->count < WORDS_MAX;) {
		size_t start;

		if (!credentials_is(name.p[end - 1], CH_ALNUM)) {
			end--;
			continue;
		}
		start = word_start(name, end);
		w->word[w->count++] = (struct str){w->bytes + start, end - start};
		end = start;
	}
}

/* Words that tell one secret from another of the same sort. */
static const char *const QUALIFIERS[] = {
	"prod", "production", "staging", "stage", "dev", "development", "test", "testing", "live", "old", "new",
	"current", "default", "base", "primary", "secondary", "value", "string", "text", "plain", "plaintext", "base64",
	"b64", "hex", "backup", "main", "local", "a", "b", NULL,
};

/* Before "key": of what it is the key, so that it is a secret. Not public, primary, foreign, cache, sort, … */
static const char *const KEY_OF[] = {
	"api", "secret", "access", "private", "encryption", "encrypt", "signing", "sign", "auth", "authentication",
	"account", "shared", "master", "service", "storage", "app", "application", "admin", "deploy", "consumer",
	"client", "ssh", "crypto", "hmac", "jwt", "root", "subscription", "license", "webhook", "session", "cookie",
	"rsa", "integration", "ingest", "write", "openai", "anthropic", "claude", "stripe", "google", "gcp", "aws",
	"azure", "sendgrid", "twilio", "mailgun", "mailchimp", "github", "gitlab", "datadog", "sentry", "algolia",
	"maps", "firebase", "supabase", "groq", "mistral", "cohere", "gemini", "huggingface", "hf", "pinecone",
	"openrouter", "deepseek", "wireguard", "preshared", NULL,
};

static const char *const KEY_WORDS[] = {
	"secretkey", "accesskey", "privatekey", "authkey", "signingkey", "encryptionkey", "accountkey",
	"sharedkey", "presharedkey", "masterkey", "servicekey", "storagekey", "appkey", "clientkey", NULL,
};

/* Before "token": it marks a place in a list or a sort of symbol, and opens nothing. */
static const char *const TOKEN_OF[] = {
	"next", "page", "nextpage", "continuation", "continue", "sync", "resume", "cursor", "cancellation", "cancel",
	"stop", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "start", "end", "prev", "previous",
	"idempotency", "syntax", "public", NULL,
};

static enum credentials_name name_of_key(const struct words *w, size_t last)
{
	struct str of = last + 1 < w->count ? w->word[last + 1] : STR_NULL;
	struct str before = last + 2 < w->count ? w->word[last + 2] : STR_NULL;

	if (str_is(of, "account") || (str_is(of, "access") && str_is(before, "shared")))
		return NAME_AZURE_KEY;
	if ((str_is(of, "access") && str_is(before, "secret")) || (str_is(of, "secret") && str_is(before, "aws")))
		return NAME_AWS_SECRET;
	if (str_is(of, "api"))
		return NAME_API_KEY;
	return of.n && in(of, KEY_OF) ? NAME_SECRET_KEY : NAME_NONE;
}

static enum credentials_name name_of_token(const struct words *w, size_t last)
{
	static const char *const joined[] = {"nexttoken", "pagetoken", "pagination", "synctoken", NULL};

	if (ends_with(w->word[last], joined) || (last + 1 < w->count && in(w->word[last + 1], TOKEN_OF)))
		return NAME_NONE;
	return NAME_TOKEN;
}

/* hashed_password, encrypted_secret, X-Amz-Credential (the id of a key and what it signs): nothing that opens
 * anything. */
static bool is_harmless(const struct words *w, size_t last)
{
	static const char *const before[] = {"hashed", "hash", "encrypted", "sealed", "amz", NULL};

	return last + 1 < w->count && in(w->word[last + 1], before);
}

static bool follows_word(const struct words *w, size_t last)
{
	return last + 1 < w->count && w->word[last + 1].n >= 2 && !credentials_is(w->word[last + 1].p[0], CH_DIGIT);
}

/* Password, in the languages whose word for it, or its spelling without accents, is of ASCII: the other scripts are in
 * credentials_foreign.c. */
static const char *const FOREIGN_PASSWORDS[] = {
	"kennwort", "contrasena", "senha", "motdepasse", "mdp", "wachtwoord", "passord", "losenord", "salasana",
	"adgangskode", "kodeord", "heslo", "haslo", "parola", "sifre", "jelszo", "lozinka", "geslo", "parool",
	"clave", "contrasenya", "zugangscode", "kodeord", "sandi", NULL,
};

#define LETTER(c) (UINT32_C(1) << ((c) & 31))

/* Every secret's name has all the letters of one of these; hardly any other name has, which saves cutting it up. */
static bool may_be_secret(struct str name)
{
	static const uint32_t sets[] = {
		LETTER('p') | LETTER('a') | LETTER('s'),
		LETTER('p') | LETTER('w'),
		LETTER('s') | LETTER('e') | LETTER('c') | LETTER('r') | LETTER('t'),
		LETTER('t') | LETTER('o') | LETTER('k') | LETTER('e') | LETTER('n'),
		LETTER('k') | LETTER('e') | LETTER('y'),
		LETTER('c') | LETTER('r') | LETTER('e') | LETTER('d'),
		LETTER('a') | LETTER('u') | LETTER('t') | LETTER('h'),
		LETTER('v') | LETTER('a') | LETTER('l'),
		LETTER('p') | LETTER('a') | LETTER('t'),
		LETTER('p') | LETTER('s') | LETTER('k'),
		LETTER('c') | LETTER('l') | LETTER('a') | LETTER('v') | LETTER('e'),
		LETTER('z') | LETTER('u') | LETTER('g') | LETTER('a') | LETTER('n'),
		LETTER('s') | LETTER('a') | LETTER('n') | LETTER('d') | LETTER('i'),
		/* FOREIGN_PASSWORDS: those that have none of the sets above. */
		LETTER('s') | LETTER('e') | LETTER('n') | LETTER('h') | LETTER('a'),
		LETTER('c') | LETTER('o') | LETTER('n') | LETTER('t') | LETTER('r') | LETTER('a') | LETTER('s'),
		LETTER('k') | LETTER('e') | LETTER('n') | LETTER('w') | LETTER('o') | LETTER('r') | LETTER('t'),
		LETTER('m') | LETTER('d') | LETTER('p'),
		LETTER('w') | LETTER('a') | LETTER('c') | LETTER('h') | LETTER('t') | LETTER('o') | LETTER('r'),
		LETTER('l') | LETTER('o') | LETTER('s') | LETTER('e') | LETTER('n') | LETTER('r') | LETTER('d'),
		LETTER('s') | LETTER('a') | LETTER('l') | LETTER('n'),
		LETTER('k') | LETTER('o') | LETTER('d') | LETTER('e'),
		LETTER('h') | LETTER('s') | LETTER('l') | LETTER('o'),
		LETTER('p') | LETTER('a') | LETTER('r') | LETTER('o') | LETTER('l'),
		LETTER('s') | LETTER('i') | LETTER('f') | LETTER('r') | LETTER('e'),
		LETTER('j') | LETTER('e') | LETTER('l') | LETTER('s') | LETTER('z') | LETTER('o'),
		LETTER('l') | LETTER('o') | LETTER('z') | LETTER('i') | LETTER('n') | LETTER('k') | LETTER('a'),
		LETTER('g') | LETTER('e') | LETTER('s') | LETTER('l') | LETTER('o'),
	};
	uint32_t letters = 0;
	bool may = false;

	for (size_t i = 0; i < name.n; i++)
		letters |= LETTER(name.p[i]);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		may |= (letters & sets[i]) == sets[i];
	return may;
}

/* By the word that decides; its last letter rules out most questions. */
static enum credentials_name name_of_word(const struct words *w, size_t last)
{
	static const char *const pat_of[] = {
		"github", "gitlab", "gh", "gl", "git", "azure", "devops", "ado", "ext", "access", NULL,
	};
	static const char *const passwords[] = {"password", "passwd", "passphrase", "passcode", "passwort",
						"storepass", "keypass", "requirepass", NULL};
	static const char *const secrets[] = {"secret", "credential", "credentials", "creds", NULL};
	struct str word = w->word[last];

	if (in(word, FOREIGN_PASSWORDS))
		return NAME_PASSWORD;
	switch (word.p[word.n - 1]) {
	case 'd': case 'e': case 't': case 's': case 'l': case 'w':
		if (ends_with(word, passwords) || str_is(word, "pwd") || (str_is(word, "pass") && w->count == 1) ||
		    ((str_is(word, "pass") || str_is(word, "pw")) && follows_word(w, last)))
			return NAME_PASSWORD;
		if (str_is(word, "pat") && last + 1 < w->count && in(w->word[last + 1], pat_of))
			return NAME_TOKEN;
		return ends_with(word, secrets) ? NAME_SECRET : NAME_NONE;
	case 'y':
		if (str_is(word, "key"))
			return name_of_key(w, last);
		if (str_is(word, "accountkey") || str_is(word, "sharedaccesskey"))
			return NAME_AZURE_KEY;
		if (str_has_suffix(word, STR("apikey")))
			return NAME_API_KEY;
		return ends_with(word, KEY_WORDS) ? NAME_SECRET_KEY : NAME_NONE;
	case 'n':
		if (str_has_suffix(word, STR("token")))
			return name_of_token(w, last);
		return str_is(word, "authorization") ? NAME_AUTHORIZATION : NAME_NONE;
	case 'k':
		return str_is(word, "psk") ? NAME_PASSWORD : NAME_NONE;
	case 'h':
		return str_is(word, "auth") && w->count == 1 ? NAME_TOKEN : NAME_NONE;
	default:
		return NAME_NONE;
	}
}

enum credentials_name credentials_name_of(struct str name)
{
	static const char *const values[] = {"value", "val", "defaultvalue", "parametervalue", NULL};
	struct words w;
	size_t last = 0;

	if (!may_be_secret(name))
		return NAME_NONE;
	cut(name, &w);
	if (w.count > 0 && in(w.word[0], values) && (w.count == 1 || str_is(w.word[1], "parameter")))
		return NAME_VALUE;
	while (last + 1 < w.count && (credentials_is(w.word[last].p[0], CH_DIGIT) || in(w.word[last], QUALIFIERS)))
		last++;
	return last < w.count && !is_harmless(&w, last) ? name_of_word(&w, last) : NAME_NONE;
}

bool credentials_name_names(struct str name)
{
	static const char *const names[] = {
		"name", "key", "id", "variable", "var", "field", "header", "parametername", "label", "type",
		"purpose", NULL,
	};
	struct words w;

	cut(name, &w);
	return w.count > 0 && in(w.word[0], names);
}
