/* Numbers of new envelopes, given out before they are stored, so that an envelope can be packed, counted and sealed
 * outside the writer. A number that was given out and not used is a gap; numbers only grow. Any thread. */
#ifndef SPINE_ENGINE_ENVELOPE_NUMBERS_H
#define SPINE_ENGINE_ENVELOPE_NUMBERS_H

#include "store/store.h"

struct envelope_numbers;

struct envelope_numbers *envelope_numbers_new(void);
void envelope_numbers_free(struct envelope_numbers *n);
/* The next number of the space with that name; space is 0 where it does not exist yet. STORE_EXISTS
 * where none is left. */
enum store_status envelope_numbers_next(struct envelope_numbers *n, struct store_conn *c, struct str space_name,
					    int64_t space, uint64_t *ret);

/* The number that envelope_numbers_next would give, without taking it. */
enum store_status envelope_numbers_peek(struct envelope_numbers *n, struct store_conn *c, struct str space_name,
					    int64_t space, uint64_t *ret);

/* The space was removed: one of that name begins anew. */
void envelope_numbers_forget(struct envelope_numbers *n, struct str space_name);

#endif
