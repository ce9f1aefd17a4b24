/* Alerts: what is wrong, what was, and what people say to it. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"

enum { BY_MAX = 128, WHY_MAX = 1024 };

#define SILENCE_MAX_MS (INT64_C(30) * 24 * 3600 * 1000)

static const struct field alert_fields[] = {
	FIELD_ALERT_ID("id", struct alert_row, id, "Its id."),
	FIELD_TEXT("name", struct alert_row, name, 0, 0, "Which rule.", .words = &words_alert),
	FIELD_ENUM("severity", struct alert_row, severity, &words_severity, 0, "Of failure_rate_high it may rise."),
	DOC_BOOL("pages", "Somebody is to be woken."),
	DOC_ENUM("state", &words_alert_state, 0, "Whether it still holds."),
	FIELD_TEXT("agent", struct alert_row, agent, 0, 0, "null: the space as a whole.", NULLABLE),
	DOC_TEXT("space", 0, 0, "The space."),
	FIELD_TEXT("summary", struct alert_row, summary, 0, 0, "A sentence."),
	FIELD_NUMBER("value", struct alert_row, value, NO_MIN, NO_MAX, "The figure when it fired, or rose."),
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

static const struct field rule_fields[] = {
	DOC_ENUM("name", &words_alert, 0, "The alert."),
	DOC_ENUM("severity", &words_severity, 0, "How bad it is."),
	DOC_BOOL("pages", "Somebody is to be woken."),
	DOC_ENUM("of", &words_alert_of, 0,
		 "What each alert of this name is about: one agent, or the space as a whole."),
	DOC_TEXT("measures", 0, 0, "In words."),
	DOC_ENUM("unit", &words_unit, 0, "Of the threshold and of the alert's value; shares are 0 to 1."),
	DOC_ENUM("comparison", &words_comparison, 0,
		 "It fires where what it measures is above, below, or at least the threshold."),
	DOC_NUMBER("threshold", NO_MIN, NO_MAX,
		   "In force now, options of the server included. null: it depends on what is usual in the space, and "
		   "there is too little yet to say.", NULLABLE),
	DOC_INT("window_s", NO_MIN, NO_MAX, "How far back the figure goes; null: it is a fact of now.", NULLABLE),
	DOC_INT("min_samples", 1, NO_MAX, "So many handoffs or envelopes must be in the window."),
	COUNT("hold_s", "How long it must hold before the alert fires. 0: at once; the window is what smoothes it."),
	FIELDS_END,
};
static const struct shape rule = {
	.name = "AlertRule", .says = "When an alert fires. failure_rate_high has one for each of its severities.",
	.fields = rule_fields,
};

const struct description describe_list_alerts = {
	.id = "listAlerts", .tag = "watching", .scope = SCOPE_READ,
	.summary = "What is wrong, what was, and the rules by which it is judged",
	.says = "The newest first. The rules are those in force for the space, in every answer.",
	.query = INPUT(
		DOC_ENUM("state", &words_alert_state_asked, 0, "Which of them.", .otherwise = "'firing'",
			 .expected = "expected firing, resolved or all"),
		DOC_INT("page_size", 1, LIST_SIZE_MAX,
			"Where absent: 1000 of what fires, 100 where what is over was asked for."),
		PAGE_TOKEN),
	ANSWERS(ANSWER(200, "The alerts.", OUTPUT(
		DOC_SHAPES("alerts", 0, &alert, "The newest first."),
		DOC_SHAPES("rules", 0, &rule, "In force for the space."), NEXT_PAGE))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

/* Who is read by a function: it may also be the caller. */
#define SEEN_BY DOC_NAME("by", BY_MAX, "Who; Spine-Agent where absent.", .usually = "`Spine-Agent`", .docs = "who")

const struct description describe_ack_alert = {
	.id = "ackAlert", .tag = "watching", .scope = SCOPE_ADMIN,
	.summary = "Somebody has seen the alert",
	.says = "It goes on firing. Who was first stays in the alert.",
	.takes = TAKES_AGENT | TAKES_BODY_MAYBE, .path = {&path_alert},
	.body = {INPUT(SEEN_BY)},
	ANSWERS(ANSWER(200, "The alert.", &alert)),
	REFUSES(P_ALERT_NOT_FOUND),
};

const struct description describe_silence_alert = {
	.id = "silenceAlert", .tag = "watching", .scope = SCOPE_ADMIN,
	.summary = "The webhook hears nothing of the alert for a while",
	.says = "Holds for the same alert of the same agent when it fires anew meanwhile. for_s 0 ends it.",
	.takes = TAKES_AGENT | TAKES_BODY, .path = {&path_alert},
	.body = {INPUT(
		SEEN_BY,
		DOC_SECONDS("for_s", 0, SILENCE_MAX_MS, "How long.",
			    .required = "it is how many seconds the webhook hears nothing of it"),
		DOC_TEXT("why", 1, WHY_MAX, "It stays in the alert and in the events."))},
	ANSWERS(ANSWER(200, "The alert.", &alert)),
	REFUSES(P_ALERT_NOT_FOUND),
};
