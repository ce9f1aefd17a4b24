#include "engine/transfer/transfer.h"

#include "codec/sha256.h"
#include "core/delivery/handoff_state.h"
#include "core/envelope/result.h"
#include "core/envelope/unpack.h"
#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/envelope/beginning.h"
#include "engine/envelope_numbers.h"
#include "engine/memory/origin.h"
#include "engine/memory_numbers.h"
#include "engine/transfer/transfer_check.h"
#include "engine/waiting.h"

#include <stdio.h>

struct writing {
	struct transfer_in *t;
	struct store_conn *c;
	const char *list;		/* what the row at hand is in */
	size_t at;			/* and its place there */
};

/* The field that a problem is about: "envelopes[3]". */
static enum problem_code refuse(struct writing *w, enum problem_code code, const char *what)
{
	char field[64];

	snprintf(field, sizeof(field), "%s[%zu]", w->list, w->at);
	return problem_set(&w->t->op.problem, code, arena_cstr(w->t->op.arena, str_of(field)), "%s %s", field, what);
}

static enum problem_code refuse_trust(struct writing *w, enum trust claimed)
{
	const struct access *access = w->t->op.access;

	return refuse(w, P_FORBIDDEN, arena_printf(w->t->op.arena, "says that it has the trust %s, and what key-%llu "
		"stores has the trust %s at most; import it with a key that has that trust", memory_trust_name(claimed),
		(unsigned long long)access->key, memory_trust_name(access->trust)).p);
}

static enum problem_code refuse_taken(struct writing *w)
{
	return refuse(w, P_ID_TAKEN, "has a number that is taken by another one; import into a space that is empty, or "
				     "that holds what was imported from the same export");
}

static enum problem_code counted(struct writing *w, enum store_status status)
{
	w->t->imported += status == STORE_OK;
	if (status == STORE_NOT_FOUND)
		return refuse(w, P_INVALID_FIELD, "goes with something that is not there: import what it names before "
						  "it, or with it");
	return status == STORE_EXISTS ? refuse_taken(w) : op_stored(&w->t->op, status);
}

