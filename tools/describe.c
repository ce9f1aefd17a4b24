/* Prints what is made from the descriptions of the protocol's operations.
 *
 *   describe openapi        the OpenAPI document
 *   describe operations     one line an operation: method, address, name, scope, tool
 *   describe access         one line an operation: method, address, name, scope, tool, what a key must be beyond
 *                           that, and which parts of a request name the caller or a space
 *   describe tables FILE    FILE with the tables of fields in it made anew
 */
#include "api/describe/describe.h"
#include "api/describe/openapi.h"
#include "api/describe/tables.h"

#include <stdio.h>
#include <stdlib.h>

enum { OUT_MAX = 16 << 20 };

static int print(struct buf *out)
{
	bool ok = !buf_overflowed(out) && fwrite(out->data, 1, out->len, stdout) == out->len && fflush(stdout) == 0;

	buf_release(out);
	return ok ? 0 : 1;
}

static int print_openapi(void)
{
	struct buf out;

	buf_init(&out, OUT_MAX);
	openapi_write(&out);
	return print(&out);
}

static const char *const methods[] = {
	[HTTP_GET] = "GET", [HTTP_POST] = "POST", [HTTP_PUT] = "PUT", [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",
};

static int print_operations(void)
{
	for (const struct operation *o = operations_all(); o->pattern; o++)
		printf("%s\t%s\t%s\t%s\t%s\n", methods[o->method], o->pattern, o->description->id,
		       scope_name(o->description->scope), o->description->tool ? o->description->tool : "-");
	return fflush(stdout) == 0 ? 0 : 1;
}

/* What is refused where it is not the key's own: an agent or a space; NULL: any name will do. */
static const char *names_what(const struct field *f)
{
	if (f->names == NAMES_CALLER || f->names == NAMES_INBOX)
		return "agent";
	return f->names == NAMES_SPACE ? "space" : NULL;
}

/* Those of an object that says it: "body.from". */
static void print_names(const char *where, const struct shape *s)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++)
		if (f->type == TYPE_INCLUDE)
			print_names(where, f->shape);
		else if (names_what(f))
			printf("\t%s.%s=%s", where, f->name.p, names_what(f));
}

/* What only a key with another scope may give: "body.then=scope:write". */
static void print_needs(const struct shape *s)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++)
		if (f->type == TYPE_INCLUDE)
			print_needs(f->shape);
		else if (f->needs)
			printf("\tbody.%s=scope:%s", f->name.p, scope_name(f->needs));
}

static int print_access(void)
{
	for (const struct operation *o = operations_all(); o->pattern; o++) {
		const struct description *d = o->description;

		printf("%s\t%s\t%s\t%s\t%s\t%s", methods[o->method], o->pattern, d->id, scope_name(d->scope),
		       d->tool ? d->tool : "-", d->is_of_all ? "all" : d->is_of_nobody ? "nobody" : "-");
		for (int i = 0; i < DESCRIPTION_PATHS_MAX && d->path[i]; i++)
			if (names_what(d->path[i]))
				printf("\tpath.%d=%s", i, names_what(d->path[i]));
		if (d->query)
			print_names("query", d->query);
		for (int i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
			print_names("body", d->body[i]);
		for (int i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
			print_needs(d->body[i]);
		if (d->also)
			printf("\tall=scope:%s", scope_name(d->also));
		printf("\n");
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

static bool read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "rb");
	char part[65536];
	size_t len;

	if (file == NULL)
		return false;
	while ((len = fread(part, 1, sizeof(part), file)) > 0)
		buf_put(ret, (struct str){part, len});
	return fclose(file) == 0 && !buf_overflowed(ret);
}

static int print_tables(const char *path)
{
	struct buf text, out;
	const char *wrong;

	buf_init(&text, OUT_MAX);
	buf_init(&out, OUT_MAX);
	wrong = read_file(path, &text) ? tables_rewrite(buf_str(&text), &out) : "it cannot be read";
	buf_release(&text);
	if (wrong == NULL)
		return print(&out);
	fprintf(stderr, "describe: %s: %s\n", path, wrong);
	buf_release(&out);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "openapi") == 0)
		return print_openapi();
	if (argc == 2 && strcmp(argv[1], "operations") == 0)
		return print_operations();
	if (argc == 2 && strcmp(argv[1], "access") == 0)
		return print_access();
	if (argc == 3 && strcmp(argv[1], "tables") == 0)
		return print_tables(argv[2]);
	fprintf(stderr, "usage: describe openapi | operations | access | tables FILE\n");
	return 2;
}
