/* base/heap.h and base/list.h. */
#include "base/heap.h"
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct item {
	int key;
	size_t pos;
};

static bool item_before(const void *a, const void *b)
{
	return ((const struct item *)a)->key < ((const struct item *)b)->key;
}

static void item_set_pos(void *item, size_t pos)
{
	((struct item *)item)->pos = pos;
}

enum { ITEMS = 500 };

/* A generator of our own, so that the sequence is the same everywhere. */
static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static void check_heap(const struct heap *h)
{
	for (size_t i = 0; i < h->len; i++) {
		struct item *item = h->items[i];

		assert_int_equal(item->pos, i);
		if (i > 0)
			assert_false(item_before(item, h->items[(i - 1) / 2]));
	}
}

static void items_come_out_in_order(void **state)
{
	struct item items[ITEMS];
	unsigned int seed = 1;
	struct heap h;
	int last = -1;

	(void)state;
	heap_init(&h, item_before, item_set_pos);
	assert_null(heap_first(&h));
	for (int i = 0; i < ITEMS; i++) {
		items[i] = (struct item){.key = (int)(next_random(&seed) % 100), .pos = HEAP_NONE};
		heap_insert(&h, &items[i]);
	}
	check_heap(&h);
	while (h.len > 0) {
		struct item *item = heap_first(&h);

		assert_true(item->key >= last);
		last = item->key;
		assert_ptr_equal(heap_remove(&h, 0), item);
		assert_true(item->pos == HEAP_NONE);
	}
	heap_release(&h);
}

static void any_item_can_be_removed_or_moved(void **state)
{
	struct item items[ITEMS];
	unsigned int seed = 7;
	struct heap h;
	size_t inside = 0;

	(void)state;
	heap_init(&h, item_before, item_set_pos);
	for (int i = 0; i < ITEMS; i++)
		items[i] = (struct item){.pos = HEAP_NONE};
	for (int step = 0; step < 5000; step++) {
		struct item *item = &items[next_random(&seed) % ITEMS];

		if (item->pos == HEAP_NONE) {
			item->key = (int)(next_random(&seed) % 1000);
			heap_insert(&h, item);
			inside++;
		} else if (next_random(&seed) % 2) {
			assert_ptr_equal(heap_remove(&h, item->pos), item);
			inside--;
		} else {
			item->key = (int)(next_random(&seed) % 1000);
			heap_update(&h, item->pos);
		}
		assert_int_equal(h.len, inside);
		check_heap(&h);
	}
	heap_release(&h);
}

static void list_keeps_order_and_lets_any_link_go(void **state)
{
	struct list head, links[4];

	(void)state;
	list_init(&head);
	assert_true(list_is_empty(&head));
	for (int i = 0; i < 4; i++) {
		list_init(&links[i]);
		list_add(&head, &links[i]);
	}
	list_remove(&links[1]);
	list_remove(&links[1]);
	assert_true(list_is_empty(&links[1]));
	assert_ptr_equal(head.next, &links[0]);
	assert_ptr_equal(head.next->next, &links[2]);
	assert_ptr_equal(head.prev, &links[3]);
	list_remove(&links[0]);
	list_remove(&links[2]);
	list_remove(&links[3]);
	assert_true(list_is_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_out_in_order),
		cmocka_unit_test(any_item_can_be_removed_or_moved),
		cmocka_unit_test(list_keeps_order_and_lets_any_link_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
