/* Tasks: their envelopes, and what each hop kept. (Where something was lost is in blame_routes.c.) */
#include "api/fidelity_json.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/envelope/task_get.h"
#include "engine/envelope/task_list.h"

/* --- GET /v1/tasks --- */

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct task_list *l = call_op(call);

	return page_read_only(call, known, &l->page);
}

static void encode_list(struct call *call)
{
	const struct task_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "tasks");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		json_begin_object(&w);
		json_member_str(&w, "id", l->rows[i].name);
		json_member_time(&w, "created_at", l->rows[i].created_at_ms);
		json_member_int(&w, "envelopes", l->rows[i].envelopes);
		json_member_optional(&w, "intent", l->abouts[i].intent);
		json_member_optional(&w, "summary", l->abouts[i].summary);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->more, l->more ? (uint64_t)l->rows[l->count - 1].id : 0, 0);
	call_end_reply(call, &w);
}

/* --- GET /v1/tasks/{id} --- */

/* A chain is mostly read whole, so that a page is as large as can be where the caller does not say. */
static enum problem_code decode_task(struct call *call)
{
	static const char *const known[] = {NULL};
	struct task_get *t = call_op(call);
	enum problem_code code = page_read_only(call, known, &t->page);

	t->task = call->params[0];
	if (call_query(call, "page_size").p == NULL)
		t->page.size = PAGE_SIZE_MAX;
	return code;
}

static void put_next(struct call *call, struct json_writer *w, const struct task_get *t)
{
	page_put_next(call, &t->page, w, t->more, t->more ? t->envelopes[t->count - 1].num : 0, 0);
}

static void encode_task(struct call *call)
{
	const struct task_get *t = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "id", t->task);
	json_member_optional(&w, "intent", t->newest.intent);
	json_key(&w, "envelopes");
	json_begin_array(&w);
	for (size_t i = 0; i < t->count; i++) {
		const struct envelope *e = &t->envelopes[i];

		json_begin_object(&w);
		fidelity_json_hop(&w, e);
		json_member_optional(&w, "state", e->state);
		json_member_int(&w, "token_count", e->token_count);
		json_member_int(&w, "max_tokens", e->max_tokens);
		json_member_int(&w, "refs", (int64_t)e->ref_count);
		json_member_int(&w, "missing", (int64_t)e->missing_count);
		json_member_int(&w, "trimmed", (int64_t)e->trim_count);
		json_end_object(&w);
	}
	json_end_array(&w);
	put_next(call, &w, t);
	call_end_reply(call, &w);
}

/* --- GET /v1/tasks/{id}/fidelity --- */

static void put_score(struct json_writer *w, const struct task_score *s)
{
	json_member_double(w, "score", s->score);
	json_member_double(w, "intent_and_constraints", s->core);
}

static void put_hop(struct json_writer *w, const struct envelope *e, const struct task_hop *hop)
{
	json_begin_object(w);
	fidelity_json_hop(w, e);
	if (hop->has_parent)
		fidelity_json_put(w, &hop->kept);
	if (hop->has_root) {
		json_key(w, "against_root");
		json_begin_object(w);
		put_score(w, &hop->of_root);
		json_end_object(w);
	}
	json_end_object(w);
}

static void encode_fidelity(struct call *call)
{
	const struct task_fidelity *f = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", f->task.task);
	if (f->has_root)
		put_score(&w, &f->score);
	json_key(&w, "hops");
	json_begin_array(&w);
	for (size_t i = 0; i < f->task.count; i++)
		put_hop(&w, &f->task.envelopes[i], &f->hops[i]);
	json_end_array(&w);
	put_next(call, &w, &f->task);
	call_end_reply(call, &w);
}

const struct route task_routes[] = {
	{HTTP_GET, "/v1/tasks", &task_list_kind, &describe_list_tasks, decode_list, encode_list},
	{HTTP_GET, "/v1/tasks/{}", &task_get_kind, &describe_read_task, decode_task, encode_task},
	{HTTP_GET, "/v1/tasks/{}/fidelity", &task_fidelity_kind, &describe_read_fidelity, decode_task, encode_fidelity},
	{0},
};
