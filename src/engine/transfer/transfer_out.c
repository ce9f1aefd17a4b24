#include "engine/transfer/transfer.h"



/* LOOKED: numbers that one call looks at, because a part of them may be free. BYTES: texts of an answer, about. */
enum { LOOKED_MAX = 20000, BYTES_MAX = 8 << 20 };

struct reading {
	struct transfer_out *t;
	struct store_conn *c;
	size_t room;			/* rows */
	size_t count;
	size_t bytes;
};

static struct str hex_of(struct arena *arena, const uint8_t digest[32])
{
	char *text = arena_alloc(arena, 64);

	for (size_t i = 0; i < 32; i++) {
		text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	return (struct str){text, 64};
}

/* Room for one more row. */
static void *add(struct reading *r, void **list, size_t *count, size_t size)
{
	struct arena *arena = r->t->op.arena;

	if (r->count == r->room || *list == NULL) {
		size_t room = *list ? 2 * r->room : r->t->limit + 1;
		char *grown = arena_calloc(arena, room, size);

		if (*count)
			memcpy(grown, *list, *count * size);
		*list = grown;
		r->room = room;
	}
	r->count++;
	return (char *)*list + (*count)++ * size;
}

/* --- Memories --- */

static enum store_status read_memory(struct reading *r, uint64_t num)
{
	struct transfer_rows *rows = &r->t->rows;
	struct memory newest, m;
	enum store_status status = store_memory_get(r->c, r->t->op.space, num, 0, r->t->op.arena, &newest);
	struct transfer_memory *one;

	if (status == STORE_OK && newest.forgotten_at_ms) {
		one = add(r, (void **)&rows->memories, &rows->memory_count, sizeof(*one));
		one->row = newest;
		return STORE_OK;
	}
	for (uint32_t version = 1; status == STORE_OK && version <= newest.current_version; version++) {
		status = store_memory_get(r->c, r->t->op.space, num, version, r->t->op.arena, &m);
		if (status != STORE_OK)
			return status;
		one = add(r, (void **)&rows->memories, &rows->memory_count, sizeof(*one));
		one->row = m;
		r->bytes += m.content.n + m.summary.n + m.metadata.n;
	}
	return status;
}

/* Where numbers were chosen there may be more free ones than can be looked at: what comes next is looked for. */
static enum store_status skip_gap(struct reading *r, uint64_t *num)
{
	struct memory m;
	size_t count = 0;
	uint64_t next = 0;
	enum store_status status;

	if (r->t->part == TRANSFER_ENVELOPES) {
		status = store_envelope_next(r->c, r->t->op.space, *num, &next);
		*num = next ? next - 1 : *num;
		return status;
	}
	status = store_memory_scan(r->c, r->t->op.space, *num, 1, r->t->op.arena, &m, &count);

	if (status == STORE_OK && count && m.num - *num > LOOKED_MAX)
		*num = m.num - 1;
	return status;
}

/* --- Envelopes --- */

static enum store_status read_envelope(struct reading *r, uint64_t num)
{
	struct op *op = &r->t->op;
	struct transfer_envelope one = {0}, *place;
	struct pruned_envelope left;
	enum store_status status = store_envelope_get(r->c, op->space, num, op->arena, &one.row);

	if (status == STORE_NOT_FOUND) {
		status = store_pruned_envelope(r->c, op->space, num, &left);
		one = (struct transfer_envelope){.is_pruned = true, .row = {
			.space = op->space, .num = num, .parent = left.parent, .created_at_ms = left.created_at_ms}};
		memcpy(one.row.digest, left.digest, sizeof(one.row.digest));
	} else if (status == STORE_OK) {
		status = store_envelope_considered(r->c, op->space, num, op->arena, &one.row.considered);
	}
	if (status != STORE_OK)
		return status;
	one.digest = hex_of(op->arena, one.row.digest);
	if (one.row.has_body_digest)
		one.body_digest = hex_of(op->arena, one.row.body_digest);
	place = add(r, (void **)&r->t->rows.envelopes, &r->t->rows.envelope_count, sizeof(*place));
	*place = one;
	r->bytes += one.row.body.n + one.row.considered.n;
	return STORE_OK;
}

/* --- Handoffs --- */

static enum store_status read_result(struct reading *r, struct transfer_handoff *one)
{
	struct op *op = &r->t->op;
	enum store_status status = store_result_get(r->c, op->space, one->row.num, op->arena, &one->result);

