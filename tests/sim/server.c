#include "server.h"

#include "base/mem.h"
#include "random.h"
#include "store/ram/ram_faults.h"

#include <assert.h>
#include <stdlib.h>

enum { RECORDS_MAX = 4096, CHANGES_MAX = 16384, TARGETS_MAX = 16384, TOLD_MAX = 16384, ROOM = 1 << 16 };

/* What delivery.changed said. */
struct told {
	int64_t space, agent, due_ms, leases, attempt;
	uint64_t num;
	enum handoff_state state;
};

struct server {
	struct store_conn *store;
	struct check *check;
	struct trace *trace;
	struct tally *tally;
	struct server_faults faults;
	uint64_t random;			/* of the faults */
	uint64_t core_random;			/* given to the core */
	void *room;				/* for the arena of a step */
	int64_t now_ms;
	bool is_up;

	struct list inbox;
	struct list waiting;			/* TAKE requests that found nothing */
	size_t inbox_count;
	int64_t next_due_ms;			/* may be too early, never too late; 0: never */
	bool is_behind;				/* it was down, or could not do all that was due */

	/* The transaction under way. */
	struct list served;			/* were waiting when it began */
	bool is_killed, commit_is_kept;
	enum store_status planned;		/* how the store may fail */
	int64_t next_due_before_ms;
	struct record *records;
	struct ram_change *changes;
	struct step_target *targets;
	struct told *told;
	size_t record_count, change_count, target_count, told_count;
};

/* --- Life --- */

struct server *server_new(struct store_conn *store, struct check *check, struct trace *trace, struct tally *tally)
{
	struct server *s = mem_zalloc(sizeof(*s));

	s->store = store;
	s->check = check;
	s->trace = trace;
	s->tally = tally;
	s->room = mem_alloc(ROOM);
	s->records = mem_calloc(RECORDS_MAX, sizeof(*s->records));
	s->changes = mem_calloc(CHANGES_MAX, sizeof(*s->changes));
	s->targets = mem_calloc(TARGETS_MAX, sizeof(*s->targets));
	s->told = mem_calloc(TOLD_MAX, sizeof(*s->told));
	list_init(&s->inbox);
	list_init(&s->waiting);
	list_init(&s->served);
	return s;
}

void server_free(struct server *s)
{
	free(s->room);
	free(s->records);
	free(s->changes);
	free(s->targets);
	free(s->told);
	free(s);
}

void server_clear(struct server *s, uint64_t seed, const struct server_faults *faults)
{
	s->faults = *faults;
	s->random = seed;
	s->core_random = seed | 1;
	list_init(&s->inbox);
	list_init(&s->waiting);
	list_init(&s->served);
	s->inbox_count = 0;
	server_restart(s, 0);
}

void server_calm(struct server *s)
{
	s->faults = (struct server_faults){0};
	ram_heal(s->store);
}

void server_restart(struct server *s, int64_t now_ms)
{
	s->now_ms = now_ms;
	s->is_up = s->is_behind = true;
	s->next_due_ms = 1;	/* not known: the first transaction will see */
}

bool server_is_up(const struct server *s)
{
	return s->is_up;
}

bool server_has_work(const struct server *s)
{
	return s->inbox_count > 0;
}

int64_t server_wake_at(const struct server *s)
{
	return s->is_up ? s->next_due_ms : 0;
}

static void drop(struct list *head)
{
	while (!list_is_empty(head)) {
		struct request *q = LIST_ELEMENT(head->next, struct request, link);

		list_remove(&q->link);
		q->done(q->ctx, q, false);
	}
}

void server_drop_all(struct server *s)
{
	drop(&s->inbox);
	drop(&s->waiting);
	drop(&s->served);
	s->inbox_count = 0;
}

void server_submit(struct server *s, struct request *q, int64_t now_ms)
{
	s->now_ms = now_ms;
	list_init(&q->link);
	if (!s->is_up) {
		q->done(q->ctx, q, false);
		return;
	}
	list_add(&s->inbox, &q->link);
	s->inbox_count++;
}

/* --- Steps --- */

static void on_changed(void *ctx, const struct handoff_row *h, enum handoff_state before)
{
	struct server *s = ctx;

	(void)before;
	assert(s->told_count < TOLD_MAX);
	s->told[s->told_count++] = (struct told){.space = h->space, .agent = h->agent, .due_ms = h->due_ms,
						 .leases = h->leases,
						 .attempt = h->attempt, .num = h->num, .state = h->state};
	if (h->due_ms && (s->next_due_ms == 0 || h->due_ms < s->next_due_ms))
		s->next_due_ms = h->due_ms;
}

