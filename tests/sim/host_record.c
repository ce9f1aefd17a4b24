/* What each run of an operation, and time, has changed; seen by the checker when it is committed. */
#include "host_internal.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { PRUNED_MAX = 65536 };
enum { RECORDS_MAX = 8192, CHANGES_MAX = 65536, TARGETS_MAX = 65536, TOLD_MAX = 65536, DUE_MAX = 256 };

/* The verbs of a store know no host. There is one at a time in a process. */
static struct host *host_of_store;

/* --- Recording --- */

static void on_changed(void *ctx, const struct handoff_row *row)
{
	struct host *h = ctx;

	assert(h->told_count < TOLD_MAX);
	h->told[h->told_count++] = (struct told){.space = row->space, .agent = row->agent, .due_ms = row->due_ms,
						 .leases = row->leases, .attempt = row->attempt, .num = row->num,
						 .state = row->state};
}

/* Was the last word about the handoff the truth? A notice is not told: nothing becomes of it. */
static bool was_told(const struct host *h, size_t from, const struct ram_change *change)
{
	const struct handoff_row *row = &change->after;

	if (change->before.num && !change->before.is_told && row->is_told)
		return true;
	for (size_t i = h->told_count; i > from; i--) {
		const struct told *t = &h->told[i - 1];

		if (t->space == row->space && t->num == row->num)
			return t->agent == row->agent && t->due_ms == row->due_ms && t->leases == row->leases &&
			       t->attempt == row->attempt && t->state == row->state;
	}
	return false;
}

static void add_record(struct host *h, const struct step *step, size_t events_from, size_t told_from)
{
	struct record *r = &h->records[h->record_count++];
	size_t at = 0;
	int64_t agent;

	assert(h->record_count < RECORDS_MAX);
	h->by[h->record_count - 1] = NULL;
	*r = (struct record){.step = *step, .now_ms = h->now_ms, .changes = h->changes + h->change_count,
			     .targets = h->targets + h->target_count, .events_from = events_from,
			     .events_to = ram_event_total(h->store)};
	while (ram_changed(h->store, &at, &h->changes[h->change_count])) {
		if (!was_told(h, told_from, &h->changes[h->change_count]))
			r->untold = h->changes[h->change_count].after.num;
		h->change_count++;
		assert(h->change_count < CHANGES_MAX);
	}
	at = 0;
	while (ram_target_changed(h->store, &at, &agent)) {
		assert(h->target_count < TARGETS_MAX);
		h->targets[h->target_count++] = (struct step_target){agent, ram_target(h->store, agent)};
	}
	r->change_count = (size_t)(h->changes + h->change_count - r->changes);
	r->target_count = (size_t)(h->targets + h->target_count - r->targets);
}

/* What was due was carried out before anything else in the transaction. */
static void note_due(struct host *h)
{
	struct step step = {.kind = STEP_DUE, .max = DUE_MAX, .next_ms = ram_next_due(h->store)};
	size_t before = h->record_count;

	if (h->due_is_noted)
		return;
	h->due_is_noted = true;
	add_record(h, &step, h->events_begun, 0);
	/* Nothing was due, or it was put off. */
	if (h->records[before].change_count == 0 && h->records[before].target_count == 0 &&
	    (step.next_ms == 0 || step.next_ms > h->now_ms || h->is_behind))
		h->record_count--;
}

static enum problem_code record(struct request *q, enum problem_code (*run)(struct op *op, struct store_conn *c),
				struct store_conn *c, enum step_kind kind)
{
	struct host *h = q->host;
	size_t events_from, told_from;
	enum problem_code code;
	struct step step;

	q->is_committed = false;
	/* The database has ended the transaction while its server was paused. */
	if (!ram_is_own(c))
		return run(&q->u.op, c);
	note_due(h);
	events_from = ram_event_total(h->store);
	told_from = h->told_count;
	ram_mark(h->store);
	code = run(&q->u.op, c);
	if (problem_store_status(code) != STORE_OK || q->u.op.prepares_again || !ram_is_own(c))
		return code;
	request_read(q);
	step = q->step;
	/* What was settled was committed when it began to wait. */
	if (q->u.op.wait.is_again)
		step.item = NULL;
	step.kind = kind;
	step.code = code;
	add_record(h, &step, events_from, told_from);
	h->by[h->record_count - 1] = q;
	return code;
}

