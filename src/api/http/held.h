/* Requests that last: streams, and calls that wait. When who asked is not welcome any more, because a key was revoked
 * or has expired, or because a session was ended, they end at once; and so does what a node passed on that has left
 * since: it drains, and can wait for nothing any more.
 *
 *     HTTP thread       held_add when it begins to last, held_remove when it is over
 *     any thread        held_look, when a key or a session has ended, or a node has left: each HTTP thread looks
 *                       through its own
 *     any thread        held_end, when the api goes: all of them end
 */
#ifndef SPINE_API_HTTP_HELD_H
#define SPINE_API_HTTP_HELD_H

#include "api/api.h"
#include "base/list.h"
#include "core/access/access.h"
#include "engine/op.h"

struct held_all;
struct http_req;

/* Stands in what it is about; zeroed: not held. */
struct held {
	struct list link;		/* next NULL: it is in no list */
	struct api *api;		/* NULL: it never was */
	const struct access *access;	/* NULL: came when no key was needed */
	struct str passed_by;		/* the node that has passed it on; p == NULL: nobody has */
	void (*end)(void *arg);		/* called once, on the thread, when it is not welcome any more, or has to end */
	void *arg;
};

/* Returns owned. */
struct held_all *held_new(struct api *api, int threads);
/* NULL-safe. After the threads have ended. */
void held_free(struct held_all *all);

/* On the HTTP thread of the request. Borrows access, and what the request has. Again: does nothing. */
void held_add(struct api *api, struct http_req *req, struct held *one, const struct access *access,
	      void (*end)(void *arg), void *arg);
/* Also where it is in no list. */
void held_remove(struct held *one);
/* Of one that was added: is who asked still welcome? Of others: yes. */
bool held_is_welcome(const struct held *one);
/* For the end of an operation that waits: has it answered now. */
void held_nudge(const struct held *one, struct op *op);
/* From any thread: somebody may not be welcome any more, or a node has left. */
void held_look(struct held_all *all);
/* From any thread: the api goes, though the server does not. All of them end. */
void held_end(struct held_all *all);

#endif
