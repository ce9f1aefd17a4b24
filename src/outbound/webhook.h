/* Webhooks: agents that have their handoffs posted to them, instead of fetching them. The server is their receiver.
 *
 *     after a commit        something is queued for such an agent: the agent is on the list, and the follower wakes
 *     as a follower         an errand takes as many as may be under way, each is read, signed and posted
 *     (follower.h)          (webhook_post.h), and an errand settles it by the answer
 *
 * What is posted is an ordinary handoff with an ordinary lease, of a receiver called "webhook": attempts, backoff,
 * fallbacks, breaker and parking are delivery's, nothing of it is done again here.
 *
 * The list is only a hint where to look; what is to be posted is in the queue. So it need not survive a restart: when
 * the server starts, every agent that has a webhook is on it. Leases that the server before left are taken back then:
 * whoever had been posted to has nobody to answer to any more.
 */
#ifndef SPINE_OUTBOUND_WEBHOOK_H
#define SPINE_OUTBOUND_WEBHOOK_H

#include "base/log.h"
#include "core/delivery/delivery.h"
#include "core/memory/recall.h"
#include "outbound/follower.h"

struct engine;
struct waiting;
struct webhook;

/* All borrowed. */
struct webhook_config {
	struct followers *followers;
	const struct log *log;
	struct recall *recall;		/* gets the memories that results become */
	struct str hosts;		/* may be posted to, too: a valid list of webhook_url.h's */
	int64_t timeout_ms;		/* for an answer */
	/* The surroundings of a step of delivery, within a job of the writer's. */
	struct delivery (*step)(struct waiting *waiting, struct store_conn *c, struct arena *arena, int64_t space,
				int64_t now_ms);
	struct waiting *waiting;
	const struct engine *engine;	/* whose time leases end by */
	/* Writes the handoff as its receiver gets it, read through c; is_v1: with the envelope in version 1.
	 * *ret_traceparent, in the arena, is where its trace goes on; it is left as it is where there is none. */
	void (*put)(void *ctx, struct json_writer *w, struct store_conn *c, const struct handoff_row *h, bool is_v1,
		    struct arena *arena, struct str *ret_traceparent);
	void *ctx;
};

/* Reads from the store which agents have a webhook. Posts when the followers run. On failure returns NULL and a
 * sentence in *error. Returns owned. */
struct webhook *webhook_new(const struct webhook_config *config, struct buf *error);
/* Nothing new is posted from now on. What is under way may end within timeout_ms; then it is cut, and given back to the
 * queue. Does not wait. */
void webhook_drain(struct webhook *w, int64_t timeout_ms);
/* Waits for the end of what webhook_drain began; the writer must still run. NULL-safe. */
void webhook_stop(struct webhook *w);
/* After the writer has stopped. NULL-safe. */
void webhook_free(struct webhook *w);

/* May this address be a webhook? From any thread. */
enum problem_code webhook_check(const struct webhook *w, struct str url, struct problem *problem);

/* --- On the writer's thread --- */

/* After the commit of an agent's settings: it has a webhook now, or none. */
void webhook_set(struct webhook *w, const struct agent_place *agent, bool has_webhook);
/* After the commit of something that was queued for the agent, by its id. NULL-safe. */
void webhook_wake(struct webhook *w, int64_t agent);

#endif
