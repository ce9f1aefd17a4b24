#include "store/postgres/postgres_gather.h"

#include "store/postgres/postgres_internal.h"

#include <assert.h>
#include <string.h>

enum { GATHER_TABLES = 8 };

struct gathered_handoff {
	struct gathered_handoff *next, *next_made, *next_of_target;
	int64_t key;
	bool is_new;
	struct handoff_row row;
};

/* What its envelopes say of it. */
struct gathered_task {
	struct gathered_task *next, *next_made;
	int64_t key, space, created_at_ms, hops, tokens;
	struct str name, intent, summary;
	bool is_new;
};

/* --- Statements --- */

#define INTS(n) "$" #n "::bigint[]"
#define TEXTS(n) "$" #n "::bytea[]"
#define REALS(n) "$" #n "::double precision[]"

/* What must be there is, or the transaction fails: nobody waits for how many rows a statement has changed. */
#define SURE(statement, count) \
	"WITH put AS (" statement " RETURNING 1) SELECT 1 / (count(*) = " count ")::int FROM put"

/* Each row of u is looked up by its id, and changed where it lies. A plain join may be planned, while the table is
 * small, as one that goes through all rows of the shard. */
#define EACH(table, changed) \
	"LATERAL (SELECT t.ctid AS place FROM " table " t WHERE t.shard = u.shard AND t.id = u.id OFFSET 0) l " \
	"WHERE " changed ".ctid = l.place"

/* The first column of each is the shard: rows of several go out together (postgres_group.h). */
static const char events_sql[] =
	"INSERT INTO event (shard, id, space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, "
	"value_1, value_2, access_key, number) SELECT u.* FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4) ", " INTS(5)
	", " INTS(6) ", " INTS(7) ", " INTS(8) ", " INTS(9) ", " TEXTS(10) ", " TEXTS(11) ", " TEXTS(12) ", " INTS(13)
	", " REALS(14) ", " REALS(15) ", " INTS(16) ", " INTS(17) ") u";
static const char envelopes_sql[] =
	"INSERT INTO envelope (shard, id, task, parent, hop, created_at, texts, digest, body_digest, body, considered) "
	"SELECT u.* FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4) ", " INTS(5) ", " INTS(6) ", " INTS(7) ", "
	INTS(8) ", " TEXTS(9) ", " TEXTS(10) ", " TEXTS(11) ", " TEXTS(12) ") u";
static const char citations_sql[] =
	"INSERT INTO citation (shard, envelope, memory) SELECT u.* FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4)
	") u ON CONFLICT DO NOTHING";
static const char spaces_sql[] =
	"UPDATE space s SET bytes = s.bytes + u.bytes, agents = s.agents + u.agents "
	"FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4) ", " INTS(5) ") u(shard, id, bytes, agents), "
	EACH("space", "s");
static const char new_tasks_sql[] =
	"INSERT INTO task (shard, id, space, name, created_at, hops, tokens, intent, summary) "
	"SELECT u.* FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4) ", " TEXTS(5) ", " INTS(6) ", " INTS(7) ", "
	INTS(8) ", " TEXTS(9) ", " TEXTS(10) ") u";
static const char tasks_sql[] = SURE(
	"UPDATE task k SET hops = greatest(k.hops, u.hops), tokens = k.tokens + u.tokens, intent = u.intent, "
	"summary = u.summary FROM unnest(" INTS(2) ", " INTS(3) ", " INTS(4) ", " INTS(5) ", " TEXTS(6) ", " TEXTS(7)
	") u(shard, id, hops, tokens, intent, summary), " EACH("task", "k"), "$8");

#define HANDOFF_COLUMNS \
	"shard, id, target, agent, channel, state, priority, attempt, max_attempts, leases, due, expires_at, " \
	"ack_timeout, lease_ms, changed_at, acked_at, flags, receiver, fallbacks, reason, progress, place, " \
	"not_before, queue_timeout, queue_until, passes, outage, marks"
