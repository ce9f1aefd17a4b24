#include "engine/watch/alert_decide.h"

#include "core/watch/event.h"
#include "engine/said.h"

static void silence(const struct alert_decide *d, struct alert_row *row)
{
	row->silenced_until_ms = d->for_ms ? d->op.now_ms + d->for_ms : 0;
	row->silenced_by = d->for_ms ? d->by : STR_NULL;
	row->silenced_why = d->for_ms ? d->why : STR_NULL;
	row->is_untold = row->is_untold && d->for_ms == 0;
}

/* Who was first keeps it. */
static void acknowledge(const struct alert_decide *d, struct alert_row *row)
{
	if (row->acknowledged_at_ms)
		return;
	row->acknowledged_by = d->by;
	row->acknowledged_at_ms = d->op.now_ms;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct alert_decide *d = (struct alert_decide *)op;
	struct alert_row *row = &d->row;
	enum store_status status = op->space ? store_alert_get(c, d->id, op->arena, row) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND || (status == STORE_OK && row->space != op->space))
		return problem_set(&op->problem, P_ALERT_NOT_FOUND, "id", "there is no al-%lld in this space",
				   (long long)d->id);
	if (status == STORE_OK && (said_guard(op, c, SAID_OF_SPACE, 0, "why", &d->why) != P_OK ||
				   said_guard(op, c, SAID_OF_SPACE, 0, "by", &d->by) != P_OK))
		return op->problem.code;
	if (status == STORE_OK) {
		(d->silences ? silence : acknowledge)(d, row);
		status = store_alert_put(c, row);
	}
	if (status != STORE_OK)
		return op_stored(op, status);
	op->told = (struct event_row){
		.kind = d->silences ? EVENT_ALERT_SILENCED : EVENT_ALERT_ACKED, .agent = row->agent, .actor = d->by,
		.note = arena_printf(op->arena, "al-%lld %.*s%s%.*s", (long long)row->id, STR_ARG(row->name),
				     d->why.p ? ": " : "", STR_ARG(d->why)),
	};
	return P_OK;
}

const struct op_kind alert_decide_kind = {.name = "alert_decide", .size = sizeof(struct alert_decide), .run = run};
