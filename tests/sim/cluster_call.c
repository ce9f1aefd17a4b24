#include "cluster_internal.h"

#include "base/mem.h"

enum { WAY_MS = 3, SLOW_MS = 50, PATIENCE_MIN_MS = 1500, PATIENCE_MAX_MS = 12000 };

/* --- Calls --- */

static struct call *new_call(struct shard *s)
{
	struct cluster *c = s->cluster;
	struct call *k = c->free_calls;

	if (k)
		c->free_calls = k->next_free;
	else
		k = arena_alloc(&c->arena, sizeof(*k));
	*k = (struct call){.shard = s};
	return k;
}

static struct cluster_errand *later(struct call *k, int64_t after_ms, enum cluster_errand_kind kind, struct node *n)
{
	k->under_way++;
	return cluster_later(k->shard->cluster, after_ms, kind, n, k);
}

static int64_t way_ms(struct cluster *c)
{
	return random_between(&c->random, 0, WAY_MS);
}

/* Nobody knows it any more. */
static void leave(struct call *k)
{
	struct cluster *c = k->shard->cluster;

	if (k->under_way || k->served || k->asked)
		return;
	k->next_free = c->free_calls;
	c->free_calls = k;
}

static void answer(struct call *k, bool is_known)
{
	later(k, way_ms(k->shard->cluster), AT_CALL_ENDS, NULL)->flag = is_known;
}

/* --- The way there --- */

static struct node *any_node(struct cluster *c)
{
	return &c->nodes[random_below(&c->random, c->node_count)];
}

static int64_t patience_ms(struct cluster *c, const struct step *s)
{
	return s->wait_ms + s->order.wait_ms + random_between(&c->random, PATIENCE_MIN_MS, PATIENCE_MAX_MS);
}

void call_submit(void *ctx, struct request *q)
{
	struct shard *s = ctx;
	struct cluster *c = s->cluster;
	struct call *k = new_call(s);

	k->asked = q;
	later(k, way_ms(c), AT_CALL_ENTERS, any_node(c));
	later(k, patience_ms(c, &q->step), AT_CALL_GIVEN_UP, NULL);
}

void call_probe(struct shard *s)
{
	struct call *k = new_call(s);

	k->is_probe = true;
	later(k, 0, AT_CALL_ENTERS, any_node(s->cluster));
}

/* A copy: the client's own may be given up while the owner is at it. */
static struct request *copy_of(struct call *k)
{
	struct host *h = k->shard->host;
	struct request *r = host_request(h, STEP_GET, 1);

	if (k->asked)
		r->step = k->asked->step;
	else
		r->step.num = 1;
	if (r->step.item) {
		r->step.item = arena_alloc(&k->shard->cluster->arena, sizeof(*r->step.item));
		*r->step.item = *k->asked->step.item;
	}
	r->ctx = k;
	return r;
}

static void serve(struct part *p, struct call *k)
{
	struct request *r = copy_of(k);

	k->served = r;
	k->node = p->node;
	r->part = p;
	part_look_at_clock(p);
	part_enter(p);
	request_fill(r);
	r->u.op.owner = &call_owner;
	r->is_with_engine = true;
	list_init(&r->link);
	list_add(&p->requests, &r->link);
	if (r->step.kind == STEP_TAKE || r->step.kind == STEP_JOIN)
		op_may_wait(&r->u.op, r->step.wait_ms);
	engine_run(&r->u.op);
	part_plan(p);
}

/* Another node's batch has stopped in its middle, which a reader in memory would see: it answers a little later. */
static bool is_put_off(struct node *n, struct call *k, enum cluster_errand_kind kind)
{
	if (!ram_is_writing(k->shard->host->store))
		return false;
	later(k, SLOW_MS, kind, n);
	return true;
}

static struct part *part_of(struct node *n, const struct shard *s)
{
	struct part *p = &n->parts[s->index];

	return n->is_up && p->engine && !p->is_dormant ? p : NULL;
}

/* The node that is named so, and lives. */
static struct node *node_named(struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->node_count; i++)
		if (*name && c->nodes[i].is_up && strcmp(c->nodes[i].name, name) == 0)
			return &c->nodes[i];
	return NULL;
}

void call_enters(struct node *n, struct call *k)
{
	struct cluster *c = n->cluster;
	struct part *p = part_of(n, k->shard);
	struct node *owner = node_named(c, n->view.owners[k->shard->index]);

	k->under_way--;
	if (p && is_put_off(n, k, AT_CALL_ENTERS))
		return;
	if (p && !k->is_over)
		serve(p, k);
	else if (n->is_up && owner && owner != n && c->now_ms >= c->apart_until_ms && !k->is_over)
		later(k, way_ms(c), AT_CALL_PASSED, owner);
	else
		answer(k, false);
}

/* Nobody passes on what was passed to it. */
void call_passed(struct node *n, struct call *k)
{
	struct part *p = part_of(n, k->shard);

	k->under_way--;
	if (p && is_put_off(n, k, AT_CALL_PASSED))
		return;
	if (p && !k->is_over)
		serve(p, k);
	else
		answer(k, false);
}

