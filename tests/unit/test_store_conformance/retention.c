/* What retention takes away, what stays of it, and spaces that go. */
#include "handoff_rows.h"

static uint64_t remember(struct temp_store *t, int64_t space, const char *content)
{
	return temp_insert(t, space, content);
}

static void add_citing(struct temp_store *t, uint64_t num, uint64_t parent, const char *task, const uint64_t *results,
		       size_t count)
{
	struct envelope_row row = {.space = t->space, .num = num, .task = str_of(task), .hop = 1, .parent = parent,
				   .created_at_ms = T0 + (int64_t)num, .body = STR("{}"), .results = results,
				   .result_count = count};

	memset(row.digest, (int)num, sizeof(row.digest));
	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_commit(t->c));
}

static uint64_t add_event(struct temp_store *t, int64_t space, uint64_t handoff, int64_t at_ms)
{
	struct event_row event = {.space = space, .at_ms = at_ms, .kind = 1, .handoff = handoff};

	must(store_begin(t->c));
	must(store_event_add(t->c, &event));
	must(store_commit(t->c));
	return (uint64_t)event.number;
}

static int64_t prune(struct temp_store *t, uint64_t envelope)
{
	int64_t handoffs = -1;

	must(store_begin(t->c));
	must(store_envelope_prune(t->c, t->space, envelope, &handoffs));
	must(store_commit(t->c));
	return handoffs;
}

static bool has_ended(struct temp_store *t, uint64_t envelope, unsigned states, int64_t before_ms)
{
	bool ended = false;

	must(store_envelope_ended(t->c, t->space, envelope, states, before_ms, &ended));
	return ended;
}

/* --- Envelopes and handoffs --- */

static void an_envelope_has_ended_with_the_last_of_its_handoffs(void **state)
{
	struct temp_store *t = *state;
	unsigned states = 1u << HANDOFF_COMPLETED | 1u << HANDOFF_ACKED;
	int64_t a = agent_id(t, t->space, "a"), b = agent_id(t, t->space, "b");
	struct handoff_row h;

	add_citing(t, 1, 0, "task", NULL, 0);
	assert_false(has_ended(t, 1, states, T0 + 100));
	add(t, t->space, 1, a, HANDOFF_COMPLETED, 5);
	assert_true(has_ended(t, 1, states, T0 + 1));
	assert_false(has_ended(t, 1, states, T0));
	assert_false(has_ended(t, 1, 1u << HANDOFF_ACKED, T0 + 1));
	h = get(t, t->space, add(t, t->space, 1, b, HANDOFF_PARKED, 5));
	assert_false(has_ended(t, 1, states, T0 + 1));
	h.state = HANDOFF_ACKED;
	must(store_begin(t->c));
	must(store_handoff_put(t->c, &h));
	must(store_commit(t->c));
	assert_true(has_ended(t, 1, states, T0 + 1));
}

static void what_is_pruned_leaves_id_digest_parent_and_times(void **state)
{
	struct temp_store *t = *state;
	int64_t a = agent_id(t, t->space, "a"), b = agent_id(t, t->space, "b");
	struct handoff_row h = new_handoff(t->space, 2, a);
	struct pruned_envelope left;
	struct pruned_handoff gone;
	struct result_row result = {.result = STR("1"), .input_tokens = -1};
	struct receipt_row receipt = {.memory = 1, .agent = STR("a"), .at_ms = T0}, receipts[2];
	struct envelope_row row;
	uint64_t last;
	size_t n;

	add_citing(t, 1, 0, "task", NULL, 0);
	add_citing(t, 2, 1, "task", NULL, 0);
	h.state = HANDOFF_COMPLETED;
	h.due_ms = 0;
	h.changed_at_ms = T0 + 5000;
	must(insert(t, &h));
	add(t, t->space, 2, b, HANDOFF_ACKED, 5);
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &result));
	must(store_receipt_put(t->c, t->space, 2, &receipt));
	must(store_commit(t->c));

	assert_int_equal(store_pruned_envelope(t->c, t->space, 2, &left), STORE_NOT_FOUND);
	assert_int_equal(store_pruned_handoff(t->c, t->space, 1, &gone), STORE_NOT_FOUND);
	assert_int_equal(prune(t, 2), 2);
	conformance_reopen(t);
	must(store_pruned_envelope(t->c, t->space, 2, &left));
	assert_int_equal(left.num, 2);
	assert_int_equal(left.parent, 1);
	assert_int_equal(left.created_at_ms, T0 + 2);
	assert_int_equal(left.digest[31], 2);
	must(store_pruned_handoff(t->c, t->space, 1, &gone));
	assert_int_equal(gone.num, 1);
	assert_int_equal(gone.envelope, 2);
	assert_int_equal(gone.state, HANDOFF_COMPLETED);
	assert_int_equal(gone.created_at_ms, T0);
	assert_int_equal(gone.changed_at_ms, T0 + 5000);
	assert_int_equal(store_envelope_get(t->c, t->space, 2, &t->arena, &row), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_get(t->c, t->space, 1, &t->arena, &h), STORE_NOT_FOUND);
	assert_int_equal(store_result_get(t->c, t->space, 1, &t->arena, &result), STORE_NOT_FOUND);
	must(store_receipts(t->c, t->space, 2, 2, &t->arena, receipts, &n));
	assert_int_equal(n, 0);
	/* Its task has another envelope, and numbers go on above. */
	must(store_task_find(t->c, t->space, STR("task")));
	must(store_envelope_last(t->c, t->space, &last));
	assert_int_equal(last, 2);
	assert_int_equal(add(t, t->space, 1, a, HANDOFF_QUEUED, 5), 3);
	must(store_begin(t->c));
	assert_int_equal(store_envelope_prune(t->c, t->space, 2, &(int64_t){0}), STORE_NOT_FOUND);
	must(store_commit(t->c));
}