/* Was the last word about the handoff the truth? */
static bool was_told(const struct server *s, size_t from, const struct handoff_row *h)
{
	for (size_t i = s->told_count; i > from; i--) {
		const struct told *t = &s->told[i - 1];

		if (t->space == h->space && t->num == h->num)
			return t->agent == h->agent && t->due_ms == h->due_ms && t->leases == h->leases &&
					t->attempt == h->attempt &&
			       t->state == h->state;
	}
	return false;
}

static void record_step(struct server *s, const struct step *step, size_t events_from, size_t told_from)
{
	struct record *r = &s->records[s->record_count++];
	size_t at = 0;
	int64_t agent;

	assert(s->record_count < RECORDS_MAX);
	*r = (struct record){.step = *step, .now_ms = s->now_ms, .changes = s->changes + s->change_count,
			     .targets = s->targets + s->target_count, .events_from = events_from,
			     .events_to = ram_event_total(s->store)};
	while (ram_changed(s->store, &at, &s->changes[s->change_count])) {
		if (!was_told(s, told_from, &s->changes[s->change_count].after))
			r->untold = s->changes[s->change_count].after.num;
		s->change_count++;
		assert(s->change_count < CHANGES_MAX);
	}
	at = 0;
	while (ram_target_changed(s->store, &at, &agent)) {
		struct step_target *t = &s->targets[s->target_count++];

		assert(s->target_count < TARGETS_MAX);
		*t = (struct step_target){agent, ram_target(s->store, agent)};
	}
	r->change_count = (size_t)(s->changes + s->change_count - r->changes);
	r->target_count = (size_t)(s->targets + s->target_count - r->targets);
}

static enum problem_code call_core(struct delivery *d, struct step *step, struct problem *problem)
{
	switch (step->kind) {
	case STEP_SEND:
		return delivery_send(d, &step->order, &step->row, problem);
	case STEP_TAKE:
		return delivery_take(d, step->agent, step->lease_ms, step->text, &step->row, problem);
	case STEP_RELEASE:
		return delivery_release(d, step->num, step->answer.lease, problem);
	case STEP_SETTLE:
		return delivery_settle(d, step->num, &step->answer, &step->row, problem);
	case STEP_DUE:
		return delivery_due(d, step->max, &step->next_ms, problem);
	case STEP_PARK:
		return delivery_park(d, step->envelope, step->agent, step->order.from, step->text, step->with_acked,
				     &step->row, problem);
	case STEP_REDRIVE:
		return delivery_redrive(d, step->num, step->agent, step->text, &step->row, problem);
	case STEP_DISCARD:
		return delivery_discard(d, step->num, step->discard_as, step->text, &step->row, problem);
	case STEP_RESET:
		return breaker_reset(d, step->agent, problem);
	default:
		abort();
	}
}

static enum store_status run_step(struct server *s, struct step *step)
{
	struct problem problem;
	struct arena arena;
	struct delivery d = {.conn = s->store, .arena = &arena, .space = step->space, .now_ms = s->now_ms,
			     .random = &s->core_random,
			     .changed = on_changed, .ctx = s};
	size_t events_from = ram_event_total(s->store), told_from = s->told_count;
	enum store_status status;

	arena_init_room(&arena, s->room, ROOM);
	step->row.num = 0;
	ram_mark(s->store);
	step->code = call_core(&d, step, &problem);
	step->retry_after_ms = step->code == P_OK ? 0 : problem.retry_after_ms;
	/* The texts end with the arena. */
	step->row.from = step->row.target_name = step->row.agent_name = step->row.receiver = STR_NULL;
	step->row.fallbacks = step->row.reason = step->row.progress = STR_NULL;
	arena_release(&arena);
	status = problem_store_status(step->code);
	if (status == STORE_OK)
		record_step(s, step, events_from, told_from);
	return status;
}

/* --- Transactions --- */

static enum store_status run_due(struct server *s)
{
	static const size_t sizes[] = {1, 4, 64};
	struct step step = {.kind = STEP_DUE, .max = sizes[random_below(&s->random, 3)]};
	enum store_status status;

	if (s->next_due_ms == 0 || s->next_due_ms > s->now_ms)
		return STORE_OK;
	status = run_step(s, &step);
	if (status == STORE_OK)
		s->next_due_ms = step.next_ms;
	return status;
}

