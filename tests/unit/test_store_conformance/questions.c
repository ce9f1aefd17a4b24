/* The questions of the differential test. */
#include "differential.h"

#include "choices.h"
#include "show.h"

enum { ROWS = 5 };

/* A question with an arena of its own. */
#define QUESTION(name) \
	static void ask_##name(struct store_conn *c, uint64_t *random, struct arena *arena, struct buf *out); \
	static void name(struct store_conn *c, uint64_t *random, struct buf *out) \
	{ \
		struct arena arena; \
 \
		arena_init(&arena); \
		buf_puts(out, "\n" #name " "); \
		ask_##name(c, random, &arena, out); \
		arena_release(&arena); \
	} \
	static void ask_##name(struct store_conn *c, uint64_t *random, struct arena *arena, struct buf *out)

/* The answer to a verb that gives one row. */
#define SHOW_ONE(show, call) \
	do { \
		enum store_status status_ = call; \
\
		show_status(out, status_); \
		if (status_ == STORE_OK) \
			show(out, &row); \
	} while (0)
/* To one that gives a list. */
#define SHOW_LIST(show, call) \
	do { \
		size_t count = 99; \
\
		show_status(out, call); \
		for (size_t i_ = 0; i_ < count; i_++) \
			show(out, &rows[i_]); \
	} while (0)

static size_t some_max(uint64_t *random)
{
	return random_below(random, ROWS + 1);
}

static void show_number(struct buf *out, const int64_t *value)
{
	buf_printf(out, "%lld ", (long long)*value);
}

static void show_num(struct buf *out, const uint64_t *value)
{
	buf_printf(out, "%llu ", (unsigned long long)*value);
}

static void show_text(struct buf *out, const struct str *text)
{
	show_str(out, *text);
}

static void show_space(struct buf *out, const struct space_row *s)
{
	buf_printf(out, "space %lld %lld %lld %lld %lld ", (long long)s->id, (long long)s->memories,
		   (long long)s->created_at_ms, (long long)s->bytes, (long long)s->agents);
	show_str(out, s->name);
}

static void show_task(struct buf *out, const struct task_row *t)
{
	buf_printf(out, "task %lld %lld %lld %lld %lld ", (long long)t->id, (long long)t->created_at_ms,
		   (long long)t->envelopes, (long long)t->hops, (long long)t->tokens);
	show_str(out, t->name);
	show_str(out, t->intent);
	show_str(out, t->summary);
}

static void show_work(struct buf *out, const struct task_work *w)
{
	for (int i = 0; i < HANDOFF_STATES; i++)
		buf_printf(out, "%lld ", (long long)w->counts[i]);
	buf_printf(out, "work %llu %lld %d %llu %lld ", (unsigned long long)w->handoff, (long long)w->agent,
		   (int)w->state, (unsigned long long)w->recent, (long long)w->changed_at_ms);
	show_str(out, w->agent_name);
}

static void show_place_of_task(struct buf *out, const struct task_place *p)
{
	buf_printf(out, "%lld at %lld ", (long long)p->id, (long long)p->at);
}

static void show_receipt(struct buf *out, const struct receipt_row *r)
{
	buf_printf(out, "receipt %llu %lld ", (unsigned long long)r->memory, (long long)r->at_ms);
	show_str(out, r->agent);
}

static void show_place(struct buf *out, const struct agent_place *p)
{
	buf_printf(out, "place %lld %lld ", (long long)p->id, (long long)p->space);
	show_str(out, p->space_name);
	show_str(out, p->name);
	show_str(out, p->settings);
}

static void show_route(struct buf *out, const struct route_row *r)
{
	buf_printf(out, "route %lld %lld ", (long long)r->created_at_ms, (long long)r->updated_at_ms);
	show_str(out, r->name);
	show_str(out, r->settings);
}

/* --- Spaces and memories --- */

/* A place among the last ones, or before all of them. */
static int64_t some_event(uint64_t *random, int64_t last)
{
	return last < 40 ? random_between(random, 0, last) : random_chance(random, 200) ? 0 :
		random_between(random, last - 40, last);
}

QUESTION(spaces)
{
	struct space_row rows[ROWS];
	struct str name = some_space_name(random), row = STR_NULL;
	int64_t space = some_space(random), id = 0;

	show_status(out, store_space_find(c, name, &id));
	show_number(out, &id);
	id = 0;
	show_status(out, store_space_count(c, space, &id));
	show_number(out, &id);
	id = 0;
	show_status(out, store_space_guard(c, space, &id));
	show_number(out, &id);
	SHOW_ONE(show_text, store_space_name(c, space, arena, &row));
	SHOW_ONE(show_text, store_space_locked(c, space, arena, &row));
	space = some_space(random) - 1;
	SHOW_LIST(show_space, store_spaces(c, space, some_max(random), arena, rows, &count));
}

QUESTION(memories)
{
	struct memory rows[ROWS], row;
	int64_t space = some_space(random);
	uint64_t num = some_num(random), after = random_below(random, 14);
	uint32_t version = (uint32_t)random_below(random, 4);

	SHOW_ONE(show_memory, store_memory_get(c, space, num, 0, arena, &row));
	SHOW_ONE(show_memory, store_memory_get(c, space, num, version, arena, &row));
	SHOW_LIST(show_memory, store_memory_versions(c, space, num, version, some_max(random), arena, rows, &count));
	SHOW_LIST(show_memory, store_memory_scan(c, space, after, some_max(random), arena, rows, &count));
	SHOW_LIST(show_memory, store_memories_traced(c, space, after, some_max(random), arena, rows, &count));
	num = 0;
	show_status(out, store_memory_next(c, space, &num));
	show_number(out, &(int64_t){(int64_t)num});
}

QUESTION(replies)
{
	struct kept_reply row;
	int64_t space = some_space(random);

	SHOW_ONE(show_reply, store_reply_get(c, space, some_name(random), arena, &row));
}

/* --- Envelopes --- */

QUESTION(envelopes)
{
	struct envelope_row rows[ROWS], row;
	int64_t space = some_space(random);
	struct str task = some_name(random), considered = STR_NULL;
	uint64_t num = some_num(random), last = 77;

	SHOW_ONE(show_envelope, store_envelope_get(c, space, num, arena, &row));
	show_status(out, store_envelope_considered(c, space, num, arena, &considered));
	show_str(out, considered);
	show_status(out, store_envelope_last(c, space, &last));
	show_num(out, &last);
	show_status(out, store_task_find(c, space, task));
	SHOW_ONE(show_envelope, store_task_last(c, space, task, arena, &row));
	num = random_below(random, 14);
	SHOW_LIST(show_envelope, store_task_envelopes(c, space, task, num, some_max(random), arena, rows, &count));
}

static void show_link(struct buf *out, const struct envelope_link *l)
{
	buf_printf(out, "link %llu %llu ", (unsigned long long)l->num, (unsigned long long)l->parent);
}

static void show_waiver(struct buf *out, const struct waiver_row *w)
{
	buf_printf(out, "waiver %lld %lld %llu ", (long long)w->id, (long long)w->at_ms,
		   (unsigned long long)w->access_key);
	show_str(out, w->key);
	show_str(out, w->reason);
	show_str(out, w->by);
}

QUESTION(links)
{
	struct envelope_link rows[ROWS];
	int64_t space = some_space(random);
	struct str task = some_name(random);
	uint64_t after = random_below(random, 14);

	SHOW_LIST(show_link, store_task_links(c, space, task, after, some_max(random), rows, &count));
	(void)arena;
}

QUESTION(waivers)
{
	struct waiver_row rows[ROWS];
	int64_t space = some_space(random);
	struct str task = some_name(random);

	SHOW_LIST(show_waiver, store_waivers(c, space, task, some_max(random), arena, rows, &count));
}

QUESTION(tasks)
{
	struct task_row rows[ROWS];
	int64_t space = some_space(random), before = 0;

	if (random_chance(random, 500))
		before = (int64_t)((uint64_t)space << 40 | some_num(random));
	SHOW_LIST(show_task, store_tasks(c, space, before, some_max(random), arena, rows, &count));
}

QUESTION(board)
{
	struct task_place rows[ROWS], behind = {0, some_time(random)};
	int64_t space = some_space(random), last = 0, before = 0;
	int64_t id = (int64_t)((uint64_t)space << 40 | some_num(random));
	unsigned states = (unsigned)random_below(random, 1u << TASK_DONE);
	int64_t agent = random_chance(random, 500) ? 0 : some_agent(random);
	struct task_row task;
	struct task_work row;
	bool flag = false;

	show_status(out, store_task_get(c, id, arena, &task));
	SHOW_ONE(show_work, store_task_work(c, id, arena, &row));
	store_event_last(c, space, &last);
	if (random_chance(random, 500))
		before = some_event(random, last + 1);
	SHOW_LIST(show_place_of_task, store_tasks_changed(c, space, before, some_event(random, last),
							  some_max(random), rows, &count));
	behind.id = id;
	SHOW_LIST(show_place_of_task, store_tasks_open(c, space, states, agent,
						       random_chance(random, 500) ? &behind : NULL, some_max(random),
						       rows, &count));
	SHOW_LIST(show_place_of_task, store_tasks_matching(c, space, some_text(random), some_max(random),
							   some_max(random), rows, &count, &flag));
	buf_printf(out, " %d", flag);
	flag = false;
	show_status(out, store_task_is_quiet(c, space, id, some_event(random, last), some_time(random), &flag));
	buf_printf(out, " %d", flag);
}

QUESTION(receipts)
{
	struct receipt_row rows[ROWS];
	int64_t space = some_space(random);
	uint64_t num = some_num(random);

	SHOW_LIST(show_receipt, store_receipts(c, space, num, some_max(random), arena, rows, &count));
}

/* --- Agents --- */

QUESTION(agents)
{
	struct agent_row rows[ROWS], row;
	int64_t space = some_space(random), id = 0;
	struct str name = some_name(random), after = random_chance(random, 300) ? STR_NULL : some_name(random);

	SHOW_ONE(show_agent, store_agent_get(c, space, name, arena, &row));
	show_status(out, store_agent_id(c, space, name, false, CHOICES_T0, &id));
	show_number(out, &id);
	SHOW_LIST(show_agent, store_agents(c, space, after, some_max(random), arena, rows, &count));
}

QUESTION(holders)
{
	static const struct str texts[] = {{"a", 1}, {"\"b\"", 3}, {"", 0}, {NULL, 0}, {"{}", 2}};
	struct agent_place rows[ROWS];
	struct str text = texts[random_below(random, 5)];
	int64_t after = (int64_t)random_below(random, 9);

	SHOW_LIST(show_place, store_agents_holding(c, text, after, some_max(random), arena, rows, &count));
}

QUESTION(targets)
{
	int64_t agent = some_agent(random), busy = 77;
	struct target_counts counts;
	struct target_row target;
	struct target_due row, rows[ROWS];

	show_status(out, store_target_get(c, agent, &target));
	show_target(out, &target);
	show_status(out, store_target_counts(c, agent, &counts));
	show_counts(out, &counts);
	show_status(out, store_target_busy_until(c, agent, &busy));
	show_number(out, &busy);
	SHOW_LIST(show_due, store_targets_failing(c, some_space(random), some_max(random), arena, rows, &count));
	SHOW_ONE(show_due, store_target_due(c, some_time(random), arena, &row));
	show_status(out, store_target_next_due(c, &busy));
	show_number(out, &busy);
}

QUESTION(queues)
{
	(void)random;
	(void)arena;
	show_status(out, store_queues(c, show_queue, out));
}

/* --- Handoffs --- */

QUESTION(handoff)
{
	int64_t space = some_space(random), agent = some_agent(random), due = 77;
	uint64_t envelope = some_num(random), num = 0;
	struct handoff_row row;

	SHOW_ONE(show_handoff, store_handoff_get(c, space, some_num(random), arena, &row));
	SHOW_ONE(show_handoff, store_handoff_find(c, space, envelope, agent, arena, &row));
	show_status(out, store_handoff_of_agent(c, space, envelope, agent, some_num(random) - 1, &num));
	show_num(out, &num);
	SHOW_ONE(show_handoff, store_handoff_next(c, agent, false, arena, &row));
	SHOW_ONE(show_handoff, store_handoff_next(c, agent, true, arena, &row));
	num = 77;
	show_status(out, store_handoff_last(c, space, &num));
	show_num(out, &num);
	SHOW_ONE(show_handoff, store_handoff_due(c, some_time(random), arena, &row));
	show_status(out, store_handoff_next_due(c, &due));
	show_number(out, &due);
}

QUESTION(handoffs)
{
	struct handoff_row rows[ROWS];
	struct handoff_filter f = {.space = some_space(random), .newest_first = random_chance(random, 400)};
	uint64_t after = random_chance(random, 400) ? some_num(random) : 0;
	struct str receiver = some_text(random);
	int64_t agent = some_agent(random), total = 77;
	struct handoff_row behind = {.space = f.space, .num = some_num(random), .place = random_below(random, 14),
				     .priority = (int)random_below(random, 11)};

	if (random_chance(random, 300))
		f.states = (unsigned)random_below(random, 1u << HANDOFF_STATES);
	if (random_chance(random, 300))
		f.states = 1u << HANDOFF_PARKED;
	if (random_chance(random, 300))
		f.agent = some_agent(random);
	if (random_chance(random, 200))
		f.channel = (int64_t)random_below(random, 4);
	if (random_chance(random, 200)) {
		f.party = some_name(random);
		f.party_id = some_agent(random);
	}
	if (random_chance(random, 300))
		f.envelope = some_num(random);
	if (random_chance(random, 300))
		f.from = some_name(random);
	if (random_chance(random, 200))
		f.task = some_name(random);
	if (random_chance(random, 200))
		f.reason = some_text(random);
	if (random_chance(random, 200))
		f.since_ms = some_time(random);
	if (random_chance(random, 200))
		f.before_ms = some_time(random);
	show_status(out, store_handoffs_count(c, &f, &total));
	show_number(out, &total);
	if (!f.newest_first && random_chance(random, 300))
		f.untold = true;
	SHOW_LIST(show_handoff, store_handoffs(c, &f, after, some_max(random), arena, rows, &count));
	SHOW_LIST(show_handoff, store_handoffs_queued(c, agent, random_chance(random, 500) ? &behind : NULL,
						      some_max(random), arena, rows, &count));
	SHOW_LIST(show_handoff, store_handoffs_flight(c, agent, (unsigned)random_below(random, 1u << HANDOFF_ACKED),
						      some_num(random) - 1, some_max(random), arena, rows, &count));
	SHOW_LIST(show_handoff, store_handoffs_held(c, agent, receiver, some_max(random), arena, rows, &count));
	SHOW_LIST(show_handoff, store_handoffs_outage(c, agent, some_time(random), some_time(random), some_max(random),
						      arena, rows, &count));
}

QUESTION(results)
{
	int64_t space = some_space(random);
	uint64_t num = some_num(random);
	struct result_row row;

	SHOW_ONE(show_result, store_result_get(c, space, num, arena, &row));
	SHOW_ONE(show_result, store_result_find(c, space, num, &row));
}

/* --- Events and alerts --- */

QUESTION(events)
{
	struct event_row rows[ROWS];
	int64_t space = random_chance(random, 300) ? 0 : some_space(random), id = 77;
	uint64_t handoff = random_chance(random, 500) ? 0 : some_num(random);
	int64_t after;

	store_event_last(c, space, &after);
	after = some_event(random, after);
	SHOW_LIST(show_event, store_events(c, space, handoff, after, some_max(random), arena, rows, &count));
	show_status(out, store_event_count(c, space, handoff, &id));
	show_number(out, &id);
	show_status(out, store_event_last(c, space, &id));
	show_number(out, &id);
	show_status(out, store_event_before(c, space, some_time(random), &id));
	show_number(out, &id);
}

QUESTION(event_pages)
{
	struct event_row rows[ROWS];
	struct event_filter f = {.space = random_chance(random, 300) ? 0 : some_space(random),
				 .newest_first = random_chance(random, 400)};
	int64_t last = 0, after, until;

	store_event_last(c, f.space, &last);
	after = random_between(random, last < 40 ? 0 : last - 40, last);
	until = after + (int64_t)random_below(random, 40);
	if (random_chance(random, 300))
		f.kinds = random_next(random);
	if (random_chance(random, 300))
		f.handoff = some_num(random);
	if (random_chance(random, 200))
		f.envelope = some_num(random);
	if (random_chance(random, 300))
		f.memory = some_num(random);
	f.range_kinds = random_chance(random, 500) ? random_next(random) : 0;
	if (random_chance(random, 200))
		f.actor = some_name(random);
	if (random_chance(random, 200))
		f.access_key = random_below(random, 3);
	if (random_chance(random, 300))
		f.name = some_name(random);
	f.agent_kinds = random_next(random);
	f.note_kinds = random_next(random);
	f.word_kinds = random_next(random);
	SHOW_LIST(show_event, store_event_page(c, &f, after, until, some_max(random), arena, rows, &count));
}

QUESTION(alerts)
{
	struct alert_row rows[ROWS], row;
	int64_t space = random_chance(random, 300) ? 0 : some_space(random), id = (int64_t)some_num(random);
	enum alerts_wanted wanted = (enum alerts_wanted)random_below(random, 4);
	struct str name = some_name(random), agent = random_chance(random, 500) ? STR_NULL : some_name(random);

	SHOW_ONE(show_alert, store_alert_get(c, id, arena, &row));
	SHOW_ONE(show_alert, store_alert_last(c, space, name, agent, arena, &row));
	id = random_chance(random, 500) ? 0 : id;
	SHOW_LIST(show_alert, store_alerts(c, space, wanted, id, some_max(random), arena, rows, &count));
}

/* --- Channels and routes --- */

QUESTION(channels)
{
	struct channel_row rows[ROWS], row;
	int64_t space = some_space(random);
	struct str after = random_chance(random, 300) ? STR_NULL : some_name(random);

	SHOW_ONE(show_channel, store_channel_get(c, space, some_name(random), arena, &row));
	SHOW_LIST(show_channel, store_channels(c, space, after, some_max(random), arena, rows, &count));
}

QUESTION(subscribers)
{
	struct str rows[ROWS];
	int64_t channel = (int64_t)random_below(random, 5);

	SHOW_LIST(show_text, store_subscribers(c, channel, some_max(random), arena, rows, &count));
}

QUESTION(routes)
{
	struct route_row rows[ROWS];
	int64_t space = some_space(random);
	struct str after = random_chance(random, 300) ? STR_NULL : some_name(random);

	SHOW_LIST(show_route, store_routes(c, space, after, some_max(random), arena, rows, &count));
}

differential_op *const differential_questions[] = {
	spaces, memories, memories, replies, envelopes, links, waivers, tasks, board, receipts, agents, holders,
	targets, queues, handoff,
	handoffs, handoffs, handoffs, results, events, event_pages, event_pages, event_pages, alerts, channels,
	subscribers, routes, differential_pruned, differential_cited, differential_space_settings,
};
const size_t differential_question_count = sizeof(differential_questions) / sizeof(differential_questions[0]);
