/* The document: operations by their addresses, then everything that has a name, as it is found on the way. */
#include "api/describe/openapi.h"

#include "api/describe/openapi_parts.h"
#include "api/describe/schema.h"

#include <assert.h>
#include <stdio.h>

enum { NAMED_MAX = 128, TEXT_MAX = 256 };

/* What the operations use and is told once. */
struct named {
	const struct shape *shapes[NAMED_MAX];
	size_t shape_count;
	const struct words *words[NAMED_MAX];
	size_t words_count;
	const struct answer *answers[NAMED_MAX];
	size_t answer_count;
};

static void put_ref(struct json_writer *w, const char *kind, const char *name)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "#/components/%s/%s", kind, name);
	json_begin_object(w);
	json_member_cstr(w, "$ref", text);
	json_end_object(w);
}

/* --- What is used --- */

static void note_words(struct named *n, const struct words *words)
{
	for (size_t i = 0; i < n->words_count; i++)
		if (n->words[i] == words)
			return;
	assert(n->words_count < NAMED_MAX);
	n->words[n->words_count++] = words;
}

static void note_shape(struct named *n, const struct shape *s);

static void note_fields(struct named *n, const struct shape *s)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		if (f->words && f->words->component)
			note_words(n, f->words);
		if (f->shape)
			note_shape(n, f->shape);
	}
}

static void note_shape(struct named *n, const struct shape *s)
{
	for (size_t i = 0; s->name && i < n->shape_count; i++)
		if (n->shapes[i] == s)
			return;
	if (s->name) {
		assert(n->shape_count < NAMED_MAX);
		n->shapes[n->shape_count++] = s;
	}
	note_fields(n, s);
}

static void note_answer(struct named *n, const struct answer *a)
{
	if (a->shape)
		note_shape(n, a->shape);
	for (size_t i = 0; i < n->answer_count; i++)
		if (a->component && strcmp(n->answers[i]->component, a->component) == 0)
			return;
	assert(n->answer_count < NAMED_MAX);
	if (a->component)
		n->answers[n->answer_count++] = a;
}

