/* Series, and which of them an event counts in. What a series holds is stats_series.c's. */
#include "core/watch/stats_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

enum { BUCKETS = 1024, NAME_MAX_BYTES = 128 };

struct stats {
	struct stats_series *all;
	struct stats_series *buckets[BUCKETS];
	size_t targets;			/* with the limit, those of the rest not counted */
	size_t spaces;
	uint64_t seed;
	int64_t full_until_ms;		/* there is no room before, whatever is looked at */
};

/* --- Finding --- */

static struct stats_series **bucket_of(struct stats *s, int64_t space, struct str agent)
{
	return &s->buckets[hash_bytes(agent.p ? agent.p : "", agent.n, s->seed ^ (uint64_t)space) % BUCKETS];
}

static bool is_of(const struct stats_series *series, int64_t space, struct str agent)
{
	return series->space == space && (series->agent.p == NULL) == (agent.p == NULL) && str_eq(series->agent, agent);
}

static struct stats_series *find(struct stats *s, int64_t space, struct str agent)
{
	struct stats_series *series = *bucket_of(s, space, agent);

	while (series && !is_of(series, space, agent))
		series = series->next;
	return series;
}

static struct stats_series *make(struct stats *s, int64_t space, struct str agent)
{
	struct stats_series **bucket = bucket_of(s, space, agent);
	struct stats_series *series = stats_series_new(space, agent);

	series->next = *bucket;
	*bucket = series;
	return series;
}

static bool is_rest(const struct stats_series *series)
{
	return series->space < 0 || (series->agent.p && str_is(series->agent, STATS_OTHER));
}

/* Series that nothing happened to for a day go. While there are none, looking for them again is put off to when there
 * may be one. */
static void make_room(struct stats *s, int64_t now_ms)
{
	int64_t oldest_ms = now_ms;

	if (now_ms < s->full_until_ms)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct stats_series **link = &s->buckets[i];

		while (*link) {
			struct stats_series *series = *link;

			if (series->last_ms > now_ms - STATS_DAY_MS) {
				oldest_ms = series->last_ms < oldest_ms ? series->last_ms : oldest_ms;
				link = &series->next;
				continue;
			}
			*link = series->next;
			if (!is_rest(series) && series->agent.p)
				s->targets--;
			else if (!is_rest(series))
				s->spaces--;
			stats_series_free(series);
		}
	}
	s->full_until_ms = oldest_ms + STATS_DAY_MS;
}

static struct stats_series *space_series(struct stats *s, int64_t space, int64_t now_ms)
{
	struct stats_series *series = find(s, space, STR_NULL);

	if (series)
		return series;
	if (s->spaces >= STATS_SPACES_MAX)
		make_room(s, now_ms);
	if (s->spaces >= STATS_SPACES_MAX) {
		series = find(s, -1, STR_NULL);
		return series ? series : make(s, -1, STR_NULL);
	}
	s->spaces++;
	return make(s, space, STR_NULL);
}

static struct stats_series *target_series(struct stats *s, int64_t space, struct str agent, int64_t now_ms)
{
	struct stats_series *series;

	if (agent.n > NAME_MAX_BYTES)
		agent = STR(STATS_OTHER);
	series = find(s, space, agent);
	if (series)
		return series;
	if (s->targets >= STATS_TARGETS_MAX)
		make_room(s, now_ms);
	if (s->targets < STATS_TARGETS_MAX && !str_is(agent, STATS_OTHER) && space > 0) {
		s->targets++;
		return make(s, space, agent);
	}
	series = find(s, space, STR(STATS_OTHER));
	return series ? series : make(s, space, STR(STATS_OTHER));
}

/* --- Counting --- */

bool stats_counts_kind(int kind)
{
	switch (kind) {
	case EVENT_QUEUED:
	case EVENT_ACKED:
	case EVENT_NACKED:
	case EVENT_COMPLETED:
	case EVENT_ACK_TIMEOUT:
	case EVENT_LEASE_LOST:
	case EVENT_WORK_LOST:
	case EVENT_EXPIRED:
	case EVENT_PARKED:
	case EVENT_ENVELOPE_PACKED:
		return true;
	default:
		return false;
	}
}