static void what_is_pruned_is_not_found_though_it_was_read_before(void **state)
{
	struct temp_store *t = *state;
	int64_t a = agent_id(t, t->space, "a");
	struct handoff_filter of_envelope = {.space = t->space, .envelope = 1};
	struct result_row result = {.input_tokens = -1};
	struct handoff_row h;
	size_t n;

	add_citing(t, 1, 0, "task", NULL, 0);
	assert_int_equal(add(t, t->space, 1, a, HANDOFF_COMPLETED, 5), 1);
	must(store_begin(t->c));
	must(store_result_put(t->c, t->space, 1, &result));
	must(store_commit(t->c));
	must(store_handoff_get(t->c, t->space, 1, &t->arena, &h));
	must(store_result_find(t->c, t->space, 1, &result));
	must(store_handoffs(t->c, &of_envelope, 0, 1, &t->arena, &h, &n));
	assert_int_equal(n, 1);
	assert_int_equal(prune(t, 1), 1);
	assert_int_equal(store_handoff_get(t->c, t->space, 1, &t->arena, &h), STORE_NOT_FOUND);
	assert_int_equal(store_result_find(t->c, t->space, 1, &result), STORE_NOT_FOUND);
	must(store_handoffs(t->c, &of_envelope, 0, 1, &t->arena, &h, &n));
	assert_int_equal(n, 0);
}

static void the_last_envelope_takes_its_task_along(void **state)
{
	struct temp_store *t = *state;
	struct space_row space;
	struct task_row tasks[2];
	size_t n;

	add_citing(t, 1, 0, "first", NULL, 0);
	add_citing(t, 2, 0, "second", NULL, 0);
	add(t, t->space, 1, agent_id(t, t->space, "a"), HANDOFF_COMPLETED, 5);
	prune(t, 1);
	assert_int_equal(store_task_find(t->c, t->space, STR("first")), STORE_NOT_FOUND);
	must(store_tasks(t->c, t->space, 0, 2, &t->arena, tasks, &n));
	assert_int_equal(n, 1);
	must(store_space_get(t->c, t->space, &t->arena, &space));
	assert_int_equal(space.handoffs_pruned, 1);
	/* The name may be used again. */
	add_citing(t, 3, 0, "first", NULL, 0);
	must(store_task_find(t->c, t->space, STR("first")));
}

