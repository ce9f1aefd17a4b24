/* A connection's TLS: what was read is decrypted before it is taken, what is to be sent is encrypted as the client
 * takes it.
 *
 * OpenSSL reads and writes through a BIO of ours that keeps nothing: it reads from the bytes of the read under way, all
 * of which OpenSSL has taken when it asks for more, and writes into a buffer of the loop, which is sent before anything
 * else happens. So what a connection keeps beside OpenSSL's own state is a part of a record, and that only while the
 * rest of it has not come.
 *
 * A reply waits as plain text, and STEP_BYTES of it are encrypted whenever the kernel has taken those before: a large
 * reply to a slow reader is not in memory twice, and one that is shared (buf_share) not even once.
 *
 * Nothing is made for a connection before its first byte. If that is a letter, somebody speaks plain HTTP here, and is
 * told so, in plain HTTP.
 */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

enum {
	STEP_BYTES = 65536,
	STRANGER_STEP_BYTES = 16384,		/* a record: what the kernel does not take of a step is kept */
	CIPHER_KEPT_BYTES = 2 * STEP_BYTES,	/* a buffer that has grown past this is given back */
	/* More than a step of a reply stands before the kernel only where a client has the protocol itself say much,
	 * and does not read it. */
	CIPHER_QUEUED_MAX = 4 * STEP_BYTES,
	FIRST_BYTE = 22,			/* of a handshake: RFC 8446, 5.1 */
};

/* Plain text that waits. */
struct piece {
	struct list link;
	size_t at;
	size_t len;
	char *data;	/* owned, unless it is shared */
	bool is_shared;
	atomic_size_t *budget;	/* that its bytes are counted in, unless it is shared */
};

struct http_tls {
	SSL *ssl;
	struct str in;		/* of the read under way: what OpenSSL has not taken yet */
	struct list out;	/* of pieces */
	size_t out_bytes;	/* in them */
	bool is_over;		/* nothing may be asked of ssl any more */
};

/* --- The BIO --------------------------------------------------------------------------------- */

static int bio_read(BIO *bio, char *ret, int size)
{
	struct http_conn *conn = BIO_get_data(bio);
	struct str *in = &conn->tls->in;
	size_t len = in->n < (size_t)size ? in->n : (size_t)size;

	BIO_clear_retry_flags(bio);
	if (len == 0) {
		BIO_set_retry_read(bio);
		return -1;
	}
	memcpy(ret, in->p, len);
	*in = (struct str){in->p + len, in->n - len};
	return (int)len;
}

static int bio_write(BIO *bio, const char *data, int len)
{
	struct http_conn *conn = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	buf_append(&conn->loop->cipher, data, (size_t)len);
	return len;
}

static long bio_ctrl(BIO *bio, int what, long number, void *arg)
{
	(void)bio;
	(void)number;
	(void)arg;
	return what == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

struct bio_method_st *http_tls_method_new(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "connection");

	if (method == NULL)
		mem_exhausted(0);
	BIO_meth_set_read(method, bio_read);
	BIO_meth_set_write(method, bio_write);
	BIO_meth_set_ctrl(method, bio_ctrl);
	BIO_meth_set_create(method, bio_create);
	return method;
}

void http_tls_method_free(struct bio_method_st *method)
{
	BIO_meth_free(method);
}

/* --- Writing --------------------------------------------------------------------------------- */

/* Sends what OpenSSL has written. */
static void flush(struct http_conn *conn)
{
	struct buf *cipher = &conn->loop->cipher;

	if (cipher->len > 0 && conn->state != HTTP_CONN_CLOSED)
		http_conn_write(conn, buf_str(cipher), NULL);
	if (cipher->cap > CIPHER_KEPT_BYTES)
		buf_release(cipher);
	else
		buf_clear(cipher);
}

/* At most a step of it. Returns how much was given to the kernel or queued for it; 0 on failure. */
static size_t encrypt(struct http_conn *conn, const char *data, size_t len)
{
	struct http_tls *tls = conn->tls;
	size_t step = conn->is_stranger ? STRANGER_STEP_BYTES : STEP_BYTES;

	if (len > step)
		len = step;
	ERR_clear_error();
	if (tls->is_over || SSL_write(tls->ssl, data, (int)len) != (int)len) {
		tls->is_over = true;
		buf_clear(&conn->loop->cipher);
		http_conn_fail(conn);
		return 0;
	}
	flush(conn);
	return len;
}

