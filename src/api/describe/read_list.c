/* Reading what is made of other values: arrays, objects, and whole shapes. */
#include "api/describe/read_list.h"

#include "api/decode.h"

#include <stdio.h>

enum { UNKNOWN_SHOWN = 200, PLACE_SIZE = 64 };

/* --- Arrays --- */

static enum problem_code read_array(const struct field *f, const struct json *value, struct problem *problem)
{
	if (value->type != JSON_ARRAY)
		return read_wrong_type(value, f->name.p, "an array", problem);
	if (f->max && value->count > (size_t)f->max)
		return problem_set(problem, P_TOO_LARGE, f->name.p, "%s has %u items; at most %zu are allowed",
				   f->name.p, value->count, (size_t)f->max);
	if (value->count < (size_t)f->min)
		return problem_set(problem, P_MISSING_FIELD, f->name.p, "%s is missing or empty; %s", f->name.p,
				   f->required ? f->required : "expected some items");
	return P_OK;
}

static enum problem_code read_ref(const struct field *f, const struct json *item, uint32_t i, struct memory_id *ret,
				  struct problem *problem)
{
	if (item->type == JSON_STRING && memory_id_parse(item->s, ret))
		return P_OK;
	problem_set(problem, P_INVALID_FIELD, NULL, "%s[%u] is not an id of a memory; expected one as in ms-4821 or "
		    "ms-4821@2", f->name.p, i);
	problem_prefix(problem, f->name.p, i);
	return problem->code;
}

static enum problem_code check_object(const struct field *f, const struct json *item, uint32_t i,
				      struct problem *problem)
{
	if (item->type == JSON_OBJECT)
		return P_OK;
	problem_set(problem, P_INVALID_FIELD, NULL, "an item is %s; expected an object", json_type_name(item->type));
	problem_prefix(problem, f->name.p, i);
	return problem->code;
}

static enum problem_code check_name(const struct field *f, const struct json *item, uint32_t i, struct problem *problem)
{
	bool of_agent = f->type == TYPE_AGENTS;
	char place[PLACE_SIZE];

	snprintf(place, sizeof(place), "%s[%u]", f->name.p, i);
	if (item->type != JSON_STRING)
		return read_wrong_type(item, place, of_agent ? "the name of an agent" : "a string", problem);
	return of_agent ? decode_check_agent(item->s, place, problem)
			: decode_check_name(item->s, place, f->item_max, problem);
}

static enum problem_code check_item(const struct field *f, const struct json *item, uint32_t i, struct problem *problem)
{
	switch (f->type) {
	case TYPE_OBJECTS:
		return check_object(f, item, i, problem);
	case TYPE_NAMES:
	case TYPE_AGENTS:
		return check_name(f, item, i, problem);
	default:
		return P_OK;
	}
}

/* An array that is kept as it came. */
static enum problem_code read_items(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	enum problem_code code = read_array(f, value, r->problem);

	for (uint32_t i = 0; code == P_OK && i < value->count; i++)
		code = check_item(f, &value->items[i], i, r->problem);
	for (uint32_t i = 0; code == P_OK && f->shape && r->warn && i < value->count; i++)
		shape_warn_unknown(f->shape, &value->items[i], arena_printf(r->arena, "%s[%u].", f->name.p, i).p, r);
	if (code == P_OK)
		read_keep_json(f, into, value);
	return code;
}

static void keep_list(const struct field *f, void *into, void *items, size_t count)
{
	if (f->offset == FIELD_NOWHERE)
		return;
	*(void **)((char *)into + f->offset) = items;
	*(size_t *)((char *)into + f->count_offset) = count;
}

static enum problem_code read_refs(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	enum problem_code code = read_array(f, value, r->problem);
	struct memory_id *ids = arena_calloc(r->arena, code == P_OK ? value->count + 1 : 1, sizeof(*ids));

	for (uint32_t i = 0; code == P_OK && i < value->count; i++)
		code = read_ref(f, &value->items[i], i, &ids[i], r->problem);
	if (code == P_OK && f->kind == MEMBER_LIST)
		keep_list(f, into, ids, value->count);
	else if (code == P_OK)
		read_keep_json(f, into, value);
	return code;
}

