/* One call of OpenSSL, with the algorithm looked up beforehand. */
#include "codec/sha256.h"

#include "base/mem.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>

/* OpenSSL looks an algorithm up by name, under a lock, on each use of SHA256() or EVP_sha256(): 200 ns, as much as
 * hashing 300 bytes. It is fetched once here instead and belongs to the process. */
static pthread_once_t fetch_once = PTHREAD_ONCE_INIT;
static EVP_MD *fetched;

static void fetch(void)
{
	/* Without memory for the first, OpenSSL uses it all the same, and ends by a signal. */
	if (OSSL_LIB_CTX_get0_global_default() == NULL || (fetched = EVP_MD_fetch(NULL, "SHA256", NULL)) == NULL)
		mem_exhausted(0);	/* it is part of the default provider */
}

void sha256(struct str data, uint8_t ret[SHA256_SIZE])
{
	int ok;

	pthread_once(&fetch_once, fetch);
	ok = EVP_Digest(data.n ? data.p : "", data.n, ret, NULL, fetched, NULL);
	if (!ok)		/* only for want of memory */
		mem_exhausted(data.n);
}

void sha256_hex(struct str data, char ret[SHA256_HEX_SIZE])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t digest[SHA256_SIZE];

	sha256(data, digest);
	for (int i = 0; i < SHA256_SIZE; i++) {
		ret[2 * i] = hex[digest[i] >> 4];
		ret[2 * i + 1] = hex[digest[i] & 15];
	}
	ret[2 * SHA256_SIZE] = '\0';
}

bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE])
{
	return CRYPTO_memcmp(a, b, SHA256_SIZE) == 0;
}
