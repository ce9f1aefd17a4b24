/* Those who send, with and without patience, again and again; and the operators. */
#include "world_internal.h"

struct actor_agent *senders_any_agent(struct world *w, int64_t space)
{
	size_t per_space = WORLD_AGENTS + WORLD_STRANGERS;
	/* Strangers are rare. */
	size_t n = random_chance(&w->random, 30) ? WORLD_AGENTS + random_below(&w->random, WORLD_STRANGERS)
						 : random_below(&w->random, WORLD_AGENTS);

	return &w->agents[(size_t)(space - 1) * per_space + n];
}

static struct str any_reason(struct world *w)
{
	static const char *const reasons[] = {"the sender gave up", "not needed any more", "ask a person",
					      "the chain cannot go on"};

	return str_of(reasons[random_below(&w->random, 4)]);
}

/* --- Senders --- */

static void on_sent(struct world *w, struct request *q, bool is_known);

void senders_new_flow(struct world *w)
{
	static const int64_t waits[] = {200, 1000, 5000, 15000, 40000}, timeouts[] = {1000, 3000, 15000, 60000},
			attempts[] = {1, 2, 3, 12};
	struct flow *f = arena_zalloc(&w->arena, sizeof(*f));
	uint64_t dice = random_below(&w->random, 100);

	f->space = 1 + (int64_t)random_below(&w->random, WORLD_SPACES);
	f->envelope = host_envelope(w->host, f->space, w->now_ms);
	if (f->envelope == 0)
		return;		/* the server is down: this one is not sent at all */
	w->envelopes[f->space] = f->envelope;
	f->target_count = dice < 88 ? 1 : 2 + random_below(&w->random, STEP_NAMES_MAX - 1);
	for (size_t i = 0; i < f->target_count; i++)
		f->targets[i] = senders_any_agent(w, f->space);
	f->tries = (int)random_between(&w->random, 1, 5);
	f->order = (struct delivery_order){.envelope = f->envelope, .from = STR("sender"), .priority = -1};
	if (random_chance(&w->random, 400))
		f->key = arena_printf(&w->arena, "key-%llu", (unsigned long long)f->envelope);
	if (random_chance(&w->random, 300))
		f->order.priority = (int)random_below(&w->random, DELIVERY_PRIORITY_MAX + 1);
	if (f->target_count == 1 && dice % 2)
		f->order.wait_ms = waits[random_below(&w->random, 5)];
	if (random_chance(&w->random, 300))
		f->order.ack_timeout_ms = random_chance(&w->random, 20) ? 50 : timeouts[random_below(&w->random, 4)];
	if (random_chance(&w->random, 300))
		f->order.max_attempts = attempts[random_below(&w->random, 4)];
	if (random_chance(&w->random, 200))
		f->order.queue_timeout_ms = timeouts[random_below(&w->random, 4)] * 4;
	if (f->order.wait_ms == 0 && random_chance(&w->random, 100))
		f->order.not_before_ms = w->now_ms + random_between(&w->random, -1000, 60000);
	/* The fallbacks of another are as good as any. */
	if (random_chance(&w->random, 200))
		f->order.fallbacks = senders_any_agent(w, f->space)->cast.fallbacks;
	senders_send(w, f);
}

static void submit_flow(struct world *w, struct flow *f)
{
	struct step *s = world_request(w, f->target_count > 1 ? STEP_PUBLISH : STEP_SEND, f->space, on_sent, f);

	s->order = f->order;
	s->key = f->key;
	if (random_chance(&w->random, 500))
		s->sender = STR("sender");
	s->order.to = f->targets[0]->cast.name;
	for (; f->target_count > 1 && s->name_count < f->target_count; s->name_count++)
		s->names[s->name_count] = f->targets[s->name_count]->cast.name;
	world_submit(w);
}

/* Somebody waits for what the receivers of the last publish make of it. */
static void join(struct world *w, int64_t space)
{
	struct step *s = world_request(w, STEP_JOIN, space, NULL, NULL);

	s->envelope = w->published[space] ? w->published[space] : 1;
	s->need = (int64_t)random_below(&w->random, 4);
	s->wait_ms = random_between(&w->random, 0, 60000);
	world_submit(w);
}

void senders_send(struct world *w, struct flow *f)
{
	if (w->is_calm)
		return;
	/* Some think better of it: they do not wait any more, and want it later, or now. */
	if (f->was_sent && f->target_count == 1 && random_chance(&w->random, 300)) {
		f->key = STR_NULL;
		f->order.wait_ms = 0;
		f->order.not_before_ms = w->now_ms + random_between(&w->random, -2000, 20000);
		f->order.priority = (int)random_below(&w->random, DELIVERY_PRIORITY_MAX + 1);
	}
	f->was_sent = true;
	f->tries--;
	submit_flow(w, f);
	/* A client that was too impatient sends the same once more while the first is on its way. */
	if (random_chance(&w->random, 30))
		submit_flow(w, f);
}

static void park(struct world *w, int64_t space, uint64_t envelope)
{
	struct step *s = world_request(w, STEP_PARK, space, NULL, NULL);

	s->envelope = envelope;
	s->text = any_reason(w);
	world_submit(w);
}

