/* Hops behind the envelope that somebody goes on from, which they were given: what was set there holds for them
 * (core/envelope/constraints_given.h). */
#ifndef SPINE_ENGINE_LATER_HOPS_H
#define SPINE_ENGINE_LATER_HOPS_H

#include "core/envelope/constraints_given.h"
#include "engine/envelope/pack.h"

/* Finds them, and what is inherited for that. *ret stays NULL where there are none: then it is what `before` has. Warns
 * of what it adds. `parent` is NULL for what takes the place of a root. */
enum problem_code later_hops_hold(struct op *op, struct store_conn *c, const struct packing *p,
				  const struct envelope *parent, const struct envelope *before,
				  const struct given_constraints **ret);

#endif
