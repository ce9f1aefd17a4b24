/* Server-sent events: what comes out does not depend on how the bytes were cut. */
#include "client/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { MAX_BYTES = 256 };

struct seen {
	struct buf text;	/* "data|id;" of each event */
	int stop_after;		/* events; 0: never */
	int count;
};

static bool on_event(void *arg, const struct sse *s, struct str data)
{
	struct seen *seen = arg;

	buf_printf(&seen->text, "%.*s|%.*s;", STR_ARG(data), STR_ARG(buf_str(&s->id)));
	return ++seen->count != seen->stop_after;
}

static const char stream[] = ": hello\n\nid: 1\ndata: one\n\ndata:two\r\ndata: three\r\n\r\nretry: 250\nid: 3\ndata\n\n"
			     "event: x\nunknown: y\ndata: four\n\nid: 9\ndata: never ended\n";
static const char expected[] = "|;one|1;two\nthree|1;|3;four|3;";

static void feed_in_pieces(struct sse *s, struct seen *seen, size_t size)
{
	struct str rest = str_of(stream);

	while (rest.n) {
		size_t n = rest.n < size ? rest.n : size;

		assert_true(sse_feed(s, str_sub(rest, 0, n), on_event, seen));
		rest = str_sub(rest, n, rest.n);
	}
}

static void test_events_are_the_same_however_the_bytes_are_cut(void **state)
{
	(void)state;
	for (size_t size = 1; size < sizeof(stream); size++) {
		struct seen seen = {0};
		struct sse s;

		buf_init(&seen.text, 4096);
		sse_init(&s, MAX_BYTES);
		feed_in_pieces(&s, &seen, size);
		assert_string_equal(buf_str(&seen.text).p, expected);
		assert_int_equal(s.retry_ms, 250);
		sse_release(&s);
		buf_release(&seen.text);
	}
}

static void test_the_id_of_an_event_that_did_not_come_whole_is_no_position(void **state)
{
	struct seen seen = {0};
	struct sse s;

	(void)state;
	buf_init(&seen.text, 4096);
	sse_init(&s, MAX_BYTES);
	feed_in_pieces(&s, &seen, sizeof(stream));
	sse_restart(&s);
	assert_true(sse_feed(&s, STR(":\n\n"), on_event, &seen));
	assert_true(str_is(buf_str(&s.id), "3"));
	sse_release(&s);
	buf_release(&seen.text);
}

static void test_what_is_too_long_ends_it(void **state)
{
	char line[MAX_BYTES + 2];
	struct seen seen = {0};
	struct sse s;

	(void)state;
	memset(line, 'x', sizeof(line));
	buf_init(&seen.text, 4096);
	sse_init(&s, MAX_BYTES);
	assert_false(sse_feed(&s, (struct str){line, sizeof(line)}, on_event, &seen));
	sse_release(&s);
	sse_init(&s, MAX_BYTES);
	for (int i = 0; i < MAX_BYTES / 4; i++)
		assert_true(sse_feed(&s, STR("data: 123\n"), on_event, &seen) == (i < MAX_BYTES / 4));
	assert_false(sse_feed(&s, STR("data: 123\n"), on_event, &seen));
	sse_release(&s);
	sse_init(&s, MAX_BYTES);
	seen.stop_after = 1;
	assert_false(sse_feed(&s, STR("data: 1\n\ndata: 2\n\n"), on_event, &seen));
	assert_string_equal(buf_str(&seen.text).p, "1|;");
	sse_release(&s);
	buf_release(&seen.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_the_same_however_the_bytes_are_cut),
		cmocka_unit_test(test_the_id_of_an_event_that_did_not_come_whole_is_no_position),
		cmocka_unit_test(test_what_is_too_long_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
