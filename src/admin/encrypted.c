#include "admin/encrypted.h"

#include "admin/encrypted_key.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const unsigned char magic[8] = "SPNENC1\n";

enum { CHUNK = 65536, TAG = 16, NONCE = 12, HEAD = 8 + 1 + 2, HEAD_MAX = HEAD + ENCRYPTED_WRAPPED_MAX };

/* One direction of one file. */
struct stream {
	EVP_CIPHER_CTX *cipher;
	unsigned char head[HEAD_MAX];
	size_t head_len;
	unsigned char key[ENCRYPTED_KEY_BYTES];
	uint64_t number;	/* of the next chunk */
	unsigned char in[CHUNK + TAG];
	unsigned char out[CHUNK + TAG];
};

static struct stream *stream_new(void)
{
	struct stream *s = mem_zalloc(sizeof(*s));

	s->cipher = EVP_CIPHER_CTX_new();
	return s;
}

/* The key and the text do not stay in memory that is used again. */
static void stream_free(struct stream *s)
{
	EVP_CIPHER_CTX_free(s->cipher);
	OPENSSL_cleanse(s, sizeof(*s));
	free(s);
}

static void put_nonce(const struct stream *s, bool is_last, unsigned char ret[NONCE])
{
	memset(ret, 0, NONCE);
	for (int i = 0; i < 8; i++)
		ret[3 + i] = (unsigned char)(s->number >> (56 - 8 * i));
	ret[11] = is_last;
}

/* len bytes of in become len + TAG of out. */
static bool seal_chunk(struct stream *s, int len, bool is_last)
{
	unsigned char nonce[NONCE];
	int n = 0;
	bool ok;

	put_nonce(s, is_last, nonce);
	ok = EVP_EncryptInit_ex(s->cipher, EVP_aes_256_gcm(), NULL, s->key, nonce) == 1 &&
	     EVP_EncryptUpdate(s->cipher, NULL, &n, s->head, (int)s->head_len) == 1 &&
	     EVP_EncryptUpdate(s->cipher, s->out, &n, s->in, len) == 1 &&
	     EVP_EncryptFinal_ex(s->cipher, s->out + len, &n) == 1 &&
	     EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_GCM_GET_TAG, TAG, s->out + len) == 1;
	s->number++;
	return ok;
}

/* The other way; false where it is not what was written there. */
static bool open_chunk(struct stream *s, int len, bool is_last)
{
	unsigned char nonce[NONCE];
	int n = 0;

	put_nonce(s, is_last, nonce);
	return EVP_DecryptInit_ex(s->cipher, EVP_aes_256_gcm(), NULL, s->key, nonce) == 1 &&
	       EVP_DecryptUpdate(s->cipher, NULL, &n, s->head, (int)s->head_len) == 1 &&
	       EVP_DecryptUpdate(s->cipher, s->out, &n, s->in, len) == 1 &&
	       EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_GCM_SET_TAG, TAG, s->in + len) == 1 &&
	       EVP_DecryptFinal_ex(s->cipher, s->out + len, &n) == 1;
}

static bool write_new(FILE *f, const char *file, bool ok, struct buf *error)
{
	ok = ok && fflush(f) == 0 && fsync(fileno(f)) == 0;
	if (!ok && error->len == 0)
		buf_printf(error, "cannot write %s: %s", file, strerror(errno));
	if (fclose(f) != 0)
		ok = false;
	if (!ok)
		unlink(file);
	return ok;
}

static FILE *open_new(const char *file, struct buf *error)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (f == NULL)
		buf_printf(error, "cannot make %s: %s", file, strerror(errno));
	return f;
}

/* --- Writing --- */

bool encrypted_key_is_good(const char *to, struct buf *error)
{
	struct stream *s = stream_new();
	bool ok = encrypted_key_make(to, s->head, &s->head_len, s->key, error);

	stream_free(s);
	return ok;
}

static bool start_writing(struct stream *s, const char *to, struct buf *error)
{
	unsigned char wrapped[ENCRYPTED_WRAPPED_MAX];
	size_t len;
	int kind = encrypted_key_make(to, wrapped, &len, s->key, error);

	if (kind == 0)
		return false;
	memcpy(s->head, magic, sizeof(magic));
	s->head[8] = (unsigned char)kind;
	s->head[9] = (unsigned char)(len >> 8);
	s->head[10] = (unsigned char)len;
	memcpy(s->head + HEAD, wrapped, len);
	s->head_len = HEAD + len;
	return true;
}

