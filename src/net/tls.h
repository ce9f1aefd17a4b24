/* What a server needs to speak TLS: its certificate, its key, and whose certificates of clients it takes.
 *
 * TLS 1.2 and 1.3. Ciphers that authenticate what they encrypt, keys that are made for each connection; no compression,
 * no renegotiation, no early data. The files are read by tls_new, and again by tls_reload: connections that are open
 * go on with what they began with, those that come later get the new ones. Tickets for resuming a session end with a
 * reload, so that a client whose authority was taken away has to show its certificate again.
 */
#ifndef SPINE_NET_TLS_H
#define SPINE_NET_TLS_H

#include "base/buf.h"

struct ssl_st;
struct tls;

struct tls_files {
	const char *cert;	/* PEM: the certificate, then those that lead to its authority */
	const char *key;	/* PEM, without a passphrase; only its owner and a group may have access to it */
	const char *client_ca;	/* PEM: authorities of the clients' certificates; NULL: clients are not asked for one */
	bool client_required;	/* with client_ca: a client without a certificate is refused */
};

/* Returns owned; NULL and a sentence in *error where a file cannot be used. Borrows the paths. */
struct tls *tls_new(const struct tls_files *files, struct buf *error);
/* From any thread. False, a sentence in *error, and what was there before stays. */
bool tls_reload(struct tls *tls, struct buf *error);
/* From any thread: until when the certificate is valid, such as "Nov 18 12:00:00 2027 GMT". False where that is over,
 * by the wall clock, which clients go by, too. */
bool tls_valid_until(struct tls *tls, char *ret, size_t size);
/* From any thread. Returns owned (SSL_free): the server's side of a new connection, by the newest files. NULL where
 * there is no memory for it. */
struct ssl_st *tls_session_new(struct tls *tls);
/* NULL-safe. */
void tls_free(struct tls *tls);

#endif
