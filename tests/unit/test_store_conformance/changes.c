/* The changes of the differential test. */
#include "differential.h"

#include "choices.h"
#include "show.h"

/* --- Spaces and memories --- */

static void make_space(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t id = 0;

	show_status(out, store_space_create(c, some_space_name(random), some_time(random), &id));
	buf_printf(out, "make_space %lld", (long long)id);
}

static void set_guard(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);

	buf_puts(out, "set_guard ");
	show_status(out, store_space_set_guard(c, space, (int64_t)random_below(random, 3)));
}

static void set_locked(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);

	buf_puts(out, "set_locked ");
	show_status(out, store_space_set_locked(c, space, some_text(random)));
}

static struct memory some_memory(uint64_t *random)
{
	struct memory m = {
		.space = some_space(random),
		.num = random_chance(random, 250) ? some_num(random) : 0,
		.pinned = random_chance(random, 300),
		.created_at_ms = some_time(random),
		.supersedes = random_below(random, 3),
		.updated_at_ms = some_time(random),
		.expires_at_ms = random_chance(random, 500) ? some_time(random) : 0,
		.importance = (enum importance)random_below(random, 4),
		.trust = (enum trust)random_below(random, 4),
		.content = some_name(random),
		.summary = some_text(random),
		.kind = some_name(random),
		.tags = STR("[]"),
		.agent = some_text(random),
		.task = some_text(random),
		.metadata = STR("{}"),
	};

	memset(m.digest, (int)random_below(random, 256), sizeof(m.digest));
	return m;
}

static void add_memory(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct memory m = some_memory(random);

	/* Space 4 comes to the end of its sequence. */
	if (m.space == 4 && random_chance(random, 100))
		m.num = MEMORY_NUM_MAX + random_below(random, 2);
	buf_puts(out, "add_memory ");
	show_status(out, store_memory_insert(c, &m));
	buf_printf(out, "%llu@%u ", (unsigned long long)m.num, m.version);
}

static void add_version(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct memory m = some_memory(random), kept;
	struct arena arena;

	arena_init(&arena);
	m.num = some_num(random);
	m.version = 2;
	if (store_memory_get(c, m.space, m.num, 0, &arena, &kept) == STORE_OK)
		m.version = kept.current_version + 1;
	else
		kept.forgotten_at_ms = 0;
	buf_puts(out, "add_version ");
	if (kept.forgotten_at_ms == 0)
		show_status(out, store_memory_add_version(c, &m));
	arena_release(&arena);
}

static void change_memory(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	uint64_t num = some_num(random), what = random_below(random, 7);

	buf_printf(out, "change_memory %llu ", (unsigned long long)what);
	if (what == 0)
		show_status(out, store_memory_forget(c, space, num, some_time(random)));
	else if (what < 3)
		show_status(out, store_memory_set_pinned(c, space, num, what == 1));
	else if (what == 3)
		show_status(out, store_memory_set_quarantined(c, space, num, some_time(random)));
	else if (what == 4)
		show_status(out, store_memory_set_keys(c, space, num, some_text(random)));
	else
		show_status(out, store_memory_set_superseded(c, space, num, some_num(random)));
}

static void keep_reply(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct kept_reply reply = {.status = (int)random_below(random, 500), .etag = some_text(random),
				   .location = some_text(random), .body = some_name(random),
				   .at_ms = some_time(random)};
	uint64_t memories[] = {some_num(random), some_num(random), some_num(random)};
	int64_t space = some_space(random);
	struct str key = some_name(random);

	memset(reply.request_digest, (int)random_below(random, 256), sizeof(reply.request_digest));
	buf_puts(out, "keep_reply ");
	show_status(out, store_reply_put(c, space, key, &reply, memories, random_below(random, 4)));
}

static void prune_replies(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t before = some_time(random);

	buf_puts(out, "prune_replies ");
	show_status(out, store_reply_prune(c, before, (int)random_below(random, 6)));
}

/* --- Envelopes --- */

