/* api/describe: every operation is described whole, and what is made of the descriptions is sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/describe/descriptions.h"
#include "api/describe/newer.h"
#include "api/describe/openapi.h"
#include "api/describe/openapi_parts.h"
#include "api/describe/shapes.h"
#include "api/describe/tables.h"
#include "core/cluster/protocol.h"

#include <stdio.h>

enum { OPERATIONS = 103 };

/* --- The tables --- */

static void check_shape(const struct shape *s, const char *where, int depth);

static void check_field(const struct field *f, const char *where, int depth)
{
	if (f->type != TYPE_INCLUDE) {
		assert_non_null(f->name.p);
		if (f->says == NULL || f->says[0] == '\0')
			fail_msg("%s: %s has no sentence", where, f->name.p);
		assert_true(f->name.n > 0 && f->name.p[f->name.n] == '\0');
		for (size_t i = 0; i < f->name.n; i++)
			assert_true(f->name.p[i] > ' ' && f->name.p[i] != '"' && f->name.p[i] != '\\');
	}
	if (f->type == TYPE_ENUM)
		assert_non_null(f->words);
	assert_in_range(f->since, 0, PROTOCOL_NOW);
	if (f->type == TYPE_RAW)
		assert_non_null(f->schema);
	if (f->type == TYPE_SHAPE || f->type == TYPE_SHAPES || f->type == TYPE_INCLUDE)
		assert_non_null(f->shape);
	if (f->shape && f->offset != FIELD_NOWHERE && f->type != TYPE_OBJECTS && f->item_size != f->shape->size)
		fail_msg("%s: %s has %u bytes, and its shape %zu", where, f->name.p, f->item_size, f->shape->size);
	if (f->shape && depth < 16)
		check_shape(f->shape, where, depth + 1);
}

static void check_shape(const struct shape *s, const char *where, int depth)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		check_field(f, where, depth);
		/* No name stands twice. */
		assert_true(f->type == TYPE_INCLUDE || f->is_prefix || shape_find(s, f->name) == f);
	}
}

static size_t pieces(const char *pattern)
{
	size_t count = 0;

	for (; *pattern; pattern++)
		count += *pattern == '{';
	return count;
}

static void check_answers(const struct description *d)
{
	size_t good = 0;

	for (const struct answer *a = d->answers; a->status; a++) {
		bool is_form = a > d->answers && a[-1].status == a->status;

		assert_true(is_form || a->says);
		assert_true(a->shape || a->schema || a->status == 204);
		good += a->status >= 200 && a->status < 300;
		if (a->shape)
			check_shape(a->shape, d->id, 0);
	}
	assert_true(good > 0);
}

static void every_operation_is_described_whole(void **state)
{
	size_t count = 0;

	(void)state;
	for (const struct operation *o = operations_all(); o->pattern; o++, count++) {
		const struct description *d = o->description;

		assert_true(d->id && d->tag && d->summary && d->summary[0]);
		assert_in_range(d->since, 0, PROTOCOL_NOW);
		assert_true(d->scope >= SCOPE_OPEN && d->scope <= SCOPE_ADMIN && scope_name(d->scope));
		for (size_t i = 0; i < DESCRIPTION_PATHS_MAX; i++)
			assert_true((d->path[i] != NULL) == (i < pieces(o->pattern)));
		assert_true((d->body[0] != NULL) == ((d->takes & (TAKES_BODY | TAKES_BODY_MAYBE)) != 0));
		for (size_t i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++) {
			assert_true(d->body[i]->is_input);
			check_shape(d->body[i], d->id, 0);
		}
		if (d->query)
			check_shape(d->query, d->id, 0);
		check_answers(d);
	}
	assert_int_equal(count, OPERATIONS);
}

/* Names that look as if they were the caller's. Whoever adds one says whether it is: with keys, reading then refuses
 * another's. */
static bool looks_like_caller(const struct field *f)
{
	static const char *const names[] = {"from", "by", "agent", "author", "sender", "created_by"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(f->name, names[i]))
			return true;
	return false;
}

static void check_names(const struct shape *s, const char *where, int depth)
{
	for (const struct field *f = s->fields; f->type != TYPE_END; f++) {
		if (f->type != TYPE_INCLUDE && looks_like_caller(f) && f->names == NAMES_NOBODY)
			fail_msg("%s: %s does not say whom it names (OF_CALLER, OF_ANYBODY)", where, f->name.p);
		if (f->shape && depth < 16)
			check_names(f->shape, where, depth + 1);
	}
}

