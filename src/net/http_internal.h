/* What the files of the HTTP server share. Nobody else includes this.
 *
 *     http_server.c   the server object: bind, start, drain, stop, counts
 *     http_accept.c   the one acceptor, on the first loop: limit, out of descriptors, sharing out
 *     http_loop.c     a loop's thread: posts, deadlines, connections that are to be looked at again
 *     http_conn.c     a connection: states, reading, deadlines, closing
 *     http_take.c     from bytes to requests: head, body, hand-over, refusal
 *     http_req.c      the request object
 *     http_reply.c    replies and streams, and writing them
 *     http_pace.c     replies that are held back for a moment
 *     http_tls.c      the same, with TLS in between     tls.c  certificates and keys
 *     http_pass.c     requests that are passed on, by libcurl; it sees this file for their header fields and the loop
 *     http_head.c     the rules for a request head     http_parse.c  llhttp     http_chunk.c  chunked bodies
 *
 * Everything of a loop is touched on that loop's thread only, but for what is atomic or under a mutex.
 */
#ifndef SPINE_NET_HTTP_INTERNAL_H
#define SPINE_NET_HTTP_INTERNAL_H

#include "base/heap.h"
#include "base/list.h"
#include "net/http.h"
#include "net/http_chunk.h"
#include "net/http_head.h"

#include <stdatomic.h>
#include <uv.h>

enum {
	HTTP_READ_BYTES = 16384,	/* one read; also what may wait in memory behind a held request */
	HTTP_INLINE_BODY_BYTES = 4096,	/* a body up to this size shares the request's allocation */
	HTTP_BODY_FIRST_BYTES = 16384,	/* a larger one gets this at first, and grows as it arrives */
	HTTP_REQ_BYTES = 4080,		/* the request's allocation; what is left of it is for the arena, */
	HTTP_ARENA_BYTES = 384,		/* and this at least */
	HTTP_LINGER_MS = 2000,		/* how long, and how much, is read and dropped after the last reply, */
	HTTP_LINGER_BYTES = 16 << 20,	/* so that a client that is still sending gets to read it */
	HTTP_REFUSALS_MAX = 255,	/* counted no further */
	HTTP_STRANGERS_PART = 4,	/* of max_reply_total_bytes, one in so many */
	HTTP_TURNED_AWAY_TLS = 64,	/* HTTP_TURNED_AWAY_MAX with TLS: each costs a handshake */
};

#define HTTP_TURNED_AWAY_WORDS "The server has as many connections as it takes; try again in a moment."

/* --- Deadlines ------------------------------------------------------------------------------- */

struct http_timer {
	int64_t due_ms;		/* of http_now_ms() */
	size_t pos;		/* in the loop's heap; HEAP_NONE where it is not set */
	void (*fn)(struct http_timer *timer);
};

/* --- A loop ---------------------------------------------------------------------------------- */

struct http_post {
	void (*fn)(void *arg);
	void *arg;
};

struct http_posts {
	struct http_post *items;
	size_t len;
	size_t cap;
};

struct http_loop {
	struct http_server *server;
	int index;
	uv_loop_t uv;
	uv_poll_t wakeup;
	uv_timer_t timer;
	uv_prepare_t prepare;
	uv_check_t check;
	uv_thread_t thread;
	uv_file wake_read, wake_write;	/* a pipe: a byte in it ends the loop's sleep */

	/* From any thread. */
	uv_mutex_t lock;	/* guards posts and posts_closed */
	struct http_posts posts;
	bool posts_closed;
	atomic_bool is_asleep;	/* a post must wake it; otherwise it will look by itself. Set with the lock held */
	atomic_size_t requests_active;
	_Atomic uint64_t requests;
	_Atomic uint64_t refused;
	_Atomic uint64_t handshakes;
	_Atomic uint64_t handshakes_failed;

	/* On the loop's thread only. */
	struct http_posts posts_running;	/* swapped with posts */
	struct heap timers;
	int64_t timer_due_ms;		/* what the uv_timer is set to; INT64_MAX: it is off */
	struct list conns;
	struct list reqs;		/* in the application's hands */
	struct list late_reqs;		/* the same, with an on_gone that was set when the client had gone already */
	struct list ready;		/* connections to be looked at before the loop sleeps */
	bool is_draining;
	char *read_buf;			/* HTTP_READ_BYTES, shared by all connections: an idle one has no buffer */
	char *plain_buf;		/* the same, for what TLS has decrypted */
	struct buf cipher;		/* what TLS has encrypted; empty but for a moment */
	struct http_field *fields;	/* room for one head */
	struct buf scratch;		/* room for the head of a reply */
	time_t date_s;
	char date[32];
};