static bool has_kernel_taken_all(const struct http_conn *conn)
{
	return uv_stream_get_write_queue_size((const uv_stream_t *)&conn->tcp) == 0;
}

static void count(struct http_conn *conn, const struct piece *piece, size_t more, size_t less)
{
	conn->tls->out_bytes += more - less;
	if (more && !piece->is_shared)
		atomic_fetch_add_explicit(piece->budget, more, memory_order_relaxed);
	if (less && !piece->is_shared)
		atomic_fetch_sub_explicit(piece->budget, less, memory_order_relaxed);
}

static void drop(struct http_conn *conn, struct piece *piece)
{
	count(conn, piece, 0, piece->len - piece->at);
	list_remove(&piece->link);
	if (!piece->is_shared) {
		mem_wipe(piece->data, piece->len);
		free(piece->data);
	}
	free(piece);
}

void http_tls_pump(struct http_conn *conn)
{
	struct http_tls *tls = conn->tls;

	while (!list_is_empty(&tls->out) && !conn->has_failed && has_kernel_taken_all(conn)) {
		struct piece *piece = LIST_ELEMENT(tls->out.next, struct piece, link);
		size_t done = encrypt(conn, piece->data + piece->at, piece->len - piece->at);

		piece->at += done;
		count(conn, piece, 0, done);
		if (piece->at == piece->len)
			drop(conn, piece);
	}
}

/* Takes data, unless it is shared. */
static void put_off(struct http_conn *conn, char *data, size_t at, size_t len, bool is_shared)
{
	struct piece *piece = mem_alloc(sizeof(*piece));

	if (http_conn_queued(conn) == 0 && (conn->state == HTTP_CONN_HELD || conn->state == HTTP_CONN_WRITING))
		conn->is_timed = false;
	*piece = (struct piece){.at = at, .len = len, .data = data, .is_shared = is_shared,
				.budget = http_conn_budget(conn)};
	list_add(&conn->tls->out, &piece->link);
	count(conn, piece, len - at, 0);
	conn->queued_total += len - at;
}

static size_t encrypt_now(struct http_conn *conn, const char *data, size_t len)
{
	size_t done = 0, step = 1;

	while (done < len && step > 0 && !conn->has_failed && http_conn_queued(conn) == 0) {
		step = encrypt(conn, data + done, len - done);
		done += step;
	}
	return done;
}

void http_tls_send(struct http_conn *conn, struct str head, struct buf *body)
{
	size_t body_len = body ? body->len : 0, head_done, body_done = 0;
	bool is_shared = body && body->is_shared;

	head_done = encrypt_now(conn, head.p, head.n);
	if (!conn->has_failed && head_done < head.n) {
		char *copy = mem_alloc(head.n - head_done);

		memcpy(copy, head.p + head_done, head.n - head_done);
		put_off(conn, copy, 0, head.n - head_done, false);
	}
	if (body_len > 0)
		body_done = encrypt_now(conn, body->data, body_len);
	if (!conn->has_failed && body_done < body_len)
		put_off(conn, body->is_shared ? body->data : buf_take(body), body_done, body_len, is_shared);
	if (body)
		buf_release(body);
}

