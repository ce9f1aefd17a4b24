#include "transfer.h"

#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	CONNECT_TIMEOUT_MS = 5000,
	SILENCE_MS = 60000,		/* of a stream, which has a heartbeat */
	URL_MAX_BYTES = 65536,
	HEADER_MAX_BYTES = 4096,
	HEADERS_MAX_BYTES = 256 * 1024,	/* of an answer, all lines together */
	RETRY_AFTER_MAX_S = 86400,
};

/* --- What comes in --- */

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct msi_transfer *t = arg;
	long status = 0;

	if (t->request->on_data && curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
	    status / 100 == 2) {
		t->has_begun = true;
		t->was_ended = !t->request->on_data(t->request->data_arg, data, size * count);
		return t->was_ended ? 0 : size * count;
	}
	msi_buffer_append(&t->answer->body, data, size * count);
	return msi_buffer_failed(&t->answer->body) ? 0 : size * count;
}

struct header {
	const char *name, *value;
	size_t name_len, value_len;
};

/* False for what is none: the status line, and the empty one at the end. */
static bool split_header(const char *line, size_t len, struct header *ret)
{
	const char *colon = memchr(line, ':', len);
	const char *value = colon ? colon + 1 : NULL, *end = line + len;

	if (colon == NULL)
		return false;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && strchr(" \t\r\n", end[-1]))
		end--;
	*ret = (struct header){line, value, (size_t)(colon - line), (size_t)(end - value)};
	return true;
}

static bool is_named(const struct header *h, const char *name)
{
	return h->name_len == strlen(name) && strncasecmp(h->name, name, h->name_len) == 0;
}

static int64_t read_seconds(const char *text, size_t len)
{
	int64_t seconds = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || seconds > RETRY_AFTER_MAX_S)
			return -1;
		seconds = seconds * 10 + (text[i] - '0');
	}
	return len && seconds < RETRY_AFTER_MAX_S ? seconds * 1000 : -1;
}

static void read_header(struct ms_answer *answer, const struct header *h)
{
	if (is_named(h, "idempotent-replayed")) {
		answer->is_replayed = h->value_len == 4 && memcmp(h->value, "true", 4) == 0;
	} else if (is_named(h, "retry-after")) {
		answer->retry_after_ms = read_seconds(h->value, h->value_len);
	} else if (is_named(h, "etag") && h->value_len < MSI_ETAG_SIZE && !memchr(h->value, '\0', h->value_len)) {
		memcpy(answer->etag, h->value, h->value_len);
		answer->etag[h->value_len] = '\0';
	}
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	struct msi_transfer *t = arg;
	size_t len = size * count;
	struct header h;

	/* Some versions of libcurl bound each line, but not their number. */
	t->header_bytes += len;
	if (t->header_bytes > HEADERS_MAX_BYTES)
		return 0;
	if (!split_header(data, len, &h))
		return len;
	read_header(t->answer, &h);
	if (t->request->on_header)
		t->request->on_header(t->request->data_arg, h.name, h.name_len, h.value, h.value_len);
	return len;
}

static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	const ms_request *request = arg;

	(void)down_total, (void)down, (void)up_total, (void)up;
	return request->is_stopped(request->stop_arg);
}

/* --- What goes out --- */

static void add_line(struct msi_transfer *t, const char *line)
{
	struct curl_slist *longer = curl_slist_append(t->headers, line);

	if (longer)
		t->headers = longer;
	else
		t->no_memory = true;
}

static void add_header(struct msi_transfer *t, const char *name, const char *value)
{
	struct msi_buffer line;

	if (value == NULL || value[0] == '\0')
		return;
	msi_buffer_init(&line, HEADER_MAX_BYTES);
	msi_buffer_puts(&line, name);
	msi_buffer_puts(&line, value);
	t->no_memory = t->no_memory || line.no_memory;
	if (!msi_buffer_failed(&line))
		add_line(t, msi_buffer_text(&line));
	msi_buffer_release(&line);
}

static void add_headers(struct msi_transfer *t)
{
	const ms_request *request = t->request;
	const ms_client *client = t->client;

	add_header(t, "Accept: ", request->accept ? request->accept : "application/json");
	add_header(t, "Spine-Space: ", client->space);
	add_header(t, "Spine-Agent: ", request->agent ? request->agent : client->agent);
	add_header(t, "Spine-Task: ", request->task);
	add_header(t, "Spine-Person: ", request->person);
	add_header(t, "Authorization: Bearer ", client->key);
	add_header(t, "Idempotency-Key: ", t->key);
	add_header(t, "If-Match: ", request->if_match);
	if (request->body)
		add_line(t, "Content-Type: application/json");
	for (const char *const *more = request->headers; more && *more; more++)
		add_line(t, *more);
	/* Without this libcurl waits a second for "100 Continue" before it sends a large body. */
	add_line(t, "Expect:");
}

