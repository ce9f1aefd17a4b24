/* Alerts: what is wrong, what was, and what people say to it. */
#include "api/call.h"
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/page.h"
#include "core/watch/alert_url.h"
#include "engine/watch/alert_decide.h"
#include "engine/watch/alert_list.h"

enum { BY_MAX = 128, WHY_MAX = 1024, FIRING_PAGE = 1000, PAST_PAGE = 100 };

#define SILENCE_MAX_MS (INT64_C(30) * 24 * 3600 * 1000)

static void put_pages(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct alert_row *row = from;
	enum alert_kind kind;
	bool pages = alert_kind_find(row->name, &kind) && alert_kind_pages(kind);

	(void)with;
	field_write(f, &pages, w);
}

static void put_state(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct alert_row *row = from;
	int64_t state = row->resolved_at_ms ? 1 : 0;

	(void)with;
	field_write(f, &state, w);
}

static void put_space(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct call *call = with;

	(void)from;
	field_write(f, &call->op->space_name, w);
}

static void put_url(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct call *call = with;
	struct str url = alert_url(from, call->op->space_name, call->op->arena);

	field_write(f, &url, w);
}

static const struct field alert_fields[] = {
	FIELD_ALERT_ID("id", struct alert_row, id, "Its id."),
	FIELD_TEXT("name", struct alert_row, name, 0, 0, "Which rule.", .words = &words_alert),
	FIELD_ENUM("severity", struct alert_row, severity, &words_severity, 0, "Of failure_rate_high it may rise."),
	DOC_BOOL("pages", "Somebody is to be woken.", .write = put_pages),
	DOC_ENUM("state", &words_alert_state, 0, "Whether it still holds.", .write = put_state),
	FIELD_TEXT("agent", struct alert_row, agent, 0, 0, "null: the space as a whole.", NULLABLE),
	DOC_TEXT("space", 0, 0, "The space.", .write = put_space),
	FIELD_TEXT("summary", struct alert_row, summary, 0, 0,
		   "A sentence; in lists, with the figures of now while it fires."),
	DOC_TEXT("url", 0, 0, "The path of the dashboard's page where it is mended.", .write = put_url),
	FIELD_NUMBER("value", struct alert_row, value, NO_MIN, NO_MAX,
		     "The figure: in lists, of now while it fires; else when it fired, or rose."),
	FIELD_NUMBER("threshold", struct alert_row, threshold, NO_MIN, NO_MAX, "What it was compared with."),
	FIELD_TIME("since", struct alert_row, since_ms, "When it fired."),
	FIELD_TIME("resolved_at", struct alert_row, resolved_at_ms, "When it was over.", NULLABLE),
	FIELD_TEXT("acknowledged_by", struct alert_row, acknowledged_by, 0, 0, "Who has seen it first.", NULLABLE),
	FIELD_TIME("acknowledged_at", struct alert_row, acknowledged_at_ms, "When.", NULLABLE),
	FIELD_TIME("silenced_until", struct alert_row, silenced_until_ms, "Until when the webhook hears nothing of it.",
		   NULLABLE),
	FIELD_TEXT("silenced_by", struct alert_row, silenced_by, 0, 0, "Who said so.", NULLABLE),
	FIELD_TEXT("silenced_why", struct alert_row, silenced_why, 0, 0, "Why.", NULLABLE),
	FIELDS_END,
};
static const struct shape alert = {
	.name = "Alert", .fields = alert_fields, .size = sizeof(struct alert_row), .warns = true,
};

static void put_rule_pages(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct alert_rule *rule = from;
	bool pages = alert_kind_pages(rule->kind);

	(void)with;
	field_write(f, &pages, w);
}

static void put_rule_of(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct alert_rule *rule = from;
	int64_t of = alert_kind_is_of_agent(rule->kind) ? 0 : 1;

	(void)with;
	field_write(f, &of, w);
}

