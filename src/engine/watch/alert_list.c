#include "engine/watch/alert_list.h"

#include "engine/engine.h"
#include "engine/watch/watch.h"

/* What is usual in the space is in its figures. */
static void read_rules(struct alert_list *l)
{
	struct watch *watch = l->op.engine->watch;
	const struct alert_rules *rules = watch_rules(watch);
	struct stats *s = watch_lock(watch);
	struct stats_series *series = l->op.space ? stats_of_space(s, l->op.space) : NULL;
	struct stats_view view, day;

	stats_view(series, rules->window, l->op.now_ms, &view);
	stats_view(series, STATS_24H, l->op.now_ms, &day);
	watch_unlock(watch);
	l->rules = arena_calloc(l->op.arena, ALERT_RULES_MAX, sizeof(*l->rules));
	l->rule_count = alert_rules_list(rules, &view, &day, l->rules);
}

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct alert_list *l = (struct alert_list *)op;
	enum store_status status;

	read_rules(l);
	if (op->space == 0)
		return P_OK;
	l->rows = arena_calloc(op->arena, l->page.size + 1, sizeof(*l->rows));
	status = store_alerts(c, op->space, l->wanted, (int64_t)l->page.position, l->page.size + 1, op->arena, l->rows,
			      &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	if (status == STORE_OK)
		watch_renew(op->engine->watch, c, op->space, op->now_ms, op->arena, l->rows, l->count);
	l->page.next = l->count ? (uint64_t)l->rows[l->count - 1].id : 0;
	return op_stored(op, status);
}

const struct op_kind alert_list_kind = {.name = "alert_list", .size = sizeof(struct alert_list), .read = read_list};
