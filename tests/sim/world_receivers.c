/* Those who receive: quick, slow, forgetful, dying; with tokens that are good, and with others. */
#include "world_internal.h"

/* --- Taking --- */

static void on_taken(struct world *w, struct request *q, bool is_known);

void receivers_poll(struct world *w, struct receiver *r)
{
	struct step *s;

	if (w->now_ms < r->agent->out_until_ms) {
		world_later(w, r->agent->out_until_ms - w->now_ms + random_between(&w->random, 0, 500), ERRAND_POLL, r);
		return;
	}
	s = world_request(w, STEP_TAKE, r->agent->cast.space, on_taken, r);
	if (w->is_calm || random_chance(&w->random, 850))
		s->wait_ms = random_between(&w->random, 1, 60000);
	s->agent = r->agent->cast.name;
	s->text = r->name;
	if (random_chance(&w->random, 250))
		s->lease_ms = random_between(&w->random, 100, 30000);
	if (random_chance(&w->random, 50))
		s->max_take = STEP_TAKE_MAX;
	world_submit(w);
}

void receivers_outage(struct world *w, struct actor_agent *a)
{
	if (w->is_calm)
		return;
	a->out_until_ms = w->now_ms + random_between(&w->random, 500, a->outage_ms);
	world_later(w, a->out_until_ms - w->now_ms + random_between(&w->random, 1000, 3 * a->outage_ms), ERRAND_OUTAGE,
		    a);
}

/* --- Plans --- */

static void add_answer(struct plan *p, enum handoff_verb verb, int64_t after_ms, int64_t ms)
{
	p->answers[p->count].verb = verb;
	p->answers[p->count].after_ms = after_ms;
	p->answers[p->count].ms = ms;
	p->answers[p->count].is_decided = false;
	p->answers[p->count].then = 0;
	p->count++;
}

static int64_t any_delay(struct world *w)
{
	uint64_t dice = random_below(&w->random, 3);

	return dice == 0 ? -1 : dice == 1 ? 0 : random_between(&w->random, 1, 40000);
}

/* An ack with a work lease, and what follows. */
static void plan_work(struct world *w, struct plan *p, int64_t quick_ms)
{
	int64_t lease_ms = random_between(&w->random, 200, 20000);
	uint64_t dice = random_below(&w->random, 100);
	int progress = (int)random_below(&w->random, 4);

	add_answer(p, VERB_ACK, quick_ms, lease_ms);
	for (int i = 0; i < progress; i++)
		add_answer(p, VERB_PROGRESS, random_between(&w->random, 1, lease_ms),
			   random_chance(&w->random, 500) ? 0 : lease_ms);
	/* Sometimes a little too late. */
	if (dice < 65)
		add_answer(p, VERB_COMPLETE, random_between(&w->random, 1, lease_ms + lease_ms / 8), 0);
	else if (dice < 75)
		add_answer(p, VERB_NACK, random_between(&w->random, 1, lease_ms), any_delay(w));
	else if (dice < 82)
		add_answer(p, VERB_REJECT, random_between(&w->random, 1, lease_ms), 0);
	else if (dice < 88)
		add_answer(p, VERB_RELEASE, random_between(&w->random, 1, lease_ms + lease_ms / 8), any_delay(w));
	else
		p->rest_ms = random_between(&w->random, 1000, 60000);	/* dead */
}

static void choose_plan(struct world *w, struct plan *p, int64_t lease_ms)
{
	int64_t quick_ms = random_between(&w->random, 0, 200);
	uint64_t dice = random_below(&w->random, 100);

	if (p->receiver->agent->is_sick && random_chance(&w->random, 900)) {
		add_answer(p, random_chance(&w->random, 700) ? VERB_NACK : VERB_REJECT, quick_ms, -1);
	} else if (dice < 30) {
		add_answer(p, VERB_ACK, quick_ms, 0);
		if (dice < 8)
			add_answer(p, VERB_COMPLETE, quick_ms, 0);
		else if (dice < 11)
			add_answer(p, VERB_REJECT, quick_ms, 0);
		else if (dice < 13)
			add_answer(p, VERB_PROGRESS, quick_ms, random_between(&w->random, 0, 5000));
		else if (dice < 15)
			add_answer(p, VERB_RELEASE, quick_ms, any_delay(w));
	} else if (dice < 55) {
		plan_work(w, p, quick_ms);
	} else if (dice < 65) {
		add_answer(p, VERB_COMPLETE, quick_ms, 0);
	} else if (dice < 70) {
		add_answer(p, VERB_RELEASE, quick_ms, any_delay(w));
	} else if (dice < 76) {
		add_answer(p, VERB_NACK, quick_ms, any_delay(w));
	} else if (dice < 80) {
		add_answer(p, VERB_REJECT, quick_ms, 0);
	} else if (dice < 86) {
		add_answer(p, VERB_PROGRESS, random_between(&w->random, 0, lease_ms),
			   random_between(&w->random, 0, 5000));
		add_answer(p, VERB_ACK, random_between(&w->random, 0, lease_ms), 0);
	} else if (dice < 93) {
		/* It hangs, and comes back when its time is over, or nearly. */
		add_answer(p, VERB_ACK, lease_ms + random_between(&w->random, -20, 10000), 0);
	} else {
		p->rest_ms = random_between(&w->random, 500, 60000);	/* dead */
	}
}