static void every_name_in_a_request_says_whether_it_is_the_callers(void **state)
{
	(void)state;
	for (const struct operation *o = operations_all(); o->pattern; o++) {
		const struct description *d = o->description;

		/* Only keys that are nobody's. */
		if (d->is_of_nobody)
			continue;
		for (size_t i = 0; i < DESCRIPTION_PATHS_MAX && d->path[i]; i++)
			if (d->path[i]->type == TYPE_AGENT && d->path[i]->names == NAMES_NOBODY)
				fail_msg("%s: its address does not say whom it names", d->id);
		for (size_t i = 0; i < DESCRIPTION_BODIES_MAX && d->body[i]; i++)
			check_names(d->body[i], d->id, 0);
		if (d->query)
			check_names(d->query, d->id, 0);
	}
}

static void no_two_operations_share_a_name_or_an_address(void **state)
{
	(void)state;
	for (const struct operation *a = operations_all(); a->pattern; a++)
		for (const struct operation *b = operations_all(); b < a; b++) {
			assert_string_not_equal(a->description->id, b->description->id);
			assert_true(a->method != b->method || strcmp(a->pattern, b->pattern) != 0);
		}
}

static void every_problem_that_is_named_exists_and_is_named_once(void **state)
{
	(void)state;
	for (const struct operation *o = operations_all(); o->pattern; o++)
		for (const enum problem_code *p = o->description->problems; p && *p != P_OK; p++) {
			assert_non_null(problem_kind(*p)->name);
			for (const enum problem_code *q = o->description->problems; q < p; q++)
				assert_int_not_equal(*p, *q);
		}
}

static void every_tag_is_explained(void **state)
{
	(void)state;
	for (const struct operation *o = operations_all(); o->pattern; o++) {
		const struct openapi_tag *t = openapi_tags;

		while (t->name && strcmp(t->name, o->description->tag) != 0)
			t++;
		assert_non_null(t->name);
	}
}

static void every_tool_of_the_protocol_has_an_operation(void **state)
{
	static const char *const tools[] = {
		"memory_store", "memory_search", "memory_get", "memory_pin", "agent_handoff", "handoff_receive",
		"handoff_settle", "handoff_need", "handoff_trace", "parked_list", "channel_publish", "spine_status",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		const struct operation *o = operations_all();

		while (o->pattern && (o->description->tool == NULL || strcmp(o->description->tool, tools[i]) != 0))
			o++;
		assert_non_null(o->pattern);
	}
}

/* --- What is made of them --- */

static void the_openapi_document_is_json_and_has_every_operation(void **state)
{
	const struct json *paths;
	struct json document;
	struct json_error error;
	struct arena arena;
	struct buf out;
	size_t count = 0;

	(void)state;
	arena_init(&arena);
	buf_init(&out, 16 << 20);
	openapi_write(&out);
	assert_true(json_parse(buf_str(&out), JSON_DEPTH_MAX, &arena, &document, &error));
	buf_release(&out);
	paths = json_get(&document, "paths");
	for (uint32_t i = 0; i < paths->count; i++)
		count += paths->members[i].value.count;
	assert_int_equal(count, OPERATIONS);
	assert_non_null(json_get(json_get(json_get(&document, "components"), "schemas"), "Memory"));
	arena_release(&arena);
}

#define QUOTA_ROW ". 0: any number; -1: as the server says. With keys it needs one of all spaces |\n"

