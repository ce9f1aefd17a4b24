#include "api/describe/schema.h"

#include "api/describe/words.h"
#include "core/delivery/agent.h"

/* Where a field stands decides what it may be. */
struct place {
	bool is_input;
	bool is_nullable;
};

#define NO_CONTROLS "^[^\\u0000-\\u001f\\u007f-\\u009f]+$"

/* --- Text --- */

static void put_quoted(struct json_writer *w, const char *text)
{
	for (; *text; text++)
		buf_putc(w->out, *text == '\'' ? '"' : *text);
}

void schema_put_members(struct json_writer *w, const char *text)
{
	if (*text == '\0')
		return;
	if (w->comma)
		buf_putc(w->out, ',');
	put_quoted(w, text);
	w->comma = true;
}

void schema_put_value(struct json_writer *w, const char *text)
{
	put_quoted(w, text);
	w->comma = true;
}

static void put_ref(struct json_writer *w, const char *name)
{
	struct buf text;

	buf_init(&text, 256);
	buf_printf(&text, "#/components/schemas/%s", name);
	json_member_str(w, "$ref", buf_str(&text));
	buf_release(&text);
}

/* A type with a name: itself, or null. */
static void put_name(struct json_writer *w, const char *name, bool is_nullable)
{
	if (!is_nullable) {
		put_ref(w, name);
		return;
	}
	json_key(w, "anyOf");
	json_begin_array(w);
	json_begin_object(w);
	put_ref(w, name);
	json_end_object(w);
	json_put_raw(w, STR("{\"type\":\"null\"}"));
	json_end_array(w);
}

static void put_type(struct json_writer *w, const char *type, bool is_nullable)
{
	json_key(w, "type");
	if (!is_nullable) {
		json_put_cstr(w, type);
		return;
	}
	json_begin_array(w);
	json_put_cstr(w, type);
	json_put_cstr(w, "null");
	json_end_array(w);
}

static void put_bound(struct json_writer *w, const char *key, int64_t bound, int64_t none)
{
	if (bound != none)
		json_member_int(w, key, bound);
}

/* --- Simple types --- */

static void put_text(struct json_writer *w, const struct field *f, bool is_nullable)
{
	bool is_name = f->type != TYPE_TEXT;
	int64_t max = f->type == TYPE_AGENT ? AGENT_NAME_MAX : f->max;

	put_type(w, "string", is_nullable);
	put_bound(w, "minLength", is_name ? 1 : f->min, 0);
	put_bound(w, "maxLength", max, 0);
	if (is_name)
		json_member_cstr(w, "pattern", NO_CONTROLS);
}

/* Bounds of seconds are milliseconds here. */
static void put_number(struct json_writer *w, const struct field *f, bool is_nullable)
{
	double scale = f->type == TYPE_SECONDS ? 1000 : 1;

	put_type(w, f->type == TYPE_INT ? "integer" : "number", is_nullable);
	if (f->min != NO_MIN)
		json_member_double(w, "minimum", (double)f->min / scale);
	if (f->max != NO_MAX)
		json_member_double(w, "maximum", (double)f->max / scale);
}

static void put_words(struct json_writer *w, const struct words *words, bool is_nullable)
{
	if (words->list[1] == NULL && !is_nullable) {
		json_member_cstr(w, "const", words->list[0]);
		return;
	}
	json_key(w, "enum");
	json_begin_array(w);
	for (size_t i = 0; words->list[i]; i++)
		if (!words_stands_before(words, i))
			json_put_cstr(w, words->list[i]);
	if (is_nullable)
		json_put_null(w);
	json_end_array(w);
}

static void put_time(struct json_writer *w, struct place place)
{
	if (!place.is_input) {
		put_name(w, "Time", place.is_nullable);
		return;
	}
	put_type(w, "string", place.is_nullable);
	json_member_cstr(w, "format", "date-time");
}

/* The names of types that always have one. */
static const char *type_name(enum field_type type)
{
	switch (type) {
	case TYPE_MEMORY_ID:
		return "MemoryId";
	case TYPE_MEMORY_REF:
		return "MemoryIdOrVersion";
	case TYPE_ENVELOPE_ID:
		return "EnvelopeId";
	case TYPE_HANDOFF_ID:
		return "HandoffId";
	default:
		return NULL;
	}
}

/* --- Made of others --- */

static void put_items(struct json_writer *w, const struct field *f)
{
	static const struct field agent = {.type = TYPE_AGENT};

	json_key(w, "items");
	if (f->shape) {
		schema_put_use(w, f->shape);
		return;
	}
	json_begin_object(w);
	if (f->items)
		schema_put_members(w, f->items);
	else if (f->words)
		put_words(w, f->words, false);
	else if (f->type == TYPE_AGENTS)
		put_text(w, &agent, false);
	else if (f->type == TYPE_NAMES)
		put_text(w, &(const struct field){.type = TYPE_NAME, .max = (int64_t)f->item_max}, false);
	else if (f->type == TYPE_MEMORY_REFS)
		put_ref(w, type_name(TYPE_MEMORY_REF));
	else
		put_type(w, f->type == TYPE_TEXTS ? "string" : "object", false);
	json_end_object(w);
}

static void put_array(struct json_writer *w, const struct field *f, bool is_nullable)
{
	put_type(w, "array", is_nullable);
	put_bound(w, "minItems", f->min, 0);
	put_bound(w, "maxItems", f->max, 0);
	if (f->type != TYPE_ARRAY || f->items)
		put_items(w, f);
}

static void put_properties(struct json_writer *w, const struct shape *s, const struct shape *within);