static void what_is_undone_was_never_pruned(void **state)
{
	struct temp_store *t = *state;
	int64_t a = agent_id(t, t->space, "a"), handoffs;
	uint64_t event = add_event(t, t->space, 1, T0), num;
	struct pruned_envelope left;
	struct envelope_row row;
	struct handoff_row h;
	struct event_row page[2];
	size_t n;

	num = remember(t, t->space, "a result");
	add_citing(t, 1, 0, "task", &num, 1);
	add(t, t->space, 1, a, HANDOFF_COMPLETED, 5);
	must(store_begin(t->c));
	must(store_envelope_prune(t->c, t->space, 1, &handoffs));
	must(store_memory_prune(t->c, t->space, num, T0));
	must(store_events_prune(t->c, t->space, &(int64_t){(int64_t)event}, 1));
	must(store_space_remove(t->c, t->space, T0));
	store_rollback(t->c);
	must(store_envelope_get(t->c, t->space, 1, &t->arena, &row));
	must(store_handoff_get(t->c, t->space, 1, &t->arena, &h));
	must(store_handoff_find(t->c, t->space, 1, a, &t->arena, &h));
	must(store_task_find(t->c, t->space, STR("task")));
	must(store_events(t->c, t->space, 1, 0, 2, &t->arena, page, &n));
	assert_int_equal(n, 1);
	must(store_cited_by(t->c, t->space, num, 0, &num));
	assert_int_equal(store_pruned_envelope(t->c, t->space, 1, &left), STORE_NOT_FOUND);
	must(store_space_find(t->c, STR("default"), &handoffs));
}

/* --- Results --- */

static void a_result_is_cited_by_envelopes_and_left_to_them(void **state)
{
	struct temp_store *t = *state;
	uint64_t results[2] = {remember(t, t->space, "one"), remember(t, t->space, "two")}, cited[4], citing = 0;
	int64_t a = agent_id(t, t->space, "a");
	struct memory m;
	size_t n;

	add_citing(t, 1, 0, "task", results, 2);
	add_citing(t, 2, 1, "task", results, 1);
	add(t, t->space, 1, a, HANDOFF_COMPLETED, 5);
	must(store_citations(t->c, t->space, 1, 4, cited, &n));
	assert_int_equal(n, 2);
	assert_int_equal(cited[0], results[0]);
	assert_int_equal(cited[1], results[1]);
	must(store_citations(t->c, t->space, 1, 1, cited, &n));
	assert_int_equal(n, 1);
	must(store_cited_by(t->c, t->space, results[0], 1, &citing));
	assert_int_equal(citing, 2);
	assert_int_equal(store_cited_by(t->c, t->space, results[1], 1, &citing), STORE_NOT_FOUND);
	assert_int_equal(store_result_left(t->c, t->space, results[0]), STORE_NOT_FOUND);
	must(store_begin(t->c));
	must(store_result_leave(t->c, t->space, results[0]));
	must(store_result_leave(t->c, t->space, results[0]));
	must(store_commit(t->c));
	must(store_result_left(t->c, t->space, results[0]));
	prune(t, 1);
	must(store_cited_by(t->c, t->space, results[0], 0, &citing));
	assert_int_equal(store_cited_by(t->c, t->space, results[1], 0, &citing), STORE_NOT_FOUND);
	must(store_begin(t->c));
	must(store_memory_prune(t->c, t->space, results[0], T0 + 9));
	must(store_commit(t->c));
	assert_int_equal(store_result_left(t->c, t->space, results[0]), STORE_NOT_FOUND);
	must(store_memory_get(t->c, t->space, results[0], 0, &t->arena, &m));
	assert_int_equal(m.forgotten_at_ms, T0 + 9);
	assert_int_equal(m.content.n, 0);
}

/* --- Events --- */

static void pruned_events_are_gone_and_their_ids_and_numbers_are_not_given_again(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), ids[2], last = 0;
	struct space_row space;
	struct event_row page[4];
	size_t n;

	ids[0] = (int64_t)add_event(t, t->space, 0, T0);
	add_event(t, other, 0, T0 + 1);
	ids[1] = (int64_t)add_event(t, t->space, 7, T0 + 2);
	must(store_begin(t->c));
	must(store_events_prune(t->c, t->space, ids, 2));
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_events(t->c, 0, 0, 0, 4, &t->arena, page, &n));
	assert_int_equal(n, 1);
	assert_int_equal(page[0].space, other);
	must(store_event_count(t->c, t->space, 7, &last));
	assert_int_equal(last, 0);
	must(store_space_get(t->c, t->space, &t->arena, &space));
	assert_int_equal(space.events_pruned, ids[1]);
	must(store_event_last(t->c, 0, &last));
	assert_int_equal(last, 3);
	must(store_event_last(t->c, t->space, &last));
	assert_int_equal(last, ids[1]);
	assert_int_equal(add_event(t, t->space, 0, T0 + 3), ids[1] + 1);
	must(store_events(t->c, 0, 0, 3, 4, &t->arena, page, &n));
	assert_true(n == 1 && page[0].id == 4);
	must(store_event_before(t->c, 0, T0 + 2, &last));
	assert_true(last >= 2 && last <= 3);
}

