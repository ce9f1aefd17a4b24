#include "outbound/poster.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { CONNECT_TIMEOUT_MS = 10000, CONNECTIONS_KEPT = 64, SENTENCE_MAX = CURL_ERROR_SIZE + 128 };

struct poster {
	CURLM *multi;
	const char *ca_file;
	size_t under_way;
};

struct post {
	struct poster *poster;
	CURL *curl;
	struct curl_slist *headers;
	struct buf body;
	struct buf answer;
	int64_t timeout_ms;
	bool needs_whole_answer;
	void (*done)(void *ctx, const struct post_outcome *outcome);
	void *ctx;
	char error[CURL_ERROR_SIZE];	/* libcurl's words */
	int starved_by;			/* errno of a socket that this process could not have; 0: none */
};

/* --- The request --- */

static void add_line(struct post *post, const char *line)
{
	struct curl_slist *longer = curl_slist_append(post->headers, line);

	if (longer == NULL)
		mem_exhausted(strlen(line));
	post->headers = longer;
}

static void add_headers(struct post *post, const struct post_request *r)
{
	char line[POSTER_HEADER_MAX];

	add_line(post, "Content-Type: application/json");
	/* Otherwise libcurl asks first whether it may send a large body, and waits a second for an answer. */
	add_line(post, "Expect:");
	for (size_t i = 0; i < r->header_count; i++) {
		snprintf(line, sizeof(line), "%s: %.*s", r->headers[i].name, STR_ARG(r->headers[i].value));
		add_line(post, line);
	}
}

static size_t on_answer(char *data, size_t size, size_t count, void *arg)
{
	struct post *post = arg;

	assert(size == 1);
	buf_append(&post->answer, data, count);
	return post->needs_whole_answer && buf_overflowed(&post->answer) ? 0 : count;
}

/* As libcurl does it by itself; but that would say of a descriptor that is not there that nobody can be reached. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct post *post = arg;
	int fd = socket(address->family, address->socktype, address->protocol);

	(void)purpose;
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			post->starved_by = errno;
		return CURL_SOCKET_BAD;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/* Who names authorities means these: the directory of the system goes with its file. */
static bool set_authorities(CURL *c, const char *ca_file)
{
	return ca_file == NULL || (curl_easy_setopt(c, CURLOPT_CAINFO, ca_file) == CURLE_OK &&
				   curl_easy_setopt(c, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

static bool set_options(struct post *post, const char *url)
{
	long timeout_ms = post->timeout_ms < LONG_MAX ? (long)post->timeout_ms : LONG_MAX;
	CURL *c = post->curl;

	return curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       /* A name that nobody answers for is not waited for when its time is over: the thread is everybody's. */
	       curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_POSTFIELDS, buf_str(&post->body).p) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_HTTPHEADER, post->headers) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
				timeout_ms < CONNECT_TIMEOUT_MS ? timeout_ms : CONNECT_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, post) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_answer) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEDATA, post) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_ERRORBUFFER, post->error) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PRIVATE, post) == CURLE_OK &&
	       set_authorities(c, post->poster->ca_file);
}

struct post *poster_post(struct poster *p, const struct post_request *request, struct buf *body)
{
	struct post *post = mem_zalloc(sizeof(*post));

	post->poster = p;
	post->timeout_ms = request->timeout_ms;
	post->needs_whole_answer = request->needs_whole_answer;
	post->done = request->done;
	post->ctx = request->ctx;
	post->body = *body;
	buf_init(body, body->max);
	buf_init(&post->answer, POSTER_ANSWER_MAX_BYTES);
	add_headers(post, request);
	post->curl = curl_easy_init();
	/* All of it is known to this libcurl: what is left is want of memory. */
	if (post->curl == NULL || !set_options(post, request->url) ||
	    curl_multi_add_handle(p->multi, post->curl) != CURLM_OK)
		mem_exhausted(sizeof(*post));
	p->under_way++;
	return post;
}

void poster_cancel(struct post *post)
{
	curl_multi_remove_handle(post->poster->multi, post->curl);
	post->poster->under_way--;
	curl_easy_cleanup(post->curl);
	curl_slist_free_all(post->headers);
	buf_release(&post->body);
	buf_release(&post->answer);
	free(post);
}

