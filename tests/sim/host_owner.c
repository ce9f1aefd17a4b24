/* Requests, and the host as the owner of the operations that they are. */
#include "host_internal.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- Requests --- */

struct request *host_request(struct host *h, enum step_kind kind, int64_t space)
{
	struct request *q = h->free_requests;

	if (q) {
		h->free_requests = q->next_free;
	} else {
		q = mem_zalloc(sizeof(*q));
		q->room = mem_alloc(REQUEST_ROOM);
		q->host = h;
		q->next = h->all_requests;
		h->all_requests = q;
	}
	q->step = (struct step){.kind = kind, .space = space, .max_take = 1};
	q->serial = ++h->serials;
	q->ctx = NULL;
	q->is_with_engine = q->is_gone = q->is_committed = q->has_waited = false;
	q->part = NULL;
	arena_init_room(&q->arena, q->room, REQUEST_ROOM);
	return q;
}

void host_release(struct host *h, struct request *q)
{
	arena_release(&q->arena);
	q->serial = 0;
	q->next_free = h->free_requests;
	h->free_requests = q;
}

struct step *request_step(struct request *q)
{
	return &q->step;
}

void request_set_ctx(struct request *q, void *ctx)
{
	q->ctx = ctx;
}

void *request_ctx(const struct request *q)
{
	return q->ctx;
}

uint64_t request_serial(const struct request *q)
{
	return q->serial;
}

/* --- The owner of the operations --- */

static void post(struct op *op, void (*fn)(void *op))
{
	struct host *h = ((struct request *)op->ctx)->host;

	if (h->post_count == h->post_cap) {
		h->post_cap = h->post_cap ? 2 * h->post_cap : 256;
		h->posts = mem_reallocarray(h->posts, h->post_cap, sizeof(*h->posts));
	}
	h->posts[h->post_count++] = (struct post){op, fn};
}

void host_check_replay(struct host *h, const struct request *q)
{
	uint64_t num = q->step.row.num, envelope = q->step.envelope ? q->step.envelope : q->step.order.envelope;

	const struct handoff_row *row = num ? ram_handoff(h->store, q->step.space, num) : NULL;

	if (num && (num > ram_handoff_count(h->store, q->step.space) || (row && row->envelope != envelope)))
		trace_fail(h->trace, "the answer that was kept for env-%llu tells of ho-%llu",
			   (unsigned long long)envelope, (unsigned long long)num);
	h->tally->replays++;
}

static void finish(struct op *op)
{
	struct request *q = op->ctx;
	struct host *h = q->host;

	request_read(q);
	if (q->step.code == P_STORE_FULL && h->planned != STORE_FULL)
		trace_fail(h->trace, "the store was called full, and is not");
	h->refused += q->step.code == P_STORE_FULL;
	if (q->step.is_replayed)
		host_check_replay(h, q);
	else if (!q->is_gone)
		check_promise(h->check, &q->step);
	list_remove(&q->link);
	q->is_with_engine = false;
	if (q->ctx)
		h->world.done(h->world.ctx, q, !q->is_gone);
	else
		host_release(h, q);
}

static bool is_gone(const struct op *op)
{
	return ((const struct request *)op->ctx)->is_gone;
}

static void keep(struct op *op, struct kept_reply *ret)
{
	ret->status = 200;
	ret->body = request_write(op->ctx);
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	struct request *q = op->ctx;

	q->host->world.wait(q->host->world.ctx, q, wait_ms);
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, NULL};

void host_take_up(struct host *h, struct request *q)
{
	request_fill(q);
	q->u.op.owner = &owner;
	q->is_with_engine = true;
	list_init(&q->link);
	list_add(&h->requests, &q->link);
	if (q->step.kind == STEP_TAKE || q->step.kind == STEP_JOIN)
		op_may_wait(&q->u.op, q->step.wait_ms);
	engine_run(&q->u.op);
}

void host_submit(struct host *h, struct request *q, int64_t now_ms)
{
	h->now_ms = now_ms;
	if (h->cluster)
		h->cluster->submit(h->cluster->ctx, q);
	else if (h->engine)
		host_take_up(h, q);
	else
		h->world.done(h->world.ctx, q, false);
}

void host_run_posts(struct host *h)
{
	for (size_t i = 0; i < h->post_count; i++)
		h->posts[i].fn(h->posts[i].op);
	h->post_count = 0;
}

void host_wait_is_over(struct host *h, struct request *q, uint64_t serial, bool is_gone)
{
	(void)h;
	if (q->serial != serial || !q->is_with_engine)
		return;
	q->is_gone |= is_gone;
	engine_nudge(&q->u.op);
}