static bool write_chunks(struct stream *s, FILE *in, FILE *out)
{
	bool ok = fwrite(s->head, 1, s->head_len, out) == s->head_len, is_last = false;

	while (ok && !is_last) {
		size_t n = fread(s->in, 1, CHUNK, in);
		int next = n == CHUNK ? getc(in) : EOF;

		is_last = next == EOF;
		if (!is_last)
			ungetc(next, in);
		ok = !ferror(in) && seal_chunk(s, (int)n, is_last) && fwrite(s->out, 1, n + TAG, out) == n + TAG;
	}
	return ok;
}

bool encrypted_write(const char *from, const char *file, const char *to, struct buf *error)
{
	struct stream *s = stream_new();
	FILE *in = fopen(from, "re"), *out = NULL;
	bool ok = in != NULL;

	if (!ok)
		buf_printf(error, "cannot read %s: %s", from, strerror(errno));
	ok = ok && start_writing(s, to, error) && (out = open_new(file, error)) != NULL;
	if (out)
		ok = write_new(out, file, write_chunks(s, in, out), error);
	if (in)
		fclose(in);
	stream_free(s);
	return ok;
}

/* --- Reading --- */

static bool start_reading(struct stream *s, FILE *in, const char *file, const struct encrypted_key *key,
			  struct buf *error)
{
	size_t len;

	if (fread(s->head, 1, HEAD, in) != HEAD || memcmp(s->head, magic, sizeof(magic)) != 0) {
		buf_printf(error, "%s is not an encrypted backup", file);
		return false;
	}
	len = (size_t)s->head[9] << 8 | s->head[10];
	if (len > ENCRYPTED_WRAPPED_MAX || fread(s->head + HEAD, 1, len, in) != len) {
		buf_printf(error, "%s is damaged, or cut off: its beginning is not whole", file);
		return false;
	}
	s->head_len = HEAD + len;
	return encrypted_key_open(key, file, s->head[8], s->head + HEAD, len, s->key, error);
}

/* The first one that cannot be opened is most often a matter of the key. */
static void say_why(struct stream *s, const char *file, int len, bool is_last, struct buf *error)
{
	if (is_last && len >= 0 && open_chunk(s, len, false))
		buf_printf(error, "%s is cut off: its end is missing", file);
	else if (is_last && len < 0)
		buf_printf(error, "%s is cut off within its last part", file);
	else if (s->number == 0)
		buf_printf(error, "%s cannot be opened with this key, or its beginning is damaged", file);
	else
		buf_printf(error, "%s is damaged at byte %llu or behind it", file,
			   (unsigned long long)(s->head_len + s->number * (CHUNK + TAG)));
}

/* out may be NULL. */
static bool read_chunks(struct stream *s, FILE *in, const char *file, FILE *out, struct buf *error)
{
	bool ok = true, is_last = false;

	while (ok && !is_last) {
		size_t n = fread(s->in, 1, sizeof(s->in), in);
		int len = (int)n - TAG, next = n == sizeof(s->in) ? getc(in) : EOF;

		is_last = next == EOF;
		if (!is_last)
			ungetc(next, in);
		if (ferror(in)) {
			buf_printf(error, "cannot read %s: %s", file, strerror(errno));
			return false;
		}
		ok = len >= 0 && open_chunk(s, len, is_last);
		if (!ok)
			say_why(s, file, len, is_last, error);
		ok = ok && (out == NULL || fwrite(s->out, 1, (size_t)len, out) == (size_t)len);
		s->number++;
	}
	return ok;
}

static bool decrypt(const char *file, const struct encrypted_key *key, const char *to, struct buf *error)
{
	struct stream *s = stream_new();
	FILE *in = fopen(file, "re"), *out = NULL;
	bool ok = in != NULL;

	if (!ok)
		buf_printf(error, "cannot read %s: %s", file, strerror(errno));
	ok = ok && start_reading(s, in, file, key, error);
	if (ok && to)
		ok = (out = open_new(to, error)) != NULL;
	ok = ok && read_chunks(s, in, file, out, error);
	if (out)
		ok = write_new(out, to, ok, error);
	if (in)
		fclose(in);
	stream_free(s);
	return ok;
}

bool encrypted_verify(const char *file, const struct encrypted_key *key, struct buf *error)
{
	return decrypt(file, key, NULL, error);
}

bool encrypted_read(const char *file, const struct encrypted_key *key, const char *to, struct buf *error)
{
	return decrypt(file, key, to, error);
}

bool encrypted_is(const char *file)
{
	unsigned char start[sizeof(magic)];
	FILE *f = fopen(file, "re");
	bool is = f && fread(start, 1, sizeof(start), f) == sizeof(start) && memcmp(start, magic, sizeof(magic)) == 0;

	if (f)
		fclose(f);
	return is;
}