static void set_times(struct msi_transfer *t)
{
	int64_t left_ms = (t->deadline_ns - msi_client_now_ns()) / 1000000;
	int64_t silence_ms = t->request->silence_ms ? t->request->silence_ms : SILENCE_MS;

	if (left_ms < 1)
		left_ms = 1;
	if (t->request->on_data) {
		curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_TIME, (long)(silence_ms / 1000));
	} else {
		curl_easy_setopt(t->curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	}
	curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)(left_ms < CONNECT_TIMEOUT_MS ? left_ms : CONNECT_TIMEOUT_MS));
}

static void set_body(struct msi_transfer *t)
{
	const ms_request *request = t->request;

	if (request->body) {
		size_t len = request->body_len ? request->body_len : strlen(request->body);

		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, request->body);
	} else if (strcmp(request->method, "POST") == 0) {
		/* A POST without a body still says so: "Content-Length: 0". */
		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
		curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, "");
	}
}

/* Peer and host are checked unless somebody says otherwise, and nobody does. */
static void set_tls(struct msi_transfer *t)
{
	const ms_client *client = t->client;

	curl_easy_setopt(t->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (client->ca_file) {
		curl_easy_setopt(t->curl, CURLOPT_CAINFO, client->ca_file);
		curl_easy_setopt(t->curl, CURLOPT_CAPATH, NULL);
	}
	if (client->cert_file) {
		curl_easy_setopt(t->curl, CURLOPT_SSLCERT, client->cert_file);
		curl_easy_setopt(t->curl, CURLOPT_SSLKEY, client->cert_key_file ? client->cert_key_file :
				 client->cert_file);
		/* A password is never asked for: nobody may be at the terminal. */
		curl_easy_setopt(t->curl, CURLOPT_KEYPASSWD, "");
	}
}

static void set_up(struct msi_transfer *t)
{
	CURL *curl = t->curl;

	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, msi_buffer_text(&t->url));
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, t->request->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, t->headers);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->curl_error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
	if (t->request->is_stopped) {
		curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
		curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t->request);
	}
	if (t->client->is_local)
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	set_tls(t);
	set_times(t);
	set_body(t);
}

ms_status msi_transfer_begin(struct msi_transfer *t, ms_error *ret_error)
{
	msi_buffer_init(&t->url, URL_MAX_BYTES);
	msi_buffer_puts(&t->url, t->client->url);
	msi_buffer_puts(&t->url, t->request->path);
	msi_answer_reset(t->answer);
	t->curl_error[0] = '\0';
	t->headers = NULL;
	t->header_bytes = 0;
	t->no_memory = t->has_begun = t->was_ended = false;
	add_headers(t);
	if (t->url.is_full)
		return msi_error_invalid(ret_error, "path", "the request's address is longer than 64 KiB");
	if (t->no_memory || t->url.no_memory)
		return msi_error_no_memory(ret_error);
	set_up(t);
	return MS_OK;
}

void msi_transfer_end(struct msi_transfer *t)
{
	long status = 0, bytes = 0;

	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->curl, CURLINFO_REQUEST_SIZE, &bytes);
	t->answer->status = (int)status;
	t->was_sent = bytes > 0;
	curl_slist_free_all(t->headers);
	t->headers = NULL;
	msi_buffer_release(&t->url);
}

/* --- What became of it --- */

static ms_status fail_unreached(const struct msi_transfer *t, const char *code, const char *why, ms_error *ret_error)
{
	msi_error_set(ret_error, MS_UNREACHABLE, code, "cannot reach %s (%s)", t->client->url, why);
	if (ret_error)
		ret_error->retryable = true;
	return MS_UNREACHABLE;
}

static ms_status fail_connect(const struct msi_transfer *t, ms_error *ret_error)
{
	char why[128] = "connection refused";
	long os_error = 0;

	curl_easy_getinfo(t->curl, CURLINFO_OS_ERRNO, &os_error);
	if (os_error != 0 && os_error != ECONNREFUSED && strerror_r((int)os_error, why, sizeof(why)) != 0)
		snprintf(why, sizeof(why), "error %ld", os_error);
	return fail_unreached(t, "connect_failed", why, ret_error);
}

static ms_status fail_answer(const struct msi_transfer *t, const char *why, ms_error *ret_error)
{
	return msi_error_set(ret_error, MS_BAD_ANSWER, "bad_answer", "the answer of %s cannot be used: %s",
			     t->client->url, why);
}

