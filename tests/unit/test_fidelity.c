/* What one envelope kept of another, and that it is told soon, however much there is. */
#include "core/envelope/fidelity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* Far more than it takes, and far less than comparing each with each would. */
enum { MANY = 200000, SECONDS_AT_MOST = 20 };

static struct arena arena;

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct json parse(const char *text)
{
	struct json value;
	struct json_error error;

	if (!json_parse(str_of(text), 32, &arena, &value, &error))
		fail_msg("%s: %s", text, error.detail);
	return value;
}

static struct envelope empty(void)
{
	return (struct envelope){
		.open_decisions = {.type = JSON_ARRAY}, .history = {.type = JSON_ARRAY},
		.constraints = {.type = JSON_OBJECT},
		.waived = {.type = JSON_ARRAY},
	};
}

static const struct fidelity_item *find(const struct fidelity *f, enum fidelity_kind kind, const char *key)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].kind == kind && str_is(f->items[i].key, key))
			return &f->items[i];
	fail_msg("nothing is told of %s", key);
	return NULL;
}

static void test_decisions_and_steps_are_kept_added_or_dropped(void **state)
{
	struct envelope before = empty(), after = empty();
	struct fidelity f;

	(void)state;
	before.open_decisions = parse("[\"still open\",\"was made\",\"got lost\",{\"a\":1,\"b\":2}]");
	after.open_decisions = parse("[{\"b\":2,\"a\":1.0},\"new\",\"still open\"]");
	before.history = parse("[{\"action\":\"read\"},{\"action\":\"wrote\"}]");
	after.history = parse("[{\"action\":\"read\"},{\"action\":\"was made\",\"decision\":\"yes\"},{\"action\":\"got "
			      "lost\"}]");
	fidelity_compare(&before, &after, &arena, &f);
	assert_int_equal(find(&f, KIND_DECISION, "still open")->fate, FATE_KEPT);
	assert_int_equal(find(&f, KIND_DECISION, "was made")->fate, FATE_KEPT);
	assert_int_equal(find(&f, KIND_DECISION, "got lost")->fate, FATE_DROPPED);
	assert_int_equal(find(&f, KIND_DECISION, "{\"a\":1,\"b\":2}")->fate, FATE_KEPT);
	assert_int_equal(find(&f, KIND_DECISION, "new")->fate, FATE_ADDED);
	assert_int_equal(find(&f, KIND_STEP, "read")->fate, FATE_KEPT);
	assert_int_equal(find(&f, KIND_STEP, "wrote")->fate, FATE_DROPPED);
	assert_int_equal(find(&f, KIND_STEP, "got lost")->fate, FATE_ADDED);
	assert_int_equal(f.total, 6);
	assert_int_equal(f.kept, 4);
}

static void test_a_memory_that_is_gone_says_why_where_the_envelope_does(void **state)
{
	struct envelope before = empty(), after = empty();
	struct envelope_ref had[] = {{.id = {7, 1}}, {.id = {3, 1}}, {.id = {5, 2}}, {.id = {9, 1}}, {.id = {8, 1}}};
	struct envelope_ref has[] = {{.id = {11, 1}}, {.id = {7, 4}}};
	struct envelope_trim trimmed[] = {{.id = STR("history[3]"), .reason = STR("budget")},
					  {.id = STR("ms-5"), .reason = STR("budget")},
					  {.id = STR("ms-5"), .reason = STR("second")}};
	struct envelope_missing missing[] = {{STR("ms-3"), STR("forgotten")}, {STR("ms-9@1"), STR("unknown")}};
	struct fidelity f;

	(void)state;
	before.refs = had;
	before.ref_count = 5;
	after.refs = has;
	after.ref_count = 2;
	after.trimmed = trimmed;
	after.trim_count = 3;
	after.missing = missing;
	after.missing_count = 2;
	fidelity_compare(&before, &after, &arena, &f);
	assert_int_equal(find(&f, KIND_REF, "ms-7")->fate, FATE_KEPT);
	assert_int_equal(find(&f, KIND_REF, "ms-11")->fate, FATE_ADDED);
	assert_int_equal(find(&f, KIND_REF, "ms-5")->fate, FATE_DROPPED);
	assert_true(str_is(find(&f, KIND_REF, "ms-5")->reason, "budget"));
	assert_true(str_is(find(&f, KIND_REF, "ms-3")->reason, "forgotten"));
	assert_null(find(&f, KIND_REF, "ms-8")->reason.p);
	assert_null(find(&f, KIND_REF, "ms-9")->reason.p);
	/* In the order of the envelope. */
	assert_true(str_is(f.items[0].key, "ms-7"));
	assert_true(str_is(f.items[1].key, "ms-3"));
}

static void fill(struct envelope *e, uint64_t from)
{
	struct json *steps = arena_calloc(&arena, MANY, sizeof(*steps)),
		*open = arena_calloc(&arena, MANY, sizeof(*open));

	e->refs = arena_calloc(&arena, MANY, sizeof(*e->refs));
	e->trimmed = arena_calloc(&arena, MANY, sizeof(*e->trimmed));
	for (uint32_t i = 0; i < MANY; i++) {
		struct str text = arena_printf(&arena, "ms-%llu", (unsigned long long)(from + i));
		struct json_member *m = arena_calloc(&arena, 2, sizeof(*m));

		m[0] = (struct json_member){STR("action"), {.type = JSON_STRING, .s = text}};
		m[1] = (struct json_member){STR("decision"), {.type = JSON_INT, .i = i}};
		steps[i] = (struct json){.type = JSON_OBJECT, .count = 2, .members = m};
		open[i] = (struct json){.type = JSON_STRING, .s = text};
		e->refs[i].id = (struct memory_id){from + MANY - i, 1};
		e->trimmed[i] = (struct envelope_trim){.id = arena_printf(&arena, "ms-%u", i + 1),
						       .reason = STR("budget")};
	}
	e->history = (struct json){.type = JSON_ARRAY, .count = MANY, .items = steps};
	e->open_decisions = (struct json){.type = JSON_ARRAY, .count = MANY, .items = open};
	e->ref_count = e->trim_count = MANY;
}

static void test_large_envelopes_are_compared_in_no_time(void **state)
{
	struct envelope before = empty(), after = empty();
	struct fidelity f;

	(void)state;
	fill(&before, 1);
	fill(&after, MANY + 1);
	alarm(SECONDS_AT_MOST);
	fidelity_compare(&before, &after, &arena, &f);
	alarm(0);
	assert_int_equal(f.count, 6 * MANY);
	assert_int_equal(f.kept, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decisions_and_steps_are_kept_added_or_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_memory_that_is_gone_says_why_where_the_envelope_does, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_large_envelopes_are_compared_in_no_time, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
