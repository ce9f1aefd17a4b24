/* Which clients of this project have called since the start, and of which version, as their User-Agent says:
 * "memory-spine-python/1.4.0". For the person who wonders which of them is old. Bounded; any thread. */
#ifndef SPINE_API_CLIENTS_H
#define SPINE_API_CLIENTS_H

#include "base/str.h"

#include <pthread.h>

enum { CLIENTS_MAX = 16, CLIENT_NAME_MAX = 64 };

struct client_seen {
	char name[CLIENT_NAME_MAX];	/* "memory-spine-python/1.4.0" */
	size_t length;
	int64_t at_ms;			/* when it called last */
};

struct clients {
	pthread_mutex_t lock;
	struct client_seen seen[CLIENTS_MAX];
	size_t count;
};

void clients_init(struct clients *c);
/* Others than those of this project are not remembered, and neither are those beyond CLIENTS_MAX. */
void clients_note(struct clients *c, struct str user_agent, int64_t now_ms);
/* A copy of what is known; returns how many there are. */
size_t clients_read(struct clients *c, struct client_seen ret[CLIENTS_MAX]);

#endif
