/* api/describe: requests are read, and answers written, as the tables say; in the words that the routes have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/call.h"
#include "api/describe/query.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"

#include <stdio.h>

/* --- A shape with a field of every type --- */

enum colour { RED, GREEN, BLUE };
static const char *const colour_list[] = {"red", "green", "blue", NULL};
static const struct words colours = {.list = colour_list};

struct part {
	int64_t size;
	struct str label;
};

struct thing {
	unsigned has;
	struct str text, name, agent, raw;
	bool flag;
	int64_t big;
	int small;
	uint32_t natural;
	double number;
	int64_t wait_ms, at_ms;
	uint64_t memory, envelope, handoff;
	struct memory_id ref;
	int64_t alert;
	enum colour colour;
	struct json object;
	const struct json *array, *any, *objects, *names, *agents, *refs;
	struct str *texts;
	size_t text_count;
	struct part part;
	struct part *parts;
	size_t part_count;
	struct part included;
};

static const struct field part_fields[] = {
	FIELD_INT("size", struct part, size, 0, 9, "How large.", .required = "it says how large"),
	FIELD_TEXT("label", struct part, label, 0, 20, "What it is called."),
	FIELDS_END,
};
static const struct shape part = {
	.fields = part_fields, .size = sizeof(struct part), .noun = "a part", .is_input = true,
};

static const struct field more_fields[] = {
	FIELD_TEXT("more", struct part, label, 0, 20, "More."),
	FIELDS_END,
};
static const struct shape more = {.fields = more_fields, .size = sizeof(struct part), .is_input = true};

static const struct field thing_fields[] = {
	FIELD_TEXT("text", struct thing, text, 1, 8, "A text.", .required = "it is the text", .bit = 1),
	FIELD_NAME("name", struct thing, name, 8, "A name.", .bit = 2),
	FIELD_AGENT("agent", struct thing, agent, "An agent."),
	FIELD_BOOL("flag", struct thing, flag, "Yes or no."),
	FIELD_INT("big", struct thing, big, -5, 100, "A number."),
	FIELD_INT("small", struct thing, small, 0, 9, "A number."),
	FIELD_INT("natural", struct thing, natural, 0, 9, "A number."),
	FIELD_NUMBER("number", struct thing, number, 0, 1, "A share."),
	FIELD_SECONDS("wait_s", struct thing, wait_ms, 1, 60000, "How long."),
	FIELD_TIME("at", struct thing, at_ms, "When."),
	FIELD_MEMORY_ID("memory", struct thing, memory, "A memory."),
	FIELD_MEMORY_REF("ref", struct thing, ref, "A memory, or a version."),
	FIELD_ENVELOPE_ID("envelope", struct thing, envelope, "An envelope."),
	FIELD_HANDOFF_ID("handoff", struct thing, handoff, "A handoff."),
	FIELD_ALERT_ID("alert", struct thing, alert, "An alert."),
	FIELD_ENUM("colour", struct thing, colour, &colours, 0, "A colour.", .unset = -1),
	DOC_ENUM("format", &colours, 6, "A colour of a bounded length.", .min = 1, .expected = "expected red or so"),
	FIELD_OBJECT("object", struct thing, object, "Anything."),
	FIELD_ARRAY("array", struct thing, array, 2, "Some things."),
	FIELD_ANY("any", struct thing, any, "Anything."),
	FIELD_OBJECTS("objects", struct thing, objects, 2, "Objects.", .shape = &part),
	FIELD_NAMES("names", struct thing, names, 2, 4, "Names."),
	FIELD_AGENTS("agents", struct thing, agents, 2, "Agents."),
	FIELD_MEMORY_REFS("refs", struct thing, refs, 2, "Memories."),
	FIELD_TEXTS("texts", struct thing, texts, text_count, "Texts."),
	FIELD_SHAPE("part", struct thing, part, &part, "A part."),
	FIELD_SHAPES("parts", struct thing, parts, part_count, 2, &part, "Parts."),
	FIELD_INCLUDE(struct thing, included, &more),
	FIELDS_END,
};
static const struct shape thing = {
	.fields = thing_fields, .size = sizeof(struct thing), .noun = "a thing", .is_input = true,
	SHAPE_HAS(struct thing, has),
};

/* --- Reading --- */

struct test {
	struct arena arena;
	struct problem problem;
	char warned[512];
	struct shape_reader reader;
};

static void warn(void *ctx, struct str field)
{
	struct test *t = ctx;
	size_t len = strlen(t->warned);

	snprintf(t->warned + len, sizeof(t->warned) - len, "%.*s ", STR_ARG(field));
}

