#include "admin/encrypted_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIND_X25519 = 1, KIND_RSA = 2, X25519_BYTES = 32, PASSPHRASE_MAX = 1024, RSA_BITS_MIN = 2048 };

static const char info[] = "memory-spine backup 1";

static bool hkdf(const unsigned char *shared, const unsigned char salt[2 * X25519_BYTES],
		 unsigned char ret_key[ENCRYPTED_KEY_BYTES])
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
	size_t len = ENCRYPTED_KEY_BYTES;
	bool ok = c && EVP_PKEY_derive_init(c) == 1 && EVP_PKEY_CTX_set_hkdf_md(c, EVP_sha256()) == 1 &&
		  EVP_PKEY_CTX_set1_hkdf_salt(c, salt, 2 * X25519_BYTES) == 1 &&
		  EVP_PKEY_CTX_set1_hkdf_key(c, shared, X25519_BYTES) == 1 &&
		  EVP_PKEY_CTX_add1_hkdf_info(c, (const unsigned char *)info, (int)strlen(info)) == 1 &&
		  EVP_PKEY_derive(c, ret_key, &len) == 1;

	EVP_PKEY_CTX_free(c);
	return ok;
}

/* What own shares with peer, made into a key; sender is the public key that stands in the file. */
static bool agree(EVP_PKEY *own, EVP_PKEY *peer, EVP_PKEY *sender, EVP_PKEY *receiver,
		  unsigned char ret_key[ENCRYPTED_KEY_BYTES])
{
	unsigned char shared[X25519_BYTES], salt[2 * X25519_BYTES];
	size_t len = sizeof(shared), first = X25519_BYTES, second = X25519_BYTES;
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
	bool ok = c && EVP_PKEY_derive_init(c) == 1 && EVP_PKEY_derive_set_peer(c, peer) == 1 &&
		  EVP_PKEY_derive(c, shared, &len) == 1 && len == sizeof(shared) &&
		  EVP_PKEY_get_raw_public_key(sender, salt, &first) == 1 &&
		  EVP_PKEY_get_raw_public_key(receiver, salt + X25519_BYTES, &second) == 1 &&
		  hkdf(shared, salt, ret_key);

	OPENSSL_cleanse(shared, sizeof(shared));
	EVP_PKEY_CTX_free(c);
	return ok;
}

static bool set_oaep(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_CTX_set_rsa_padding(c, RSA_PKCS1_OAEP_PADDING) == 1 &&
	       EVP_PKEY_CTX_set_rsa_oaep_md(c, EVP_sha256()) == 1 && EVP_PKEY_CTX_set_rsa_mgf1_md(c, EVP_sha256()) == 1;
}

/* --- For a new file --- */

static EVP_PKEY *read_public(const char *file, struct buf *error)
{
	FILE *f = fopen(file, "re");
	EVP_PKEY *key = f ? PEM_read_PUBKEY(f, NULL, NULL, NULL) : NULL;

	if (f == NULL)
		buf_printf(error, "cannot read the key %s: %s", file, strerror(errno));
	else if (key == NULL)
		buf_printf(error, "%s holds no public key in PEM form (\"BEGIN PUBLIC KEY\"); openssl pkey -in PRIVATE "
			   "-pubout makes one", file);
	if (f)
		fclose(f);
	ERR_clear_error();
	return key;
}

static bool make_x25519(EVP_PKEY *to, unsigned char *ret_wrapped, size_t *ret_len, unsigned char *ret_key)
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
	EVP_PKEY *own = NULL;
	bool ok = c && EVP_PKEY_keygen_init(c) == 1 && EVP_PKEY_keygen(c, &own) == 1;

	*ret_len = X25519_BYTES;
	ok = ok && EVP_PKEY_get_raw_public_key(own, ret_wrapped, ret_len) == 1 && agree(own, to, own, to, ret_key);
	EVP_PKEY_free(own);
	EVP_PKEY_CTX_free(c);
	return ok;
}

static bool make_rsa(EVP_PKEY *to, unsigned char *ret_wrapped, size_t *ret_len, unsigned char *ret_key)
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(to, NULL);
	bool ok;

	*ret_len = ENCRYPTED_WRAPPED_MAX;
	ok = c && RAND_bytes(ret_key, ENCRYPTED_KEY_BYTES) == 1 && EVP_PKEY_encrypt_init(c) == 1 && set_oaep(c) &&
	     EVP_PKEY_encrypt(c, ret_wrapped, ret_len, ret_key, ENCRYPTED_KEY_BYTES) == 1;
	EVP_PKEY_CTX_free(c);
	return ok;
}

