#include "api/describe/describe.h"

bool field_is_required(const struct shape *s, const struct field *f)
{
	if (s->is_patch)
		return false;
	return s->is_input ? f->required != NULL : !f->is_maybe;
}

bool field_is_nullable(const struct shape *s, const struct field *f)
{
	return s->is_input ? f->required == NULL : f->is_nullable;
}

bool field_is_shown(const struct shape *s, const struct field *f)
{
	return !s->is_patch || (!f->is_immutable && !f->is_new_only);
}

const struct field *shape_find(const struct shape *s, struct str name)
{
	const struct field *found = NULL;

	for (const struct field *f = s->fields; f->type != TYPE_END && found == NULL; f++) {
		if (f->type == TYPE_INCLUDE)
			found = shape_find(f->shape, name);
		else if (f->is_prefix ? name.n > f->name.n && str_has_prefix(name, f->name) : str_eq(f->name, name))
			found = f;
	}
	return found;
}

const struct operation *operation_find(const char *id)
{
	for (const struct operation *o = operations_all(); o->pattern; o++)
		if (strcmp(o->description->id, id) == 0)
			return o;
	return NULL;
}

const char *scope_name(enum scope scope)
{
	static const char *const names[] = {
		[SCOPE_OPEN] = "open",       [SCOPE_READ] = "read",   [SCOPE_WRITE] = "write",
		[SCOPE_RECEIVE] = "receive", [SCOPE_ADMIN] = "admin",
	};

	return names[scope];
}

unsigned scope_access(enum scope scope)
{
	switch (scope) {
	case SCOPE_OPEN:
		return 0;
	case SCOPE_READ:
		return ACCESS_READ;
	case SCOPE_WRITE:
		return ACCESS_WRITE;
	case SCOPE_RECEIVE:
		return ACCESS_RECEIVE;
	default:
		return ACCESS_ADMIN;
	}
}

enum problem_code scope_check(const struct description *d, const struct access *access, struct problem *problem)
{
	enum problem_code code = access_check_scope(access, scope_access(d->scope), problem);

	return code == P_OK && d->also ? access_check_scope(access, scope_access(d->also), problem) : code;
}