/* The number of one that was pruned is not given again. */
static void add_envelope(struct store_conn *c, uint64_t *random, struct buf *out)
{
	uint64_t results[] = {some_num(random), some_num(random), some_num(random)};
	struct pruned_envelope pruned;
	struct envelope_row row = {
		.space = some_space(random),
		.num = some_num(random),
		.task = some_name(random),
		.parent = random_below(random, 3),
		.hop = (int64_t)random_below(random, 5),
		.created_at_ms = some_time(random),
		.texts = (int64_t)random_below(random, 5) - 1,
		.has_body_digest = random_chance(random, 500),
		.body = some_name(random),
		.considered = some_text(random),
		.intent = some_text(random),
		.summary = some_text(random),
		.tokens = (int64_t)random_below(random, 9),
		.begins_task = random_chance(random, 300),
		.results = results,
		.result_count = random_below(random, 4),
	};

	memset(row.digest, (int)random_below(random, 256), sizeof(row.digest));
	if (row.has_body_digest)
		memset(row.body_digest, (int)random_below(random, 256), sizeof(row.body_digest));
	buf_puts(out, "add_envelope ");
	if (store_pruned_envelope(c, row.space, row.num, &pruned) == STORE_NOT_FOUND)
		show_status(out, store_envelope_insert(c, &row));
}

static void add_receipt(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct receipt_row row = {some_num(random) % 4, some_name(random), some_time(random)};
	int64_t space = some_space(random);

	buf_puts(out, "add_receipt ");
	show_status(out, store_receipt_put(c, space, some_num(random), &row));
}

static void add_waiver(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct waiver_row row = {
		.key = some_name(random), .reason = some_name(random), .by = some_name(random),
		.at_ms = some_time(random), .access_key = some_num(random),
	};
	int64_t space = some_space(random);

	buf_puts(out, "add_waiver ");
	show_status(out, store_waiver_add(c, space, some_name(random), &row));
	buf_printf(out, "%lld ", (long long)row.id);
}

/* --- Agents --- */

static void put_agent(struct store_conn *c, uint64_t *random, struct buf *out)
{
	static const struct str settings[] = {{"{}", 2}, {"{\"a\":1}", 7}, {"{\"b\":2}", 7}};
	struct agent_row row = {some_name(random), settings[random_below(random, 3)], some_time(random),
				some_time(random), false};

	buf_puts(out, "put_agent ");
	show_status(out, store_agent_put(c, some_space(random), &row));
}

static void delete_agent(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);

	buf_puts(out, "delete_agent ");
	show_status(out, store_agent_delete(c, space, some_name(random)));
}

/* One that is there. */
static int64_t an_agent(struct store_conn *c, uint64_t *random, int64_t space)
{
	int64_t id = 0;

	store_agent_id(c, space, some_name(random), true, some_time(random), &id);
	return id;
}

static void put_target(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct target_row row = {some_time(random), (int64_t)random_below(random, 2),
				 random_chance(random, 300) ? some_time(random) : 0, random_below(random, 3),
				 some_time(random), random_chance(random, 300), some_time(random), some_time(random),
				 random_chance(random, 500) ? some_time(random) : 0};
	int64_t agent = an_agent(c, random, some_space(random));

	buf_printf(out, "put_target %lld ", (long long)agent);
	show_status(out, store_target_put(c, agent, &row));
}

/* --- Handoffs --- */

static int64_t a_channel(struct store_conn *c, uint64_t *random, int64_t space)
{
	struct channel_row row = {0};
	struct arena arena;

	arena_init(&arena);
	store_channel_get(c, space, some_name(random), &arena, &row);
	arena_release(&arena);
	return row.id;
}

