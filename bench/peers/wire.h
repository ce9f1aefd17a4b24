/* A connection for the peers whose protocol is spoken by hand: bytes out, bytes in, lines. */
#ifndef SPINE_BENCH_PEERS_WIRE_H
#define SPINE_BENCH_PEERS_WIRE_H

#include "peer.h"

#include "base/buf.h"

struct wire {
	struct peer_client *client;	/* borrows */
	struct buf out;
	size_t sent;
	struct buf in;
	size_t taken;			/* bytes of in that are done with */
};

/* Connects; sets client->fd. */
void wire_open(struct wire *w, struct peer_client *client);
void wire_close(struct wire *w);

/* Sends what stands in out, and what does not go now as soon as it can. */
void wire_send(struct wire *w);
/* For ready(): sends the rest, and reads once. False where nothing came. */
bool wire_ready(struct wire *w, uint32_t events);
/* Reads, blocking, until something came: for open(), before epoll is told of the socket. */
void wire_wait(struct wire *w);

/* A line from what came, without its end; false where it is not whole yet. What is returned is valid until the next
 * bytes are read. */
bool wire_line(struct wire *w, struct str *ret);
/* The same for a number of bytes, which end a line. */
bool wire_bytes(struct wire *w, size_t count, struct str *ret);
/* Where a message is not whole: puts back to `mark`, a value of w->taken. */
void wire_rewind(struct wire *w, size_t mark);

#endif