static void note_operation(struct named *n, const struct description *d)
{
	if (d->query)
		note_shape(n, d->query);
	for (size_t i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
		note_shape(n, d->body[i]);
	for (const struct answer *a = d->answers; a->status; a++)
		note_answer(n, a);
}

/* --- Parameters --- */

static void put_parameter(struct json_writer *w, const char *in, const struct field *f)
{
	json_begin_object(w);
	json_member_str(w, "name", f->name);
	json_member_cstr(w, "in", in);
	if (f->required || strcmp(in, "path") == 0)
		json_member_bool(w, "required", true);
	if (f->says)
		json_member_cstr(w, "description", f->says);
	json_key(w, "schema");
	schema_put_parameter(w, f);
	json_end_object(w);
}

static void put_use(struct json_writer *w, const char *in, const struct field *f)
{
	if (f->component)
		put_ref(w, "parameters", f->component);
	else
		put_parameter(w, in, f);
}

static void put_uses(struct json_writer *w, const char *in, const struct shape *s)
{
	for (const struct field *f = s ? s->fields : NULL; f && f->type != TYPE_END; f++)
		if (!f->is_prefix)
			put_use(w, in, f);
}

static void put_parameters(struct json_writer *w, const struct description *d)
{
	unsigned takes = d->takes;

	json_key(w, "parameters");
	json_begin_array(w);
	for (const struct openapi_header *h = openapi_request_headers; h->component; h++)
		if (h->flag ? takes & h->flag : !(takes & TAKES_NO_SPACE))
			put_ref(w, "parameters", h->component);
	for (size_t i = 0; i < DESCRIPTION_PATHS_MAX && d->path[i]; i++)
		put_use(w, "path", d->path[i]);
	put_uses(w, "header", d->headers);
	put_uses(w, "query", d->query);
	json_end_array(w);
}

/* --- Bodies --- */

static void put_body(struct json_writer *w, const struct description *d)
{
	bool is_one = d->body[1] == NULL;

	if (d->body[0] == NULL)
		return;
	json_key(w, "requestBody");
	json_begin_object(w);
	json_member_bool(w, "required", (d->takes & TAKES_BODY) != 0);
	schema_put_members(w, "'content':{'application/json':{'schema':");
	w->comma = false;
	if (!is_one)
		buf_puts(w->out, "{\"anyOf\":[");
	for (size_t i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
		schema_put_use(w, d->body[i]);
	buf_puts(w->out, is_one ? "}}" : "]}}}");
	json_end_object(w);
}

/* --- Answers --- */

static const char *media_of(const struct answer *a)
{
	return a->media ? a->media : "application/json";
}

static void put_form(struct json_writer *w, const struct answer *a)
{
	if (a->shape) {
		schema_put_use(w, a->shape);
		return;
	}
	json_begin_object(w);
	schema_put_members(w, a->schema);
	json_end_object(w);
}

/* Does the form before it, of the same answer, have the same media type? Then both are in one list. */
static bool is_told(const struct answer *first, const struct answer *a)
{
	for (; first < a; first++)
		if (strcmp(media_of(first), media_of(a)) == 0)
			return true;
	return false;
}

/* All forms of one media type. */
static void put_media(struct json_writer *w, const struct answer *a)
{
	size_t count = 0;

	for (const struct answer *b = a; b->status == a->status; b++)
		count += strcmp(media_of(b), media_of(a)) == 0;
	json_key(w, media_of(a));
	json_begin_object(w);
	json_key(w, "schema");
	if (count > 1) {
		json_begin_object(w);
		json_key(w, "anyOf");
		json_begin_array(w);
	}
	for (const struct answer *b = a; b->status == a->status; b++)
		if (strcmp(media_of(b), media_of(a)) == 0)
			put_form(w, b);
	if (count > 1) {
		json_end_array(w);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_answer_headers(struct json_writer *w, unsigned gives)
{
	if (gives == 0)
		return;
	json_key(w, "headers");
	json_begin_object(w);
	for (const struct openapi_header *h = openapi_answer_headers; h->component; h++) {
		if (!(gives & h->flag))
			continue;
		json_key_str(w, h->field.name);
		put_ref(w, "headers", h->component);
	}
	json_end_object(w);
}

static void put_answer(struct json_writer *w, const struct answer *a, unsigned gives)
{
	json_begin_object(w);
	json_member_cstr(w, "description", a->says);
	put_answer_headers(w, gives);
	if (a->shape || a->schema) {
		json_key(w, "content");
		json_begin_object(w);
		for (const struct answer *b = a; b->status == a->status; b++)
			if (!is_told(a, b))
				put_media(w, b);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_answers(struct json_writer *w, const struct description *d)
{
	unsigned replayed = d->takes & TAKES_KEY ? OPENAPI_REPLAYED : 0;
	char status[16];

	json_key(w, "responses");
	json_begin_object(w);
	for (const struct answer *a = d->answers; a->status; a++) {
		if (a > d->answers && a[-1].status == a->status)
			continue;
		snprintf(status, sizeof(status), "%d", a->status);
		json_key(w, status);
		if (a->component)
			put_ref(w, "responses", a->component);
		else
			put_answer(w, a, a->headers & GIVES_ANEW ? 0 : a->headers | replayed);
	}
	/* A generator of clients looks for the first, a person for the second. */
	json_key(w, "4XX");
	put_ref(w, "responses", "Problem");
	json_key(w, "default");
	put_ref(w, "responses", "Problem");
	json_end_object(w);
}

/* --- Operations --- */

static const char *method_name(enum http_method method)
{
	static const char *const names[] = {
		[HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_PUT] = "put", [HTTP_PATCH] = "patch",
		[HTTP_DELETE] = "delete",
	};

	return names[method];
}

static void put_problems(struct json_writer *w, const struct description *d)
{
	if (d->problems == NULL)
		return;
	json_key(w, "x-spine-problems");
	json_begin_array(w);
	for (const enum problem_code *p = d->problems; *p != P_OK; p++)
		json_put_cstr(w, problem_kind(*p)->name);
	json_end_array(w);
}

static void put_operation(struct json_writer *w, const struct operation *o)
{
	const struct description *d = o->description;

	json_key(w, method_name(o->method));
	json_begin_object(w);
	json_member_cstr(w, "operationId", d->id);
	json_key(w, "tags");
	json_begin_array(w);
	json_put_cstr(w, d->tag);
	json_end_array(w);
	json_member_cstr(w, "summary", d->summary);
	if (d->says)
		json_member_cstr(w, "description", d->says);
	put_parameters(w, d);
	put_body(w, d);
	put_answers(w, d);
	put_problems(w, d);
	json_member_cstr(w, "x-spine-scope", scope_name(d->scope));
	if (d->also)
		json_member_cstr(w, "x-spine-scope-also", scope_name(d->also));
	if (d->scope == SCOPE_OPEN) {
		json_key(w, "security");
		json_put_raw(w, STR("[]"));
	}
	if (d->tool)
		json_member_cstr(w, "x-spine-tool", d->tool);
	json_end_object(w);
}

/* The address with the names of its pieces. */
static void put_address(struct json_writer *w, const struct operation *o)
{
	char text[TEXT_MAX];
	size_t len = 0, piece = 0;

	for (const char *p = o->pattern; *p && len < sizeof(text) - 1; p++) {
		text[len++] = *p;
		if (*p == '{')
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
						o->description->path[piece++]->name.p);
	}
	json_key_str(w, (struct str){text, len});
}

static bool is_first(const struct operation *o)
{
	for (const struct operation *before = operations_all(); before < o; before++)
		if (strcmp(before->pattern, o->pattern) == 0)
			return false;
	return true;
}

static void put_paths(struct json_writer *w)
{
	json_key(w, "paths");
	json_begin_object(w);
	for (const struct operation *o = operations_all(); o->pattern; o++) {
		if (!is_first(o))
			continue;
		put_address(w, o);
		json_begin_object(w);
		for (const struct operation *same = o; same->pattern; same++)
			if (strcmp(same->pattern, o->pattern) == 0)
				put_operation(w, same);
		json_end_object(w);
	}
	json_end_object(w);
}

/* --- Components --- */

static void put_named_parameters(struct json_writer *w)
{
	json_key(w, "parameters");
	json_begin_object(w);
	for (const struct openapi_header *h = openapi_request_headers; h->component; h++) {
		json_key(w, h->component);
		put_parameter(w, "header", &h->field);
	}
	for (const struct openapi_parameter *p = openapi_parameters; p->in; p++) {
		json_key(w, p->field->component);
		put_parameter(w, p->in, p->field);
	}
	json_end_object(w);
}

static void put_named_headers(struct json_writer *w)
{
	json_key(w, "headers");
	json_begin_object(w);
	for (const struct openapi_header *h = openapi_answer_headers; h->component; h++) {
		json_key(w, h->component);
		json_begin_object(w);
		json_member_cstr(w, "description", h->field.says);
		json_key(w, "schema");
		schema_put_parameter(w, &h->field);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_named_answers(struct json_writer *w, const struct named *n)
{
	static const struct answer problem[] = {
		{.status = 1, .shape = &openapi_problem, .media = "application/problem+json",
		 .says = "The request was refused and has changed nothing, but for what the head of this document "
			 "says."},
		{.status = 0},
	};

	json_key(w, "responses");
	json_begin_object(w);
	for (size_t i = 0; i < n->answer_count; i++) {
		const struct answer one[] = {*n->answers[i], {.status = 0}};

		json_key(w, one->component);
		put_answer(w, one, one->headers);
	}
	json_key(w, "Problem");
	put_answer(w, problem, 0);
	json_end_object(w);
}

static void put_named_schemas(struct json_writer *w, const struct named *n)
{
	json_key(w, "schemas");
	json_begin_object(w);
	for (const struct field *t = schema_types; t->type != TYPE_END; t++) {
		json_key(w, t->component);
		schema_put_named_type(w, t);
	}
	for (size_t i = 0; i < n->words_count; i++) {
		json_key(w, n->words[i]->component);
		schema_put_words(w, n->words[i]);
	}
	for (size_t i = 0; i < n->shape_count; i++) {
		json_key(w, n->shapes[i]->name);
		schema_put_shape(w, n->shapes[i]);
	}
	json_end_object(w);
}

static void put_tags(struct json_writer *w)
{
	json_key(w, "tags");
	json_begin_array(w);
	for (const struct openapi_tag *t = openapi_tags; t->name; t++) {
		json_begin_object(w);
		json_member_cstr(w, "name", t->name);
		json_member_cstr(w, "description", t->says);
		json_end_object(w);
	}
	json_end_array(w);
}

void openapi_write(struct buf *out)
{
	struct json_writer w;
	struct named n = {0};

	note_shape(&n, &openapi_problem);
	for (const struct operation *o = operations_all(); o->pattern; o++)
		note_operation(&n, o->description);
	json_writer_init(&w, out);
	json_begin_object(&w);
	schema_put_members(&w, openapi_head);
	put_tags(&w);
	put_paths(&w);
	json_key(&w, "components");
	json_begin_object(&w);
	put_named_parameters(&w);
	put_named_headers(&w);
	put_named_answers(&w, &n);
	put_named_schemas(&w, &n);
	schema_put_members(&w, "'securitySchemes':{'key':{'type':'http','scheme':'bearer','bearerFormat':'spk_…',"
			   "'description':'A key, where the server needs one; x-spine-scope is what it must be allowed "
			   "to do.'},'session':{'type':'apiKey','in':'cookie','name':'spine_session',"
			   "'description':'Of who has signed in on the dashboard.'}}");
	json_end_object(&w);
	json_end_object(&w);
	buf_putc(out, '\n');
}
