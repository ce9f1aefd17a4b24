/* Alerts in memory. */
#include "store/ram/ram_internal.h"

enum { ALERTS_KEPT = 10000 };

static struct alert_row *alert_at(const struct ram_store *s, int64_t id)
{
	return ram_index_find(&s->alerts_by_id, &(struct alert_row){.id = id});
}

/* Of those that are old, what is resolved and told goes. */
static void prune(struct ram_store *s, int64_t newest)
{
	size_t i = 0;

	while (i < s->alerts_by_id.count) {
		struct alert_row *a = s->alerts_by_id.rows[i];

		if (a->id > newest - ALERTS_KEPT)
			break;
		if (a->resolved_at_ms > 0 && !a->is_untold)
			ram_remove(s, &s->alerts_by_id, a);
		else
			i++;
	}
}

static void own_texts(struct ram_store *s, struct alert_row *a)
{
	a->summary = ram_text(s, a->summary);
	a->acknowledged_by = ram_text(s, a->acknowledged_by);
	a->silenced_by = ram_text(s, a->silenced_by);
	a->silenced_why = ram_text(s, a->silenced_why);
}

static void change(struct ram_store *s, struct alert_row *kept, const struct alert_row *alert)
{
	struct alert_row row = *alert;

	ram_save(s, RAM_BYTES, kept, sizeof(*kept));
	row.space = kept->space;
	row.name = kept->name;
	row.agent = kept->agent;
	row.since_ms = kept->since_ms;
	own_texts(s, &row);
	*kept = row;
}

static enum store_status make(struct ram_store *s, struct alert_row *alert)
{
	const struct ram_index *alerts = &s->alerts_by_id;
	const struct alert_row *last = alerts->count ? alerts->rows[alerts->count - 1] : NULL;
	struct alert_row *made;

	if (alert->name.p == NULL)
		return STORE_REFUSED;
	alert->id = last ? last->id + 1 : 1;
	made = ram_new(s, sizeof(*made));
	*made = *alert;
	made->name = ram_text(s, alert->name);
	made->agent = ram_text(s, alert->agent);
	own_texts(s, made);
	ram_insert(s, &s->alerts_by_id, made);
	prune(s, made->id);
	return STORE_OK;
}

enum store_status ram_alert_put(struct store_conn *c, struct alert_row *alert)
{
	struct ram_store *s = ram_of(c);
	struct alert_row *kept = alert_at(s, alert->id);

	if (alert->id && kept == NULL)
		return STORE_OK;	/* it was pruned */
	if (alert->summary.p == NULL)
		return STORE_REFUSED;
	if (alert->id == 0)
		return make(s, alert);
	change(s, kept, alert);
	return STORE_OK;
}

static enum store_status give(const struct alert_row *found, struct alert_row *ret)
{
	if (found == NULL)
		return STORE_NOT_FOUND;
	*ret = *found;
	return STORE_OK;
}

enum store_status ram_alert_get(struct store_conn *c, int64_t id, struct arena *arena, struct alert_row *ret)
{
	(void)arena;
	return give(alert_at(ram_of(c), id), ret);
}

enum store_status ram_alert_last(struct store_conn *c, int64_t space, struct str name, struct str agent,
				 struct arena *arena, struct alert_row *ret)
{
	const struct ram_index *alerts = &ram_of(c)->alerts_by_id;

	(void)arena;
	for (size_t i = alerts->count; i-- > 0;) {
		const struct alert_row *a = alerts->rows[i];

		if (a->space == space && name.p && str_eq(a->name, name) && !a->agent.p == !agent.p &&
		    str_eq(a->agent, agent))
			return give(a, ret);
	}
	return STORE_NOT_FOUND;
}

static bool is_wanted(const struct alert_row *a, enum alerts_wanted wanted)
{
	switch (wanted) {
	case ALERTS_FIRING:
		return a->resolved_at_ms == 0;
	case ALERTS_RESOLVED:
		return a->resolved_at_ms > 0;
	case ALERTS_UNTOLD:
		return a->is_untold;
	default:
		return true;
	}
}

enum store_status ram_alerts(struct store_conn *c, int64_t space, enum alerts_wanted wanted, int64_t before, size_t max,
			     struct arena *arena, struct alert_row *ret, size_t *ret_count)
{
	const struct ram_index *alerts = &ram_of(c)->alerts_by_id;
	size_t i = before ? ram_index_from(alerts, &(struct alert_row){.id = before}) : alerts->count;
	size_t count = 0;

	(void)arena;
	while (i-- > 0 && count < max) {
		const struct alert_row *a = alerts->rows[i];

		if ((space == 0 || a->space == space) && is_wanted(a, wanted))
			ret[count++] = *a;
	}
	*ret_count = count;
	return STORE_OK;
}