static void what_was_left_elsewhere_is_kept_and_its_number_is_taken(void **state)
{
	struct temp_store *t = *state;
	struct pruned_envelope envelope = {.num = 7, .parent = 3, .created_at_ms = T0, .digest = {1, 2, 3}}, left;
	struct pruned_handoff handoff = {.num = 4, .envelope = 7, .state = HANDOFF_EXPIRED, .created_at_ms = T0,
					 .changed_at_ms = T0 + 9}, gone;
	int64_t ann = agent_id(t, t->space, "ann");
	struct handoff_row next = new_handoff(t->space, 8, ann);
	struct space_row space;
	uint64_t last;

	add_envelope(t, t->space, 8);
	must(store_begin(t->c));
	must(store_pruned_envelope_put(t->c, t->space, &envelope));
	must(store_pruned_handoff_put(t->c, t->space, &handoff));
	assert_int_equal(store_pruned_envelope_put(t->c, t->space, &envelope), STORE_EXISTS);
	assert_int_equal(store_pruned_handoff_put(t->c, t->space, &handoff), STORE_EXISTS);
	envelope.num = 8;
	assert_int_equal(store_pruned_envelope_put(t->c, t->space, &envelope), STORE_EXISTS);
	must(store_handoff_insert(t->c, &next));
	assert_int_equal(next.num, 5);
	handoff.num = 5;
	assert_int_equal(store_pruned_handoff_put(t->c, t->space, &handoff), STORE_EXISTS);
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_pruned_envelope(t->c, t->space, 7, &left));
	assert_true(left.num == 7 && left.parent == 3 && left.created_at_ms == T0 && left.digest[2] == 3);
	must(store_pruned_handoff(t->c, t->space, 4, &gone));
	assert_true(gone.num == 4 && gone.envelope == 7 && gone.state == HANDOFF_EXPIRED &&
		    gone.created_at_ms == T0 && gone.changed_at_ms == T0 + 9);
	must(store_space_get(t->c, t->space, &t->arena, &space));
	assert_int_equal(space.handoffs_pruned, 1);
	must(store_handoff_last(t->c, t->space, &last));
	assert_int_equal(last, 5);
	/* The next one that is sent comes behind it, also where the store has just given a number itself. */
	add_envelope(t, t->space, 9);
	add_envelope(t, t->space, 10);
	must(store_begin(t->c));
	next = new_handoff(t->space, 9, ann);
	must(store_handoff_insert(t->c, &next));
	assert_int_equal(next.num, 6);
	handoff.num = 7;
	must(store_pruned_handoff_put(t->c, t->space, &handoff));
	must(store_handoff_last(t->c, t->space, &last));
	assert_int_equal(last, 7);
	next = new_handoff(t->space, 10, ann);
	must(store_handoff_insert(t->c, &next));
	assert_int_equal(next.num, 8);
	must(store_commit(t->c));
	/* Undone, it was never there. */
	handoff.num = 9;
	must(store_begin(t->c));
	must(store_pruned_handoff_put(t->c, t->space, &handoff));
	store_rollback(t->c);
	assert_int_equal(store_pruned_handoff(t->c, t->space, 9, &gone), STORE_NOT_FOUND);
	must(store_handoff_last(t->c, t->space, &last));
	assert_int_equal(last, 8);
}

/* A number above the highest would be one of the space behind it. */
static void behind_the_highest_number_there_is_none(void **state)
{
	struct temp_store *t = *state;
	struct pruned_handoff left = {.num = MEMORY_NUM_MAX, .envelope = 1, .state = HANDOFF_EXPIRED};
	struct envelope_row above = {.space = t->space, .num = MEMORY_NUM_MAX + 1, .task = STR("new"), .hop = 1,
				     .body = STR("{}"), .begins_task = true}, found;
	struct handoff_row next = new_handoff(t->space, 1, agent_id(t, t->space, "ann"));
	int64_t other = temp_space(t, "other");
	uint64_t last;

	add_envelope(t, t->space, 1);
	must(store_begin(t->c));
	must(store_pruned_handoff_put(t->c, t->space, &left));
	assert_int_equal(store_handoff_insert(t->c, &next), STORE_EXISTS);
	assert_int_equal(store_envelope_insert(t->c, &above), STORE_EXISTS);
	must(store_commit(t->c));
	assert_int_equal(store_task_find(t->c, t->space, STR("new")), STORE_NOT_FOUND);
	assert_int_equal(store_envelope_get(t->c, other, 0, &t->arena, &found), STORE_NOT_FOUND);
	must(store_handoff_last(t->c, other, &last));
	assert_int_equal(last, 0);
}

