/* What the files quota*.c share. */
#ifndef SPINE_ENGINE_QUOTA_INTERNAL_H
#define SPINE_ENGINE_QUOTA_INTERNAL_H

#include "engine/quota.h"

#include <pthread.h>

enum { QUOTA_SECONDS = 60 };

/* The highest number of a handoff at the first look in a second. */
struct quota_mark {
	int64_t second;
	uint64_t last;
};

struct quota_entry {
	int64_t space;
	bool is_known;			/* its limits are */
	uint64_t changes;		/* of its limits: who read them before must not keep them */
	int64_t limit[QUOTA_KINDS];
	int64_t waiting;
	int64_t refusals[QUOTA_KINDS];
	bool has_marks;
	struct quota_mark marks[QUOTA_SECONDS];
};

struct quota {
	struct space_quota server;
	struct spaces *spaces;
	pthread_mutex_t lock;		/* guards what follows */
	struct quota_entry **entries;	/* by the id of the space */
	size_t count;
};

/* quota_table.c. The lock is held. */

/* NULL where nothing is known of the space. */
struct quota_entry *quota_find(const struct quota *q, int64_t space);
/* Made where there is none; NULL where the space was removed. */
struct quota_entry *quota_entry(struct quota *q, int64_t space);

/* It is not. */
int64_t quota_waiting(struct quota *q, int64_t space);

#endif
