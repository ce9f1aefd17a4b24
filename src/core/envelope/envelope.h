/* The envelope: what one agent hands to the next. Plain data, its canonical JSON, and back.
 *
 * An envelope is immutable. Its digest is the SHA-256 over its canonical JSON (RFC 8785) without the member "digest".
 * The text of a memory is not stored a second time: what the store keeps is the envelope without the texts of its
 * references and the names of their authors (the skeleton), and a reader puts them back from the memory's version,
 * which never changes. So a memory that is forgotten is gone from envelopes, too: its reference stays, without them.
 */
#ifndef SPINE_CORE_ENVELOPE_H
#define SPINE_CORE_ENVELOPE_H

#include "codec/json.h"
#include "core/envelope/envelope_id.h"
#include "core/memory/memory.h"

#define ENVELOPE_VERSION "2"
/* What is packed now. Stored envelopes keep the minor that they were sealed with, and with it their members, their
 * digest and their prompt: 0 has no fetch_hint, relevance, worth or reason of what was left out, and the first form of
 * the prompt; 1 has no trust. The member "locked" is there where it names something: so it needs no number of its own.
 */
enum { ENVELOPE_MINOR = 2, ENVELOPE_JSON_DEPTH = 80 };

enum envelope_why { WHY_CITED, WHY_PINNED, WHY_INHERITED, WHY_RELEVANT, WHY_RECENT };
enum envelope_form { FORM_FULL, FORM_SUMMARY, FORM_REF };
enum envelope_strategy { STRATEGY_PRIORITY, STRATEGY_FULL, STRATEGY_SUMMARY, STRATEGY_LAZY };
/* How the receiver gets at a memory by its id, so that the prompt says it in its way. */
enum envelope_fetch { FETCH_UNSAID, FETCH_MCP, FETCH_COMMAND, FETCH_HTTP };

/* A stretch of a text that the guard has blanked. */
struct envelope_redaction {
	uint32_t at;		/* of the text without redactions */
	uint32_t len;
	struct str kind;	/* what it looked like: "aws_access_key" */
};

struct envelope_ref {
	struct memory_id id;		/* with its version */
	uint8_t digest[32];		/* of the memory's content */
	enum envelope_why why;
	enum importance importance;
	enum trust trust;
	enum envelope_form form;
	int64_t tokens;			/* of its part of the prompt */
	struct str kind;
	struct str agent;		/* author; p == NULL: unknown */
	int64_t created_at_ms;
	uint64_t superseded_by;		/* when the envelope was packed; 0: it was not */
	double relevance;		/* to the work, 0 to 1; since minor 1 */
	const struct envelope_redaction *redactions;
	size_t redaction_count;
	struct str text;		/* p == NULL: none (form ref), or gone */
	/* Not part of the envelope. */
	bool is_renamed;		/* agent is not the memory's, word for word: it was redacted */
	bool has_left_agent;		/* read from a skeleton: the author is the memory's */
	struct str summary;		/* of the memory, while the envelope is packed */
	uint64_t repeats;		/* the memory of this envelope that it only repeats; 0: none */
	const struct envelope_redaction *summary_redactions;
	size_t summary_redaction_count;
	struct {
		uint32_t version;	/* the memory's newest, when the envelope was read back */
		uint64_t superseded_by;
		bool forgotten;
		bool quarantined;
		int64_t expires_at_ms;	/* 0: never */
	} now;
};

struct envelope_missing {
	struct str id;
	struct str reason;		/* "unknown", "forgotten", "quarantined", "expired", "unavailable" */
};

/* What was left out of the prompt, or shrunk, to fit: the receipt. */
struct envelope_trim {
	struct str id;			/* a memory's, or "history[3]" */
	int64_t tokens;			/* that it would have taken */
	double score;			/* its value to the receiver, as the choice saw it */
	struct str reason;		/* "budget", "room", "repetition", "lazy", "summary", "trust_floor" */
	struct str form;		/* what is left of it: "summary", "ref", "none" */
	enum envelope_why why;		/* since minor 1, of a memory; the same for the next */
	double relevance;
	uint64_t repeats;		/* what it only repeats; 0: nothing. Not part of the envelope */
};

