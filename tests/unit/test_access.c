/* core/access: what a key looks like, whether it is valid, and what its holder may do. No socket, no clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/access/access_key.h"

#include <stdio.h>
#include <string.h>

#define T0 INT64_C(1700000000000)

static const uint8_t chance[ACCESS_KEY_RANDOM] = {1, 2, 3, 255};

static struct access_key_row made(uint64_t num)
{
	struct access_key_row key = {.num = num, .name = STR("ci"), .scopes = ACCESS_READ, .trust = TRUST_AGENT};
	char text[ACCESS_KEY_TEXT_SIZE];

	access_key_text(num, chance, text);
	access_key_hash(str_of(text), key.hash);
	return key;
}

static enum access_key_state check(const struct access_key_row *key, const uint8_t random[ACCESS_KEY_RANDOM],
				   int64_t now_ms)
{
	char text[ACCESS_KEY_TEXT_SIZE];
	uint8_t hash[SHA256_SIZE];
	uint64_t secret;

	access_key_text(key->num, random, text);
	access_key_hash(str_of(text), hash);
	return access_key_check(key, hash, now_ms, &secret);
}

static void a_text_has_the_number_and_all_of_the_chance(void **state)
{
	char text[ACCESS_KEY_TEXT_SIZE], largest[ACCESS_KEY_TEXT_SIZE];
	uint64_t num = 0;

	(void)state;
	access_key_text(7, chance, text);
	assert_string_equal(text, "spk_7_AQID_wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	assert_true(access_key_parse(str_of(text), &num) && num == 7);
	access_key_text(ACCESS_KEY_NUM_MAX, chance, largest);
	assert_int_equal(strlen(largest), 4 + 19 + 1 + 43);
	assert_true(access_key_parse(str_of(largest), &num) && num == ACCESS_KEY_NUM_MAX);
}

static void what_is_no_key_is_not_parsed(void **state)
{
#define SECRET "AQID_wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	static const char *const bad[] = {
		"", "spk_", "spk_7", "spk_7_", "spk__" SECRET, "spk_07_" SECRET, "spk_0_" SECRET, "spk_-7_" SECRET,
		"spk_7_" SECRET "A", "spk_7_AQID_wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "SPK_7_" SECRET,
		"spk_7_AQID+wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", " spk_7_" SECRET, "spk_7_" SECRET " ",
		"spk_99999999999999999999_" SECRET,
	};
	uint64_t num;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (access_key_parse(str_of(bad[i]), &num))
			fail_msg("\"%s\" is taken for a key", bad[i]);
	assert_true(access_key_id_parse(STR("key-12"), &num) && num == 12);
	assert_false(access_key_id_parse(STR("key-"), &num) || access_key_id_parse(STR("key-01"), &num) ||
		     access_key_id_parse(STR("12"), &num));
}

static void only_the_right_secret_learns_that_a_key_has_ended(void **state)
{
	static const uint8_t other[ACCESS_KEY_RANDOM] = {9};
	struct access_key_row key = made(7);

	(void)state;
	assert_int_equal(check(&key, chance, T0), ACCESS_KEY_VALID);
	assert_int_equal(check(&key, other, T0), ACCESS_KEY_WRONG);
	key.expires_at_ms = T0 + 10;
	assert_int_equal(check(&key, chance, T0 + 9), ACCESS_KEY_VALID);
	assert_int_equal(check(&key, chance, T0 + 10), ACCESS_KEY_EXPIRED);
	assert_int_equal(check(&key, other, T0 + 10), ACCESS_KEY_WRONG);
	key.revoked_at_ms = T0;
	assert_int_equal(check(&key, chance, T0 + 9), ACCESS_KEY_REVOKED);
	assert_int_equal(check(&key, other, T0 + 9), ACCESS_KEY_WRONG);
}

static void after_a_rotation_both_secrets_are_valid_for_a_while(void **state)
{
	static const uint8_t fresh[ACCESS_KEY_RANDOM] = {9}, third[ACCESS_KEY_RANDOM] = {10};
	struct access_key_row key = made(7), next = made(7);
	char text[ACCESS_KEY_TEXT_SIZE];
	uint64_t first;

	(void)state;
	assert_int_equal(access_key_check(&key, key.hash, T0, &first), ACCESS_KEY_VALID);
	access_key_text(7, fresh, text);
	access_key_hash(str_of(text), next.hash);
	access_key_rotate(&key, next.hash, T0 + 100);
	assert_int_equal(check(&key, fresh, T0), ACCESS_KEY_VALID);
	assert_int_equal(check(&key, chance, T0 + 99), ACCESS_KEY_VALID);
	assert_int_equal(check(&key, chance, T0 + 100), ACCESS_KEY_EXPIRED);
	assert_int_equal(check(&key, fresh, T0 + 100), ACCESS_KEY_VALID);
	assert_int_equal(access_key_still(&key, first, T0 + 99), ACCESS_KEY_VALID);
	assert_int_equal(access_key_still(&key, first, T0 + 100), ACCESS_KEY_EXPIRED);
	assert_int_equal(access_key_next_end(&key, T0), T0 + 100);
	assert_int_equal(access_key_next_end(&key, T0 + 100), 0);
	/* Once more: the first is out at once. */
	access_key_text(7, third, text);
	access_key_hash(str_of(text), next.hash);
	access_key_rotate(&key, next.hash, T0 + 200);
	assert_int_equal(check(&key, chance, T0 + 1), ACCESS_KEY_WRONG);
	assert_int_equal(access_key_still(&key, first, T0 + 1), ACCESS_KEY_WRONG);
	assert_int_equal(check(&key, fresh, T0 + 1), ACCESS_KEY_VALID);
}