/* What an event adds. The values are described in event.h. */
static void measure(const struct event_row *event, struct stats_sample *ret)
{
	uint64_t waivers = 0;

	*ret = (struct stats_sample){.at_ms = event->at_ms};
	switch (event->kind) {
	case EVENT_QUEUED:
		/* Sent again by its sender: the next attempt of the same handoff. */
		ret->counts.handoffs = event->attempt <= 1;
		ret->counts.retries = event->attempt > 1;
		break;
	case EVENT_ACKED:
		ret->counts.acked = 1;
		ret->latency_ms = event->value[0] > 0 ? event->value[0] : 0;
		ret->latency_key = sketch_key(ret->latency_ms + 1);
		break;
	case EVENT_COMPLETED:
		ret->counts.completed = 1;
		break;
	case EVENT_LEASE_LOST:
	case EVENT_WORK_LOST:
		ret->counts.leases_lost = 1;
		/* fall through */
	case EVENT_NACKED:
	case EVENT_ACK_TIMEOUT:
	case EVENT_EXPIRED:
	case EVENT_PARKED:
		ret->counts.retries = event->value[0] > 0;
		ret->counts.failed = event->value[1] > 0;
		break;
	case EVENT_ENVELOPE_PACKED:
		if (event->note.p)
			str_to_u64(event->note, &waivers);
		ret->counts.packed = 1;
		ret->counts.waivers = waivers < 1000 ? (int64_t)waivers : 1000;
		ret->completeness = event->value[0];
		ret->utilization = event_utilization(event);
		ret->is_chosen = event->value[1] >= 0;
		ret->utilization_key = sketch_key(ret->utilization * 10000);
		ret->hop = event->attempt < 1 ? 1 : event->attempt > STATS_HOPS_MAX ? STATS_HOPS_MAX : event->attempt;
		break;
	}
}

void stats_add(struct stats *s, const struct event_row *event, bool is_history)
{
	struct stats_sample sample;
	struct stats_series *space;

	if (!stats_counts_kind(event->kind))
		return;
	measure(event, &sample);
	stats_series_add(s->all, &sample, is_history);
	space = space_series(s, event->space, event->at_ms);
	stats_series_add(space, &sample, is_history);
	if (event->agent.p)
		stats_series_add(target_series(s, space->space, event->agent, event->at_ms), &sample, is_history);
}

void stats_set_queued(struct stats *s, int64_t space, int64_t queued, int64_t now_ms)
{
	struct stats_series *series = space ? find(s, space, STR_NULL) : s->all;

	if (series)
		stats_series_set_queued(series, queued, now_ms);
}

/* --- The whole --- */

struct stats *stats_new(uint64_t seed)
{
	struct stats *s = mem_zalloc(sizeof(*s));

	s->seed = seed;
	s->all = stats_series_new(0, STR_NULL);
	return s;
}

void stats_free(struct stats *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (s->buckets[i]) {
			struct stats_series *series = s->buckets[i];

			s->buckets[i] = series->next;
			stats_series_free(series);
		}
	stats_series_free(s->all);
	free(s);
}

struct stats_series *stats_of_space(struct stats *s, int64_t space)
{
	return space ? find(s, space, STR_NULL) : s->all;
}

struct stats_series *stats_of_target(struct stats *s, int64_t space, struct str agent)
{
	return find(s, space, agent);
}

struct stats_series *stats_next(struct stats *s, size_t *iterator)
{
	/* The bucket above, the place in its chain below: chains are short. */
	size_t bucket = *iterator >> 16, place = *iterator & 0xffff;

	for (; bucket < BUCKETS; bucket++, place = 0) {
		struct stats_series *series = s->buckets[bucket];

		for (size_t i = 0; series && i < place; i++)
			series = series->next;
		if (series) {
			*iterator = bucket << 16 | (place + 1);
			return series;
		}
	}
	*iterator = (size_t)BUCKETS << 16;
	return NULL;
}
