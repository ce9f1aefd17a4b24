#include "engine/envelope/envelope_get.h"

#include "engine/access/party.h"
#include "engine/envelope/hidden.h"
#include "engine/envelope/large_envelope.h"

enum { RECEIPTS_MAX = 10000 };

static enum problem_code read_envelope(struct op *op, struct store_conn *c)
{
	struct envelope_get *g = (struct envelope_get *)op;
	enum problem_code code = envelope_find_whole(op, c, g->num, "id", &g->envelope);

	if (code == P_OK && g->format == ENVELOPE_AS_JSON)
		code = since_results(c, op->space, &g->envelope, op->now_ms, op->arena, &g->results, &g->result_count,
				     &op->problem);
	if (code == P_OK && g->format == ENVELOPE_AS_JSON)
		hidden_warn(op, &g->envelope);
	return code;
}

static enum problem_code verify(struct op *op, struct store_conn *c)
{
	struct envelope_verify *v = (struct envelope_verify *)op;
	enum problem_code code = party_check_envelope(op, c, v->num, "id");

	if (code == P_OK)
		code = unpack_verify(c, op->space, v->num, op->arena, &v->verdict, &v->at, &v->checked, &op->problem);
	v->is_ok = v->verdict == UNPACK_INTACT || v->verdict == UNPACK_FORGOTTEN ||
		   v->verdict == UNPACK_PRUNED;
	v->at = v->is_ok ? 0 : v->at;
	return code;
}

static enum problem_code read_receipts(struct op *op, struct store_conn *c)
{
	struct envelope_receipts *r = (struct envelope_receipts *)op;
	struct envelope e;
	enum problem_code code = envelope_find_whole(op, c, r->num, "id", &e);

	if (code != P_OK)
		return code;
	r->rows = arena_calloc(op->arena, RECEIPTS_MAX, sizeof(*r->rows));
	return op_stored(op, store_receipts(c, op->space, r->num, RECEIPTS_MAX, op->arena, r->rows, &r->count));
}

static enum problem_code read_considered(struct op *op, struct store_conn *c)
{
	struct envelope_considered *r = (struct envelope_considered *)op;
	struct str record = STR_NULL;
	struct envelope e;
	enum problem_code code = envelope_find_whole(op, c, r->num, "id", &e);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_envelope_considered(c, op->space, r->num, op->arena, &record);
	if (status == STORE_OK)
		status = considered_read(c, op->space, &e, record, op->arena, &r->considered);
	return op_stored(op, status);
}

static enum problem_code read_diff(struct op *op, struct store_conn *c)
{
	struct envelope_diff *d = (struct envelope_diff *)op;
	struct envelope *e = arena_calloc(op->arena, 2, sizeof(*e));
	enum problem_code code = envelope_find_whole(op, c, d->nums[0], "id", &e[0]);

	if (code == P_OK)
		code = envelope_find_whole(op, c, d->nums[1], "id", &e[1]);
	if (code == P_OK)
		fidelity_compare(&e[0], &e[1], op->arena, &d->kept);
	return code;
}

const struct op_kind envelope_get_kind = {
	.name = "envelope_get", .size = sizeof(struct envelope_get), .read = read_envelope,
};
const struct op_kind envelope_verify_kind = {
	.name = "envelope_verify", .size = sizeof(struct envelope_verify), .flags = OP_ASIDE, .read = verify,
};
const struct op_kind envelope_receipts_kind = {
	.name = "envelope_receipts", .size = sizeof(struct envelope_receipts), .flags = OP_ASIDE,
	.read = read_receipts,
};
const struct op_kind envelope_considered_kind = {
	.name = "envelope_considered", .size = sizeof(struct envelope_considered), .flags = OP_ASIDE,
	.read = read_considered,
};
const struct op_kind envelope_diff_kind = {
	.name = "envelope_diff", .size = sizeof(struct envelope_diff), .flags = OP_ASIDE, .read = read_diff,
};
