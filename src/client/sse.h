/* Server-sent events, as they come over the wire: bytes go in, whole events come out. */
#ifndef SPINE_CLIENT_SSE_H
#define SPINE_CLIENT_SSE_H

#include "base/buf.h"

struct sse {
	struct buf in;		/* what is not a whole line yet */
	struct buf data;	/* of the event that is being read */
	struct buf id;		/* of the last event that came whole; "": none was named */
	struct buf next_id;	/* the same with the event that is being read */
	int64_t retry_ms;	/* how long to wait before the stream is asked for again; -1: nothing was said */
	bool is_named;		/* the event that is being read has a name: it is no usual one */
	bool has_data;		/* the event that is being read has some, even if it is empty */
};

/* An event has ended. data is empty where it had none; s->id is the position. False ends the reading. */
typedef bool sse_event(void *arg, const struct sse *s, struct str data);

/* max_bytes bounds a line, and the data of an event. */
void sse_init(struct sse *s, size_t max_bytes);
void sse_release(struct sse *s);
/* Forgets what did not come whole. The id stays: the stream goes on behind it over another connection. */
void sse_restart(struct sse *s);
/* False where the event function said so, or where something is longer than it may be. */
bool sse_feed(struct sse *s, struct str bytes, sse_event *event, void *arg);

#endif
