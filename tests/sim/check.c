/* The shadow: what was committed so far, and the comparison with what a step did. */
#include "check_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Life --- */

struct check *check_new(struct trace *trace, struct tally *tally)
{
	struct check *k = mem_zalloc(sizeof(*k));

	k->trace = trace;
	k->tally = tally;
	k->events = mem_calloc(CHECK_EVENTS, sizeof(*k->events));
	return k;
}

void check_free(struct check *k)
{
	for (size_t i = 0; i < CHECK_SPACES; i++) {
		for (size_t j = 0; j < k->spaces[i].slab_count; j++)
			free(k->spaces[i].slabs[j]);
		free(k->spaces[i].slabs);
		free(k->spaces[i].envelopes);
	}
	free(k->promises);
	free(k->events);
	free(k->log);
	free(k->log_is_pruned);
	free(k);
}

void check_look(struct check *k, struct store_conn *store)
{
	k->store = store;
}

void check_clear(struct check *k, struct store_conn *store, const struct cast *cast, const struct space_keep *keep)
{
	for (size_t i = 0; i < CHECK_SPACES; i++) {
		k->spaces[i].count = 0;
		if (k->spaces[i].envelope_cap)
			memset(k->spaces[i].envelopes, 0, k->spaces[i].envelope_cap * sizeof(struct shadow *));
	}
	memset(k->agents, 0, sizeof(k->agents));
	memset(k->memories, 0, sizeof(k->memories));
	k->remembered = 0;
	k->is_refused = false;
	for (size_t i = 0; i < CHECK_AGENTS; i++) {
		list_init(&k->agents[i].queued);
		list_init(&k->agents[i].held);
	}
	k->store = store;
	k->cast = cast;
	k->keep = *keep;
	k->log_count = 0;
	k->open = k->promise_count = k->events_end = 0;
	k->hash = 0;
}

size_t check_open(const struct check *k)
{
	return k->open;
}

uint64_t check_hash(const struct check *k)
{
	return k->hash;
}

/* --- The shadow --- */

struct shadow *check_shadow(const struct check *k, int64_t space, uint64_t num)
{
	const struct shadow_space *s = &k->spaces[space];

	return num >= 1 && num <= s->count ? &s->slabs[(num - 1) / CHECK_SLAB][(num - 1) % CHECK_SLAB] : NULL;
}

struct shadow *check_find(const struct check *k, int64_t space, uint64_t envelope, int64_t target)
{
	const struct shadow_space *space_ = &k->spaces[space];
	struct shadow *s = envelope < space_->envelope_cap ? space_->envelopes[envelope] : NULL;

	while (s && s->row.target != target)
		s = s->next_of_envelope;
	return s;
}

bool check_has(const struct check *k, const struct handoff_row *row, int64_t agent)
{
	const struct shadow_space *space = &k->spaces[row->space];
	const struct shadow *s = row->envelope < space->envelope_cap ? space->envelopes[row->envelope] : NULL;

	while (s && (s->row.num == row->num || (s->row.agent != agent && s->row.target != agent)))
		s = s->next_of_envelope;
	return s;
}

static struct shadow *new_shadow(struct check *k, int64_t space, uint64_t envelope)
{
	struct shadow_space *s = &k->spaces[space];
	struct shadow *made;

	if (s->count == s->slab_count * CHECK_SLAB) {
		s->slabs = mem_reallocarray(s->slabs, s->slab_count + 1, sizeof(*s->slabs));
		s->slabs[s->slab_count++] = mem_calloc(CHECK_SLAB, sizeof(struct shadow));
	}
	if (envelope >= s->envelope_cap) {
		size_t cap = 2 * (size_t)envelope + 256;

		s->envelopes = mem_reallocarray(s->envelopes, cap, sizeof(*s->envelopes));
		memset(s->envelopes + s->envelope_cap, 0, (cap - s->envelope_cap) * sizeof(*s->envelopes));
		s->envelope_cap = cap;
	}
	s->count++;
	made = check_shadow(k, space, s->count);
	*made = (struct shadow){.next_of_envelope = s->envelopes[envelope]};
	list_init(&made->queued);
	list_init(&made->held);
	s->envelopes[envelope] = made;
	return made;
}

