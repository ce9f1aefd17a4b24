#include "client.h"

#include "credentials.h"
#include "error.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
	TIMEOUT_MS = 30000,			/* as the Python client's */
	TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000,
	ANSWER_BYTES = 64 * 1024 * 1024,	/* as the Python client's */
	ANSWER_MAX_BYTES = 1024 * 1024 * 1024,
	CONNECTIONS = 16,
	CONNECTIONS_MAX = 1000,
};

static const char default_url[] = "http://127.0.0.1:8788";

int64_t msi_client_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool msi_client_is_header_safe(const char *text)
{
	if (text[0] == '\0' || text[0] == ' ' || text[strlen(text) - 1] == ' ')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* --- libcurl's own preparation: once for the process, whatever the version of libcurl promises --- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_prepared;

static void prepare_curl(void)
{
	curl_prepared = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* --- The address --- */

static bool is_loopback_host(const char *host)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

/* An address and nothing more: no user, no query, no path. */
static bool read_url(CURLU *parts, const char *url, bool *ret_is_local)
{
	char *scheme = NULL, *host = NULL, *path = NULL, *user = NULL, *query = NULL;
	bool good;

	if (curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		return false;
	curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	curl_url_get(parts, CURLUPART_HOST, &host, 0);
	curl_url_get(parts, CURLUPART_PATH, &path, 0);
	curl_url_get(parts, CURLUPART_USER, &user, 0);
	curl_url_get(parts, CURLUPART_QUERY, &query, 0);
	good = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && host && !user && !query &&
	       (path == NULL || strcmp(path, "/") == 0);
	if (good)
		*ret_is_local = is_loopback_host(host);
	curl_free(scheme);
	curl_free(host);
	curl_free(path);
	curl_free(user);
	curl_free(query);
	return good;
}

static bool check_url(const char *url, bool *ret_is_local, ms_error *ret_error)
{
	CURLU *parts = curl_url();
	bool good = parts && read_url(parts, url, ret_is_local);

	/* What stands before an @ may be a secret: it is not said again. */
	if (!good && strchr(url, '@'))
		msi_error_invalid(ret_error, "url", "the server's address has an @, as before a host where a name and "
				  "a password stand; leave them out (a key is given by SPINE_KEY_FILE or SPINE_KEY); "
				  "expected http://HOST:PORT or https://HOST:PORT, such as %s", default_url);
	else if (!good)
		msi_error_invalid(ret_error, "url", "the server's address is \"%.200s\"; expected http://HOST:PORT "
				  "or https://HOST:PORT, such as %s", url, default_url);
	curl_url_cleanup(parts);
	return good;
}

/* --- Opening --- */

/* What was said, else the variable of the environment; "" is nothing. */
static const char *given(const char *value, const char *variable)
{
	if (value == NULL)
		value = getenv(variable);
	return value && value[0] ? value : NULL;
}

static bool check_header(const char *what, const char *value, ms_error *ret_error)
{
	if (value == NULL || msi_client_is_header_safe(value))
		return true;
	if (value[0] == ' ' || value[strlen(value) - 1] == ' ')
		msi_error_invalid(ret_error, what, "the %s must not begin or end with a blank", what);
	else
		msi_error_invalid(ret_error, what, "the %s must be text without control characters, and not empty",
				  what);
	return false;
}

static bool check_bounds(const ms_options *o, ms_error *ret_error)
{
	if (o->timeout_ms < 0 || o->timeout_ms > TIMEOUT_MAX_MS)
		msi_error_invalid(ret_error, "timeout_ms", "timeout_ms must be 1 to 86,400,000, or 0 for 30,000");
	else if (o->max_answer_bytes > ANSWER_MAX_BYTES)
		msi_error_invalid(ret_error, "max_answer_bytes", "max_answer_bytes must be at most 1 GiB");
	else if (o->max_connections < 0 || o->max_connections > CONNECTIONS_MAX)
		msi_error_invalid(ret_error, "max_connections", "max_connections must be 1 to 1,000, or 0 for 16");
	else
		return true;
	return false;
}

static char *copy(const char *text, bool *failed)
{
	char *made = text ? strdup(text) : NULL;

	*failed = *failed || (text && made == NULL);
	return made;
}

/* The clock that waiting for a place goes by: not every system lets it be chosen. */
#if defined(_POSIX_CLOCK_SELECTION) && _POSIX_CLOCK_SELECTION > 0
enum { WAIT_CLOCK = CLOCK_MONOTONIC };
#define SET_WAIT_CLOCK(attr) pthread_condattr_setclock((attr), CLOCK_MONOTONIC)
#else
enum { WAIT_CLOCK = CLOCK_REALTIME };
#define SET_WAIT_CLOCK(attr) 0
#endif

static bool make_locks(ms_client *client)
{
	pthread_condattr_t attr;
	bool good;

	if (pthread_condattr_init(&attr) != 0)
		return false;
	good = SET_WAIT_CLOCK(&attr) == 0 && pthread_cond_init(&client->given_back, &attr) == 0;
	pthread_condattr_destroy(&attr);
	if (good && pthread_mutex_init(&client->lock, NULL) != 0) {
		pthread_cond_destroy(&client->given_back);
		good = false;
	}
	return good;
}

static void free_texts(ms_client *client)
{
	free(client->url);
	free(client->space);
	free(client->agent);
	free(client->task);
	msi_credentials_free(client->key);
	free(client->ca_file);
	free(client->cert_file);
	free(client->cert_key_file);
	free(client->idle);
	free(client);
}

/* o has every value filled in. NULL where there is no memory. */
static ms_client *make(const ms_options *o, bool is_local)
{
	ms_client *client = calloc(1, sizeof(*client));
	bool failed = false;
	size_t len;

	if (client == NULL)
		return NULL;
	client->url = copy(o->url, &failed);
	client->space = copy(o->space, &failed);
	client->agent = copy(o->agent, &failed);
	client->task = copy(o->task, &failed);
	client->ca_file = copy(o->ca_file, &failed);
	client->cert_file = copy(o->cert_file, &failed);
	client->cert_key_file = copy(o->cert_key_file, &failed);
	client->timeout_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_MS;
	client->max_answer_bytes = o->max_answer_bytes ? o->max_answer_bytes : ANSWER_BYTES;
	client->max_connections = o->max_connections ? o->max_connections : CONNECTIONS;
	client->retry = o->retry;
	client->is_local = is_local;
	client->idle = calloc((size_t)client->max_connections, sizeof(CURL *));
	if (failed || client->idle == NULL || !make_locks(client)) {
		free_texts(client);
		return NULL;
	}
	len = strlen(client->url);
	if (len > 0 && client->url[len - 1] == '/')
		client->url[len - 1] = '\0';
	return client;
}

/* Of https: what is named is there. */
static bool check_files(const ms_options *o, ms_error *ret_error)
{
	if (o->cert_key_file && !o->cert_file)
		msi_error_invalid(ret_error, "cert_key_file", "a private key is named and no certificate: name that "
				  "as cert_file, too");
	else if (strncasecmp(o->url, "https:", 6) != 0)
		return true;
	else
		return msi_credentials_check_file("ca_file", o->ca_file, ret_error) == MS_OK &&
		       msi_credentials_check_file("cert_file", o->cert_file, ret_error) == MS_OK &&
		       msi_credentials_check_file("cert_key_file", o->cert_key_file, ret_error) == MS_OK;
	return false;
}

ms_status ms_open(const ms_options *options, ms_client **ret, ms_error *ret_error)
{
	ms_options o = options ? *options : (ms_options){0};
	bool is_local = false;
	char *key = NULL;
	ms_status status;

	msi_error_clear(ret_error);
	*ret = NULL;
	o.url = o.url ? o.url : given(NULL, "SPINE_URL");
	o.url = o.url ? o.url : default_url;
	o.space = given(o.space, "SPINE_SPACE");
	o.agent = given(o.agent, "SPINE_AGENT");
	o.task = given(o.task, "SPINE_TASK");
	o.ca_file = given(o.ca_file, "SPINE_CA_FILE");
	o.cert_file = given(o.cert_file, "SPINE_CERT_FILE");
	o.cert_key_file = given(o.cert_key_file, "SPINE_CERT_KEY_FILE");
	pthread_once(&curl_once, prepare_curl);
	if (curl_prepared != CURLE_OK)
		return msi_error_set(ret_error, MS_NO_MEMORY, "no_memory", "libcurl cannot be used");
	if (!check_bounds(&o, ret_error) || !check_url(o.url, &is_local, ret_error) ||
	    !check_header("space", o.space, ret_error) || !check_header("agent", o.agent, ret_error) ||
	    !check_header("task", o.task, ret_error) || !check_files(&o, ret_error))
		return MS_INVALID;
	status = msi_credentials_key(&o, &key, ret_error);
	if (status != MS_OK)
		return status;
	*ret = make(&o, is_local);
	if (*ret == NULL) {
		msi_credentials_free(key);
		return msi_error_no_memory(ret_error);
	}
	(*ret)->key = key;
	return MS_OK;
}

void ms_close(ms_client *client)
{
	if (client == NULL)
		return;
	while (client->idle_count > 0)
		curl_easy_cleanup(client->idle[--client->idle_count]);
	pthread_cond_destroy(&client->given_back);
	pthread_mutex_destroy(&client->lock);
	free_texts(client);
}

const char *ms_url(const ms_client *client)
{
	return client->url;
}

/* --- The pool --- */

/* Waits for a place. False where the time is over. */
static bool wait_for_place(ms_client *client, int64_t deadline_ns)
{
	int64_t left_ns = deadline_ns - msi_client_now_ns(), until_ns;
	struct timespec until;

	clock_gettime(WAIT_CLOCK, &until);
	until_ns = until.tv_nsec + (left_ns > 0 ? left_ns : 0);
	until.tv_sec += until_ns / 1000000000;
	until.tv_nsec = until_ns % 1000000000;
	while (client->in_use >= client->max_connections)
		if (pthread_cond_timedwait(&client->given_back, &client->lock, &until) != 0)
			return client->in_use < client->max_connections;
	return true;
}

ms_status msi_client_take(ms_client *client, int64_t deadline_ns, CURL **ret, ms_error *ret_error)
{
	CURL *curl = NULL;
	bool has_place;

	pthread_mutex_lock(&client->lock);
	has_place = wait_for_place(client, deadline_ns);
	if (has_place) {
		client->in_use++;
		if (client->idle_count > 0)
			curl = client->idle[--client->idle_count];
	}
	pthread_mutex_unlock(&client->lock);
	if (!has_place)
		return msi_error_set(ret_error, MS_TIMED_OUT, "timeout", "all %d connections of this client were in "
				     "use for the whole time of the call", client->max_connections);
	*ret = curl ? curl : curl_easy_init();
	if (*ret)
		return MS_OK;
	msi_client_give_back(client, NULL);
	return msi_error_no_memory(ret_error);
}

void msi_client_give_back(ms_client *client, CURL *curl)
{
	pthread_mutex_lock(&client->lock);
	client->in_use--;
	if (curl)
		client->idle[client->idle_count++] = curl;
	pthread_cond_signal(&client->given_back);
	pthread_mutex_unlock(&client->lock);
}