static bool read_hex(struct str text, uint8_t ret[32])
{
	for (size_t i = 0; text.n == 64 && i < 32; i++) {
		int high = str_hex_digit(text.p[2 * i]), low = str_hex_digit(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return text.n == 64;
}

static bool same(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

/* --- Memories --- */

static void set_blank(struct memory *m)
{
	m->content = STR("");
	m->summary = m->agent = m->task = m->origin = STR_NULL;
	m->kind = STR("note");
	m->tags = STR("[]");
	m->metadata = STR("{}");
}

/* What is left of a forgotten memory is how often it was changed, and when. */
static enum store_status put_forgotten(struct writing *w, struct memory *m)
{
	uint32_t versions = m->version;
	enum store_status status;

	set_blank(m);
	m->version = 1;
	status = store_memory_insert(w->c, m);
	for (m->version = 2; status == STORE_OK && m->version <= versions; m->version++)
		status = store_memory_add_version(w->c, m);
	return status == STORE_OK ? store_memory_forget(w->c, m->space, m->num, m->forgotten_at_ms) : status;
}

static enum store_status put_version(struct writing *w, struct memory *m)
{
	enum store_status status = m->version == 1 ? store_memory_insert(w->c, m) : store_memory_add_version(w->c, m);

	if (status != STORE_OK || m->version != m->current_version)
		return status;
	if (m->pinned)
		status = store_memory_set_pinned(w->c, m->space, m->num, true);
	if (status == STORE_OK && m->quarantined_at_ms)
		status = store_memory_set_quarantined(w->c, m->space, m->num, m->quarantined_at_ms);
	if (status == STORE_OK && m->superseded_by)
		status = store_memory_set_superseded(w->c, m->space, m->num, m->superseded_by);
	return status;
}

/* Is that version there already? */
static enum problem_code compare_memory(struct writing *w, const struct memory *m, const struct memory *newest)
{
	struct memory there;
	enum store_status status;

	if (newest->forgotten_at_ms || m->forgotten_at_ms) {
		w->t->unchanged += newest->forgotten_at_ms && m->forgotten_at_ms;
		return newest->forgotten_at_ms && m->forgotten_at_ms ? P_OK : refuse_taken(w);
	}
	status = store_memory_get(w->c, m->space, m->num, m->version, w->t->op.arena, &there);
	if (status == STORE_NOT_FOUND)
		return refuse_taken(w);
	if (status != STORE_OK)
		return op_stored(&w->t->op, status);
	if (!str_eq(there.content, m->content) || there.updated_at_ms != m->updated_at_ms ||
	    !same(there.metadata, m->metadata))
		return refuse_taken(w);
	w->t->unchanged++;
	return P_OK;
}

static enum problem_code put_memory(struct writing *w, struct transfer_memory *one)
{
	const char *wrong = transfer_check_memory(one, w->t->op.arena);
	struct memory *m = &one->row, newest;
	enum store_status status;

	if (wrong)
		return refuse(w, P_INVALID_FIELD, wrong);
	m->space = w->t->op.space;
	m->trust = access_cap(w->t->op.access, m->trust);
	sha256(m->content, m->digest);
	status = store_memory_get(w->c, m->space, m->num, 0, w->t->op.arena, &newest);
	if (status == STORE_OK && (m->version <= newest.current_version || newest.forgotten_at_ms))
		return compare_memory(w, m, &newest);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return op_stored(&w->t->op, status);
	if (m->forgotten_at_ms)
		return counted(w, put_forgotten(w, m));
	if (m->version != (status == STORE_OK ? newest.current_version + 1 : 1))
		return refuse(w, P_INVALID_FIELD, "is a version whose earlier one is not there");
	memory_numbers_given(w->t->op.engine->memory_numbers, m->space, m->num);
	if (!one->is_claimed)
		m->origin = origin_moved(&w->t->op, m->origin);
	one->is_claimed = true;
	return counted(w, put_version(w, m));
}

/* --- Envelopes --- */

static enum problem_code put_pruned_envelope(struct writing *w, const struct envelope_row *row)
{
	struct pruned_envelope left = {
		.num = row->num, .parent = row->parent, .created_at_ms = row->created_at_ms,
	}, there;

	memcpy(left.digest, row->digest, sizeof(left.digest));
	if (store_pruned_envelope(w->c, w->t->op.space, row->num, &there) == STORE_OK &&
	    memcmp(there.digest, left.digest, sizeof(left.digest)) == 0) {
		w->t->unchanged++;
		return P_OK;
	}
	return counted(w, store_pruned_envelope_put(w->c, w->t->op.space, &left));
}

/* What its task is known by, and which results it refers to, is in its body. */
static enum problem_code read_body(struct writing *w, struct envelope_row *row)
{
	struct op *op = &w->t->op;
	struct envelope e;
	uint64_t *nums;

	if (unpack_skeleton(row, op->arena, &e, &op->problem) != P_OK)
		return refuse(w, P_INVALID_FIELD, "has a body that is no envelope");
	/* It is sealed, so its trust cannot be lowered as that of a memory is. */
	if (op->access && envelope_trust(&e) < op->access->trust)
		return refuse_trust(w, envelope_trust(&e));
	nums = arena_calloc(op->arena, e.ref_count + 1, sizeof(*nums));
	for (size_t i = 0; i < e.ref_count; i++)
		if (str_is(e.refs[i].kind, RESULT_KIND))
			nums[row->result_count++] = e.refs[i].id.num;
	row->results = nums;
	row->task = e.task;
	row->hop = e.hop;
	row->intent = beginning_of(op->arena, e.intent);
	row->summary = beginning_of(op->arena, e.summary);
	row->tokens = e.token_count;
	return P_OK;
}

/* It is what it was: its digest covers its own body, the texts that it refers to, and its parent. */
static enum problem_code verify(struct writing *w, uint64_t num)
{
	struct op *op = &w->t->op;
	enum unpack_verdict verdict = UNPACK_DAMAGED;
	enum problem_code code = unpack_verify_one(w->c, op->space, num, op->arena, &verdict, &op->problem);

	if (code != P_OK && code != P_ENVELOPE_DAMAGED)
		return code;
	if (code != P_OK || verdict == UNPACK_DAMAGED || verdict == UNPACK_UNCHAINED)
		return refuse(w, P_INVALID_FIELD, "does not match its digest, or its parent or a memory that it "
						   "refers to was not imported before it");
	return P_OK;
}

static enum problem_code put_envelope(struct writing *w, struct transfer_envelope *one)
{
	struct envelope_row *row = &one->row, there;
	struct pruned_envelope left;
	struct op *op = &w->t->op;
	const char *wrong = transfer_check_envelope(one, op->arena);
	enum problem_code code;

	if (wrong)
		return refuse(w, P_INVALID_FIELD, wrong);
	row->space = op->space;
	if (!read_hex(one->digest, row->digest))
		return refuse(w, P_INVALID_FIELD, "has no digest");
	if (one->is_pruned)
		return put_pruned_envelope(w, row);
	row->has_body_digest = read_hex(one->body_digest, row->body_digest);
	if (store_envelope_get(w->c, op->space, row->num, op->arena, &there) == STORE_OK &&
	    memcmp(there.digest, row->digest, sizeof(row->digest)) == 0) {
		w->t->unchanged++;
		return P_OK;
	}
	if (store_pruned_envelope(w->c, op->space, row->num, &left) == STORE_OK)
		return refuse_taken(w);
	code = read_body(w, row);
	if (code == P_OK)
		code = counted(w, store_envelope_insert(w->c, row));
	return code == P_OK ? verify(w, row->num) : code;
}

/* --- Handoffs --- */

static enum problem_code put_pruned_handoff(struct writing *w, const struct handoff_row *row)
{
	struct pruned_handoff left = {
		.num = row->num, .envelope = row->envelope, .state = row->state, .created_at_ms = row->created_at_ms,
		.changed_at_ms = row->changed_at_ms,
	};

	return counted(w, store_pruned_handoff_put(w->c, w->t->op.space, &left));
}

/* Its number was given. Is it the same? */
static enum problem_code compare_handoff(struct writing *w, const struct transfer_handoff *one)
{
	const struct handoff_row *row = &one->row;
	struct op *op = &w->t->op;
	struct pruned_handoff left;
	struct handoff_row there;
	enum store_status status;
	bool is_same;

	if (one->is_pruned) {
		status = store_pruned_handoff(w->c, op->space, row->num, &left);
		is_same = status == STORE_OK && left.envelope == row->envelope && left.state == row->state;
	} else {
		status = store_handoff_get(w->c, op->space, row->num, op->arena, &there);
		is_same = status == STORE_OK && there.envelope == row->envelope &&
			  str_eq(there.target_name, row->target_name);
	}
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return op_stored(op, status);
	w->t->unchanged += is_same;
	return is_same ? P_OK : refuse_taken(w);
}

/* Names become ids. */
static enum problem_code find_names(struct writing *w, struct transfer_handoff *one)
{
	struct op *op = &w->t->op;
	struct handoff_row *row = &one->row;
	struct channel_row channel;
	enum store_status status =
		store_agent_id(w->c, op->space, row->target_name, true, row->created_at_ms, &row->target);

	if (status == STORE_OK)
		status = store_agent_id(w->c, op->space, row->agent_name, true, row->created_at_ms, &row->agent);
	if (status != STORE_OK || one->from_channel.p == NULL)
		return op_stored(op, status);
	status = store_channel_get(w->c, op->space, one->from_channel, op->arena, &channel);
	if (status == STORE_NOT_FOUND)
		return refuse(w, P_CHANNEL_NOT_FOUND, "is of a channel that was not imported before it");
	row->channel = channel.id;
	return op_stored(op, status);
}

/* Where a memory has the result, it is read from there whenever the handoff is shown. */
static enum problem_code check_memory_of_result(struct writing *w, const struct transfer_handoff *one)
{
	struct op *op = &w->t->op;
	struct memory m;
	enum store_status status;

	if (!one->has_result || one->result.memory == 0)
		return P_OK;
	status = store_memory_get(w->c, op->space, one->result.memory, 1, op->arena, &m);
	if (status == STORE_NOT_FOUND)
		return refuse(w, P_INVALID_FIELD, "has its result in a memory that was not imported before it");
	if (status == STORE_OK && !transfer_is_result(&one->result, &m, op->arena))
		return refuse(w, P_INVALID_FIELD, "has a result that is JSON in a memory that holds none");
	return op_stored(op, status);
}

static enum store_status put_result(struct writing *w, struct transfer_handoff *one)
{
	uint64_t then = one->result.then;
	enum store_status status = STORE_OK;

	if (one->has_result)
		status = store_result_put(w->c, w->t->op.space, one->row.num, &one->result);
	if (status == STORE_OK && then && read_hex(one->then_digest, one->result.then_digest))
		status = store_result_hand_on(w->c, w->t->op.space, one->row.num, then, one->result.then_digest);
	return status;
}

/* The store gives the number; what it does not take with a new one is written behind it. */
static enum problem_code put_row(struct writing *w, struct transfer_handoff *one)
{
	struct delivery d = waiting_delivery(&w->t->op, w->c);
	struct handoff_row row = one->row;
	enum store_status status = store_handoff_insert(w->c, &row);

	if (status == STORE_OK)
		status = store_handoff_put(w->c, &one->row);
	if (status == STORE_OK)
		status = put_result(w, one);
	if (status == STORE_OK)
		d.changed(d.ctx, &one->row, HANDOFF_STATES);
	return counted(w, status);
}

static enum problem_code put_handoff(struct writing *w, struct transfer_handoff *one)
{
	struct op *op = &w->t->op;
	struct handoff_row *row = &one->row;
	uint64_t last = 0;
	const char *wrong = transfer_check_handoff(one, op->arena);
	enum store_status status = store_handoff_last(w->c, op->space, &last);
	enum problem_code code;

	if (wrong)
		return refuse(w, P_INVALID_FIELD, wrong);
	if (status != STORE_OK)
		return op_stored(op, status);
	row->space = op->space;
	if (row->num <= last)
		return compare_handoff(w, one);
	/* A gap would be one for ever, and a high number would leave none for those that follow. */
	if (row->num != last + 1)
		return refuse(w, P_INVALID_FIELD, "is not the next number: import the handoffs in their order");
	if (one->is_pruned)
		return put_pruned_handoff(w, row);
	if (store_envelope_get(w->c, op->space, row->envelope, op->arena, &(struct envelope_row){0}) != STORE_OK)
		return refuse(w, P_ENVELOPE_NOT_FOUND, "is of an envelope that was not imported before it");
	code = check_memory_of_result(w, one);
	if (code == P_OK)
		code = find_names(w, one);
	return code == P_OK ? put_row(w, one) : code;
}

/* --- All --- */

/* The history of the space begins here: lists of tasks must not wait for events of what was made elsewhere. */
static enum problem_code begin_history(struct writing *w)
{
	struct op *op = &w->t->op;
	struct event_row event = {.space = op->space, .at_ms = op->now_ms, .kind = EVENT_SPACE_PRUNED};
	enum store_status status;

	if (w->t->imported == 0)
		return P_OK;
	op->told = (struct event_row){
		.kind = EVENT_SPACE_SET,
		.note = arena_printf(op->arena, "%lld rows were imported", (long long)w->t->imported),
	};
	status = store_event_add(w->c, &event);
	return op_stored(op, status == STORE_OK ? store_events_prune(w->c, op->space, &event.number, 1) : status);
}

static enum problem_code put_all(struct transfer_in *t, struct store_conn *c)
{
	struct writing w = {.t = t, .c = c, .list = "memories"};
	enum problem_code code = P_OK;

	t->imported = t->unchanged = 0;
	for (w.at = 0; code == P_OK && w.at < t->rows.memory_count; w.at++)
		code = put_memory(&w, &t->rows.memories[w.at]);
	w.list = "envelopes";
	for (w.at = 0; code == P_OK && w.at < t->rows.envelope_count; w.at++)
		code = put_envelope(&w, &t->rows.envelopes[w.at]);
	w.list = "handoffs";
	for (w.at = 0; code == P_OK && w.at < t->rows.handoff_count; w.at++)
		code = put_handoff(&w, &t->rows.handoffs[w.at]);
	return code == P_OK ? begin_history(&w) : code;
}

/* All or nothing. A space that is made for it is in a savepoint already. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	enum store_status status = op->space_is_new ? STORE_OK : store_savepoint(c);
	enum problem_code code;

	if (status != STORE_OK)
		return op_stored(op, status);
	code = put_all((struct transfer_in *)op, c);
	if (problem_store_status(code) != STORE_OK || op->space_is_new)
		return code;
	status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status == STORE_OK ? code : op_stored(op, status);
}

/* Numbers go on above the highest. */
static void done(struct op *op)
{
	const struct transfer_in *t = (const struct transfer_in *)op;

	for (size_t i = 0; i < t->rows.memory_count; i++) {
		const struct memory *m = &t->rows.memories[i].row;

		if (m->forgotten_at_ms == 0 && m->version == m->current_version)
			recall_put(op->engine->recall, m);
	}
	if (t->rows.envelope_count)
		envelope_numbers_forget(op->engine->numbers, op->space_name);
}

const struct op_kind transfer_in_kind = {
	.name = "transfer_in", .size = sizeof(struct transfer_in),
	.flags = OP_MAKES_SPACE | OP_ADDS_MEMORIES | OP_ADDS_BYTES | OP_ADDS_AGENTS, .run = run, .done = done,
};
