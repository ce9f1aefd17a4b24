/* Certificates: those that the server shows, and those of authorities that it trusts. */
#ifndef SPINE_SERVE_CERTIFICATES_H
#define SPINE_SERVE_CERTIFICATES_H

#include "base/buf.h"
#include "base/log.h"
#include "net/tls.h"

/* The file holds a certificate; false and a sentence that names the option. One that cannot be used is said at the
 * start, not with the first post. NULL is none. */
bool certificates_check_authorities(const char *ca_file, struct buf *error);

/* Sets *ret_tls to what HTTPS is spoken with, owned; to NULL where files->cert is NULL. False and a sentence. */
bool certificates_open(const struct tls_files *files, struct tls **ret_tls, struct buf *error);
/* Says until when the certificate is valid. */
void certificates_say(struct tls *tls, const struct log *log);
/* Reads the files again, and logs what came of it. */
void certificates_reload(struct tls *tls, const struct log *log);

#endif
