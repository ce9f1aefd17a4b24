/* What retention does, and the settings of spaces, in the differential test. Events are not pruned: the time of one
 * that is gone is known in memory, and elsewhere not; so the last one before a time may be another. */
#include "differential.h"

#include "choices.h"
#include "show.h"

enum { ROWS = 5 };

/* As those who prune know: the space is there. */
static bool is_space(struct store_conn *c, int64_t space)
{
	struct space_row row;
	struct arena arena;
	bool is_there;

	arena_init(&arena);
	is_there = store_space_get(c, space, &arena, &row) == STORE_OK;
	arena_release(&arena);
	return is_there;
}

/* --- Changes --- */

/* Seldom: the number of an envelope that was pruned is not given again, and there are few. */
void differential_prune_envelope(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random), handoffs = -1;
	uint64_t num = some_num(random);
	bool is_wanted = random_chance(random, 150) && is_space(c, space);

	buf_puts(out, "prune_envelope ");
	if (is_wanted)
		show_status(out, store_envelope_prune(c, space, num, &handoffs));
	buf_printf(out, "%lld ", (long long)handoffs);
}

void differential_put_pruned(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct pruned_envelope envelope = {.num = some_num(random), .parent = random_below(random, 3),
					   .created_at_ms = some_time(random)};
	struct pruned_handoff handoff = {.num = some_num(random), .envelope = some_num(random),
					 .state = (enum handoff_state)random_below(random, HANDOFF_STATES),
					 .created_at_ms = some_time(random), .changed_at_ms = some_time(random)};
	int64_t space = some_space(random);

	memset(envelope.digest, (int)random_below(random, 256), sizeof(envelope.digest));
	buf_puts(out, "put_pruned ");
	if (!is_space(c, space))
		return;
	if (random_chance(random, 100))
		show_status(out, store_pruned_envelope_put(c, space, &envelope));
	else
		show_status(out, store_pruned_handoff_put(c, space, &handoff));
}

/* Of a memory that is forgotten, as the interface says. */
void differential_unname_events(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct event_filter f = {.space = some_space(random), .memory = some_num(random),
				 .kinds = random_chance(random, 500) ? random_next(random) : 0};
	int64_t back = (int64_t)random_below(random, 400), most = (int64_t)random_below(random, 400), last = 0;
	struct arena arena;
	struct memory m;

	arena_init(&arena);
	buf_puts(out, "unname_events ");
	store_event_last(c, f.space, &last);
	if (store_memory_get(c, f.space, f.memory, 0, &arena, &m) == STORE_OK && m.forgotten_at_ms)
		show_status(out, store_events_unname(c, &f, last - back, last - back + most));
	arena_release(&arena);
}

void differential_leave_result(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	uint64_t num = some_num(random);

	buf_puts(out, "leave_result ");
	if (random_chance(random, 600))
		show_status(out, store_result_leave(c, space, num));
	else
		show_status(out, store_memory_prune(c, space, num, some_time(random)));
}

void differential_set_space(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct space_keep keep = {some_time(random), some_time(random), some_time(random)};
	struct space_quota quota = {some_time(random), some_time(random), some_time(random), some_time(random),
				    some_time(random)};
	int64_t space = some_space(random);

	buf_puts(out, "set_space ");
	show_status(out, store_space_set_keep(c, space, &keep));
	show_status(out, store_space_set_quota(c, space, &quota));
	show_status(out, store_space_set_floor(c, space, (enum trust)random_below(random, 4)));
}

/* --- Questions --- */

void differential_pruned(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	uint64_t num = some_num(random);
	unsigned states = (unsigned)random_below(random, 1 << HANDOFF_STATES);
	struct pruned_envelope e = {0};
	struct pruned_handoff h = {0};
	bool ended = false;

	buf_puts(out, "\npruned ");
	show_status(out, store_pruned_envelope(c, space, num, &e));
	buf_printf(out, "%llu %llu %lld %d ", (unsigned long long)e.num, (unsigned long long)e.parent,
		   (long long)e.created_at_ms, e.digest[0]);
	show_status(out, store_pruned_handoff(c, space, num, &h));
	buf_printf(out, "%llu %llu %d %lld %lld ", (unsigned long long)h.num, (unsigned long long)h.envelope,
		   (int)h.state, (long long)h.created_at_ms, (long long)h.changed_at_ms);
	show_status(out, store_envelope_ended(c, space, num, states, some_time(random), &ended));
	buf_printf(out, "%d ", ended);
}

void differential_cited(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	uint64_t num = some_num(random), nums[ROWS], other = 0;
	size_t count = 0;

	buf_puts(out, "\ncited ");
	show_status(out, store_citations(c, space, num, random_below(random, ROWS + 1), nums, &count));
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%llu ", (unsigned long long)nums[i]);
	show_status(out, store_cited_by(c, space, num, random_below(random, 4), &other));
	buf_printf(out, "%llu ", (unsigned long long)other);
	show_status(out, store_result_left(c, space, num));
}

void differential_space_settings(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct space_row s = {0};
	struct arena arena;

	arena_init(&arena);
	buf_puts(out, "\nspace_settings ");
	show_status(out, store_space_get(c, some_space(random), &arena, &s));
	show_str(out, s.name);
	buf_printf(out, "%lld %lld %lld %d ", (long long)s.memories, (long long)s.bytes, (long long)s.agents,
		   (int)s.trust_floor);
	buf_printf(out, "%lld %lld %lld ", (long long)s.keep.events_ms, (long long)s.keep.handoffs_ms,
		   (long long)s.keep.idle_ms);
	buf_printf(out, "%lld %lld %lld %lld %lld ", (long long)s.quota.memories, (long long)s.quota.bytes,
		   (long long)s.quota.handoffs, (long long)s.quota.waiting, (long long)s.quota.agents);
	buf_printf(out, "%lld %lld %lld ", (long long)s.events_pruned, (long long)s.handoffs_pruned,
		   (long long)s.guard);
	arena_release(&arena);
}
