/* Agents: what is known of who gets the work. */
#ifndef SPINE_CORE_AGENT_H
#define SPINE_CORE_AGENT_H

#include "codec/json.h"
#include "core/envelope/envelope.h"
#include "core/problem.h"

enum { AGENT_NAME_MAX = 128 };

struct agent {
	struct str name;
	bool accepts_v1;
	bool accepts_v2;
	struct str tokenizer;		/* p == NULL: the default */
	int64_t max_tokens;		/* 0: the default */
	enum envelope_fetch fetch_hint;
	int64_t ack_timeout_ms;		/* 0: the default */
	int64_t max_attempts;		/* 0: the default */
	int64_t queue_timeout_ms;	/* 0: the server's */
	const struct json *fallbacks;	/* an array of names; NULL: none */
	struct str webhook;		/* where its handoffs are posted; p == NULL: it fetches them */
	struct str webhook_secret;	/* what they are signed with; p == NULL: there is none */
	struct json settings;		/* all of them, an object */
	bool is_registered;		/* otherwise its name was only used */
	int64_t created_at_ms;		/* 0: nobody knows it */
	int64_t updated_at_ms;
};

/* The agent with its settings; one that nobody registered has the defaults. */
enum problem_code agent_read(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
			     struct agent *ret, struct problem *problem);
/* Checks settings and replaces the agent's. */
enum problem_code agent_write(struct store_conn *c, int64_t space, struct str name, const struct json *settings,
			      int64_t now_ms, struct arena *arena, struct agent *ret, struct problem *problem);
/* A secret is "whsec_" and the base64 of a key, as Standard Webhooks has it. Appends the key; false where it is not
 * such a secret. */
enum { AGENT_WEBHOOK_KEY_MIN = 24, AGENT_WEBHOOK_KEY_MAX = 64 };
bool agent_webhook_key(struct str secret, struct buf *ret_key);
/* What the agent's settings are known by, another with every change: an ETag, with its quotes. In the arena. */
struct str agent_tag(const struct agent *a, struct arena *arena);
/* Reads what the settings say; the problem names the field. */
enum problem_code agent_settings(const struct json *settings, struct agent *ret, struct problem *problem);

#endif
