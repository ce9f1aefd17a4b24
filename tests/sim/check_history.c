/* The second opinion, which knows neither the model nor the rows on the way: the events of the whole run are played
 * again, and must lead to the states that are there; and every answer that got out must have its event, so that it
 * stayed true over every crash. */
#include "check_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

void check_promise(struct check *k, const struct step *s)
{
	static const int settled_as[HANDOFF_VERBS] = {
		[VERB_ACK] = EVENT_ACKED, [VERB_NACK] = EVENT_NACKED, [VERB_REJECT] = EVENT_REJECTED,
				[VERB_RELEASE] = EVENT_RELEASED,
				[VERB_COMPLETE] = EVENT_COMPLETED,
	};
	struct promise p = {.space = s->space, .num = s->row.num, .lease = s->row.leases};

	if (s->code == P_OK && s->kind == STEP_TAKE && s->item)
		check_promise(k, s->item);
	if (s->code == P_OK && s->kind == STEP_SETTLE && s->next.num)
		check_promise(k, &(struct step){.kind = STEP_SEND, .space = s->space, .row = s->next});
	if (s->code != P_OK || s->row.num == 0)
		return;
	if (s->kind == STEP_SETTLE)
		p.kind = settled_as[s->answer.verb];
	else if (s->kind == STEP_TAKE)
		p.kind = EVENT_TAKEN;
	else if (s->kind == STEP_REDRIVE)
		p.kind = s->agent.p ? EVENT_REROUTED : EVENT_REDRIVEN;
	else if (s->kind == STEP_DISCARD)
		p.kind = EVENT_DISCARDED;
	else if (s->kind == STEP_CANCEL || s->kind == STEP_MOVE)
		p.kind = s->kind == STEP_CANCEL ? EVENT_CANCELLED : EVENT_MOVED;
	else if (s->kind == STEP_RESTORE)
		p.kind = EVENT_RESTORED;
	else if (s->kind == STEP_GET || s->kind == STEP_LOOK)
		return;
	if (k->promise_count == k->promise_cap) {
		k->promise_cap = 2 * k->promise_cap + 1024;
		k->promises = mem_reallocarray(k->promises, k->promise_cap, sizeof(*k->promises));
	}
	k->promises[k->promise_count++] = p;
}

/* --- Playing the events --- */

struct played {
	enum handoff_state state;		/* by its name on the wire: DELAYED is QUEUED, WORKING is ACKED */
	int64_t leases;
	struct str agent;
};

/* What an event makes of a handoff; -1: it cannot happen to it. */
static int state_after(int kind, const struct played *p, bool is_new)
{
	enum handoff_state s = p->state;
	bool held = s == HANDOFF_LEASED || s == HANDOFF_ACKED;

	switch (kind) {
	case EVENT_QUEUED:
		return is_new || s == HANDOFF_EXPIRED ? HANDOFF_QUEUED : -1;
	case EVENT_TAKEN:
		return s == HANDOFF_QUEUED ? HANDOFF_LEASED : -1;
	case EVENT_LEASE_LOST:
		return s == HANDOFF_LEASED ? HANDOFF_QUEUED : -1;
	case EVENT_ACKED:
		return s == HANDOFF_LEASED ? HANDOFF_ACKED : -1;
	case EVENT_NACKED:
	case EVENT_RELEASED:
	case EVENT_REJECTED:
		return held ? HANDOFF_QUEUED : -1;
	case EVENT_PROGRESS:
		return held ? (int)s : -1;
	case EVENT_COMPLETED:
		return s == HANDOFF_ACKED ? HANDOFF_COMPLETED : -1;
	case EVENT_ACK_TIMEOUT:
	case EVENT_FALLBACK:
	case EVENT_MOVED:
	case EVENT_RESCHEDULED:
		return s == HANDOFF_QUEUED ? HANDOFF_QUEUED : -1;
	case EVENT_WORK_LOST:
		return s == HANDOFF_ACKED ? HANDOFF_QUEUED : -1;
	case EVENT_EXPIRED:
		return s == HANDOFF_QUEUED || s == HANDOFF_LEASED ? HANDOFF_EXPIRED : -1;
	case EVENT_PARKED:
		return is_new || held || s == HANDOFF_QUEUED || s == HANDOFF_EXPIRED ? HANDOFF_PARKED : -1;
	case EVENT_REDRIVEN:
	case EVENT_REROUTED:
		return s == HANDOFF_PARKED ? HANDOFF_QUEUED : -1;
	case EVENT_CANCELLED:
		return s == HANDOFF_QUEUED ? HANDOFF_DISCARDED : -1;
	case EVENT_RESTORED:
		return s == HANDOFF_QUEUED || s == HANDOFF_DISCARDED ? HANDOFF_PARKED : -1;
	case EVENT_SHRUNK:
	case EVENT_DISCARDED:
		return s == HANDOFF_PARKED ? HANDOFF_DISCARDED : -1;
	default:
		return -1;
	}
}

