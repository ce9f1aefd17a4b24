/* Tasks: their envelopes, and what each hop kept. (Where something was lost is in blame_routes.c.) */
#include "api/fidelity_json.h"
#include "api/page.h"
#include "api/routes.h"
#include "api/task.h"
#include "base/clock.h"
#include "codec/json_member.h"
#include "core/envelope/unpack.h"

/* --- The envelopes of a task --- */

/* A page of them. Their memories' texts are not read: what is told here does not need them. */
struct task {
	struct page page;
	struct envelope *envelopes;
	size_t count;
	bool more;
	struct envelope newest;
	/* Of fidelity: parents and roots that are not on the page, and the newest one's root. */
	struct envelope *others;
	size_t other_count;
};

/* A chain is mostly read whole, so that a page is as large as can be where the caller does not say. */
static enum problem_code decode_task(struct call *call)
{
	static const char *const known[] = {NULL};
	struct task *t = arena_zalloc(call->op->arena, sizeof(*t));
	enum problem_code code = page_read_only(call, known, &t->page);

	call->input = t;
	if (call_query(call, "page_size").p == NULL)
		t->page.size = PAGE_SIZE_MAX;
	return code;
}

static enum problem_code read_newest(struct call *call, struct store_conn *c, struct envelope *ret)
{
	struct envelope_row row;
	enum store_status status = STORE_NOT_FOUND;

	if (call->op->space)
		status = store_task_last(c, call->op->space, call->params[0], call->op->arena, &row);
	if (status == STORE_NOT_FOUND)
		return task_not_found(call);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	return unpack_skeleton(&row, call->op->arena, ret, &call->op->problem);
}

static enum problem_code read_task(struct call *call, struct store_conn *c)
{
	struct task *t = call->input;
	size_t size = t->page.size, count = 0;
	struct envelope_row *rows = arena_calloc(call->op->arena, size + 1, sizeof(*rows));
	enum problem_code code = read_newest(call, c, &t->newest);

	if (code == P_OK)
		code = task_envelopes(call, c, t->page.position, size, rows, &count, &t->more);
	if (code != P_OK)
		return code;
	t->envelopes = arena_calloc(call->op->arena, count, sizeof(*t->envelopes));
	for (; code == P_OK && t->count < count; t->count++)
		code = unpack_skeleton(&rows[t->count], call->op->arena, &t->envelopes[t->count], &call->op->problem);
	return code;
}

static const struct envelope *find(const struct task *t, uint64_t num)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->envelopes[i].num == num)
			return &t->envelopes[i];
	for (size_t i = 0; i < t->other_count; i++)
		if (t->others[i].num == num)
			return &t->others[i];
	return NULL;
}

static void put_next(struct call *call, struct json_writer *w, const struct task *t)
{
	page_put_next(call, &t->page, w, t->more, t->more ? t->envelopes[t->count - 1].num : 0, 0);
}

static void encode_task(struct call *call)
{
	struct task *t = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "id", call->params[0]);
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

/* The intent and the constraints alone: what must never be lost. */
static double core_score(const struct fidelity *f)
{
	size_t total = 0, kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct fidelity_item *item = &f->items[i];

		if ((item->kind != KIND_INTENT && item->kind != KIND_CONSTRAINT) || item->fate == FATE_ADDED)
			continue;
		total++;
		kept += item->fate == FATE_KEPT || item->fate == FATE_NARROWED || item->fate == FATE_WAIVED;
	}
	return total ? (double)(kept * 10000 / total) / 10000.0 : 1.0;
}

static void put_hop_fidelity(struct call *call, struct json_writer *w, const struct task *t, const struct envelope *e)
{
	const struct envelope *parent = e->parent ? find(t, e->parent) : NULL, *root = find(t, e->root);
	struct fidelity f;

	json_begin_object(w);
	fidelity_json_hop(w, e);
	if (parent) {
		fidelity_compare(parent, e, call->op->arena, &f);
		fidelity_json_put(w, &f);
	}
	if (parent && root) {
		fidelity_compare(root, e, call->op->arena, &f);
		json_key(w, "against_root");
		json_begin_object(w);
		json_member_double(w, "score", f.score);
		json_member_double(w, "intent_and_constraints", core_score(&f));
		json_end_object(w);
	}
	json_end_object(w);
}

/* An envelope that is needed to compare with, where it is not there yet. One that is gone is not compared with. */
static enum problem_code read_other(struct call *call, struct store_conn *c, struct task *t, uint64_t num)
{
	struct envelope_row row;
	enum store_status status;
	enum problem_code code;

	if (num == 0 || find(t, num))
		return P_OK;
	status = store_envelope_get(c, call->op->space, num, call->op->arena, &row);
	if (status == STORE_NOT_FOUND)
		return P_OK;
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	code = unpack_skeleton(&row, call->op->arena, &t->others[t->other_count], &call->op->problem);
	t->other_count += code == P_OK;
	return code;
}

static enum problem_code read_fidelity(struct call *call, struct store_conn *c)
{
	struct task *t = call->input;
	enum problem_code code = read_task(call, c);

