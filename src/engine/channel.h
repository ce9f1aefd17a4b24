/* The channel that an operation names. */
#ifndef SPINE_ENGINE_CHANNEL_H
#define SPINE_ENGINE_CHANNEL_H

#include "engine/op.h"

enum { CHANNEL_NAME_MAX = 128 };

/* P_CHANNEL_NOT_FOUND where there is none. */
enum problem_code channel_find(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret);
/* Channels come into being when they are first used. */
enum problem_code channel_make(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret);

#endif