int64_t check_agent_id(const struct check *k, int64_t space, struct str name)
{
	for (size_t i = 1; i <= ram_agent_count(k->store); i++)
		if (ram_agent_space(k->store, (int64_t)i) == space &&
		    str_eq(ram_agent_name(k->store, (int64_t)i), name))
			return (int64_t)i;
	return 0;
}

static bool is_out(enum handoff_state state)
{
	return state == HANDOFF_LEASED || state == HANDOFF_WORKING;
}

/* The shadow becomes what was committed. */
static void keep(struct check *k, struct shadow *s, const struct handoff_row *after)
{
	if (s->row.num) {
		k->open -= s->row.state <= HANDOFF_WORKING;
		k->agents[s->row.agent].busy -= is_out(s->row.state);
		list_remove(&s->queued);
		list_remove(&s->held);
	}
	s->row = *after;
	k->open += after->state <= HANDOFF_WORKING;
	k->agents[after->agent].busy += is_out(after->state);
	if (after->state == HANDOFF_QUEUED)
		list_add(&k->agents[after->agent].queued, &s->queued);
	if (is_out(after->state))
		list_add(&k->agents[after->agent].held, &s->held);
}

/* --- Comparing --- */

static bool same_text(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

bool check_same_row(const struct handoff_row *a, const struct handoff_row *b)
{
	return a->space == b->space && a->num == b->num && a->envelope == b->envelope && a->channel == b->channel &&
	       a->created_at_ms == b->created_at_ms && same_text(a->from, b->from) && a->target == b->target &&
	       a->agent == b->agent &&
	       a->state == b->state && a->priority == b->priority && a->attempt == b->attempt &&
	       a->max_attempts == b->max_attempts &&
	       a->leases == b->leases && a->due_ms == b->due_ms && a->expires_at_ms == b->expires_at_ms &&
	       a->ack_timeout_ms == b->ack_timeout_ms && a->lease_ms == b->lease_ms &&
	       a->changed_at_ms == b->changed_at_ms &&
	       a->acked_at_ms == b->acked_at_ms && a->is_exhausted == b->is_exhausted && a->is_told == b->is_told &&
	       a->is_retried == b->is_retried && a->place == b->place && a->not_before_ms == b->not_before_ms &&
	       a->queue_timeout_ms == b->queue_timeout_ms && a->queue_until_ms == b->queue_until_ms &&
	       a->passes == b->passes && a->is_outage == b->is_outage && a->is_redriven == b->is_redriven &&
	       a->is_touched == b->is_touched &&
	       same_text(a->receiver, b->receiver) && same_text(a->fallbacks, b->fallbacks) &&
	       same_text(a->reason, b->reason) &&
	       same_text(a->progress, b->progress);
}

/* The fallbacks that are left must be those of the order, without those that were passed over. */
static bool same_fallbacks(const struct json *names, uint32_t used, struct str text)
{
	char expected[1024];
	size_t len = 0;

	if (names == NULL || used >= names->count)
		return text.p == NULL;
	for (uint32_t i = used; i < names->count; i++)
		len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s\"%.*s\"", i == used ? "[" : ",",
					STR_ARG(names->items[i].s));
	len += (size_t)snprintf(expected + len, sizeof(expected) - len, "]");
	return str_eq(text, (struct str){expected, len});
}

