/* Alerts: list with the rules in force, acknowledge, silence. What fires and what is over is decided by the figures
 * alone (core/watch/alerts.h). */
#include "api/decode.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/watch/alert_decide.h"
#include "engine/watch/alert_list.h"

#include <stdio.h>

enum { BY_MAX_BYTES = 128, WHY_MAX_BYTES = 1024, FIRING_PAGE = 1000, PAST_PAGE = 100 };

#define SILENCE_MAX_MS (INT64_C(30) * 24 * 3600 * 1000)

static void put_alert(struct json_writer *w, const struct alert_row *row, struct str space_name)
{
	enum alert_kind kind;
	char id[32];

	snprintf(id, sizeof(id), "al-%lld", (long long)row->id);
	json_member_cstr(w, "id", id);
	json_member_str(w, "name", row->name);
	json_member_cstr(w, "severity", alert_severity_name(row->severity));
	json_member_bool(w, "pages", alert_kind_find(row->name, &kind) && alert_kind_pages(kind));
	json_member_cstr(w, "state", row->resolved_at_ms ? "resolved" : "firing");
	json_member_optional(w, "agent", row->agent);
	json_member_str(w, "space", space_name);
	json_member_str(w, "summary", row->summary);
	json_member_double(w, "value", row->value);
	json_member_double(w, "threshold", row->threshold);
	json_member_time(w, "since", row->since_ms);
	json_member_time_optional(w, "resolved_at", row->resolved_at_ms);
	json_member_optional(w, "acknowledged_by", row->acknowledged_by);
	json_member_time_optional(w, "acknowledged_at", row->acknowledged_at_ms);
	json_member_time_optional(w, "silenced_until", row->silenced_until_ms);
	json_member_optional(w, "silenced_by", row->silenced_by);
	json_member_optional(w, "silenced_why", row->silenced_why);
}

/* --- GET /v1/alerts --- */

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {"state", NULL};
	struct alert_list *l = call_op(call);
	struct str state = call_query(call, "state");
	enum problem_code code = page_read_only(call, known, &l->page);

	if (code != P_OK)
		return code;
	l->wanted = ALERTS_FIRING;
	if (str_is(state, "all"))
		l->wanted = ALERTS_ALL;
	else if (str_is(state, "resolved"))
		l->wanted = ALERTS_RESOLVED;
	else if (state.p && !str_is(state, "firing"))
		return call_refuse(call, P_INVALID_FIELD, "state",
				   "state is \"%.*s\"; expected firing, resolved or all",
				   (int)(state.n < 32 ? state.n : 32), state.p);
	/* Who asks what is wrong wants all of it. */
	if (call_query(call, "page_size").p == NULL)
		l->page.size = l->wanted == ALERTS_FIRING ? FIRING_PAGE : PAST_PAGE;
	return P_OK;
}

/* Nothing has to hold for a while: what is judged by a window is old enough to be sure of, the rest is a fact. */
static void put_rule(struct json_writer *w, const struct alert_rule *rule, const struct alert_rules *rules)
{
	json_member_cstr(w, "name", alert_kind_name(rule->kind));
	json_member_cstr(w, "severity", alert_severity_name(rule->severity));
	json_member_bool(w, "pages", alert_kind_pages(rule->kind));
	json_member_cstr(w, "of", alert_kind_is_of_agent(rule->kind) ? "agent" : "space");
	json_member_cstr(w, "measures", rule->measures);
	json_member_cstr(w, "unit", rule->unit);
	json_member_cstr(w, "comparison", alert_comparison_name(rule->comparison));
	if (rule->has_threshold)
		json_member_double(w, "threshold", rule->threshold);
	else
		json_member_null(w, "threshold");
	if (rule->is_of_window)
		json_member_int(w, "window_s", stats_window_ms(rules->window) / 1000);
	else
		json_member_null(w, "window_s");
	json_member_int(w, "min_samples", rule->needs_samples ? rules->min_samples : 1);
	json_member_int(w, "hold_s", 0);
}

static void encode_list(struct call *call)
{
	struct alert_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "alerts");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		json_begin_object(&w);
		put_alert(&w, &l->rows[i], call->op->space_name);
		json_end_object(&w);
	}
	json_end_array(&w);
	json_key(&w, "rules");
	json_begin_array(&w);
	for (size_t i = 0; i < l->rule_count; i++) {
		json_begin_object(&w);
		put_rule(&w, &l->rules[i], l->judged_by);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->has_more, l->count ? (uint64_t)l->rows[l->count - 1].id : 0, 0);
	call_end_reply(call, &w);
}

/* --- POST /v1/alerts/{id}/ack, /silence --- */

static enum problem_code decode_decision(struct call *call)
{
	struct alert_decide *d = call_op(call);
	struct str id = call->params[0];
	uint64_t num;
	enum problem_code code;

	if (!str_has_prefix(id, STR("al-")) || !str_to_u64(str_sub(id, 3, id.n), &num) || num == 0 || num > INT64_MAX)
		return call_refuse(call, P_ALERT_NOT_FOUND, "id",
				   "\"%.*s\" is not the id of an alert; expected one as in al-12",
				   (int)(id.n < 64 ? id.n : 64), id.p);
	d->id = (int64_t)num;
	code = decode_str(&call->body, "by", 1, BY_MAX_BYTES, &d->by, &call->op->problem);
	if (code == P_OK && d->by.p == NULL)
		d->by = call->op->agent;
	if (code == P_OK && d->by.p == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "by", "by is missing; it is who has seen it");
	return code == P_OK ? decode_check_name(d->by, "by", BY_MAX_BYTES, &call->op->problem) : code;
}

static enum problem_code decode_ack(struct call *call)
{
	static const char *const known[] = {"by", NULL};

	call_warn_unknown_members(call, &call->body, known, "");
	return decode_decision(call);
}

static enum problem_code decode_silence(struct call *call)
{
	static const char *const known[] = {"by", "for_s", "why", NULL};
	enum problem_code code = decode_decision(call);
	struct alert_decide *d = call_op(call);

	call_warn_unknown_members(call, &call->body, known, "");
	d->silences = true;
	d->for_ms = -1;
	if (code == P_OK)
		code = decode_seconds(&call->body, "for_s", 0, SILENCE_MAX_MS, &d->for_ms, &call->op->problem);
	if (code == P_OK && d->for_ms < 0)
		code = call_refuse(call, P_MISSING_FIELD, "for_s",
				   "for_s is missing; it is how many seconds the webhook hears nothing of it");
	return code == P_OK ? decode_str(&call->body, "why", 1, WHY_MAX_BYTES, &d->why, &call->op->problem) : code;
}

static void encode_decision(struct call *call)
{
	struct alert_decide *d = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_alert(&w, &d->row, call->op->space_name);
	call_end_reply(call, &w);
}

const struct route alert_routes[] = {
	{HTTP_GET, "/v1/alerts", &alert_list_kind, &describe_list_alerts, decode_list, encode_list},
	{HTTP_POST, "/v1/alerts/{}/ack", &alert_decide_kind, &describe_ack_alert, decode_ack, encode_decision},
	{HTTP_POST, "/v1/alerts/{}/silence", &alert_decide_kind, &describe_silence_alert, decode_silence, encode_decision},
	{0},
};
