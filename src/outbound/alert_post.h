/* The webhook of alerts: what Alertmanager would post, posted by the server itself.
 *
 * Which alerts are still to be told is in the store (alert_row.is_untold), so that a restart forgets none. A thread of
 * its own reads them, posts them together in the format of Alertmanager's webhook receiver (version "4"), and has them
 * marked when the receiver has taken them. Where it has not, it is tried again after a second, then two, up to five
 * minutes; a receiver that calls the request wrong (4xx, but for 408 and 429) is not asked again. While there is
 * nothing to tell, the thread sleeps.
 */
#ifndef SPINE_OUTBOUND_ALERT_POST_H
#define SPINE_OUTBOUND_ALERT_POST_H

#include "api/api.h"

struct alert_post;

/* api's data_dir and log must be set. url has been checked; server_url is where people find this server. All borrowed.
 * Returns owned. */
struct alert_post *alert_post_new(struct api *api, const char *url, const char *server_url);
/* The writer must run. */
void alert_post_start(struct alert_post *p);
/* There is something to tell; any thread. */
void alert_post_wake(struct alert_post *p);
/* Ends the thread, and what it is posting; the writer must still run. NULL-safe. */
void alert_post_stop(struct alert_post *p);
/* NULL-safe. */
void alert_post_free(struct alert_post *p);
void alert_post_counts(struct alert_post *p, uint64_t *ret_sent, uint64_t *ret_failed);

/* The body, for alerts of spaces with these names. Exposed for tests. */
void alert_post_body(const struct alert_row *rows, const struct str *space_names, size_t count, const char *server_url,
		     struct buf *out);

#endif
