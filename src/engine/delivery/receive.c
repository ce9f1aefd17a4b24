#include "engine/delivery/receive.h"

#include "core/delivery/delivery.h"
#include "core/guard/redact.h"
#include "engine/quota.h"
#include "engine/waiting.h"

enum { TAKEN_BYTES = 16 << 20 };

/* How large the answer grows by this one, about. One alone is given however large it is. */
static enum problem_code weigh(struct op *op, struct store_conn *c, const struct handoff_row *row, size_t *bytes)
{
	const struct receive *r = (struct receive *)op;
	struct envelope_row envelope = {0};
	struct arena arena;
	enum store_status status = STORE_OK;

	if (r->max == 1 || (!r->with_envelope && !r->with_prompt))
		return P_OK;
	arena_init(&arena);
	status = store_envelope_get(c, op->space, row->envelope, &arena, &envelope);
	*bytes += envelope.body.n;
	arena_release(&arena);
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(&op->problem, status);
}

/* --- Settling --- */

/* One that is refused stops neither the others nor the receiving. */
static enum problem_code keep_refusal(struct op *op, struct settling *s, enum problem_code code)
{
	if (code == P_OK || problem_store_status(code) != STORE_OK)
		return code;
	s->problem = op->problem;
	op->problem = (struct problem){0};
	return P_OK;
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct receive *r = (struct receive *)op;
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < r->settle_count; i++) {
		r->settles[i].refusal = (struct problem){0};
		code = settle_prepare(op, c, &r->settles[i]);
		if (op->aside.is_wanted)	/* all of it is prepared elsewhere */
			return code;
		if (code != P_OK && problem_store_status(code) == STORE_OK) {
			r->settles[i].refusal = op->problem;
			op->problem = (struct problem){0};
			code = P_OK;
		}
	}
	return code;
}

static enum problem_code settle_all(struct op *op, struct store_conn *c, struct receive *r)
{
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < r->settle_count; i++)
		code = settle_may_run(op, c, &r->settles[i]);
	for (size_t i = 0; code == P_OK && !op->prepares_again && i < r->settle_count; i++) {
		struct settling *s = &r->settles[i];

		s->problem = (struct problem){0};
		code = keep_refusal(op, s, settle_run(op, c, s));
	}
	return code;
}

/* --- Taking --- */

/* Where too many wait already, one that has settled something is answered without work, and others are refused. A
 * stream that has begun goes on. */
static enum problem_code begin_to_wait(struct op *op, struct store_conn *c, int64_t agent)
{
	const struct receive *r = (const struct receive *)op;
	enum problem_code code = op->wait.is_again || r->held ? P_OK : quota_may_wait(op, c);

	if (code == P_OK)
		waiting_for(op, WAIT_AGENT, agent);
	if (code != P_QUOTA_EXCEEDED || r->settle_count == 0)
		return code;
	op->problem = (struct problem){0};
	return P_OK;
}

static enum problem_code take(struct op *op, struct store_conn *c)
{
	struct receive *r = (struct receive *)op;
	struct delivery d = waiting_delivery(op, c);
	struct handoff_row row = {0};
	size_t bytes = 0;
	enum problem_code code = P_OK;

	if (op->agent.p == NULL)
		d.actor = r->agent;
	r->count = 0;
	/* It is only shown, and stands in each handoff, of whatever policy. */
	if (r->instance.p)
		r->instance = redact_text(r->instance, op->arena);
	/* The client has gone: nothing is taken for it. */
	if (op->wait.is_over && r->wait_ms > 0)
		return P_OK;
	/* What is large is given a few at a time: nothing may be taken that cannot be answered. */
	for (row.num = 1; code == P_OK && row.num && (int64_t)r->count < r->max && bytes <= TAKEN_BYTES;) {
		code = delivery_take(&d, r->agent, r->lease_ms, r->instance, &row, &op->problem);
		if (code == P_OK && row.num) {
			if (r->rows == NULL)
				r->rows = arena_calloc(op->arena, (size_t)r->max, sizeof(*r->rows));
			r->rows[r->count++] = row;
			code = weigh(op, c, &row, &bytes);
		}
	}
	if (code == P_OK && r->count == 0 && !op->wait.is_over)
		code = begin_to_wait(op, c, row.agent);
	return code;
}

/* What was settled was committed when it began to wait. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct receive *r = (struct receive *)op;
	enum problem_code code = op->wait.is_again ? P_OK : settle_all(op, c, r);

	r->count = 0;
	return code == P_OK && !op->prepares_again ? take(op, c) : code;
}

/* What was taken is given back; what was settled stays. */
static enum problem_code undo(struct op *op, struct store_conn *c)
{
	struct receive *r = (struct receive *)op;
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < r->count; i++)
		code = delivery_release(&d, r->rows[i].num, r->rows[i].leases, &op->problem);
	return code;
}

/* The next one is given when the last was settled, or taken back. */
static enum problem_code run_stream(struct op *op, struct store_conn *c)
{
	struct receive *r = (struct receive *)op;
	struct handoff_row held;
	enum store_status status;

	r->rows = NULL;
	r->count = 0;
	if (op->wait.is_over)
		return P_OK;
	if (r->held) {
		status = store_handoff_get(c, op->space, r->held, op->arena, &held);
		if (status != STORE_OK)
			return problem_of_store(&op->problem, status);
		if (held.state == HANDOFF_LEASED && held.leases == r->held_lease) {
			waiting_for(op, WAIT_HANDOFF, waiting_id(op->space, r->held));
			return P_OK;
		}
	}
	return take(op, c);
}

static void done(struct op *op)
{
	struct receive *r = (struct receive *)op;

	for (size_t i = 0; i < r->settle_count; i++)
		if (r->settles[i].problem.code == P_OK)
			settle_done(op, &r->settles[i]);
}

const struct op_kind receive_kind = {
	.name = "receive", .size = sizeof(struct receive), .flags = OP_MAKES_SPACE | OP_INDEX, .prepare = prepare,
	.run = run, .began = done, .done = done, .undo = undo,
};
const struct op_kind receive_stream_kind = {
	.name = "stream", .size = sizeof(struct receive), .flags = OP_MAKES_SPACE, .run = run_stream, .undo = undo,
};
