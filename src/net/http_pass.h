/* Passes whole requests on to another server, and its answers back as they come.
 *
 * THREADS. One http_pass for each thread of a server, on that thread's loop; everything here is called there.
 *
 * THE REQUEST goes with its method, its target as it was sent, its body and its headers, but for those that are about
 * one connection only (RFC 9110, 7.6.1: Connection and what it names, Keep-Alive, TE, Trailer, Transfer-Encoding,
 * Upgrade, Proxy-…), Host, Expect and Content-Length, which are made anew, and those that the caller drops.
 *
 * THE ANSWER comes back with its status and headers, but for those of one connection, Date, and those that
 * http_req_add_headers has for the request already: what this server says of itself goes before. A small one of known
 * length is given with http_reply; all others as a stream, with the same length where it has one. Of a stream no more
 * is read than the client takes, but for HTTP_PASS_AHEAD_BYTES.
 *
 * ONCE. No request is sent twice: libcurl would send one again by itself where a kept connection turns out to be
 * closed, although the other server may have carried it out, and is kept from it (on_sending in http_exchange.c). An
 * answer that says that nothing was done (undone_name) is not given on: on_failed may pass the request on once more.
 *
 * BROKEN. Where nothing of an answer has reached the client, on_failed is called, and the caller answers. Where it
 * breaks off in its middle, the client's connection is cut: half an answer must not look like a whole one. When the
 * client goes, the connection to the other server is cut at once, so that it sees its client go, too. A server that
 * does not take a connection within a second, or whose machine is silent for HTTP_PASS_SILENCE_MS, has failed; one that
 * only thinks for long has not: there is no other timeout (http_pass_cut).
 *
 * DRAIN. A request without an answer is given up so long after the drain began as its drain_ms says (on_failed). A
 * stream of events (text/event-stream) is the other server's to end, in the same time, or within HTTP_PASS_EVENTS_MS
 * where it answers a GET; then it is ended here. Any other answer that has begun goes on to its end.
 */
#ifndef SPINE_NET_HTTP_PASS_H
#define SPINE_NET_HTTP_PASS_H

#include "net/http.h"

struct http_pass;

enum {
	HTTP_PASS_CONNECT_MS = 1000,
	HTTP_PASS_SILENCE_MS = 5000,
	HTTP_PASS_EVENTS_MS = 1000,
	HTTP_PASS_WHOLE_BYTES = 65536,		/* an answer up to this length is kept until it is whole */
	HTTP_PASS_AHEAD_BYTES = 262144,		/* of a longer one, what may wait for its client */
	HTTP_PASS_HEADERS_BYTES = 65536,	/* of an answer's head */
};

/* For https; all borrowed, PEM files, each may be NULL. */
struct http_pass_files {
	const char *ca;		/* authorities that are trusted; NULL: the system's */
	const char *cert;	/* shown to the other server */
	const char *key;	/* of cert */
};

/* Returns owned. On the thread of that loop (on_thread_start), or before the server is started. files is borrowed until
 * it is freed. */
struct http_pass *http_pass_new(struct http_server *server, int thread, const struct http_pass_files *files);
/* In on_thread_stop, or between http_server_stop and http_server_free. NULL-safe. */
void http_pass_free(struct http_pass *pass);

struct http_pass_failure {
	const char *why;		/* a sentence without a full stop */
	bool may_have_run;		/* the other server may have carried it out, or be about to; false: it certainly
					 * has not */
	bool is_drained;		/* this server stops, and the answer was waited for no longer */
	bool is_undone;			/* the other server has answered that it did nothing, and why */
};

/* All borrowed for the call, but for ctx. */
struct http_pass_order {
	const char *url_base;			/* "http://127.0.0.1:8788": the target follows */
	const struct http_header *extra_headers;	/* may be NULL; ends with a NULL name */
	const char *const *drop_headers;	/* of the request, in lower case; may be NULL; ends with NULL. What
						 * extra_headers names is dropped, too */
	const char *undone_name;		/* the header of an answer that says that nothing was done, and why;
						 * NULL: there is none. Borrowed until the end */
	int64_t drain_ms;			/* how long its answer is waited for once the server drains; 0: it ends
						 * at once */

	/* Required. Nothing of an answer has been given: the request is the caller's again, who owes the reply. `why`
	 * is borrowed for the call. Never from inside http_pass_send. Not called where the client has gone. */
	void (*on_failed)(void *ctx, struct http_req *req, const struct http_pass_failure *why);
	/* Optional, for accounts: just before the request ends without on_failed. status: that of the answer; 0: the
	 * client has gone before it had one. is_whole: all of the answer was given to it. */
	void (*on_over)(void *ctx, struct http_req *req, int status, bool is_whole);
	void *ctx;
};

/* Takes the request: who calls this replies to it only where on_failed says so, and sets neither its timer nor its
 * on_gone. Its body and arena are used until then. */
void http_pass_send(struct http_pass *pass, struct http_req *req, const struct http_pass_order *order);

/* Gives up all that is under way to that server, as if its connections had broken; `why` as for on_failed. For one that
 * is known to be gone though its machine still answers. on_failed is called from inside. */
void http_pass_cut(struct http_pass *pass, const char *url_base, const char *why);

/* Requests under way. */
size_t http_pass_active(const struct http_pass *pass);

/* --- Questions of this server's own ---------------------------------------------------------- */

struct http_answer {
	const char *failure;	/* a sentence without a full stop; NULL: there is an answer, of any status */
	int status;
	struct str body;
};

/* Asks with GET. done is called once, never from inside; what the answer has is borrowed for the call. max_bytes: a
 * longer body is a failure. All borrowed for the call, but for ctx. At drain it goes on until its time is over;
 * http_pass_free drops what is under way without a call. */
void http_ask(struct http_pass *pass, const char *url, const struct http_header *headers, int64_t timeout_ms,
	      size_t max_bytes, void (*done)(void *ctx, const struct http_answer *answer), void *ctx);

#endif
