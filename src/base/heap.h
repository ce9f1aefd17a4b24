/* A binary heap of pointers: the first element in O(1), insert and removal of any element in O(log n).
 *
 * The heap tells each element where it stands, through set_pos; an element that knows its position can be removed or,
 * when its key has changed, moved to its new place. Elements are borrowed.
 */
#ifndef SPINE_BASE_HEAP_H
#define SPINE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The position of an element that is in no heap. */
#define HEAP_NONE SIZE_MAX

struct heap {
	void **items;
	size_t len;
	size_t cap;
	bool (*before)(const void *a, const void *b);
	void (*set_pos)(void *item, size_t pos);
};

/* before(a, b): a comes out earlier than b. set_pos is called whenever an element moves, with HEAP_NONE when it leaves.
 * Both are required. */
void heap_init(struct heap *h, bool (*before)(const void *a, const void *b), void (*set_pos)(void *item, size_t pos));
/* Frees the heap's own memory; the elements are not told. */
void heap_release(struct heap *h);

/* item must be in no heap. */
void heap_insert(struct heap *h, void *item);
/* NULL where the heap is empty. */
void *heap_first(const struct heap *h);
/* Removes and returns the element at pos, which must be one. */
void *heap_remove(struct heap *h, size_t pos);
/* The key of the element at pos has changed: moves it to its place. */
void heap_update(struct heap *h, size_t pos);

#endif
