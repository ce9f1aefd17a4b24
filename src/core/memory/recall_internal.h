/* What the files recall*.c share. */
#ifndef SPINE_CORE_RECALL_INTERNAL_H
#define SPINE_CORE_RECALL_INTERNAL_H

#include "core/memory/recall_document.h"

#include <pthread.h>
#include <stdatomic.h>

enum space_state { SPACE_COLD, SPACE_BUILDING, SPACE_READY };

/* One space. Made when it is first asked for; it goes when the space was removed and nobody uses it any more. */
struct recall_space {
	int64_t space;
	atomic_size_t users;		/* the list is one */
	pthread_rwlock_t lock;		/* guards what follows */
	enum space_state state;
	struct index *index;		/* of SPACE_READY */
	uint64_t *pending;		/* numbers that changed while the index was being built */
	size_t pending_count;
	size_t pending_cap;
	bool is_gone;			/* the space was removed: no index is shown any more */
};

struct recall {
	uint64_t seed;
	pthread_rwlock_t lock;		/* guards the list */
	struct recall_space **spaces;
	size_t space_count;
	struct recall_maker maker;	/* of the writer's thread */
};

struct recall_scratch {
	struct analyzer *analyzer;
	struct termbag bag;
	struct index_scratch *index;
};

/* NULL where nobody asked for it yet. To be given back by recall_space_leave. */
struct recall_space *recall_space_find(struct recall *r, int64_t space);
void recall_space_leave(struct recall_space *s);

/* Adds all memories of the space to an index with that seed. A second thread uses the connection meanwhile. */
enum store_status recall_read(struct store_conn *c, int64_t space, uint64_t seed, struct index *index);

#endif