static int setup(void **state)
{
	static struct test t;

	t = (struct test){0};
	arena_init(&t.arena);
	t.reader = (struct shape_reader){.arena = &t.arena, .problem = &t.problem, .warn = warn, .ctx = &t};
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	arena_release(&t->arena);
	return 0;
}

static struct json parse(struct test *t, const char *text)
{
	struct json json;
	struct json_error error;

	assert_true(json_parse(str_of(text), 20, &t->arena, &json, &error));
	return json;
}

static enum problem_code read_as(struct test *t, const struct shape *s, const char *text, void *into)
{
	struct json json = parse(t, text);

	t->problem = (struct problem){0};
	t->warned[0] = '\0';
	return shape_read(s, &json, "", into, &t->reader);
}

static void refused(struct test *t, const char *text, enum problem_code code, const char *field, const char *detail)
{
	struct thing in = {0};

	assert_int_equal(read_as(t, &thing, text, &in), code);
	assert_string_equal(t->problem.field, field);
	assert_string_equal(t->problem.detail, detail);
}

static void every_type_is_read_into_its_member(void **state)
{
	struct test *t = *state;
	struct thing in = {.colour = (enum colour)-1};

	assert_int_equal(read_as(t, &thing,
				 "{\"text\":\"hello\",\"name\":\"n\",\"agent\":\"a\",\"flag\":true,\"big\":-5,"
				 "\"small\":9,"
				 "\"natural\":7,\"number\":0.5,\"wait_s\":1.5,\"at\":\"1970-01-01T00:00:01Z\","
				 "\"memory\":\"ms-3\",\"ref\":\"ms-4@2\",\"envelope\":\"env-5\",\"handoff\":\"ho-6\","
				 "\"alert\":\"al-7\",\"colour\":\"green\",\"object\":{\"a\":1},\"array\":[1,2],"
				 "\"any\":5,"
				 "\"objects\":[{}],\"names\":[\"x\"],\"agents\":[\"y\"],\"refs\":[\"ms-1@1\"],"
				 "\"texts\":[\"p\",\"q\"],\"part\":{\"size\":1},\"parts\":[{\"size\":2},{\"size\":3}],"
				 "\"more\":\"m\"}", &in), P_OK);
	assert_string_equal(t->warned, "");
	assert_true(str_is(in.text, "hello") && str_is(in.name, "n") && str_is(in.agent, "a") && in.flag);
	assert_true(in.has == 3 && in.big == -5 && in.small == 9 && in.natural == 7 && in.number == 0.5);
	assert_true(in.wait_ms == 1500 && in.at_ms == 1000 && in.memory == 3 && in.ref.num == 4 && in.ref.version == 2);
	assert_true(in.envelope == 5 && in.handoff == 6 && in.alert == 7 && in.colour == GREEN);
	assert_true(in.object.count == 1 && in.array->count == 2 && in.any->i == 5 && in.objects->count == 1);
	assert_true(in.names->count == 1 && in.agents->count == 1 && in.refs->count == 1 && in.text_count == 2);
	assert_true(str_is(in.texts[1], "q") && in.part.size == 1 && in.part_count == 2 && in.parts[1].size == 3);
	assert_true(str_is(in.included.label, "m"));
}

static void what_is_absent_or_null_leaves_the_member_as_it_was(void **state)
{
	struct test *t = *state;
	struct thing in = {.big = 42, .colour = BLUE};

	assert_int_equal(read_as(t, &thing, "{\"text\":\"x\",\"big\":null,\"name\":null}", &in), P_OK);
	assert_true(in.big == 42 && in.colour == BLUE && in.has == 1 && in.name.p == NULL);
}

static void texts_and_names_outside_their_bounds_are_refused(void **state)
{
	struct test *t = *state;

	refused(t, "{}", P_MISSING_FIELD, "text", "text is missing; it is the text");
	refused(t, "{\"text\":null}", P_MISSING_FIELD, "text", "text is missing; it is the text");
	refused(t, "{\"text\":7}", P_INVALID_FIELD, "text", "text is an integer; expected a string");
	refused(t, "{\"text\":\"\"}", P_INVALID_FIELD, "text", "text is empty; expected some text");
	refused(t, "{\"text\":\"123456789\"}", P_TOO_LARGE, "text", "text has 9 bytes; at most 8 are allowed");
	refused(t, "{\"text\":\"a\\u0000\"}", P_INVALID_FIELD, "text",
		"text holds a NUL character (\\u0000); remove it");
	refused(t, "{\"text\":\"x\",\"name\":\"a\\nb\"}", P_INVALID_FIELD, "name",
		"name holds a control character; remove it");
	refused(t, "{\"text\":\"x\",\"agent\":\"next\"}", P_INVALID_FIELD, "agent",
		"agent is \"next\", which no agent is called: an envelope that is packed for it asks the routes");
}