/* Runs the steps of a request, one after the other. */
static enum store_status run_request(struct server *s, struct request *q)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < q->count; i++)
		status = run_step(s, &q->steps[i]);
	return status;
}

/* What was queued in this transaction goes to those who wait for it, in the same one. */
static enum store_status serve_waiting(struct server *s)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < s->told_count; i++) {
		if (s->told[i].state != HANDOFF_QUEUED)
			continue;
		for (struct list *l = s->waiting.next, *next; status == STORE_OK && l != &s->waiting; l = next) {
			struct request *q = LIST_ELEMENT(l, struct request, link);

			next = l->next;
			if (q->steps[0].space != s->told[i].space ||
			    !str_eq(q->steps[0].agent, ram_agent_name(s->store, s->told[i].agent)))
				continue;
			status = run_request(s, q);
			if (status != STORE_OK || q->steps[0].row.num == 0)
				break;
			list_remove(&q->link);
			list_add(&s->served, &q->link);
		}
	}
	return status;
}

/* Nothing is done later than it was due, unless the server was down or had too much to do. */
static void look_at_the_clock(struct server *s, const struct record *r)
{
	for (size_t i = 0; i < r->change_count && !s->is_behind; i++) {
		int64_t late_ms = r->now_ms - r->changes[i].before.due_ms;

		if (late_ms > SERVER_TICK_MAX_MS)
			trace_fail(s->trace, "ho-%llu was due at %lld, and nobody looked before %lld",
				   (unsigned long long)r->changes[i].before.num, (long long)r->changes[i].before.due_ms,
				   (long long)r->now_ms);
	}
	s->is_behind = r->step.next_ms && r->step.next_ms <= r->now_ms;
}

static void check_records(struct server *s)
{
	for (size_t i = 0; i < s->record_count; i++) {
		check_step(s->check, &s->records[i]);
		if (s->records[i].step.kind == STEP_DUE)
			look_at_the_clock(s, &s->records[i]);
	}
	s->tally->transactions++;
}

static void give_up_transaction(struct server *s)
{
	while (!list_is_empty(&s->served)) {
		struct list *l = s->served.next;

		list_remove(l);
		list_add(&s->waiting, l);
	}
	s->next_due_ms = s->next_due_before_ms;
	s->is_behind = true;
}

/* On STORE_OK all of the requests are durable, otherwise none of them happened; or nobody knows. */
static enum store_status run_transaction(struct server *s, struct list *jobs)
{
	enum store_status status;

	store_begin(s->store);
	s->record_count = s->change_count = s->target_count = s->told_count = 0;
	s->next_due_before_ms = s->next_due_ms;
	status = run_due(s);
	for (struct list *l = jobs->next; status == STORE_OK && l != jobs; l = l->next)
		status = run_request(s, LIST_ELEMENT(l, struct request, link));
	if (status == STORE_OK)
		status = serve_waiting(s);
	if (status != STORE_OK) {
		store_rollback(s->store);
		give_up_transaction(s);
		return status;
	}
	status = store_commit(s->store);
	if (status == STORE_OK || s->commit_is_kept)
		check_records(s);
	else
		give_up_transaction(s);
	return status;
}

/* A failure that comes from the store is passed on as it is, and no other is made up. */
static enum store_status run_and_see(struct server *s, struct list *jobs)
{
	enum store_status status = run_transaction(s, jobs);

	if (status != STORE_OK && status != s->planned)
		trace_fail(s->trace, "a transaction failed with %d, the store with %d", status, s->planned);
	return status;
}

/* --- Faults --- */

static void plan_faults(struct server *s)
{
	uint64_t dice = random_below(&s->random, 1000000), verb = 1 + random_below(&s->random, 40);
	bool is_kept = random_chance(&s->random, 500);

	s->is_killed = s->commit_is_kept = false;
	s->planned = STORE_OK;
	ram_heal(s->store);
	if (dice < s->faults.killed_before) {
		s->is_killed = true;
		s->planned = STORE_FAILED;
		ram_fail(s->store, STORE_FAILED, verb, 1 << 20);
		return;
	}
	dice -= s->faults.killed_before;
	if (dice < s->faults.full) {
		s->planned = STORE_FULL;
		ram_fail(s->store, STORE_FULL, 1 + verb / 3, random_below(&s->random, 12));
		return;
	}
	dice -= s->faults.full;
	if (dice < s->faults.verb_failed) {
		s->planned = STORE_FAILED;
		ram_fail(s->store, STORE_FAILED, verb, 1 << 20);
		return;
	}
	dice -= s->faults.verb_failed;
	if (dice < s->faults.commit_failed) {
		s->planned = STORE_FAILED;
		ram_fail_commit(s->store, is_kept);
		s->commit_is_kept = is_kept;
	}
}

