#include "engine/envelope/resolve.h"

#include "core/envelope/unpack.h"
#include "core/watch/event.h"
#include "engine/envelope/large_envelope.h"

/* What is not there in full: first what was left out, then what was missed. False for what is no memory. */
static bool absent_id(const struct envelope *e, size_t i, struct memory_id *ret)
{
	return memory_id_parse(i < e->trim_count ? e->trimmed[i].id : e->missing[i - e->trim_count].id, ret);
}

/* Every memory that the envelope mentions, whatever its version. */
static struct mention_list mentioned(struct op *op, const struct envelope *e)
{
	struct mention_list all = {0};
	struct memory_id id;

	for (size_t i = 0; i < e->ref_count; i++)
		mention_add(&all, (struct memory_id){e->refs[i].id.num, 0}, op->arena);
	for (size_t i = 0; i < e->trim_count + e->missing_count; i++)
		if (absent_id(e, i, &id))
			mention_add(&all, (struct memory_id){id.num, 0}, op->arena);
	return all;
}

static enum problem_code find_named(struct op *op, struct store_conn *c, struct resolve *r, const struct envelope *e)
{
	struct mention_list all = mentioned(op, e);

	for (size_t i = 0; i < r->count; i++) {
		if (mention_has(&all, (struct memory_id){r->ids[i].num, 0}))
			continue;
		problem_set(&op->problem, P_INVALID_FIELD, NULL, "ids[%zu] is not the id of a memory that this "
			    "envelope mentions", i);
		problem_prefix(&op->problem, "ids", i);
		return op->problem.code;
	}
	return memory_lookup_all(op, c, r->ids, r->count, &r->lookup);
}

static enum problem_code find_rest(struct op *op, struct store_conn *c, struct resolve *r, const struct envelope *e)
{
	size_t count = e->trim_count + e->missing_count;
	enum problem_code code = P_OK;
	struct memory_id id;

	memory_lookup_init(op, count < MENTION_MAX ? count : MENTION_MAX, &r->lookup);
	for (size_t i = 0; code == P_OK && i < count; i++)
		if (absent_id(e, i, &id))
			code = memory_lookup_one(op, c, id, &r->lookup);
	return code;
}

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct resolve *r = (struct resolve *)op;
	struct envelope e;
	enum problem_code code = envelope_find_whole(op, c, r->num, "id", &e);

	if (code != P_OK)
		return code;
	code = r->ids ? find_named(op, c, r, &e) : find_rest(op, c, r, &e);
	if (code == P_OK)
		code = memory_lookup_guard(op, c, r->num, &r->lookup);
	op->is_answered = r->lookup.found_count == 0;
	return code;
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct resolve *r = (struct resolve *)op;

	op->told = (struct event_row){.kind = EVENT_ENVELOPE_RESOLVED, .envelope = r->num};
	return memory_lookup_note(op, c, r->num, op->agent.p ? op->agent : STR("unknown"), &r->lookup);
}

const struct op_kind resolve_kind = {.name = "resolve", .size = sizeof(struct resolve), .prepare = prepare, .run = run};