enum problem_code record_run(struct op *op, struct store_conn *c)
{
	struct request *q = op->ctx;
	bool looks = q->step.kind == STEP_SEND && op->wait.is_again;

	return record(q, q->real->run, c, looks ? STEP_LOOK : q->step.kind);
}

enum problem_code record_undo(struct op *op, struct store_conn *c)
{
	struct request *q = op->ctx;

	return record(q, q->real->undo, c, STEP_RELEASE);
}

/* --- Keys --- */

static struct kept_key *key_slot(struct host *h, const struct step *s)
{
	uint64_t hash = hash_bytes(s->key.p, s->key.n, (uint64_t)s->space) | 1;
	size_t at = (hash >> 8) % HOST_KEYS;

	while (h->keys[at].hash && h->keys[at].hash != hash)
		at = (at + 1) % HOST_KEYS;
	h->keys[at].hash = hash;
	return &h->keys[at];
}

/* What was answered is not done again while its answer is kept. */
static void check_key(struct host *h, const struct record *r)
{
	struct kept_key *slot;

	if (r->step.key.p == NULL || r->step.kind == STEP_LOOK)
		return;
	slot = key_slot(h, &r->step);
	if (slot->at_ms && slot->at_ms >= r->now_ms - HOST_KEY_TTL_MS)
		trace_fail(h->trace, "env-%llu was sent again with a key that was answered at %lld",
			   (unsigned long long)r->step.order.envelope, (long long)slot->at_ms);
}

static void keep_key(struct host *h, const struct record *r)
{
	if (r->step.key.p && r->step.code == P_OK && !r->step.is_waiting)
		key_slot(h, &r->step)->at_ms = r->now_ms;
}

/* --- What is taken away --- */

static void note_pruned(struct host *h, enum check_pruned_kind kind, int64_t space, uint64_t num)
{
	assert(h->pruned_count < PRUNED_MAX);
	h->pruned[h->pruned_count++] = (struct check_pruned){kind, space, num};
}

static enum store_status prune_envelope(struct store_conn *c, int64_t space, uint64_t num, int64_t *ret_handoffs)
{
	struct host *h = host_of_store;

	note_pruned(h, PRUNED_ENVELOPE, space, num);
	return h->real_verbs->envelope_prune(c, space, num, ret_handoffs);
}

/* The id of the event with that number, from *at on. */
static uint64_t event_of(const struct store_conn *c, int64_t space, int64_t number, size_t *at)
{
	size_t total = ram_event_total(c);

	while (*at < total && (ram_event(c, *at)->space != space || ram_event(c, *at)->number != number))
		(*at)++;
	return *at < total ? *at + 1 : 0;
}

static enum store_status prune_events(struct store_conn *c, int64_t space, const int64_t *numbers, size_t count)
{
	struct host *h = host_of_store;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t id = event_of(c, space, numbers[i], &at);

		if (id == 0 || (h->shard_address == NULL && (int64_t)id > h->follower_at))
			trace_fail(h->trace, "event %llu was pruned ahead of the follower at %lld",
				   (unsigned long long)id, (long long)h->follower_at);
		note_pruned(h, PRUNED_EVENT, space, id);
	}
	return h->real_verbs->events_prune(c, space, numbers, count);
}

static enum store_status prune_memory(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	note_pruned(host_of_store, PRUNED_MEMORY, space, num);
	return host_of_store->real_verbs->memory_prune(c, space, num, now_ms);
}

/* --- The ends of a transaction --- */

static enum store_status begin(struct store_conn *c)
{
	struct host *h = host_of_store;
	enum store_status status = h->real_verbs->begin(c);

