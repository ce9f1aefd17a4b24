/* Lists of tasks on PostgreSQL. Nothing is kept for them but what a task is known by: how it stands follows from its
 * handoffs, and when it was last changed from the history. */
#include "store/postgres/postgres_internal.h"

#include "store/task_work.h"
#include "store/text_holds.h"

_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_DELAYED == 1 && HANDOFF_LEASED == 2, "state = 0, state = 1, state > 1");
_Static_assert(HANDOFF_ACKED == 4 && HANDOFF_PARKED == 6, "state < 4, state = 6");
_Static_assert(EVENT_ROW_PACKED == 28, "kind = 28");
_Static_assert(MEMORY_NUM_MAX == 1099511627775, "& 1099511627775");

#define TASK_COLUMNS \
	"SELECT t.id, t.name, t.created_at, (SELECT count(*) FROM envelope e WHERE e.shard = $1 AND e.task = t.id), " \
	"t.hops, t.tokens, t.intent, t.summary FROM task t WHERE t.shard = $1 "

/* From a task to its handoffs. */
#define HANDOFFS_OF(task) \
	"envelope e JOIN handoff h ON h.shard = $1 AND h.envelope = e.id WHERE e.shard = $1 AND e.task = " task " "

static void read_task(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct task_row *)ret = (struct task_row){
		.id = postgres_column_int(r, 0),
		.name = postgres_column_str(r, 1, arena),
		.created_at_ms = postgres_column_int(r, 2),
		.envelopes = postgres_column_int(r, 3),
		.hops = postgres_column_int(r, 4),
		.tokens = postgres_column_int(r, 5),
		.intent = postgres_column_str(r, 6, arena),
		.summary = postgres_column_str(r, 7, arena),
	};
}

enum store_status postgres_tasks(struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena,
				 struct task_row *ret, size_t *ret_count)
{
	static const char sql[] = TASK_COLUMNS "AND t.id > $2 AND t.id <= $3 ORDER BY t.id DESC LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, 0));
	postgres_bind_int(&q, 3, before ? before - 1 : postgres_key(space, MEMORY_NUM_MAX));
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_task, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_task_get(struct store_conn *c, int64_t id, struct arena *arena, struct task_row *ret)
{
	static const char sql[] = TASK_COLUMNS "AND t.id = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, id);
	return postgres_read_one(&q, read_task, arena, ret);
}

enum store_status postgres_task_work(struct store_conn *c, int64_t id, struct arena *arena, struct task_work *ret)
{
	static const char sql[] =
		"SELECT h.id, h.agent, h.state, h.changed_at, (SELECT n.name FROM agent n WHERE n.shard = $1 "
		"AND n.id = h.agent) FROM " HANDOFFS_OF("$2");
	struct postgres_query q;
	PGresult *result = NULL;
	enum store_status status;
	int decides = -1;

	*ret = (struct task_work){0};
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, id);
	status = postgres_read_all(&q, &result);
	for (int i = 0; status == STORE_OK && i < PQntuples(result); i++) {
		struct postgres_row r = {result, i};

		if (task_work_add(ret, (uint64_t)postgres_column_int(&r, 0) & MEMORY_NUM_MAX,
				  postgres_column_int(&r, 1), (enum handoff_state)postgres_column_int(&r, 2),
				  postgres_column_int(&r, 3)))
			decides = i;
	}
	if (decides >= 0)
		ret->agent_name = postgres_column_str(&(struct postgres_row){result, decides}, 4, arena);
	PQclear(result);
	return status;
}

/* --- By their newest change --- */

enum store_status postgres_task_is_quiet(struct store_conn *c, int64_t space, int64_t id, int64_t since,
					 int64_t until_ms, bool *ret)
{
	static const char sql[] =
		"SELECT NOT EXISTS (SELECT 1 FROM envelope e JOIN handoff h ON h.shard = $1 AND h.envelope = e.id "
		"JOIN event v ON v.shard = $1 AND v.space = $3 AND v.handoff = (h.id & 1099511627775) AND v.handoff > "
		"0 "
		"WHERE e.shard = $1 AND e.task = $2 AND v.number > $4) "
		"AND (n.created_at <= $5 OR EXISTS (SELECT 1 FROM " HANDOFFS_OF("$2") ")) "
		"FROM envelope n WHERE n.shard = $1 AND n.task = $2 ORDER BY n.id DESC LIMIT 1";
	struct postgres_query q;
	int64_t is_so = 0;
	enum store_status status;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, id);
	postgres_bind_int(&q, 3, space);
	postgres_bind_int(&q, 4, since);
	postgres_bind_int(&q, 5, until_ms);
	status = postgres_read_int(&q, &is_so);
	if (status == STORE_OK)
		*ret = is_so != 0;
	return status;
}

