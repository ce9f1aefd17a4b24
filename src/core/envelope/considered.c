#include "core/envelope/considered.h"

#include <math.h>

enum { EXCERPT_BYTES = 160, REPEATS_MAX = 500 };

static const char *const passed_names[] = {"not_relevant", "not_asked_for"};

static void put_repeats(struct json_writer *w, const struct envelope *e)
{
	size_t count = 0;

	json_key(w, "repeats");
	json_begin_array(w);
	for (size_t i = 0; i < e->trim_count && count < REPEATS_MAX; i++) {
		struct memory_id id;

		if (!str_is(e->trimmed[i].reason, "repetition") || !memory_id_parse(e->trimmed[i].id, &id))
			continue;
		json_begin_array(w);
		json_put_int(w, (int64_t)id.num);
		json_put_int(w, (int64_t)e->trimmed[i].repeats);
		json_end_array(w);
		count++;
	}
	json_end_array(w);
}

/* {"floor":0.077,"include_recent":20,"passed":[[number, relevance in thousandths, why],…],
 *  "repeats":[[number, number of what it repeats],…],"scope":"task"} */
struct str considered_record(const struct envelope *e, const struct envelope_draft *draft, struct arena *arena)
{
	struct json_writer w;
	struct buf out;
	struct str text;

	buf_init(&out, 1 << 16);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_double(&w, "floor", round(HANDOFF_RELEVANCE_MIN * 1000) / 1000);
	json_member_int(&w, "include_recent", draft->include_recent);
	json_key(&w, "passed");
	json_begin_array(&w);
	for (size_t i = 0; i < e->passed_count; i++) {
		json_begin_array(&w);
		json_put_int(&w, (int64_t)e->passed[i].num);
		json_put_int(&w, llround(e->passed[i].relevance * 1000));
		json_put_int(&w, e->passed[i].why);
		json_end_array(&w);
	}
	json_end_array(&w);
	put_repeats(&w, e);
	json_member_cstr(&w, "scope", draft->whole_space ? "space" : "task");
	json_end_object(&w);
	text = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* --- Reading --- */

/* The beginning of a text, in one line, without half a character. */
static struct str excerpt(struct str text, struct arena *arena)
{
	struct str cut = str_trim(text);
	char *p;

	if (cut.n > EXCERPT_BYTES) {
		cut.n = EXCERPT_BYTES;
		cut.n = str_utf8_prefix(cut);
	}
	p = arena_alloc(arena, cut.n + 1);
	memcpy(p, cut.p, cut.n);
	for (size_t i = 0; i < cut.n; i++)
		if ((unsigned char)p[i] < ' ')
			p[i] = ' ';
	return (struct str){p, cut.n};
}

/* Where the guard has blanked the envelope's texts, those of others are not shown beside it. */
static enum store_status read_text(struct store_conn *c, int64_t space, const struct envelope *e,
				   struct considered_item *item, struct arena *arena)
{
	struct memory m;
	enum store_status status;

