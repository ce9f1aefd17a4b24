/* Those who send, with and without patience, again and again; and the operators. */
#include "world_internal.h"

static struct actor_agent *any_agent(struct world *w, int64_t space)
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
	f->envelope = ++w->envelopes[f->space];
	f->target_count = dice < 88 ? 1 : 2 + random_below(&w->random, SERVER_STEPS_MAX - 1);
	for (size_t i = 0; i < f->target_count; i++)
		f->targets[i] = any_agent(w, f->space);
	f->tries = (int)random_between(&w->random, 1, 5);
	f->order = (struct delivery_order){.envelope = f->envelope, .from = STR("sender"), .priority = -1,
					   .channel = f->target_count > 1 ? 7 : 0};
	if (random_chance(&w->random, 300))
		f->order.priority = (int)random_below(&w->random, DELIVERY_PRIORITY_MAX + 1);
	if (f->target_count == 1 && dice % 2)
		f->order.wait_ms = waits[random_below(&w->random, 5)];
	if (random_chance(&w->random, 300))
		f->order.ack_timeout_ms = random_chance(&w->random, 20) ? 50 : timeouts[random_below(&w->random, 4)];
	if (random_chance(&w->random, 300))
		f->order.max_attempts = attempts[random_below(&w->random, 4)];
	f->order.is_forced = random_chance(&w->random, 20);
	/* The fallbacks of another are as good as any. */
	if (random_chance(&w->random, 200))
		f->order.fallbacks = any_agent(w, f->space)->cast.fallbacks;
	senders_send(w, f);
}

static void submit_flow(struct world *w, struct flow *f)
{
	struct request *q = world_request(w, STEP_SEND, f->space, on_sent, f);

	q->count = f->target_count;
	for (size_t i = 0; i < f->target_count; i++) {
		q->steps[i] = (struct step){.kind = STEP_SEND, .space = f->space, .order = f->order};
		q->steps[i].order.to = f->targets[i]->cast.name;
	}
	world_submit(w, q);
}

void senders_send(struct world *w, struct flow *f)
{
	if (w->is_calm)
		return;
	f->tries--;
	submit_flow(w, f);
	/* A client that was too impatient sends the same once more while the first is on its way. */
	if (random_chance(&w->random, 30))
		submit_flow(w, f);
}

static void park(struct world *w, int64_t space, uint64_t envelope, struct str to, bool with_acked)
{
	struct request *q = world_request(w, STEP_PARK, space, NULL, NULL);
	struct step *s = &q->steps[0];

	s->envelope = envelope;
	s->agent = to;
	s->order.from = STR("sender");
	s->text = any_reason(w);
	s->with_acked = with_acked;
	world_submit(w, q);
}

/* It did not work: again, or parked, or left where it is. */
static void after_failure(struct world *w, struct flow *f, int64_t pause_ms)
{
	if (w->is_calm)
		return;
	if (f->tries > 0)
		world_later(w, pause_ms > 0 ? pause_ms : 0, ERRAND_FLOW_SEND, f);
	else if (random_chance(&w->random, 600))
		park(w, f->space, f->envelope, f->targets[0]->cast.name, random_chance(&w->random, 100));
}

static void on_sent(struct world *w, struct request *q, bool is_known)
{
	struct flow *f = world_who(q);
	const struct step *s = &q->steps[0];

	if (!is_known || s->code == P_STORE_FULL) {
		after_failure(w, f, random_between(&w->random, 5, 3000));
		return;
	}
	if (s->code == P_CIRCUIT_OPEN) {
		after_failure(w, f, s->retry_after_ms + random_between(&w->random, -5, 2000));
		return;
	}
	if (s->code != P_OK)
		return;
	f->num = s->row.num;
	if (f->order.wait_ms)
		world_later(w, f->order.wait_ms + random_between(&w->random, 0, 20), ERRAND_FLOW_LOOK, f);
	else if (random_chance(&w->random, 60) && f->tries > 0)
		world_later(w, random_between(&w->random, 0, 20000), ERRAND_FLOW_SEND, f);
}

/* The sender has waited: was it acked? */
void senders_look(struct world *w, struct flow *f)
{
	enum handoff_state state = ram_handoff(w->store, f->space, f->num)->state;

	if (state == HANDOFF_EXPIRED)
		after_failure(w, f, random_between(&w->random, 0, 4000));
	else if (state <= HANDOFF_LEASED && random_chance(&w->random, 300))
		after_failure(w, f, random_between(&w->random, 0, 4000));
}

/* --- Operators --- */

/* One that is parked, if there is one within a few tries; any other otherwise. 0: there is none. */
static uint64_t find_parked(struct world *w, int64_t space)
{
	uint64_t count = ram_handoff_count(w->store, space), num = 0;

	for (int i = 0; i < 12 && count; i++) {
		num = 1 + random_below(&w->random, count);
		if (ram_handoff(w->store, space, num)->state == HANDOFF_PARKED)
			break;
	}
	return num;
}

void senders_operate(struct world *w)
{
	int64_t space = 1 + (int64_t)random_below(&w->random, WORLD_SPACES);
	uint64_t dice = random_below(&w->random, 100), num = find_parked(w, space);
	struct request *q;

	if (w->is_calm)
		return;
	world_later(w, random_between(&w->random, 20, 1200), ERRAND_OPERATE, NULL);
	if (dice < 8) {
		q = world_request(w, STEP_RESET, space, NULL, NULL);
		q->steps[0].agent = any_agent(w, space)->cast.name;
	} else if (dice < 16) {
		park(w, space, 1 + random_below(&w->random, w->envelopes[space] + 1), any_agent(w, space)->cast.name,
		     dice < 12);
		return;
	} else if (dice < 70) {
		q = world_request(w, STEP_REDRIVE, space, NULL, NULL);
		q->steps[0].num = num;
		if (dice < 40)
			q->steps[0].agent = any_agent(w, space)->cast.name;
	} else {
		q = world_request(w, STEP_DISCARD, space, NULL, NULL);
		q->steps[0].num = num;
		q->steps[0].discard_as = dice < 75 ? EVENT_SHRUNK : EVENT_DISCARDED;
	}
	q->steps[0].text = any_reason(w);
	world_submit(w, q);
}
