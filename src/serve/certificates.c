#include "serve/certificates.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>

bool certificates_check_authorities(const char *ca_file, struct buf *error)
{
	FILE *f = ca_file ? fopen(ca_file, "re") : NULL;
	X509 *first = NULL;

	if (ca_file && f == NULL) {
		buf_printf(error, "--ca-file: cannot read %.400s: %s", ca_file, strerror(errno));
		return false;
	}
	if (f) {
		first = PEM_read_X509(f, NULL, NULL, NULL);
		fclose(f);
		ERR_clear_error();
		if (first == NULL)
			buf_printf(error, "--ca-file: %.400s holds no certificate in PEM form", ca_file);
	}
	X509_free(first);
	return ca_file == NULL || first;
}

bool certificates_open(const struct tls_files *files, struct tls **ret_tls, struct buf *error)
{
	const char *missing = files->cert == NULL ? "--tls-cert" : files->key == NULL ? "--tls-key" : NULL;
	bool is_wanted = files->cert || files->key || files->client_ca;

	*ret_tls = NULL;
	if (!is_wanted)
		return true;
	if (missing) {
		buf_printf(error, "%s is missing: HTTPS needs a certificate and its key", missing);
		return false;
	}
	buf_puts(error, "cannot serve HTTPS: ");
	*ret_tls = tls_new(files, error);
	if (*ret_tls)
		buf_clear(error);
	return *ret_tls != NULL;
}

static void say(struct tls *tls, const struct log *log, const char *what)
{
	char until[64];
	bool is_valid = tls_valid_until(tls, until, sizeof(until));

	log_write(log, LOG_INFO, what, LOG_STR("valid_until", until));
	if (!is_valid)
		log_write(log, LOG_WARN, "the certificate has expired, and clients refuse it; put a new one in its "
			  "place, then send SIGHUP", LOG_STR("valid_until", until));
}

void certificates_say(struct tls *tls, const struct log *log)
{
	say(tls, log, "certificate");
}

void certificates_reload(struct tls *tls, const struct log *log)
{
	struct buf error;

	buf_init(&error, 4096);
	if (tls_reload(tls, &error))
		say(tls, log, "the certificate was read again");
	else
		log_write(log, LOG_ERROR, "the certificate could not be read again; the one before stays in use",
			  LOG_STR("error", error.data));
	buf_release(&error);
}
