/* A loop over the fields, with a switch over their types: answers are on the way of every request. */
#include "api/describe/write.h"

#include "base/clock.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/envelope_id.h"

#include <stdio.h>

/* Names of fields have nothing in them that would have to be escaped (a test looks): they are copied at once. */
static void put_key(struct json_writer *w, struct str name)
{
	size_t total = name.n + 3 + (w->comma ? 1 : 0);
	char *at = buf_reserve(w->out, total);

	if (at == NULL)
		return;
	if (w->comma)
		*at++ = ',';
	*at++ = '"';
	memcpy(at, name.p, name.n);
	memcpy(at + name.n, "\":", 2);
	buf_commit(w->out, total);
	w->comma = false;
}

/* May it be that nothing is there? Of a request everything may be that is not required. */
static bool may_be_none(const struct shape *s, const struct field *f)
{
	return f->is_nullable || f->is_maybe || (s->is_input && f->required == NULL);
}

/* Nothing is there to be told: null, or not a word. What may be either is null: it is absent with all of its struct. */
static void put_none(const struct shape *s, const struct field *f, struct json_writer *w)
{
	if (!f->is_nullable && (f->is_maybe || s->is_input))
		return;
	put_key(w, f->name);
	json_put_null(w);
}

static void put_not_given(const struct shape *s, const struct field *f, struct json_writer *w)
{
	if (f->type != TYPE_INCLUDE)
		put_none(s, f, w);
}

static void put_text(const struct shape *s, const struct field *f, struct str text, struct json_writer *w)
{
	if (text.p == NULL && may_be_none(s, f)) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	json_put_str(w, text);
}

static void put_raw(const struct shape *s, const struct field *f, struct str text, struct json_writer *w)
{
	if (text.p == NULL && f->raw_unset == NULL) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	json_put_raw(w, text.p ? text : str_of(f->raw_unset));
}

static int64_t int_of(const struct field *f, const void *at)
{
	switch (f->kind) {
	case MEMBER_I32:
		return *(const int *)at;
	case MEMBER_U32:
		return *(const unsigned *)at;
	case MEMBER_U64:
		return (int64_t)*(const uint64_t *)at;
	case MEMBER_BOOL:
		return *(const bool *)at;
	default:
		return *(const int64_t *)at;
	}
}

static void put_time(const struct field *f, int64_t ms, struct json_writer *w)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(ms, text);
	put_key(w, f->name);
	json_put_cstr(w, text);
}

/* Numbers, and what is a number in the struct; one that is the field's unset is none. */
static void put_number(const struct shape *s, const struct field *f, int64_t value, struct json_writer *w)
{
	if (value == f->unset && may_be_none(s, f)) {
		put_none(s, f, w);
		return;
	}
	if (f->type == TYPE_TIME) {
		put_time(f, value, w);
		return;
	}
	put_key(w, f->name);
	if (f->type == TYPE_ENUM)
		json_put_cstr(w, f->words->list[value - f->words->first]);
	else if (f->type == TYPE_SECONDS)
		json_put_double(w, (double)value / 1000);
	else
		json_put_int(w, value);
}

static void put_double(const struct shape *s, const struct field *f, double value, struct json_writer *w)
{
	if (value == (double)f->unset && may_be_none(s, f)) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	json_put_double(w, value);
}

/* 0 is no id. */
static void put_id(const struct shape *s, const struct field *f, uint64_t num, uint32_t version, struct json_writer *w)
{
	char text[HANDOFF_ID_SIZE];
	size_t len = 0;

	if (num == 0) {
		put_none(s, f, w);
		return;
	}
	if (f->type == TYPE_ENVELOPE_ID)
		len = envelope_id_format(num, text);
	else if (f->type == TYPE_HANDOFF_ID)
		len = handoff_id_format(num, text);
	else if (f->type == TYPE_ALERT_ID)
		len = (size_t)snprintf(text, sizeof(text), "al-%llu", (unsigned long long)num);
	else if (f->type == TYPE_KEY_ID)
		len = (size_t)snprintf(text, sizeof(text), "key-%llu", (unsigned long long)num);
	else
		len = memory_id_format(num, version, text);
	put_key(w, f->name);
	json_put_str(w, (struct str){text, len});
}

static void put_json(const struct shape *s, const struct field *f, const void *at, struct json_writer *w)
{
	const struct json *value = f->kind == MEMBER_JSON ? at : *(const struct json *const *)at;

	bool is_none = value == NULL || value->type == JSON_NULL;

	if (is_none && f->raw_unset == NULL) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	if (is_none)
		json_put_raw(w, str_of(f->raw_unset));
	else
		json_put(w, value);
}

