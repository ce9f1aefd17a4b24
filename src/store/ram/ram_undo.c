/* How things were before the transaction. */
#include "store/ram/ram_internal.h"

#include "base/mem.h"

struct ram_undo *ram_note(struct ram_store *s, enum ram_undo_kind kind)
{
	struct ram_undo *u;

	if (s->undo_count == s->undo_cap) {
		s->undo_cap = 2 * s->undo_cap + 256;
		s->undo = mem_reallocarray(s->undo, s->undo_cap, sizeof(*s->undo));
	}
	u = &s->undo[s->undo_count++];
	*u = (struct ram_undo){.kind = kind, .saved = s->saved_len};
	return u;
}

struct ram_undo *ram_save(struct ram_store *s, enum ram_undo_kind kind, void *at, size_t size)
{
	struct ram_undo *u = ram_note(s, kind);

	u->at = at;
	u->size = size;
	/* What is saved may be read as the struct that it is. */
	size = (size + 15) / 16 * 16;
	if (s->saved_cap - s->saved_len < size) {
		s->saved_cap = 2 * (s->saved_cap + size);
		s->saved = mem_realloc(s->saved, s->saved_cap);
	}
	memcpy(s->saved + s->saved_len, at, u->size);
	s->saved_len += size;
	return u;
}

void ram_insert(struct ram_store *s, struct ram_index *index, void *row)
{
	struct ram_undo *u = ram_note(s, RAM_ADDED);

	u->at = index;
	u->row = row;
	ram_index_add(s, index, row);
}

void ram_remove(struct ram_store *s, struct ram_index *index, void *row)
{
	struct ram_undo *u = ram_note(s, RAM_REMOVED);

	u->at = index;
	u->row = row;
	ram_index_remove(index, row);
}

void *ram_new(struct ram_store *s, size_t size)
{
	return arena_zalloc(&s->arena, size);
}

static void undo_one(struct ram_store *s, const struct ram_undo *u)
{
	const char *saved = s->saved ? s->saved + u->saved : NULL;

	switch (u->kind) {
	case RAM_BYTES:
	case RAM_TARGET:
		memcpy(u->at, saved, u->size);
		break;
	case RAM_ADDED:
		ram_index_remove(u->at, u->row);
		break;
	case RAM_REMOVED:
		ram_index_add(s, u->at, u->row);
		break;
	case RAM_HANDOFF:
		ram_handoff_restore(s, u->at, (const struct handoff_row *)(const void *)saved);
		break;
	case RAM_HANDOFF_ADDED:
		ram_handoff_withdraw(s, u->at);
		break;
	case RAM_HANDOFF_REMOVED:
		ram_handoff_readmit(s, u->at);
		break;
	case RAM_EVENT_REMOVED:
		s->events[u->size].id = (int64_t)u->size + 1;
		break;
	case RAM_EVENT_UNNAMED:
		memcpy(&s->events[u->place], saved, u->size);
		break;
	}
}

void ram_undo_to(struct ram_store *s, size_t count)
{
	while (s->undo_count > count) {
		const struct ram_undo *u = &s->undo[--s->undo_count];

		undo_one(s, u);
		s->saved_len = u->saved;
	}
}