static void numbers_and_times_outside_their_bounds_are_refused(void **state)
{
	struct test *t = *state;

	refused(t, "{\"text\":\"x\",\"flag\":1}", P_INVALID_FIELD, "flag",
		"flag is an integer; expected true or false");
	refused(t, "{\"text\":\"x\",\"big\":1.5}", P_INVALID_FIELD, "big", "big is a number; expected a whole number");
	refused(t, "{\"text\":\"x\",\"big\":101}", P_INVALID_FIELD, "big", "big is 101; expected -5 to 100");
	refused(t, "{\"text\":\"x\",\"number\":2}", P_INVALID_FIELD, "number", "number is 2; expected 0 to 1");
	refused(t, "{\"text\":\"x\",\"wait_s\":\"1\"}", P_INVALID_FIELD, "wait_s",
		"wait_s is a string; expected a number of seconds");
	refused(t, "{\"text\":\"x\",\"wait_s\":61}", P_INVALID_FIELD, "wait_s",
		"wait_s is 61; expected 0.001 to 60 seconds");
	refused(t, "{\"text\":\"x\",\"at\":\"soon\"}", P_INVALID_FIELD, "at",
		"at is not a time of the years 1970 to 9999; expected RFC 3339, as in 2026-01-30T12:00:00Z");
}

static void what_is_no_id_and_no_word_is_refused(void **state)
{
	struct test *t = *state;

	refused(t, "{\"text\":\"x\",\"memory\":\"ms-1@2\"}", P_INVALID_FIELD, "memory",
		"memory is not an id of a memory; expected ms- and a number from 1 to 1099511627775");
	refused(t, "{\"text\":\"x\",\"envelope\":\"ms-1\"}", P_INVALID_FIELD, "envelope",
		"envelope is not an id of an envelope; expected one as in env-17");
	refused(t, "{\"text\":\"x\",\"envelope\":3}", P_INVALID_FIELD, "envelope",
		"envelope is an integer; expected a string");
	refused(t, "{\"text\":\"x\",\"colour\":\"pink\"}", P_INVALID_FIELD, "colour",
		"colour is \"pink\"; expected one of red, green, blue");
	refused(t, "{\"text\":\"x\",\"colour\":7}", P_INVALID_FIELD, "colour",
		"colour is an integer; expected one of red, green, blue");
	refused(t, "{\"text\":\"x\",\"format\":7}", P_INVALID_FIELD, "format",
			"format is an integer; expected a string");
	refused(t, "{\"text\":\"x\",\"format\":\"pink\"}", P_INVALID_FIELD, "format",
		"format is \"pink\"; expected red or so");
	refused(t, "{\"text\":\"x\",\"format\":\"magenta\"}", P_TOO_LARGE, "format",
		"format has 7 bytes; at most 6 are allowed");
}

static void what_is_wrong_within_a_list_is_named_by_its_place(void **state)
{
	struct test *t = *state;

	refused(t, "{\"text\":\"x\",\"array\":{}}", P_INVALID_FIELD, "array", "array is an object; expected an array");
	refused(t, "{\"text\":\"x\",\"array\":[1,2,3]}", P_TOO_LARGE, "array",
		"array has 3 items; at most 2 are allowed");
	refused(t, "{\"text\":\"x\",\"object\":[]}", P_INVALID_FIELD, "object",
		"object is an array; expected an object");
	refused(t, "{\"text\":\"x\",\"objects\":[{},7]}", P_INVALID_FIELD, "objects[1]",
		"an item is an integer; expected an object");
	refused(t, "{\"text\":\"x\",\"names\":[\"a\",7]}", P_INVALID_FIELD, "names[1]",
		"names[1] is an integer; expected a string");
	refused(t, "{\"text\":\"x\",\"names\":[\"12345\"]}", P_TOO_LARGE, "names[0]",
		"names[0] has 5 bytes; at most 4 are allowed");
	refused(t, "{\"text\":\"x\",\"agents\":[7]}", P_INVALID_FIELD, "agents[0]",
		"agents[0] is an integer; expected the name of an agent");
	refused(t, "{\"text\":\"x\",\"refs\":[\"x\"]}", P_INVALID_FIELD, "refs[0]",
		"refs[0] is not an id of a memory; expected one as in ms-4821 or ms-4821@2");
	refused(t, "{\"text\":\"x\",\"part\":{}}", P_MISSING_FIELD, "part.size", "size is missing; it says how large");
	refused(t, "{\"text\":\"x\",\"parts\":[{\"size\":1},{}]}", P_MISSING_FIELD, "parts[1].size",
		"size is missing; it says how large");
	refused(t, "{\"text\":\"x\",\"parts\":[7]}", P_INVALID_FIELD, "parts[0]",
		"a part is an integer; expected an object");
}