/* The process is gone. Nobody gets an answer. */
static bool die(struct server *s, struct list *batch, enum tally_fault fault)
{
	static const char *const why[FAULT_KINDS] = {
		[FAULT_KILLED_BEFORE_COMMIT] = "killed in a transaction",
				[FAULT_KILLED_AFTER_COMMIT] = "killed before it answered",
		[FAULT_VERB_FAILED] = "the store failed", [FAULT_COMMIT_FAILED_LOST] = "a commit failed and is lost",
		[FAULT_COMMIT_FAILED_KEPT] = "a commit failed and is there",
	};

	trace_note(s->trace, s->now_ms, why[fault], 0);
	s->tally->faults[fault]++;
	s->is_up = false;
	ram_heal(s->store);
	drop(batch);
	server_drop_all(s);
	check_whole(s->check);
	return false;
}

/* --- Ticks --- */

static void answer(struct server *s, struct request *q)
{
	for (size_t i = 0; i < q->count; i++)
		check_promise(s->check, &q->steps[i]);
	q->done(q->ctx, q, true);
}

/* A request whose transaction is over. */
static void finish(struct server *s, struct request *q)
{
	const struct step *step = &q->steps[0];

	if (q->waits && step->kind == STEP_TAKE && step->code == P_OK && step->row.num == 0)
		list_add(&s->waiting, &q->link);
	else
		answer(s, q);
}

static void finish_all(struct server *s, struct list *batch)
{
	struct list *lists[] = {batch, &s->served};

	for (size_t i = 0; i < 2; i++)
		while (!list_is_empty(lists[i])) {
			struct request *q = LIST_ELEMENT(lists[i]->next, struct request, link);

			list_remove(&q->link);
			finish(s, q);
		}
}

/* Each by itself, so that only the one to blame fails. False where the store has failed. */
static bool run_each(struct server *s, struct list *batch)
{
	enum store_status status = STORE_OK;

	while (status != STORE_FAILED && !list_is_empty(batch)) {
		struct request *q = LIST_ELEMENT(batch->next, struct request, link);
		struct list alone;

		list_init(&alone);
		list_remove(&q->link);
		list_add(&alone, &q->link);
		status = run_and_see(s, &alone);
		if (status == STORE_FAILED) {
			list_remove(&q->link);
			list_add(batch, &q->link);
			break;
		}
		/* Of what it was going to do, nothing is there. */
		for (size_t i = 0; status == STORE_FULL && i < q->count; i++)
			q->steps[i].code = P_STORE_FULL;
		finish_all(s, &alone);
	}
	return status != STORE_FAILED;
}

static void take_batch(struct server *s, struct list *ret)
{
	list_init(ret);
	for (size_t i = 0; i < SERVER_BATCH_MAX && !list_is_empty(&s->inbox); i++) {
		struct list *l = s->inbox.next;

		list_remove(l);
		list_add(ret, l);
		s->inbox_count--;
	}
}

bool server_tick(struct server *s, int64_t now_ms)
{
	struct list batch;
	enum store_status status;

	assert(s->is_up);
	s->now_ms = now_ms;
	take_batch(s, &batch);
	if (list_is_empty(&batch) && (s->next_due_ms == 0 || s->next_due_ms > now_ms))
		return true;
	plan_faults(s);
	status = run_and_see(s, &batch);
	if (status == STORE_OK && random_below(&s->random, 1000000) < s->faults.killed_after)
		return die(s, &batch, FAULT_KILLED_AFTER_COMMIT);
	if (status == STORE_OK) {
		finish_all(s, &batch);
		return true;
	}
	if (s->is_killed)
		return die(s, &batch, FAULT_KILLED_BEFORE_COMMIT);
	if (status == STORE_FULL)
		s->tally->faults[FAULT_FULL]++;
	else if (store_is_failed(s->store))
		return die(s, &batch, s->commit_is_kept ? FAULT_COMMIT_FAILED_KEPT : FAULT_COMMIT_FAILED_LOST);
	if (!run_each(s, &batch) || (status == STORE_FAILED && list_is_empty(&batch)))
		return die(s, &batch, FAULT_VERB_FAILED);
	return true;
}
