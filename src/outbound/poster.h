/* Posts JSON over HTTP. Nobody else in this folder knows libcurl; poster_url.h reads addresses with it.
 *
 * All posts go through one multi handle, on one thread: each is under way by itself, so that a slow receiver delays
 * nobody else. How many are under way at a time is for those who post: webhooks, alerts and spans have limits of their
 * own and take no room from each other.
 *
 * Nothing of the surroundings decides where a post goes: no proxy, no redirect, no .netrc. A name is looked up by
 * libcurl on a thread of its own; one that hangs there holds up nobody either. "localhost" is never looked up: libcurl
 * knows that it is this machine.
 */
#ifndef SPINE_OUTBOUND_POSTER_H
#define SPINE_OUTBOUND_POSTER_H

#include "base/buf.h"

#include <stdint.h>

struct poster;
struct post;

enum {
	POSTER_ANSWER_MAX_BYTES = 64 * 1024,
	POSTER_HEADER_MAX = 512,		/* a longer line is cut */
};

/* What has become of a post. Borrowed for the call. */
struct post_outcome {
	const char *failure;		/* a sentence; NULL: the answer is a 2xx */
	int status;			/* 0: there is no answer */
	struct str body;
	const char *content_type;	/* NULL: it does not say */
	int64_t retry_after_s;		/* 0: it does not say */
};

struct post_header {
	const char *name;
	struct str value;
};

/* All borrowed for the call, but for ctx. */
struct post_request {
	const char *url;
	const struct post_header *headers;	/* besides Content-Type, which is application/json */
	size_t header_count;
	int64_t timeout_ms;		/* for all of it */
	bool needs_whole_answer;	/* one that is too large is a failure; otherwise its end is not looked at */
	/* Once, on the thread of poster_turn, unless the post was cancelled. The post is gone then. */
	void (*done)(void *ctx, const struct post_outcome *outcome);
	void *ctx;
};

/* ca_file: authorities that are trusted; NULL: the system's. Borrowed. Returns owned. */
struct poster *poster_new(const char *ca_file);
/* No post may be under way. NULL-safe. */
void poster_free(struct poster *p);
/* Any thread: ends the sleep of poster_turn. */
void poster_wake(struct poster *p);

/* --- On one thread --- */

/* Begins it; it goes on in poster_turn. Takes the body's bytes. Borrowed until done is called, or poster_cancel. */
struct post *poster_post(struct poster *p, const struct post_request *request, struct buf *body);
/* Cuts it; done is not called. */
void poster_cancel(struct post *post);
/* Sleeps until that time (of clock_mono_ns), a wake-up, or news of a post; then goes on with what is under way. */
void poster_turn(struct poster *p, int64_t until_ns);

#endif
