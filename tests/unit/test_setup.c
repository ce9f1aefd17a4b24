/* Changes to files that people write by hand: whatever the file is, what was put in can be taken out, and what is no
 * such file is left alone. */
#include "cli/setup/jsonc.h"
#include "cli/setup/toml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { ROUNDS = 20000, TEXT_MAX_BYTES = 1 << 20, DEPTH_MAX = 4 };

/* --- Random files: xorshift, so that a failure can be played again --- */

static uint64_t seed = 88172645463325252u;

static uint64_t chance(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static const char *any(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return list[chance(n)];
}

static void put_blank(struct buf *out)
{
	static const char *const blanks[] = {
		"", " ", "\n", "\n  ", "\t", " // a } comment, \"x\"\n", " /* { */ ", "\r\n", "", "", NULL,
	};

	buf_puts(out, any(blanks));
}

static void put_value(struct buf *out, int depth);

static void put_entries(struct buf *out, int depth, bool is_object)
{
	static const char *const names[] = {"\"a\"", "\"b\"", "\"mcpServers\"", "\"x\\\"y\"", "\"\"", NULL};
	size_t count = chance(4);

	for (size_t i = 0; i < count; i++) {
		put_blank(out);
		if (is_object) {
			buf_puts(out, any(names));
			put_blank(out);
			buf_putc(out, ':');
			put_blank(out);
		}
		put_value(out, depth + 1);
		put_blank(out);
		if (i + 1 < count || chance(5) == 0)
			buf_putc(out, ',');
	}
	put_blank(out);
}

static void put_value(struct buf *out, int depth)
{
	static const char *const scalars[] = {"1", "\"}\"", "true", "null", "-1e3", "\"// \\\\\"", NULL};
	uint64_t kind = depth >= DEPTH_MAX ? 2 : chance(3);

	if (kind == 2) {
		buf_puts(out, any(scalars));
		return;
	}
	buf_putc(out, kind ? '{' : '[');
	put_entries(out, depth, kind);
	buf_putc(out, kind ? '}' : ']');
}

static void make_object(struct buf *out)
{
	buf_clear(out);
	put_blank(out);
	buf_putc(out, '{');
	put_entries(out, 0, true);
	buf_putc(out, '}');
	put_blank(out);
}

static void mutate(struct buf *text)
{
	if (text->len)
		text->data[chance(text->len)] = "{}[]\",:/*\\\n x#'="[chance(16)];
}

/* --- JSON --- */

static const char *const path[] = {"mcpServers", "memory-spine", "url", NULL};
static const char *const entry[] = {"mcpServers", "memory-spine", NULL};
static const char *const root[] = {"mcpServers", NULL};

/* Without blanks: what is left may be laid out otherwise only where a member of ours was the only one. */
static void squeeze(struct buf *out, struct str text)
{
	buf_clear(out);
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(" \t\r\n", text.p[i]))
			buf_putc(out, text.p[i]);
}

/* Says what was made of what, where it is not JSON any more. */
static void must_be_object(const struct buf *before, const struct buf *text)
{
	if (!jsonc_is_object(buf_str(text)))
		fail_msg("\n--- before\n%s\n--- after\n%s", buf_str(before).p, buf_str(text).p);
}

static bool is_empty(struct str object)
{
	struct buf in;
	bool empty;

	buf_init(&in, TEXT_MAX_BYTES);
	squeeze(&in, object);
	empty = str_find(buf_str(&in), '"') == in.len || str_has_prefix(buf_str(&in), STR("{/")) ||
		str_has_prefix(buf_str(&in), STR("{}"));
	buf_release(&in);
	return empty;
}

