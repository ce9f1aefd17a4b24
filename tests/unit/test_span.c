/* core/watch/span.h and core/watch/trace_context.h: traces of handoffs, from their events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/watch/event.h"
#include "core/watch/span.h"

#define T0 INT64_C(1700000000000)
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

/* --- traceparent --- */

static void what_is_read_is_written_the_same(void **state)
{
	struct trace_context c;
	char text[TRACEPARENT_SIZE];

	(void)state;
	assert_true(trace_context_parse(STR("00-" TRACE "-" PARENT "-01"), &c));
	trace_context_format(&c, text);
	assert_string_equal(text, "00-" TRACE "-" PARENT "-01");
}

static void what_is_not_a_traceparent_is_refused(void **state)
{
	static const char *const broken[] = {
		"", "00", "00-" TRACE "-" PARENT, "00-" TRACE "-" PARENT "-01-", "00-" TRACE "-" PARENT "-01-extra",
		"ff-" TRACE "-" PARENT "-01",
		"00-00000000000000000000000000000000-" PARENT "-01", "00-" TRACE "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
		"00_" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-0g", "0-" TRACE "-" PARENT "-011",
		"cc-" TRACE "-" PARENT "-01x",
	};
	struct trace_context c = {.flags = 77};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		if (trace_context_parse(str_of(broken[i]), &c))
			fail_msg("taken: %s", broken[i]);
	assert_int_equal(c.flags, 77);
	assert_true(trace_context_parse(STR("cc-" TRACE "-" PARENT "-01-what-the-future-is-like"), &c));
}

/* --- Spans --- */

struct story {
	struct envelope envelope;
	struct event_row events[16];
	size_t count;
	struct arena arena;
};

static int setup(void **state)
{
	static struct story story;

	story = (struct story){.envelope = {
		.num = 3, .space = STR("lab"), .created_at_ms = T0 - 4, .from = STR("ann"), .to = STR("ben"),
		.task = STR("task-3"), .hop = 1, .root = 3,
		.traceparent = STR("00-" TRACE "-" PARENT "-01"), .token_count = 120, .max_tokens = 4000,
		.digest = {1, 2, 3},
	}};
	arena_init(&story.arena);
	*state = &story;
	return 0;
}

static int teardown(void **state)
{
	struct story *s = *state;

	arena_release(&s->arena);
	return 0;
}

static void happen(struct story *s, int kind, int64_t at_ms)
{
	s->events[s->count] = (struct event_row){
		.id = (int64_t)s->count + 10, .kind = kind, .at_ms = T0 + at_ms, .envelope = 3,
		.handoff = kind == EVENT_ENVELOPE_PACKED ? 0 : 7,
		.attempt = 1, .agent = STR("ben"), .note = kind == EVENT_NACKED ? STR("busy") : STR_NULL,
		.value = {1, 0.5},
	};
	s->count++;
}

/* The span of the event with this index, as of its time. */
static struct span span_at(struct story *s, size_t i)
{
	struct span_source source = {
		.event = &s->events[i], .space_name = STR("lab"), .envelope = &s->envelope,
		.root_digest = s->envelope.digest, .history = s->events,
		.history_count = s->count, .input_tokens = -1,
	};
	struct span span;

	assert_true(span_of_event(&source, &s->arena, &span));
	return span;
}

static void expect_child(const struct span *child, const struct span *parent)
{
	assert_memory_equal(child->context.trace, parent->context.trace, TRACE_ID_SIZE);
	assert_memory_equal(child->parent, parent->context.span, SPAN_ID_SIZE);
}

static void expect_times(const struct span *span, int64_t start_ms, int64_t end_ms)
{
	assert_int_equal(span->start_ms, T0 + start_ms);
	assert_int_equal(span->end_ms, T0 + end_ms);
}

static void a_handoff_that_goes_well_is_five_spans_in_the_trace_of_its_sender(void **state)
{
	struct story *s = *state;
	struct span create, send, receive, ack, process;
	struct trace_context sender;

	happen(s, EVENT_QUEUED, 0);
	happen(s, EVENT_ENVELOPE_PACKED, 0);
	happen(s, EVENT_TAKEN, 20);
	happen(s, EVENT_ACKED, 25);
	happen(s, EVENT_COMPLETED, 90);
	send = span_at(s, 0);
	create = span_at(s, 1);
	receive = span_at(s, 2);
	ack = span_at(s, 3);
	process = span_at(s, 4);
	assert_true(trace_context_parse(s->envelope.traceparent, &sender));
	assert_memory_equal(create.parent, sender.span, SPAN_ID_SIZE);
	assert_memory_equal(create.context.trace, sender.trace, TRACE_ID_SIZE);
	expect_child(&send, &create);
	expect_child(&receive, &send);
	expect_child(&ack, &receive);
	expect_child(&process, &receive);
	expect_times(&create, -4, 0);
	expect_times(&receive, 0, 20);
	expect_times(&ack, 20, 25);
	expect_times(&process, 20, 90);
	assert_true(str_is(process.name, "process ben"));
	assert_true(process.kind == SPAN_CONSUMER && create.kind == SPAN_PRODUCER && !process.has_failed);
}

