/* Steps as operations of the engine, and back. */
#include "host_internal.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHRUNK_TOKENS = 3900 };

static const struct op_kind *kind_of(const struct step *s)
{
	static const struct op_kind *const kinds[STEP_KINDS] = {
		[STEP_SEND] = &send_kind, [STEP_PUBLISH] = &publish_kind, [STEP_TAKE] = &receive_kind,
		[STEP_SETTLE] = &settle_kind, [STEP_PARK] = &decide_park_kind, [STEP_REDRIVE] = &decide_redrive_kind,
		[STEP_DISCARD] = &decide_discard_kind,
		[STEP_CANCEL] = &decide_cancel_kind, [STEP_MOVE] = &decide_move_kind, [STEP_SHRINK] = &shrink_kind,
		[STEP_RESTORE] = &decide_restore_kind,
		[STEP_PACK] = &pack_kind,
		[STEP_RESET] = &reset_kind, [STEP_JOIN] = &join_kind, [STEP_GET] = &handoff_get_kind,
	};

	if (s->kind == STEP_REDRIVE && s->agent.p)
		return &decide_reroute_kind;
	return kinds[s->kind];
}

/* --- What goes in --- */

static void fill_then(struct request *q, const struct step *step, struct settling *ret)
{
	uint64_t words[2] = {step->then.envelope, hash_bytes(step->then.to.p, step->then.to.n, 3)};

	ret->then = arena_zalloc(&q->arena, sizeof(*ret->then));
	ret->then->order = step->then;
	memcpy(ret->then->digest, words, sizeof(words));
}

static void fill_settling(struct request *q, const struct step *step, struct settling *ret)
{
	static struct json_member done = {{"done", 4}, {.type = JSON_BOOL, .boolean = true}};
	static const struct json result = {.type = JSON_OBJECT, .count = 1, .members = &done};

	ret->num = step->num;
	ret->answer = step->answer;
	if (step->has_result)
		ret->result = &result;
	if (step->hands_on)
		fill_then(q, step, ret);
}

static void fill_settle(struct request *q)
{
	q->u.op.skips_index = true;
	fill_settling(q, &q->step, &q->u.settle.one);
}

static void fill_decision(struct request *q)
{
	struct decide *d = &q->u.decide;

	d->num = q->step.kind == STEP_PARK ? q->step.envelope : q->step.num;
	d->why = q->step.text;
	if (q->step.kind == STEP_REDRIVE || q->step.kind == STEP_MOVE)
		d->to = q->step.agent;
	if (q->step.kind == STEP_SHRINK)
		q->u.shrink.max_tokens = SHRUNK_TOKENS;
}

static void fill_receive(struct request *q)
{
	struct receive *r = &q->u.receive;

	q->u.op.skips_index = true;
	r->agent = q->step.agent;
	r->instance = q->step.text;
	r->lease_ms = q->step.lease_ms;
	r->max = q->step.max_take;
	r->wait_ms = q->step.wait_ms;
	if (q->step.item == NULL)
		return;
	r->settles = arena_zalloc(&q->arena, sizeof(*r->settles));
	r->settle_count = 1;
	fill_settling(q, q->step.item, r->settles);
}

static void fill_input(struct request *q)
{
	const struct step *s = &q->step;

	switch (s->kind) {
	case STEP_SEND:
		q->u.send.order = s->order;
		q->u.send.given_to = s->order.to;
		q->u.op.skips_index = true;
		break;
	case STEP_PUBLISH:
		q->u.publish.name = STR("all");
		q->u.publish.order = s->order;
		q->u.publish.receivers = q->step.names;
		q->u.publish.receiver_count = s->name_count;
		break;
	case STEP_TAKE:
		fill_receive(q);
		break;
	case STEP_SETTLE:
		fill_settle(q);
		break;
	case STEP_PACK:
		q->u.pack.packing.draft = (struct envelope_draft){
			.from = STR("sender"), .to = STR("agent1"), .summary = STR("do it"), .max_hops = 1,
		};
		q->u.pack.packing.parent = s->envelope;
		break;
	case STEP_RESET:
		q->u.reset.agent = s->agent;
		break;
	case STEP_JOIN:
		q->u.join.name = STR("all");
		q->u.join.envelope = s->envelope;
		q->u.join.need = s->need;
		break;
	case STEP_GET:
		q->u.get.num = s->num;
		break;
	default:
		fill_decision(q);
	}
}