	if (status != STORE_OK)
		return status;
	h->record_count = h->change_count = h->target_count = h->told_count = h->pruned_count = 0;
	h->due_is_noted = false;
	h->events_begun = ram_event_total(h->store);
	ram_mark(h->store);
	return status;
}

/* Nothing is done later than it was due, unless the server was down or had too much to do. */
static void look_at_the_clock(struct host *h, const struct record *r)
{
	for (size_t i = 0; i < r->change_count && !h->is_behind; i++) {
		int64_t due_ms = r->changes[i].before.due_ms;

		/* What comes back was not due itself. */
		if (due_ms && h->cluster == NULL && r->now_ms - due_ms > HOST_TICK_MAX_MS)
			trace_fail(h->trace, "ho-%llu was due at %lld, and nobody looked before %lld",
				   (unsigned long long)r->changes[i].before.num, (long long)r->changes[i].before.due_ms,
				   (long long)r->now_ms);
	}
	h->is_behind = r->step.next_ms && r->step.next_ms <= r->now_ms;
}

static void check_records(struct host *h)
{
	bool has_due = h->record_count && h->records[0].step.kind == STEP_DUE;

	check_log(h->check);
	for (size_t i = 0; i < h->record_count; i++) {
		if (i == has_due)
			check_prune(h->check, h->pruned, h->pruned_count, h->now_ms);
		check_key(h, &h->records[i]);
		check_step(h->check, &h->records[i]);
		keep_key(h, &h->records[i]);
		if (h->records[i].step.kind == STEP_DUE)
			look_at_the_clock(h, &h->records[i]);
	}
	if (h->record_count <= has_due)
		check_prune(h->check, h->pruned, h->pruned_count, h->now_ms);
	h->tally->transactions++;
}

void record_committed(struct host *h)
{
	h->has_committed = true;
	for (size_t i = 0; i < h->record_count; i++)
		if (h->by[i])
			h->by[i]->is_committed = true;
	check_records(h);
}

static enum store_status commit(struct store_conn *c)
{
	struct host *h = host_of_store;
	enum store_status status;

	if (ram_is_own(c))
		note_due(h);
	if (h->cluster) {
		status = h->real_verbs->commit(c);
		h->rollbacks += status != STORE_OK;
		return status;
	}
	status = h->real_verbs->commit(c);
	if (status == STORE_OK)
		h->has_committed = true;
	if (status == STORE_OK || h->commit_is_kept)
		check_records(h);
	else
		h->is_behind = true;
	return status;
}

static void rollback(struct store_conn *c)
{
	struct host *h = host_of_store;

	h->is_behind = true;
	h->rollbacks++;
	h->real_verbs->rollback(c);
}

void record_enter(struct host *h)
{
	host_of_store = h;
}

void record_begin(struct host *h, struct store_conn *c)
{
	host_of_store = h;
	h->real_verbs = c->verbs;
	h->verbs = *c->verbs;
	h->verbs.begin = begin;
	h->verbs.commit = commit;
	h->verbs.rollback = rollback;
	h->verbs.envelope_prune = prune_envelope;
	h->verbs.events_prune = prune_events;
	h->verbs.memory_prune = prune_memory;
	c->verbs = &h->verbs;
	h->listener.changed = on_changed;
}

void record_init(struct host *h)
{
	h->records = mem_calloc(RECORDS_MAX, sizeof(*h->records));
	h->by = mem_calloc(RECORDS_MAX, sizeof(struct request *));
	h->changes = mem_calloc(CHANGES_MAX, sizeof(*h->changes));
	h->targets = mem_calloc(TARGETS_MAX, sizeof(*h->targets));
	h->told = mem_calloc(TOLD_MAX, sizeof(*h->told));
	h->pruned = mem_calloc(PRUNED_MAX, sizeof(*h->pruned));
	h->keys = mem_calloc(HOST_KEYS, sizeof(*h->keys));
}

void record_release(struct host *h)
{
	free(h->records);
	free((void *)h->by);
	free(h->changes);
	free(h->targets);
	free(h->told);
	free(h->pruned);
	free(h->keys);
}