static void end_plan(struct world *w, struct plan *p)
{
	if (!p->is_extra)
		world_later(w, p->rest_ms, ERRAND_POLL, p->receiver);
	p->next_free = w->free_plans;
	w->free_plans = p;
}

/* Plans the next answer, or the end. */
static void go_on(struct world *w, struct plan *p)
{
	int64_t after_ms;

	if (p->at == p->count) {
		end_plan(w, p);
		return;
	}
	after_ms = p->answers[p->at].after_ms;
	world_later(w, after_ms > 0 && !w->is_calm ? after_ms : 0, ERRAND_ANSWER, p);
}

static void begin_plan(struct world *w, struct receiver *r, const struct handoff_row *h, bool is_extra)
{
	struct plan *p = w->free_plans;

	if (p)
		w->free_plans = p->next_free;
	else
		p = arena_alloc(&w->arena, sizeof(*p));
	*p = (struct plan){.receiver = r, .num = h->num, .lease = h->leases, .is_extra = is_extra,
			   .rest_ms = random_between(&w->random, 0, 100)};
	if (w->is_calm)
		add_answer(p, random_chance(&w->random, 500) ? VERB_ACK : VERB_COMPLETE, 0, 0);
	else
		choose_plan(w, p, h->due_ms > w->now_ms ? h->due_ms - w->now_ms : 1);
	go_on(w, p);
}

/* Of several, each is answered for itself. */
static void on_taken(struct world *w, struct request *q, bool is_known)
{
	struct receiver *r = world_who(q);
	const struct step *s = request_step(q);

	for (size_t i = 0; is_known && s->code == P_OK && i < s->count; i++)
		begin_plan(w, r, &s->taken[i], i > 0);
	if (!is_known || s->code != P_OK || s->count == 0)
		world_later(w, random_between(&w->random, 10, w->is_calm ? 50 : 3000), ERRAND_POLL, r);
}

/* --- Answering --- */

/* Whether the work is handed on with the answer that is next: a new envelope as a rule, to any agent of the space.
 * Whoever answers again says the same. */
static void decide_then(struct world *w, struct plan *p)
{
	int64_t space = p->receiver->agent->cast.space;
	enum handoff_verb verb = p->answers[p->at].verb;
	const struct actor_agent *to;
	const struct handoff_row *h;
	bool is_old;

	if (p->answers[p->at].is_decided)
		return;
	p->answers[p->at].is_decided = true;
	if (w->is_calm || (verb != VERB_ACK && verb != VERB_COMPLETE) || !random_chance(&w->random, 120))
		return;
	to = senders_any_agent(w, space);
	/* Seldom an old one. Not its own: that would be the handoff which is settled. */
	is_old = random_chance(&w->random, 100) && w->envelopes[space];
	if (is_old)
		p->answers[p->at].then = 1 + random_below(&w->random, w->envelopes[space]);
	h = ram_handoff(w->store, space, p->num);	/* NULL: pruned meanwhile */
	if (is_old && h && p->answers[p->at].then == h->envelope)
		is_old = false;
	if (!is_old) {
		p->answers[p->at].then = host_envelope(w->host, space, w->now_ms);
		if (p->answers[p->at].then)
			w->envelopes[space] = p->answers[p->at].then;
	}
	p->answers[p->at].then_to = to->cast.name;
	p->answers[p->at].then_stays_away = !is_old && to != p->receiver->agent && to->cast.fallbacks == NULL;
}

static void fill_settle(struct world *w, const struct plan *p, enum handoff_verb verb, int64_t ms, struct step *s)
{
	s->num = p->num;
	s->answer = (struct delivery_answer){.verb = verb, .lease = p->lease};
	if (verb == VERB_NACK || verb == VERB_RELEASE)
		s->answer.delay_ms = ms;
	else
		s->answer.work_lease_ms = ms;
	if (random_chance(&w->random, 500))
		s->answer.text = STR("so it is");
	if (verb == VERB_COMPLETE || (verb == VERB_ACK && random_chance(&w->random, 200))) {
		s->answer.has_result = true;
		s->answer.result = (struct result_row){.result = STR("{\"done\":true}"), .input_tokens = -1};
	}
	s->has_result = verb == VERB_COMPLETE && random_chance(&w->random, 700);
}

