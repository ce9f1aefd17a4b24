/* The steps of a history that a sender adds: which are new, and who signs them.
 *
 * A step says who did it (`agent`), what, and why; a prompt shows it as "1. reviewer: approved the deploy". What stood
 * in the envelope before may be said again, whoever did it. A new step is signed by its sender, unless it names
 * another: a text that begins with somebody's name is not taken for that name then. With the key of an agent a new
 * step is that agent's and nobody else's. */
#ifndef SPINE_CORE_STEPS_H
#define SPINE_CORE_STEPS_H

#include "base/arena.h"
#include "codec/json.h"
#include "core/access/access.h"

/* Steps with the same key are the same step, whenever it was done. In the arena. */
struct json steps_key(const struct json *step, struct arena *arena);

/* *given, an array of objects, as it is added to *inherited (NULL: there is nothing before) by `from` (p == NULL:
 * nobody knows). Problems name the member as in "[2].agent", behind `list`. */
enum problem_code steps_sign(const struct json *inherited, struct str from, const struct access *access,
			     const char *list, struct json *given, struct arena *arena, struct problem *problem);

#endif