	t->others = arena_calloc(call->op->arena, 2 * t->count + 1, sizeof(*t->others));
	for (size_t i = 0; code == P_OK && i < t->count; i++) {
		code = read_other(call, c, t, t->envelopes[i].parent);
		if (code == P_OK)
			code = read_other(call, c, t, t->envelopes[i].root);
	}
	return code == P_OK ? read_other(call, c, t, t->newest.root) : code;
}

static void encode_fidelity(struct call *call)
{
	struct task *t = call->input;
	const struct envelope *root = find(t, t->newest.root);
	struct json_writer w;
	struct fidelity f;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", call->params[0]);
	if (root) {
		fidelity_compare(root, &t->newest, call->op->arena, &f);
		json_member_double(&w, "score", f.score);
		json_member_double(&w, "intent_and_constraints", core_score(&f));
	}
	json_key(&w, "hops");
	json_begin_array(&w);
	for (size_t i = 0; i < t->count; i++)
		put_hop_fidelity(call, &w, t, &t->envelopes[i]);
	json_end_array(&w);
	put_next(call, &w, t);
	call_end_reply(call, &w);
}

/* --- GET /v1/tasks --- */

enum { ABOUT_CHARACTERS = 200 };

/* What a person knows a task again by. */
struct about {
	struct str intent;	/* p == NULL: nobody said what the user wants */
	struct str summary;	/* what its first envelope asks for */
};

struct task_list {
	struct page page;
	struct task_row *rows;
	struct about *abouts;
	size_t count;
	size_t shown;
};

static struct str beginning(struct arena *arena, struct str text)
{
	size_t characters = 0;

	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80 && ++characters > ABOUT_CHARACTERS)
			return arena_printf(arena, "%.*s\xe2\x80\xa6", (int)i, text.p);
	return text.p ? arena_str(arena, text) : STR_NULL;
}

/* An envelope can be large, and a page has many tasks: no more than the beginnings is kept of them, and *bytes says how
 * much was read. What cannot be read is not told here: spine check and verify say what is wrong with it. */
static enum store_status read_about(struct call *call, struct store_conn *c, const struct task_row *task,
				    struct about *ret, size_t *bytes)
{
	struct envelope_row row = {0};
	struct envelope e;
	struct problem problem = {0};
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	arena_init(&arena);
	status = store_task_last(c, call->op->space, task->name, &arena, &row);
	if (status == STORE_OK && unpack_skeleton(&row, &arena, &e, &problem) == P_OK) {
		ret->intent = beginning(call->op->arena, e.intent);
		ret->summary = beginning(call->op->arena, e.summary);
	}
	*bytes += row.body.n;
	if (status == STORE_OK && task->envelopes > 1) {
		status = store_task_envelopes(c, call->op->space, task->name, 0, 1, &arena, &row, &count);
		if (count && unpack_skeleton(&row, &arena, &e, &problem) == P_OK)
			ret->summary = beginning(call->op->arena, e.summary);
		*bytes += row.body.n;
	}
	arena_release(&arena);
	return status;
}

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct task_list *l = arena_zalloc(call->op->arena, sizeof(*l));

	call->input = l;
	return page_read_only(call, known, &l->page);
}

static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct task_list *l = call->input;
	enum store_status status = STORE_OK;
	size_t bytes = 0;

	l->rows = arena_calloc(call->op->arena, l->page.size + 1, sizeof(*l->rows));
	l->abouts = arena_calloc(call->op->arena, l->page.size, sizeof(*l->abouts));
	if (call->op->space)
		status = store_tasks(c, call->op->space, (int64_t)l->page.position, l->page.size + 1, call->op->arena, l->rows,
				     &l->count);
	l->shown = l->count > l->page.size ? l->page.size : l->count;
	/* A page of large envelopes ends earlier. */
	for (size_t i = 0; status == STORE_OK && i < l->shown; i++) {
		status = read_about(call, c, &l->rows[i], &l->abouts[i], &bytes);
		if (bytes > TASK_PAGE_BYTES)
			l->shown = i + 1;
	}
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_list(struct call *call)
{
	struct task_list *l = call->input;
	bool more = l->count > l->shown;
	char at[CLOCK_TEXT_SIZE];
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "tasks");
	json_begin_array(&w);
	for (size_t i = 0; i < l->shown; i++) {
		clock_format(l->rows[i].created_at_ms, at);
		json_begin_object(&w);
		json_member_str(&w, "id", l->rows[i].name);
		json_member_cstr(&w, "created_at", at);
		json_member_int(&w, "envelopes", l->rows[i].envelopes);
		json_member_optional(&w, "intent", l->abouts[i].intent);
		json_member_optional(&w, "summary", l->abouts[i].summary);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, more, more ? (uint64_t)l->rows[l->shown - 1].id : 0, 0);
	call_end_reply(call, &w);
}

const struct route task_routes[] = {
	{HTTP_GET, "/v1/tasks", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/tasks/{}", 0, .decode = decode_task, .read = read_task, .encode = encode_task},
	{HTTP_GET, "/v1/tasks/{}/fidelity", 0, .decode = decode_task, .read = read_fidelity, .encode = encode_fidelity},
	{0},
};
