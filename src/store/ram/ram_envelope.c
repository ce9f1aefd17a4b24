/* Envelopes, tasks and receipts in memory. */
#include "store/ram/ram_internal.h"

/* --- Tasks --- */

static struct ram_task *task_named(const struct ram_store *s, int64_t space, struct str name)
{
	return ram_index_find(&s->task_names, &(struct ram_task){.space = space, .row.name = name});
}

static struct ram_task *make_task(struct ram_store *s, const struct envelope_row *row)
{
	struct ram_task *task = ram_new(s, sizeof(*task));

	task->space = row->space;
	task->row = (struct task_row){.id = ram_key(row->space, row->num), .name = ram_text(s, row->task),
				      .created_at_ms = row->created_at_ms};
	ram_insert(s, &s->tasks_by_id, task);
	ram_insert(s, &s->task_names, task);
	return task;
}

enum store_status ram_task_find(struct store_conn *c, int64_t space, struct str task)
{
	return task_named(ram_of(c), space, task) ? STORE_OK : STORE_NOT_FOUND;
}

/* --- Envelopes --- */

struct ram_envelope *ram_envelope_at(const struct ram_store *s, int64_t space, uint64_t num)
{
	return ram_index_find(&s->envelopes, &(struct ram_envelope){.row = {.space = space, .num = num}});
}

enum store_status ram_envelope_insert(struct store_conn *c, const struct envelope_row *row)
{
	struct ram_store *s = ram_of(c);
	struct ram_envelope *e;

	if (row->task.p == NULL || row->body.p == NULL)
		return STORE_REFUSED;
	if (row->num > MEMORY_NUM_MAX || ram_envelope_at(s, row->space, row->num) ||
	    (row->begins_task && task_named(s, row->space, row->task)))
		return STORE_EXISTS;
	e = ram_new(s, sizeof(*e));
	e->row = *row;
	e->row.body = ram_text(s, row->body);
	e->row.considered = ram_text(s, row->considered);
	e->row.intent = e->row.summary = STR_NULL;
	e->row.begins_task = false;
	e->row.tokens = 0;
	if (!row->has_body_digest)
		memset(e->row.body_digest, 0, sizeof(e->row.body_digest));
	e->task = task_named(s, row->space, row->task);
	if (e->task == NULL)
		e->task = make_task(s, row);
	ram_save(s, RAM_BYTES, &e->task->row, sizeof(e->task->row));
	e->task->row.envelopes++;
	e->task->row.hops = row->hop > e->task->row.hops ? row->hop : e->task->row.hops;
	e->task->row.tokens += row->tokens;
	e->task->row.intent = ram_text(s, row->intent);
	e->task->row.summary = ram_text(s, row->summary);
	e->row.task = e->task->row.name;
	ram_insert(s, &s->envelopes, e);
	ram_count_bytes(s, row->space, (int64_t)row->body.n);
	ram_insert(s, &s->task_envelopes, e);
	e->row.results = NULL;
	e->row.result_count = 0;
	for (size_t i = 0; i < row->result_count; i++) {
		struct ram_citation made = {ram_key(row->space, row->num), ram_key(row->space, row->results[i])};
		struct ram_citation *kept = ram_index_find(&s->citations, &made);

		if (kept)
			continue;
		kept = ram_new(s, sizeof(*kept));
		*kept = made;
		ram_insert(s, &s->citations, kept);
	}
	return STORE_OK;
}

static struct envelope_row row_of(const struct ram_envelope *e)
{
	struct envelope_row row = e->row;

	row.considered = STR_NULL;
	return row;
}

enum store_status ram_envelope_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				   struct envelope_row *ret)
{
	const struct ram_envelope *e = ram_envelope_at(ram_of(c), space, num);

	(void)arena;
	if (e == NULL)
		return STORE_NOT_FOUND;
	*ret = row_of(e);
	return STORE_OK;
}

enum store_status ram_envelope_considered(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					  struct str *ret)
{
	const struct ram_envelope *e = ram_envelope_at(ram_of(c), space, num);

	(void)arena;
	if (e == NULL)
		return STORE_NOT_FOUND;
	*ret = e->row.considered;
	return STORE_OK;
}

enum store_status ram_envelope_last(struct store_conn *c, int64_t space, uint64_t *ret_num)
{
	const struct ram_index *envelopes = &ram_of(c)->envelopes;
	size_t end = ram_index_from(envelopes, &(struct ram_envelope){.row = {.space = space + 1}});
	const struct ram_envelope *e = end ? envelopes->rows[end - 1] : NULL;
	const struct ram_index *gone = &ram_of(c)->pruned_envelopes;
	const struct ram_pruned_envelope *pruned;
	uint64_t last = e && e->row.space == space ? e->row.num : 0;

	end = ram_index_from(gone, &(struct ram_pruned_envelope){.key = ram_key(space + 1, 0)});
	pruned = end ? gone->rows[end - 1] : NULL;
	*ret_num = pruned && pruned->key >> 40 == space && pruned->row.num > last ? pruned->row.num : last;
	return STORE_OK;
}