static void what_is_not_known_is_warned_of(void **state)
{
	struct test *t = *state;
	struct thing in = {0};

	assert_int_equal(read_as(t, &thing,
				 "{\"text\":\"x\",\"odd\":1,\"objects\":[{},{\"o\":1}],\"part\":{\"size\":1,\"p\":2},"
				 "\"parts\":[{\"size\":1,\"q\":3}],\"more\":\"m\",\"even\":2}", &in), P_OK);
	assert_string_equal(t->warned, "odd even objects[1].o part.p parts[0].q ");
}

/* --- A patch --- */

static void a_patch_clears_with_null_and_refuses_what_cannot_change(void **state)
{
	struct test *t = *state;
	struct memory_draft d = {.kind = STR("note")};

	assert_int_equal(read_as(t, &shape_memory_patch,
			"{\"summary\":null,\"pinned\":true,\"ttl_s\":null,\"scope\":1}",
				 &d), P_OK);
	assert_int_equal(d.has, MEMORY_HAS_SUMMARY | MEMORY_HAS_PINNED);
	assert_string_equal(t->warned, "scope ");
	assert_int_equal(read_as(t, &shape_memory_patch, "{\"content\":null}", &d), P_INVALID_FIELD);
	assert_string_equal(t->problem.detail, "content cannot be null");
	assert_int_equal(read_as(t, &shape_memory_patch, "{\"content\":7,\"created_at\":null}", &d), P_IMMUTABLE_FIELD);
	assert_string_equal(t->problem.detail, "created_at cannot be changed; leave it out");
	assert_int_equal(read_as(t, &shape_memory_input, "{\"summary\":\"s\"}", &d), P_MISSING_FIELD);
	assert_string_equal(t->problem.detail, "content is missing; it is the text to remember");
}

/* --- Addresses --- */

static void pieces_of_an_address_are_read_and_what_is_no_id_is_not_found(void **state)
{
	struct test *t = *state;
	struct memory_id ref;
	uint64_t num;

	assert_int_equal(path_read(&path_memory_ref, STR("ms-4@2"), &ref, &t->problem), P_OK);
	assert_true(ref.num == 4 && ref.version == 2);
	assert_int_equal(path_read(&path_handoff, STR("ho-7"), &num, &t->problem), P_OK);
	assert_int_equal(num, 7);
	assert_int_equal(path_read(&path_memory, STR("ms-4@2"), &num, &t->problem), P_INVALID_FIELD);
	assert_string_equal(t->problem.detail, "only the memory as a whole can be changed; leave out \"@2\"");
	assert_int_equal(path_read(&path_memory, STR("x"), &num, &t->problem), P_MEMORY_NOT_FOUND);
	assert_string_equal(t->problem.detail, "\"x\" is not an id of a memory; ids look like ms-4821");
	assert_int_equal(path_read(&path_envelope, STR("x"), &num, &t->problem), P_ENVELOPE_NOT_FOUND);
	assert_string_equal(t->problem.detail, "\"x\" is not an id of an envelope; ids look like env-17");
	assert_int_equal(path_read(&path_handoff, STR("x"), &num, &t->problem), P_HANDOFF_NOT_FOUND);
	assert_string_equal(t->problem.detail, "\"x\" is not an id of a handoff; ids look like ho-17");
	assert_int_equal(path_read(&path_alert, STR("x"), &num, &t->problem), P_ALERT_NOT_FOUND);
	assert_string_equal(t->problem.detail, "\"x\" is not the id of an alert; expected one as in al-12");
}

/* --- Queries --- */

struct listed {
	const struct memory_id *ids;
	size_t count;
	struct part *parts;
	size_t part_count;
	bool is_last;
};

