/* Handoffs as the core would make them, each stored in a transaction of its own. */
#ifndef SPINE_TESTS_HANDOFF_ROWS_H
#define SPINE_TESTS_HANDOFF_ROWS_H

#include "conformance.h"

static inline int64_t agent_id(struct temp_store *t, int64_t space, const char *name)
{
	int64_t id = 0;

	must(store_begin(t->c));
	must(store_agent_id(t->c, space, str_of(name), true, T0, &id));
	must(store_commit(t->c));
	return id;
}

static inline void add_envelope(struct temp_store *t, int64_t space, uint64_t num)
{
	struct envelope_row row = {.space = space, .num = num, .task = STR("task"), .hop = 1, .created_at_ms = T0,
				   .body = STR("{}")};

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_commit(t->c));
}

/* A queued handoff, as the core would make it. */
static inline struct handoff_row new_handoff(int64_t space, uint64_t envelope, int64_t agent)
{
	return (struct handoff_row){.space = space, .envelope = envelope, .created_at_ms = T0, .target = agent,
				    .agent = agent,
				    .state = HANDOFF_QUEUED, .priority = 5, .attempt = 1, .max_attempts = 3,
				    .due_ms = T0 + 15000,
				    .ack_timeout_ms = 15000, .changed_at_ms = T0};
}

static inline enum store_status insert(struct temp_store *t, struct handoff_row *h)
{
	enum store_status status;

	must(store_begin(t->c));
	status = store_handoff_insert(t->c, h);
	must(store_commit(t->c));
	return status;
}

/* Stores one in that state and returns its number. */
static inline uint64_t add(struct temp_store *t, int64_t space, uint64_t envelope, int64_t agent,
			   enum handoff_state state, int priority)
{
	struct handoff_row h = new_handoff(space, envelope, agent);

	h.state = state;
	h.priority = priority;
	h.due_ms = state <= HANDOFF_WORKING ? T0 + 15000 : 0;
	must(insert(t, &h));
	return h.num;
}

static inline struct handoff_row get(struct temp_store *t, int64_t space, uint64_t num)
{
	struct handoff_row h;

	must(store_handoff_get(t->c, space, num, &t->arena, &h));
	return h;
}

static inline void put(struct temp_store *t, const struct handoff_row *h)
{
	must(store_begin(t->c));
	must(store_handoff_put(t->c, h));
	must(store_commit(t->c));
}

static inline void move(struct temp_store *t, uint64_t num, enum handoff_state state, int64_t due_ms)
{
	struct handoff_row h = get(t, t->space, num);

	h.state = state;
	h.due_ms = due_ms;
	put(t, &h);
}

#endif