/* --- The server ------------------------------------------------------------------------------ */

struct http_acceptor {
	int fd;			/* listening; -1 once drained */
	int spare_fd;		/* given up for a moment to answer when there is no other left; -1 where it is lost */
	uv_poll_t poll;
	struct http_timer retry;
	unsigned int next_loop;
	struct buf reply;	/* to connections that are closed as soon as they are told so; made when first needed */
	int64_t warned_ms;
};

struct http_server {
	struct http_config config;
	struct bio_method_st *tls_method;	/* with TLS */
	int port;
	bool is_started;
	struct http_loop *loops;
	struct http_acceptor acceptor;	/* of the first loop */
	atomic_bool is_draining;
	atomic_size_t connections;	/* counted from accept on */
	atomic_size_t turned_away;	/* open beyond the limit, to be told so */
	atomic_size_t body_bytes;	/* room for bodies, of all connections */
	atomic_size_t reply_bytes;	/* of replies that wait for their clients or are held back */
	atomic_size_t stranger_bytes;	/* the same, to strangers; not in reply_bytes */
	atomic_size_t paced;		/* replies that are held back */
	atomic_size_t cut;		/* connections that stop had to cut */

	/* stop waits here for the loops to become quiet. */
	uv_mutex_t lock;
	uv_cond_t changed;
	int loops_drained;		/* guarded by lock */
};

/* --- A connection ---------------------------------------------------------------------------- */

enum http_conn_state {
	HTTP_CONN_HANDSHAKE,	/* of TLS */
	HTTP_CONN_IDLE,		/* no byte of a request has come */
	HTTP_CONN_HEAD,		/* a part of a head stands in `in` */
	HTTP_CONN_BODY,		/* req has its head; `in` is empty */
	HTTP_CONN_HELD,		/* req is in the application's hands */
	HTTP_CONN_PACED,	/* the reply is given, and goes out when its time has come */
	HTTP_CONN_WRITING,	/* the reply is given, the client has not taken all of it */
	HTTP_CONN_LINGER,	/* all is said, writing is shut down; what still comes is dropped */
	HTTP_CONN_CLOSED,	/* uv_close has been called */
};

/* A reply that is held back. */
struct http_paced {
	struct buf reply;
	atomic_size_t *budget;		/* that it is counted in */
	int64_t delay_ms;
};

struct http_conn {
	uv_tcp_t tcp;
	struct http_loop *loop;
	struct list link;		/* loop->conns */
	struct list ready_link;		/* loop->ready */
	struct http_req *req;		/* BODY and HELD */
	struct http_tls *tls;		/* from the first byte on; NULL: plain */
	struct http_paced *paced;	/* NULL: nothing is held back */
	struct buf in;			/* bytes that no request has taken yet */
	struct http_scan scan;		/* of the head at the front of `in` */
	struct http_timer timer;
	int64_t due_ms;			/* the deadline of the state; the timer may come earlier and looks here again */
	size_t queued_total;		/* bytes that the kernel did not take at once */
	size_t progress;		/* of them, taken when the write deadline was set; lingering: bytes dropped */
	uint64_t peer;			/* a number for the client's address */
	int fd;				/* until it is opened; then the handle's */
	enum http_conn_state state : 8;
	uint8_t refusals;		/* by on_head, in a row; counted up to HTTP_REFUSALS_MAX */
	bool is_reading : 1;
	bool is_taking : 1;		/* http_conn_take is on the stack */
	bool is_timed : 1;		/* due_ms belongs to the present state */
	bool is_last : 1;		/* close after the reply */
	bool may_send : 1;		/* the client may still be sending: linger */
	bool has_eof : 1;		/* the client will send no more */
	bool has_failed : 1;		/* a write failed */
	bool is_turned_away : 1;	/* beyond max_connections */
	bool is_stranger : 1;		/* nobody knows who sends what comes here */
};

/* --- A request ------------------------------------------------------------------------------- */