static void lists_become_pointers_and_items_begin_with_their_defaults(void **state)
{
	static const struct part usual = {.label = {"usual", 5}};
	static const struct shape item = {
		.fields = part_fields, .size = sizeof(struct part), .noun = "a part", .is_input = true,
		.defaults = &usual,
	};
	static const char *const ends[] = {"first", "last", NULL};
	static const struct words words = {.list = ends};
	static const struct field fields[] = {
		FIELD_MEMORY_IDS("ids", struct listed, ids, count, 9, "Memories."),
		FIELD_SHAPES("parts", struct listed, parts, part_count, 9, &item, "Parts."),
		FIELD_ENUM("end", struct listed, is_last, &words, 0, "Which end."),
		FIELDS_END,
	};
	static const struct shape listed = {.fields = fields, .size = sizeof(struct listed), .is_input = true};
	struct test *t = *state;
	struct listed in = {0};

	assert_int_equal(read_as(t, &listed, "{\"ids\":[\"ms-4\",\"ms-5@2\"],\"end\":\"last\",\"parts\":"
				 "[{\"size\":1},{\"size\":2,\"label\":\"own\"}]}", &in), P_OK);
	assert_true(in.count == 2 && in.ids[0].num == 4 && in.ids[1].version == 2 && in.is_last);
	assert_true(in.part_count == 2 && str_is(in.parts[0].label, "usual") && str_is(in.parts[1].label, "own"));
	assert_int_equal(read_as(t, &listed, "{\"parts\":[{\"size\":1},null]}", &in), P_INVALID_FIELD);
	assert_string_equal(t->problem.detail, "a part is null; expected an object");
	assert_string_equal(t->problem.field, "parts[1]");
}

struct asked {
	bool flag;
	int64_t limit, wait_ms, at_ms;
	enum colour colour, plain;
	uint64_t envelope;
	struct str key;
	struct str extra, extra_value;
};

static enum problem_code read_extra(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct asked *in = into;

	(void)r;
	in->extra = f->name;
	in->extra_value = value->s;
	return P_OK;
}

static const struct field asked_fields[] = {
	FIELD_TEXT("key", struct asked, key, 1, 0, "A key.", .required = "it is a key"),
	FIELD_BOOL("flag", struct asked, flag, "Yes or no."),
	FIELD_INT("limit", struct asked, limit, 1, 1000, "How many."),
	FIELD_SECONDS("wait_s", struct asked, wait_ms, 1, 60000, "How long."),
	FIELD_TIME("at", struct asked, at_ms, "When."),
	FIELD_ENUM("colour", struct asked, colour, &colours, 0, "A colour.", .expected = "expected red, green or blue"),
	FIELD_ENUM("plain", struct asked, plain, &colours, 0, "A colour.", .refusal = "is no colour"),
	FIELD_ENVELOPE_ID("envelope_id", struct asked, envelope, "An envelope."),
	DOC_TEXT("extra.", 0, 0, "Anything else.", .is_prefix = true, .read = read_extra),
	FIELDS_END,
};
static const struct shape asked = {.fields = asked_fields, .size = sizeof(struct asked), .is_input = true};

/* Pairs are given as "key=1&limit=2". */
static enum problem_code ask(struct test *t, enum query_kind kind, const char *query, struct asked *ret)
{
	struct query_pair pairs[8];
	struct str rest = str_of(query);
	size_t count = 0;

	t->problem = (struct problem){0};
	t->warned[0] = '\0';
	while (rest.p) {
		struct str value = str_cut(&rest, '&'), name = str_cut(&value, '=');

		pairs[count++] = (struct query_pair){name, value};
	}
	return query_read(&asked, kind, pairs, count, ret, &t->reader);
}

static void not_answered(struct test *t, const char *query, enum problem_code code, const char *detail)
{
	struct asked in = {0};

	assert_int_equal(ask(t, QUERY_LIST, query, &in), code);
	assert_string_equal(t->problem.detail, detail);
}

static void parameters_are_read_by_their_types(void **state)
{
	struct test *t = *state;
	struct asked in = {0};

	assert_int_equal(ask(t, QUERY_LIST, "key=k&flag=true&limit=7&wait_s=1.5&at=1970-01-01T00:00:01Z&colour=blue&"
			     "envelope_id=env-3", &in), P_OK);
	assert_true(str_is(in.key, "k") && in.flag && in.limit == 7 && in.wait_ms == 1500 && in.at_ms == 1000);
	assert_true(in.colour == BLUE && in.envelope == 3);
}