/* --- The outcome --- */

/* Of an answer. */
static const char *status_failure(int status, char text[SENTENCE_MAX])
{
	if (status / 100 == 2)
		return NULL;
	snprintf(text, SENTENCE_MAX, "HTTP %d%s", status,
		 status / 100 == 3 ? ", and redirects are not followed" : "");
	return text;
}

/* Why there is no answer. */
static const char *transfer_failure(struct post *post, CURLcode result, char text[SENTENCE_MAX])
{
	const char *words = post->error[0] ? post->error : curl_easy_strerror(result);
	long number = 0;

	curl_easy_getinfo(post->curl, CURLINFO_OS_ERRNO, &number);
	if (result == CURLE_COULDNT_RESOLVE_HOST)
		return "host not found";
	if (result == CURLE_COULDNT_CONNECT && number == ECONNREFUSED)
		return "connection refused";
	if (result == CURLE_COULDNT_CONNECT && post->starved_by)
		snprintf(text, SENTENCE_MAX, "this server cannot open a connection: %s (raise its limit of open files, "
			 "or look at what holds them)", strerror(post->starved_by));
	else if (result == CURLE_WRITE_ERROR && buf_overflowed(&post->answer))
		snprintf(text, SENTENCE_MAX, "the answer is larger than %d bytes", POSTER_ANSWER_MAX_BYTES);
	else if (result == CURLE_OPERATION_TIMEDOUT)
		snprintf(text, SENTENCE_MAX, "no answer within %g s", (double)post->timeout_ms / 1000);
	else if (result == CURLE_COULDNT_CONNECT && number)
		snprintf(text, SENTENCE_MAX, "cannot connect: %s", strerror((int)number));
	else if (result == CURLE_PEER_FAILED_VERIFICATION)
		snprintf(text, SENTENCE_MAX, "its certificate is not trusted: %s (see --ca-file)", words);
	else
		snprintf(text, SENTENCE_MAX, "%s", words);
	return text;
}

static void end(struct post *post, CURLcode result)
{
	struct post_outcome outcome = {0};
	char text[SENTENCE_MAX];
	curl_off_t retry_after_s = 0;
	long status = 0;

	if (result == CURLE_OK) {
		curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(post->curl, CURLINFO_CONTENT_TYPE, &outcome.content_type);
		curl_easy_getinfo(post->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
		outcome.status = (int)status;
		outcome.failure = status_failure(outcome.status, text);
		outcome.retry_after_s = retry_after_s;
		outcome.body = buf_str(&post->answer);
	} else {
		outcome.failure = transfer_failure(post, result, text);
	}
	post->done(post->ctx, &outcome);
	poster_cancel(post);
}

void poster_turn(struct poster *p, int64_t until_ns)
{
	int64_t now_ns = clock_mono_ns(), left_ms = until_ns > now_ns ? (until_ns - now_ns) / 1000000 + 1 : 0;
	int running, left;
	CURLMsg *message;

	curl_multi_poll(p->multi, NULL, 0, left_ms > INT_MAX ? INT_MAX : (int)left_ms, NULL);
	curl_multi_perform(p->multi, &running);
	while ((message = curl_multi_info_read(p->multi, &left)) != NULL) {
		struct post *post = NULL;

		assert(message->msg == CURLMSG_DONE);
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&post);
		end(post, message->data.result);
	}
}

void poster_wake(struct poster *p)
{
	curl_multi_wakeup(p->multi);
}

/* --- Life --- */

struct poster *poster_new(const char *ca_file)
{
	struct poster *p = mem_zalloc(sizeof(*p));

	p->ca_file = ca_file;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (p->multi = curl_multi_init()) == NULL)
		mem_exhausted(sizeof(*p));
	curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
	return p;
}

void poster_free(struct poster *p)
{
	if (p == NULL)
		return;
	assert(p->under_way == 0);
	curl_multi_cleanup(p->multi);
	curl_global_cleanup();
	free(p);
}
