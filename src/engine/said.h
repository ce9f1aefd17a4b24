/* What somebody says beside a decision: why a handoff is cancelled, rerouted or parked, why an alert is silenced. It
 * stays in the events, and may reach the next agent: so it is guarded as results are. */
#ifndef SPINE_ENGINE_SAID_H
#define SPINE_ENGINE_SAID_H

#include "core/guard/redact.h"
#include "engine/op.h"

/* Whose policy holds, beside that of the space; the strictest of both does. */
enum said_of { SAID_OF_SPACE, SAID_OF_ENVELOPE, SAID_OF_HANDOFF };

/* P_OK also where there is no such envelope or handoff: that is for others to say. */
enum problem_code said_policy(struct op *op, struct store_conn *c, enum said_of of, uint64_t num,
			      enum redact_policy *ret);

/* Blanks credentials in *text, which stands in that field, where the policy says so; P_CREDENTIALS_FOUND where it says
 * to refuse. p == NULL: nothing is said. The policy is looked up only where something was found. */
enum problem_code said_guard(struct op *op, struct store_conn *c, enum said_of of, uint64_t num, const char *field,
			     struct str *text);

/* The same for what was looked through before, by redact_answer, and found to have one: the text is for many. */
enum problem_code said_put(struct op *op, struct store_conn *c, enum said_of of, uint64_t num,
			   const struct redact_answer *clean, struct str *text);

#endif
