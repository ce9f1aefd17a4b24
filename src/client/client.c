#include "client/client.h"

#include "base/clock.h"
#include "base/mem.h"
#include "client/transfer.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

enum {
	CALLS_MAX = 4,
	FIRST_PAUSE_MS = 100,		/* doubled for each further repetition */
	PAUSE_MAX_MS = 5000,		/* who says "not before a minute" is not asked again */
	KEY_BYTES = 16,
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

/* --- A call --- */

static CURLcode transfer_once(const struct client *client, struct transfer *t, const char *key)
{
	CURLcode code = transfer_begin(client, t, key) ? curl_easy_perform(client->curl) : CURLE_URL_MALFORMAT;

	transfer_end(t);
	return code;
}

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

enum client_status client_call(struct client *client, const struct client_request *request, struct client_reply *ret,
			       struct buf *error)
{
	struct client_reply reply = {.retry_after_ms = -1};
	struct transfer t = {
		.request = request, .reply = &reply,
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
		code = transfer_once(client, &t, key);
		was_connected = was_connected || is_broken_connection(code);
		if (!(request->repeatable || key) || !shall_repeat(code, &reply, was_connected, &pause_ms))
			break;
		if (clock_mono_ns() + pause_ms * 1000000 >= t.deadline_ns)
			break;
		pause_for(pause_ms);
	}
	status = transfer_status(&t, code, error);
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
