/* The routes of a space: rules that say who comes next (core/delivery/route_rule.h). */
#ifndef SPINE_ENGINE_ROUTE_RULES_H
#define SPINE_ENGINE_ROUTE_RULES_H

#include "codec/json.h"
#include "engine/op.h"
#include "engine/page.h"

/* A route, with what its settings say; p == NULL and NULL: nothing. */
struct route_view {
	struct route_row row;
	struct str from, to, description;
	const struct json *when;
	int64_t order;
};

struct route_rule {
	struct op op;
	/* In. */
	struct str name;
	const struct json *settings;	/* to set */
	/* Out. */
	struct route_view view;
};

extern const struct op_kind route_rule_get_kind;
extern const struct op_kind route_rule_set_kind;
extern const struct op_kind route_rule_delete_kind;

struct route_rule_list {
	struct op op;
	/* In. */
	struct page page;
	/* Out. */
	struct route_view *routes;
	size_t count;
};

extern const struct op_kind route_rule_list_kind;

#endif
