/* Channels and their subscribers. (What is published on them is in publish.h.) */
#ifndef SPINE_ENGINE_CHANNEL_H
#define SPINE_ENGINE_CHANNEL_H

#include "engine/op.h"
#include "engine/page.h"

enum { CHANNEL_NAME_MAX = 128 };

struct channel {
	struct op op;
	/* In. */
	struct str name;
	struct str description;		/* to set; p == NULL: none */
	struct str agent;		/* that subscribes, or no longer does */
	/* Out. */
	struct channel_row row;
	struct str *subscribers;
	size_t count;
};

extern const struct op_kind channel_get_kind;
extern const struct op_kind channel_set_kind;
extern const struct op_kind channel_subscribe_kind;
extern const struct op_kind channel_unsubscribe_kind;

struct channel_list {
	struct op op;
	/* In. */
	struct page page;
	/* Out. */
	struct channel_row *rows;
	size_t count;
	bool has_more;
};

extern const struct op_kind channel_list_kind;

/* For others, within their own run. P_CHANNEL_NOT_FOUND where there is none. */
enum problem_code channel_find(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret);
/* Channels come into being when they are first used. */
enum problem_code channel_make(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret);

#endif
