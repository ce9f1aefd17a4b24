/* What is told of keys: that there is one, or a new secret, or that it has ended. Never the secret. */
#ifndef SPINE_ENGINE_ACCESS_KEY_TOLD_H
#define SPINE_ENGINE_ACCESS_KEY_TOLD_H

#include "engine/op.h"

/* Within a run: writes the event into the space that the key is for, where there is such a space, and otherwise into
 * that of the operation. */
enum problem_code key_told(struct op *op, struct store_conn *c, int kind, const struct access_key_row *key,
			   struct str why);

#endif
