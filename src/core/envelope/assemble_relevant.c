/* What goes along because it is relevant to the work, and how relevant everything else is.
 *
 * Who asks for more must not get less: the memories of a larger include_recent are those of a smaller one and more. A
 * search for more looks at more and may rank the first ones otherwise, by a place or two. So there are searches of
 * fixed sizes; those of the smaller ones come first, and the larger ones add to them.
 */
#include "core/envelope/assemble_internal.h"

#include <math.h>

/* How many a search is for: most handoffs take the first size alone. */
static const size_t search_sizes[] = {20, 60, 180, PACK_RECENT_MAX};

/* Of what was passed over so many are recorded. Each search finds a few more than could be taken: who asks why
 * something is not there wants to know what came next. */
enum { PASSED_MAX = 32, BEYOND_MAX = 8 };

/* How many bytes the id of a memory at `at` has; 0 where none stands there. */
static size_t id_at(struct str text, size_t at)
{
	size_t end = at + 3;

	if (at > 0 && !strchr(" \t\r\n(,;.-[\"'", text.p[at - 1]))
		return 0;
	if (end >= text.n || !str_ieq(str_sub(text, at, end), STR("ms-")))
		return 0;
	while (end < text.n && ((text.p[end] >= '0' && text.p[end] <= '9') || text.p[end] == '@'))
		end++;
	return end > at + 3 ? end - at : 0;
}

/* The text without ids of memories: those are cited, and say nothing about what others are about. Their hyphens are
 * looked for, as texts have few. */
static struct str without_ids(struct arena *arena, struct str text)
{
	char *p = arena_alloc(arena, text.n + 1);
	size_t at = 0, from = 0, n = 0;
	const char *hyphen;

	while (at < text.n && (hyphen = memchr(text.p + at, '-', text.n - at))) {
		size_t begins = (size_t)(hyphen - text.p) - 2, id = hyphen - text.p >= 2 ? id_at(text, begins) : 0;

		at = (size_t)(hyphen - text.p) + 1;
		if (id == 0)
			continue;
		memcpy(p + n, text.p + from, begins - from);
		n += begins - from;
		p[n++] = ' ';
		at = from = begins + id;
	}
	memcpy(p + n, text.p + from, text.n - from);
	return (struct str){p, n + text.n - from};
}

/* Of a long text the beginning and the end: what is to be done stands in one of them. */
static struct str query_text(struct arena *arena, struct str text)
{
	enum { HALF = PACK_QUERY_MAX / 2 };
	char *p;

	if (text.n <= PACK_QUERY_MAX)
		return without_ids(arena, text);
	p = arena_alloc(arena, 2 * HALF + 1);
	memcpy(p, text.p, HALF);
	p[HALF] = ' ';
	memcpy(p + HALF + 1, text.p + text.n - HALF, HALF);
	return without_ids(arena, (struct str){p, 2 * HALF + 1});
}

/* The summary finds; what the user asked for helps. Memories of this task and those without one, unless the sender
 * wants those of the whole space. */
static struct recall_query make_query(const struct assemble_tools *t, const struct assemble_input *in,
				      const struct envelope *e)
{
	struct recall_filter *tasks = arena_calloc(t->arena, 2, sizeof(*tasks));
	struct recall_query q = {
		.text = query_text(t->arena, in->draft->summary),
		.max_postings = HANDOFF_QUERY_POSTINGS,
		.now_ms = in->now_ms,
	};

	if (e->intent.p && !str_eq(e->intent, in->draft->summary))
		q.more = query_text(t->arena, e->intent);
	if (in->draft->whole_space)
		return q;
	tasks[0] = (struct recall_filter){RECALL_TASK, STR_NULL, e->task};
	tasks[1] = (struct recall_filter){RECALL_TASK, STR_NULL, STR(RECALL_NO_TASK)};
	q.filters = tasks;
	q.filter_count = 2;
	q.is_of_tasks = true;
	return q;
}

static void pass_over(struct envelope *e, const struct recall_hit *hit, enum envelope_passed_why why)
{
	if (e->passed_count < PASSED_MAX)
		e->passed[e->passed_count++] = (struct envelope_passed){hit->num, hit->relevance, why};
}

