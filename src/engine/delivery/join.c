#include "engine/delivery/join.h"

#include "core/envelope/result.h"
#include "core/envelope/unpack.h"
#include "engine/access/party.h"
#include "engine/delivery/channel.h"
#include "engine/delivery/publish.h"
#include "engine/waiting.h"

/* Reads every handoff, and forgets them: only the numbers stay until the answer. */
static enum store_status count_members(struct op *op, struct store_conn *c, struct join *j)
{
	struct handoff_row *rows = NULL;
	struct arena look;
	size_t count = 0;
	enum store_status status;

	arena_init(&look);
	status = publish_members(c, op->space, j->envelope, j->channel.id, &look, &rows, &count);
	j->tally = (struct wait_tally){.channel = j->channel.id};
	for (size_t i = 0; status == STORE_OK && i < count; i++)
		wait_tally_add(&j->tally, rows[i].state, 1);
	arena_release(&look);
	if (status == STORE_OK)
		waiting_keep_tally(op, &j->tally);
	return status;
}

static enum problem_code not_published(struct op *op, const struct join *j)
{
	return problem_set(&op->problem, P_ENVELOPE_NOT_FOUND, "envelope_id", "env-%llu was not published to this "
			   "channel", (unsigned long long)j->envelope);
}

/* What the receivers made of it is for who has published it. */
static enum problem_code find(struct op *op, struct store_conn *c, struct join *j)
{
	enum problem_code code = channel_find(op, c, j->name, &j->channel);
	enum store_status status;
	struct party party;
	bool is_its = false;

	if (code != P_OK)
		return code;
	status = party_init(&party, op->access, op->space, c);
	if (status == STORE_OK)
		status = party_has_published(&party, j->envelope, j->channel.id, &is_its);
	code = op_stored(op, status);
	return code == P_OK && !is_its ? not_published(op, j) : code;
}

/* Joined: enough have completed. Failed: enough never will, because too many were parked or discarded. */
static enum problem_code judge(struct op *op, struct join *j)
{
	const struct wait_tally *t = &j->tally;
	size_t need = j->need ? (size_t)j->need : t->count;

	if (t->count == 0)
		return not_published(op, j);
	if (need > t->count)
		return problem_set(&op->problem, P_INVALID_FIELD, "need", "need is %zu, but there are %zu receivers",
				   need, t->count);
	if (t->completed >= need)
		j->state = JOIN_JOINED;
	else if (t->count - (t->ended - t->completed) < need)
		j->state = JOIN_FAILED;
	else
		j->state = j->deadline_ms && j->deadline_ms <= op->now_ms ? JOIN_DEADLINE : JOIN_WAITING;
	return P_OK;
}

/* Only who is given a handoff says what came of it. */
static enum store_status read_result(struct op *op, struct store_conn *c, struct joined *one)
{
	if (one->row.leases == 0 && one->row.acked_at_ms == 0 && one->row.state != HANDOFF_COMPLETED)
		return STORE_NOT_FOUND;
	return result_read(c, op->space, one->row.num, op->arena, &one->result);
}

/* What the answer shows. */
static enum store_status read_results(struct op *op, struct store_conn *c, struct join *j)
{
	struct handoff_row *rows;
	enum store_status status = publish_members(c, op->space, j->envelope, j->channel.id, op->arena, &rows,
						&j->count);

	j->results = arena_calloc(op->arena, j->count + 1, sizeof(*j->results));
	j->needed = j->need ? j->need : (int64_t)j->count;
	for (size_t i = 0; status == STORE_OK && i < j->count; i++) {
		struct joined *one = &j->results[i];

		one->row = rows[i];
		status = read_result(op, c, one);
		one->has_result = status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	return status;
}

/* A join of ten thousand receivers looks ten thousand times: it reads their handoffs when it begins and when it
 * answers, and in between it only looks at numbers. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct join *j = (struct join *)op;
	int64_t id = waiting_id(op->space, j->envelope);
	enum problem_code code = op->wait.is_again ? P_OK : find(op, c, j);
	enum store_status status = STORE_OK;
	struct pruned_envelope left;

	if (code != P_OK)
		return code;
	j->tally.channel = j->channel.id;
	if (!waiting_knows_tally(op, id, &j->tally))
		status = count_members(op, c, j);
	code = status == STORE_OK ? judge(op, j) : problem_of_store(&op->problem, status);
	if (code == P_ENVELOPE_NOT_FOUND && store_pruned_envelope(c, op->space, j->envelope, &left) == STORE_OK)
		code = unpack_missing(c, op->space, j->envelope, "envelope_id", &op->problem);
	if (code != P_OK)
		return code;
	if (j->state == JOIN_WAITING && !op->wait.is_over) {
		op->wait.tally = &j->tally;
		waiting_for(op, WAIT_ENVELOPE, id);
		return P_OK;
	}
	status = read_results(op, c, j);
	return op_stored(op, status);
}

const struct op_kind join_kind = {.name = "join", .size = sizeof(struct join), .run = run};
