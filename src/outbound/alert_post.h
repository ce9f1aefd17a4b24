/* The webhook of alerts: what Alertmanager would post, posted by the server itself.
 *
 * A follower (follower.h). Its cursor is in the store: alert_row.is_untold says of each alert whether it is still to
 * be told, so that a restart forgets none. What is untold is posted together, in the format of Alertmanager's webhook
 * receiver (version "4"), and marked when the receiver has taken it. Where it has not, it is tried again after a
 * second, then two, up to five minutes; a receiver that calls the request wrong (3xx and 4xx, but for 408 and 429) is
 * not asked again.
 */
#ifndef SPINE_OUTBOUND_ALERT_POST_H
#define SPINE_OUTBOUND_ALERT_POST_H

#include "base/log.h"
#include "outbound/follower.h"

struct alert_post;

/* All borrowed. */
struct alert_post_config {
	struct followers *followers;
	const struct log *log;
	const char *url;		/* has been checked */
	const char *server_url;		/* where people find this server */
};

/* Posts when the followers run. Returns owned. */
struct alert_post *alert_post_new(const struct alert_post_config *config);
/* There is something to tell. Any thread. NULL-safe. */
void alert_post_wake(struct alert_post *p);
/* Cuts what is being posted; the writer must still run. NULL-safe. */
void alert_post_stop(struct alert_post *p);
/* NULL-safe. */
void alert_post_free(struct alert_post *p);
/* Alerts that the receiver has taken, and attempts that failed. Any thread. NULL-safe. */
void alert_post_counts(struct alert_post *p, uint64_t *ret_sent, uint64_t *ret_failed);

#endif