static bool was_passed_over(const struct envelope *e, uint64_t num)
{
	for (size_t i = 0; i < e->passed_count; i++)
		if (e->passed[i].num == num)
			return true;
	return false;
}

/* In thousandths, as both are told: nothing is called less relevant than what it equals. */
static bool is_below_floor(double relevance)
{
	return round(relevance * 1000) < round(HANDOFF_RELEVANCE_MIN * 1000);
}

/* Takes what one search finds, up to `size` of what was wanted with those before. `before`: what was there before the
 * first search. Returns false where there is nothing more to find. */
static bool take(const struct assemble_tools *t, const struct assemble_input *in, struct recall_query *q, size_t size,
		 size_t want, size_t before, struct envelope *e, struct collection *c)
{
	/* Some of what was named is found again: it takes no place of others. */
	size_t places = size + (before < size / 2 ? before : size / 2);
	size_t found, most = want < size ? want : size;
	struct recall_hit *hits;

	q->limit = places + BEYOND_MAX < RECALL_LIMIT_MAX ? places + BEYOND_MAX : RECALL_LIMIT_MAX;
	/* Neighbours are looked at for as many as a search for `size` would; those come from a list half as long
	 * again. */
	q->first_limit = size;
	q->shortlist = 5 * size < RECALL_LIMIT_MAX ? 5 * size : RECALL_LIMIT_MAX;
	hits = arena_alloc(t->arena, q->limit * sizeof(*hits));
	if (!recall_search(t->recall, t->scratch, in->space, q, t->arena, hits, &found))
		return false;
	for (size_t i = 0; i < found; i++) {
		size_t at = c->ids.count;

		if (mention_has(&c->ids, (struct memory_id){hits[i].num, 0}) || was_passed_over(e, hits[i].num))
			continue;
		if (is_below_floor(hits[i].relevance)) {
			pass_over(e, &hits[i], PASSED_NOT_RELEVANT);
		} else if (i < places && at - before < most) {
			mention_add(&c->ids, (struct memory_id){hits[i].num, 0}, c->arena);
			collection_note(c, at, WHY_RELEVANT);
			c->known[at].relevance = hits[i].relevance;
		} else if (most == want) {
			pass_over(e, &hits[i], PASSED_NOT_ASKED_FOR);
		}
	}
	return found >= places;
}

/* How relevant the first ones are, which were there before, and whether each only repeats one before it. */
static void rate(const struct assemble_tools *t, const struct assemble_input *in, const struct recall_query *q,
		 size_t before, struct collection *c)
{
	uint64_t *nums = arena_calloc(t->arena, c->ids.count, sizeof(*nums));
	uint64_t *repeats = arena_calloc(t->arena, c->ids.count, sizeof(*repeats));
	double *relevance = arena_calloc(t->arena, c->ids.count, sizeof(*relevance));
	size_t first = 0;

	for (size_t i = 0; i < c->ids.count; i++)
		nums[i] = c->ids.ids[i].num;
	if (before)
		recall_rate(t->recall, t->scratch, in->space, q, t->arena, nums, before, relevance);
	while (first < c->ids.count && c->known[first].why != WHY_RELEVANT)
		first++;
	if (first < c->ids.count)
		recall_repeats(t->recall, in->space, nums, c->ids.count, first, repeats);
	for (size_t i = 0; i < c->ids.count; i++) {
		c->known[i].relevance = i < before ? relevance[i] : c->known[i].relevance;
		c->known[i].repeats = repeats[i];
	}
}

void assemble_relevant(const struct assemble_tools *t, const struct assemble_input *in, struct envelope *e,
		       struct collection *c)
{
	size_t before = c->ids.count, room = MENTION_MAX - before, want = (size_t)in->draft->include_recent;
	struct recall_query q;

	e->passed = arena_calloc(t->arena, PASSED_MAX, sizeof(*e->passed));
	if (in->space == 0)
		return;
	e->highest = recall_highest(t->recall, in->space);
	if (want == 0 && before == 0)
		return;
	q = make_query(t, in, e);
	/* Nobody has asked for these by name: where what was named takes all the room, they stay behind. */
	if (want > room)
		want = room;
	for (size_t i = 0; want > (i ? search_sizes[i - 1] : 0); i++)
		if (!take(t, in, &q, search_sizes[i], want, before, e, c))
			break;
	rate(t, in, &q, before, c);
}