static void how_long_a_space_keeps_things_is_kept(void **state)
{
	struct temp_store *t = *state;
	struct space_keep keep = {1000, 2000, 3000};
	struct space_row space, list[2];
	size_t n;

	must(store_space_get(t->c, t->space, &t->arena, &space));
	assert_int_equal(space.keep.events_ms, KEEP_AS_SERVER);
	assert_int_equal(space.keep.handoffs_ms, KEEP_AS_SERVER);
	assert_int_equal(space.keep.idle_ms, KEEP_AS_SERVER);
	must(store_begin(t->c));
	must(store_space_set_keep(t->c, t->space, &keep));
	assert_int_equal(store_space_set_keep(t->c, t->space + 9, &keep), STORE_NOT_FOUND);
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_spaces(t->c, 0, 2, &t->arena, list, &n));
	assert_int_equal(list[0].keep.events_ms, 1000);
	assert_int_equal(list[0].keep.handoffs_ms, 2000);
	assert_int_equal(list[0].keep.idle_ms, 3000);
	assert_int_equal(store_space_get(t->c, t->space + 9, &t->arena, &space), STORE_NOT_FOUND);
}

static void what_is_free_is_given_back(void **state)
{
	struct temp_store *t = *state;
	struct store_info info;
	int64_t given = -1;
	char *text = mem_alloc(200001);

	memset(text, 'x', 200000);
	text[200000] = 0;
	remember(t, t->space, text);
	remember(t, t->space, "stays");
	must(store_begin(t->c));
	must(store_memory_prune(t->c, t->space, 1, T0));
	must(store_commit(t->c));
	must(store_info(t->c, &info));
	must(store_begin(t->c));
	must(store_give_back(t->c, &given));
	must(store_commit(t->c));
	assert_true(info.free_bytes == 0 ? given == 0 : given > 100000);
	/* Only what has files of its own gives back: a database shares them. */
	assert_true((info.free_bytes > 0) == (strcmp(info.engine, "sqlite") == 0));
	free(text);
}

/* --- Spaces that go --- */

static void fill(struct temp_store *t, int64_t space)
{
	int64_t a = agent_id(t, space, "a"), channel;
	struct channel_row row;
	struct route_row route = {.name = STR("r"), .settings = STR("{}")};
	struct alert_row alert = {.space = space, .name = STR("x"), .summary = STR("y"), .since_ms = T0};
	struct kept_reply reply = {.body = STR("b"), .at_ms = T0};
	struct target_row target = {.failures = 2, .open_until_ms = T0};
	uint64_t num = remember(t, space, "text");

	add_envelope(t, space, 1);
	add(t, space, 1, a, HANDOFF_QUEUED, 5);
	add_event(t, space, 1, T0 + 1);
	add_event(t, space, 0, T0 + 1);
	must(store_begin(t->c));
	must(store_channel_put(t->c, space, STR("c"), STR_NULL, T0));
	must(store_channel_get(t->c, space, STR("c"), &t->arena, &row));
	channel = row.id;
	must(store_subscriber_put(t->c, channel, a, T0));
	must(store_route_put(t->c, space, &route));
	must(store_alert_put(t->c, &alert));
	must(store_reply_put(t->c, space, STR("k"), &reply, &num, 1));
	must(store_target_put(t->c, a, &target));
	must(store_result_put(t->c, space, 1, &(struct result_row){.result = STR("1")}));
	must(store_commit(t->c));
}

static void count_row(void *ctx, const struct queue_row *row)
{
	(void)row;
	(*(size_t *)ctx)++;
}

