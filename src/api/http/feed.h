/* The open streams of events (GET /v1/events), and how they get what has happened.
 *
 *     writer's thread   after a commit: one post to each HTTP thread that has streams, unless one is on its way
 *     HTTP thread       a round: each stream is given the events behind its position, read from the store on the
 *                       thread's own connection
 *
 * A stream is a position in the history and nothing more: what it has not been given yet is in the store, so that one
 * that falls behind costs no memory. It gets the next batch when the client has taken the last one; a client that
 * takes nothing is closed by the write timeout of the HTTP server, and resumes with the id of the last event it saw.
 * Events that were pruned before a stream was given them are not passed over in silence: it ends, with the problem as
 * its last event. Streams of a thread that stand at the same place and want the same share the reading and the writing
 * of a batch.
 *
 * Handoffs go first. A round is short and is followed by a rest many times as long as it took: while something is
 * being written, one part in thirty-two of a thread's time goes into its streams, however many there are and however
 * much happens. Under more load than that they lag, and catch up when it is over.
 */
#ifndef SPINE_API_HTTP_FEED_H
#define SPINE_API_HTTP_FEED_H

#include "api/http/http_call.h"

struct feed;

/* Returns owned. */
struct feed *feed_new(struct api *api, int threads);
/* NULL-safe. After the HTTP server's and the writer's threads have ended. */
void feed_free(struct feed *f);
/* On the writer's thread, after a commit. */
void feed_wake(struct feed *f);

/* On the HTTP thread: begins the reply, a stream of the call's space. It is given the events with ids above after, of
 * these kinds (a set of bits, not empty), and ends with the client or the server, or where one of them was pruned. From
 * here on the call is the feed's. */
void feed_open(struct http_call *http, int64_t after, uint64_t kinds);

/* How many are open; any thread. */
size_t feed_count(struct feed *f);

#endif
