#include "base/heap.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { HEAP_FIRST_CAP = 16 };

void heap_init(struct heap *h, bool (*before)(const void *a, const void *b), void (*set_pos)(void *item, size_t pos))
{
	assert(before && set_pos);
	*h = (struct heap){.before = before, .set_pos = set_pos};
}

void heap_release(struct heap *h)
{
	free(h->items);
	heap_init(h, h->before, h->set_pos);
}

static void place(struct heap *h, size_t pos, void *item)
{
	h->items[pos] = item;
	h->set_pos(item, pos);
}

/* Finds the place of item from pos upwards or downwards, moving others into the hole as it goes. */
static void settle(struct heap *h, size_t pos, void *item)
{
	while (pos > 0 && h->before(item, h->items[(pos - 1) / 2])) {
		place(h, pos, h->items[(pos - 1) / 2]);
		pos = (pos - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= h->len)
			break;
		if (child + 1 < h->len && h->before(h->items[child + 1], h->items[child]))
			child++;
		if (!h->before(h->items[child], item))
			break;
		place(h, pos, h->items[child]);
		pos = child;
	}
	place(h, pos, item);
}

void heap_insert(struct heap *h, void *item)
{
	if (h->len == h->cap) {
		h->cap = h->cap ? h->cap * 2 : HEAP_FIRST_CAP;
		h->items = mem_reallocarray(h->items, h->cap, sizeof(*h->items));
	}
	h->len++;
	settle(h, h->len - 1, item);
}

void *heap_first(const struct heap *h)
{
	return h->len ? h->items[0] : NULL;
}

void *heap_remove(struct heap *h, size_t pos)
{
	void *item, *last;

	assert(pos < h->len);
	item = h->items[pos];
	last = h->items[--h->len];
	if (item != last)
		settle(h, pos, last);
	h->set_pos(item, HEAP_NONE);
	return item;
}

void heap_update(struct heap *h, size_t pos)
{
	assert(pos < h->len);
	settle(h, pos, h->items[pos]);
}