#define HANDOFF_ARRAYS \
	INTS(2) ", " INTS(3) ", " INTS(4) ", " INTS(5) ", " INTS(6) ", " INTS(7) ", " INTS(8) ", " INTS(9) ", " \
	INTS(10) ", " INTS(11) ", " INTS(12) ", " INTS(13) ", " INTS(14) ", " INTS(15) ", " INTS(16) ", " INTS(17) \
	", " INTS(18) ", " TEXTS(19) ", " TEXTS(20) ", " TEXTS(21) ", " TEXTS(22) ", " INTS(23) ", " INTS(24) ", " \
	INTS(25) ", " INTS(26) ", " INTS(27) ", " INTS(28) ", " INTS(29)

static const char new_handoffs_sql[] =
	"INSERT INTO handoff (" HANDOFF_COLUMNS ", envelope, created_at, sender) SELECT u.* FROM unnest("
	HANDOFF_ARRAYS ", " INTS(30) ", " INTS(31) ", " TEXTS(32) ") u";
static const char handoffs_sql[] = SURE(
	"UPDATE handoff h SET target = u.target, agent = u.agent, channel = u.channel, state = u.state, "
	"priority = u.priority, attempt = u.attempt, max_attempts = u.max_attempts, leases = u.leases, due = u.due, "
	"expires_at = u.expires_at, ack_timeout = u.ack_timeout, lease_ms = u.lease_ms, changed_at = u.changed_at, "
	"acked_at = u.acked_at, flags = u.flags, receiver = u.receiver, fallbacks = u.fallbacks, reason = u.reason, "
	"progress = u.progress, place = u.place, not_before = u.not_before, queue_timeout = u.queue_timeout, "
	"queue_until = u.queue_until, passes = u.passes, outage = u.outage, marks = u.marks FROM unnest("
	HANDOFF_ARRAYS ") u(" HANDOFF_COLUMNS "), " EACH("handoff", "h"), "$30");

/* --- Rows --- */

void postgres_gather_event(struct postgres_gather *g, const struct event_row *event)
{
	struct postgres_table *t = &g->events;

	postgres_table_int(t, g->shard);
	postgres_table_int(t, event->id);
	postgres_table_int(t, event->space);
	postgres_table_int(t, event->at_ms);
	postgres_table_int(t, event->kind);
	postgres_table_int(t, (int64_t)event->handoff);
	postgres_table_int(t, (int64_t)event->envelope);
	postgres_table_int(t, event->attempt);
	postgres_table_str(t, event->agent);
	postgres_table_str(t, event->actor);
	postgres_table_str(t, event->note);
	postgres_table_int(t, (int64_t)event->memory);
	postgres_table_real(t, event->value[0]);
	postgres_table_real(t, event->value[1]);
	postgres_table_int(t, (int64_t)event->access_key);
	postgres_table_int(t, event->number);
	postgres_table_end_row(t);
	g->row_count++;
	g->bytes += event->note.n + event->agent.n + event->actor.n;
}

static size_t bucket_of(int64_t key)
{
	return (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 55);
}

_Static_assert(GATHER_BUCKETS == 512, ">> 55");

/* --- Tasks and envelopes --- */

static struct gathered_task *task_of(struct postgres_gather *g, int64_t key)
{
	struct gathered_task *t = g->task_buckets[bucket_of(key)];

	while (t && t->key != key)
		t = t->next;
	return t;
}

static struct gathered_task *add_task(struct postgres_gather *g, int64_t key, bool is_new)
{
	struct gathered_task **bucket = &g->task_buckets[bucket_of(key)], *t = arena_zalloc(&g->arena, sizeof(*t));

	*t = (struct gathered_task){.next = *bucket, .key = key, .is_new = is_new};
	*bucket = t;
	*g->last_task = t;
	g->last_task = &t->next_made;
	return t;
}

/* The newest envelope says what its task is known by. */
static void gather_task(struct postgres_gather *g, const struct envelope_row *row, int64_t key, bool is_new)
{
	struct gathered_task *t = task_of(g, key);

	if (t == NULL) {
		t = add_task(g, key, is_new);
		t->space = row->space;
		t->created_at_ms = row->created_at_ms;
		t->hops = row->hop;
		t->name = arena_str(&g->arena, row->task);
	}
	t->hops = row->hop > t->hops ? row->hop : t->hops;
	t->tokens += row->tokens;
	t->intent = row->intent.p ? arena_str(&g->arena, row->intent) : STR_NULL;
	t->summary = row->summary.p ? arena_str(&g->arena, row->summary) : STR_NULL;
}