static void each_lease_has_a_span_of_its_own_and_the_receiver_is_given_its_id(void **state)
{
	struct story *s = *state;
	struct trace_context lease;
	struct span first, nack, second;

	happen(s, EVENT_QUEUED, 0);
	happen(s, EVENT_TAKEN, 5);
	happen(s, EVENT_NACKED, 9);
	happen(s, EVENT_TAKEN, 30);
	first = span_at(s, 1);
	nack = span_at(s, 2);
	second = span_at(s, 3);
	expect_child(&nack, &first);
	assert_true(nack.has_failed && str_is(nack.message, "busy"));
	assert_memory_not_equal(first.context.span, second.context.span, SPAN_ID_SIZE);
	/* From when it stood in the queue again. */
	expect_times(&second, 9, 30);
	lease = span_context_of_lease(&s->envelope, s->envelope.digest, 7, 2);
	assert_memory_equal(lease.span, second.context.span, SPAN_ID_SIZE);
	lease = span_context_of(&s->envelope, s->envelope.digest);
	assert_memory_not_equal(lease.span, second.context.span, SPAN_ID_SIZE);
}

static void a_chain_that_nobody_named_a_trace_for_has_one_of_its_own(void **state)
{
	struct story *s = *state;
	struct span_source source;
	struct span root, child;

	happen(s, EVENT_ENVELOPE_PACKED, 0);
	s->envelope.traceparent = STR_NULL;
	root = span_at(s, 0);
	assert_memory_equal(root.context.trace, s->envelope.digest, TRACE_ID_SIZE);
	assert_memory_equal(root.parent, ((uint8_t[SPAN_ID_SIZE]){0}), SPAN_ID_SIZE);
	source = (struct span_source){
		.event = &s->events[0], .envelope = &s->envelope, .root_digest = (uint8_t[32]){1, 2, 3},
		.is_inherited = true, .input_tokens = -1,
	};
	memcpy(s->envelope.parent_digest, s->envelope.digest, 32);
	s->envelope.parent = 3;
	s->envelope.digest[0] = 99;
	assert_true(span_of_event(&source, &s->arena, &child));
	expect_child(&child, &root);
}

static void a_trace_that_is_not_sampled_is_left_alone(void **state)
{
	struct story *s = *state;
	struct span_source source = {.event = &s->events[0], .envelope = &s->envelope,
				     .root_digest = s->envelope.digest};
	struct span span;

	happen(s, EVENT_ENVELOPE_PACKED, 0);
	s->envelope.traceparent = STR("00-" TRACE "-" PARENT "-00");
	assert_false(span_of_event(&source, &s->arena, &span));
}

static void what_is_no_step_of_a_handoff_makes_no_span(void **state)
{
	struct story *s = *state;
	struct span_source source = {.event = &s->events[0], .envelope = &s->envelope,
				     .root_digest = s->envelope.digest};
	struct span span;

	happen(s, EVENT_PROGRESS, 0);
	assert_false(span_of_event(&source, &s->arena, &span));
	assert_false(span_kinds() >> EVENT_PROGRESS & 1);
	assert_false(span_kinds() >> EVENT_MEMORY_STORED & 1);
}

static const char *attribute(const struct json *span, const char *key)
{
	const struct json *list = json_get(span, "attributes");

	for (uint32_t i = 0; i < list->count; i++) {
		const struct json *value = json_get(&list->items[i], "value");

		if (str_is(json_get(&list->items[i], "key")->s, key))
			return value->members[0].value.type == JSON_STRING ? value->members[0].value.s.p : "?";
	}
	return NULL;
}

static void otlp_is_written_as_its_json_wants_it(void **state)
{
	struct story *s = *state;
	struct json all;
	const struct json *resource, *span;
	struct json_error error;
	struct span spans[2];
	struct buf text;

	happen(s, EVENT_QUEUED, 0);
	happen(s, EVENT_TAKEN, 5);
	happen(s, EVENT_NACKED, 9);
	s->events[2].note = STR("\"quoted\"\n\x01");
	s->events[2].agent = STR("ben \xe2\x80\xae");
	spans[0] = span_at(s, 1);
	spans[1] = span_at(s, 2);
	buf_init(&text, 1 << 20);
	span_write_otlp(spans, 2, STR("here"), &text);
	assert_true(json_parse(buf_str(&text), 32, &s->arena, &all, &error));
	buf_release(&text);
	resource = &json_get(&all, "resourceSpans")->items[0];
	assert_string_equal(attribute(json_get(resource, "resource"), "service.name"), "memory-spine");
	span = &json_get(&json_get(resource, "scopeSpans")->items[0], "spans")->items[1];
	assert_true(str_is(json_get(span, "traceId")->s, TRACE));
	assert_int_equal(json_get(span, "spanId")->s.n, 16);
	assert_true(str_is(json_get(span, "startTimeUnixNano")->s, "1700000000005000000"));
	assert_int_equal(json_get(json_get(span, "status"), "code")->i, 2);
	assert_true(str_eq(json_get(json_get(span, "status"), "message")->s, s->events[2].note));
	assert_string_equal(attribute(span, "messaging.operation.type"), "settle");
	assert_string_equal(attribute(span, "messaging.message.id"), "ho-7");
	assert_string_equal(attribute(span, "gen_ai.agent.name"), "ben \xe2\x80\xae");
	assert_string_equal(attribute(span, "spine.hop"), "1");
	assert_null(attribute(span, "gen_ai.usage.input_tokens"));
}

#define with_story(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest span[] = {
		cmocka_unit_test(what_is_read_is_written_the_same),
		cmocka_unit_test(what_is_not_a_traceparent_is_refused),
		with_story(a_handoff_that_goes_well_is_five_spans_in_the_trace_of_its_sender),
		with_story(each_lease_has_a_span_of_its_own_and_the_receiver_is_given_its_id),
		with_story(a_chain_that_nobody_named_a_trace_for_has_one_of_its_own),
		with_story(a_trace_that_is_not_sampled_is_left_alone),
		with_story(what_is_no_step_of_a_handoff_makes_no_span),
		with_story(otlp_is_written_as_its_json_wants_it),
	};

	return cmocka_run_group_tests(span, NULL, NULL);
}