/* All that a put may change. */
static void choose(struct store_conn *c, uint64_t *random, struct handoff_row *h)
{
	h->agent = an_agent(c, random, h->space);
	h->channel = random_chance(random, 300) ? a_channel(c, random, h->space) : 0;
	h->state = (enum handoff_state)random_below(random, HANDOFF_STATES);
	h->priority = (int)random_below(random, 4);
	h->attempt = (int64_t)random_below(random, 4);
	h->max_attempts = (int64_t)random_below(random, 4);
	h->leases = (int64_t)random_below(random, 4);
	h->due_ms = h->state < HANDOFF_ACKED ? some_time(random) : 0;
	h->expires_at_ms = random_chance(random, 500) ? h->due_ms : some_time(random);
	h->ack_timeout_ms = (int64_t)random_below(random, 4);
	h->lease_ms = (int64_t)random_below(random, 4);
	h->changed_at_ms = some_time(random);
	h->acked_at_ms = random_chance(random, 500) ? some_time(random) : 0;
	h->is_exhausted = random_chance(random, 500);
	h->is_told = random_chance(random, 500);
	h->is_retried = random_chance(random, 300);
	h->place = random_below(random, 4);
	h->not_before_ms = random_chance(random, 300) ? some_time(random) : 0;
	h->queue_timeout_ms = (int64_t)random_below(random, 4);
	h->queue_until_ms = some_time(random);
	h->passes = random_chance(random, 300);
	h->is_outage = random_chance(random, 400);
	h->is_redriven = random_chance(random, 300);
	h->is_touched = random_chance(random, 300);
	h->receiver = some_text(random);
	h->fallbacks = some_text(random);
	h->reason = some_text(random);
	h->progress = some_text(random);
}

static void add_handoff(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct handoff_row h = {.space = some_space(random), .envelope = some_num(random)};
	enum store_status status;

	choose(c, random, &h);
	h.target = random_chance(random, 700) ? h.agent : an_agent(c, random, h.space);
	h.created_at_ms = some_time(random);
	h.from = random_chance(random, 300) ? STR_NULL : some_name(random);
	status = store_handoff_insert(c, &h);
	buf_puts(out, "add_handoff ");
	show_status(out, status);
	if (status == STORE_OK)
		buf_printf(out, "%llu ", (unsigned long long)h.num);
}

static void put_handoff(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	struct handoff_row h = {.space = space, .num = some_num(random)};
	struct arena arena;

	arena_init(&arena);
	store_handoff_get(c, space, h.num, &arena, &h);
	choose(c, random, &h);
	if (h.target == 0 || random_chance(random, 200))
		h.target = an_agent(c, random, space);
	/* These are not to be changed. */
	h.envelope = some_num(random);
	h.created_at_ms = some_time(random);
	h.from = some_name(random);
	buf_puts(out, "put_handoff ");
	show_status(out, store_handoff_put(c, &h));
	arena_release(&arena);
}

static void put_result(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	struct result_row row = {some_text(random), some_text(random), (int64_t)random_below(random, 5) - 1,
				 (enum result_form)random_below(random, 4), random_below(random, 4), true, 9, {9},
				 false};
	struct handoff_row h = {.num = some_num(random)};
	struct arena arena;

	arena_init(&arena);
	buf_puts(out, "put_result ");
	if (store_handoff_get(c, space, h.num, &arena, &h) == STORE_OK)
		show_status(out, store_result_put(c, space, h.num, &row));
	arena_release(&arena);
}

static void hand_on(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	struct handoff_row h = {.num = some_num(random)};
	uint8_t digest[32] = {[31] = (uint8_t)random_below(random, 256)};
	struct arena arena;

	arena_init(&arena);
	buf_puts(out, "hand_on ");
	if (store_handoff_get(c, space, h.num, &arena, &h) == STORE_OK)
		show_status(out, store_result_hand_on(c, space, h.num, 1 + random_below(random, 9), digest));
	arena_release(&arena);
}

/* --- Events and alerts --- */

static void add_event(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct event_row e = {
		.space = some_space(random),
		.at_ms = some_time(random),
		.kind = (int)random_below(random, 64),
		.handoff = random_chance(random, 500) ? some_num(random) : 0,
		.envelope = random_chance(random, 500) ? some_num(random) : 0,
		.memory = random_chance(random, 500) ? some_num(random) : 0,
		.attempt = (int64_t)random_below(random, 4),
		.value = {(double)random_below(random, 10), (double)random_below(random, 20)},
		.agent = some_text(random),
		.actor = some_text(random),
		.access_key = random_below(random, 3),
		.note = some_text(random),
	};

	buf_puts(out, "add_event ");
	show_status(out, store_event_add(c, &e));
	buf_printf(out, "%lld %lld ", (long long)e.id, (long long)e.number);
}