void postgres_gather_envelope(struct postgres_gather *g, const struct envelope_row *row, int64_t task, bool is_new)
{
	struct postgres_table *t = &g->envelopes;
	int64_t key = postgres_key(row->space, row->num);

	gather_task(g, row, task, is_new);
	postgres_table_int(t, g->shard);
	postgres_table_int(t, key);
	postgres_table_int(t, task);
	postgres_table_int(t, (int64_t)row->parent);
	postgres_table_int(t, row->hop);
	postgres_table_int(t, row->created_at_ms);
	postgres_table_int(t, row->texts);
	postgres_table_str(t, (struct str){(const char *)row->digest, sizeof(row->digest)});
	postgres_table_str(t, row->has_body_digest
				      ? (struct str){(const char *)row->body_digest, sizeof(row->body_digest)}
				      : STR_NULL);
	postgres_table_str(t, row->body);
	postgres_table_str(t, row->considered);
	postgres_table_end_row(t);
	for (size_t i = 0; i < row->result_count; i++) {
		postgres_table_int(&g->citations, g->shard);
		postgres_table_int(&g->citations, key);
		postgres_table_int(&g->citations, postgres_key(row->space, row->results[i]));
		postgres_table_end_row(&g->citations);
	}
	g->row_count += 2 + row->result_count;
	g->bytes += row->body.n + row->considered.n;
}

void postgres_gather_space(struct postgres_gather *g, int64_t space, int64_t bytes, int64_t agents)
{
	postgres_table_int(&g->spaces, g->shard);
	postgres_table_int(&g->spaces, space);
	postgres_table_int(&g->spaces, bytes);
	postgres_table_int(&g->spaces, agents);
	postgres_table_end_row(&g->spaces);
	g->row_count++;
}

/* --- Handoffs --- */

static struct gathered_handoff *handoff_of(const struct postgres_gather *g, int64_t key)
{
	struct gathered_handoff *h = g->handoff_buckets[bucket_of(key)];

	while (h && h->key != key)
		h = h->next;
	return h;
}

const struct handoff_row *postgres_gather_find_handoff(const struct postgres_gather *g, int64_t key)
{
	const struct gathered_handoff *h = g ? handoff_of(g, key) : NULL;

	return h ? &h->row : NULL;
}

static int64_t envelope_of(const struct gathered_handoff *h)
{
	return postgres_key(h->row.space, h->row.envelope);
}

static size_t target_bucket_of(int64_t envelope, int64_t target)
{
	return bucket_of(envelope ^ target);
}

const struct handoff_row *postgres_gather_find_handed(const struct postgres_gather *g, int64_t envelope, int64_t target)
{
	const struct gathered_handoff *h = g ? g->target_buckets[target_bucket_of(envelope, target)] : NULL;

	while (h && (h->row.target != target || envelope_of(h) != envelope))
		h = h->next_of_target;
	return h ? &h->row : NULL;
}

static struct gathered_handoff **target_bucket(struct postgres_gather *g, const struct gathered_handoff *h)
{
	return &g->target_buckets[target_bucket_of(envelope_of(h), h->row.target)];
}

static void forget_target(struct postgres_gather *g, struct gathered_handoff *h)
{
	struct gathered_handoff **at = target_bucket(g, h);

	while (*at != h)
		at = &(*at)->next_of_target;
	*at = h->next_of_target;
}

static void keep_target(struct postgres_gather *g, struct gathered_handoff *h)
{
	struct gathered_handoff **bucket = target_bucket(g, h);

	h->next_of_target = *bucket;
	*bucket = h;
}

static struct str copy(struct postgres_gather *g, struct str s)
{
	g->bytes += s.p ? s.n : 0;
	return s.p ? arena_str(&g->arena, s) : STR_NULL;
}

static struct gathered_handoff *add_handoff(struct postgres_gather *g, int64_t key, bool is_new)
{
	struct gathered_handoff **bucket = &g->handoff_buckets[bucket_of(key)], *h;

