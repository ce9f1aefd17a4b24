/* SHA-256: the examples of FIPS 180-2 and NIST's, and OpenSSL's own answer for every length around a block. */
#include "codec/sha256.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <openssl/sha.h>
#include <pthread.h>

static void test_known_answers(void **state)
{
	static const struct { struct str data; const char *hex; } cases[] = {
		{STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{STR("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
		     "mnopqrstnopqrstu"), "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
		{STR("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[SHA256_HEX_SIZE];

		sha256_hex(cases[i].data, hex);
		assert_string_equal(hex, cases[i].hex);
	}
}

static void test_no_data_is_the_same_as_empty_data(void **state)
{
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];

	(void)state;
	sha256(STR_NULL, a);
	sha256(STR(""), b);
	assert_memory_equal(a, b, sizeof(a));
}

static void test_every_length_around_a_block(void **state)
{
	unsigned char data[300], expected[SHA256_SIZE];
	uint8_t digest[SHA256_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	for (size_t n = 0; n <= sizeof(data); n++) {
		sha256((struct str){(const char *)data, n}, digest);
		SHA256(data, n, expected);
		assert_memory_equal(digest, expected, sizeof(digest));
	}
}

static void *hash_many(void *arg)
{
	char hex[SHA256_HEX_SIZE];

	for (int i = 0; i < 200; i++)
		sha256_hex(STR("abc"), hex);
	return hex[0] == 'b' ? arg : NULL;
}

static void test_threads_hash_beside_each_other(void **state)
{
	pthread_t threads[4];
	void *result;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hash_many, threads), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_non_null(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_hash_beside_each_other),	/* first, so that the threads race to fetch */
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_no_data_is_the_same_as_empty_data),
		cmocka_unit_test(test_every_length_around_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