	if (e->guard.type != JSON_NULL)
		return STORE_OK;
	status = store_memory_get(c, space, item->num, 0, arena, &m);
	if (status == STORE_OK && m.forgotten_at_ms == 0 && m.quarantined_at_ms == 0)
		item->text = excerpt(m.content, arena);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static const struct envelope_trim *find_trim(const struct envelope *e, uint64_t num)
{
	struct memory_id id;

	for (size_t i = 0; i < e->trim_count; i++)
		if (memory_id_parse(e->trimmed[i].id, &id) && id.num == num)
			return &e->trimmed[i];
	return NULL;
}

static void add_refs(const struct envelope *e, struct arena *arena, struct considered *ret)
{
	for (size_t i = 0; i < e->ref_count; i++) {
		const struct envelope_ref *r = &e->refs[i];
		const struct envelope_trim *trim = r->form == FORM_FULL ? NULL : find_trim(e, r->id.num);

		ret->items[ret->count++] = (struct considered_item){
			.num = r->id.num, .why = r->why, .relevance = r->relevance, .tokens = r->tokens,
			.fate = str_of(envelope_form_name(r->form)), .reason = trim ? trim->reason : STR_NULL,
			.text = r->text.p ? excerpt(r->text, arena) : STR_NULL,
		};
	}
}

static void add_left_out(const struct envelope *e, struct considered *ret)
{
	struct memory_id id;

	for (size_t i = 0; i < e->trim_count; i++) {
		const struct envelope_trim *t = &e->trimmed[i];

		if (!str_is(t->form, "none") || !memory_id_parse(t->id, &id))
			continue;
		ret->items[ret->count++] = (struct considered_item){
			.num = id.num, .why = t->why, .relevance = t->relevance, .tokens = t->tokens,
			.fate = STR("left_out"), .reason = t->reason,
		};
	}
}

static void add_passed(const struct json *passed, struct considered *ret)
{
	for (uint32_t i = 0; i < passed->count; i++) {
		const struct json *row = &passed->items[i];

		if (row->type != JSON_ARRAY || row->count != 3 || row->items[2].type != JSON_INT ||
		    row->items[2].i < 0 || row->items[2].i > PASSED_NOT_ASKED_FOR)
			continue;
		ret->items[ret->count++] = (struct considered_item){
			.num = (uint64_t)row->items[0].i, .why = WHY_RELEVANT,
			.relevance = (double)row->items[1].i / 1000, .fate = STR("passed_over"),
			.reason = str_of(passed_names[row->items[2].i]),
		};
	}
}

static void add_repeats(const struct json *repeats, struct considered *ret)
{
	for (uint32_t i = 0; repeats && repeats->type == JSON_ARRAY && i < repeats->count; i++) {
		const struct json *pair = &repeats->items[i];
		int64_t num, of;

		if (pair->type != JSON_ARRAY || pair->count != 2 || !json_as_int(&pair->items[0], &num) ||
		    !json_as_int(&pair->items[1], &of))
			continue;
		for (size_t k = 0; k < ret->count; k++)
			if (ret->items[k].num == (uint64_t)num && str_is(ret->items[k].reason, "repetition"))
				ret->items[k].repeats = (uint64_t)of;
	}
}

/* What was recorded; {} where nothing was. */
static struct json read_record(struct str record, struct arena *arena, struct considered *ret)
{
	struct json value = {.type = JSON_OBJECT};
	struct json_error error;
	const struct json *scope, *floor;

	ret->is_recorded = record.n && json_parse(record, 8, arena, &value, &error) && value.type == JSON_OBJECT;
	if (!ret->is_recorded)
		return (struct json){.type = JSON_OBJECT};
	scope = json_get(&value, "scope");
	floor = json_get(&value, "floor");
	ret->whole_space = scope && scope->type == JSON_STRING && str_is(scope->s, "space");
	ret->floor = floor && floor->type == JSON_DOUBLE ? floor->d : 0;
	json_as_int(json_get(&value, "include_recent"), &ret->include_recent);
	return value;
}

enum store_status considered_read(struct store_conn *c, int64_t space, const struct envelope *e, struct str record,
				  struct arena *arena, struct considered *ret)
{
	struct considered all = {0};
	struct json value = read_record(record, arena, &all);
	const struct json *passed = json_get(&value, "passed");
	bool has_passed = passed && passed->type == JSON_ARRAY;
	enum store_status status = STORE_OK;

	all.items = arena_calloc(arena, e->ref_count + e->trim_count + (has_passed ? passed->count : 0) + 1,
				 sizeof(*all.items));
	add_refs(e, arena, &all);
	add_left_out(e, &all);
	if (has_passed)
		add_passed(passed, &all);
	add_repeats(json_get(&value, "repeats"), &all);
	for (size_t i = 0; i < all.count; i++)
		all.items[i].relevance = round(all.items[i].relevance * 1000) / 1000;
	for (size_t i = e->ref_count; status == STORE_OK && i < all.count; i++)
		status = read_text(c, space, e, &all.items[i], arena);
	*ret = all;
	return status;
}