enum store_status ram_envelope_next(struct store_conn *c, int64_t space, uint64_t after, uint64_t *ret_num)
{
	const struct ram_index *envelopes = &ram_of(c)->envelopes, *gone = &ram_of(c)->pruned_envelopes;
	size_t at = ram_index_from(envelopes, &(struct ram_envelope){.row = {.space = space, .num = after + 1}});
	const struct ram_envelope *e = at < envelopes->count ? envelopes->rows[at] : NULL;
	const struct ram_pruned_envelope *pruned;
	uint64_t next = e && e->row.space == space ? e->row.num : 0;

	at = ram_index_from(gone, &(struct ram_pruned_envelope){.key = ram_key(space, after + 1)});
	pruned = at < gone->count ? gone->rows[at] : NULL;
	if (pruned && pruned->key >> 40 == space && (next == 0 || pruned->row.num < next))
		next = pruned->row.num;
	*ret_num = next;
	return STORE_OK;
}

enum store_status ram_task_envelopes(struct store_conn *c, int64_t space, struct str name, uint64_t after, size_t max,
				     struct arena *arena, struct envelope_row *ret, size_t *ret_count)
{
	const struct ram_index *envelopes = &ram_of(c)->task_envelopes;
	struct ram_task *task = task_named(ram_of(c), space, name);
	struct ram_envelope from = {.task = task, .row = {.space = space, .num = after + 1}};
	size_t count = 0;

	(void)arena;
	for (size_t i = task ? ram_index_from(envelopes, &from) : 0; task && i < envelopes->count && count < max; i++) {
		const struct ram_envelope *e = envelopes->rows[i];

		if (e->task != task)
			break;
		ret[count++] = row_of(e);
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_task_links(struct store_conn *c, int64_t space, struct str name, uint64_t after, size_t max,
				 struct envelope_link *ret, size_t *ret_count)
{
	const struct ram_index *envelopes = &ram_of(c)->task_envelopes;
	struct ram_task *task = task_named(ram_of(c), space, name);
	struct ram_envelope from = {.task = task, .row = {.space = space, .num = after + 1}};
	size_t count = 0;

	for (size_t i = task ? ram_index_from(envelopes, &from) : 0; task && i < envelopes->count && count < max; i++) {
		const struct ram_envelope *e = envelopes->rows[i];

		if (e->task != task)
			break;
		ret[count++] = (struct envelope_link){e->row.num, e->row.parent};
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_task_last(struct store_conn *c, int64_t space, struct str name, struct arena *arena,
				struct envelope_row *ret)
{
	const struct ram_index *envelopes = &ram_of(c)->task_envelopes;
	struct ram_task *task = task_named(ram_of(c), space, name);
	struct ram_envelope end = {.task = task, .row = {.space = space + 1}};

	(void)arena;
	if (task == NULL)
		return STORE_NOT_FOUND;
	*ret = row_of(envelopes->rows[ram_index_from(envelopes, &end) - 1]);
	return STORE_OK;
}

/* --- Receipts --- */

/* Where the receipts of the envelope begin. */
static size_t receipts_of(const struct ram_store *s, int64_t envelope)
{
	return ram_index_from(&s->receipts, &(struct ram_receipt){.envelope = envelope, .row.at_ms = INT64_MIN});
}

enum store_status ram_receipt_put(struct store_conn *c, int64_t space, uint64_t envelope,
				  const struct receipt_row *receipt)
{
	struct ram_store *s = ram_of(c);
	int64_t key = ram_key(space, envelope);
	struct ram_receipt *made;

	if (receipt->agent.p == NULL)
		return STORE_REFUSED;
	for (size_t i = receipts_of(s, key); i < s->receipts.count; i++) {
		const struct ram_receipt *r = s->receipts.rows[i];

		if (r->envelope != key)
			break;
		if (r->row.memory == receipt->memory && str_eq(r->row.agent, receipt->agent))
			return STORE_OK;
	}
	made = ram_new(s, sizeof(*made));
	*made = (struct ram_receipt){key, {receipt->memory, ram_text(s, receipt->agent), receipt->at_ms}};
	ram_insert(s, &s->receipts, made);
	return STORE_OK;
}

enum store_status ram_receipts(struct store_conn *c, int64_t space, uint64_t envelope, size_t max,
			       struct arena *arena, struct receipt_row *ret, size_t *ret_count)
{
	const struct ram_index *receipts = &ram_of(c)->receipts;
	int64_t key = ram_key(space, envelope);
	size_t count = 0;

	(void)arena;
	for (size_t i = receipts_of(ram_of(c), key); i < receipts->count && count < max; i++) {
		const struct ram_receipt *r = receipts->rows[i];

		if (r->envelope != key)
			break;
		ret[count++] = r->row;
	}
	*ret_count = count;
	return STORE_OK;
}
