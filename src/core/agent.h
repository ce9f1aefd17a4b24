/* Agents: what is known of who gets the work. */
#ifndef SPINE_CORE_AGENT_H
#define SPINE_CORE_AGENT_H

#include "codec/json.h"
#include "core/problem.h"

struct agent {
	struct str name;
	bool accepts_v1;
	bool accepts_v2;
	struct str tokenizer;		/* p == NULL: the default */
	int64_t max_tokens;		/* 0: the default */
	struct json settings;		/* all of them, an object */
	int64_t created_at_ms;		/* 0: not registered */
	int64_t updated_at_ms;
};

/* The agent with its settings; one that nobody registered has the defaults. */
enum problem_code agent_read(struct store_conn *c, int64_t space, struct str name, struct arena *arena, struct agent *ret,
			     struct problem *problem);
/* Checks settings and replaces the agent's. */
enum problem_code agent_write(struct store_conn *c, int64_t space, struct str name, const struct json *settings, int64_t now_ms,
			      struct arena *arena, struct agent *ret, struct problem *problem);
/* Reads what the settings say; the problem names the field. */
enum problem_code agent_settings(const struct json *settings, struct agent *ret, struct problem *problem);

#endif
