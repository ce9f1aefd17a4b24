/* Where something came into a task and where it was lost; and what one envelope kept of another. */
#include "api/decode.h"
#include "api/fidelity_json.h"
#include "api/routes.h"
#include "api/task.h"
#include "codec/json_member.h"
#include "core/envelope/unpack.h"

enum {
	BLAME_ENVELOPES_MAX = 10000,	/* that one question may look through */
	BLAME_CHUNK = 8,
};

/* --- Blame --- */

/* An envelope of the task that was looked at. */
struct seen {
	uint64_t num;
	uint64_t lost;		/* where its line of descent lost the thing last; 0: it has it, or never had it */
	bool has;
	bool is_parent;
};

/* What was found; num 0 where there is no such envelope. */
struct blame {
	struct str key;
	struct seen *seen;	/* in the order of their numbers */
	size_t count;
	uint64_t left_out;	/* the first that did not have it though its parent did */
	struct envelope introduced;
	struct envelope without;	/* the one to blame, or the first of those that were made good */
	struct envelope before;		/* its parent */
	enum { BLAME_NEVER, BLAME_STILL, BLAME_RESOLVED, BLAME_LOST } verdict;
};

static enum problem_code decode_blame(struct call *call)
{
	struct blame *b = arena_zalloc(call->op->arena, sizeof(*b));

	call->input = b;
	b->key = call_query(call, "key");
	if (b->key.n == 0)
		return problem_set(&call->op->problem, P_MISSING_FIELD, "key", "key is missing; it names a constraint, a "
				   "memory (ms-4821), an open decision, or intent");
	return P_OK;
}

static struct seen *find_seen(const struct blame *b, uint64_t num)
{
	size_t low = 0, high = b->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->seen[middle].num < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->count && b->seen[low].num == num ? &b->seen[low] : NULL;
}

/* Notes of the next envelope of the task whether it has the thing, and if not, where it went. Everything lives in
 * `arena`, as long as its chunk. */
static enum problem_code blame_row(struct call *call, const struct envelope_row *row, struct arena *arena)
{
	struct blame *b = call->input;
	struct envelope e;
	struct envelope_row kept = *row;
	enum problem_code code = unpack_skeleton(row, arena, &e, &call->op->problem);
	struct seen *parent = code == P_OK && e.parent ? find_seen(b, e.parent) : NULL;
	struct seen one = {.num = row->num, .has = code == P_OK && fidelity_has(&e, b->key)};

	if (code != P_OK)
		return code;
	if (parent) {
		parent->is_parent = true;
		one.lost = one.has ? 0 : parent->has ? row->num : parent->lost;
	}
	if (one.lost && b->left_out == 0)
		b->left_out = one.lost;
	b->seen[b->count++] = one;
	if (!one.has || b->introduced.num)
		return P_OK;
	kept.body = arena_str(call->op->arena, row->body);
	return unpack_skeleton(&kept, call->op->arena, &b->introduced, &call->op->problem);
}

static enum problem_code look_through(struct call *call, struct store_conn *c)
{
	struct blame *b = call->input;
	struct envelope_row *rows = arena_calloc(call->op->arena, BLAME_CHUNK, sizeof(*rows));
	enum problem_code code = P_OK;
	struct arena arena;
	uint64_t after = 0;
	size_t count = BLAME_CHUNK;

	b->seen = arena_calloc(call->op->arena, BLAME_ENVELOPES_MAX, sizeof(*b->seen));
	arena_init(&arena);
	while (code == P_OK && count == BLAME_CHUNK) {
		enum store_status status = STORE_OK;

		arena_release(&arena);
		count = 0;
		if (call->op->space)
			status = store_task_envelopes(c, call->op->space, call->params[0], after, BLAME_CHUNK, &arena,
						      rows, &count);
		if (status != STORE_OK)
			code = problem_of_store(&call->op->problem, status);
		else if (b->count + count > BLAME_ENVELOPES_MAX)
			code = problem_set(&call->op->problem, P_TOO_LARGE, "id", "the task has more than %d envelopes, "
					   "too many to look through at once; follow its pages, GET "
					   "/v1/tasks/{id}/fidelity", BLAME_ENVELOPES_MAX);
		for (size_t i = 0; code == P_OK && i < count; i++)
			code = blame_row(call, &rows[i], &arena);
		after = count ? rows[count - 1].num : after;
	}
	arena_release(&arena);
	return code == P_OK && b->count == 0 ? task_not_found(call) : code;
}

