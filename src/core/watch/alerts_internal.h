/* What the files of alerts share. Nobody else includes this.
 *
 * alert_kind.c has the kinds and their names, alert_judge.c compares figures with the rules, alert_rules.c has the
 * rules and their table for people, alert_summary.c the sentences; alerts.c keeps what is firing.
 */
#ifndef SPINE_CORE_ALERTS_INTERNAL_H
#define SPINE_CORE_ALERTS_INTERNAL_H

#include "core/watch/alerts.h"

enum alert_verdict { ALERT_GOOD, ALERT_UNDECIDED, ALERT_BAD };

struct alert_judgement {
	enum alert_verdict verdict;
	enum alert_severity severity;
	double value;
	double threshold;
};

/* NULL: the figures of a time in which nothing happened. */
const struct stats_view *alert_judge_view(const struct stats_view *view);

struct alert_judgement alert_judge(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s);
/* From which mean hop on it is too deep: by what is usual, which is the mean of the day without what is judged. False
 * where there is too little of it. */
bool alert_judge_hop_threshold(const struct alert_rules *r, const struct stats_view *v, const struct stats_view *day,
			       double *ret);

/* Is it judged by the figures of a window, or by what is now? */
bool alert_rules_is_of_window(enum alert_kind kind);

/* A sentence without a full stop, in the arena. */
struct str alert_summary(const struct alert_rules *r, enum alert_kind kind, const struct alert_subject *s,
			 const struct alert_judgement *j, struct arena *arena);

/* When it begins. */
enum alert_severity alert_kind_severity(enum alert_kind kind);

#endif