static void parameters_that_are_wrong_are_refused(void **state)
{
	struct test *t = *state;

	not_answered(t, "flag=true", P_MISSING_FIELD, "key is missing; it is a key");
	not_answered(t, "key=", P_MISSING_FIELD, "key is missing; it is a key");
	not_answered(t, "key=k&flag=1", P_INVALID_FIELD, "flag is \"1\"; expected true or false");
	not_answered(t, "key=k&limit=0", P_INVALID_FIELD, "limit is not a number from 1 to 1000");
	not_answered(t, "key=k&limit=x", P_INVALID_FIELD, "limit is not a number from 1 to 1000");
	not_answered(t, "key=k&wait_s=x", P_INVALID_FIELD, "wait_s is a string; expected a number of seconds");
	not_answered(t, "key=k&wait_s=0", P_INVALID_FIELD, "wait_s is 0; expected 0.001 to 60 seconds");
	not_answered(t, "key=k&at=x", P_INVALID_FIELD,
		     "at is \"x\"; expected an RFC 3339 time, as in 2026-01-30T12:00:00Z");
	not_answered(t, "key=k&colour=x", P_INVALID_FIELD, "colour is \"x\"; expected red, green or blue");
	not_answered(t, "key=k&plain=x", P_INVALID_FIELD, "plain is no colour");
	not_answered(t, "key=k&envelope_id=x", P_INVALID_FIELD,
		     "envelope_id is not an id of an envelope; expected one as in env-17");
	not_answered(t, "key=k&limit=1&limit=1", P_INVALID_FIELD, "limit was given twice; give it once");
}

static void a_list_warns_of_what_it_does_not_know_and_others_ignore_it(void **state)
{
	struct test *t = *state;
	struct asked in = {0};

	assert_int_equal(ask(t, QUERY_LIST, "odd=1&key=k&even=2", &in), P_OK);
	assert_string_equal(t->warned, "odd even ");
	assert_int_equal(ask(t, QUERY_LOOSE, "odd=1&key=k&key=l", &in), P_OK);
	assert_string_equal(t->warned, "");
	assert_true(str_is(in.key, "k"));
	assert_int_equal(ask(t, QUERY_OPEN, "odd=1&key=k&key=l", &in), P_OK);
	assert_string_equal(t->warned, "odd ");
	assert_true(str_is(in.key, "l"));
	assert_int_equal(ask(t, QUERY_OPEN, "extra.=1&extra.x=2", &in), P_OK);
	assert_string_equal(t->warned, "extra. ");
	assert_true(str_is(in.extra, "extra.x") && str_is(in.extra_value, "2"));
}

/* --- Writing --- */

static struct str written(struct test *t, const struct shape *s, const void *from, const void *with)
{
	struct json_writer w;
	struct buf out;
	struct str copy;

	buf_init(&out, 65536);
	json_writer_init(&w, &out);
	shape_write_with(s, from, with, &w);
	copy = (struct str){arena_cstr(&t->arena, buf_str(&out)), out.len};
	buf_release(&out);
	return copy;
}

static void what_is_written_reads_back_the_same(void **state)
{
	static const char text[] =
		"{\"text\":\"hello\",\"name\":\"n\",\"agent\":\"a\",\"flag\":true,\"big\":-5,\"small\":9,\"natural\":7,"
		"\"number\":0.5,\"wait_s\":1.5,\"at\":\"1970-01-01T00:00:01.000Z\",\"memory\":\"ms-3\","
		"\"ref\":\"ms-4@2\","
		"\"envelope\":\"env-5\",\"handoff\":\"ho-6\",\"alert\":\"al-7\",\"colour\":\"green\","
		"\"object\":{\"a\":1},"
		"\"array\":[1,2],\"any\":5,\"objects\":[{}],\"names\":[\"x\"],\"agents\":[\"y\"],\"refs\":[\"ms-1@1\"],"
		"\"texts\":[\"p\",\"q\"],\"part\":{\"size\":1},\"parts\":[{\"size\":2},{\"size\":3,\"label\":\"l\"}],"
		"\"more\":\"m\"}";
	struct test *t = *state;
	struct thing in = {0};

	assert_int_equal(read_as(t, &thing, text, &in), P_OK);
	assert_string_equal(written(t, &thing, &in, NULL).p, text);
}

struct seen {
	struct str always, nullable, maybe;
	int64_t number, at_ms;
	uint64_t id;
};