static void a_removed_space_is_gone_and_its_name_is_free(void **state)
{
	struct temp_store *t = *state;
	int64_t doomed = temp_space(t, "doomed"), found = 0, again;
	struct space_row rows[4];
	struct str name;
	size_t n = 0;

	fill(t, doomed);
	assert_int_equal(store_space_removed(t->c, &found), STORE_NOT_FOUND);
	must(store_begin(t->c));
	must(store_space_remove(t->c, doomed, T0 + 5));
	assert_int_equal(store_space_remove(t->c, doomed, T0 + 5), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_int_equal(store_space_find(t->c, STR("doomed"), &found), STORE_NOT_FOUND);
	assert_int_equal(store_space_name(t->c, doomed, &t->arena, &name), STORE_NOT_FOUND);
	assert_int_equal(store_space_get(t->c, doomed, &t->arena, rows), STORE_NOT_FOUND);
	must(store_spaces(t->c, 0, 4, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	n = 0;
	must(store_queues(t->c, count_row, &n));
	assert_int_equal(n, 0);
	again = temp_space(t, "doomed");
	assert_true(again > doomed);
	must(store_space_removed(t->c, &found));
	assert_int_equal(found, doomed);
}

static void a_removed_space_is_purged_in_steps_and_the_others_stay(void **state)
{
	struct temp_store *t = *state;
	int64_t doomed = temp_space(t, "doomed"), found, agent = agent_id(t, doomed, "last"), last, id;
	size_t gone = 1, steps = 0, n;
	struct envelope_row envelope;
	struct handoff_row h;
	struct event_row page[8];
	struct alert_row alerts[4];
	struct agent_row agents[4];
	struct memory m;
	struct kept_reply reply;

	fill(t, t->space);
	fill(t, doomed);
	must(store_event_last(t->c, t->space, &last));
	must(store_begin(t->c));
	must(store_space_remove(t->c, doomed, T0 + 5));
	must(store_commit(t->c));
	for (; gone; steps++) {
		must(store_begin(t->c));
		must(store_space_purge(t->c, doomed, 1, &gone));
		must(store_commit(t->c));
	}
	assert_true(steps > 8);
	assert_int_equal(store_space_removed(t->c, &found), STORE_NOT_FOUND);
	assert_int_equal(store_envelope_get(t->c, doomed, 1, &t->arena, &envelope), STORE_NOT_FOUND);
	assert_int_equal(store_handoff_get(t->c, doomed, 1, &t->arena, &h), STORE_NOT_FOUND);
	assert_int_equal(store_memory_get(t->c, doomed, 1, 0, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(store_reply_get(t->c, doomed, STR("k"), &t->arena, &reply), STORE_NOT_FOUND);
	must(store_agents(t->c, doomed, STR_NULL, 4, &t->arena, agents, &n));
	assert_int_equal(n, 0);
	must(store_events(t->c, doomed, 0, 0, 8, &t->arena, page, &n));
	assert_int_equal(n, 0);
	must(store_alerts(t->c, 0, ALERTS_ALL, 0, 4, &t->arena, alerts, &n));
	assert_int_equal(n, 1);
	must(store_envelope_get(t->c, t->space, 1, &t->arena, &envelope));
	must(store_handoff_get(t->c, t->space, 1, &t->arena, &h));
	must(store_memory_get(t->c, t->space, 1, 0, &t->arena, &m));
	must(store_reply_get(t->c, t->space, STR("k"), &t->arena, &reply));
	must(store_events(t->c, t->space, 0, 0, 8, &t->arena, page, &n));
	assert_int_equal(n, 2);
	/* No id is given again. */
	assert_true(agent_id(t, t->space, "new") > agent);
	assert_true((int64_t)add_event(t, t->space, 0, T0) > last);
	id = temp_space(t, "doomed");
	assert_true(id > doomed);
}

static const struct CMUnitTest retention[] = {
	with_engine(an_envelope_has_ended_with_the_last_of_its_handoffs),
	with_engine(what_is_pruned_leaves_id_digest_parent_and_times),
	with_engine(what_is_pruned_is_not_found_though_it_was_read_before),
	with_engine(the_last_envelope_takes_its_task_along),
	with_engine(what_is_undone_was_never_pruned),
	with_engine(a_result_is_cited_by_envelopes_and_left_to_them),
	with_engine(pruned_events_are_gone_and_their_ids_and_numbers_are_not_given_again),
	with_engine(how_long_a_space_keeps_things_is_kept),
	with_engine(what_was_left_elsewhere_is_kept_and_its_number_is_taken),
	with_engine(behind_the_highest_number_there_is_none),
	with_engine(what_is_free_is_given_back),
	with_engine(a_removed_space_is_gone_and_its_name_is_free),
	with_engine(a_removed_space_is_purged_in_steps_and_the_others_stay),
};

CONFORMANCE_PART(retention);
