#include "client/transfer.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CONNECT_TIMEOUT_MS = 5000,
	SILENCE_S = 60,			/* of a stream, which has a heartbeat */
	URL_MAX_BYTES = 65536,
};

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;

	long status = 0;

	assert(size == 1);
	if (t->request->on_data && curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
	    status / 100 == 2)
		return t->request->on_data(t->request->data_arg, (struct str){data, count}) ? count : 0;
	buf_append(&t->reply->body, data, count);
	return buf_overflowed(&t->reply->body) ? 0 : count;
}

static bool header_is(struct str line, const char *name, struct str *ret_value)
{
	struct str value = line;
	struct str found = str_cut(&value, ':');

	if (value.p == NULL || !str_ieq(found, str_of(name)))
		return false;
	while (value.n > 0 && (value.p[value.n - 1] == '\r' || value.p[value.n - 1] == '\n'))
		value.n--;
	*ret_value = str_trim(value);
	return true;
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;
	struct str line = {data, size * count}, value;
	uint64_t seconds;

	if (header_is(line, "content-type", &value))
		t->reply->is_problem = str_has_prefix(value, STR("application/problem+json"));
	else if (header_is(line, "idempotent-replayed", &value))
		t->reply->is_replayed = str_is(value, "true");
	else if (header_is(line, "retry-after", &value) && str_to_u64(value, &seconds) && seconds < 86400)
		t->reply->retry_after_ms = (int64_t)seconds * 1000;
	else if (header_is(line, "etag", &value) && value.n < CLIENT_ETAG_SIZE)
		snprintf(t->reply->etag, CLIENT_ETAG_SIZE, "%.*s", STR_ARG(value));
	return size * count;
}

static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	const struct client_request *request = arg;

	(void)down_total, (void)down, (void)up_total, (void)up;
	return request->is_stopped(request->stop_arg);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
	struct curl_slist *longer;
	struct buf line;

	if (value == NULL)
		return list;
	buf_init(&line, 4096);
	buf_printf(&line, "%s: %s", name, value);
	longer = curl_slist_append(list, buf_str(&line).p);
	buf_release(&line);
	if (longer == NULL)
		abort();	/* out of memory */
	return longer;
}

static struct curl_slist *headers_of(const struct client *client, const struct client_request *request,
				     const char *key)
{
	struct curl_slist *list = NULL;

	list = add_header(list, "Accept", request->accept ? request->accept : "application/json");
	list = add_header(list, "Spine-Space", client->space);
	list = add_header(list, "Spine-Agent", client->agent);
	list = add_header(list, "Spine-Task", request->task);
	list = add_header(list, "Idempotency-Key", key);
	list = add_header(list, "If-Match", request->if_match);
	if (request->body.p)
		list = add_header(list, "Content-Type", "application/json");
	/* Without this libcurl waits a second for "100 Continue" before it sends a large body. */
	list = curl_slist_append(list, "Expect:");
	if (list == NULL)
		abort();
	return list;
}

static void set_up(const struct client *client, struct transfer *t)
{
	const struct client_request *request = t->request;
	CURL *curl = client->curl;
	int64_t left_ms = (t->deadline_ns - clock_mono_ns()) / 1000000;

	if (left_ms < 1)
		left_ms = 1;
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, buf_str(&t->url).p);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, t->headers);
	if (request->on_data) {
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
	} else {
		curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	}
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)(left_ms < CONNECT_TIMEOUT_MS ? left_ms : CONNECT_TIMEOUT_MS));
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->curl_error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
	if (request->is_stopped) {
		curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
		curl_easy_setopt(curl, CURLOPT_XFERINFODATA, request);
	}
	if (client->is_local)
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (request->body.p) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.p);
	} else if (strcmp(request->method, "POST") == 0) {
		/* A POST without a body still says so: "Content-Length: 0". */
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
	}
}

bool transfer_begin(const struct client *client, struct transfer *t, const char *key)
{
	buf_init(&t->url, URL_MAX_BYTES);
	buf_printf(&t->url, "%s%s", client->url, t->request->path);
	buf_clear(&t->reply->body);
	t->reply->is_problem = t->reply->is_replayed = false;
	t->reply->retry_after_ms = -1;
	t->reply->etag[0] = '\0';
	t->reply->status = 0;
	t->reply->calls++;
	t->curl_error[0] = '\0';
	t->curl = client->curl;
	t->headers = headers_of(client, t->request, key);
	if (buf_overflowed(&t->url)) {
		snprintf(t->curl_error, sizeof(t->curl_error), "the request's address is longer than 64 KiB");
		return false;
	}
	set_up(client, t);
	return true;
}

void transfer_end(struct transfer *t)
{
	long status = 0;

	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	t->reply->status = (int)status;
	curl_slist_free_all(t->headers);
	t->headers = NULL;
	buf_release(&t->url);
}

enum client_status transfer_status(const struct transfer *t, CURLcode code, struct buf *error)
{
	long os_error = 0;

	switch (code) {
	case CURLE_OK:
		return CLIENT_OK;
	case CURLE_OPERATION_TIMEDOUT:
		buf_puts(error, "no answer in time");
		return CLIENT_TIMED_OUT;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(t->curl, CURLINFO_OS_ERRNO, &os_error);
		buf_puts(error, os_error == ECONNREFUSED || os_error == 0 ? "connection refused" :
			 strerror((int)os_error));
		return CLIENT_UNREACHABLE;
	case CURLE_COULDNT_RESOLVE_HOST:
		buf_puts(error, "no such host");
		return CLIENT_UNREACHABLE;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		buf_puts(error, "the connection broke before the answer was there");
		return CLIENT_UNREACHABLE;
	case CURLE_WRITE_ERROR:
		buf_puts(error, "the answer is larger than this client takes");
		return CLIENT_BAD_REPLY;
	case CURLE_ABORTED_BY_CALLBACK:
		buf_puts(error, "stopped");
		return CLIENT_STOPPED;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		buf_puts(error, "what answers there does not speak HTTP/1.1");
		return CLIENT_BAD_REPLY;
	default:
		buf_puts(error, t->curl_error[0] ? t->curl_error : curl_easy_strerror(code));
		return CLIENT_BAD_REPLY;
	}
}
