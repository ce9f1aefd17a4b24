/* Plaintext credentials in text that one agent hands to another: code, prose, JSON, YAML, logs, Markdown.
 *
 * Three sorts are found:
 *   what has a form of its own      cloud keys, tokens with a known prefix, JWTs, private keys, webhooks;
 *   what stands in a known place    scheme://user:PASSWORD@host, Authorization: Bearer TOKEN, curl -u user:PASSWORD;
 *   what is given to a secret name  password = "…", "api_key": "…", DB_PASSWORD=…, --token …, <secret>…</secret>;
 *                                   the root password is …, login: root / ….
 *
 * Where it is doubtful:
 *   - A published example that has the form of a key (AKIAIOSFODNN7EXAMPLE, the token of a tutorial) counts: nothing
 *   tells
 *     it from a real one, and whoever tries the guard tries it with one of these.
 *   - Stand-ins do not count: xxxx, ****, <your-key>, ${VAR}, {{ var }}, %s, changeme, "password" as the password of
 *   "user".
 *   - A hash of a password ($2b$12$…) is not plaintext and does not count. A UUID or a digest counts only where it is
 *   given
 *     to a secret name.
 *   - A bare value goes on to white space, with the signs that are in it: a part of a password is never found alone.
 *   - A value for a name like token or api_key must look random. For a name like password it is enough that it looks
 *   like
 *     a password: a mix of letters with digits or signs, or a single word in quotes.
 *
 * The scan is one pass; its time is linear in the length of the text, whatever the text is.
 */
#ifndef SPINE_CORE_CREDENTIALS_H
#define SPINE_CORE_CREDENTIALS_H

#include "base/str.h"

struct credential {
	size_t at;		/* the bytes to blank: the value alone, never the name it is given to */
	size_t len;
	const char *kind;	/* a short name such as "aws_access_key"; a constant */
};

/* Fills ret with the credentials in text, in its order, without overlap; returns how many there are, at most max. Text
 * may be any bytes; where it is UTF-8, what is left after blanking is UTF-8 too. */
size_t credentials_scan(struct str text, struct credential *ret, size_t max);
/* The same for a text that is the value of a member of JSON, or of anything else with a name: where nothing in it is a
 * credential, all of it may be one for its name. */
size_t credentials_scan_value(struct str name, struct str value, struct credential *ret, size_t max);

#endif
