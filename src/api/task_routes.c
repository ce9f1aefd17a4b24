/* Tasks: their envelopes, what each hop kept, and where something was lost. */
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "base/clock.h"
#include "codec/json_member.h"
#include "core/fidelity.h"
#include "core/unpack.h"

enum {
	BLAME_ENVELOPES_MAX = 10000,	/* that one question may look through */
	BLAME_CHUNK = 100,
};

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
	struct task *t = arena_zalloc(call->arena, sizeof(*t));
	enum problem_code code = page_read_only(call, known, &t->page);

	call->input = t;
	if (call_query(call, "page_size").p == NULL)
		t->page.size = PAGE_SIZE_MAX;
	return code;
}

static enum problem_code no_task(struct call *call)
{
	return problem_set(&call->problem, P_TASK_NOT_FOUND, "id", "there is no task \"%.*s\" in this space",
			   (int)(call->params[0].n < 128 ? call->params[0].n : 128), call->params[0].p);
}

static enum problem_code read_newest(struct call *call, struct store_conn *c, struct envelope *ret)
{
	struct envelope_row row;
	enum store_status status = STORE_NOT_FOUND;

	if (call->space)
		status = store_task_last(c, call->space, call->params[0], call->arena, &row);
	if (status == STORE_NOT_FOUND)
		return no_task(call);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	return unpack_skeleton(&row, call->arena, ret, &call->problem);
}

static enum problem_code read_task(struct call *call, struct store_conn *c)
{
	struct task *t = call->input;
	size_t size = t->page.size, count = 0;
	struct envelope_row *rows = arena_calloc(call->arena, size + 1, sizeof(*rows));
	enum problem_code code = read_newest(call, c, &t->newest);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_task_envelopes(c, call->space, call->params[0], t->page.position, size + 1, call->arena, rows,
				      &count);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	t->more = count > size;
	count = t->more ? size : count;
	t->envelopes = arena_calloc(call->arena, count, sizeof(*t->envelopes));
	for (; code == P_OK && t->count < count; t->count++)
		code = unpack_skeleton(&rows[t->count], call->arena, &t->envelopes[t->count], &call->problem);
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

static void put_id(struct json_writer *w, const char *key, uint64_t num)
{
	char id[ENVELOPE_ID_SIZE];

	json_key(w, key);
	if (num == 0) {
		json_put_null(w);
		return;
	}
	envelope_id_format(num, id);
	json_put_cstr(w, id);
}

static void put_hop(struct json_writer *w, const struct envelope *e)
{
	char at[CLOCK_TEXT_SIZE];

	clock_format(e->created_at_ms, at);
	put_id(w, "envelope", e->num);
	put_id(w, "parent", e->parent);
	json_member_int(w, "hop", e->hop);
	json_member_optional(w, "from", e->from);
	json_member_str(w, "to", e->to);
	json_member_cstr(w, "created_at", at);
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
		put_hop(&w, e);
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

/* --- Differences --- */

static void put_item(struct json_writer *w, const struct fidelity_item *item)
{
	json_begin_object(w);
	json_member_cstr(w, "kind", fidelity_kind_name(item->kind));
	json_member_cstr(w, "fate", fidelity_fate_name(item->fate));
	if (item->key.n)
		json_member_str(w, "key", item->key);
	if (item->before && item->fate != FATE_KEPT) {
		json_key(w, "before");
		json_put_canonical(w, item->before);
	}
	if (item->after && item->fate != FATE_KEPT) {
		json_key(w, "after");
		json_put_canonical(w, item->after);
	}
	if (item->reason.p)
		json_member_str(w, "reason", item->reason);
	if (item->by.p)
		json_member_str(w, "by", item->by);
	json_end_object(w);
}

/* Names by fate for each kind, and in full what is not simply kept. */
static void put_fidelity(struct json_writer *w, const struct fidelity *f)
{
	json_member_double(w, "score", f->score);
	json_member_int(w, "kept", (int64_t)f->kept);
	json_member_int(w, "total", (int64_t)f->total);
	json_key(w, "changes");
	json_begin_array(w);
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].fate != FATE_KEPT)
			put_item(w, &f->items[i]);
	json_end_array(w);
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
	put_hop(w, e);
	if (parent) {
		fidelity_compare(parent, e, call->arena, &f);
		put_fidelity(w, &f);
	}
	if (parent && root) {
		fidelity_compare(root, e, call->arena, &f);
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
	status = store_envelope_get(c, call->space, num, call->arena, &row);
	if (status == STORE_NOT_FOUND)
		return P_OK;
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	code = unpack_skeleton(&row, call->arena, &t->others[t->other_count], &call->problem);
	t->other_count += code == P_OK;
	return code;
}

static enum problem_code read_fidelity(struct call *call, struct store_conn *c)
{
	struct task *t = call->input;
	enum problem_code code = read_task(call, c);

