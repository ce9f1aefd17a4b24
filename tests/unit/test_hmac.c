/* HMAC-SHA-256: the examples of RFC 4231. */
#include "codec/hmac.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>

static void check(struct str key, struct str data, const char *hex)
{
	uint8_t mac[HMAC_SHA256_SIZE];
	char text[2 * HMAC_SHA256_SIZE + 1];

	/* However the text is cut into parts. */
	for (size_t cut = 0; cut <= data.n; cut++) {
		struct str parts[] = {str_sub(data, 0, cut), STR_NULL, str_sub(data, cut, data.n)};

		hmac_sha256(key, parts, 3, mac);
		for (int i = 0; i < HMAC_SHA256_SIZE; i++)
			snprintf(text + 2 * i, 3, "%02x", mac[i]);
		/* Case 5 of the RFC gives the first 128 bits only. */
		text[strlen(hex)] = '\0';
		assert_string_equal(text, hex);
	}
}

static void test_the_examples_of_rfc_4231(void **state)
{
	char key[131], data[50];

	(void)state;
	memset(key, 0x0b, 20);
	check((struct str){key, 20}, STR("Hi There"),
	      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	check(STR("Jefe"), STR("what do ya want for nothing?"),
	      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	check((struct str){key, 20}, (struct str){data, 50},
	      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	check((struct str){key, 131}, STR("Test Using Larger Than Block-Size Key - Hash Key First"),
	      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	check((struct str){key, 131},
	      STR("This is a test using a larger than block-size key and a larger than block-size data. The key "
		  "needs to be hashed before being used by the HMAC algorithm."),
	      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
	for (int i = 0; i < 25; i++)
		key[i] = (char)(i + 1);
	memset(data, 0xcd, sizeof(data));
	check((struct str){key, 25}, (struct str){data, 50},
	      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
	memset(key, 0x0c, 20);
	check((struct str){key, 20}, STR("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b");
}

static void test_an_empty_key_and_an_empty_text_are_a_key_and_a_text(void **state)
{
	(void)state;
	check(STR_NULL, STR_NULL, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_examples_of_rfc_4231),
		cmocka_unit_test(test_an_empty_key_and_an_empty_text_are_a_key_and_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
