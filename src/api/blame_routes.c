/* Where something came into a task and where it was lost; and what one envelope kept of another. */
#include "api/decode.h"
#include "api/fidelity_json.h"
#include "api/routes.h"
#include "api/task.h"
#include "codec/json_member.h"
#include "core/unpack.h"

enum {
	BLAME_ENVELOPES_MAX = 10000,	/* that one question may look through */
	BLAME_CHUNK = 100,
};

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
	return code == P_OK && seen == 0 ? task_not_found(call) : code;
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
	fidelity_json_hop(w, e);
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
	fidelity_json_id(&w, "from", d->num[0]);
	fidelity_json_id(&w, "to", d->num[1]);
	fidelity_json_put(&w, &f);
	call_end_reply(call, &w);
}

const struct route blame_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/blame", 0, .decode = decode_blame, .read = read_blame, .encode = encode_blame},
	{HTTP_GET, "/v1/envelopes/{}/diff/{}", 0, .decode = decode_diff, .read = read_diff, .encode = encode_diff},
	{0},
};
