#include "engine/delivery/agent_set.h"

#include "codec/base64.h"
#include "core/watch/event.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum { SECRET_BYTES = 32 };

static struct str make_secret(struct arena *arena)
{
	unsigned char key[SECRET_BYTES];
	struct buf text;
	struct str copy;

	/* Of the kernel's randomness as much as is asked for here always comes. */
	if (getentropy(key, sizeof(key)) != 0)
		abort();
	buf_init(&text, 4 * sizeof(key));
	buf_puts(&text, "whsec_");
	base64_encode((struct str){(const char *)key, sizeof(key)}, BASE64_PADDED, &text);
	copy = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

/* What can be said of the webhook without the store. A run may happen twice, so that the secret is made here. */
static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct agent_set *s = (struct agent_set *)op;
	const struct json *webhook = json_get(s->settings, "webhook");
	const struct engine_webhooks *webhooks = &op->engine->webhooks;

	(void)c;
	if (webhook == NULL || webhook->type != JSON_STRING)
		return P_OK;
	s->new_secret = make_secret(op->arena);
	return webhooks->check ? webhooks->check(webhooks->ctx, webhook->s, &op->problem) : P_OK;
}

/* Only where the agent is as it was when the caller read it; "*" only where there is one at all. */
static enum problem_code check_tag(struct op *op, const struct agent *present)
{
	if (op->if_tag.p == NULL)
		return P_OK;
	if (present->created_at_ms == 0)
		return problem_set(&op->problem, P_PRECONDITION_FAILED, NULL,
				   "nobody registered an agent of that name, so it has no ETag");
	if (!str_is(op->if_tag, "*") && !str_eq(op->if_tag, agent_tag(present, op->arena)))
		return problem_set(&op->problem, P_PRECONDITION_FAILED, NULL,
				   "the agent was registered anew since; read it again and decide anew");
	return P_OK;
}

/* The settings with the secret of the webhook where none is given: the one there is, else a new one. It stays when the
 * webhook is taken away, so that a receiver who gets it back can still verify. */
static struct json settings_with_secret(const struct agent_set *s, const struct agent *present)
{
	struct str secret = present->webhook_secret.p ? present->webhook_secret : s->new_secret;
	struct json all = *s->settings;

	if (secret.p == NULL)
		return all;
	all.members = arena_calloc(s->op.arena, (size_t)all.count + 1, sizeof(*all.members));
	all.count = 0;
	for (uint32_t i = 0; i < s->settings->count; i++)
		if (!str_is(s->settings->members[i].key, "webhook_secret"))
			all.members[all.count++] = s->settings->members[i];
	all.members[all.count++] = (struct json_member){STR("webhook_secret"), {.type = JSON_STRING, .s = secret}};
	return all;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct agent_set *s = (struct agent_set *)op;
	const struct json *given = json_get(s->settings, "webhook_secret");
	bool has_secret = given && given->type != JSON_NULL;
	struct agent present = {0};
	struct json settings;
	enum problem_code code = P_OK;

	s->view = (struct agent_view){0};
	if (op->if_tag.p || !has_secret)
		code = agent_read(c, op->space, s->name, op->arena, &present, &op->problem);
	if (code == P_OK)
		code = check_tag(op, &present);
	if (code != P_OK)
		return code;
	settings = has_secret ? *s->settings : settings_with_secret(s, &present);
	op->told = (struct event_row){.kind = EVENT_AGENT_SET, .agent = s->name};
	code = agent_write(c, op->space, s->name, &settings, op->now_ms, op->arena, &s->view.agent, &op->problem);
	if (code != P_OK)
		return code;
	if (s->view.agent.webhook.p)
		s->view.secret = s->view.agent.webhook_secret;
	return agent_get_delivery(op, c, &s->view);
}

static void tell_webhooks(struct op *op)
{
	const struct agent_set *s = (const struct agent_set *)op;
	const struct engine_webhooks *webhooks = &op->engine->webhooks;
	struct agent_place place = {
		.id = s->view.id, .space = op->space, .space_name = op->space_name, .name = s->name,
	};

	if (webhooks->set)
		webhooks->set(webhooks->ctx, &place, s->view.agent.webhook.p != NULL);
}

const struct op_kind agent_set_kind = {
	.name = "agent_set", .size = sizeof(struct agent_set), .flags = OP_CREATES | OP_ADDS_AGENTS,
	.prepare = prepare, .run = run, .done = tell_webhooks,
};