static void test_what_is_put_into_json_is_found_and_can_be_taken_out(void **state)
{
	struct buf text, before, a, b;
	int changed = 0;

	(void)state;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_init(&before, TEXT_MAX_BYTES);
	buf_init(&a, TEXT_MAX_BYTES);
	buf_init(&b, TEXT_MAX_BYTES);
	for (int i = 0; i < ROUNDS; i++) {
		struct str there;
		bool was_alone;

		make_object(&text);
		assert_true(jsonc_is_object(buf_str(&text)));
		buf_clear(&before);
		buf_put(&before, buf_str(&text));
		there = jsonc_get(buf_str(&before), root);
		if (!jsonc_set(&text, path, STR("\"http://x/mcp\""))) {
			assert_true(there.p && there.p[0] != '{');
			assert_true(str_eq(buf_str(&text), buf_str(&before)));
			continue;
		}
		changed++;
		must_be_object(&before, &text);
		assert_true(str_is(jsonc_get(buf_str(&text), path), "\"http://x/mcp\""));
		assert_true(jsonc_remove(&text, entry));
		must_be_object(&before, &text);
		/* An object that has nothing but ours goes with it; else every byte is back, but for blanks. */
		was_alone = there.p == NULL || is_empty(there);
		squeeze(&a, buf_str(&text));
		squeeze(&b, buf_str(&before));
		if (!was_alone)
			assert_true(str_eq(buf_str(&a), buf_str(&b)));
	}
	assert_true(changed > ROUNDS / 4);
	buf_release(&text);
	buf_release(&before);
	buf_release(&a);
	buf_release(&b);
}

static void test_text_that_is_no_json_is_refused_or_read_and_never_more(void **state)
{
	struct buf text, before;

	(void)state;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_init(&before, TEXT_MAX_BYTES);
	for (int i = 0; i < ROUNDS; i++) {
		make_object(&text);
		for (uint64_t n = chance(4); n > 0; n--)
			mutate(&text);
		if (!jsonc_is_object(buf_str(&text)))
			continue;
		buf_clear(&before);
		buf_put(&before, buf_str(&text));
		jsonc_set(&text, path, STR("{\"a\":[1,{\"b\":2}]}"));
		must_be_object(&before, &text);
		if (!jsonc_append(&text, root, STR("3")))
			jsonc_remove(&text, path);
		must_be_object(&before, &text);
	}
	buf_release(&before);
	buf_release(&text);
}

static void test_of_a_name_that_stands_twice_in_json_the_last_counts_and_both_go(void **state)
{
	static const char *const ours[] = {"servers", "spine", NULL}, *const other[] = {"servers", "x", NULL};
	struct buf text;

	(void)state;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_puts(&text, "{\"servers\": {\"spine\": 1, \"x\": 2, \"spine\": 3}}");
	assert_true(str_is(jsonc_get(buf_str(&text), ours), "3"));
	assert_true(jsonc_set(&text, ours, STR("4")));
	assert_true(str_is(buf_str(&text), "{\"servers\": {\"spine\": 1, \"x\": 2, \"spine\": 4}}"));
	assert_true(jsonc_remove(&text, ours));
	assert_null(jsonc_get(buf_str(&text), ours).p);
	assert_true(str_is(jsonc_get(buf_str(&text), other), "2"));
	buf_clear(&text);
	buf_puts(&text, "{\"servers\": {\"spine\": 1}, \"servers\": {\"spine\": 2}}");
	assert_true(jsonc_remove(&text, ours));
	assert_true(str_is(buf_str(&text), "{}"));
	buf_release(&text);
}

/* --- TOML --- */

static void make_toml(struct buf *out)
{
	static const char *const lines[] = {
		"# a comment [x]\n", "\n", "[table]\n", "[mcp_servers.other]\n", "key = \"value # [\"\n", "a.b = 'x'\n",
		"list = [\n  [1],\n  \"]\",\n]\n", "text = \"\"\"\n[mcp_servers.memory-spine]\n\"\"\"\n",
		"[[array.of.tables]]\n", "t = { a = 1 }\r\n", "[\"mcp_servers\".'x']\n", "[mcp_servers]\n", NULL,
	};

	buf_clear(out);
	for (uint64_t n = chance(8); n > 0; n--)
		buf_puts(out, any(lines));
}