	h = arena_zalloc(&g->arena, sizeof(*h));
	*h = (struct gathered_handoff){.next = *bucket, .key = key, .is_new = is_new};
	*bucket = h;
	*g->last_handoff = h;
	g->last_handoff = &h->next_made;
	g->row_count++;
	return h;
}

void postgres_gather_handoff(struct postgres_gather *g, const struct handoff_row *row, bool is_new)
{
	int64_t key = postgres_key(row->space, row->num);
	struct gathered_handoff *h = handoff_of(g, key);
	struct handoff_row kept = *row;

	if (h)
		forget_target(g, h);
	else
		h = add_handoff(g, key, is_new);
	kept.target_name = kept.agent_name = kept.channel_name = STR_NULL;
	kept.held_until_ms = 0;
	kept.from = copy(g, row->from);
	kept.receiver = copy(g, row->receiver);
	kept.fallbacks = copy(g, row->fallbacks);
	kept.reason = copy(g, row->reason);
	kept.progress = copy(g, row->progress);
	h->row = kept;
	keep_target(g, h);
}

static void put_handoff(struct postgres_table *t, int64_t shard, const struct gathered_handoff *made)
{
	const struct handoff_row *h = &made->row;
	const int64_t head[] = {
		shard, made->key, h->target, h->agent, h->channel, h->state, h->priority, h->attempt, h->max_attempts,
		h->leases, h->due_ms, h->expires_at_ms, h->ack_timeout_ms, h->lease_ms, h->changed_at_ms,
		h->acked_at_ms, postgres_handoff_flags(h),
	};
	const int64_t tail[] = {
		(int64_t)h->place, h->not_before_ms, h->queue_timeout_ms, h->queue_until_ms, h->passes, h->is_outage,
		postgres_handoff_marks(h),
	};

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		postgres_table_int(t, head[i]);
	postgres_table_str(t, h->receiver);
	postgres_table_str(t, h->fallbacks);
	postgres_table_str(t, h->reason);
	postgres_table_str(t, h->progress);
	for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++)
		postgres_table_int(t, tail[i]);
	if (made->is_new) {
		postgres_table_int(t, postgres_key(h->space, h->envelope));
		postgres_table_int(t, h->created_at_ms);
		postgres_table_str(t, h->from);
	}
	postgres_table_end_row(t);
}

/* --- Statements that wait with them --- */

struct gathered_statement {
	struct gathered_statement *next;
	struct postgres_query query;
};

void postgres_gather_statement(struct postgres_gather *g, const struct postgres_query *q)
{
	struct gathered_statement *s = arena_zalloc(&g->arena, sizeof(*s));

	s->query = *q;
	s->query.is_gathered = true;
	for (int i = 0; i < q->count; i++) {
		if (q->values[i] == (const char *)&q->numbers[i])
			s->query.values[i] = (const char *)&s->query.numbers[i];
		else if (q->values[i])
			s->query.values[i] = copy(g, (struct str){q->values[i], (size_t)q->lengths[i]}).p;
	}
	*g->last_statement = s;
	g->last_statement = &s->next;
	g->row_count++;
}

enum store_status postgres_gather_send_statements(struct postgres_gather *g, struct store_conn *c)
{
	for (struct gathered_statement *s = g->first_statement; s; s = s->next) {
		enum store_status status;

		s->query.c = c;
		status = postgres_run(&s->query);
		/* A session that broke has taken what was gathered along. */
		if (status != STORE_OK)
			return status;
	}
	return STORE_OK;
}

void postgres_gather_drop_statements(struct postgres_gather *g)
{
	g->first_statement = NULL;
	g->last_statement = &g->first_statement;
}

/* --- Sending --- */

static void put_task(struct postgres_table *table, int64_t shard, const struct gathered_task *t)
{
	postgres_table_int(table, shard);
	postgres_table_int(table, t->key);
	if (t->is_new) {
		postgres_table_int(table, t->space);
		postgres_table_str(table, t->name);
		postgres_table_int(table, t->created_at_ms);
	}
	postgres_table_int(table, t->hops);
	postgres_table_int(table, t->tokens);
	postgres_table_str(table, t->intent);
	postgres_table_str(table, t->summary);
	postgres_table_end_row(table);
}

