/* An envelope may carry characters that nobody sees: whoever packs or reads it is told which texts have them. */
#ifndef SPINE_ENGINE_HIDDEN_H
#define SPINE_ENGINE_HIDDEN_H

#include "core/envelope/envelope.h"
#include "engine/op.h"

/* Adds a warning, invisible_characters, for the intent, the state, the summary and each memory whose text has
 * characters that no script or emoji needs (text/invisible.h). */
void hidden_warn(struct op *op, const struct envelope *e);

#endif