size_t http_tls_queued(const struct http_conn *conn)
{
	return conn->tls->out_bytes;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* After something that OpenSSL takes for the end of it all. What it says to the client about it goes out first. */
static void broken(struct http_conn *conn, const char *what)
{
	unsigned long code = ERR_peek_last_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	conn->tls->is_over = true;
	log_write(conn->loop->server->config.log, LOG_DEBUG, what, LOG_STR("reason", reason ? reason : "unknown"));
	ERR_clear_error();
	flush(conn);
}

static void handshake(struct http_conn *conn)
{
	struct http_tls *tls = conn->tls;
	int result;

	ERR_clear_error();
	result = SSL_do_handshake(tls->ssl);
	if (result == 1) {
		flush(conn);
		atomic_fetch_add_explicit(&conn->loop->handshakes, 1, memory_order_relaxed);
		http_conn_set_state(conn, HTTP_CONN_IDLE);
		if (conn->is_turned_away)
			http_conn_turn_away(conn);
	} else if (SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ) {
		flush(conn);
	} else {
		atomic_fetch_add_explicit(&conn->loop->handshakes_failed, 1, memory_order_relaxed);
		broken(conn, "a TLS handshake failed");
		http_conn_set_state(conn, HTTP_CONN_WRITING);
		conn->is_last = conn->may_send = true;
		if (http_conn_queued(conn) == 0)
			http_conn_flushed(conn);
	}
}

/* False where there is no more for now. */
static bool read_some(struct http_conn *conn)
{
	struct http_tls *tls = conn->tls;
	const struct http_loop *loop = conn->loop;
	uv_buf_t room = http_conn_room(conn);
	int len;

	ERR_clear_error();
	len = SSL_read(tls->ssl, room.base, (int)room.len);
	if (len > 0) {
		flush(conn);
		http_conn_received(conn, room.base, (size_t)len);
		if (room.base == loop->plain_buf)
			mem_wipe(room.base, (size_t)len);
		return true;
	}
	switch (SSL_get_error(tls->ssl, len)) {
	case SSL_ERROR_WANT_READ:
		flush(conn);
		break;
	case SSL_ERROR_ZERO_RETURN:
		flush(conn);
		http_conn_ended(conn, false);
		break;
	default:
		broken(conn, "a TLS connection broke");
		http_conn_ended(conn, true);
		break;
	}
	return false;
}

static struct http_tls *begin(struct http_conn *conn)
{
	struct http_server *server = conn->loop->server;
	struct http_tls *tls = mem_zalloc(sizeof(*tls));
	BIO *bio = BIO_new(server->tls_method);

	tls->ssl = tls_session_new(server->config.tls);
	if (tls->ssl == NULL || bio == NULL)
		mem_exhausted(0);
	BIO_set_data(bio, conn);
	SSL_set_bio(tls->ssl, bio, bio);
	list_init(&tls->out);
	return tls;
}

static void refuse_plain(struct http_conn *conn)
{
	http_conn_set_state(conn, HTTP_CONN_IDLE);
	http_conn_refuse(conn, 400, "tls_expected", "This port speaks HTTPS only: use an address that begins with "
			 "https://.");
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

void http_tls_input(struct http_conn *conn, const char *data, size_t len)
{
	if (conn->tls == NULL && data[0] != FIRST_BYTE) {
		if (is_letter(data[0]))
			refuse_plain(conn);
		else
			http_conn_lose(conn);
		return;
	}
	if (conn->tls == NULL)
		conn->tls = begin(conn);
	assert(conn->loop->cipher.len == 0 && conn->tls->in.n == 0);
	conn->tls->in = (struct str){data, len};
	if (conn->state == HTTP_CONN_HANDSHAKE)
		handshake(conn);
	while (conn->state >= HTTP_CONN_IDLE && conn->state <= HTTP_CONN_WRITING && !conn->has_eof &&
	       !conn->tls->is_over && read_some(conn))
		;
	conn->tls->in = (struct str){0};
	if (conn->state != HTTP_CONN_CLOSED &&
	    uv_stream_get_write_queue_size((uv_stream_t *)&conn->tcp) > CIPHER_QUEUED_MAX)
		http_conn_lose(conn);
}

/* --- The end --------------------------------------------------------------------------------- */

void http_tls_say_end(struct http_conn *conn)
{
	if (conn->tls == NULL || conn->tls->is_over || conn->state == HTTP_CONN_HANDSHAKE)
		return;
	ERR_clear_error();
	SSL_shutdown(conn->tls->ssl);
	conn->tls->is_over = true;
	flush(conn);
}

void http_tls_free(struct http_conn *conn)
{
	if (conn->tls == NULL)
		return;
	while (!list_is_empty(&conn->tls->out))
		drop(conn, LIST_ELEMENT(conn->tls->out.next, struct piece, link));
	SSL_free(conn->tls->ssl);
	free(conn->tls);
	conn->tls = NULL;
}
