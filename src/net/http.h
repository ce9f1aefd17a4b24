/* An HTTP/1.1 server on libuv loops and the llhttp parser.
 *
 * THREADS. The server runs `threads` loops, each on a thread of its own; a connection belongs to one
 * loop for its whole life, and so do its requests. One listening socket is shared out among the loops.
 * Every function that takes a struct http_req must be called on the thread of that request's loop,
 * except where it says otherwise. http_post() is how other threads get there.
 *
 * OWNERSHIP. A request is handed to `on_request` once its head and body have arrived whole. From then
 * on the application holds it, until it calls http_reply() (or http_stream_end()) exactly once. When the
 * client goes away before that, `on_gone` of the request is called (if set), and the request stays valid;
 * the reply is still owed, and goes nowhere. Everything allocated from the request's arena lives until then.
 *
 * One request of a connection is in the application's hands at a time: pipelined ones wait.
 *
 * GONE. A client that resets its connection, closes it, or only shuts down its sending side while its request is held
 * has gone: the end of its bytes is the one sign that all of these have in common, and a receiver that has vanished
 * must not be given anything. (A reply that is already on its way when the bytes end is still sent.) The sign is seen
 * at once, unless the client has pipelined 16 KiB of further requests, which stops the reading until the reply is out.
 *
 * REFUSED, before the application sees it, and never repaired: whatever llhttp refuses without its lenient flags, and
 * folded header lines, control characters, bytes of the target that want percent-encoding, two framings, transfer
 * codings but chunked, trailer fields, a target whose host is not that of the Host header. A refusal ends the
 * connection, but for one by on_head whose request had no body, or one that had arrived. Upgrade is ignored.
 *
 * TLS. A server speaks either plain HTTP or HTTPS on its port. With `tls`, plain HTTP is answered with 400 and ends.
 */
#ifndef SPINE_NET_HTTP_H
#define SPINE_NET_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "net/tls.h"

struct http_server;
struct http_req;

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OPTIONS, HTTP_OTHER };

/* Connections beyond max_connections that are open for a moment, to be told so: descriptors that are wanted, too. */
enum { HTTP_TURNED_AWAY_MAX = 512 };

/* Every limit is required; 0 is not "none". */
struct http_limits {
	size_t max_connections;		/* beyond it: 503 and close */
	size_t max_header_bytes;	/* request line and headers together: 431 */
	size_t max_headers;		/* 431 */
	size_t max_uri_bytes;		/* 414 */
	size_t max_body_bytes;		/* 413 */
	size_t max_body_total_bytes;	/* of all connections together: 503 with Retry-After */
	size_t max_reply_total_bytes;	/* of replies that clients have not taken, of all connections: a large one that
					 * would exceed it becomes 503 with Retry-After */
	int64_t header_timeout_ms;	/* from the first byte of a request to the end of its head: 408; with TLS, also
					 * from accepting to the end of the handshake: closed */
	int64_t body_timeout_ms;	/* from the end of the head to the end of the body: 408 */
	int64_t idle_timeout_ms;	/* a kept-alive connection without a request: closed */
	int64_t write_timeout_ms;	/* a reply that the client does not read: closed */
};

struct http_config {
	struct http_limits limits;
	int threads;
	const struct log *log;		/* borrowed */
	struct tls *tls;		/* borrowed; NULL: plain HTTP */
	void *ctx;			/* passed to the callbacks */

	/* Required. The request is whole. */
	void (*on_request)(void *ctx, struct http_req *req);
	/* Optional, before the body is read: Host, Origin, authentication. Returns 0 to go on, or the status of
	 * a refusal, whose body it appends to *ret_body (application/problem+json). Must not keep req. */
	int (*on_head)(void *ctx, struct http_req *req, struct buf *ret_body);
	/* Optional: the body of a refusal that the server itself decides (400, 408, 413, 414, 417, 431, 501, 503, 505);
	 * `code` is a short machine name such as "body_too_large", `detail` a sentence. Where it is NULL the server
	 * writes {"type":"about:blank","title":…,"status":…,"code":…,"detail":…}. */
	void (*on_refusal)(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body);
	/* Optional, on each loop's thread, before its first and after its last request. */
	void (*on_thread_start)(void *ctx, int thread);
	void (*on_thread_stop)(void *ctx, int thread);
};