static enum problem_code read_texts(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	enum problem_code code = read_array(f, value, r->problem);
	struct str *list = arena_calloc(r->arena, code == P_OK ? value->count + 1 : 1, sizeof(*list));

	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		char place[PLACE_SIZE];

		snprintf(place, sizeof(place), "%s[%u]", f->name.p, i);
		if (value->items[i].type != JSON_STRING)
			return read_wrong_type(&value->items[i], place, "a string", r->problem);
		list[i] = value->items[i].s;
	}
	if (code == P_OK)
		keep_list(f, into, list, value->count);
	return code;
}

/* --- Shapes --- */

static enum problem_code check_is_object(const struct shape *s, const struct json *value, struct problem *problem)
{
	if (value->type == JSON_OBJECT)
		return P_OK;
	return problem_set(problem, P_INVALID_FIELD, NULL, "%s is %s; expected an object",
			   s->noun ? s->noun : "an item", json_type_name(value->type));
}

static enum problem_code read_shapes(const struct field *f, const struct json *value, void *into,
				     struct shape_reader *r)
{
	size_t size = f->shape->size;
	enum problem_code code = read_array(f, value, r->problem);
	char *items = code == P_OK ? arena_calloc(r->arena, (size_t)value->count + 1, size) : NULL;

	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		struct str prefix = f->warns_unnumbered ? arena_printf(r->arena, "%s[].", f->name.p)
							: arena_printf(r->arena, "%s[%u].", f->name.p, i);

		code = check_is_object(f->shape, &value->items[i], r->problem);
		if (code == P_OK)
			code = shape_read(f->shape, &value->items[i], prefix.p, items + i * size, r);
		if (code != P_OK)
			problem_prefix(r->problem, f->name.p, i);
	}
	if (code == P_OK)
		keep_list(f, into, items, value->count);
	return code;
}

static enum problem_code read_shape(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	char *nowhere = NULL;
	enum problem_code code;

	if (value->type != JSON_OBJECT)
		return read_wrong_type(value, f->name.p, "an object", r->problem);
	if (f->offset == FIELD_NOWHERE)
		nowhere = arena_zalloc(r->arena, f->shape->size + 1);
	code = shape_read(f->shape, value, arena_printf(r->arena, "%s.", f->name.p).p,
			  nowhere ? nowhere : (char *)into + f->offset, r);
	if (code != P_OK)
		problem_within(r->problem, f->name.p);
	return code;
}

enum problem_code read_list(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	switch (f->type) {
	case TYPE_SHAPE:
		return read_shape(f, value, into, r);
	case TYPE_SHAPES:
		return read_shapes(f, value, into, r);
	case TYPE_TEXTS:
		return read_texts(f, value, into, r);
	case TYPE_MEMORY_REFS:
		return read_refs(f, value, into, r);
	case TYPE_OBJECT:
		if (value->type != JSON_OBJECT)
			return read_wrong_type(value, f->name.p, "an object", r->problem);
		read_keep_json(f, into, value);
		return P_OK;
	case TYPE_ANY:
		read_keep_json(f, into, value);
		return P_OK;
	default:
		return read_items(f, value, into, r);
	}
}

/* --- An object --- */

void shape_warn_unknown(const struct shape *s, const struct json *obj, const char *prefix, struct shape_reader *r)
{
	for (uint32_t i = 0; obj->type == JSON_OBJECT && i < obj->count; i++) {
		struct str key = obj->members[i].key;
		const struct field *f = shape_find(s, key);

		if (f == NULL || (s->is_patch && f->is_new_only))
			r->warn(r->ctx, arena_printf(r->arena, "%s%.*s", prefix,
						     (int)(key.n < UNKNOWN_SHOWN ? key.n : UNKNOWN_SHOWN), key.p));
	}
}

/* What cannot be changed is refused before anything else is looked at, whatever it says. */
static enum problem_code check_immutable(const struct shape *s, const struct json *obj, struct problem *problem)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++)
		if (f->is_immutable && json_get_str(obj, f->name))
			return problem_set(problem, P_IMMUTABLE_FIELD, f->name.p, "%s cannot be changed; leave it out",
					   f->name.p);
	return P_OK;
}

