/* Threads for what takes longer than a few milliseconds: the preparing and reading of large operations.
 *
 * An owner's thread serves thousands of clients, so nobody may hold it up. What turns out to be a lot of work there
 * (op_is_too_much, op.h) is given up, and begun again by one of these threads. What a client has asked for is done in
 * the order of arrival; clients (op->client) take turns, and none has all of the threads. So who asks for much waits
 * for itself, and another for one of its requests at the most.
 */
#ifndef SPINE_ENGINE_WORKERS_H
#define SPINE_ENGINE_WORKERS_H

#include "engine/engine.h"

struct op;
struct workers;

/* Returns owned, with `count` threads running, each with a reader of its own; NULL and a sentence in *error where the
 * store cannot be read. Borrows e. */
struct workers *workers_start(struct engine *e, int count, struct buf *error);
/* From any thread: has fn(op, reader) called on one of the threads. False where `max` of them wait already, or too
 * many of its client. */
bool workers_submit(struct workers *w, struct op *op, void (*fn)(struct op *op, struct engine_reader *reader));
/* Does what was submitted, then ends the threads and frees. NULL-safe. */
void workers_stop(struct workers *w);

#endif
