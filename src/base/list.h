/* Doubly linked lists whose links live inside the elements: no allocation, removal of any element in O(1).
 *
 * A `struct list` is either the head of a list or the link inside an element. A link that is in no list points to
 * itself, so that list_remove() may be called on it at any time.
 */
#ifndef SPINE_BASE_LIST_H
#define SPINE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev;
	struct list *next;
};

/* The element that holds a link. */
#define LIST_ELEMENT(link, type, member) ((type *)(void *)((char *)(link) - offsetof(type, member)))

static inline void list_init(struct list *l)
{
	l->prev = l;
	l->next = l;
}

/* Of a head: the list has no element. Of a link: it is in no list. */
static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

/* Appends a link that is in no list. */
static inline void list_add(struct list *head, struct list *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

#endif
