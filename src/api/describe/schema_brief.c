#include "api/describe/schema_brief.h"

#include "api/describe/words.h"

static const char *type_name(const struct field *f)
{
	switch (f->type) {
	case TYPE_BOOL:
		return "boolean";
	case TYPE_INT:
		return "integer";
	case TYPE_NUMBER:
	case TYPE_SECONDS:
		return "number";
	case TYPE_OBJECT:
	case TYPE_SHAPE:
		return "object";
	case TYPE_ARRAY:
	case TYPE_OBJECTS:
	case TYPE_NAMES:
	case TYPE_AGENTS:
	case TYPE_MEMORY_REFS:
	case TYPE_TEXTS:
	case TYPE_SHAPES:
		return "array";
	case TYPE_ANY:
	case TYPE_RAW:
		return NULL;
	default:
		return "string";
	}
}

static const char *item_name(const struct field *f)
{
	switch (f->type) {
	case TYPE_NAMES:
	case TYPE_AGENTS:
	case TYPE_MEMORY_REFS:
	case TYPE_TEXTS:
		return "string";
	case TYPE_OBJECTS:
		return "object";
	default:
		return f->items && strstr(f->items, "'type':'string'") ? "string" : NULL;
	}
}

static void put_items(struct json_writer *w, const struct field *f)
{
	const char *item = f->is_repeated ? "string" : item_name(f);

	json_key(w, "items");
	json_begin_object(w);
	if (item)
		json_member_cstr(w, "type", item);
	json_end_object(w);
}

static void put_words(struct json_writer *w, const struct words *words)
{
	json_key(w, "enum");
	json_begin_array(w);
	for (size_t i = 0; words->list[i]; i++)
		if (!words_stands_before(words, i))
			json_put_cstr(w, words->list[i]);
	json_end_array(w);
}

void schema_put_brief(struct json_writer *w, const struct field *f)
{
	const char *type = f->is_repeated ? "array" : type_name(f);

	/* What is stored as JSON says only in its schema what it is. */
	if (f->type == TYPE_RAW && f->schema && strstr(f->schema, "'type':'array'"))
		type = "array";
	if (f->type == TYPE_ENUM && !f->is_repeated)
		put_words(w, f->words);
	else if (type)
		json_member_cstr(w, "type", type);
	if (f->type != TYPE_SHAPES && type && strcmp(type, "array") == 0)
		put_items(w, f);
}
