/* A person closes the circuit breaker of an agent. */
#ifndef SPINE_ENGINE_RESET_H
#define SPINE_ENGINE_RESET_H

#include "engine/op.h"

struct reset {
	struct op op;
	struct str agent;		/* in */
};

extern const struct op_kind reset_kind;

#endif
