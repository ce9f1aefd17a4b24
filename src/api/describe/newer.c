#include "api/describe/newer.h"

static int higher(int a, int b)
{
	return a > b ? a : b;
}

static int of_items(const struct shape *s, const struct json *list)
{
	int since = 0;

	for (uint32_t i = 0; list->type == JSON_ARRAY && i < list->count; i++)
		since = higher(since, newer_of(s, &list->items[i]));
	return since;
}

static int of_field(const struct field *f, const struct json *value)
{
	int since = f->since;

	if (f->type == TYPE_SHAPE)
		since = higher(since, newer_of(f->shape, value));
	else if (f->shape && (f->type == TYPE_SHAPES || f->type == TYPE_OBJECTS))
		since = higher(since, of_items(f->shape, value));
	return since;
}

int newer_of(const struct shape *s, const struct json *value)
{
	int since = 0;

	for (uint32_t i = 0; value->type == JSON_OBJECT && i < value->count; i++) {
		const struct field *f = shape_find(s, value->members[i].key);

		if (f)
			since = higher(since, of_field(f, &value->members[i].value));
	}
	return since;
}

int newer_of_body(const struct description *d, const struct json *body)
{
	int since = 0;

	for (size_t i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
		since = higher(since, newer_of(d->body[i], body));
	return since;
}

int newer_of_parameter(const struct description *d, struct str name)
{
	const struct field *f = d->query ? shape_find(d->query, name) : NULL;

	return f ? f->since : 0;
}