static struct step *settle(struct world *w, const struct plan *p, enum handoff_verb verb, int64_t ms,
			   void (*done)(struct world *w, struct request *q, bool is_known))
{
	struct step *s = world_request(w, STEP_SETTLE, p->receiver->agent->cast.space, done, (void *)(uintptr_t)p);

	fill_settle(w, p, verb, ms, s);
	return s;
}

/* The answer that is next, with what is handed on by it. */
static void fill_next(struct world *w, const struct plan *p, struct step *s)
{
	fill_settle(w, p, p->answers[p->at].verb, p->answers[p->at].ms, s);
	s->hands_on = p->answers[p->at].then != 0;
	s->then = (struct delivery_order){.envelope = p->answers[p->at].then, .to = p->answers[p->at].then_to,
					  .priority = -1};
}

static void settle_next(struct world *w, const struct plan *p,
			void (*done)(struct world *w, struct request *q, bool is_known))
{
	struct step *s = world_request(w, STEP_SETTLE, p->receiver->agent->cast.space, done, (void *)(uintptr_t)p);

	fill_next(w, p, s);
	world_submit(w);
}

/* An answer with a token that is not its own: an old one, one that was never given, or one for another handoff. */
static void meddle(struct world *w, const struct plan *p)
{
	static const enum handoff_verb verbs[] = {VERB_ACK,    VERB_NACK,     VERB_RELEASE,
						   VERB_REJECT, VERB_PROGRESS, VERB_COMPLETE};
	struct step *s = settle(w, p, verbs[random_below(&w->random, 6)], random_between(&w->random, 0, 3000), NULL);

	if (random_chance(&w->random, 100))
		s->num += 1 + random_below(&w->random, 50);
	else
		s->answer.lease += random_chance(&w->random, 700) ? -1 : 1;
	world_submit(w);
}

static void note_settled(struct world *w, struct plan *p, enum problem_code code, bool is_known)
{
	if (!is_known || code == P_STORE_FULL || code == P_STORE_FAILED || code == P_OUTCOME_UNKNOWN) {
		if (++p->tries < 4) {
			world_later(w, random_between(&w->random, 5, 2000), ERRAND_ANSWER, p);
			return;
		}
		p->at = p->count;
	} else if (code != P_OK) {
		p->at = p->count;
	} else {
		p->at++;
		p->tries = 0;
	}
	go_on(w, p);
}

static void on_settled(struct world *w, struct request *q, bool is_known)
{
	note_settled(w, world_who(q), request_step(q)->code, is_known);
}

/* It has settled and taken with one call. What was taken has a plan of its own. */
static void on_stepped(struct world *w, struct request *q, bool is_known)
{
	const struct step *s = request_step(q);
	struct plan *p = world_who(q);

	for (size_t i = 0; is_known && s->code == P_OK && i < s->count; i++)
		begin_plan(w, p->receiver, &s->taken[i], true);
	note_settled(w, p, s->code == P_OK ? s->item->code : s->code, is_known);
}

/* What a receive settles must not be taken by it: the checker sees what a step has changed in the end. */
static bool may_step(struct world *w, const struct plan *p)
{
	enum handoff_verb verb = p->answers[p->at].verb;
	bool comes_again = verb == VERB_NACK || (verb == VERB_RELEASE && p->answers[p->at].ms <= 0);

	return !w->is_calm && !comes_again &&
	       (p->answers[p->at].then == 0 || p->answers[p->at].then_stays_away) && random_chance(&w->random, 150);
}

static void step(struct world *w, struct plan *p)
{
	const struct actor_agent *a = p->receiver->agent;
	struct step *s = world_request(w, STEP_TAKE, a->cast.space, on_stepped, p);

	s->agent = a->cast.name;
	s->text = p->receiver->name;
	s->wait_ms = random_chance(&w->random, 500) ? random_between(&w->random, 1, 3000) : 0;
	s->item = arena_zalloc(&w->arena, sizeof(*s->item));
	s->item->kind = STEP_SETTLE;
	s->item->space = a->cast.space;
	fill_next(w, p, s->item);
	world_submit(w);
}

void receivers_answer(struct world *w, struct plan *p)
{
	/* The agent is away: it dies with what it had, or answers when it is back. */
	if (w->now_ms < p->receiver->agent->out_until_ms) {
		if (random_chance(&w->random, 500))
			end_plan(w, p);
		else
			world_later(w, p->receiver->agent->out_until_ms - w->now_ms, ERRAND_ANSWER, p);
		return;
	}
	decide_then(w, p);
	if (may_step(w, p)) {
		step(w, p);
		return;
	}
	settle_next(w, p, on_settled);
	if (w->is_calm)
		return;
	if (random_chance(&w->random, 40))
		settle_next(w, p, NULL);
	if (random_chance(&w->random, 30))
		meddle(w, p);
}
