/* A name that nobody has used may be mistyped: whoever sends something there is told. */
#ifndef SPINE_ENGINE_UNKNOWN_AGENT_H
#define SPINE_ENGINE_UNKNOWN_AGENT_H

#include "engine/op.h"

/* Warns where the agent was never registered and never seen, with the known name that is nearest, if one is near.
 * What is asked for is done all the same. */
void unknown_agent_warn(struct op *op, struct store_conn *c, const char *field, struct str name);
/* The same of each name of a list, "receivers[2]"; of many, the first ones. */
void unknown_agents_warn(struct op *op, struct store_conn *c, const char *field, const struct str *names, size_t count);

#endif