/* Events of a page that is gone through for the newest of tasks. */
enum { CHANGES_PAGE = 256 };

/* The events that may be the newest of their task, the newest first, and whether each is. The newest packing counts
 * where the task was never handed to anybody. Of another event it matters whether one of the task is behind the bound
 * ($5; 0: there is none): those from there on were looked at already. */
static const char changes_sql[] =
	"SELECT v.number, e.task, CASE WHEN v.handoff = 0 THEN e.id = (SELECT max(n.id) FROM envelope n "
	"WHERE n.shard = $1 AND n.task = e.task) AND NOT EXISTS (SELECT 1 FROM envelope n JOIN handoff h "
	"ON h.shard = $1 AND h.envelope = n.id WHERE n.shard = $1 AND n.task = e.task) "
	"ELSE $5 = 0 OR NOT EXISTS (SELECT 1 FROM envelope n JOIN handoff h ON h.shard = $1 AND h.envelope = n.id "
	"JOIN event w ON w.shard = $1 AND w.space = $2 AND w.handoff = (h.id & 1099511627775) AND w.handoff > 0 "
	"WHERE n.shard = $1 AND n.task = e.task AND w.number >= $5) END "
	"FROM event v JOIN envelope e ON e.shard = $1 AND e.id = ($2 << 40) + v.envelope "
	"WHERE v.shard = $1 AND v.space = $2 AND v.number > $3 AND v.number < $4 AND v.envelope > 0 "
	"AND (v.handoff > 0 OR v.kind = 28) ORDER BY v.number DESC LIMIT $6";

static bool is_listed(const struct task_place *list, size_t count, int64_t id)
{
	for (size_t i = count; i > 0; i--)
		if (list[i - 1].id == id)
			return true;
	return false;
}

enum store_status postgres_tasks_changed(struct store_conn *c, int64_t space, int64_t before, int64_t after, size_t max,
					 struct task_place *ret, size_t *ret_count)
{
	int64_t below = before ? before : INT64_MAX;
	enum store_status status = STORE_OK;
	int rows = CHANGES_PAGE;
	size_t count = 0;

	while (status == STORE_OK && rows == CHANGES_PAGE && count < max) {
		PGresult *page = NULL;
		struct postgres_query q;

		postgres_query(&q, c, changes_sql);
		postgres_bind_int(&q, 2, space);
		postgres_bind_int(&q, 3, after);
		postgres_bind_int(&q, 4, below);
		postgres_bind_int(&q, 5, before);
		postgres_bind_int(&q, 6, CHANGES_PAGE);
		status = postgres_read_all(&q, &page);
		rows = status == STORE_OK ? PQntuples(page) : 0;
		for (int i = 0; i < rows && count < max; i++) {
			struct postgres_row r = {page, i};
			int64_t task = postgres_column_int(&r, 1);

			below = postgres_column_int(&r, 0);
			if (postgres_column_int(&r, 2) && !is_listed(ret, count, task))
				ret[count++] = (struct task_place){task, below};
		}
		PQclear(page);
	}
	*ret_count = count;
	return status;
}

/* --- By what they wait for --- */

static void read_place(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct task_place *)ret = (struct task_place){postgres_column_int(r, 0), postgres_column_int(r, 1)};
}

/* $2 and $3: the bounds of the space; $4 the states, $5 the agent, $6 and $7 the place to go on behind. Each of the
 * three is read by its index, and only where it is asked for. */
#define OF_AGENT "AND id > $2 AND id <= $3 AND ($5 = 0 OR agent = $5) "

static const char tasks_open_sql[] =
	"SELECT task, at FROM (SELECT e.task AS task, max(h.changed_at) AS at FROM ("
	"SELECT envelope, changed_at FROM handoff WHERE shard = $1 AND ($4 & 1) <> 0 AND state = 6 " OF_AGENT
	"UNION ALL SELECT envelope, changed_at FROM handoff WHERE shard = $1 AND ($4 & 10) <> 0 AND state > 0 "
	"AND state < 4 AND ($4 & CASE WHEN state > 1 THEN 2 ELSE 8 END) <> 0 " OF_AGENT
	"UNION ALL SELECT envelope, changed_at FROM handoff WHERE shard = $1 AND ($4 & 12) <> 0 AND state = 0 "
	"AND ($4 & CASE WHEN passes = 0 AND agent IN (SELECT t.agent FROM target t WHERE t.shard = $1 "
	"AND t.open_until > 0 AND (t.failures > 0 OR t.open_until > 0)) THEN 12 ELSE 8 END) <> 0 " OF_AGENT
	") h JOIN envelope e ON e.shard = $1 AND e.id = h.envelope GROUP BY e.task) p "
	"WHERE at < $6 OR (at = $6 AND task < $7) ORDER BY at DESC, task DESC LIMIT $8";

