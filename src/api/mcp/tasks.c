#include "api/mcp/tasks.h"

#include "api/mcp/methods.h"
#include "api/mcp/receive_tool.h"
#include "api/mcp/tool.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "codec/json_member.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
	TASKS_MAX = 1024,
	TASK_WAIT_MS = 600 * 1000, TASK_WAIT_MAX_MS = 3600 * 1000,
	TASK_KEEP_MS = 600 * 1000,	/* so long a result is there after the wait is over */
	POLL_MS = 2000,
	NAME_MAX_BYTES = 128,
};

enum mcp_task_status { MCP_TASK_WORKING, MCP_TASK_COMPLETED, MCP_TASK_CANCELLED };

struct mcp_task {
	struct list link;
	char id[40];
	uint64_t key;			/* of who made it; 0: none was needed */
	char space[NAME_MAX_BYTES + 1], agent[NAME_MAX_BYTES + 1];
	int64_t lease_s;		/* 0: as usual */
	int64_t created_ms, changed_ms, until_ms;
	enum mcp_task_status status;
	struct buf result;		/* JSON, when it is completed */
	bool is_asked;			/* somebody looks for work for it; nobody else does meanwhile */
	/* Of whoever looks. */
	int64_t wait_ms;
	void (*answer)(struct mcp_call *m, const struct mcp_task *task);
};

struct tasks {
	pthread_mutex_t lock;
	struct list all;
	size_t count;
};

