/* api/http/guard.h: who may reach the server at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/http/guard.h"

static const struct guard usual = {.is_strict = false};

static const char *const loopback[] = {
	"127.0.0.1", "127.0.0.1:8788", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65535", "127.1.2.3", "127.255.255.255:1",
	"localhost", "localhost:8788",
	"LocalHost:1", "LOCALHOST", "[::1]", "[::1]:8788", "[::1]:",
};

static const char *const foreign[] = {
	"", ":", ":80", "example.com", "example.com:8788", "localhost.example.com", "127.0.0.1.example.com",
	"alocalhost", "localhosta", "localhost.", "local host",
	"126.255.255.255", "128.0.0.1", "0.0.0.0", "10.0.0.1", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:+1",
	"127.0.0.1: 1", "127.0.0.1:1:2", "127.0.0.256",
	"127.1", "127.0.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", " 127.0.0.1", "127.0.0.1 ", "::1", "[::1", "::1]",
	"[::2]", "[::]", "[0:0:0:0:0:0:0:1]x",
	"[::1]a", "[::1]:x", "[::1].example.com", "[fe80::1]", "user@localhost", "localhost/path", "localhost?x",
	"localhost#x", "http://localhost",
};

static void loopback_names_are_told_from_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
		if (!guard_is_loopback(str_of(loopback[i])))
			fail_msg("\"%s\" is loopback", loopback[i]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (guard_is_loopback(str_of(foreign[i])))
			fail_msg("\"%s\" is not loopback", foreign[i]);
}

static void a_slice_is_read_by_its_length(void **state)
{
	(void)state;
	assert_true(guard_is_loopback((struct str){"localhost.example.com", 9}));
	assert_false(guard_is_loopback((struct str){"localhost\0.example.com", 22}));
	assert_false(guard_is_loopback((struct str){"127.0.0.1\0", 10}));
	assert_false(guard_is_loopback(STR_NULL));
}

static void a_foreign_host_is_refused_by_name(void **state)
{
	struct problem p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		assert_int_equal(guard_check(&usual, str_of(foreign[i]), STR_NULL, &p), P_HOST_NOT_ALLOWED);
		assert_string_equal(p.field, "Host");
		assert_non_null(strstr(p.detail, foreign[i]));
	}
	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
		assert_int_equal(guard_check(&usual, str_of(loopback[i]), STR_NULL, &p), P_OK);
	/* HTTP/1.0 has none. */
	assert_int_equal(guard_check(&usual, STR_NULL, STR_NULL, &p), P_OK);
}

static void an_origin_must_be_of_a_loopback_host(void **state)
{
	static const char *const good[] = {"http://localhost", "https://localhost:3000", "http://127.0.0.1:8788",
					   "http://[::1]:5173"};
	static const char *const bad[] = {
		"", "null", "localhost", "http://", "https://", "http://example.com", "https://localhost.example.com",
		"file://", "ftp://localhost", "http:/localhost",
		"http://http://localhost", "http://localhost/", "http://user@localhost", "chrome-extension://abcdef",
		"http://10.0.0.1",
	};
	struct problem p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(guard_check(&usual, STR("localhost"), str_of(good[i]), &p), P_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (guard_check(&usual, STR("localhost"), str_of(bad[i]), &p) != P_ORIGIN_NOT_ALLOWED)
			fail_msg("\"%s\" was let in", bad[i]);
		assert_string_equal(p.field, "Origin");
	}
	/* A foreign host is refused whatever the origin says. */
	assert_int_equal(guard_check(&usual, STR("evil.example"), STR("http://localhost"), &p), P_HOST_NOT_ALLOWED);
}

