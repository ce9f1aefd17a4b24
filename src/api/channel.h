/* The channel that a request names in its address. */
#ifndef SPINE_API_CHANNEL_H
#define SPINE_API_CHANNEL_H

#include "api/call.h"

enum { CHANNEL_NAME_MAX = 128 };

/* P_CHANNEL_NOT_FOUND where there is none. */
enum problem_code channel_find(struct call *call, struct store_conn *c, struct channel_row *ret);
/* Channels come into being when they are first used. */
enum problem_code channel_make(struct call *call, struct store_conn *c, struct channel_row *ret);

#endif