static ms_status fail_timeout(const struct msi_transfer *t, ms_error *ret_error)
{
	msi_error_set(ret_error, MS_TIMED_OUT, "timeout", "%s did not answer within %lld ms", t->client->url,
		      (long long)t->timeout_ms);
	if (ret_error)
		ret_error->retryable = true;
	return MS_TIMED_OUT;
}

static ms_status fail_write(const struct msi_transfer *t, ms_error *ret_error)
{
	if (t->was_ended)
		return msi_error_set(ret_error, MS_STOPPED, "stopped", "on_data ended the call");
	if (t->answer->body.no_memory)
		return msi_error_no_memory(ret_error);
	return fail_answer(t, "the answer is larger than this client takes", ret_error);
}

/* Since TLS 1.3 a server refuses the client's certificate after the client has begun to speak. */
static bool is_late_refusal(const struct msi_transfer *t, CURLcode code)
{
	return (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR) && strstr(t->curl_error, " alert ");
}

bool msi_transfer_is_insecure(const struct msi_transfer *t, CURLcode code)
{
	return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
	       code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_ISSUER_ERROR ||
	       is_late_refusal(t, code);
}

/* What to do about it. The number is OpenSSL's (x509_vfy.h): 9 and 10 are of times. */
static const char *tls_advice(const struct msi_transfer *t, CURLcode code)
{
	long verified = 0;

	curl_easy_getinfo(t->curl, CURLINFO_SSL_VERIFYRESULT, &verified);
	if (code == CURLE_PEER_FAILED_VERIFICATION && (strstr(t->curl_error, "subject name") ||
						       strstr(t->curl_error, "does not match")))
		return "its certificate is not for this host: use the name that the certificate has, or have one made "
		       "for this one";
	if (code == CURLE_PEER_FAILED_VERIFICATION && (verified == 9 || verified == 10))
		return "its certificate is not valid now: renew it, or set this machine's clock";
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR)
		return "its certificate is not from an authority that is trusted here: name the authority's, as "
		       "SPINE_CA_FILE";
	if (code == CURLE_SSL_CACERT_BADFILE)
		return "the file of authorities has no certificates that can be read (PEM): see SPINE_CA_FILE";
	if (code == CURLE_SSL_CERTPROBLEM)
		return "the client's certificate and its private key cannot be used (PEM, no password): see "
		       "SPINE_CERT_FILE and SPINE_CERT_KEY_FILE";
	if (strstr(t->curl_error, "certificate required") || strstr(t->curl_error, "handshake failure"))
		return "it asks for a client certificate: name one, as SPINE_CERT_FILE";
	if (strstr(t->curl_error, " alert "))
		return "it does not accept the client's certificate: see SPINE_CERT_FILE";
	if (strstr(t->curl_error, "wrong version number") || strstr(t->curl_error, "packet length too long"))
		return "what answers there does not speak TLS: is its address http://…?";
	return "the two could not agree";
}

static ms_status fail_tls(const struct msi_transfer *t, CURLcode code, ms_error *ret_error)
{
	return msi_error_set(ret_error, MS_TLS_FAILED, "tls_failed", "no secure connection to %s: %s (%s)",
			     t->client->url, tls_advice(t, code),
			     t->curl_error[0] ? t->curl_error : curl_easy_strerror(code));
}

ms_status msi_transfer_status(const struct msi_transfer *t, CURLcode code, ms_error *ret_error)
{
	if (msi_transfer_is_insecure(t, code))
		return fail_tls(t, code, ret_error);
	switch (code) {
	case CURLE_OK:
		return MS_OK;
	case CURLE_OPERATION_TIMEDOUT:
		return fail_timeout(t, ret_error);
	case CURLE_COULDNT_CONNECT:
		return fail_connect(t, ret_error);
	case CURLE_COULDNT_RESOLVE_HOST:
		return fail_unreached(t, "connect_failed", "no such host", ret_error);
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		return fail_unreached(t, "connection_lost", "the connection broke before the answer was there",
				      ret_error);
	case CURLE_WRITE_ERROR:
		return fail_write(t, ret_error);
	case CURLE_ABORTED_BY_CALLBACK:
		return msi_error_set(ret_error, MS_STOPPED, "stopped", "stopped before the answer was there");
	case CURLE_OUT_OF_MEMORY:
		/* libcurl says this of a line that is longer than it takes, too. */
		return fail_answer(t, "a line of its head is too long, or memory is short", ret_error);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return fail_answer(t, "what answers there does not speak HTTP/1.1", ret_error);
	default:
		return fail_answer(t, t->curl_error[0] ? t->curl_error : curl_easy_strerror(code), ret_error);
	}
}
