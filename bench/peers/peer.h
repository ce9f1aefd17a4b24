/* A queue server that others made, seen as what one of its clients does, over and over: publish one message, wait until
 * the server says that it is safe, receive one (any), acknowledge it, and wait until the server says so where its
 * protocol can say it.
 *
 * Every client has a connection of its own (but see peer_rabbitmq.c). All share one thread and one epoll, so that a
 * peer is written as answers to events: begin() starts a cycle, ready() goes on with it when the socket is ready, and
 * peer_cycle_done() ends it. Opening may block; nothing after it does. What is not answered as expected ends the
 * program: a figure with failures in it is none.
 *
 * In the open loop (open_loop.c) a client does one half of that. One that sends publishes when begin() is called, and
 * ends with peer_cycle_done() when the server says that it is safe. One that receives begins once: it waits for a
 * message, tells it with peer_received(), acknowledges it, and waits again.
 *
 * To add a peer: write its functions in a file peer_NAME.c, list it in peers.c and start its server in peer_servers.py.
 */
#ifndef SPINE_BENCH_PEERS_PEER_H
#define SPINE_BENCH_PEERS_PEER_H

#include "base/str.h"

enum peer_role { PEER_CYCLES, PEER_SENDS, PEER_RECEIVES };

struct open_loop;

/* One client. */
struct peer_client {
	uint64_t number;
	enum peer_role role;
	uint16_t port;		/* of the server, on 127.0.0.1 */
	struct str payload;	/* borrows: what it publishes each time */
	struct peer_client *before;	/* borrows: the one that was opened before it; NULL for the first */
	int epoll;
	int fd;			/* set by open(); stays -1 where it shares the connection of one before it */
	void *own;		/* the peer's own, made by open(), freed by close() */
	int64_t began_ns;	/* the cycle */
	struct peer_client **done;	/* borrows: the list of those that have ended a cycle */
	struct peer_client *next_done;
	struct open_loop *loop;	/* borrows; NULL where it does cycles */
};

struct peer {
	const char *name;
	const char *about;	/* the library or protocol it speaks, and the calls of a cycle */
	bool halves;		/* clients can be of the other roles, too */
	/* Makes the queue, where it has to be made. Called once, before the clients are opened; a later run may call it
	 * again on the same server. */
	void (*prepare)(uint16_t port);
	void (*open)(struct peer_client *client);
	void (*begin)(struct peer_client *client);
	/* Called for the clients that have an fd; events are those of epoll. */
	void (*ready)(struct peer_client *client, uint32_t events);
	/* The client does no more cycles. */
	void (*close)(struct peer_client *client);
};

extern const struct peer peer_redis, peer_rabbitmq, peer_postgres, peer_beanstalkd, peer_nats,
	peer_spine;

/* The cycle that began last is complete. The next one begins when ready() has returned. */
void peer_cycle_done(struct peer_client *client);
/* A message came to one that receives; body is it, or what holds it. borrows body. */
void peer_received(struct peer_client *client, struct str body);
/* Whether ready() is to be called when the socket takes bytes again. Bytes that came are always told. */
void peer_want_write(struct peer_client *client, bool wanted);
/* Says what went wrong and ends the program. */
void peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