static const struct field rule_fields[] = {
	FIELD_ENUM("name", struct alert_rule, kind, &words_alert, 0, "The alert."),
	FIELD_ENUM("severity", struct alert_rule, severity, &words_severity, 0, "How bad it is."),
	DOC_BOOL("pages", "Somebody is to be woken.", .write = put_rule_pages),
	DOC_ENUM("of", &words_alert_of, 0,
		 "What each alert of this name is about: one agent, or the space as a whole.", .write = put_rule_of),
	FIELD_CSTR("measures", struct alert_rule, measures, "In words."),
	FIELD_CSTR("unit", struct alert_rule, unit, "Of the threshold and of the alert's value; shares are 0 to 1.",
		   .words = &words_unit),
	FIELD_ENUM("comparison", struct alert_rule, comparison, &words_comparison, 0,
		   "It fires where what it measures is above, below, or at least the threshold."),
	FIELD_NUMBER("threshold", struct alert_rule, threshold, NO_MIN, NO_MAX,
		     "In force now, options of the server included. null: it depends on what is usual in the space, "
		     "and there is too little yet to say.", NULLABLE, .given = INTO(struct alert_rule, has_threshold),
		     .unset = NO_MIN),
	FIELD_INT("window_s", struct alert_rule, window_s, NO_MIN, NO_MAX,
		  "How far back the figure goes; null: it is a fact of now.", NULLABLE),
	FIELD_INT("min_samples", struct alert_rule, min_samples, 1, NO_MAX,
		  "So many handoffs or envelopes must be in the window."),
	FIELD_INT("hold_s", struct alert_rule, hold_s, 0, NO_MAX,
		  "How long it must hold before the alert fires. 0: at once; the window is what smoothes it."),
	FIELDS_END,
};
static const struct shape rule = {
	.name = "AlertRule", .says = "When an alert fires. failure_rate_high has one for each of its severities.",
	.fields = rule_fields, .size = sizeof(struct alert_rule),
};

/* Who asks what is wrong wants all of it. */
static void what_fires(void *op)
{
	struct alert_list *l = op;

	l->wanted = ALERTS_FIRING;
	l->page.size = FIRING_PAGE;
}

static enum problem_code read_wanted(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	struct alert_list *l = into;
	enum problem_code code = query_value(f, value->s, into, r);

	if (l->wanted != ALERTS_FIRING)
		l->page.size = PAST_PAGE;
	return code;
}

const struct description describe_list_alerts = {
	.id = "listAlerts", .tag = "watching", .scope = SCOPE_READ,
	.summary = "What is wrong, what was, and the rules by which it is judged",
	.says = "The newest first. The rules are those in force for the space, in every answer.",
	.query = INPUT(
		FIELD_ENUM("state", struct alert_list, wanted, &words_alert_state_asked, 0, "Which of them.",
			   .read = read_wanted, .otherwise = "'firing'",
			   .expected = "expected firing, resolved or all"),
		DOC_INT("page_size", 1, LIST_SIZE_MAX,
			"Where absent: 1000 of what fires, 100 where what is over was asked for."),
		PAGE_TOKEN),
	LISTS(struct alert_list), .defaults = what_fires,
	ANSWERS(ANSWER(200, "The alerts.", OUTPUT(
		FIELD_SHAPES("alerts", struct alert_list, rows, count, 0, &alert, "The newest first."),
		FIELD_SHAPES("rules", struct alert_list, rules, rule_count, 0, &rule, "In force for the space."),
		NEXT_PAGE_OF(struct alert_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

/* It may also be the caller. */
static enum problem_code by_caller(const struct field *f, void *into, struct shape_reader *r)
{
	struct alert_decide *d = into;

	d->by = d->op.agent;
	return d->by.p ? P_OK : problem_set(r->problem, P_MISSING_FIELD, f->name.p, "by is missing; it is who has seen "
					    "it");
}

static void silences(void *op)
{
	((struct alert_decide *)op)->silences = true;
}

#define SEEN_BY \
	FIELD_NAME("by", struct alert_decide, by, BY_MAX, "Who; Spine-Agent where absent.", .absent = by_caller, \
		   .usually = "`Spine-Agent`", .docs = "who", OF_CALLER)
#define DECIDES \
	.path = {&path_alert}, .path_into = {INTO(struct alert_decide, id)}, \
	.body_into = INTO(struct alert_decide, op), \
	.from = FROM(struct alert_decide, row)

const struct description describe_ack_alert = {
	.id = "ackAlert", .tag = "watching", .scope = SCOPE_ADMIN,
	.summary = "Somebody has seen the alert",
	.says = "It goes on firing. Who was first stays in the alert.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, DECIDES,
	.body = {INPUT(SEEN_BY)},
	ANSWERS(ANSWER(200, "The alert.", &alert)),
	REFUSES(P_ALERT_NOT_FOUND),
};

const struct description describe_silence_alert = {
	.id = "silenceAlert", .tag = "watching", .scope = SCOPE_ADMIN,
	.summary = "The webhook hears nothing of the alert for a while",
	.says = "Holds for the same alert of the same agent when it fires anew meanwhile. for_s 0 ends it.",
	.takes = TAKES_AGENT | TAKES_BODY, DECIDES, .defaults = silences,
	.body = {INPUT(
		SEEN_BY,
		FIELD_SECONDS("for_s", struct alert_decide, for_ms, 0, SILENCE_MAX_MS, "How long.",
			      .required = "it is how many seconds the webhook hears nothing of it"),
		FIELD_TEXT("why", struct alert_decide, why, 1, WHY_MAX, "It stays in the alert and in the events."))},
	ANSWERS(ANSWER(200, "The alert.", &alert)),
	REFUSES(P_ALERT_NOT_FOUND),
};
