/* Registering an agent, or anew. */
#ifndef SPINE_ENGINE_AGENT_SET_H
#define SPINE_ENGINE_AGENT_SET_H

#include "engine/delivery/agent_get.h"

struct agent_set {
	struct op op;			/* its if_tag: of the settings that are replaced */
	/* In. */
	struct str name;
	const struct json *settings;	/* an object; the run checks it */
	/* Out. */
	struct agent_view view;
	/* agent_set.c's own. */
	struct str new_secret;		/* of the webhook, where it has none yet */
};

extern const struct op_kind agent_set_kind;

#endif
