/* core/cluster/passed.h: what a server says when it passes a request on. */
#include "core/cluster/passed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>

#define NOW INT64_C(1790000000000)
#define SECRET STR("0123456789abcdef0123456789abcdef")

static const struct passed_request request = {
	.method = {"POST", 4}, .target = {"/v1/things?x=1", 14}, .space = {"team-7", 6},
};

static const struct passed passed = {.node = {"node-1a2b3c4d", 13}, .at_ms = NOW, .key = {"k_17", 4}};

static struct buf sealed(const struct passed *p)
{
	struct buf b;

	buf_init(&b, 1000);
	passed_seal(&b, SECRET, p, &request);
	return b;
}

static enum passed_verdict check(const char *value, const struct passed_request *r, int64_t now_ms)
{
	struct passed got;

	return passed_check(str_of(value), SECRET, r, now_ms, &got);
}

/* Computed by Python's hmac: servers of other versions must read it. */
static void test_the_form_never_changes(void **state)
{
	struct buf b = sealed(&passed);

	(void)state;
	assert_string_equal(buf_str(&b).p, "node-1a2b3c4d 1790000000000 k_17 "
			    "249c2351d923ec71505e8c18fdc8fd4d3c590a5496613496cc645746f4b1dbef");
	buf_release(&b);
	b = sealed(&(struct passed){.node = passed.node, .at_ms = NOW});
	assert_string_equal(buf_str(&b).p, "node-1a2b3c4d 1790000000000 - "
			    "b77a2c9204e7ebf4d47d9c3f755068d2ca489edabdabc0164c3a647521a5c9bc");
	buf_release(&b);
}

static void test_what_was_sealed_is_believed(void **state)
{
	struct passed without = {.node = passed.node, .at_ms = NOW}, got;
	struct buf b = sealed(&passed);

	(void)state;
	assert_int_equal(passed_check(buf_str(&b), SECRET, &request, NOW, &got), PASSED_GOOD);
	assert_true(str_eq(got.node, passed.node) && str_eq(got.key, passed.key));
	assert_int_equal(got.at_ms, NOW);
	buf_release(&b);
	b = sealed(&without);
	assert_int_equal(passed_check(buf_str(&b), SECRET, &request, NOW, &got), PASSED_GOOD);
	assert_null(got.key.p);
	buf_release(&b);
}

static void test_it_holds_for_a_minute_both_ways(void **state)
{
	struct buf b = sealed(&passed);
	const char *value = buf_str(&b).p;

	(void)state;
	assert_int_equal(check(value, &request, NOW + PASSED_WINDOW_MS), PASSED_GOOD);
	assert_int_equal(check(value, &request, NOW - PASSED_WINDOW_MS), PASSED_GOOD);
	assert_int_equal(check(value, &request, NOW + PASSED_WINDOW_MS + 1), PASSED_STALE);
	assert_int_equal(check(value, &request, NOW - PASSED_WINDOW_MS - 1), PASSED_STALE);
	assert_int_equal(check(value, &request, INT64_MAX), PASSED_STALE);
	assert_int_equal(check(value, &request, 0), PASSED_STALE);
	buf_release(&b);
}

static void test_it_holds_for_one_request_alone(void **state)
{
	struct passed_request r = request;
	struct buf b = sealed(&passed);
	const char *value = buf_str(&b).p;
	struct passed got;

	(void)state;
	r.method = STR("GET");
	assert_int_equal(check(value, &r, NOW), PASSED_FORGED);
	r = request;
	r.target = STR("/v1/things?x=2");
	assert_int_equal(check(value, &r, NOW), PASSED_FORGED);
	r = request;
	r.space = STR("team-8");
	assert_int_equal(check(value, &r, NOW), PASSED_FORGED);
	/* What stands on one side of a line's end cannot stand on the other. */
	r.target = STR("/v1/things?x=1\nteam-7");
	r.space = STR("");
	assert_int_equal(check(value, &r, NOW), PASSED_MALFORMED);
	assert_int_equal(passed_check(buf_str(&b), STR("another secret"), &request, NOW, &got), PASSED_FORGED);
	assert_int_equal(passed_check(buf_str(&b), STR(""), &request, NOW, &got), PASSED_FORGED);
	buf_release(&b);
}

/* Whatever byte is another one, it is not believed; only letters of the hexadecimal may be large ones. */
static void test_each_byte_counts(void **state)
{
	struct buf b = sealed(&passed);

	(void)state;
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct passed got;
			bool is_case = bit == 5 && i >= b.len - 64 && b.data[i] >= 'a';
			enum passed_verdict verdict;

			b.data[i] ^= (char)(1 << bit);
			verdict = passed_check(buf_str(&b), SECRET, &request, NOW, &got);
			assert_int_equal(verdict == PASSED_GOOD, is_case);
			b.data[i] ^= (char)(1 << bit);
		}
	buf_release(&b);
}

static void test_what_is_malformed(void **state)
{
	static const char *const values[] = {
		"", " ", "a", "a 1", "a 1 -", "a 1 - ", "a 1 - 00", "a x - ", "a -1 - ", "a 1  ", " 1 - ",
		"a 99999999999999999999 - ", "a,b 1 - ", "a 1 k,k ",
	};
	static const char hex[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char value[300];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(check(values[i], &request, NOW), PASSED_MALFORMED);
		if (i <= 4)
			continue;
		snprintf(value, sizeof(value), "%s%s", values[i], hex);
		if (i == 5)	/* the form, at last */
			assert_int_equal(check(value, &request, NOW), PASSED_FORGED);
		else
			assert_int_equal(check(value, &request, NOW), PASSED_MALFORMED);
	}
	snprintf(value, sizeof(value), "a 1 - %s ", hex);
	assert_int_equal(check(value, &request, NOW), PASSED_MALFORMED);
	snprintf(value, sizeof(value), "%065d 1 - %s", 1, hex);
	assert_int_equal(check(value, &request, NOW), PASSED_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_form_never_changes),
		cmocka_unit_test(test_what_was_sealed_is_believed),
		cmocka_unit_test(test_it_holds_for_a_minute_both_ways),
		cmocka_unit_test(test_it_holds_for_one_request_alone),
		cmocka_unit_test(test_each_byte_counts),
		cmocka_unit_test(test_what_is_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