static void without_keys_everything_is_allowed(void **state)
{
	struct problem p = {0};

	(void)state;
	assert_int_equal(access_check_scope(NULL, ACCESS_ADMIN, &p), P_OK);
	assert_int_equal(access_check_space(NULL, "Spine-Space", STR("x"), &p), P_OK);
	assert_int_equal(access_check_all(NULL, "space", &p), P_OK);
	assert_int_equal(access_check_agent(NULL, "from", STR("x"), &p), P_OK);
	assert_int_equal(access_cap(NULL, TRUST_SYSTEM), TRUST_SYSTEM);
}

static void a_key_may_what_its_scopes_say_and_admin_everything(void **state)
{
	static const unsigned each[] = {ACCESS_READ, ACCESS_WRITE, ACCESS_RECEIVE, ACCESS_ADMIN};
	struct problem p = {0};

	(void)state;
	for (int has = 0; has < 4; has++)
		for (int needs = 0; needs < 4; needs++) {
			struct access a = {.key = 3, .scopes = each[has]};
			bool may = has == needs || each[has] == ACCESS_ADMIN;

			assert_int_equal(access_check_scope(&a, each[needs], &p), may ? P_OK : P_FORBIDDEN);
			assert_int_equal(access_check_scope(&a, 0, &p), P_OK);
		}
	assert_non_null(strstr(p.detail, "scope"));
	for (int i = 0; i < 4; i++)
		assert_int_equal(access_scope_parse(str_of(access_scope_name(each[i]))), each[i]);
	assert_int_equal(access_scope_parse(STR("root")), 0);
}

static void a_key_is_for_its_space_and_its_agent(void **state)
{
	struct access a = {.key = 3, .scopes = ACCESS_ADMIN, .space = STR("team"), .agent = STR("ann")};
	struct access all = {.key = 4};
	struct problem p = {0};

	(void)state;
	assert_int_equal(access_check_space(&a, "Spine-Space", STR("team"), &p), P_OK);
	assert_int_equal(access_check_space(&a, "Spine-Space", STR("tea"), &p), P_FORBIDDEN);
	assert_string_equal(p.field, "Spine-Space");
	assert_null(strstr(p.detail, "\"tea\""));
	assert_int_equal(access_check_all(&a, "space", &p), P_FORBIDDEN);
	assert_int_equal(access_check_all(&all, "space", &p), P_OK);
	assert_int_equal(access_check_agent(&a, "from", STR("ann"), &p), P_OK);
	assert_int_equal(access_check_agent(&a, "from", STR("Ann"), &p), P_FORBIDDEN);
	assert_int_equal(access_check_agent(&all, "from", STR("anybody"), &p), P_OK);
	assert_int_equal(access_check_handoff(&a, 5, STR("bob"), &p), P_FORBIDDEN);
	assert_int_equal(access_check_handoff(&a, 5, STR("ann"), &p), P_OK);
	assert_int_equal(access_check_unbound(&a, "x", &p), P_FORBIDDEN);
	assert_int_equal(access_check_unbound(&all, "x", &p), P_OK);
}

