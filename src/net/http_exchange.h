/* Requests to other servers, by libcurl, on a loop of this server. Nobody but http_pass.c and http_ask.c includes this.
 *
 * libcurl's multi interface tells which sockets it wants to hear of, and when it wants to be called: the sockets are
 * watched by the loop, and the time is one of the loop's timers. Connections are kept and used again.
 *
 * An exchange never ends inside a function of this header: on_end is called by the loop. Functions of libcurl must not
 * be called from its own callbacks: what those get to do is to write to a client, and nothing more.
 */
#ifndef SPINE_NET_HTTP_EXCHANGE_H
#define SPINE_NET_HTTP_EXCHANGE_H

#include "net/http_internal.h"
#include "net/http_pass.h"

#include <curl/curl.h>

enum {
	/* A peer closes what has been idle for long (75 s by default); one that closes just when a request is sent to
	 * it costs that request. */
	EXCHANGE_IDLE_MAX_S = 20,
	EXCHANGE_LANE_MAX = 128,	/* exchanges of a lane */
	EXCHANGE_KEPT_MAX = 256,	/* connections of a lane, with those in use */
	EXCHANGE_SPARE_MAX = 64,	/* handles of libcurl kept */
};

/* A multi handle with its connections. To find one that is free libcurl looks at all, with a thousand long polls for
 * longer than everything else takes: so a lane has few, and a new exchange takes the first lane that has room. */
struct http_lane {
	struct http_pass *pass;
	CURLM *multi;
	struct http_timer timer;	/* when libcurl wants to be called */
	size_t active;			/* exchanges */
};

struct http_pass {
	struct http_loop *loop;
	struct http_pass_files files;
	struct http_lane **lanes;	/* made as they are needed */
	size_t lane_count;
	struct http_watch **watches;	/* by descriptor; NULL: it is not watched */
	size_t watch_room;
	struct http_timer ended_timer;	/* something has ended and is to be told of */
	struct list exchanges;		/* under way */
	struct list ended;
	size_t active;
	CURL *spare[EXCHANGE_SPARE_MAX];
	size_t spare_count;
};

struct http_exchange {
	struct http_pass *pass;
	struct http_lane *lane;		/* NULL until it is started */
	struct list link;		/* pass->exchanges or ended */
	CURL *curl;
	struct curl_slist *lines;	/* owned: the header */
	/* It is over: result is set, the exchange still there. Must drop it. */
	void (*on_end)(struct http_exchange *x);
	/* http_pass_free: drops and frees it, and tells nobody. */
	void (*forget)(struct http_exchange *x);
	CURLcode result;
	unsigned int sendings;		/* how often libcurl has begun to send it */
	curl_socket_t watched;		/* the socket that was watched for it last; CURL_SOCKET_BAD: none is */
	int starved_by;			/* errno of a socket that this process could not have; 0: none */
	char error[CURL_ERROR_SIZE];	/* libcurl's words; afterwards ours */
};

/* Makes the handle, with what all have in common; then options of the caller's, and http_exchange_start. */
void http_exchange_init(struct http_exchange *x, struct http_pass *pass, const char *url,
			void (*on_end)(struct http_exchange *x), void (*forget)(struct http_exchange *x));
/* Takes x->lines with it. */
void http_exchange_start(struct http_exchange *x);
/* Cuts it where it is under way, and releases what it has. on_end is not called any more. */
void http_exchange_drop(struct http_exchange *x);
/* Goes on with one whose write function has returned CURL_WRITEFUNC_PAUSE. */
void http_exchange_resume(struct http_exchange *x);
/* After its end: why there is no answer, or not all of it. A sentence without a full stop, of x or static. */
const char *http_exchange_failure(struct http_exchange *x);
/* An option that this libcurl knows: what can fail is want of memory. */
void http_exchange_must(CURLcode code);

#endif