int encrypted_key_make(const char *to, unsigned char ret_wrapped[ENCRYPTED_WRAPPED_MAX], size_t *ret_len,
		       unsigned char ret_key[ENCRYPTED_KEY_BYTES], struct buf *error)
{
	EVP_PKEY *key = read_public(to, error);
	int type = key ? EVP_PKEY_base_id(key) : 0, kind = 0;

	if (type == EVP_PKEY_RSA && EVP_PKEY_bits(key) < RSA_BITS_MIN)
		buf_printf(error, "the RSA key %s has %d bits; %d is the least", to, EVP_PKEY_bits(key), RSA_BITS_MIN);
	else if (type == EVP_PKEY_X25519)
		kind = make_x25519(key, ret_wrapped, ret_len, ret_key) ? KIND_X25519 : 0;
	else if (type == EVP_PKEY_RSA)
		kind = make_rsa(key, ret_wrapped, ret_len, ret_key) ? KIND_RSA : 0;
	else if (key)
		buf_printf(error, "the key %s is neither of X25519 nor of RSA", to);
	if (kind == 0 && error->len == 0)
		buf_printf(error, "OpenSSL could not encrypt with the key %s", to);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return kind;
}

/* --- For one that is there --- */

/* A file that others can read is no secret. */
static FILE *open_private(const char *file, struct buf *error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	FILE *f = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		buf_printf(error, "cannot read %s: %s", file, strerror(errno));
	else if (st.st_mode & 077)
		buf_printf(error, "others than its owner can read %s: chmod 600 %s", file, file);
	else
		f = fdopen(fd, "r");
	if (f == NULL && fd >= 0)
		close(fd);
	return f;
}

/* The first line, without its end; -1 and a sentence where there is none. */
static int read_passphrase(const char *file, char ret[PASSPHRASE_MAX], struct buf *error)
{
	FILE *f = open_private(file, error);
	int len = -1;

	if (f && fgets(ret, PASSPHRASE_MAX, f))
		len = (int)strcspn(ret, "\r\n");
	if (f && len <= 0)
		buf_printf(error, "there is no passphrase in the first line of %s", file);
	if (f)
		fclose(f);
	return len > 0 ? len : -1;
}

struct passphrase {
	char text[PASSPHRASE_MAX];
	int len;		/* 0: none is known */
	bool was_asked;
};

static int give_passphrase(char *buf, int size, int is_write, void *ctx)
{
	struct passphrase *p = ctx;

	(void)is_write;
	p->was_asked = true;
	if (p->len == 0 || p->len > size)
		return -1;
	memcpy(buf, p->text, (size_t)p->len);
	return p->len;
}

static EVP_PKEY *read_private(const struct encrypted_key *with, struct buf *error)
{
	struct passphrase p = {.len = 0};
	EVP_PKEY *key = NULL;
	FILE *f = NULL;

	if (with->passphrase_file)
		p.len = read_passphrase(with->passphrase_file, p.text, error);
	if (p.len >= 0)
		f = open_private(with->file, error);
	if (f) {
		key = PEM_read_PrivateKey(f, NULL, give_passphrase, &p);
		fclose(f);
		if (key == NULL && p.was_asked)
			buf_printf(error, p.len ? "the passphrase does not open the key %s" : "the key %s needs a "
				   "passphrase: name a file that holds it with --passphrase-file", with->file);
		else if (key == NULL)
			buf_printf(error, "%s holds no private key in PEM form", with->file);
	}
	OPENSSL_cleanse(&p, sizeof(p));
	ERR_clear_error();
	return key;
}

static bool open_x25519(EVP_PKEY *own, const unsigned char *wrapped, size_t len, unsigned char *ret_key)
{
	EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, wrapped, len);
	bool ok = peer && agree(own, peer, peer, own, ret_key);

	EVP_PKEY_free(peer);
	return ok;
}

static bool open_rsa(EVP_PKEY *own, const unsigned char *wrapped, size_t len, unsigned char *ret_key)
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
	unsigned char out[ENCRYPTED_WRAPPED_MAX];
	size_t n = sizeof(out);
	bool ok = c && EVP_PKEY_decrypt_init(c) == 1 && set_oaep(c) &&
		  EVP_PKEY_decrypt(c, out, &n, wrapped, len) == 1 && n == ENCRYPTED_KEY_BYTES;

	if (ok)
		memcpy(ret_key, out, ENCRYPTED_KEY_BYTES);
	OPENSSL_cleanse(out, sizeof(out));
	EVP_PKEY_CTX_free(c);
	return ok;
}

bool encrypted_key_open(const struct encrypted_key *with, const char *file, int kind, const unsigned char *wrapped,
			size_t len, unsigned char ret_key[ENCRYPTED_KEY_BYTES], struct buf *error)
{
	EVP_PKEY *own = read_private(with, error);
	int type = own ? EVP_PKEY_base_id(own) : 0;
	bool ok = false;

	if (own && type != (kind == KIND_X25519 ? EVP_PKEY_X25519 : EVP_PKEY_RSA))
		buf_printf(error, "%s was encrypted to a key of another kind than %s", file, with->file);
	else if (own) {
		ok = kind == KIND_X25519 ? open_x25519(own, wrapped, len, ret_key)
					 : open_rsa(own, wrapped, len, ret_key);
		if (!ok)
			buf_printf(error, "%s cannot be opened with this key, or its beginning is damaged", file);
	}
	EVP_PKEY_free(own);
	ERR_clear_error();
	return ok;
}
