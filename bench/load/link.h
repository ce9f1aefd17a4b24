/* A connection to the server on 127.0.0.1, for programs of one thread that wait with epoll: a request goes out, its
 * reply comes in, and the connection stays open.
 *
 * epoll's data.ptr is the link. What the program itself cannot mend (no connection, no descriptor left) ends it, with a
 * sentence on standard error.
 */
#ifndef SPINE_BENCH_LOAD_LINK_H
#define SPINE_BENCH_LOAD_LINK_H

#include "base/buf.h"

enum { LINK_MESSAGE_BYTES_MAX = 64 << 20 };

struct link {
	void *owner;		/* borrows; the program's own */
	struct buf out;		/* the request under way */
	struct buf in;		/* what came and was not taken yet */
	int epoll;		/* the rest is link.c's own */
	int fd;
	bool is_open;
	size_t sent;
};

enum link_read { LINK_CAME, LINK_NOTHING, LINK_ENDED };

/* Connects, and has epoll say when there is something to read. borrows owner. */
void link_open(struct link *l, int epoll, uint16_t port, void *owner);
/* Frees what it holds; nothing happens to one that is closed, or all zeroes. */
void link_close(struct link *l);

/* Sends what stands in out, and what does not go now as soon as link_writable() is called. */
void link_send(struct link *l);
/* For EPOLLOUT. */
void link_writable(struct link *l);
/* For EPOLLIN: reads once, appends to in. */
enum link_read link_read(struct link *l);

/* The reply at the front of in, where it is whole. Ends the program where more bytes follow it: nobody asked for them.
 * The body is valid until in is changed; clear in when done with it. */
bool link_reply(struct link *l, int *ret_status, struct str *ret_body);
/* The same for bytes that came otherwise. */
bool link_reply_in(const struct buf *in, int *ret_status, struct str *ret_body);

#endif