static enum handoff_state on_the_wire(enum handoff_state state)
{
	return state == HANDOFF_DELAYED ? HANDOFF_QUEUED : state == HANDOFF_WORKING ? HANDOFF_ACKED : state;
}

/* --- What happened under which token --- */

struct happened {
	uint64_t *keys;				/* 0: free */
	size_t mask;
};

static uint64_t key_of(int64_t space, uint64_t num, int64_t lease, int kind)
{
	uint64_t words[4] = {(uint64_t)space, num, (uint64_t)lease, (uint64_t)kind};

	return hash_bytes(words, sizeof(words), 1) | 1;
}

static size_t find_key(const struct happened *h, uint64_t key)
{
	size_t at = (key >> 8) & h->mask;

	while (h->keys[at] && h->keys[at] != key)
		at = (at + 1) & h->mask;
	return at;
}

static void play(struct check *k, struct played *played[CHECK_SPACES], struct happened *h)
{
	int64_t last_ms = 0;

	for (size_t i = 0; i < ram_event_total(k->store); i++) {
		const struct event_row *e = &k->log[i];
		struct played *p;
		int state;
		uint64_t key;

		CHECK(k, e->id == (int64_t)i + 1 && e->at_ms >= last_ms, "event %zu is out of order", i + 1);
		last_ms = e->at_ms;
		if (e->handoff == 0)
			continue;
		CHECK(k, e->handoff <= k->spaces[e->space].count, "an event tells of ho-%llu, which is not there",
		      (unsigned long long)e->handoff);
		p = &played[e->space][e->handoff - 1];
		state = state_after(e->kind, p, p->agent.p == NULL);
		CHECK(k, state >= 0, "event %zu: %s happened to ho-%llu, which was %s", i + 1, event_name(e->kind),
		      (unsigned long long)e->handoff,
		      handoff_state_name(p->state));
		CHECK(k, p->agent.p == NULL || str_eq(p->agent, e->agent) || e->kind == EVENT_FALLBACK ||
		      e->kind == EVENT_REROUTED || e->kind == EVENT_MOVED,
		      "event %zu: ho-%llu changed its agent without a word", i + 1, (unsigned long long)e->handoff);
		p->state = (enum handoff_state)state;
		p->agent = e->agent;
		p->leases += e->kind == EVENT_TAKEN;
		key = key_of(e->space, e->handoff, p->leases, e->kind);
		h->keys[find_key(h, key)] = key;
	}
}

static void keep_promises(struct check *k, const struct happened *h)
{
	for (size_t i = 0; i < k->promise_count; i++) {
		const struct promise *p = &k->promises[i];
		uint64_t key = key_of(p->space, p->num, p->lease, p->kind);

		CHECK(k, p->num <= k->spaces[p->space].count, "ho-%llu was acknowledged and is lost",
		      (unsigned long long)p->num);
		CHECK(k, p->kind == 0 || h->keys[find_key(h, key)] == key,
		      "%s of ho-%llu.%lld was acknowledged and is lost", event_name(p->kind),
		      (unsigned long long)p->num, (long long)p->lease);
	}
}

void history_check(struct check *k)
{
	struct played *played[CHECK_SPACES];
	struct happened h;
	size_t size = 1024;

	while (size < 2 * ram_event_total(k->store))
		size *= 2;
	h.keys = mem_calloc(size, sizeof(*h.keys));
	h.mask = size - 1;
	for (int64_t space = 0; space < CHECK_SPACES; space++)
		played[space] = mem_calloc(k->spaces[space].count + 1, sizeof(**played));
	play(k, played, &h);
	for (int64_t space = 1; space < CHECK_SPACES; space++)
		for (uint64_t num = 1; num <= k->spaces[space].count; num++) {
			const struct handoff_row *row = &check_shadow(k, space, num)->row;
			const struct played *p = &played[space][num - 1];

			CHECK(k, p->state == on_the_wire(row->state) && p->leases == row->leases &&
			      str_eq(p->agent, row->agent_name),
			      "the events end ho-%llu as %s, but it is %s", (unsigned long long)num,
			      handoff_state_name(p->state),
			      handoff_state_name(row->state));
		}
	keep_promises(k, &h);
	for (int64_t space = 0; space < CHECK_SPACES; space++)
		free(played[space]);
	free(h.keys);
}
