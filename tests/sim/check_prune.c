/* Retention: what may go, and what must stay. Written from the protocol: what is open or parked never goes, nor
 * anything before its time; an envelope goes with all of its handoffs, and the memories of their results go with them;
 * their numbers, the digest, the parent and the times stay; events go, but for those of what is not over. */
#include "check_internal.h"

#include "base/mem.h"

static bool is_over(enum handoff_state state)
{
	return state == HANDOFF_ACKED || state == HANDOFF_COMPLETED || state == HANDOFF_EXPIRED ||
	       state == HANDOFF_DISCARDED;
}

static struct shadow *first_of(const struct check *k, int64_t space, uint64_t envelope)
{
	return envelope < k->spaces[space].envelope_cap ? k->spaces[space].envelopes[envelope] : NULL;
}

bool prune_has_envelope(const struct check *k, int64_t space, uint64_t envelope)
{
	const struct shadow *s = first_of(k, space, envelope);

	return s && s->is_pruned;
}

bool prune_is_gone(struct check *k, const struct shadow *s)
{
	if (s && s->is_pruned)
		steps_expect_code(k, P_HANDOFF_PRUNED);
	return s && s->is_pruned;
}

bool prune_has_last_event(const struct check *k, const struct shadow *s)
{
	for (size_t i = k->log_count; i > 0; i--)
		if (k->log[i - 1].space == s->row.space && k->log[i - 1].handoff == s->row.num)
			return !k->log_is_pruned[i - 1];
	return false;
}

/* --- The log --- */

/* Its number is the next of its space, whatever happened in others. */
static void check_number(struct check *k, const struct event_row *e)
{
	size_t i = k->log_count;

	while (i > 0 && k->log[i - 1].space != e->space)
		i--;
	CHECK(k, i == 0 || k->log[i - 1].number + 1 == e->number, "event %zu of space %lld has the number %lld",
	      k->log_count + 1, (long long)e->space, (long long)e->number);
}

void check_log(struct check *k)
{
	size_t total = ram_event_total(k->store);

	if (total > k->log_cap) {
		k->log_cap = 2 * total + 1024;
		k->log = mem_reallocarray(k->log, k->log_cap, sizeof(*k->log));
		k->log_is_pruned = mem_reallocarray(k->log_is_pruned, k->log_cap, sizeof(*k->log_is_pruned));
	}
	for (; k->log_count < total; k->log_count++) {
		check_number(k, ram_event(k->store, k->log_count));
		k->log[k->log_count] = *ram_event(k->store, k->log_count);
		k->log_is_pruned[k->log_count] = false;
	}
}

void prune_check_log(struct check *k)
{
	for (size_t i = 0; i < k->log_count; i++)
		CHECK(k, (ram_event(k->store, i)->id == 0) == k->log_is_pruned[i], "event %zu is %s", i + 1,
		      k->log_is_pruned[i] ? "there again" : "gone");
}

/* --- What goes --- */

static void prune_event(struct check *k, int64_t space, uint64_t id, int64_t now_ms)
{
	const struct event_row *e = &k->log[id - 1];
	const struct shadow *s = e->handoff ? check_shadow(k, space, e->handoff) : NULL;

	CHECK(k, e->space == space && !k->log_is_pruned[id - 1], "event %llu was pruned, and is not there",
	      (unsigned long long)id);
	CHECK(k, k->keep.events_ms && e->at_ms < now_ms - k->keep.events_ms, "event %llu was pruned before its time",
	      (unsigned long long)id);
	CHECK(k, s == NULL || is_over(s->row.state), "event %llu of ho-%llu was pruned, which is in state %d",
	      (unsigned long long)id, (unsigned long long)e->handoff, s->row.state);
	k->log_is_pruned[id - 1] = true;
	k->tally->pruned[1]++;
}