static void put_required(struct json_writer *w, const struct shape *s, const struct shape *within, bool *begun)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		if (f->type == TYPE_INCLUDE)
			put_required(w, f->shape, within, begun);
		if (f->type == TYPE_INCLUDE || !field_is_required(within, f) || !field_is_shown(within, f))
			continue;
		if (!*begun) {
			json_key(w, "required");
			json_begin_array(w);
		}
		*begun = true;
		json_put_str(w, f->name);
	}
}

static void put_object(struct json_writer *w, const struct shape *s, bool is_nullable)
{
	bool begun = false;

	put_type(w, "object", is_nullable);
	put_required(w, s, s, &begun);
	if (begun)
		json_end_array(w);
	json_key(w, "properties");
	json_begin_object(w);
	put_properties(w, s, s);
	if (s->warns) {
		json_key(w, "warnings");
		json_begin_object(w);
		put_ref(w, "Warnings");
		json_end_object(w);
	}
	json_end_object(w);
	if (s->also)
		schema_put_members(w, s->also);
}

/* --- Fields --- */

static void put_plain(struct json_writer *w, const struct field *f, struct place place)
{
	switch (f->type) {
	case TYPE_TEXT:
	case TYPE_NAME:
	case TYPE_AGENT:
		put_text(w, f, place.is_nullable);
		break;
	case TYPE_BOOL:
		put_type(w, "boolean", place.is_nullable);
		break;
	case TYPE_INT:
	case TYPE_NUMBER:
	case TYPE_SECONDS:
		put_number(w, f, place.is_nullable);
		break;
	case TYPE_TIME:
		put_time(w, place);
		break;
	case TYPE_ALERT_ID:
		put_type(w, "string", place.is_nullable);
		json_member_cstr(w, "pattern", "^al-[1-9][0-9]*$");
		break;
	case TYPE_KEY_ID:
		put_type(w, "string", place.is_nullable);
		json_member_cstr(w, "pattern", "^key-[1-9][0-9]*$");
		break;
	case TYPE_OBJECT:
		put_type(w, "object", place.is_nullable);
		break;
	case TYPE_SHAPE:
		put_object(w, f->shape, place.is_nullable);
		break;
	case TYPE_ANY:
	case TYPE_RAW:
		break;
	default:
		put_array(w, f, place.is_nullable);
	}
}

/* May a type with a name be null by itself? */
static bool type_is_nullable(const char *name)
{
	for (const struct field *t = schema_types; t->type != TYPE_END; t++)
		if (strcmp(t->component, name) == 0)
			return t->is_nullable;
	return false;
}

static const char *name_of(const struct field *f)
{
	if (f->component)
		return f->component;
	if ((f->type == TYPE_ENUM || f->type == TYPE_TEXT) && f->words && f->words->component)
		return f->words->component;
	if (f->type == TYPE_SHAPE && f->shape->name)
		return f->shape->name;
	return type_name(f->type);
}

static void put_value_of(struct json_writer *w, const struct field *f, struct place place)
{
	const char *name = name_of(f);

	if (f->schema)
		schema_put_members(w, f->schema);
	else if (name)
		put_name(w, name, place.is_nullable && !type_is_nullable(name));
	else if (f->words && f->type != TYPE_TEXTS)
		put_words(w, f->words, place.is_nullable);
	else
		put_plain(w, f, place);
}

static void put_field(struct json_writer *w, const struct shape *s, const struct field *f)
{
	struct place place = {s->is_input, field_is_nullable(s, f)};

	json_key_str(w, f->name);
	json_begin_object(w);
	if (f->says)
		json_member_cstr(w, "description", f->says);
	put_value_of(w, f, place);
	if (f->otherwise && !s->is_patch) {
		json_key(w, "default");
		schema_put_value(w, f->otherwise);
	}
	json_end_object(w);
}

static void put_properties(struct json_writer *w, const struct shape *s, const struct shape *within)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		if (f->type == TYPE_INCLUDE)
			put_properties(w, f->shape, within);
		else if (field_is_shown(within, f))
			put_field(w, within, f);
	}
}

/* --- For others --- */

void schema_put_shape(struct json_writer *w, const struct shape *s)
{
	json_begin_object(w);
	if (s->says)
		json_member_cstr(w, "description", s->says);
	put_object(w, s, false);
	json_end_object(w);
}

void schema_put_use(struct json_writer *w, const struct shape *s)
{
	if (s->name == NULL) {
		schema_put_shape(w, s);
		return;
	}
	json_begin_object(w);
	put_ref(w, s->name);
	json_end_object(w);
}

void schema_put_words(struct json_writer *w, const struct words *words)
{
	json_begin_object(w);
	if (words->says)
		json_member_cstr(w, "description", words->says);
	put_words(w, words, false);
	json_end_object(w);
}

void schema_put_named_type(struct json_writer *w, const struct field *type)
{
	json_begin_object(w);
	if (type->says)
		json_member_cstr(w, "description", type->says);
	if (type->schema)
		schema_put_members(w, type->schema);
	else
		put_plain(w, type, (struct place){false, type->is_nullable});
	json_end_object(w);
}

void schema_put_parameter(struct json_writer *w, const struct field *f)
{
	struct field plain = *f;

	plain.component = NULL;
	json_begin_object(w);
	if (f->is_repeated) {
		put_type(w, "array", false);
		json_key(w, "items");
		json_begin_object(w);
	}
	put_value_of(w, &plain, (struct place){.is_input = true});
	if (f->is_repeated)
		json_end_object(w);
	if (f->otherwise) {
		json_key(w, "default");
		schema_put_value(w, f->otherwise);
	}
	json_end_object(w);
}