static void compare(struct check *k, const struct want *w, const struct json *fallbacks,
		    const struct handoff_row *after)
{
	const struct handoff_row *row = &w->row;
	unsigned long long num = (unsigned long long)after->num;
	int64_t now = k->r->now_ms;

	CHECK(k, after->state == row->state, "ho-%llu is %d, not %d", num, after->state, row->state);
	CHECK(k, after->agent == row->agent, "ho-%llu is with agent %lld, not %lld", num, (long long)after->agent,
	      (long long)row->agent);
	CHECK(k, after->target == row->target, "ho-%llu is for %lld, not %lld", num, (long long)after->target,
	      (long long)row->target);
	CHECK(k, after->leases == row->leases, "ho-%llu has token %lld, not %lld", num, (long long)after->leases,
	      (long long)row->leases);
	CHECK(k, after->attempt == row->attempt && after->max_attempts == row->max_attempts,
	      "ho-%llu is at attempt %lld of %lld, not %lld of %lld",
	      num, (long long)after->attempt, (long long)after->max_attempts, (long long)row->attempt,
	      (long long)row->max_attempts);
	CHECK(k, (after->state <= HANDOFF_WORKING) == (after->due_ms > 0), "ho-%llu in state %d is due at %lld", num,
	      after->state,
	      (long long)after->due_ms);
	CHECK(k, after->due_ms >= row->due_ms && after->due_ms <= w->due_max_ms,
	      "ho-%llu is due at %lld, not from %lld to %lld", num,
	      (long long)after->due_ms, (long long)row->due_ms, (long long)w->due_max_ms);
	CHECK(k, after->expires_at_ms == row->expires_at_ms, "ho-%llu expires at %lld, not %lld", num,
	      (long long)after->expires_at_ms,
	      (long long)row->expires_at_ms);
	CHECK(k, after->is_exhausted == row->is_exhausted, "ho-%llu: exhausted is %d", num, after->is_exhausted);
	CHECK(k, after->is_retried == row->is_retried, "ho-%llu: retried is %d", num, after->is_retried);
	CHECK(k, after->place == row->place, "ho-%llu has place %llu, not %llu", num, (unsigned long long)after->place,
	      (unsigned long long)row->place);
	CHECK(k, after->queue_timeout_ms == row->queue_timeout_ms && after->not_before_ms == row->not_before_ms,
	      "ho-%llu may be queued for %lld, from %lld on", num, (long long)after->queue_timeout_ms,
	      (long long)after->not_before_ms);
	CHECK(k, after->queue_until_ms >= row->queue_until_ms && after->queue_until_ms <= w->queue_until_max_ms,
	      "ho-%llu is queued until %lld, not from %lld to %lld", num, (long long)after->queue_until_ms,
	      (long long)row->queue_until_ms, (long long)w->queue_until_max_ms);
	CHECK(k, after->passes == row->passes && after->is_outage == row->is_outage &&
	      after->is_redriven == row->is_redriven && after->is_touched == row->is_touched,
	      "ho-%llu: passes %d, outage %d, redriven %d, touched %d, not %d, %d, %d, %d", num, after->passes,
	      after->is_outage, after->is_redriven, after->is_touched, row->passes, row->is_outage, row->is_redriven,
	      row->is_touched);
	CHECK(k, after->priority == row->priority && after->ack_timeout_ms == row->ack_timeout_ms &&
	      after->lease_ms == row->lease_ms,
	      "ho-%llu has other settings than it was given", num);
	CHECK(k, after->space == row->space && after->envelope == row->envelope && after->channel == row->channel &&
	      after->created_at_ms == row->created_at_ms && same_text(after->from, row->from),
	      "ho-%llu changed what never changes", num);
	CHECK(k, (after->acked_at_ms != 0) == (row->acked_at_ms != 0) && after->acked_at_ms <= now,
	      "ho-%llu was acked at %lld", num,
	      (long long)after->acked_at_ms);
	CHECK(k, after->state != HANDOFF_PARKED || after->reason.n, "ho-%llu is parked without a reason", num);
	CHECK(k, same_fallbacks(fallbacks, w->fallbacks_used, after->fallbacks), "ho-%llu has the fallbacks %.*s", num,
	      STR_ARG(after->fallbacks));
}