_Static_assert(TASK_PARKED == 0 && TASK_WORKING == 1 && TASK_HELD == 2 && TASK_WAITING == 3, "$4 & 1, 2, 4, 8");

enum store_status postgres_tasks_open(struct store_conn *c, int64_t space, unsigned states, int64_t agent,
				      const struct task_place *behind, size_t max, struct task_place *ret,
				      size_t *ret_count)
{
	struct postgres_query q;

	postgres_query(&q, c, tasks_open_sql);
	postgres_bind_int(&q, 2, postgres_key(space, 0));
	postgres_bind_int(&q, 3, postgres_key(space, MEMORY_NUM_MAX));
	postgres_bind_int(&q, 4, states);
	postgres_bind_int(&q, 5, agent);
	postgres_bind_int(&q, 6, behind ? behind->at : INT64_MAX);
	postgres_bind_int(&q, 7, behind ? behind->id : INT64_MAX);
	postgres_bind_int(&q, 8, (int64_t)max);
	return postgres_read_list(&q, read_place, NULL, ret, sizeof(*ret), max, ret_count);
}

/* --- By their words --- */

/* Tasks of a page that is gone through for words. */
enum { WORDS_PAGE = 512 };

static const char words_sql[] =
	"SELECT id, name, summary, intent FROM task WHERE shard = $1 AND id > $2 AND id <= $3 ORDER BY id DESC LIMIT "
	"$4";

/* When it was last changed. */
static enum store_status changed_at(struct store_conn *c, int64_t task, int64_t *ret_ms)
{
	static const char sql[] =
		"SELECT coalesce((SELECT max(h.changed_at) FROM " HANDOFFS_OF("t.id") "), t.created_at) FROM task t "
		"WHERE t.shard = $1 AND t.id = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, task);
	return postgres_read_int(&q, ret_ms);
}

static bool holds(const PGresult *rows, int i, struct str part)
{
	for (int column = 1; column <= 3; column++)
		if (!PQgetisnull(rows, i, column) &&
		    text_holds((struct str){PQgetvalue(rows, i, column), (size_t)PQgetlength(rows, i, column)}, part))
			return true;
	return false;
}

/* A search, and how far it is. */
struct search {
	struct str text;
	size_t look, max;
	size_t looked, count;
	struct task_place *places;
	bool is_over;			/* there is a task that is not looked at */
	int64_t up_to;			/* the highest id that is left to look at */
};

static enum store_status search_page(struct store_conn *c, struct search *s, const PGresult *page)
{
	enum store_status status = STORE_OK;

	for (int i = 0; status == STORE_OK && i < PQntuples(page); i++) {
		int64_t id = postgres_column_int(&(struct postgres_row){page, i}, 0);

		s->is_over = s->looked == s->look || s->count == s->max;
		if (s->is_over)
			break;
		s->looked++;
		s->up_to = id - 1;
		if (!holds(page, i, s->text))
			continue;
		s->places[s->count].id = id;
		status = changed_at(c, id, &s->places[s->count].at);
		s->count++;
	}
	return status;
}

enum store_status postgres_tasks_matching(struct store_conn *c, int64_t space, struct str text, size_t look, size_t max,
					  struct task_place *ret, size_t *ret_count, bool *ret_more)
{
	struct search s = {.text = text, .look = look, .max = max, .places = ret,
			   .up_to = postgres_key(space, MEMORY_NUM_MAX)};
	enum store_status status = STORE_OK;
	int rows = WORDS_PAGE;

	while (status == STORE_OK && rows == WORDS_PAGE && !s.is_over) {
		PGresult *page = NULL;
		struct postgres_query q;

		postgres_query(&q, c, words_sql);
		postgres_bind_int(&q, 2, postgres_key(space, 0));
		postgres_bind_int(&q, 3, s.up_to);
		postgres_bind_int(&q, 4, WORDS_PAGE);
		status = postgres_read_all(&q, &page);
		rows = status == STORE_OK ? PQntuples(page) : 0;
		if (status == STORE_OK)
			status = search_page(c, &s, page);
		PQclear(page);
	}
	*ret_count = s.count;
	*ret_more = s.is_over;
	return status;
}