	one->has_result = status == STORE_OK;
	if (one->has_result && one->result.then)
		one->then_digest = hex_of(op->arena, one->result.then_digest);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static enum store_status read_handoff(struct reading *r, uint64_t num)
{
	struct op *op = &r->t->op;
	struct transfer_handoff one = {0}, *place;
	struct pruned_handoff left;
	enum store_status status = store_handoff_get(r->c, op->space, num, op->arena, &one.row);

	if (status == STORE_NOT_FOUND) {
		status = store_pruned_handoff(r->c, op->space, num, &left);
		one = (struct transfer_handoff){.is_pruned = true, .row = {
			.space = op->space, .num = num, .envelope = left.envelope, .state = left.state,
			.created_at_ms = left.created_at_ms, .changed_at_ms = left.changed_at_ms}};
	} else if (status == STORE_OK) {
		status = read_result(r, &one);
		if (one.row.channel)
			one.from_channel = one.row.channel_name;
	}
	if (status != STORE_OK)
		return status;
	place = add(r, (void **)&r->t->rows.handoffs, &r->t->rows.handoff_count, sizeof(*place));
	*place = one;
	r->bytes += one.result.result.n + one.result.gaps.n;
	return STORE_OK;
}

/* --- All --- */

/* The highest number of the part; 0: there is none. */
static enum store_status last_of(const struct transfer_out *t, struct store_conn *c, uint64_t *ret)
{
	enum store_status status;

	if (t->part == TRANSFER_ENVELOPES)
		return store_envelope_last(c, t->op.space, ret);
	if (t->part == TRANSFER_HANDOFFS)
		return store_handoff_last(c, t->op.space, ret);
	status = store_memory_next(c, t->op.space, ret);
	*ret -= status == STORE_OK;
	return status;
}

static enum store_status read_rows(struct reading *r)
{
	static enum store_status (*const readers[])(struct reading *r, uint64_t num) = {
		[TRANSFER_MEMORIES] = read_memory, [TRANSFER_ENVELOPES] = read_envelope,
		[TRANSFER_HANDOFFS] = read_handoff,
	};
	struct transfer_out *t = r->t;
	uint64_t last = 0, num = t->after;
	enum store_status status = last_of(t, r->c, &last);

	if (status == STORE_OK && t->part != TRANSFER_HANDOFFS)
		status = skip_gap(r, &num);
	for (size_t looked = 0; status == STORE_OK && num < last && looked < LOOKED_MAX && r->count < t->limit &&
	     r->bytes < BYTES_MAX; looked++) {
		status = readers[t->part](r, ++num);
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	t->next = num;
	t->has_more = num < last;
	return status;
}

static enum problem_code read_out(struct op *op, struct store_conn *c)
{
	struct transfer_out *t = (struct transfer_out *)op;
	struct reading r = {.t = t, .c = c};
	bool has_snapshot;
	enum store_status status;

	t->next = t->after;
	if (op->space == 0)
		return P_OK;
	has_snapshot = store_snapshot_begin(c);
	status = read_rows(&r);
	if (has_snapshot)
		store_snapshot_end(c);
	return op_stored(op, status);
}

const struct op_kind transfer_out_kind = {
	.name = "transfer_out", .size = sizeof(struct transfer_out), .flags = OP_ASIDE, .read = read_out,
};