/* What its sender was told of stays as it is otherwise. */
void check_notices(struct check *k)
{
	while (k->changes_used < k->r->change_count) {
		const struct ram_change *change = &k->r->changes[k->changes_used++];
		struct handoff_row told = change->before;
		struct shadow *s = check_shadow(k, told.space, told.num);

		told.is_told = true;
		CHECK(k, s && check_same_row(&change->before, &s->row) && check_same_row(&told, &change->after) &&
		      told.state == HANDOFF_PARKED && str_eq(told.from, k->r->step.sender),
		      "ho-%llu was changed, and it is no notice", (unsigned long long)change->after.num);
		keep(k, s, &change->after);
		k->tally->notices++;
	}
}

struct want check_want(struct shadow *s, enum handoff_verb verb)
{
	return (struct want){.s = s, .row = s->row, .due_max_ms = s->row.due_ms, .fallbacks = s->fallbacks,
			     .queue_until_max_ms = s->row.queue_until_ms, .fallbacks_used = s->fallbacks_used,
			     .is_live = s->is_live, .verb = verb};
}

static const struct ram_change *next_change(struct check *k)
{
	CHECK(k, k->changes_used < k->r->change_count, "a change did not happen");
	return &k->r->changes[k->changes_used++];
}

void check_apply(struct check *k, struct want *w)
{
	const struct ram_change *change = next_change(k);
	enum handoff_state from = w->s->row.state, to = change->after.state;

	CHECK(k, change->before.num, "a handoff was made instead of changed");
	CHECK(k, change->before.space == w->s->row.space && change->before.num == w->s->row.num,
	      "ho-%llu was changed instead of ho-%llu",
	      (unsigned long long)change->before.num, (unsigned long long)w->s->row.num);
	CHECK(k, check_same_row(&change->before, &w->s->row), "ho-%llu was not as it was committed",
	      (unsigned long long)change->before.num);
	compare(k, w, w->s->fallbacks, &change->after);
	CHECK(k, from == to || tally_is_possible(w->verb, from, to), "ho-%llu went from %d to %d",
	      (unsigned long long)change->after.num, from, to);
	if (w->verb != HANDOFF_VERBS)
		k->tally->moves[w->verb][from][to]++;
	w->s->fallbacks_used = w->fallbacks_used;
	w->s->is_live = w->is_live;
	keep(k, w->s, &change->after);
}

void check_apply_new(struct check *k, struct want *w, const struct json *fallbacks)
{
	const struct ram_change *change = next_change(k);

	CHECK(k, change->before.num == 0, "a handoff was changed instead of made");
	CHECK(k, change->after.num == k->spaces[w->row.space].count + 1, "ho-%llu is not the next number",
	      (unsigned long long)change->after.num);
	CHECK(k, check_find(k, w->row.space, w->row.envelope, w->row.target) == NULL,
	      "env-%llu was handed to %lld twice",
	      (unsigned long long)w->row.envelope, (long long)w->row.target);
	compare(k, w, fallbacks, &change->after);
	w->s = new_shadow(k, w->row.space, w->row.envelope);
	w->s->fallbacks = fallbacks;
	w->s->fallbacks_used = w->fallbacks_used;
	w->row.num = change->after.num;
	keep(k, w->s, &change->after);
}

void check_expect_event(struct check *k, const struct want *w, enum event_kind kind)
{
	CHECK(k, k->event_count < CHECK_EVENTS, "too many events in a step");
	k->events[k->event_count++] = (struct expected_event){.kind = kind, .space = w->row.space,
							      .num = w->s ? w->s->row.num : w->row.num};
	if (w->s)
		w->s->last_event = kind;
}

/* --- A step --- */

/* A result becomes a memory once, in the step that completes its handoff. Its number may have been promised before, to
 * the envelope that hands the work on. */
static void compare_memory(struct check *k, const struct event_row *e)
{
	k->memories[e->space]++;
	CHECK(k, k->remembered, "ms-%llu was made, and nobody asked for it",
	      (unsigned long long)e->memory);
	CHECK(k, ram_result_memory(k->store, e->space, k->remembered) == e->memory,
	      "the result of ho-%llu does not name ms-%llu", (unsigned long long)k->remembered,
	      (unsigned long long)e->memory);
	k->tally->events[e->kind]++;
	check_shadow(k, e->space, k->remembered)->memory = e->memory;
	k->remembered = 0;
}

