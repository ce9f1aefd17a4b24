/* The guard: no credentials in plain text in what is handed over.
 *
 * A constraint asks for it (`security: "no plaintext credentials"`, as a text or one of a list, or `credentials:
 * "redact"` / `"refuse"`, however it is spelled: redact_policy.c), or the space's policy does; the strictest holds.
 * What is found is blanked, or the handoff refused; either way it is recorded, what and where, never the value. A name
 * that cannot be blanked (an agent's, the task's, a constraint's key) refuses the handoff whatever the policy is.
 */
#ifndef SPINE_CORE_REDACT_H
#define SPINE_CORE_REDACT_H

#include "core/envelope/envelope.h"

enum redact_policy { REDACT_OFF, REDACT_BLANK, REDACT_REFUSE };

const char *redact_policy_name(enum redact_policy policy);	/* "off", "redact", "refuse" */
/* The policy that a store keeps as a number; of one that is none the strictest. */
enum redact_policy redact_policy_kept(int64_t number);

/* What the constraints and the space's policy ask for together. */
enum redact_policy redact_policy_of(const struct json *constraints, enum redact_policy space);

/* Is it a constraint that the guard goes by? */
bool redact_reads(const struct json_member *constraint);
/* Is it about security or credentials, and says nothing that the guard reads, with the policy that holds? Or would it
 * switch the guard on if it stood in another place? Whoever wrote it may believe that the guard is on. */
bool redact_is_unread(const struct json_member *constraint, enum redact_policy policy);
/* What would be read, for whoever is told that it was not. */
#define REDACT_READS "security: \"no plaintext credentials\" (or a list with that in it), " \
	"credentials: \"redact\" or \"refuse\""

/* Looks through all text of an envelope that is being packed, before it is trimmed. P_CREDENTIALS_FOUND where the
 * policy is to refuse. */
enum problem_code redact(struct envelope *e, enum redact_policy policy, struct arena *arena, struct problem *problem);

/* An envelope with a guard is sent to an agent or a channel of that name: P_CREDENTIALS_FOUND, with the field, where
 * the name holds one. */
enum problem_code redact_check_sent(const struct envelope *e, struct str name, const char *field, struct arena *arena,
				    struct problem *problem);
/* The text without its credentials. */
struct str redact_text(struct str text, struct arena *arena);

/* What a receiver answers; p == NULL: it does not say that. */
struct redact_answer {
	struct str text;		/* a note or a reason */
	const char *text_field;		/* which of them */
	struct str gaps;		/* JSON */
	struct str result;		/* JSON */
	/* Out. */
	struct json value;		/* of the result */
	struct str kind, where;		/* the first finding */
};

/* *ret is the answer without its credentials; false where it has none. */
bool redact_answer(const struct redact_answer *answer, struct arena *arena, struct redact_answer *ret);
/* The problem of an answer that was found to have some. */
enum problem_code redact_refuse_answer(const struct redact_answer *found, struct problem *problem);
/* What an envelope was packed with. */
enum redact_policy redact_policy_packed(const struct envelope *e);

/* A memory that is asked for because an envelope with a guard mentions it: without its credentials. */
void redact_memory(struct memory *m, struct arena *arena);

#endif