static void what_is_not_set_is_null_or_absent_as_the_field_says(void **state)
{
	static const struct field fields[] = {
		FIELD_TEXT("always", struct seen, always, 0, 0, "A text."),
		FIELD_TEXT("nullable", struct seen, nullable, 0, 0, "A text.", NULLABLE),
		FIELD_TEXT("maybe", struct seen, maybe, 0, 0, "A text.", MAYBE),
		FIELD_INT("number", struct seen, number, 0, 9, "A number.", NULLABLE, .unset = -1),
		FIELD_TIME("first", struct seen, at_ms, "0 is a time, too."),
		FIELD_TIME("at", struct seen, at_ms, "0 is none.", NULLABLE),
		FIELD_ENVELOPE_ID("id", struct seen, id, "An id.", MAYBE),
		DOC_TEXT("elsewhere", 0, 0, "Nobody keeps it."),
		FIELDS_END,
	};
	static const struct shape shape = {.fields = fields, .size = sizeof(struct seen)};
	struct test *t = *state;
	struct seen none = {.number = -1}, all = {STR("a"), STR("b"), STR("c"), 0, 1000, 7};

	assert_string_equal(written(t, &shape, &none, NULL).p,
			    "{\"always\":\"\",\"nullable\":null,\"number\":null,\"first\":\"1970-01-01T00:00:00.000Z\","
			    "\"at\":null}");
	assert_string_equal(written(t, &shape, &all, NULL).p,
			    "{\"always\":\"a\",\"nullable\":\"b\",\"maybe\":\"c\",\"number\":0,"
			    "\"first\":\"1970-01-01T00:00:01.000Z\",\"at\":\"1970-01-01T00:00:01.000Z\","
			    "\"id\":\"env-7\"}");
}

struct around {
	const struct part *part, *members;
	struct str word, id;
	bool has_size;
	int64_t size;
	struct part *list;
	size_t list_count;
};

static void what_a_pointer_or_a_bool_says_is_not_there_is_not_written(void **state)
{
	static const struct field fields[] = {
		FIELD_SHAPE_AT("part", struct around, part, &part, "A part.", MAYBE),
		FIELD_INCLUDE_AT(struct around, members, &part),
		FIELD_WORD("word", struct around, word, &colours, "A word.", NULLABLE),
		FIELD_TOLD(TYPE_MEMORY_REF, "id", struct around, id, "An id."),
		FIELD_INT("all", struct around, size, 0, 9, "A number.", MAYBE, .unset = -1,
			  .given = INTO(struct around, has_size)),
		FIELD_SHAPES("list", struct around, list, list_count, 0, &part, "A list.", MAYBE,
			     .given = INTO(struct around, has_size)),
		FIELDS_END,
	};
	static const struct shape around = {.fields = fields, .size = sizeof(struct around)};
	const struct part one = {3, STR("l")};
	struct test *t = *state;

	assert_string_equal(written(t, &around, &(struct around){.id = STR("ms-1@2")}, NULL).p,
			    "{\"word\":null,\"id\":\"ms-1@2\"}");
	assert_string_equal(written(t, &around, &(struct around){.part = &one, .members = &one, .word = STR("red"),
								 .id = STR("ms-1"), .has_size = true}, NULL).p,
			    "{\"part\":{\"size\":3,\"label\":\"l\"},\"size\":3,\"label\":\"l\",\"word\":\"red\","
			    "\"id\":\"ms-1\",\"all\":0,\"list\":[]}");
}

static void a_forgotten_memory_is_written_without_what_it_said(void **state)
{
	struct memory all = {
		.num = 3, .current_version = 2, .version = 1, .pinned = true, .created_at_ms = 5, .updated_at_ms = 6,
		.expires_at_ms = 7000, .supersedes = 1, .superseded_by = 4, .importance = IMPORTANCE_HIGH,
		.trust = TRUST_USER, .content = STR("c"), .summary = STR("s"), .kind = STR("k"), .tags = STR("[\"a\"]"),
		.agent = STR("x"), .task = STR("t"), .metadata = STR("{\"m\":1}"), .digest = {0xab, 0x01},
	}, none = {.num = 9, .current_version = 1, .version = 1, .forgotten_at_ms = 8};
	struct test *t = *state;
	struct op op = {.now_ms = 6000};
	struct call call = {.op = &op};

	assert_string_equal(
		written(t, &shape_memory, &all, &call).p,
		"{\"id\":\"ms-3\",\"version\":1,\"state\":\"superseded\",\"content\":\"c\",\"summary\":\"s\","
		"\"kind\":\"k\","
		"\"tags\":[\"a\"],\"importance\":\"high\",\"agent\":\"x\",\"task\":\"t\",\"pinned\":true,"
		"\"trust\":\"user\","
		"\"metadata\":{\"m\":1},\"origin\":null,\"expires_at\":\"1970-01-01T00:00:07.000Z\","
		"\"supersedes\":\"ms-1\","
		"\"superseded_by\":\"ms-4\","
		"\"digest\":\"sha256:ab01000000000000000000000000000000000000000000000000000000000000\","
		"\"created_at\":\"1970-01-01T00:00:00.005Z\",\"updated_at\":\"1970-01-01T00:00:00.006Z\","
		"\"current_version\":2}");
	assert_string_equal(
		written(t, &shape_memory, &none, &call).p,
		"{\"id\":\"ms-9\",\"version\":1,\"state\":\"forgotten\",\"content\":null,\"summary\":null,"
		"\"kind\":null,"
		"\"tags\":[],\"importance\":null,\"agent\":null,\"task\":null,\"pinned\":false,\"trust\":null,"
		"\"metadata\":{},\"origin\":null,"
		"\"expires_at\":null,\"supersedes\":null,\"superseded_by\":null,\"digest\":null,"
		"\"created_at\":\"1970-01-01T00:00:00.000Z\",\"updated_at\":\"1970-01-01T00:00:00.008Z\","
		"\"forgotten_at\":\"1970-01-01T00:00:00.008Z\"}");
}