struct http_req {
	struct http_conn *conn;		/* NULL once the client has gone */
	struct http_loop *loop;
	struct list link;		/* loop->reqs or late_reqs */
	struct arena arena;
	void (*gone_fn)(struct http_req *req, void *arg);
	void *gone_arg;
	void (*end_fn)(void *arg);
	void *end_arg;
	struct http_timer timer;
	void (*timer_fn)(struct http_req *req, void *arg);
	void *timer_arg;
	void (*taken_fn)(struct http_req *req, void *arg);
	void *taken_arg;

	struct str method_name;
	struct str path;
	struct str query;
	const char *text;		/* the bytes that the fields' offsets mean */
	struct http_field *fields;
	const struct http_header *headers;	/* of every reply; NULL: none */
	uint64_t peer;			/* the connection's */
	void *kept;			/* the application's */
	uint32_t fields_len;
	uint32_t hold_ms;		/* its reply is held back for so long; 0: it is not */
	uint32_t text_size;		/* of the head, and of what was joined */
	uint32_t arena_at, arena_size;	/* the arena's room in this allocation */
	enum http_method method : 8;
	bool is_chunked : 1;
	bool is_http10 : 1;
	bool is_secure : 1;
	bool keep_alive : 1;
	bool expects_continue : 1;
	bool is_body_inline : 1;
	bool is_held : 1;
	bool is_stream : 1;
	bool is_sized : 1;		/* a stream of known length: reply_left is yet to be written */
	bool is_secret : 1;

	char *body;
	size_t body_len;
	size_t body_cap;		/* counted in server->body_bytes */
	uint64_t content_length;
	uint64_t reply_left;
	struct http_chunk chunk;
	/* Then, in the same allocation: fields, text, body (where inline), the arena's first bytes. */
};

/* --- http_loop.c ----------------------------------------------------------------------------- */

int64_t http_now_ms(void);

/* On failure returns a libuv error, and nothing is left to close. */
int http_loop_init(struct http_loop *loop, struct http_server *server, int index);
/* The body of the loop's thread. */
void http_loop_run(void *loop);
/* Ends http_loop_run once all handles are closed. On the loop's thread. */
void http_loop_end(struct http_loop *loop);
/* After the thread has ended (or was never started). */
void http_loop_release(struct http_loop *loop);
/* Says to a waiting http_server_stop that a count has changed. */
void http_loop_tell(struct http_loop *loop);

void http_timer_init(struct http_timer *timer, void (*fn)(struct http_timer *timer));
/* Also moves one that is set. */
void http_timer_set(struct http_loop *loop, struct http_timer *timer, int64_t due_ms);
void http_timer_clear(struct http_loop *loop, struct http_timer *timer);

/* --- http_accept.c --------------------------------------------------------------------------- */

/* Binds and listens; false with a sentence in ret_error. */
bool http_accept_listen(struct http_server *server, const char *address, int port, char *ret_error, size_t error_size);
/* On the first loop's thread, or before it runs. */
void http_accept_start(struct http_server *server);
/* On the first loop's thread. May be called again. */
void http_accept_stop(struct http_server *server);
/* Closes what is left where the loop never ran. */
void http_accept_release(struct http_server *server);

/* --- http_conn.c ----------------------------------------------------------------------------- */

/* Returns owned: a connection for fd on loop; takes fd. From any thread; http_conn_open must follow on the loop's. */
struct http_conn *http_conn_new(struct http_loop *loop, int fd);
/* A post: starts a connection. */
void http_conn_open(void *conn);
void http_conn_set_state(struct http_conn *conn, enum http_conn_state state);
/* At the end of whatever has happened to a connection: reading on or off, the deadline of its state. */
void http_conn_settle(struct http_conn *conn);
/* The reply of the present request has been given to http_conn_send; req is no longer the connection's. */
void http_conn_replied(struct http_conn *conn);
/* All that was queued has been taken by the client. */
void http_conn_flushed(struct http_conn *conn);
/* Have the loop look at it again before it sleeps. */
void http_conn_make_ready(struct http_conn *conn);
/* What the loop then does. */
void http_conn_ready(struct http_conn *conn);
void http_conn_drain(struct http_conn *conn);
/* Closes it, and tells the application where it holds a request. */
void http_conn_lose(struct http_conn *conn);
/* Bytes that the client has not taken yet. */
size_t http_conn_queued(const struct http_conn *conn);
/* Where the next bytes may be read to; and they have come, not encrypted any more. */
uv_buf_t http_conn_room(struct http_conn *conn);
void http_conn_received(struct http_conn *conn, char *data, size_t len);
/* The client will send no more. */
void http_conn_ended(struct http_conn *conn, bool is_error);
/* A write has failed. The application may be up the stack: it hears of it from the loop. */
void http_conn_fail(struct http_conn *conn);