	t->others = arena_calloc(call->arena, 2 * t->count + 1, sizeof(*t->others));
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
		fidelity_compare(root, &t->newest, call->arena, &f);
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

/* --- Blame --- */

/* What was found: the envelopes live in the call's arena, num 0 where there is none. */
struct blame {
	struct str key;
	struct envelope introduced;
	struct envelope lost;
	struct envelope lost_parent;
};

static enum problem_code decode_blame(struct call *call)
{
	struct blame *b = arena_zalloc(call->arena, sizeof(*b));

	call->input = b;
	b->key = call_query(call, "key");
	if (b->key.n == 0)
		return problem_set(&call->problem, P_MISSING_FIELD, "key", "key is missing; it names a constraint, a "
				   "memory (ms-4821), an open decision, or intent");
	return P_OK;
}

/* Looks at the next envelope of the task: it came in there, or it was lost between the parent and this one. What is
 * kept is unpacked again, into the call's arena; everything else lives in `arena`, as long as its chunk. */
static enum problem_code blame_row(struct call *call, struct store_conn *c, const struct envelope_row *row,
				   struct arena *arena)
{
	struct blame *b = call->input;
	struct envelope e, parent;
	struct envelope_row kept = *row;
	enum problem_code code = unpack_skeleton(row, arena, &e, &call->problem);
	bool has = code == P_OK && fidelity_has(&e, b->key);

	if (code != P_OK || (b->introduced.num ? has || e.parent == 0 : !has))
		return code;
	if (b->introduced.num) {
		struct envelope_row before;
		enum store_status status = store_envelope_get(c, call->space, e.parent, call->arena, &before);

		if (status == STORE_NOT_FOUND)
			return P_OK;
		if (status != STORE_OK)
			return problem_of_store(&call->problem, status);
		code = unpack_skeleton(&before, call->arena, &parent, &call->problem);
		if (code != P_OK || !fidelity_has(&parent, b->key))
			return code;
		b->lost_parent = parent;
	}
	kept.body = arena_str(call->arena, row->body);
	return unpack_skeleton(&kept, call->arena, b->introduced.num ? &b->lost : &b->introduced, &call->problem);
}

static enum problem_code read_blame(struct call *call, struct store_conn *c)
{
	struct blame *b = call->input;
	struct envelope_row *rows = arena_calloc(call->arena, BLAME_CHUNK, sizeof(*rows));
	enum problem_code code = P_OK;
	struct arena arena;
	uint64_t after = 0;
	size_t seen = 0, count = BLAME_CHUNK;

	arena_init(&arena);
	while (code == P_OK && count == BLAME_CHUNK && b->lost.num == 0) {
		enum store_status status = STORE_OK;

		arena_release(&arena);
		count = 0;
		if (call->space)
			status = store_task_envelopes(c, call->space, call->params[0], after, BLAME_CHUNK, &arena,
						      rows, &count);
		if (status != STORE_OK)
			code = problem_of_store(&call->problem, status);
		else if (seen + count > BLAME_ENVELOPES_MAX)
			code = problem_set(&call->problem, P_TOO_LARGE, "id", "the task has more than %d envelopes, "
					   "too many to look through at once; follow its pages, GET "
					   "/v1/tasks/{id}/fidelity", BLAME_ENVELOPES_MAX);
		for (size_t i = 0; code == P_OK && i < count && b->lost.num == 0; i++)
			code = blame_row(call, c, &rows[i], &arena);
		seen += count;
		after = count ? rows[count - 1].num : after;
	}
	arena_release(&arena);
	return code == P_OK && seen == 0 ? no_task(call) : code;
}

/* The item's fate in a hop, or NULL where it is not mentioned. */
static const struct fidelity_item *find_item(const struct fidelity *f, struct str key)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_eq(f->items[i].key, key) || (f->items[i].kind == KIND_INTENT && str_is(key, "intent")))
			return &f->items[i];
	return NULL;
}

