#include "net/tls.h"

#include "base/mem.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Of TLS 1.2; all of those of 1.3 are of this kind. RFC 9325, 4.2. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

struct tls {
	struct tls_files files;
	pthread_mutex_t lock;	/* guards ctx */
	SSL_CTX *ctx;
};

static bool no_memory(struct buf *error)
{
	ERR_clear_error();
	buf_puts(error, "OpenSSL cannot make a context for TLS");
	return false;
}

/* What OpenSSL says about the last failure, such as "no start line". */
static const char *reason(void)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = code ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	return text ? text : "unknown reason";
}

/* A key without a passphrase is asked for: nobody is there who could type one. */
static int no_passphrase(char *ret, int size, int is_writing, void *arg)
{
	(void)ret;
	(void)size;
	(void)is_writing;
	(void)arg;
	return -1;
}

static bool can_read(const char *what, const char *path, struct buf *error)
{
	FILE *f = fopen(path, "re");

	if (f == NULL) {
		buf_printf(error, "the %s %.400s cannot be read: %s", what, path, strerror(errno));
		return false;
	}
	fclose(f);
	return true;
}

/* A group is often there to share keys among services; everybody on the machine is too many. */
static bool is_private(const char *path, struct buf *error)
{
	struct stat st;

	if (stat(path, &st) != 0 || (st.st_mode & S_IRWXO) == 0)
		return true;
	buf_printf(error, "the key %.400s can be read by every user of this machine; make it private: "
		   "chmod o-rwx %.400s", path, path);
	return false;
}

static bool load_own(SSL_CTX *ctx, const struct tls_files *files, struct buf *error)
{
	if (!can_read("certificate", files->cert, error) || !can_read("key", files->key, error) ||
	    !is_private(files->key, error))
		return false;
	if (SSL_CTX_use_certificate_chain_file(ctx, files->cert) != 1) {
		buf_printf(error, "%.400s holds no certificate in PEM form that can be used: %s", files->cert,
			   reason());
		return false;
	}
	if (SSL_CTX_use_PrivateKey_file(ctx, files->key, SSL_FILETYPE_PEM) != 1) {
		buf_printf(error, "%.400s holds no key in PEM form for %.400s (one with a passphrase cannot be "
			   "used): %s", files->key, files->cert, reason());
		return false;
	}
	if (SSL_CTX_check_private_key(ctx) != 1) {
		buf_printf(error, "the key %.400s is not that of the certificate %.400s: %s", files->key, files->cert,
			   reason());
		return false;
	}
	return true;
}

static bool load_clients(SSL_CTX *ctx, const struct tls_files *files, struct buf *error)
{
	int mode = SSL_VERIFY_PEER | (files->client_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
	STACK_OF(X509_NAME) *names;

	if (files->client_ca == NULL)
		return true;
	if (!can_read("file of authorities", files->client_ca, error))
		return false;
	names = SSL_load_client_CA_file(files->client_ca);
	if (names == NULL || SSL_CTX_load_verify_file(ctx, files->client_ca) != 1) {
		sk_X509_NAME_pop_free(names, X509_NAME_free);
		buf_printf(error, "%.400s holds no certificate in PEM form: %s", files->client_ca, reason());
		return false;
	}
	SSL_CTX_set_client_CA_list(ctx, names);
	SSL_CTX_set_verify(ctx, mode, NULL);
	return true;
}

/* http/1.1, where the client names protocols; one that names others only is told that there is none. */
static int select_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len, const unsigned char *offered,
			   unsigned int len, void *arg)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *found = NULL;

	(void)ssl;
	(void)arg;
	if (SSL_select_next_proto(&found, ret_len, ours, sizeof(ours) - 1, offered, len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*ret = found;
	return SSL_TLSEXT_ERR_OK;
}

/* Returns owned; NULL and a sentence. */
static SSL_CTX *load(const struct tls_files *files, struct buf *error)
{
	static const unsigned char name[] = "http";
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, CIPHERS) != 1 ||
	    SSL_CTX_set_session_id_context(ctx, name, sizeof(name) - 1) != 1) {
		SSL_CTX_free(ctx);
		no_memory(error);
		return NULL;
	}
	SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CLEANSE_PLAINTEXT);
	/* An idle connection keeps no buffers; a session is kept by its client, as a ticket. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 1);
	SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
	SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
	if (!load_own(ctx, files, error) || !load_clients(ctx, files, error)) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	ERR_clear_error();
	return ctx;
}

struct tls *tls_new(const struct tls_files *files, struct buf *error)
{
	SSL_CTX *ctx = load(files, error);
	struct tls *tls;

	if (ctx == NULL)
		return NULL;
	tls = mem_zalloc(sizeof(*tls));
	tls->files = *files;
	tls->ctx = ctx;
	pthread_mutex_init(&tls->lock, NULL);
	return tls;
}

bool tls_reload(struct tls *tls, struct buf *error)
{
	SSL_CTX *ctx = load(&tls->files, error), *before;

	if (ctx == NULL)
		return false;
	pthread_mutex_lock(&tls->lock);
	before = tls->ctx;
	tls->ctx = ctx;
	pthread_mutex_unlock(&tls->lock);
	SSL_CTX_free(before);
	return true;
}

bool tls_valid_until(struct tls *tls, char *ret, size_t size)
{
	BIO *text = BIO_new(BIO_s_mem());
	const ASN1_TIME *end;
	char *data = NULL;
	long len = 0;
	bool is_over;

	pthread_mutex_lock(&tls->lock);
	end = X509_get0_notAfter(SSL_CTX_get0_certificate(tls->ctx));
	is_over = X509_cmp_current_time(end) < 0;
	if (text && ASN1_TIME_print(text, end) == 1)
		len = BIO_get_mem_data(text, &data);
	pthread_mutex_unlock(&tls->lock);
	snprintf(ret, size, "%.*s", (int)len, len > 0 ? data : "");
	BIO_free(text);
	return !is_over;
}

struct ssl_st *tls_session_new(struct tls *tls)
{
	SSL *ssl;

	pthread_mutex_lock(&tls->lock);
	ssl = SSL_new(tls->ctx);
	pthread_mutex_unlock(&tls->lock);
	if (ssl)
		SSL_set_accept_state(ssl);
	return ssl;
}

void tls_free(struct tls *tls)
{
	if (tls == NULL)
		return;
	SSL_CTX_free(tls->ctx);
	pthread_mutex_destroy(&tls->lock);
	free(tls);
}
