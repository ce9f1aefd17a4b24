/* OpenSSL's MAC, with the algorithm looked up beforehand, as in sha256.c. */
#include "codec/hmac.h"

#include "base/mem.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>

static pthread_once_t fetch_once = PTHREAD_ONCE_INIT;
static EVP_MAC *fetched;

static void fetch(void)
{
	fetched = EVP_MAC_fetch(NULL, "HMAC", NULL);
}

void hmac_sha256(struct str key, const struct str *parts, size_t count, uint8_t ret[HMAC_SHA256_SIZE])
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end(),
	};
	EVP_MAC_CTX *ctx;
	size_t len = 0;
	int ok;

	pthread_once(&fetch_once, fetch);
	assert(fetched);	/* part of OpenSSL's default provider */
	ctx = EVP_MAC_CTX_new(fetched);
	/* A key without bytes needs an address all the same: NULL would mean "the key of before". */
	ok = ctx != NULL && EVP_MAC_init(ctx, (const unsigned char *)(key.n ? key.p : ""), key.n, params);
	for (size_t i = 0; ok && i < count; i++)
		if (parts[i].n)
			ok = EVP_MAC_update(ctx, (const unsigned char *)parts[i].p, parts[i].n);
	if (!ok || !EVP_MAC_final(ctx, ret, &len, HMAC_SHA256_SIZE))	/* only for want of memory */
		mem_exhausted(HMAC_SHA256_SIZE);
	assert(len == HMAC_SHA256_SIZE);
	EVP_MAC_CTX_free(ctx);
}