/* What is told of an operation itself stands between the steps. */
static void pass_events(struct check *k, size_t until)
{
	for (; k->events_end < until; k->events_end++) {
		int kind = k->log[k->events_end].kind;

		CHECK(k, kind == EVENT_ENVELOPE_PACKED || kind == EVENT_CHANNEL_PUBLISHED || kind == EVENT_SPACE_PRUNED,
		      "%s was told between steps", event_name(kind));
		k->tally->events[kind]++;
	}
	CHECK(k, k->events_end == until, "events were lost between steps");
}

/* Each event was expected, and those of one handoff or breaker came in their order. */
static void compare_events(struct check *k)
{
	size_t first = 0;

	pass_events(k, k->r->events_from);
	for (size_t i = k->r->events_from; i < k->r->events_to; i++) {
		const struct event_row *e = &k->log[i];
		size_t j = first;

		if (e->kind == EVENT_SPACE_PRUNED) {
			k->tally->events[e->kind]++;
			continue;
		}
		if (e->kind == EVENT_MEMORY_STORED) {
			compare_memory(k, e);
			continue;
		}
		if (e->kind == EVENT_ENVELOPE_REFUSED) {
			CHECK(k, k->is_refused, "an envelope was told to be refused that was not");
			k->is_refused = false;
			k->tally->events[e->kind]++;
			continue;
		}
		while (j < k->event_count && (k->events[j].is_matched || k->events[j].num != e->handoff ||
					      k->events[j].space != e->space ||
					      (e->handoff == 0 && !str_eq(ram_agent_name(k->store,
					      k->events[j].agent), e->agent))))
			j++;
		CHECK(k, j < k->event_count && k->events[j].kind == e->kind, "%s was told of ho-%llu, not %s",
		      event_name(e->kind),
		      (unsigned long long)e->handoff, j < k->event_count ? event_name(k->events[j].kind) : "nothing");
		k->events[j].is_matched = true;
		while (first < k->event_count && k->events[first].is_matched)
			first++;
		k->tally->events[e->kind]++;
	}
	CHECK(k, first == k->event_count, "%s was not told of ho-%llu", event_name(k->events[first].kind),
	      (unsigned long long)k->events[first].num);
	CHECK(k, !k->is_refused, "an envelope was refused, and nobody was told");
	CHECK(k, k->remembered == 0, "the result of ho-%llu was not remembered", (unsigned long long)k->remembered);
	k->events_end = k->r->events_to;
}

static void compare_target(struct check *k, int64_t agent, const struct target_row *is)
{
	const struct target_row *want = &k->agents[agent].target;

	CHECK(k, is->failures == want->failures && is->open_until_ms == want->open_until_ms && is->probe == want->probe,
	      "the breaker of agent %lld is (%lld failures, open until %lld, probe %llu), not (%lld, %lld, %llu)",
	      (long long)agent,
	      (long long)is->failures, (long long)is->open_until_ms, (unsigned long long)is->probe,
	      (long long)want->failures,
	      (long long)want->open_until_ms, (unsigned long long)want->probe);
	CHECK(k, is->failing_since_ms == want->failing_since_ms && is->has_opened == want->has_opened &&
	      is->redrive_from_ms == want->redrive_from_ms && is->redrive_to_ms == want->redrive_to_ms &&
	      is->due_ms == want->due_ms,
	      "agent %lld fails since %lld (%d), redrives %lld to %lld, is due %lld; not %lld (%d), %lld to %lld, %lld",
	      (long long)agent, (long long)is->failing_since_ms, is->has_opened, (long long)is->redrive_from_ms,
	      (long long)is->redrive_to_ms, (long long)is->due_ms, (long long)want->failing_since_ms,
	      want->has_opened, (long long)want->redrive_from_ms, (long long)want->redrive_to_ms,
	      (long long)want->due_ms);
	CHECK(k, is->seen_at_ms <= want->seen_at_ms && is->seen_at_ms > want->seen_at_ms - DELIVERY_SEEN_EVERY_MS,
	      "agent %lld was seen at %lld, not %lld", (long long)agent, (long long)is->seen_at_ms,
	      (long long)want->seen_at_ms);
}