static void an_origin_that_is_allowed_by_name_may_call(void **state)
{
	static const char *const others[] = {
		"https://app.example:8443", "http://app.example", "https://app.example.evil",
		"https://evil.app.example", "https://app.exampl", "https://APP.example",
		"https://app.example/", "app.example", "*", "",
		"https://app.example,http://b.example:3000", "null",
	};
	struct guard guard = {.origins = STR("https://app.example, http://b.example:3000")};
	struct problem p = {0};

	(void)state;
	assert_int_equal(guard_check(&guard, STR("localhost"), STR("https://app.example"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("localhost"), STR("http://b.example:3000"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("localhost"), STR("http://localhost:3000"), &p), P_OK);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (guard_check(&guard, STR("localhost"), str_of(others[i]), &p) != P_ORIGIN_NOT_ALLOWED)
			fail_msg("\"%s\" was let in", others[i]);
	/* An origin does not open the server to other names. */
	assert_int_equal(guard_check(&guard, STR("app.example"), STR("https://app.example"), &p), P_HOST_NOT_ALLOWED);
}

static void a_strict_guard_lets_in_its_own_pages_and_those_named(void **state)
{
	struct guard guard = {.origins = STR("http://localhost:3000"), .is_strict = true};
	struct str host = STR("127.0.0.1:8788");
	struct problem p = {0};

	(void)state;
	assert_int_equal(guard_check(&guard, host, STR("http://127.0.0.1:8788"), &p), P_OK);
	assert_int_equal(guard_check(&guard, host, STR("http://localhost:3000"), &p), P_OK);
	assert_int_equal(guard_check(&guard, host, STR_NULL, &p), P_OK);
	assert_int_equal(guard_check(&guard, host, STR("http://127.0.0.1:3000"), &p), P_ORIGIN_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, host, STR("https://127.0.0.1:8788"), &p), P_ORIGIN_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, host, STR("http://localhost:8788"), &p), P_ORIGIN_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR_NULL, STR("http://"), &p), P_ORIGIN_NOT_ALLOWED);
	/* An image in a page of another port has no origin. */
	assert_int_equal(guard_check_site(&guard, STR("same-site"), STR_NULL, STR("/v1/x"), &p), P_ORIGIN_NOT_ALLOWED);
	assert_int_equal(guard_check_site(&guard, STR("same-site"), STR_NULL, STR("/"), &p), P_OK);
	assert_int_equal(guard_check_site(&guard, STR("same-origin"), STR_NULL, STR("/v1/x"), &p), P_OK);
	assert_int_equal(guard_check_site(&guard, STR("none"), STR_NULL, STR("/v1/x"), &p), P_OK);
}

static void an_origin_is_named_as_browsers_write_it(void **state)
{
	static const char *const good[] = {
		"", "https://app.example", "http://app.example:3000", "https://a.example,https://b.example:444",
		"http://[::1]:1", " https://a.example , https://b.example ", "http://xn--bcher-kva.example",
		"https://a.example:80",
	};
	static const char *const bad[] = {
		"*", "null", "app.example", "https://", "https://app.example/", "https://app.example/x",
		"https://*.example", "https://u@app.example", "https://App.example",
		"https://app.example:443", "http://app.example:80",
		"https://app.example:", "https://app.example:x", "https://app.example:65536", "ftp://app.example", ",",
		"https://a.example,,https://b.example", "https://a b", "https://[::1", "https://[]x", "https://:3000",
	};
	struct buf error;

	(void)state;
	buf_init(&error, 4096);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!guard_origins_are_valid("--allow-origin", str_of(good[i]), &error))
			fail_msg("\"%s\" is an origin", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		buf_clear(&error);
		if (guard_origins_are_valid("--allow-origin", str_of(bad[i]), &error))
			fail_msg("\"%s\" is no origin", bad[i]);
		assert_non_null(strstr(buf_str(&error).p, "--allow-origin"));
	}
	buf_release(&error);
}

static void an_image_in_a_foreign_page_is_refused(void **state)
{
	static const char *const good[] = {"same-origin", "same-site", "none", ""};
	struct str stream = STR("/v1/agents/a/stream"), here = STR("http://localhost:3000"), cross = STR("cross-site");
	struct problem p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(guard_check_site(&usual, str_of(good[i]), STR_NULL, stream, &p), P_OK);
	assert_int_equal(guard_check_site(&usual, STR_NULL, STR_NULL, stream, &p), P_OK);
	assert_int_equal(guard_check_site(&usual, cross, STR_NULL, STR("/"), &p), P_OK);
	/* The Origin is looked at by itself. */
	assert_int_equal(guard_check_site(&usual, cross, here, stream, &p), P_OK);
	assert_int_equal(guard_check_site(&usual, cross, STR_NULL, stream, &p), P_ORIGIN_NOT_ALLOWED);
	assert_string_equal(p.field, "Sec-Fetch-Site");
}