/* Binds and listens, starts nothing. address is numeric IPv4 or IPv6; port 0 takes a free one. On failure
 * returns NULL and a sentence in ret_error ("127.0.0.1:8788 is in use by another program"). */
struct http_server *http_server_new(const struct http_config *config, const char *address, int port,
				    char *ret_error, size_t error_size);
int http_server_port(const struct http_server *server);
/* Starts the loops' threads and returns. */
void http_server_start(struct http_server *server);
/* From any thread, any number of times: no new connection or request is taken but those that had come already, idle
 * connections are closed, requests in the application's hands may still be answered (with Connection: close);
 * connections end as their replies are out. */
void http_server_drain(struct http_server *server);
/* From any thread: drain has been called. A timer that is about to be set again (a stream's heartbeat) should ask. */
bool http_server_is_draining(const struct http_server *server);
/* After drain: waits until no request is left in the application's hands and every reply is out, at most timeout_ms;
 * then closes what remains (on_gone is called for requests that are still held), and joins the threads. Returns how
 * many connections had to be cut. Requests still held then must not be touched any more; free releases them. */
size_t http_server_stop(struct http_server *server, int64_t timeout_ms);
/* After stop. NULL-safe. */
void http_server_free(struct http_server *server);

/* Runs fn(arg) on the thread of loop `thread`, soon. From any thread; calls from one thread keep their order; many
 * posts cost one wake-up. What is posted after http_server_stop has cut off what remained is dropped. */
void http_post(struct http_server *server, int thread, void (*fn)(void *arg), void *arg);

struct http_counts {
	size_t connections;	/* open now */
	size_t requests_active;	/* in the application's hands now */
	uint64_t requests;	/* since the start */
	uint64_t refused;	/* by the server itself or on_head */
	uint64_t handshakes;	/* of TLS, since the start: done, */
	uint64_t handshakes_failed;	/* and failed or given up */
};

/* From any thread. */
void http_server_counts(struct http_server *server, struct http_counts *ret);

/* --- The request. All slices are borrowed until the reply. --- */

enum http_method http_req_method(const struct http_req *req);
struct str http_req_method_name(const struct http_req *req);
/* The target as sent, split at '?': neither is percent-decoded. */
struct str http_req_path(const struct http_req *req);
struct str http_req_query(const struct http_req *req);
struct str http_req_body(const struct http_req *req);
/* name in lower case. The value trimmed; p == NULL where absent. A header sent more than once is joined
 * with ", " (Host, Content-Length, Content-Type, Origin, If-Match, Idempotency-Key, Authorization and Expect sent twice
 * are refused with 400 before the application sees them). */
struct str http_req_header(const struct http_req *req, const char *name);
struct arena *http_req_arena(struct http_req *req);
int http_req_thread(const struct http_req *req);
/* A number for the address that it came from: the same for all connections of it. */
uint64_t http_req_peer(const struct http_req *req);
/* It came over TLS. */
bool http_req_is_secure(const struct http_req *req);

/* The client has gone: the reply will go nowhere. */
bool http_req_is_gone(const struct http_req *req);
/* Called once, on the loop's thread, when the client goes away while the request is held; soon, where it has gone
 * already. Not from inside a function of this header. fn NULL clears it. */
void http_req_on_gone(struct http_req *req, void (*fn)(struct http_req *req, void *arg), void *arg);
/* Called once, on the loop's thread, after delay_ms, unless replied to or set again before; at drain it is called
 * at once, so that waiting requests return. fn NULL clears it. */
void http_req_set_timer(struct http_req *req, int64_t delay_ms, void (*fn)(struct http_req *req, void *arg), void *arg);