static void handoffs_and_events_are_written_as_clients_know_them(void **state)
{
	struct handoff_row h = {
		.num = 1, .envelope = 2, .created_at_ms = 3, .from = STR("f"), .target_name = STR("t"),
		.agent_name = STR("a"), .state = HANDOFF_WORKING, .priority = 5, .attempt = 1, .max_attempts = 3,
		.due_ms = 9, .changed_at_ms = 4, .fallbacks = STR("[\"z\"]"), .queue_timeout_ms = 60000,
		.queue_until_ms = 99, .is_redriven = true,
	};
	struct event_row e = {.number = 7, .at_ms = 8, .kind = 1, .handoff = 1, .envelope = 2, .attempt = 1,
			      .actor = STR("x")};
	struct test *t = *state;

	assert_string_equal(written(t, &shape_handoff, &h, NULL).p,
			    "{\"id\":\"ho-1\",\"envelope_id\":\"env-2\",\"state\":\"acked\",\"from\":\"f\","
			    "\"to\":\"a\",\"target\":\"t\",\"channel\":null,\"priority\":5,\"attempt\":1,\"leases\":0,"
			    "\"max_attempts\":3,\"fallbacks\":[\"z\"],\"receiver\":null,\"progress\":null,"
			    "\"reason\":null,\"created_at\":\"1970-01-01T00:00:00.003Z\","
			    "\"changed_at\":\"1970-01-01T00:00:00.004Z\",\"acked_at\":null,"
			    "\"due_at\":\"1970-01-01T00:00:00.009Z\",\"held_until\":null,\"not_before\":null,"
			    "\"queue_timeout_s\":60,\"queue_timeout_at\":null,\"auto_redriven\":true,"
			    "\"work_lease\":true}");
	assert_string_equal(written(t, &shape_event, &e, NULL).p,
			    "{\"id\":7,\"at\":\"1970-01-01T00:00:00.008Z\",\"event\":\"handoff.queued\","
			    "\"handoff\":\"ho-1\",\"envelope_id\":\"env-2\",\"attempt\":1,\"agent\":null,"
			    "\"actor\":\"x\",\"note\":null}");
	assert_string_equal(written(t, &shape_result, &(struct result_row){.input_tokens = -1, .is_forgotten = true},
				    NULL).p,
			    "{\"result\":null,\"result_memory\":null,\"result_state\":\"forgotten\",\"gaps\":[],"
			    "\"input_tokens\":null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_type_is_read_into_its_member, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_absent_or_null_leaves_the_member_as_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(texts_and_names_outside_their_bounds_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_and_times_outside_their_bounds_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_id_and_no_word_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_within_a_list_is_named_by_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_warned_of, setup, teardown),
		cmocka_unit_test_setup_teardown(a_patch_clears_with_null_and_refuses_what_cannot_change, setup,
						teardown),
		cmocka_unit_test_setup_teardown(pieces_of_an_address_are_read_and_what_is_no_id_is_not_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(parameters_are_read_by_their_types, setup, teardown),
		cmocka_unit_test_setup_teardown(parameters_that_are_wrong_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_warns_of_what_it_does_not_know_and_others_ignore_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_written_reads_back_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_set_is_null_or_absent_as_the_field_says, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_become_pointers_and_items_begin_with_their_defaults, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_a_pointer_or_a_bool_says_is_not_there_is_not_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_forgotten_memory_is_written_without_what_it_said, setup, teardown),
		cmocka_unit_test_setup_teardown(handoffs_and_events_are_written_as_clients_know_them, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