/* --- The way back --- */

static bool is_refusal_of_all(enum problem_code code)
{
	return code == P_STORE_BUSY || code == P_STORE_FAILED || code == P_OUTCOME_UNKNOWN;
}

/* As the server sees it (api/gate.h). */
static bool is_of_commit(const struct request *r)
{
	const struct op *op = &r->u.op;

	return op->problem.code == P_OK && r->real->run && !op->is_answered && !op->is_replayed && !op->wait.is_over;
}

/* An answer that is of no commit leaves only while the lease allows it. Nobody else has the shard then. */
static bool may_leave(struct part *p, const struct request *r)
{
	struct node *n = p->node;
	struct cluster *c = n->cluster;

	/* What nobody is there to be told is taken back; where that failed, its lease ends by itself. */
	if (is_of_commit(r) && !r->is_committed && !r->is_gone)
		trace_fail(c->trace, "a %s is answered as if it was committed", step_name(r->step.kind));
	if (is_of_commit(r))
		return true;
	if (c->broken != CLUSTER_NO_GATE && !lease_allows(&n->lease, node_boot_ms(n) * 1000000)) {
		c->tally->gated++;
		return false;
	}
	if (r->is_committed)
		return true;
	if (p->shard->taker != p || p->shard->taker_life != n->life)
		trace_fail(c->trace, "%s answers a %s of shard %d from what it remembers, and has lost it", n->name,
			   step_name(r->step.kind), p->shard->index);
	return true;
}

static void finish(struct op *op)
{
	struct request *r = op->ctx;
	struct part *p = r->part;
	struct host *h = p->shard->host;
	struct call *k = r->ctx;
	bool is_known;

	request_read(r);
	list_remove(&r->link);
	r->is_with_engine = false;
	r->part = NULL;
	if (r->step.code == P_STORE_BUSY && r->is_committed && !r->has_waited)
		trace_fail(h->trace, "a %s is told that nothing has happened, and it was committed",
			   step_name(r->step.kind));
	is_known = !is_refusal_of_all(r->step.code) && may_leave(p, r);
	if (is_known && r->step.is_replayed)
		host_check_replay(h, r);
	else if (is_known && !r->is_gone)
		check_promise(h->check, &r->step);
	answer(k, is_known && !r->is_gone);
}

void call_lost(struct request *r)
{
	list_remove(&r->link);
	r->is_with_engine = false;
	r->part = NULL;
	answer(r->ctx, false);
}

/* The client goes on with the owner's copy: what it tells of stays as long as that. */
static void tell(struct call *k, bool is_known)
{
	struct host *h = k->shard->host;
	struct request *q = k->asked;

	k->asked = NULL;
	world_set_time(k->shard->world, k->shard->cluster->now_ms);
	if (is_known) {
		request_set_ctx(k->served, request_ctx(q));
		host_release(h, q);
		q = k->served;
		k->served = NULL;
	}
	h->world.done(h->world.ctx, q, is_known);
}

void call_ends(struct call *k, bool is_known)
{
	struct shard *s = k->shard;

	k->under_way--;
	k->is_over = true;
	if (is_known && k->is_probe && s->served_ms == 0)
		s->served_ms = s->cluster->now_ms;
	if (k->asked)
		tell(k, is_known);
	if (k->served && !k->served->is_with_engine) {
		host_release(s->host, k->served);
		k->served = NULL;
	}
	leave(k);
}

/* The owner hears of it soon: the connection is cut. */
void call_given_up(struct call *k)
{
	struct cluster *c = k->shard->cluster;

	k->under_way--;
	if (k->asked && !k->is_over) {
		k->is_over = true;
		tell(k, false);
		c->tally->given_up++;
		if (k->served && k->served->is_with_engine) {
			struct cluster_errand *e =
				cluster_later(c, way_ms(c), AT_NUDGE, k->served->part->node, k->served);

			e->serial = k->served->serial;
			e->flag = true;
		}
	}
	leave(k);
}

void call_nudge(struct request *r, uint64_t serial, bool is_gone)
{
	struct part *p = r->part;

	if (r->serial != serial || !r->is_with_engine)
		return;
	r->is_gone |= is_gone;
	part_look_at_clock(p);
	part_enter(p);
	engine_nudge(&r->u.op);
	part_plan(p);
}

/* --- The owner of the operations --- */

static void post(struct op *op, void (*fn)(void *op))
{
	struct part *p = ((struct request *)op->ctx)->part;

	if (p->post_count == p->post_cap) {
		p->post_cap = p->post_cap ? 2 * p->post_cap : 64;
		p->posts = mem_reallocarray(p->posts, p->post_cap, sizeof(*p->posts));
	}
	p->posts[p->post_count++] = (struct post){op, fn};
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
	struct request *r = op->ctx;
	struct cluster *c = r->part->node->cluster;

	r->has_waited = true;
	cluster_later(c, wait_ms, AT_NUDGE, r->part->node, r)->serial = r->serial;
}

const struct op_owner call_owner = {post, finish, is_gone, keep, wait_for, NULL};