static void put_list(const struct shape *s, const struct field *f, const void *from, const void *with,
		     struct json_writer *w)
{
	const char *items = *(const char *const *)((const char *)from + f->offset);
	size_t count = *(const size_t *)((const char *)from + f->count_offset);

	if (items == NULL && !f->given && may_be_none(s, f)) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	json_begin_array(w);
	for (size_t i = 0; items && i < count; i++) {
		if (f->type == TYPE_TEXTS)
			json_put_str(w, ((const struct str *)(const void *)items)[i]);
		else
			shape_write_with(f->shape, items + i * f->item_size, with, w);
	}
	json_end_array(w);
}

/* The struct of a shape; NULL: there is none. */
static const void *struct_of(const struct field *f, const void *from)
{
	const void *at = (const char *)from + f->offset;

	return f->kind == MEMBER_POINTER ? *(const void *const *)at : at;
}

static void put_shape(const struct shape *s, const struct field *f, const void *at, const void *with,
		      struct json_writer *w)
{
	if (at == NULL) {
		put_none(s, f, w);
		return;
	}
	put_key(w, f->name);
	shape_write_with(f->shape, at, with, w);
}

static void put_field(const struct shape *s, const struct field *f, const void *from, const void *with,
		      struct json_writer *w)
{
	const void *at = (const char *)from + f->offset;

	switch (f->kind == MEMBER_TEXT ? TYPE_TEXT : f->type) {
	case TYPE_TEXT:
	case TYPE_NAME:
	case TYPE_AGENT:
		put_text(s, f, f->kind == MEMBER_CSTR ? str_of(*(const char *const *)at) : *(const struct str *)at, w);
		break;
	case TYPE_RAW:
		put_raw(s, f, *(const struct str *)at, w);
		break;
	case TYPE_BOOL:
		put_key(w, f->name);
		json_put_bool(w, *(const bool *)at);
		break;
	case TYPE_INT:
	case TYPE_ENUM:
		put_number(s, f, int_of(f, at), w);
		break;
	case TYPE_SECONDS:
	case TYPE_TIME:
		put_number(s, f, *(const int64_t *)at, w);
		break;
	case TYPE_NUMBER:
		put_double(s, f, *(const double *)at, w);
		break;
	case TYPE_MEMORY_REF:
		put_id(s, f, ((const struct memory_id *)at)->num, ((const struct memory_id *)at)->version, w);
		break;
	case TYPE_MEMORY_ID:
	case TYPE_ENVELOPE_ID:
	case TYPE_HANDOFF_ID:
	case TYPE_ALERT_ID:
	case TYPE_KEY_ID:
		put_id(s, f, *(const uint64_t *)at, 0, w);
		break;
	case TYPE_TEXTS:
	case TYPE_SHAPES:
		put_list(s, f, from, with, w);
		break;
	case TYPE_SHAPE:
		put_shape(s, f, struct_of(f, from), with, w);
		break;
	default:
		put_json(s, f, at, w);
	}
}

static void write_member(const struct shape *s, const struct field *f, const void *from, const void *with,
			 struct json_writer *w)
{
	if (f->write)
		f->write(f, from, with, w);
	else if (f->offset == FIELD_NOWHERE)
		return;
	else if (f->given && !*((const bool *)from + f->given - 1))
		put_not_given(s, f, w);
	else if (f->type == TYPE_INCLUDE)
		shape_write_members(f->shape, struct_of(f, from), with, w);
	else
		put_field(s, f, from, with, w);
}

/* The same where only some are wanted. What is included stands here as if it were written here. */
static void write_shown(const struct shape *s, const struct field *f, const void *from, const void *with,
			struct json_writer *w)
{
	const struct shown *only = w->only, *shown = only;

	if (f->type != TYPE_INCLUDE) {
		while (shown->name && !str_is(f->name, shown->name))
			shown++;
		if (shown->name == NULL)
			return;
		w->only = shown->within;
	}
	write_member(s, f, from, with, w);
	w->only = only;
}

void shape_write_members(const struct shape *s, const void *from, const void *with, struct json_writer *w)
{
	if (from == NULL)
		return;
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		if (w->only)
			write_shown(s, f, from, with, w);
		else
			write_member(s, f, from, with, w);
	}
}

void shape_write_with(const struct shape *s, const void *from, const void *with, struct json_writer *w)
{
	json_begin_object(w);
	shape_write_members(s, from, with, w);
	json_end_object(w);
}

void field_write(const struct field *f, const void *value, struct json_writer *w)
{
	const struct shape none = {0};
	struct field here = *f;

	here.offset = 0;
	put_field(&none, &here, value, NULL, w);
}