/* A memory that was looked at and did not come along: it is recorded beside the envelope, for who asks why. */
enum envelope_passed_why { PASSED_NOT_RELEVANT, PASSED_NOT_ASKED_FOR };
struct envelope_passed {
	uint64_t num;
	double relevance;
	enum envelope_passed_why why;
};

struct coming_result;

struct envelope {
	uint64_t num;
	int64_t minor;
	uint8_t digest[32];
	struct str space;
	int64_t created_at_ms;
	struct str from;		/* p == NULL: unknown */
	struct str to;
	struct str traceparent;		/* p == NULL: none */
	enum trust trust;		/* the least of its parts, since minor 2; see envelope_trust */
	enum envelope_fetch fetch_hint;	/* the receiver's, since minor 1 */

	struct str task;
	struct str intent;		/* p == NULL: none was given */
	struct str state;		/* p == NULL: none */
	struct str summary;
	struct json open_decisions;	/* array */

	struct envelope_ref *refs;
	size_t ref_count;
	struct envelope_missing *missing;
	size_t missing_count;

	struct json history;		/* array of objects */
	struct json constraints;	/* object */
	struct json waived;		/* array of objects */
	struct json locked;		/* array of keys that no agent waives; empty or JSON_NULL: no member */
	struct json guard;		/* object: {findings[], policy}; JSON_NULL: nothing was looked for */
	struct json expected_output;	/* object */
	struct json extensions;		/* object: fields that came in and are not ours */

	uint64_t parent;		/* 0: this is the root */
	uint8_t parent_digest[32];
	uint64_t root;
	int64_t hop;
	int64_t max_hops;
	struct json path;		/* array of agents so far, the receiver last */

	int64_t max_tokens;
	int64_t token_count;
	struct str tokenizer;
	enum envelope_strategy strategy;
	struct envelope_trim *trimmed;
	size_t trim_count;
	double worth;			/* of all that the prompt carries, as the choice saw it; since minor 1 */

	int64_t requested;		/* references asked for */
	int64_t resolved;		/* of them, those that were found */

	/* Not part of the envelope. */
	uint64_t highest;		/* number of a memory in the space, when the envelope was packed */
	struct envelope_passed *passed;
	size_t passed_count;
	const struct coming_result *coming;	/* stored together with it; NULL: none */
	bool has_floor;			/* memories that are trusted less than trust_floor come without their text */
	enum trust trust_floor;
	int64_t reserve;		/* tokens of max_tokens that packing keeps free, for what may come to it */
	struct str sealed;		/* ENVELOPE_WHOLE, where envelope_seal has just made it; else p == NULL */
	struct str skeleton;		/* the same without texts and authors of the references: what is stored */
};

const char *envelope_why_name(enum envelope_why why);
const char *envelope_form_name(enum envelope_form form);
const char *envelope_strategy_name(enum envelope_strategy strategy);
bool envelope_strategy_parse(struct str name, enum envelope_strategy *ret);
/* NULL where it is unsaid. */
const char *envelope_fetch_name(enum envelope_fetch fetch);
bool envelope_fetch_parse(struct str name, enum envelope_fetch *ret);

enum envelope_part {
	ENVELOPE_WHOLE,		/* what callers get */
	ENVELOPE_DIGESTED,	/* without the digest: what the digest is over */
};

/* Canonical JSON. */
void envelope_write(const struct envelope *e, enum envelope_part part, struct buf *out);
/* Sets the digest, `sealed` and `skeleton` (in the arena): what they have in common is written once. */
void envelope_seal(struct envelope *e, struct arena *arena);
/* How far what it carries can be trusted: no more than the least of its references; but those that the floor has left
 * without text do not count. Of one that was packed before envelopes said so it is found anew. */
enum trust envelope_trust(const struct envelope *e);
/* The digest of the envelope as it is, texts included. */
void envelope_digest(const struct envelope *e, uint8_t ret[32]);
enum { ENVELOPE_DIGEST_SIZE = 7 + 64 + 1 };
/* "sha256:…" */
void envelope_digest_format(const uint8_t digest[32], char ret[ENVELOPE_DIGEST_SIZE]);
/* Reads what envelope_write wrote. Everything lives in the arena. False where it is not an envelope. */
bool envelope_read(struct str json, struct arena *arena, struct envelope *ret);

#endif
