/* The routes of a space: rules that say who comes next (core/delivery/successor.h). */
#ifndef SPINE_ENGINE_ROUTE_RULES_H
#define SPINE_ENGINE_ROUTE_RULES_H

#include "codec/json.h"
#include "engine/op.h"
#include "engine/page.h"

struct route_rule {
	struct op op;
	/* In. */
	struct str name;
	const struct json *settings;	/* to set; successor_check has found them good */
	/* Out. */
	struct route_row row;
};

extern const struct op_kind route_rule_get_kind;
extern const struct op_kind route_rule_set_kind;
extern const struct op_kind route_rule_delete_kind;

struct route_rule_list {
	struct op op;
	/* In. */
	struct page page;
	/* Out. */
	struct route_row *rows;
	size_t count;
	bool has_more;
};

extern const struct op_kind route_rule_list_kind;

#endif