/* The same request has the same digest. */
static void fill_digest(struct request *q)
{
	uint64_t words[4] = {q->step.kind, (uint64_t)q->step.space, q->step.order.envelope, q->step.envelope};
	uint64_t hash = hash_bytes(words, sizeof(words), 7);

	memcpy(q->u.op.digest, &hash, sizeof(hash));
}

void request_fill(struct request *q)
{
	struct host *h = q->host;

	q->real = kind_of(&q->step);
	q->kind = *q->real;
	q->kind.run = q->real->run ? record_run : NULL;
	q->kind.undo = q->real->undo ? record_undo : NULL;
	memset(&q->u, 0, q->real->size);
	arena_init_room(&q->arena, q->room, REQUEST_ROOM);
	q->u.op.kind = &q->kind;
	q->u.op.ctx = q;
	q->u.op.engine = h->engine;
	q->u.op.reader = h->reader;
	q->u.op.arena = &q->arena;
	q->u.op.now_ms = h->now_ms;
	q->u.op.space_name = h->spaces[q->step.space];
	q->u.op.agent = q->step.sender;
	q->u.op.key = q->step.key;
	fill_digest(q);
	fill_input(q);
}

/* --- What comes out --- */

static void read_join(struct request *q)
{
	const struct join *j = &q->u.join;

	q->step.join_state = j->state;
	q->step.count = j->count;
	q->step.completed = j->tally.completed;
}

static void read_settling(const struct host *h, const struct settling *from, struct step *s)
{
	s->row = from->row;
	s->answer = from->answer;
	s->next = from->next;
	/* Now: a later step of the transaction may hand on once more, as an ack and then a completion do. */
	s->noted = 0;
	/* One that was settled before it began to wait may be pruned by now. */
	if (from->next.num && ram_handoff(h->store, from->row.space, from->num))
		s->noted = ram_result_then(h->store, from->row.space, from->num);
	if (from->then)
		s->then = from->then->order;
}

static void read_taken(struct request *q)
{
	const struct receive *r = &q->u.receive;

	if (r->settle_count) {
		read_settling(q->host, r->settles, q->step.item);
		q->step.item->code = r->settles->problem.code;
	}

	q->step.count = r->count;
	q->step.row.num = 0;
	for (size_t i = 0; i < r->count; i++)
		q->step.taken[i] = r->rows[i];
	if (r->count)
		q->step.row = r->rows[0];
}

static void read_output(struct request *q)
{
	struct step *s = &q->step;

	switch (s->kind) {
	case STEP_SEND:
		s->row = q->u.send.row;
		s->order = q->u.send.order;
		break;
	case STEP_PUBLISH:
		s->order = q->u.publish.order;
		s->count = q->u.publish.count;
		if (s->count)
			s->row = q->u.publish.rows[0];
		break;
	case STEP_TAKE:
		read_taken(q);
		break;
	case STEP_SETTLE:
		read_settling(q->host, &q->u.settle.one, s);
		break;
	case STEP_SHRINK:
		s->row = q->u.shrink.decision.row;
		s->envelope = q->u.shrink.pack.envelope.num;
		break;
	case STEP_JOIN:
		read_join(q);
		break;
	case STEP_GET:
		s->row = q->u.get.row;
		break;
	case STEP_PARK:
		s->agent = q->u.decide.to;
		s->order.from = q->u.decide.from;
		s->row = q->u.decide.row;
		break;
	case STEP_REDRIVE:
	case STEP_DISCARD:
	case STEP_CANCEL:
	case STEP_MOVE:
	case STEP_RESTORE:
		s->row = q->u.decide.row;
		break;
	default:
		break;
	}
}

void request_read(struct request *q)
{
	const struct op *op = &q->u.op;
	unsigned long long num = 0;

	q->step.code = op->problem.code;
	q->step.retry_after_ms = op->problem.code == P_OK ? 0 : op->problem.retry_after_ms;
	q->step.is_waiting = op->wait.is_waiting;
	q->step.is_over = op->wait.is_over;
	q->step.is_replayed = op->problem.code == P_OK && op->is_replayed;
	q->step.row = (struct handoff_row){0};
	if (q->step.is_replayed) {
		sscanf(arena_cstr(&q->arena, op->kept.body), "%llu", &num);
		q->step.row = (struct handoff_row){.space = q->step.space, .num = num};
	} else {
		read_output(q);
	}
}

struct str request_write(struct request *q)
{
	request_read(q);
	return arena_printf(&q->arena, "%llu %d %zu", (unsigned long long)q->step.row.num, q->step.row.state,
			    q->step.count);
}
