/* What persons waived for tasks, and what spaces lock, in memory. */
#include "store/ram/ram_internal.h"

enum store_status ram_space_locked(struct store_conn *c, int64_t id, struct arena *arena, struct str *ret)
{
	const struct ram_space *space = ram_index_at(&ram_of(c)->spaces, id);

	(void)arena;
	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret = space->locked;
	return STORE_OK;
}

enum store_status ram_space_set_locked(struct store_conn *c, int64_t id, struct str locked)
{
	struct ram_space *space = ram_index_at(&ram_of(c)->spaces, id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_save(ram_of(c), RAM_BYTES, &space->locked, sizeof(space->locked));
	space->locked = ram_text(ram_of(c), locked);
	return STORE_OK;
}

/* A task's id; 0: there is none. */
static int64_t task_id(const struct ram_store *s, int64_t space, struct str name)
{
	const struct ram_task *task = ram_index_find(&s->task_names,
						     &(struct ram_task){.space = space, .row.name = name});

	return task ? task->row.id : 0;
}

enum store_status ram_waiver_add(struct store_conn *c, int64_t space, struct str name, struct waiver_row *waiver)
{
	struct ram_store *s = ram_of(c);
	int64_t task = task_id(s, space, name);
	struct ram_waiver *made;

	if (task == 0)
		return STORE_NOT_FOUND;
	if (waiver->key.p == NULL || waiver->reason.p == NULL || waiver->by.p == NULL)
		return STORE_REFUSED;
	ram_save(s, RAM_BYTES, &s->last_waiver, sizeof(s->last_waiver));
	waiver->id = ++s->last_waiver;
	made = ram_new(s, sizeof(*made));
	*made = (struct ram_waiver){task, {waiver->id, ram_text(s, waiver->key), ram_text(s, waiver->reason),
					   ram_text(s, waiver->by), waiver->at_ms, waiver->access_key}};
	ram_insert(s, &s->waivers, made);
	return STORE_OK;
}

enum store_status ram_waivers(struct store_conn *c, int64_t space, struct str name, size_t max, struct arena *arena,
			      struct waiver_row *ret, size_t *ret_count)
{
	const struct ram_index *waivers = &ram_of(c)->waivers;
	int64_t task = task_id(ram_of(c), space, name);
	size_t count = 0;

	(void)arena;
	for (size_t i = task ? ram_index_from(waivers, &(struct ram_waiver){.task = task}) : waivers->count;
	     i < waivers->count && count < max; i++) {
		const struct ram_waiver *w = waivers->rows[i];

		if (w->task != task)
			break;
		ret[count++] = w->row;
	}
	*ret_count = count;
	return STORE_OK;
}