static void put_alert(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct alert_row a = {
		.id = random_chance(random, 500) ? (int64_t)some_num(random) : 0,
		.space = some_space(random),
		.name = some_name(random),
		.agent = random_chance(random, 500) ? STR_NULL : some_name(random),
		.severity = (int)random_below(random, 3),
		.value = (double)random_below(random, 9) / 4,
		.threshold = (double)random_below(random, 9) / 4,
		.summary = some_name(random),
		.since_ms = some_time(random),
		.resolved_at_ms = random_chance(random, 500) ? some_time(random) : 0,
		.acknowledged_by = some_text(random),
		.acknowledged_at_ms = some_time(random),
		.silenced_until_ms = some_time(random),
		.silenced_by = some_text(random),
		.silenced_why = some_text(random),
		.is_untold = random_chance(random, 300),
	};

	buf_puts(out, "put_alert ");
	show_status(out, store_alert_put(c, &a));
	buf_printf(out, "%lld ", (long long)a.id);
}

/* --- Channels and routes --- */

static void put_channel(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t space = some_space(random);
	struct str name = some_name(random), description = some_text(random);

	buf_puts(out, "put_channel ");
	show_status(out, store_channel_put(c, space, name, description, some_time(random)));
}

static void subscribe(struct store_conn *c, uint64_t *random, struct buf *out)
{
	int64_t channel = (int64_t)random_below(random, 5), agent = some_agent(random);

	buf_puts(out, "subscribe ");
	if (random_chance(random, 700))
		show_status(out, store_subscriber_put(c, channel, agent, some_time(random)));
	else
		show_status(out, store_subscriber_delete(c, channel, agent));
}

static void put_route(struct store_conn *c, uint64_t *random, struct buf *out)
{
	struct route_row row = {some_name(random), some_name(random), some_time(random), some_time(random)};
	int64_t space = some_space(random);

	buf_puts(out, "put_route ");
	if (random_chance(random, 700))
		show_status(out, store_route_put(c, space, &row));
	else
		show_status(out, store_route_delete(c, space, row.name));
}

/* --- What is refused --- */

/* Without a text that must be there. */
static enum store_status put_without(struct store_conn *c, uint64_t *random)
{
	struct memory m = some_memory(random);
	int64_t id = 0, space = some_space(random);

	switch (random_below(random, 9)) {
	case 0:
		return store_space_create(c, STR_NULL, 0, &id);
	case 1:
		m.num = 77;
		m.space = 1;
		m.tags = STR_NULL;
		return store_memory_insert(c, &m);
	case 2:
		return store_envelope_insert(c, &(struct envelope_row){.space = 1, .num = 77, .task = STR("x")});
	case 3:
		return store_receipt_put(c, space, 1, &(struct receipt_row){.memory = 1});
	case 4:
		return store_agent_put(c, space, &(struct agent_row){.name = STR("x")});
	case 5:
		return store_alert_put(c, &(struct alert_row){.name = STR("x")});
	case 6:
		return store_channel_put(c, space, STR_NULL, STR_NULL, 0);
	case 7:
		return store_route_put(c, space, &(struct route_row){.name = STR("x")});
	default:
		return store_reply_put(c, space, STR("x"), &(struct kept_reply){0}, NULL, 0);
	}
}

static void refused(struct store_conn *c, uint64_t *random, struct buf *out)
{
	buf_puts(out, "refused ");
	store_savepoint(c);
	show_status(out, put_without(c, random));
	store_rollback_to(c);
}

differential_op *const differential_changes[] = {
	make_space, set_guard, set_locked, add_memory, add_memory, add_version, change_memory, keep_reply,
	prune_replies, add_envelope, add_envelope, add_receipt, add_waiver, put_agent, delete_agent, put_target,
	add_handoff, add_handoff, put_handoff, put_handoff, put_result, hand_on, add_event, add_event, put_alert,
	put_channel, subscribe, put_route, refused, differential_prune_envelope, differential_put_pruned,
	differential_unname_events, differential_leave_result, differential_set_space,
};
const size_t differential_change_count = sizeof(differential_changes) / sizeof(differential_changes[0]);
