/* A person closes the circuit breaker of an agent. */
#ifndef SPINE_ENGINE_RESET_H
#define SPINE_ENGINE_RESET_H

#include "core/delivery/delivery.h"
#include "engine/op.h"

struct reset {
	struct op op;
	struct str agent;		/* in */
	enum breaker_state breaker;	/* out: it is closed */
};

extern const struct op_kind reset_kind;

#endif
