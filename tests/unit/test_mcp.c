/* api/mcp: every tool is a row over described operations, and the whole list is short enough for a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/describe/describe.h"
#include "api/mcp/tool.h"
#include "api/routes.h"
#include "token/token.h"

#include <string.h>

enum { TOOLS_MAX = 12, TOKENS_MAX = 2500 };

static void list(struct buf *out, enum mcp_version version)
{
	struct json_writer w;

	buf_init(out, 1 << 20);
	json_writer_init(&w, out);
	json_begin_object(&w);
	tool_put_list(&w, version);
	json_end_object(&w);
}

static void the_list_of_tools_is_short(void **state)
{
	const struct tokenizer *tokenizer = tokenizer_find(STR("o200k_base"));
	size_t count = 0;
	struct buf out;

	(void)state;
	for (const struct tool *t = tools; t->name; t++)
		count++;
	assert_in_range(count, 1, TOOLS_MAX);
	for (enum mcp_version v = 0; v < MCP_VERSIONS; v++) {
		list(&out, v);
		assert_in_range(tokenizer_count(tokenizer, buf_str(&out)), 1, TOKENS_MAX - 1);
		buf_release(&out);
	}
}

static void every_call_of_a_tool_is_an_operation_that_names_it(void **state)
{
	(void)state;
	for (const struct tool *t = tools; t->name; t++) {
		assert_non_null(t->calls[0]);
		for (size_t i = 0; i < TOOL_CALLS_MAX && t->calls[i]; i++) {
			assert_non_null(routes_of(t->calls[i]));
			assert_non_null(t->calls[i]->tool);
			assert_string_equal(t->calls[i]->tool, t->name);
		}
	}
	for (const struct operation *o = operations_all(); o->pattern; o++)
		if (o->description->tool && tool_find(str_of(o->description->tool)) == NULL)
			fail_msg("%s names a tool that is not there: %s", o->description->id, o->description->tool);
}

static void every_argument_is_a_field_or_the_tools_own(void **state)
{
	(void)state;
	for (const struct tool *t = tools; t->name; t++)
		for (const struct tool_arg *a = t->args; a->name; a++)
			if ((a->place == PLACE_OWN) != (tool_field(t, a) == NULL) ||
			    (a->place == PLACE_OWN) != (a->schema != NULL))
				fail_msg("%s: %s stands in no description, or in one though it is the tool's own",
					 t->name, a->name);
}

static void every_tool_says_first_when_to_use_it(void **state)
{
	(void)state;
	for (const struct tool *t = tools; t->name; t++) {
		assert_true(str_has_prefix(str_of(t->says), STR("Use ")));
		assert_non_null(t->title);
		assert_non_null(t->shows);
	}
}

static void check_schema(const struct json *schema)
{
	const struct json *type = json_get(schema, "type"), *properties = json_get(schema, "properties");

	assert_non_null(type);
	assert_true(str_is(type->s, "object"));
	assert_non_null(properties);
	assert_int_equal(properties->type, JSON_OBJECT);
}

static void the_list_is_json_with_schemas(void **state)
{
	struct json_error error;
	struct arena arena;
	struct json all;
	struct buf out;

	(void)state;
	arena_init(&arena);
	list(&out, MCP_2026_07_28);
	assert_true(json_parse(buf_str(&out), 32, &arena, &all, &error));
	for (uint32_t i = 0; i < json_get(&all, "tools")->count; i++) {
		const struct json *tool = &json_get(&all, "tools")->items[i];

		check_schema(json_get(tool, "inputSchema"));
		check_schema(json_get(tool, "outputSchema"));
		assert_non_null(json_get(tool, "annotations"));
	}
	buf_release(&out);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_of_tools_is_short),
		cmocka_unit_test(every_call_of_a_tool_is_an_operation_that_names_it),
		cmocka_unit_test(every_argument_is_a_field_or_the_tools_own),
		cmocka_unit_test(every_tool_says_first_when_to_use_it),
		cmocka_unit_test(the_list_is_json_with_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