/* A field that a key of the operation's scope alone may not give. */
static enum problem_code check_needs(const struct field *f, const struct json *obj, struct shape_reader *r)
{
	const struct json *value = f->needs ? json_get_str(obj, f->name) : NULL;
	enum problem_code code = P_OK;

	if (value && value->type != JSON_NULL)
		code = access_check_scope(r->access, scope_access(f->needs), r->problem);
	if (code != P_OK)
		snprintf(r->problem->field, sizeof(r->problem->field), "%s", f->name.p);
	return code;
}

/* Who may not name somebody learns nothing else about the request. In a patch null takes the name away. */
static enum problem_code check_names(const struct shape *s, const struct json *obj, struct shape_reader *r)
{
	enum problem_code code = P_OK;

	for (const struct field *f = s->fields; code == P_OK && f->type != TYPE_END; f++) {
		const struct json *value = f->names ? json_get_str(obj, f->name) : NULL;

		code = check_needs(f, obj, r);
		if (code != P_OK)
			return code;
		if (f->type == TYPE_INCLUDE)
			code = check_names(f->shape, obj, r);
		else if (value && value->type == JSON_STRING)
			code = read_check_names(f, value->s, r->access, r->problem);
		else if (value && value->type == JSON_NULL && s->is_patch)
			code = read_check_names(f, STR_NULL, r->access, r->problem);
	}
	return code;
}

static enum problem_code absent(const struct shape *s, const struct field *f, struct problem *problem)
{
	if (!s->is_input || !field_is_required(s, f))
		return P_OK;
	return problem_set(problem, P_MISSING_FIELD, f->name.p, "%s is missing%s; %s", f->name.p,
			   f->type >= TYPE_ARRAY && f->min > 0 ? " or empty" : "", f->required);
}

/* One field of the object: it is absent, or cleared, or read. */
static enum problem_code read_field(const struct shape *s, const struct field *f, const struct json *obj, void *into,
				    struct shape_reader *r)
{
	const struct json *value = json_get_str(obj, f->name);
	bool is_null = value && value->type == JSON_NULL;

	if (value == NULL || (is_null && (!s->is_patch || f->is_null_absent)))
		return f->absent ? f->absent(f, into, r) : absent(s, f, r->problem);
	if (f->bit)
		*(unsigned *)((char *)into + s->has_offset) |= f->bit;
	if (is_null)
		return f->required ? problem_set(r->problem, P_INVALID_FIELD, f->name.p, "%s cannot be null", f->name.p)
				   : P_OK;
	return f->read ? f->read(f, value, into, r) : field_read(f, value, into, r);
}

static enum problem_code read_fields(const struct shape *s, const struct json *obj, void *into, struct shape_reader *r)
{
	enum problem_code code = P_OK;

	for (const struct field *f = s->fields; code == P_OK && f->type != TYPE_END; f++) {
		if (f->type == TYPE_INCLUDE)
			code = read_fields(f->shape, obj, (char *)into + (f->offset == FIELD_NOWHERE ? 0 : f->offset),
					   r);
		else if (field_is_shown(s, f))
			code = read_field(s, f, obj, into, r);
	}
	return code;
}

enum problem_code shape_read(const struct shape *s, const struct json *obj, const char *prefix, void *into,
			     struct shape_reader *r)
{
	const struct json *around = r->object;
	enum problem_code code = obj->type == JSON_NULL ? P_OK : check_is_object(s, obj, r->problem);

	if (code != P_OK)
		return code;
	if (r->warn)
		shape_warn_unknown(s, obj, prefix, r);
	if (r->access)
		code = check_names(s, obj, r);
	if (code != P_OK)
		return code;
	r->object = obj;
	if (s->defaults)
		memcpy(into, s->defaults, s->size);
	if (s->is_patch)
		code = check_immutable(s, obj, r->problem);
	if (code == P_OK)
		code = read_fields(s, obj, into, r);
	r->object = around;
	return code;
}