/* The chain cannot go on: whoever asks for its next hop is refused. */
static void pack_beyond(struct world *w, int64_t space, uint64_t envelope)
{
	world_request(w, STEP_PACK, space, NULL, NULL)->envelope = envelope;
	world_submit(w);
}

/* It did not work: again, or parked, or left where it is. */
static void after_failure(struct world *w, struct flow *f, int64_t pause_ms)
{
	if (w->is_calm)
		return;
	if (f->tries > 0)
		world_later(w, pause_ms > 0 ? pause_ms : 0, ERRAND_FLOW_SEND, f);
	else if (random_chance(&w->random, 600))
		park(w, f->space, f->envelope);
}

static void on_sent(struct world *w, struct request *q, bool is_known)
{
	struct flow *f = world_who(q);
	const struct step *s = request_step(q);

	if (!is_known || s->code == P_STORE_FULL || s->code == P_STORE_FAILED ||
	    s->code == P_OUTCOME_UNKNOWN) {
		after_failure(w, f, random_between(&w->random, 5, 3000));
		return;
	}
	if (s->code == P_CIRCUIT_OPEN) {
		after_failure(w, f, s->retry_after_ms + random_between(&w->random, -5, 2000));
		return;
	}
	if (s->code == P_ACK_TIMEOUT) {
		after_failure(w, f, random_between(&w->random, 0, 4000));
		return;
	}
	if (s->code != P_OK)
		return;
	f->num = s->row.num;
	if (f->target_count > 1)
		w->published[f->space] = f->envelope;
	if (random_chance(&w->random, 100))
		world_later(w, random_between(&w->random, 0, 5000), ERRAND_FLOW_LOOK, f);
	if (random_chance(&w->random, 60) && f->tries > 0)
		world_later(w, random_between(&w->random, 0, 20000), ERRAND_FLOW_SEND, f);
}

static void on_looked(struct world *w, struct request *q, bool is_known)
{
	const struct step *s = request_step(q);

	if (is_known && s->code != P_OK && s->code != P_STORE_FAILED && s->code != P_HANDOFF_PRUNED)
		trace_fail(w->trace, "ho-%llu was acknowledged, and cannot be read", (unsigned long long)s->num);
}

/* What became of it? */
void senders_look(struct world *w, struct flow *f)
{
	struct step *s = world_request(w, STEP_GET, f->space, on_looked, f);

	s->num = f->num;
	world_submit(w);
}

/* --- Operators --- */

/* One in these states, if there is one within a few tries; any other otherwise. 0: there is none. */
static uint64_t find_one(struct world *w, int64_t space, unsigned states)
{
	uint64_t count = ram_handoff_count(w->store, space), num = 0;

	for (int i = 0; i < 12 && count; i++) {
		const struct handoff_row *row;

		num = 1 + random_below(&w->random, count);
		row = ram_handoff(w->store, space, num);
		if (row && states >> row->state & 1)
			break;
	}
	return num;
}

void senders_operate(struct world *w)
{
	int64_t space = 1 + (int64_t)random_below(&w->random, WORLD_SPACES);
	uint64_t dice = random_below(&w->random, 100), num = find_one(w, space, 1u << HANDOFF_PARKED);
	struct step *s;

	if (w->is_calm)
		return;
	world_later(w, random_between(&w->random, 20, 1200), ERRAND_OPERATE, NULL);
	if (dice < 8) {
		s = world_request(w, STEP_RESET, space, NULL, NULL);
		s->agent = senders_any_agent(w, space)->cast.name;
	} else if (dice < 12) {
		park(w, space, 1 + random_below(&w->random, w->envelopes[space] + 1));
		return;
	} else if (dice < 14) {
		pack_beyond(w, space, 1 + random_below(&w->random, w->envelopes[space] + 1));
		return;
	} else if (dice < 22) {
		join(w, space);
		return;
	} else if (dice < 32) {
		s = world_request(w, dice < 27 ? STEP_CANCEL : STEP_MOVE, space, NULL, NULL);
		s->num = find_one(w, space, 1u << HANDOFF_QUEUED | 1u << HANDOFF_DELAYED);
		s->agent = senders_any_agent(w, space)->cast.name;
	} else if (dice < 38) {
		/* Often the one that was decided about last. */
		s = world_request(w, STEP_RESTORE, space, NULL, NULL);
		s->num = random_chance(&w->random, 500) && w->decided[space]
				 ? w->decided[space]
				 : find_one(w, space, 1u << HANDOFF_QUEUED | 1u << HANDOFF_DISCARDED);
	} else if (dice < 70) {
		s = world_request(w, STEP_REDRIVE, space, NULL, NULL);
		s->num = num;
		if (dice < 46)
			s->agent = senders_any_agent(w, space)->cast.name;
	} else {
		s = world_request(w, dice < 74 ? STEP_SHRINK : STEP_DISCARD, space, NULL, NULL);
		s->num = num;
	}
	s->text = any_reason(w);
	w->decided[space] = s->num ? s->num : w->decided[space];
	world_submit(w);
}
