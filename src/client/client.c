#include "client/client.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

enum {
	CALLS_MAX = 4,
	CONNECT_TIMEOUT_MS = 5000,
	FIRST_PAUSE_MS = 100,		/* doubled for each further repetition */
	PAUSE_MAX_MS = 5000,		/* who says "not before a minute" is not asked again */
	KEY_BYTES = 16,
	SILENCE_S = 60,			/* of a stream, which has a heartbeat */
};

struct client {
	CURL *curl;
	char *url;
	char *space;
	char *agent;
	int64_t timeout_ms;
	size_t max_reply_bytes;
	bool is_local;
};

/* --- Making one --- */

/* A header's value must stay in its line. */
static bool is_header_safe(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static bool check_header(const char *what, const char *text, struct buf *error)
{
	if (text && (!is_header_safe(text) || text[0] == '\0')) {
		buf_printf(error, "the %s must be text without control characters, and not empty", what);
		return false;
	}
	return true;
}

static bool is_loopback_host(const char *host)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

/* The URL must be a server's address and nothing more. */
static bool check_url(const char *url, bool *ret_is_local, struct buf *error)
{
	CURLU *parts = curl_url();
	char *scheme = NULL, *host = NULL, *path = NULL, *user = NULL, *query = NULL;
	bool good = false;

	if (parts == NULL || curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		goto out;
	curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	curl_url_get(parts, CURLUPART_HOST, &host, 0);
	curl_url_get(parts, CURLUPART_PATH, &path, 0);
	curl_url_get(parts, CURLUPART_USER, &user, 0);
	curl_url_get(parts, CURLUPART_QUERY, &query, 0);
	if (scheme == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		goto out;
	if (host == NULL || user != NULL || query != NULL || (path != NULL && strcmp(path, "/") != 0))
		goto out;
	*ret_is_local = is_loopback_host(host);
	good = true;
out:
	if (!good)
		buf_printf(error, "the server's address is \"%.200s\"; expected http://HOST:PORT, such as "
			   "http://127.0.0.1:8788", url);
	curl_free(scheme);
	curl_free(host);
	curl_free(path);
	curl_free(user);
	curl_free(query);
	curl_url_cleanup(parts);
	return good;
}

struct client *client_new(const struct client_config *config, struct buf *error)
{
	struct client *client;
	bool is_local;
	size_t len;

	assert(config->timeout_ms > 0 && config->max_reply_bytes > 0);
	/* libcurl's own preparation is counted, so that every client may ask for it. */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		buf_puts(error, "libcurl cannot be used");
		return NULL;
	}
	if (!check_url(config->url, &is_local, error) || !check_header("space", config->space, error) ||
	    !check_header("agent", config->agent, error)) {
		curl_global_cleanup();
		return NULL;
	}
	client = mem_zalloc(sizeof(*client));
	client->url = mem_strdup(config->url);
	len = strlen(client->url);
	if (len > 0 && client->url[len - 1] == '/')
		client->url[len - 1] = '\0';
	client->space = config->space ? mem_strdup(config->space) : NULL;
	client->agent = config->agent ? mem_strdup(config->agent) : NULL;
	client->timeout_ms = config->timeout_ms;
	client->max_reply_bytes = config->max_reply_bytes;
	client->is_local = is_local;
	client->curl = curl_easy_init();
	if (client->curl == NULL)
		abort();	/* out of memory */
	return client;
}

void client_free(struct client *client)
{
	if (client == NULL)
		return;
	curl_easy_cleanup(client->curl);
	curl_global_cleanup();
	free(client->url);
	free(client->space);
	free(client->agent);
	free(client);
}

const char *client_url(const struct client *client)
{
	return client->url;
}

bool client_is_local(const struct client *client)
{
	return client->is_local;
}

/* --- One transfer --- */

struct transfer {
	CURL *curl;
	const struct client_request *request;
	struct client_reply *reply;
	int64_t deadline_ns;
	char curl_error[CURL_ERROR_SIZE];
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
	list = add_header(list, "Spine-Person", request->person);
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

static void set_up(const struct client *client, const struct client_request *request, struct transfer *t,
		   struct curl_slist *headers, const char *url)
{
	CURL *curl = client->curl;
	int64_t left_ms = (t->deadline_ns - clock_mono_ns()) / 1000000;

	if (left_ms < 1)
		left_ms = 1;
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
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

static CURLcode transfer_once(const struct client *client, const struct client_request *request, struct transfer *t,
			      const char *key)
{
	struct curl_slist *headers = headers_of(client, request, key);
	struct buf url;
	CURLcode code;
	long status = 0;

	buf_init(&url, 65536);
	buf_printf(&url, "%s%s", client->url, request->path);
	buf_clear(&t->reply->body);
	t->reply->is_problem = t->reply->is_replayed = false;
	t->reply->retry_after_ms = -1;
	t->reply->etag[0] = '\0';
	t->curl_error[0] = '\0';
	if (buf_overflowed(&url)) {
		snprintf(t->curl_error, sizeof(t->curl_error), "the request's address is longer than 64 KiB");
		code = CURLE_URL_MALFORMAT;
	} else {
		set_up(client, request, t, headers, buf_str(&url).p);
		code = curl_easy_perform(client->curl);
		curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	}
	t->reply->status = (int)status;
	t->reply->calls++;
	curl_slist_free_all(headers);
	buf_release(&url);
	return code;
}

/* --- A call --- */

static bool is_broken_connection(CURLcode code)
{
	return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
	       code == CURLE_PARTIAL_FILE;
}

/* Whether to send the request again, and after how long. Nothing listening is worth another try only where something
 * did listen a moment ago: the server is being restarted. */
static bool shall_repeat(CURLcode code, const struct client_reply *reply, bool was_connected, int64_t *ret_pause_ms)
{
	int64_t pause_ms = FIRST_PAUSE_MS << (reply->calls - 1);

	if (reply->calls >= CALLS_MAX)
		return false;
	if (code == CURLE_OK) {
		if (reply->status != 503 || reply->retry_after_ms < 0 || reply->retry_after_ms > PAUSE_MAX_MS)
			return false;
		*ret_pause_ms = reply->retry_after_ms > pause_ms ? reply->retry_after_ms : pause_ms;
		return true;
	}
	*ret_pause_ms = pause_ms;
	return is_broken_connection(code) || (code == CURLE_COULDNT_CONNECT && was_connected);
}

static void pause_for(int64_t ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static void make_key(char ret[KEY_BYTES * 2 + 1])
{
	unsigned char bytes[KEY_BYTES];

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		abort();	/* a key that is not unique could replay somebody else's answer */
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static enum client_status status_of(const struct client *client, CURLcode code, const struct transfer *t,
				    struct buf *error)
{
	long os_error = 0;

	switch (code) {
	case CURLE_OK:
		return CLIENT_OK;
	case CURLE_OPERATION_TIMEDOUT:
		buf_puts(error, "no answer in time");
		return CLIENT_TIMED_OUT;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(client->curl, CURLINFO_OS_ERRNO, &os_error);
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

enum client_status client_call(struct client *client, const struct client_request *request, struct client_reply *ret,
			       struct buf *error)
{
	struct client_reply reply = {.retry_after_ms = -1};
	struct transfer t = {
		.curl = client->curl, .request = request, .reply = &reply,
		.deadline_ns = clock_mono_ns() + (client->timeout_ms + request->wait_ms) * 1000000,
	};
	char made_key[KEY_BYTES * 2 + 1];
	const char *key = request->idempotency_key;
	bool was_connected = false;
	enum client_status status;
	CURLcode code;
	int64_t pause_ms;

	if (!check_header("idempotency key", key, error) || !check_header("version", request->if_match, error))
		return CLIENT_BAD_REPLY;
	if (request->creates && key == NULL) {
		make_key(made_key);
		key = made_key;
	}
	buf_init(&reply.body, client->max_reply_bytes);
	for (;;) {
		code = transfer_once(client, request, &t, key);
		was_connected = was_connected || is_broken_connection(code);
		if (!(request->repeatable || key) || !shall_repeat(code, &reply, was_connected, &pause_ms))
			break;
		if (clock_mono_ns() + pause_ms * 1000000 >= t.deadline_ns)
			break;
		pause_for(pause_ms);
	}
	status = status_of(client, code, &t, error);
	if (status == CLIENT_OK)
		*ret = reply;
	else
		buf_release(&reply.body);
	return status;
}

void client_reply_release(struct client_reply *reply)
{
	buf_release(&reply->body);
}
