#include "api/clients.h"

#include <string.h>

#define OURS "memory-spine"

void clients_init(struct clients *c)
{
	*c = (struct clients){.count = 0};
	pthread_mutex_init(&c->lock, NULL);
}

/* Visible ASCII, and a version behind the only slash: what is shown to people as it is. */
static bool is_ours(struct str name)
{
	if (name.n >= CLIENT_NAME_MAX || !str_has_prefix(name, STR(OURS)) || str_find(name, '/') + 1 >= name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || name.p[i] == '"' || name.p[i] == '\\')
			return false;
	return true;
}

void clients_note(struct clients *c, struct str user_agent, int64_t now_ms)
{
	struct client_seen *one = c->seen;

	/* A call that finds the list in use need not be the one that is noted. */
	if (!is_ours(user_agent) || pthread_mutex_trylock(&c->lock) != 0)
		return;
	while (one < c->seen + c->count && !str_eq((struct str){one->name, one->length}, user_agent))
		one++;
	if (one == c->seen + c->count && c->count < CLIENTS_MAX) {
		memcpy(one->name, user_agent.p, user_agent.n);
		one->length = user_agent.n;
		c->count++;
	}
	if (one < c->seen + c->count)
		one->at_ms = now_ms;
	pthread_mutex_unlock(&c->lock);
}

size_t clients_read(struct clients *c, struct client_seen ret[CLIENTS_MAX])
{
	size_t count;

	pthread_mutex_lock(&c->lock);
	count = c->count;
	memcpy(ret, c->seen, sizeof(c->seen));
	pthread_mutex_unlock(&c->lock);
	return count;
}
