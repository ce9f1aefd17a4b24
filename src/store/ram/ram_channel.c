/* Channels, their subscribers, and routes, in memory. */
#include "store/ram/ram_internal.h"

/* --- Channels --- */

static struct ram_channel *channel_named(const struct ram_store *s, int64_t space, struct str name)
{
	return ram_index_find(&s->channel_names, &(struct ram_channel){.space = space, .row.name = name});
}

enum store_status ram_channel_put(struct store_conn *c, int64_t space, struct str name, struct str description,
				  int64_t now_ms)
{
	struct ram_store *s = ram_of(c);
	struct ram_channel *channel = channel_named(s, space, name);

	if (name.p == NULL)
		return STORE_REFUSED;
	if (channel) {
		ram_save(s, RAM_BYTES, &channel->row, sizeof(channel->row));
		channel->row.description = ram_text(s, description);
		return STORE_OK;
	}
	channel = ram_new(s, sizeof(*channel));
	channel->space = space;
	channel->row = (struct channel_row){.id = (int64_t)s->channels.count + 1, .name = ram_text(s, name),
					    .description = ram_text(s, description), .created_at_ms = now_ms};
	ram_insert(s, &s->channels, channel);
	ram_insert(s, &s->channel_names, channel);
	return STORE_OK;
}

static size_t first_subscriber(const struct ram_store *s, int64_t channel)
{
	return ram_index_from(&s->subscribers, &(struct ram_subscriber){channel, INT64_MIN});
}

static struct channel_row row_of(const struct ram_store *s, const struct ram_channel *channel)
{
	struct channel_row row = channel->row;

	row.subscribers = (int64_t)(first_subscriber(s, row.id + 1) - first_subscriber(s, row.id));
	return row;
}

enum store_status ram_channel_get(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				  struct channel_row *ret)
{
	const struct ram_channel *channel = channel_named(ram_of(c), space, name);

	(void)arena;
	if (channel == NULL)
		return STORE_NOT_FOUND;
	*ret = row_of(ram_of(c), channel);
	return STORE_OK;
}

enum store_status ram_channels(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			       struct channel_row *ret, size_t *ret_count)
{
	const struct ram_index *names = &ram_of(c)->channel_names;
	struct ram_channel from = {.space = space, .row.name = after};
	size_t count = 0;

	(void)arena;
	for (size_t i = ram_index_from(names, &from); i < names->count && count < max; i++) {
		const struct ram_channel *channel = names->rows[i];

		if (channel->space != space)
			break;
		if (!str_eq(channel->row.name, after))
			ret[count++] = row_of(ram_of(c), channel);
	}
	*ret_count = count;
	return STORE_OK;
}

/* --- Subscribers --- */

enum store_status ram_subscriber_put(struct store_conn *c, int64_t channel, int64_t agent, int64_t now_ms)
{
	struct ram_store *s = ram_of(c);
	struct ram_subscriber key = {channel, agent}, *made;

	(void)now_ms;
	if (ram_index_find(&s->subscribers, &key))
		return STORE_OK;
	made = ram_new(s, sizeof(*made));
	*made = key;
	ram_insert(s, &s->subscribers, made);
	return STORE_OK;
}

enum store_status ram_subscriber_delete(struct store_conn *c, int64_t channel, int64_t agent)
{
	struct ram_store *s = ram_of(c);
	struct ram_subscriber *found = ram_index_find(&s->subscribers, &(struct ram_subscriber){channel, agent});

	if (found == NULL)
		return STORE_NOT_FOUND;
	ram_remove(s, &s->subscribers, found);
	return STORE_OK;
}

/* They stand in the order of their ids: each name is put where it belongs, and what does not fit falls off the end. */
enum store_status ram_subscribers(struct store_conn *c, int64_t channel, size_t max, struct arena *arena,
				  struct str *ret, size_t *ret_count)
{
	const struct ram_store *s = ram_of(c);
	size_t end = first_subscriber(s, channel + 1), count = 0;

	(void)arena;
	for (size_t i = first_subscriber(s, channel); i < end; i++) {
		const struct ram_subscriber *x = s->subscribers.rows[i];
		const struct ram_agent *a = ram_agent_at(s, x->agent);
		size_t to = count;

		while (a && to > 0 && str_cmp(ret[to - 1], a->row.name) > 0)
			to--;
		if (a == NULL || to == max)
			continue;
		count += count < max;
		memmove(ret + to + 1, ret + to, (count - to - 1) * sizeof(*ret));
		ret[to] = a->row.name;
	}
	*ret_count = count;
	return STORE_OK;
}

/* --- Routes --- */

static struct ram_route *route_named(const struct ram_store *s, int64_t space, struct str name)
{
	return ram_index_find(&s->route_names, &(struct ram_route){.space = space, .row.name = name});
}

enum store_status ram_route_put(struct store_conn *c, int64_t space, const struct route_row *route)
{
	struct ram_store *s = ram_of(c);
	struct ram_route *kept = route_named(s, space, route->name);

	if (route->name.p == NULL || route->settings.p == NULL)
		return STORE_REFUSED;
	if (kept) {
		ram_save(s, RAM_BYTES, &kept->row, sizeof(kept->row));
		kept->row.settings = ram_text(s, route->settings);
		kept->row.updated_at_ms = route->updated_at_ms;
		return STORE_OK;
	}
	kept = ram_new(s, sizeof(*kept));
	*kept = (struct ram_route){space, *route};
	kept->row.name = ram_text(s, route->name);
	kept->row.settings = ram_text(s, route->settings);
	ram_insert(s, &s->route_names, kept);
	return STORE_OK;
}

enum store_status ram_route_delete(struct store_conn *c, int64_t space, struct str name)
{
	struct ram_store *s = ram_of(c);
	struct ram_route *found = route_named(s, space, name);

	if (found == NULL)
		return STORE_NOT_FOUND;
	ram_remove(s, &s->route_names, found);
	return STORE_OK;
}

enum store_status ram_routes(struct store_conn *c, int64_t space, struct str after, size_t max, struct arena *arena,
			     struct route_row *ret, size_t *ret_count)
{
	const struct ram_index *names = &ram_of(c)->route_names;
	struct ram_route from = {.space = space, .row.name = after};
	size_t count = 0;

	(void)arena;
	for (size_t i = ram_index_from(names, &from); i < names->count && count < max; i++) {
		const struct ram_route *route = names->rows[i];

		if (route->space != space)
			break;
		if (!str_eq(route->row.name, after))
			ret[count++] = route->row;
	}
	*ret_count = count;
	return STORE_OK;
}