static const struct toml_key keys[] = {
	{"command", NULL}, {"url", "\"http://x/mcp\""}, {"http_headers", "{ \"A\" = \"b\" }"}, {NULL, NULL},
};

static void test_what_is_put_into_toml_can_be_taken_out(void **state)
{
	struct buf text, before, once;

	(void)state;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_init(&before, TEXT_MAX_BYTES);
	buf_init(&once, TEXT_MAX_BYTES);
	for (int i = 0; i < ROUNDS; i++) {
		make_toml(&text);
		buf_clear(&before);
		buf_put(&before, buf_str(&text));
		assert_true(toml_set(&text, "mcp_servers", "memory-spine", keys));
		assert_true(str_has_suffix(buf_str(&text), STR("[mcp_servers.memory-spine]\nurl = \"http://x/mcp\"\n"
							       "http_headers = { \"A\" = \"b\" }\n")));
		buf_clear(&once);
		buf_put(&once, buf_str(&text));
		assert_true(toml_set(&text, "mcp_servers", "memory-spine", keys));
		assert_true(str_eq(buf_str(&text), buf_str(&once)));
		assert_true(toml_remove(&text, "mcp_servers", "memory-spine"));
		assert_true(str_eq(buf_str(&text), buf_str(&before)));
	}
	buf_release(&text);
	buf_release(&before);
	buf_release(&once);
}

/* A line of a string is none of the file, whatever it begins with. */
static void test_a_string_of_several_lines_is_not_cut_where_a_line_of_it_begins_like_a_comment(void **state)
{
	static const char before[] =
		"[mcp_servers.memory-spine]\nnote = \"\"\"\n# not a comment\n\n# the end \"\"\"\n\n[other]\nx = 1\n";
	struct buf text;
	const char *set;

	(void)state;
	buf_init(&text, 1 << 16);
	buf_puts(&text, before);
	assert_true(toml_set(&text, "mcp_servers", "memory-spine", keys));
	buf_putc(&text, '\0');
	assert_non_null(strstr(text.data, "# not a comment\n\n# the end \"\"\"\n"));
	set = strstr(text.data, "url = ");
	assert_non_null(set);
	assert_true(set > strstr(text.data, "the end") && set < strstr(text.data, "[other]"));
	buf_release(&text);
}

static void test_a_key_that_stands_twice_in_toml_is_left_to_its_writer(void **state)
{
	static const char before[] = "[mcp_servers.memory-spine]\nurl = \"1\"\nurl = \"2\"\n";
	struct buf text;

	(void)state;
	buf_init(&text, 1 << 16);
	buf_puts(&text, before);
	assert_false(toml_set(&text, "mcp_servers", "memory-spine", keys));
	assert_true(str_is(buf_str(&text), before));
	buf_release(&text);
}

static void test_text_that_is_no_toml_does_no_harm(void **state)
{
	struct buf text;

	(void)state;
	buf_init(&text, TEXT_MAX_BYTES);
	for (int i = 0; i < ROUNDS; i++) {
		make_toml(&text);
		buf_puts(&text, chance(2) ? "[mcp_servers.memory-spine]\nurl = \"1\"\nargs = [\"x\"]\n" : "");
		for (uint64_t n = chance(4); n > 0; n--)
			mutate(&text);
		if (toml_set(&text, "mcp_servers", "memory-spine", keys))
			assert_true(toml_remove(&text, "mcp_servers", "memory-spine"));
	}
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_put_into_json_is_found_and_can_be_taken_out),
		cmocka_unit_test(test_text_that_is_no_json_is_refused_or_read_and_never_more),
		cmocka_unit_test(test_of_a_name_that_stands_twice_in_json_the_last_counts_and_both_go),
		cmocka_unit_test(test_what_is_put_into_toml_can_be_taken_out),
		cmocka_unit_test(test_a_string_of_several_lines_is_not_cut_where_a_line_of_it_begins_like_a_comment),
		cmocka_unit_test(test_a_key_that_stands_twice_in_toml_is_left_to_its_writer),
		cmocka_unit_test(test_text_that_is_no_toml_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