void postgres_gather_make(struct postgres_gather *g)
{
	if (g->is_made)
		return;
	g->is_made = true;
	for (const struct gathered_handoff *h = g->first_handoff; h; h = h->next_made)
		put_handoff(h->is_new ? &g->new_handoffs : &g->handoffs, g->shard, h);
	for (const struct gathered_task *t = g->first_task; t; t = t->next_made)
		put_task(t->is_new ? &g->new_tasks : &g->tasks, g->shard, t);
}

/* Those of a statement that is sure of them are counted behind its columns. */
static enum store_status send_table(struct store_conn *c, struct postgres_table *t, const char *sql, bool is_counted)
{
	struct postgres_query q;

	if (t->row_count == 0)
		return STORE_OK;
	postgres_query(&q, c, sql);
	q.is_apart = true;
	q.is_gathered = true;
	for (size_t i = 0; i < t->column_count; i++)
		postgres_bind_str(&q, (int)i + 2, postgres_table_column(t, i));
	if (is_counted)
		postgres_bind_int(&q, (int)t->column_count + 2, (int64_t)t->row_count);
	return postgres_run(&q);
}

/* A new handoff may take the place of one that has another target now. */
static void list_tables(struct postgres_gather *g, struct postgres_table *ret[GATHER_TABLES])
{
	struct postgres_table *const tables[GATHER_TABLES] = {
		&g->new_tasks, &g->tasks, &g->envelopes, &g->citations, &g->handoffs, &g->new_handoffs, &g->events,
		&g->spaces,
	};

	memcpy(ret, tables, sizeof(tables));
}

enum store_status postgres_gather_send_rows(struct postgres_gather *g, struct store_conn *c)
{
	static const struct {
		const char *sql;
		bool is_counted;
	} parts[GATHER_TABLES] = {
		{new_tasks_sql, false}, {tasks_sql, true}, {envelopes_sql, false}, {citations_sql, false},
		{handoffs_sql, true}, {new_handoffs_sql, false}, {events_sql, false}, {spaces_sql, false},
	};
	struct postgres_table *tables[GATHER_TABLES];
	enum store_status status = STORE_OK;

	postgres_gather_make(g);
	list_tables(g, tables);
	for (size_t i = 0; status == STORE_OK && i < GATHER_TABLES; i++)
		status = send_table(c, tables[i], parts[i].sql, parts[i].is_counted);
	return status;
}

void postgres_gather_append(struct postgres_gather *g, const struct postgres_gather *from)
{
	struct postgres_table *to[GATHER_TABLES], *tables[GATHER_TABLES];

	list_tables(g, to);
	list_tables((struct postgres_gather *)(uintptr_t)from, tables);
	for (size_t i = 0; i < GATHER_TABLES; i++)
		postgres_table_append(to[i], tables[i]);
	g->is_made = true;
}

/* --- Life --- */

void postgres_gather_init(struct postgres_gather *g, int64_t shard)
{
	*g = (struct postgres_gather){.shard = shard};
	arena_init(&g->arena);
	g->last_handoff = &g->first_handoff;
	g->last_task = &g->first_task;
	g->last_statement = &g->first_statement;
}

void postgres_gather_clear(struct postgres_gather *g)
{
	struct postgres_table *tables[GATHER_TABLES];

	list_tables(g, tables);
	for (size_t i = 0; i < GATHER_TABLES; i++)
		postgres_table_clear(tables[i]);
	memset(g->handoff_buckets, 0, sizeof(g->handoff_buckets));
	memset(g->target_buckets, 0, sizeof(g->target_buckets));
	memset(g->task_buckets, 0, sizeof(g->task_buckets));
	g->first_handoff = NULL;
	g->last_handoff = &g->first_handoff;
	g->first_task = NULL;
	g->last_task = &g->first_task;
	postgres_gather_drop_statements(g);
	arena_release(&g->arena);
	g->row_count = g->bytes = 0;
	g->is_made = false;
}

void postgres_gather_release(struct postgres_gather *g)
{
	struct postgres_table *tables[GATHER_TABLES];

	list_tables(g, tables);
	for (size_t i = 0; i < GATHER_TABLES; i++)
		postgres_table_release(tables[i]);
	arena_release(&g->arena);
}