static void put_blame(struct json_writer *w, const char *key, const struct envelope *e,
		      const struct fidelity_item *item)
{
	json_key(w, key);
	json_begin_object(w);
	put_hop(w, e);
	if (item)
		json_member_cstr(w, "fate", fidelity_fate_name(item->fate));
	if (item && item->reason.p)
		json_member_str(w, "reason", item->reason);
	if (item && item->by.p)
		json_member_str(w, "by", item->by);
	json_end_object(w);
}

static void encode_blame(struct call *call)
{
	struct blame *b = call->input;
	struct json_writer w;
	struct fidelity f;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", call->params[0]);
	json_member_str(&w, "key", b->key);
	if (b->introduced.num)
		put_blame(&w, "introduced", &b->introduced, NULL);
	if (b->lost.num) {
		fidelity_compare(&b->lost_parent, &b->lost, call->arena, &f);
		put_blame(&w, "lost", &b->lost, find_item(&f, b->key));
	}
	json_member_cstr(&w, "verdict", b->introduced.num == 0 ? "never there" : b->lost.num ? "lost" : "still there");
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/diff/{other} --- */

struct difference {
	uint64_t num[2];
	struct envelope envelope[2];
};

static enum problem_code decode_diff(struct call *call)
{
	struct difference *d = arena_zalloc(call->arena, sizeof(*d));

	call->input = d;
	for (int i = 0; i < 2; i++)
		if (!envelope_id_parse(call->params[i], &d->num[i]))
			return problem_set(&call->problem, P_ENVELOPE_NOT_FOUND, "id", "\"%.*s\" is not an id of an "
					   "envelope; ids look like env-17",
					   (int)(call->params[i].n < 64 ? call->params[i].n : 64), call->params[i].p);
	return P_OK;
}

static enum problem_code read_diff(struct call *call, struct store_conn *c)
{
	struct difference *d = call->input;
	enum problem_code code = P_OK;

	for (int i = 0; code == P_OK && i < 2; i++)
		code = unpack(c, call->space, d->num[i], "id", call->arena, &d->envelope[i], &call->problem);
	return code;
}

static void encode_diff(struct call *call)
{
	struct difference *d = call->input;
	struct json_writer w;
	struct fidelity f;

	fidelity_compare(&d->envelope[0], &d->envelope[1], call->arena, &f);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_id(&w, "from", d->num[0]);
	put_id(&w, "to", d->num[1]);
	put_fidelity(&w, &f);
	call_end_reply(call, &w);
}

/* --- GET /v1/tasks --- */

struct task_list {
	struct page page;
	struct task_row *rows;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct task_list *l = arena_zalloc(call->arena, sizeof(*l));

	call->input = l;
	return page_read_only(call, known, &l->page);
}

static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct task_list *l = call->input;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->arena, l->page.size + 1, sizeof(*l->rows));
	if (call->space)
		status = store_tasks(c, call->space, (int64_t)l->page.position, l->page.size + 1, call->arena, l->rows,
				     &l->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->problem, status);
}

static void encode_list(struct call *call)
{
	struct task_list *l = call->input;
	bool more = l->count > l->page.size;
	size_t count = more ? l->page.size : l->count;
	char at[CLOCK_TEXT_SIZE];
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "tasks");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++) {
		clock_format(l->rows[i].created_at_ms, at);
		json_begin_object(&w);
		json_member_str(&w, "id", l->rows[i].name);
		json_member_cstr(&w, "created_at", at);
		json_member_int(&w, "envelopes", l->rows[i].envelopes);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, more, more ? (uint64_t)l->rows[count - 1].id : 0, 0);
	call_end_reply(call, &w);
}

const struct route task_routes[] = {
	{HTTP_GET, "/v1/tasks", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/tasks/{}", 0, .decode = decode_task, .read = read_task, .encode = encode_task},
	{HTTP_GET, "/v1/tasks/{}/fidelity", 0, .decode = decode_task, .read = read_fidelity, .encode = encode_fidelity},
	{HTTP_GET, "/v1/tasks/{}/blame", 0, .decode = decode_blame, .read = read_blame, .encode = encode_blame},
	{HTTP_GET, "/v1/envelopes/{}/diff/{}", 0, .decode = decode_diff, .read = read_diff, .encode = encode_diff},
	{0},
};