static void trust_is_capped_and_never_raised(void **state)
{
	struct access a = {.trust = TRUST_AGENT};

	(void)state;
	assert_int_equal(access_cap(&a, TRUST_SYSTEM), TRUST_AGENT);
	assert_int_equal(access_cap(&a, TRUST_AGENT), TRUST_AGENT);
	assert_int_equal(access_cap(&a, TRUST_EXTERNAL), TRUST_EXTERNAL);
}

static void a_key_gives_nobody_more_than_it_has(void **state)
{
	struct access a = {
		.key = 3, .scopes = ACCESS_ADMIN, .space = STR("team"), .agent = STR("ann"), .trust = TRUST_AGENT,
		.expires_at_ms = T0,
	};
	struct access_key_row good = {
		.num = 4, .name = STR("n"), .space = STR("team"), .agent = STR("ann"), .scopes = ACCESS_EVERYTHING,
		.trust = TRUST_AGENT, .expires_at_ms = T0,
	}, k;
	struct problem p = {0};

	(void)state;
	assert_int_equal(access_check_covers(&a, &good, &p), P_OK);
#define REFUSED(change, name) \
	k = good; \
	change; \
	assert_int_equal(access_check_covers(&a, &k, &p), P_FORBIDDEN); \
	assert_string_equal(p.field, name)
	REFUSED(k.space = STR_NULL, "space");
	REFUSED(k.space = STR("other"), "space");
	REFUSED(k.agent = STR_NULL, "agent");
	REFUSED(k.agent = STR("bob"), "agent");
	REFUSED(k.trust = TRUST_USER, "trust");
	REFUSED(k.expires_at_ms = 0, "expires_at");
	REFUSED(k.expires_at_ms = T0 + 1, "expires_at");
	a.scopes = ACCESS_READ | ACCESS_WRITE;
	REFUSED(k.scopes = ACCESS_READ | ACCESS_RECEIVE, "scopes");
	k.scopes = ACCESS_READ;
	assert_int_equal(access_check_covers(&a, &k, &p), P_OK);
	assert_int_equal(access_check_covers(NULL, &(struct access_key_row){0}, &p), P_OK);
}

static void a_row_that_is_no_key_is_not_sound(void **state)
{
	struct access_key_row good = made(1), k;

	(void)state;
	assert_true(access_key_is_sound(&good));
#define UNSOUND(change) \
	k = good; \
	change; \
	assert_false(access_key_is_sound(&k))
	UNSOUND(k.num = 0);
	UNSOUND(k.name = STR_NULL);
	UNSOUND(k.scopes = 0);
	UNSOUND(k.scopes = 16);
	UNSOUND(k.trust = (enum trust)9);
	UNSOUND(k.revoked_at_ms = -1);
	UNSOUND(memset(k.hash, 0, sizeof(k.hash)));
	assert_int_equal(access_key_usual_trust(ACCESS_ADMIN, STR_NULL), TRUST_USER);
	assert_int_equal(access_key_usual_trust(ACCESS_ADMIN, STR("a")), TRUST_AGENT);
	assert_int_equal(access_key_usual_trust(ACCESS_WRITE, STR_NULL), TRUST_AGENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_has_the_number_and_all_of_the_chance),
		cmocka_unit_test(what_is_no_key_is_not_parsed),
		cmocka_unit_test(only_the_right_secret_learns_that_a_key_has_ended),
		cmocka_unit_test(after_a_rotation_both_secrets_are_valid_for_a_while),
		cmocka_unit_test(without_keys_everything_is_allowed),
		cmocka_unit_test(a_key_may_what_its_scopes_say_and_admin_everything),
		cmocka_unit_test(a_key_is_for_its_space_and_its_agent),
		cmocka_unit_test(trust_is_capped_and_never_raised),
		cmocka_unit_test(a_key_gives_nobody_more_than_it_has),
		cmocka_unit_test(a_row_that_is_no_key_is_not_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