/* --- http_take.c ----------------------------------------------------------------------------- */

/* Makes requests of the bytes and hands them over, until one is held or the bytes are used up. Returns how many were
 * used; the rest must come again, with more. */
size_t http_conn_take(struct http_conn *conn, char *data, size_t len);
/* Bytes of a body were read straight into its memory. */
void http_conn_take_body(struct http_conn *conn, size_t len);
/* Where the next bytes of a body of known length may be read to. */
uv_buf_t http_conn_body_room(struct http_conn *conn);
/* The body of a refusal that the server itself decides. */
void http_refusal_body(const struct http_server *server, int status, const char *code, const char *detail,
		       struct buf *ret_body);
/* Says that there are too many connections. */
void http_conn_turn_away(struct http_conn *conn);
/* Answers for the application, and closes. */
void http_conn_refuse(struct http_conn *conn, int status, const char *code, const char *detail);

/* --- http_req.c ------------------------------------------------------------------------------ */

/* Returns owned. head's slices are of text, which is copied. */
struct http_req *http_req_new(struct http_conn *conn, const struct http_head *head, struct str text);
void http_req_free(struct http_req *req);
/* Room for `cap` bytes of body. False where the bodies of all connections together would pass the limit. */
bool http_req_grow_body(struct http_req *req, size_t cap);
/* What bytes that wait for this client, or are held back, are counted in; may so many more wait? */
atomic_size_t *http_conn_budget(struct http_conn *conn);
bool http_conn_has_room(struct http_conn *conn, size_t bytes);

/* --- http_reply.c ---------------------------------------------------------------------------- */

/* Writes, or queues what the client does not take at once. Takes the body (may be NULL). Failure sets has_failed. */
void http_conn_send(struct http_conn *conn, struct str head, struct buf *body);
/* The same for bytes that are as the client gets them: encrypted, or plain without TLS. */
void http_conn_write(struct http_conn *conn, struct str head, struct buf *body);
/* A whole reply that no application gives. extra: header lines with their CRLF. Takes the body. */
void http_conn_answer(struct http_conn *conn, int status, const char *extra, struct buf *body);
const char *http_status_text(int status);
/* All that was written of a stream has been taken by the client. */
void http_req_taken(struct http_req *req);

/* --- http_pace.c ----------------------------------------------------------------------------- */

/* http_conn_send, later: more of a reply that is held back. Takes the body (may be NULL). */
void http_pace_put(struct http_conn *conn, int64_t delay_ms, struct str head, struct buf *body);
/* The reply is whole, and its request is no longer the connection's. */
void http_pace_begin(struct http_conn *conn);
/* Its time has come: sends it, and the connection goes on. */
void http_pace_end(struct http_conn *conn);
/* Drops what is held back, where anything is. */
void http_pace_drop(struct http_conn *conn);

/* --- http_tls.c ------------------------------------------------------------------------------ */

/* Returns owned: how OpenSSL reads from a connection and writes to it. */
struct bio_method_st *http_tls_method_new(void);
/* NULL-safe. */
void http_tls_method_free(struct bio_method_st *method);
/* Bytes were read: goes on with the handshake, or gives what it decrypts to http_conn_received. */
void http_tls_input(struct http_conn *conn, const char *data, size_t len);
/* http_conn_send, with TLS. */
void http_tls_send(struct http_conn *conn, struct str head, struct buf *body);
/* The kernel has taken everything: encrypts more of what waits. */
void http_tls_pump(struct http_conn *conn);
/* Bytes that wait to be encrypted. */
size_t http_tls_queued(const struct http_conn *conn);
/* Nothing more will be sent. */
void http_tls_say_end(struct http_conn *conn);
void http_tls_free(struct http_conn *conn);

#endif
