/* Queues: which agents have open work, and what waits for one of them: since when, and why. */
#ifndef SPINE_ENGINE_QUEUE_LIST_H
#define SPINE_ENGINE_QUEUE_LIST_H

#include "core/delivery/queue_why.h"
#include "engine/board/about.h"
#include "engine/delivery/agent_get.h"

/* The queue of an agent. */
struct queue_listed {
	struct agent_view view;
	bool has_first;
	int64_t oldest_at_ms;		/* since when the first ones wait; 0: nothing does */
	enum queue_why why;		/* the first waits */
	int64_t until_ms;		/* 0: not known */
};

struct queue_list {
	struct op op;
	/* In. */
	struct page page;
	/* Out. */
	struct queue_listed *queues;
	size_t count;
};

extern const struct op_kind queue_list_kind;

/* What waits. */
struct queue_entry {
	struct handoff_row row;
	struct about about;
	int64_t position;		/* 1 is next */
	enum queue_why why;
	int64_t until_ms;		/* 0: not known */
};

struct queue_get {
	struct op op;
	/* In. */
	struct str agent;
	struct page page;
	/* Out. */
	struct queue_listed queue;
	struct queue_entry *entries;
	size_t count;
};

extern const struct op_kind queue_get_kind;

#endif