/* What the step wrote must be as the model has it, and what the model changed must have been written. */
static void compare_targets(struct check *k)
{
	for (size_t i = 0; i < k->r->target_count; i++) {
		compare_target(k, k->r->targets[i].agent, &k->r->targets[i].row);
		k->agents[k->r->targets[i].agent].is_touched = false;
	}
	for (size_t i = 0; i < k->touched_count; i++) {
		CHECK(k, !k->agents[k->touched[i]].is_touched, "the breaker of agent %lld was not written",
		      (long long)k->touched[i]);
		k->agents[k->touched[i]].is_touched = false;
	}
}

static void add_to_hash(struct check *k)
{
	const struct record *r = k->r;
	uint64_t words[8] = {(uint64_t)r->now_ms, r->step.kind, r->step.code, r->step.num, r->change_count,
			     r->events_to};

	k->hash = hash_bytes(words, sizeof(words), k->hash);
	for (size_t i = 0; i < r->change_count; i++) {
		const struct handoff_row *h = &r->changes[i].after;
		uint64_t row[8] = {(uint64_t)h->space, h->num, h->state, (uint64_t)h->agent, (uint64_t)h->attempt,
				   (uint64_t)h->leases,
				   (uint64_t)h->due_ms, (uint64_t)h->expires_at_ms};

		k->hash = hash_bytes(row, sizeof(row), k->hash);
	}
}

void check_step(struct check *k, const struct record *r)
{
	k->r = r;
	k->changes_used = k->event_count = k->touched_count = 0;
	trace_step(k->trace, r);
	CHECK(k, r->untold == 0, "ho-%llu was written, and nobody told", (unsigned long long)r->untold);
	steps_check(k);
	CHECK(k, k->changes_used == r->change_count, "ho-%llu was changed, too",
	      (unsigned long long)r->changes[k->changes_used].after.num);
	compare_events(k);
	compare_targets(k);
	add_to_hash(k);
	k->tally->steps++;
	k->tally->codes[r->step.kind][r->step.code]++;
}

void check_whole(struct check *k)
{
	for (int64_t space = 1; space < CHECK_SPACES; space++) {
		CHECK(k, ram_handoff_count(k->store, space) == k->spaces[space].count,
		      "space %lld has %llu handoffs, not %zu",
		      (long long)space, (unsigned long long)ram_handoff_count(k->store, space),
		      k->spaces[space].count);
		for (uint64_t num = 1; num <= k->spaces[space].count; num++)
			prune_check_row(k, check_shadow(k, space, num));
	}
	for (int64_t space = 1; space < CHECK_SPACES; space++)
		CHECK(k, ram_memory_count(k->store, space) == k->memories[space],
		      "space %lld has %llu memories, not %llu", (long long)space,
		      (unsigned long long)ram_memory_count(k->store, space),
		      (unsigned long long)k->memories[space]);
	pass_events(k, ram_event_total(k->store));
	CHECK(k, ram_event_total(k->store) == k->events_end, "there are %zu events, not %zu",
	      ram_event_total(k->store), k->events_end);
	prune_check_log(k);
}

void check_end(struct check *k)
{
	check_whole(k);
	for (int64_t space = 1; space < CHECK_SPACES; space++) {
		for (uint64_t num = 1; num <= k->spaces[space].count; num++) {
			const struct handoff_row *h = &check_shadow(k, space, num)->row;

			CHECK(k, h->state > HANDOFF_WORKING, "ho-%llu of space %lld is still in state %d",
			      (unsigned long long)num,
			      (long long)space, h->state);
			k->tally->ended[h->state]++;
			k->tally->handoffs++;
		}
	}
	history_check(k);
}