/* The memories of its results are to go next. */
static size_t prune_envelope(struct check *k, int64_t space, uint64_t envelope, int64_t now_ms)
{
	size_t memories = 0;

	CHECK(k, first_of(k, space, envelope), "env-%llu was pruned, and was never sent", (unsigned long long)envelope);
	for (struct shadow *s = first_of(k, space, envelope); s; s = s->next_of_envelope) {
		CHECK(k, is_over(s->row.state), "ho-%llu was pruned in state %d", (unsigned long long)s->row.num,
		      s->row.state);
		CHECK(k, k->keep.handoffs_ms && s->row.changed_at_ms < now_ms - k->keep.handoffs_ms,
		      "ho-%llu was pruned before its time", (unsigned long long)s->row.num);
		CHECK(k, !s->is_pruned, "ho-%llu was pruned twice", (unsigned long long)s->row.num);
		s->is_pruned = true;
		memories += s->memory != 0;
		k->tally->pruned[0]++;
	}
	return memories;
}

void check_prune(struct check *k, const struct check_pruned *list, size_t count, int64_t now_ms)
{
	size_t memories = 0;

	for (size_t i = 0; i < count; i++)
		switch (list[i].kind) {
		case PRUNED_EVENT:
			prune_event(k, list[i].space, list[i].num, now_ms);
			break;
		case PRUNED_ENVELOPE:
			memories += prune_envelope(k, list[i].space, list[i].num, now_ms);
			break;
		case PRUNED_MEMORY:
			CHECK(k, memories-- > 0, "ms-%llu was pruned, and its handoff was not",
			      (unsigned long long)list[i].num);
			k->memories[list[i].space]--;
			break;
		}
	CHECK(k, memories == 0, "%zu results outlived their handoffs", memories);
}

/* --- What stays --- */

static void check_left(struct check *k, const struct shadow *s)
{
	const struct handoff_row *row = &s->row;
	unsigned long long num = (unsigned long long)row->num;
	struct pruned_envelope envelope;
	struct pruned_handoff left;

	CHECK(k, ram_handoff(k->store, row->space, row->num) == NULL, "ho-%llu was pruned, and is there", num);
	CHECK(k, store_pruned_handoff(k->store, row->space, row->num, &left) == STORE_OK &&
	      left.envelope == row->envelope && left.state == row->state && left.created_at_ms == row->created_at_ms &&
	      left.changed_at_ms == row->changed_at_ms, "what is left of ho-%llu is not what it was", num);
	CHECK(k, store_pruned_envelope(k->store, row->space, row->envelope, &envelope) == STORE_OK &&
	      envelope.num == row->envelope, "nothing is left of env-%llu", (unsigned long long)row->envelope);
}

void prune_check_row(struct check *k, struct shadow *s)
{
	const struct handoff_row *row = &s->row;
	const struct handoff_row *is = ram_handoff(k->store, row->space, row->num);

	if (s->is_pruned)
		check_left(k, s);
	else
		CHECK(k, is && check_same_row(is, row), "ho-%llu is not what was committed",
		      (unsigned long long)row->num);
}

void check_old(struct check *k)
{
	for (int64_t space = 1; space < CHECK_SPACES && k->keep.handoffs_ms; space++)
		for (uint64_t num = 1; num <= k->spaces[space].count; num++) {
			struct shadow *one = check_shadow(k, space, num), *s = first_of(k, space, one->row.envelope);

			while (s && is_over(s->row.state))
				s = s->next_of_envelope;
			CHECK(k, one->is_pruned == (s == NULL), "ho-%llu is %s", (unsigned long long)num,
			      s ? "gone, and something of its envelope is not over" : "old, and there");
		}
	for (size_t i = 0; i < k->log_count && k->keep.events_ms; i++) {
		const struct event_row *e = &k->log[i];
		const struct shadow *s = e->handoff ? check_shadow(k, e->space, e->handoff) : NULL;

		/* What the sweeps tell is newer. */
		CHECK(k, k->log_is_pruned[i] || e->kind == EVENT_SPACE_PRUNED || (s && !is_over(s->row.state)),
		      "event %zu is old, and there", i + 1);
	}
	check_whole(k);
}
