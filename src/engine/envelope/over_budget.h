/* An envelope is packed for one agent's budget, and may be sent to others: its sender is told where it does not fit. */
#ifndef SPINE_ENGINE_OVER_BUDGET_H
#define SPINE_ENGINE_OVER_BUDGET_H

#include "core/envelope/envelope.h"
#include "engine/op.h"

/* Adds a warning about the field that named the agents, where some of them take fewer tokens than the envelope has.
 * Tokens of another tokenizer than the envelope's are not compared. */
void over_budget_warn(struct op *op, struct store_conn *c, const struct envelope *e, const char *field,
		      const struct str *agents, size_t count);

#endif