/* Called once, when the request ends, after its reply was given or with http_server_free; the last that anybody hears
 * of it. On the loop's thread, or where no loop runs any more. */
void http_req_on_end(struct http_req *req, void (*fn)(void *arg), void *arg);

/* Percent-decodes (and, in queries, '+' as a space) into the request's arena. False where an escape is broken, or
 * decodes to NUL or to invalid UTF-8. */
bool http_decode_path(struct http_req *req, struct str raw, struct str *ret);
bool http_decode_query(struct http_req *req, struct str raw, struct str *ret);

/* --- The reply --- */

struct http_header {
	const char *name;	/* NULL ends a list */
	struct str value;	/* CR, LF and NUL in it are a bug in the caller: asserted */
};

/* Headers that every reply to this request has, also a refusal of the server's own, beside those that were added
 * before. In on_head, or before the reply. Borrows the list and what it names until the reply. */
void http_req_add_headers(struct http_req *req, const struct http_header *headers);

/* In on_head: something of the application's, for on_request. Borrowed until the reply; NULL where nothing was kept. */
void http_req_keep(struct http_req *req, void *what);
void *http_req_kept(const struct http_req *req);

/* Before the reply, in on_head, or before the last writes of a stream: what is then given goes out delay_ms later, all
 * at once, so that whoever asks again and again asks less often. The request ends as without it; the connection's next
 * one waits. At drain it goes out at once. For short replies: their bytes are kept for so long. */
void http_req_hold_reply(struct http_req *req, int64_t delay_ms);
/* In on_head: nobody knows who sends it. What connections of strangers do not read is counted by itself, and is a part
 * of max_reply_total_bytes at the most: beyond it the connection is closed. Stays until on_head says something else. */
void http_req_set_stranger(struct http_req *req, bool is_stranger);
/* How many requests of its connection on_head has refused in a row, up to this one. */
unsigned http_req_refusals(const struct http_req *req);
/* From any thread: how many replies are held back now. */
size_t http_server_held(const struct http_server *server);
/* The body, the arena or the reply has a secret: all of them are overwritten when they are not needed any more, but for
 * a reply's body, which says so itself (buf.is_secret). The head of a request is so always: keys are in it. */
void http_req_set_secret(struct http_req *req);

/* Sends the reply and ends the request. Takes the body's bytes (*body is left empty), or borrows them for good where
 * they are shared (buf_share): no memory is taken for those, however many connections wait. body may be NULL. Adds
 * Content-Length, Date, Connection where needed; content_type NULL sends none. A HEAD gets the headers only. 204 and
 * 304 have no body. */
void http_reply(struct http_req *req, int status, const char *content_type, const struct http_header *headers,
		struct buf *body);

/* A reply of unknown length (chunked). http_stream_begin instead of http_reply; then any number of http_stream_write;
 * then http_stream_end, which ends the request. After the client has gone writes are ignored (on_gone tells). */
void http_stream_begin(struct http_req *req, int status, const char *content_type, const struct http_header *headers);
/* The same where the length is known: it is said, and nothing is chunked. Exactly so many bytes must be written before
 * http_stream_end, but for the reply to a HEAD. */
void http_stream_begin_sized(struct http_req *req, int status, const char *content_type,
			     const struct http_header *headers, uint64_t length);
/* Copies. Returns the bytes not yet taken by the client: a caller that sees it grow should stop. */
size_t http_stream_write(struct http_req *req, struct str data);
/* Called once, on the loop's thread, when the client has taken all that was written; set where http_stream_write has
 * returned more than nothing. Not from inside a function of this header. Not called where the client goes. fn NULL
 * clears it. */
void http_stream_on_taken(struct http_req *req, void (*fn)(struct http_req *req, void *arg), void *arg);
void http_stream_end(struct http_req *req);
/* Instead of http_stream_end, where the rest will not come: ends the request and its connection, so that the client
 * sees that the reply is not whole. */
void http_stream_cut(struct http_req *req);

#endif
