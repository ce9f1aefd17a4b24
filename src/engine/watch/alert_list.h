/* The alerts of a space, and the rules that they are judged by there. */
#ifndef SPINE_ENGINE_ALERT_LIST_H
#define SPINE_ENGINE_ALERT_LIST_H

#include "core/watch/alerts.h"
#include "engine/op.h"
#include "engine/page.h"

struct alert_list {
	struct op op;
	/* In. */
	enum alerts_wanted wanted;
	struct page page;		/* its position: the last id of the page before */
	/* Out. */
	struct alert_row *rows;
	size_t count;
	bool has_more;
	struct alert_rule rules[ALERT_RULES_MAX];	/* as they are in force for the space */
	size_t rule_count;
	const struct alert_rules *judged_by;		/* borrowed */
};

extern const struct op_kind alert_list_kind;

#endif
