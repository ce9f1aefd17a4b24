/* beanstalkd, by hand: Debian has no C library for it, and the protocol is lines. put, reserve, delete. */
#include "wire.h"

#include "base/mem.h"

#include <stdlib.h>

enum step { STEP_PUT, STEP_RESERVE, STEP_DELETE };

enum { LEASE_S = 120 };

struct own {
	struct wire wire;
	enum step step;
};

static void beanstalkd_prepare(uint16_t port)
{
	(void)port;	/* the tube `default` is there */
}

static void beanstalkd_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));

	client->own = own;
	wire_open(&own->wire, client);
}

static void beanstalkd_begin(struct peer_client *client)
{
	struct own *own = client->own;

	own->step = STEP_PUT;
	buf_printf(&own->wire.out, "put 0 0 %d %zu\r\n", LEASE_S, client->payload.n);
	buf_put(&own->wire.out, client->payload);
	buf_puts(&own->wire.out, "\r\n");
	wire_send(&own->wire);
}

/* RESERVED <id> <bytes>, then the body. False where the body is not whole yet. */
static bool take_job(struct peer_client *client, struct str line)
{
	struct own *own = client->own;
	struct str rest = line, word = str_cut(&rest, ' '), id = str_cut(&rest, ' '), body;
	uint64_t bytes;

	if (!str_is(word, "RESERVED") || !str_to_u64(rest, &bytes) || bytes != client->payload.n)
		peer_fail("answer to reserve: %.*s", STR_ARG(line));
	if (!wire_bytes(&own->wire, bytes, &body))
		return false;
	own->step = STEP_DELETE;
	buf_printf(&own->wire.out, "delete %.*s\r\n", STR_ARG(id));
	wire_send(&own->wire);
	return true;
}

static void beanstalkd_ready(struct peer_client *client, uint32_t events)
{
	struct own *own = client->own;
	struct str line;
	size_t mark;

	if (!wire_ready(&own->wire, events))
		return;
	mark = own->wire.taken;
	if (!wire_line(&own->wire, &line))
		return;
	if (own->step == STEP_PUT) {
		if (!str_has_prefix(line, STR("INSERTED ")))
			peer_fail("answer to put: %.*s", STR_ARG(line));
		own->step = STEP_RESERVE;
		buf_puts(&own->wire.out, "reserve\r\n");
		wire_send(&own->wire);
	} else if (own->step == STEP_RESERVE) {
		if (!take_job(client, line))
			wire_rewind(&own->wire, mark);
	} else {
		if (!str_is(line, "DELETED"))
			peer_fail("answer to delete: %.*s", STR_ARG(line));
		peer_cycle_done(client);
	}
}

static void beanstalkd_close(struct peer_client *client)
{
	struct own *own = client->own;

	wire_close(&own->wire);
	free(own);
}

const struct peer peer_beanstalkd = {
	.name = "beanstalkd",
	.about = "by hand: put, reserve, delete",
	.prepare = beanstalkd_prepare,
	.open = beanstalkd_open,
	.begin = beanstalkd_begin,
	.ready = beanstalkd_ready,
	.close = beanstalkd_close,
};
