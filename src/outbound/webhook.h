/* Webhooks: agents that have their handoffs posted to them, instead of fetching them. The server is their receiver.
 *
 *     on the writer's thread   something is queued for such an agent; after the commit it is on the list, and
 *     on the thread here       it is woken: a job of the writer's takes as many as may be under way, each is read,
 *                              signed and posted (webhook_post.h), and a job of the writer's settles it by the answer.
 *
 * What is posted is an ordinary handoff with an ordinary lease, of a receiver called "webhook": attempts, backoff,
 * fallbacks, breaker and parking are delivery's, nothing of it is done again here. One thread does it all, with
 * libcurl's multi interface; while nothing is to be posted it sleeps.
 *
 * When the server starts, it takes back the leases that the one before it left: whoever had been posted to has nobody
 * to answer to any more.
 */
#ifndef SPINE_OUTBOUND_WEBHOOK_H
#define SPINE_OUTBOUND_WEBHOOK_H

#include "api/api.h"

struct webhook;

struct webhook_config {
	struct str hosts;		/* may be posted to, too: a valid list of webhook_url.h's. Borrowed */
	int64_t timeout_ms;		/* for an answer */
};

/* Reads from the store which agents have a webhook. api is borrowed; its data_dir, log and waiting must be set. On
 * failure returns NULL and a sentence in *error. Returns owned. */
struct webhook *webhook_new(struct api *api, struct store_conn *c, const struct webhook_config *config,
			    struct buf *error);
/* Starts posting; the writer must run. */
void webhook_start(struct webhook *w);
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
/* Within a transaction: something was queued for the agent, by its id. NULL-safe. */
void webhook_queued(struct webhook *w, int64_t agent);
/* The transaction is over. NULL-safe. */
void webhook_transaction_ended(struct webhook *w, bool committed);

#endif