static void tables_of_the_documentation_are_made_anew_between_their_marks(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 65536);
	assert_null(tables_rewrite(STR("before\n<!-- fields of setSpace -->\nold\n<!-- end -->\nafter\n"), &out));
	assert_string_equal(out.data, "before\n<!-- fields of setSpace -->\n"
				      "| field | default | meaning |\n| --- | --- | --- |\n"
				      "| `guard` | | what the space does about credentials in handoffs: `off`,"
				      " `redact` "
				      "or `refuse` (see [6](#6-envelopes)) |\n"
				      "| `locked` | | keys of constraints that no agent may waive in any chain of the "
				      "space, however they are spelled |\n"
				      "| `keep_handoffs_s` | | how long handoffs that have ended are kept, with their "
				      "envelopes and results. 0: for ever; -1: as the server says |\n"
				      "| `keep_events_s` | | how long events are kept. 0: for ever; -1: as the server "
				      "says |\n"
				      "| `keep_idle_s` | | how long the space itself is kept when nothing is written "
				      "in it; then it is deleted with everything in it. 0: for ever; -1: as the server "
				      "says |\n"
				      "| `trust_floor` | | memories that are trusted less than this go along as "
				      "references only: `system`, `user`, `agent` or `external`, which is none |\n"
				      "| `quota_memories` | | how many memories the space may have" QUOTA_ROW
				      "| `quota_bytes` | | how many bytes its memories, with all versions, and its "
				      "envelopes may have" QUOTA_ROW
				      "| `quota_handoffs_per_minute` | | how many handoffs may be sent in a minute"
				      QUOTA_ROW
				      "| `quota_waiting` | | how many receivers may wait at a time" QUOTA_ROW
				      "| `quota_agents` | | how many agents it may know" QUOTA_ROW
				      "<!-- end -->\nafter\n");
	buf_clear(&out);
	assert_non_null(tables_rewrite(STR("<!-- fields of nothing -->\n<!-- end -->"), &out));
	buf_clear(&out);
	assert_non_null(tables_rewrite(STR("<!-- fields of setSpace -->\n"), &out));
	buf_release(&out);
}

/* --- What came later --- */

#define DOC(type_, name_, ...) {.type = (type_), .name = {(name_), sizeof(name_) - 1}, __VA_ARGS__}

static const struct field part_fields[] = {DOC(TYPE_INT, "old"), DOC(TYPE_INT, "new", .since = 4), FIELDS_END};
static const struct shape part = {.fields = part_fields};
static const struct field more_fields[] = {DOC(TYPE_INT, "more", .since = 3), FIELDS_END};
static const struct shape more = {.fields = more_fields};
static const struct field whole_fields[] = {
	DOC(TYPE_INT, "first"), DOC(TYPE_INT, "second", .since = 2), {.type = TYPE_INCLUDE, .shape = &more},
	DOC(TYPE_SHAPE, "part", .shape = &part), DOC(TYPE_OBJECTS, "parts", .shape = &part),
	DOC(TYPE_OBJECTS, "any"), FIELDS_END,
};
static const struct shape whole = {.fields = whole_fields};
static const struct shape other = {.fields = more_fields};
static const struct description two_bodies = {.body = {&part, &whole}, .query = &other};

static int newer_of_text(const char *text)
{
	struct json_error error;
	struct arena arena;
	struct json value;
	int since;

	arena_init(&arena);
	assert_true(json_parse(str_of(text), 9, &arena, &value, &error));
	since = newer_of_body(&two_bodies, &value);
	arena_release(&arena);
	return since;
}

static void what_came_later_is_found_wherever_it_stands_in_a_body(void **state)
{
	(void)state;
	assert_int_equal(newer_of_text("{}"), 0);
	assert_int_equal(newer_of_text("7"), 0);
	assert_int_equal(newer_of_text("{\"first\": 1, \"unknown\": {\"new\": 1}, \"any\": [{\"new\": 1}]}"), 0);
	assert_int_equal(newer_of_text("{\"second\": null, \"first\": 1}"), 2);
	assert_int_equal(newer_of_text("{\"more\": 1, \"second\": 1}"), 3);
	assert_int_equal(newer_of_text("{\"part\": {\"old\": 1}}"), 0);
	assert_int_equal(newer_of_text("{\"part\": {\"new\": 1}}"), 4);
	assert_int_equal(newer_of_text("{\"parts\": [{}, 1, {\"new\": 1}], \"second\": 1}"), 4);
	assert_int_equal(newer_of_text("{\"part\": [{\"new\": 1}], \"parts\": {\"new\": 1}}"), 0);
	/* The other body. */
	assert_int_equal(newer_of_text("{\"new\": 1}"), 4);
	assert_int_equal(newer_of_parameter(&two_bodies, STR("more")), 3);
	assert_int_equal(newer_of_parameter(&two_bodies, STR("first")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_described_whole),
		cmocka_unit_test(every_name_in_a_request_says_whether_it_is_the_callers),
		cmocka_unit_test(no_two_operations_share_a_name_or_an_address),
		cmocka_unit_test(every_problem_that_is_named_exists_and_is_named_once),
		cmocka_unit_test(every_tag_is_explained),
		cmocka_unit_test(every_tool_of_the_protocol_has_an_operation),
		cmocka_unit_test(the_openapi_document_is_json_and_has_every_operation),
		cmocka_unit_test(tables_of_the_documentation_are_made_anew_between_their_marks),
		cmocka_unit_test(what_came_later_is_found_wherever_it_stands_in_a_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