static void long_names_are_cut_and_stay_text(void **state)
{
	char host[4096];
	struct problem p = {0};

	(void)state;
	memset(host, '\xc3', sizeof(host));
	assert_int_equal(guard_check(&usual, (struct str){host, sizeof(host)}, STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_true(strlen(p.detail) < sizeof(p.detail));
	assert_true(str_is_utf8(str_of(p.detail)));
}

/* Behind a proxy, or on a network. */
static void the_names_that_the_operator_gave_are_its_own(void **state)
{
	struct guard guard = {.public_urls = STR("https://spine.example, http://b.example:8080"), .is_strict = true};
	struct problem p = {0};

	(void)state;
	assert_int_equal(guard_check(&guard, STR("spine.example"), STR_NULL, &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("Spine.Example"), STR("https://spine.example"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("b.example:8080"), STR("http://b.example:8080"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("127.0.0.1:8788"), STR("https://spine.example"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("spine.example:80"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("evil.example"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("x.spine.example"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("10.1.2.3"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("spine.example"), STR("http://spine.example"), &p),
			 P_ORIGIN_NOT_ALLOWED);
	assert_true(guard_is_https(&guard, STR("spine.example")));
	assert_false(guard_is_https(&guard, STR("b.example:8080")));
	/* Behind a proxy that speaks HTTPS, whatever it calls us. */
	assert_true(guard_is_https(&guard, STR("localhost:8788")));
	assert_true(guard_is_own(&guard, STR("spine.example"), STR("https://spine.example")));
	assert_false(guard_is_own(&guard, STR("spine.example"), STR("https://app.example")));
}

/* A name that was made to lead here is still none; an address cannot be one. */
static void on_a_network_any_address_may_be_the_host_and_no_name(void **state)
{
	struct guard guard = {.is_beyond = true}, tls = {.is_tls = true};
	struct problem p = {0};

	(void)state;
	assert_int_equal(guard_check(&guard, STR("10.1.2.3:8788"), STR_NULL, &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("[fd00::1]:8788"), STR_NULL, &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("evil.example"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("10.1.2.3.evil.example"), STR_NULL, &p), P_HOST_NOT_ALLOWED);
	assert_int_equal(guard_check(&guard, STR("10.1.2.3:8788"), STR("http://10.1.2.3:8788"), &p), P_OK);
	assert_int_equal(guard_check(&guard, STR("10.1.2.3:8788"), STR("http://10.9.9.9"), &p), P_ORIGIN_NOT_ALLOWED);
	assert_true(guard_is_own(&tls, STR("localhost:1"), STR("https://localhost:1")));
	assert_false(guard_is_own(&tls, STR("localhost:1"), STR("http://localhost:1")));
	assert_true(guard_is_https(&tls, STR("localhost:1")));
}

int main(void)
{
	const struct CMUnitTest guard[] = {
		cmocka_unit_test(loopback_names_are_told_from_others),
		cmocka_unit_test(a_slice_is_read_by_its_length),
		cmocka_unit_test(a_foreign_host_is_refused_by_name),
		cmocka_unit_test(an_origin_must_be_of_a_loopback_host),
		cmocka_unit_test(an_origin_that_is_allowed_by_name_may_call),
		cmocka_unit_test(a_strict_guard_lets_in_its_own_pages_and_those_named),
		cmocka_unit_test(an_origin_is_named_as_browsers_write_it),
		cmocka_unit_test(an_image_in_a_foreign_page_is_refused),
		cmocka_unit_test(long_names_are_cut_and_stay_text),
		cmocka_unit_test(the_names_that_the_operator_gave_are_its_own),
		cmocka_unit_test(on_a_network_any_address_may_be_the_host_and_no_name),
	};

	return cmocka_run_group_tests(guard, NULL, NULL);
}