struct tasks *tasks_new(void)
{
	struct tasks *t = mem_zalloc(sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	list_init(&t->all);
	return t;
}

static void drop(struct tasks *t, struct mcp_task *task)
{
	list_remove(&task->link);
	buf_release(&task->result);
	free(task);
	t->count--;
}

void tasks_free(struct tasks *t)
{
	if (t == NULL)
		return;
	while (!list_is_empty(&t->all))
		drop(t, LIST_ELEMENT(t->all.next, struct mcp_task, link));
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int64_t tasks_wait_ms(const struct mcp_task *task)
{
	return task->wait_ms;
}

static int64_t ttl_ms(const struct mcp_task *task)
{
	return task->until_ms - task->created_ms + TASK_KEEP_MS;
}

/* With the lock held. */
static void drop_old(struct tasks *t, int64_t now_ms)
{
	struct list *next;

	for (struct list *l = t->all.next; l != &t->all; l = next) {
		struct mcp_task *task = LIST_ELEMENT(l, struct mcp_task, link);

		next = l->next;
		if (!task->is_asked && now_ms > task->created_ms + ttl_ms(task))
			drop(t, task);
	}
}

/* --- As JSON --- */

static const char *const status_names[] = {"working", "completed", "cancelled"};

static void put_task(struct mcp_call *m, const struct mcp_task *task)
{
	struct json_writer *w = &m->w;

	json_member_cstr(w, "taskId", task->id);
	json_member_cstr(w, "status", status_names[task->status]);
	if (task->status == MCP_TASK_WORKING)
		json_member_cstr(w, "statusMessage", "No work has come yet.");
	json_member_time(w, "createdAt", task->created_ms);
	json_member_time(w, "lastUpdatedAt", task->changed_ms);
	json_member_int(w, mcp_is_modern(m) ? "ttlMs" : "ttl", ttl_ms(task));
	json_member_int(w, mcp_is_modern(m) ? "pollIntervalMs" : "pollInterval", POLL_MS);
}

/* --- Making one --- */

static bool is_wanted(const struct mcp_call *m)
{
	const struct json *task = json_get(m->params, "task");

	if (mcp_is_modern(m))
		return m->client & MCP_CAN_TASKS;
	return m->version == MCP_2025_11_25 && task && task->type == JSON_OBJECT;
}

static int64_t wait_of(const struct mcp_call *m)
{
	int64_t s = 0;

	if (!json_as_int(json_get(m->args, "wait_s"), &s) || s < 1)
		return TASK_WAIT_MS;
	return s * 1000 > TASK_WAIT_MAX_MS ? TASK_WAIT_MAX_MS : s * 1000;
}

static void make_id(char ret[40])
{
	uint64_t chance[2];

	if (getentropy(chance, sizeof(chance)) != 0)
		abort();
	snprintf(ret, 40, "task-%016llx%016llx", (unsigned long long)chance[0], (unsigned long long)chance[1]);
}

static struct mcp_task *make(struct mcp_call *m, int64_t now_ms)
{
	struct str space = http_req_header(m->req, "spine-space"), agent = mcp_agent(m);
	struct mcp_task *task = mem_zalloc(sizeof(*task));

	make_id(task->id);
	task->key = mcp_key(m);
	snprintf(task->space, sizeof(task->space), "%.*s", STR_ARG(space));
	snprintf(task->agent, sizeof(task->agent), "%.*s", STR_ARG(agent));
	json_as_int(json_get(m->args, "lease_s"), &task->lease_s);
	task->created_ms = task->changed_ms = now_ms;
	task->until_ms = now_ms + wait_of(m);
	buf_init(&task->result, MCP_ANSWER_MAX);
	list_init(&task->link);
	return task;
}

static void answer_made(struct mcp_call *m, const struct mcp_task *task)
{
	mcp_begin_type(m, "task");
	if (!mcp_is_modern(m)) {
		json_key(&m->w, "task");
		json_begin_object(&m->w);
	}
	put_task(m, task);
	if (!mcp_is_modern(m))
		json_end_object(&m->w);
}

bool tasks_begin(struct mcp_call *m)
{
	struct tasks *t = m->mcp->tasks;
	struct mcp_task *task = NULL;
	int64_t now_ms = clock_wall_ms();

	if (!is_wanted(m) || mcp_agent(m).n > NAME_MAX_BYTES)
		return false;
	pthread_mutex_lock(&t->lock);
	drop_old(t, now_ms);
	if (t->count < TASKS_MAX) {
		task = make(m, now_ms);
		list_add(&t->all, &task->link);
		t->count++;
		answer_made(m, task);
	}
	pthread_mutex_unlock(&t->lock);
	if (task)
		mcp_end(m);
	return task;
}

/* --- Asking for one --- */

/* With the lock held. The task of another space or another key is none of this caller's. */
static struct mcp_task *find(struct mcp_call *m)
{
	struct tasks *t = m->mcp->tasks;
	struct str id = mcp_param(m, "taskId"), space = http_req_header(m->req, "spine-space");

	for (struct list *l = t->all.next; l != &t->all; l = l->next) {
		struct mcp_task *task = LIST_ELEMENT(l, struct mcp_task, link);

		if (str_is(id, task->id) && str_is(space, task->space) && task->key == mcp_key(m))
			return task;
	}
	return NULL;
}

static void answer_unknown(struct mcp_call *m)
{
	mcp_error(m, MCP_INVALID_PARAMS, "taskId is not a task of this server, or it is over; call the tool again");
}

static void answer_get(struct mcp_call *m, const struct mcp_task *task)
{
	mcp_begin(m);
	put_task(m, task);
	if (mcp_is_modern(m) && task->status == MCP_TASK_COMPLETED) {
		json_key(&m->w, "result");
		json_put_raw(&m->w, buf_str(&task->result));
	}
}

/* The result as the call would have answered it, and whose it is. */
static void answer_result(struct mcp_call *m, const struct mcp_task *task)
{
	struct str members = buf_str(&task->result);

	mcp_begin(m);
	if (members.n > 2) {
		buf_put(&m->out, str_sub(members, 1, members.n - 1));
		m->w.comma = true;
	} else {
		json_key(&m->w, "content");
		json_put_raw(&m->w, STR("[]"));
	}
	json_key(&m->w, "_meta");
	json_begin_object(&m->w);
	json_key(&m->w, "io.modelcontextprotocol/related-task");
	json_begin_object(&m->w);
	json_member_cstr(&m->w, "taskId", task->id);
	json_end_object(&m->w);
	json_end_object(&m->w);
}

/* --- Looking for work --- */

static void put_result(struct mcp_call *m, const struct json *answer, struct buf *out)
{
	struct json_writer w;

	json_writer_init(&w, out);
	json_begin_object(&w);
	if (mcp_is_modern(m))
		json_member_cstr(&w, "resultType", "complete");
	tool_put_answer(m, receive_tool_reshape(m, answer), &w);
	json_end_object(&w);
}

static bool has_work(const struct json *answer)
{
	const struct json *handoffs = json_get(answer, "handoffs");

	return handoffs && handoffs->count;
}

/* What was taken for a client that has gone was given back. */
static void on_looked(struct mcp_call *m)
{
	struct mcp_task *task = m->task;
	const struct json *answer = m->call.op->problem.code == P_OK ? mcp_answer(m) : NULL;
	int64_t now_ms = clock_wall_ms();

	if (answer == NULL) {
		pthread_mutex_lock(&m->mcp->tasks->lock);
		task->is_asked = false;
		pthread_mutex_unlock(&m->mcp->tasks->lock);
		mcp_problem(m);
		return;
	}
	pthread_mutex_lock(&m->mcp->tasks->lock);
	task->is_asked = false;
	if (task->status == MCP_TASK_WORKING && !http_req_is_gone(m->req) &&
	    (has_work(answer) || now_ms >= task->until_ms)) {
		put_result(m, answer, &task->result);
		task->status = MCP_TASK_COMPLETED;
		task->changed_ms = now_ms;
	}
	task->answer(m, task);
	pthread_mutex_unlock(&m->mcp->tasks->lock);
	mcp_end(m);
}

/* As the call was. */
static void look(struct mcp_call *m, struct mcp_task *task)
{
	struct json *args = arena_zalloc(http_req_arena(m->req), sizeof(*args));

	args->type = JSON_OBJECT;
	args->members = arena_alloc(http_req_arena(m->req), sizeof(*args->members));
	if (task->lease_s)
		tool_add_member(args, STR("lease_s"), (struct json){.type = JSON_INT, .i = task->lease_s});
	m->tool = tool_find(STR("handoff_receive"));
	m->args = args;
	m->agent = str_of(task->agent);
	m->task = task;
	m->done = on_looked;
	tool_run(m);
}

/* Answers from what is known, or looks first. */
static void ask(struct mcp_call *m, bool waits, void (*answer)(struct mcp_call *m, const struct mcp_task *task))
{
	struct mcp_task *task;
	bool looks = false;

	pthread_mutex_lock(&m->mcp->tasks->lock);
	task = find(m);
	if (task && task->status == MCP_TASK_WORKING && !task->is_asked) {
		looks = task->is_asked = true;
		task->wait_ms = waits && task->until_ms > clock_wall_ms() ? task->until_ms - clock_wall_ms() : 0;
		task->answer = answer;
	} else if (task) {
		answer(m, task);
	}
	pthread_mutex_unlock(&m->mcp->tasks->lock);
	if (looks)
		look(m, task);
	else if (task)
		mcp_end(m);
	else
		answer_unknown(m);
}

void tasks_get(struct mcp_call *m)
{
	ask(m, false, answer_get);
}

void tasks_result(struct mcp_call *m)
{
	ask(m, true, answer_result);
}

/* No task of this server asks its client for anything. */
void tasks_update(struct mcp_call *m)
{
	bool is_known;

	pthread_mutex_lock(&m->mcp->tasks->lock);
	is_known = find(m) != NULL;
	pthread_mutex_unlock(&m->mcp->tasks->lock);
	if (!is_known) {
		answer_unknown(m);
		return;
	}
	mcp_begin(m);
	mcp_end(m);
}

void tasks_cancel(struct mcp_call *m)
{
	struct mcp_task *task;
	bool was_working = false;

	pthread_mutex_lock(&m->mcp->tasks->lock);
	task = find(m);
	if (task && task->status == MCP_TASK_WORKING) {
		was_working = true;
		task->status = MCP_TASK_CANCELLED;
		task->changed_ms = clock_wall_ms();
	}
	mcp_begin(m);
	if (task && !mcp_is_modern(m))
		put_task(m, task);
	pthread_mutex_unlock(&m->mcp->tasks->lock);
	if (task == NULL)
		answer_unknown(m);
	else if (!was_working && !mcp_is_modern(m))
		mcp_error(m, MCP_INVALID_PARAMS, "the task is over already; nothing is left to cancel");
	else
		mcp_end(m);
}
