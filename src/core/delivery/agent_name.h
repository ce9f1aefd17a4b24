/* Names of agents that look alike: for somebody who has mistyped one. */
#ifndef SPINE_CORE_AGENT_NAME_H
#define SPINE_CORE_AGENT_NAME_H

#include "base/str.h"

/* How many letters must be changed, added, left out or swapped with their neighbours to get from one name to the other,
 * whatever the case of ASCII letters; AGENT_NAME_FAR where that is too many to be a slip. */
enum { AGENT_NAME_FAR = 1000 };
int agent_name_distance(struct str a, struct str b);

#endif
