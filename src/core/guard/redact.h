/* The guard: no credentials in plain text in what is handed over.
 *
 * A constraint asks for it (`security: "no plaintext credentials"`, as a text or one of a list, or `credentials:
 * "redact"` / `"refuse"`, in any case), or the space's policy does; the strictest holds. What is found is blanked, or
 * the handoff refused; either way it is recorded, what and where, never the value.
 */
#ifndef SPINE_CORE_REDACT_H
#define SPINE_CORE_REDACT_H

#include "core/envelope/envelope.h"

enum redact_policy { REDACT_OFF, REDACT_BLANK, REDACT_REFUSE };

const char *redact_policy_name(enum redact_policy policy);	/* "off", "redact", "refuse" */

/* What the constraints and the space's policy ask for together. */
enum redact_policy redact_policy_of(const struct json *constraints, enum redact_policy space);

/* Is it a constraint that the guard goes by? */
bool redact_reads(const struct json_member *constraint);

/* Looks through all text of an envelope that is being packed, before it is trimmed. P_CREDENTIALS_FOUND where the
 * policy is to refuse. */
enum problem_code redact(struct envelope *e, enum redact_policy policy, struct arena *arena, struct problem *problem);

/* A memory that is asked for because an envelope with a guard mentions it: without its credentials. */
void redact_memory(struct memory *m, struct arena *arena);

#endif