/* It is lost where a line of descent ends without it: what a hop left out and a later one brought back is there. */
static uint64_t first_loss(const struct blame *b)
{
	uint64_t first = 0;

	for (size_t i = 0; i < b->count; i++)
		if (!b->seen[i].is_parent && b->seen[i].lost && (first == 0 || b->seen[i].lost < first))
			first = b->seen[i].lost;
	return first;
}

static enum problem_code read_skeleton(struct call *call, struct store_conn *c, uint64_t num, struct envelope *ret)
{
	struct envelope_row row;
	enum problem_code code = unpack_find(c, call->op->space, num, NULL, call->op->arena, &row, &call->op->problem);

	return code == P_OK ? unpack_skeleton(&row, call->op->arena, ret, &call->op->problem) : code;
}

/* The item's fate in a hop, or NULL where it is not mentioned. */
static const struct fidelity_item *find_item(const struct fidelity *f, struct str key)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_eq(f->items[i].key, key) || (f->items[i].kind == KIND_INTENT && str_is(key, "intent")))
			return &f->items[i];
	return NULL;
}

/* What became of it in the hop that has it no more. */
static const struct fidelity_item *fate_of(const struct blame *b, struct arena *arena)
{
	struct fidelity *f = arena_zalloc(arena, sizeof(*f));

	fidelity_compare(&b->before, &b->without, arena, f);
	return find_item(f, b->key);
}

static enum problem_code read_blame(struct call *call, struct store_conn *c)
{
	struct blame *b = call->input;
	enum problem_code code = look_through(call, c);
	uint64_t lost = code == P_OK ? first_loss(b) : 0, without = lost ? lost : b->left_out;
	const struct fidelity_item *item;

	if (code != P_OK)
		return code;
	b->verdict = lost ? BLAME_LOST : b->introduced.num ? BLAME_STILL : BLAME_NEVER;
	if (without == 0)
		return P_OK;
	code = read_skeleton(call, c, without, &b->without);
	if (code == P_OK)
		code = read_skeleton(call, c, b->without.parent, &b->before);
	/* An open decision that was made is in the history now. */
	if (code == P_OK && lost && (item = fate_of(b, call->op->arena)) && item->fate == FATE_KEPT)
		b->verdict = BLAME_RESOLVED;
	return code;
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
	static const char *const verdicts[] = {"never there", "still there", "resolved", "lost"};
	static const char *const names[] = {NULL, "left_out", "resolved", "lost"};
	struct blame *b = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "task", call->params[0]);
	json_member_str(&w, "key", b->key);
	if (b->introduced.num)
		put_blame(&w, "introduced", &b->introduced, NULL);
	if (b->without.num)
		put_blame(&w, names[b->verdict], &b->without,
			  b->verdict == BLAME_RESOLVED ? NULL : fate_of(b, call->op->arena));
	json_member_cstr(&w, "verdict", verdicts[b->verdict]);
	call_end_reply(call, &w);
}

/* --- GET /v1/envelopes/{id}/diff/{other} --- */

struct difference {
	uint64_t num[2];
	struct envelope envelope[2];
};

static enum problem_code decode_diff(struct call *call)
{
	struct difference *d = arena_zalloc(call->op->arena, sizeof(*d));

	call->input = d;
	for (int i = 0; i < 2; i++)
		if (!envelope_id_parse(call->params[i], &d->num[i]))
			return problem_set(&call->op->problem, P_ENVELOPE_NOT_FOUND, "id", "\"%.*s\" is not an id of an "
					   "envelope; ids look like env-17",
					   (int)(call->params[i].n < 64 ? call->params[i].n : 64), call->params[i].p);
	return P_OK;
}

static enum problem_code read_diff(struct call *call, struct store_conn *c)
{
	struct difference *d = call->input;
	enum problem_code code = P_OK;

	for (int i = 0; code == P_OK && i < 2; i++)
		code = unpack(c, call->op->space, d->num[i], "id", call->op->arena, &d->envelope[i], &call->op->problem);
	return code;
}

static void encode_diff(struct call *call)
{
	struct difference *d = call->input;
	struct json_writer w;
	struct fidelity f;

	fidelity_compare(&d->envelope[0], &d->envelope[1], call->op->arena, &f);
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
