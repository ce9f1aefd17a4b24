/* Numbers of memories that are promised before they are stored, so that an envelope can be packed and sealed outside
 * the writer although it carries a memory which is stored together with it. Any thread.
 *
 * A promise is not a lock: a caller may give a memory that number by hand. Whoever stores under a promised number looks
 * whether it is still free, and prepares again where it is not. A promise that is not kept is a gap; numbers only grow.
 */
#ifndef SPINE_ENGINE_MEMORY_NUMBERS_H
#define SPINE_ENGINE_MEMORY_NUMBERS_H

#include "store/store.h"

struct memory_numbers;

struct memory_numbers *memory_numbers_new(void);
/* NULL-safe. */
void memory_numbers_free(struct memory_numbers *n);
/* Promises a number of the space. STORE_EXISTS where the space has none left. */
enum store_status memory_numbers_promise(struct memory_numbers *n, struct store_conn *c, int64_t space, uint64_t *ret);
/* What gets a number from the store must be at least that: everything below it may be promised. 0: nothing is. */
uint64_t memory_numbers_free_from(struct memory_numbers *n, int64_t space);
/* The store has given that number. */
void memory_numbers_given(struct memory_numbers *n, int64_t space, uint64_t num);
/* The space was removed. */
void memory_numbers_forget(struct memory_numbers *n, int64_t space);

#endif
