#include "net/http_exchange.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEEPALIVE_IDLE_S = 2, KEEPALIVE_EACH_S = 1 };

void http_exchange_must(CURLcode code)
{
	if (code != CURLE_OK)
		mem_exhausted(sizeof(struct http_exchange));
}

/* --- The loop ---------------------------------------------------------------------------------- */

/* Moves what libcurl says is over to pass->ended. */
static void reap(struct http_lane *lane)
{
	struct http_pass *pass = lane->pass;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(lane->multi, &left)) != NULL) {
		struct http_exchange *x = NULL;
		CURLcode result = message->data.result;

		assert(message->msg == CURLMSG_DONE);
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
		x->result = result;
		curl_multi_remove_handle(lane->multi, x->curl);
		x->watched = CURL_SOCKET_BAD;
		list_remove(&x->link);
		list_add(&pass->ended, &x->link);
	}
}

static void tell_ended(struct http_pass *pass)
{
	while (!list_is_empty(&pass->ended)) {
		struct http_exchange *x = LIST_ELEMENT(pass->ended.next, struct http_exchange, link);

		x->on_end(x);
	}
}

/* Something has happened, or its time has come. */
static void act(struct http_lane *lane, curl_socket_t fd, int events)
{
	int running;

	curl_multi_socket_action(lane->multi, fd, events, &running);
	reap(lane);
}

/* The same, called from where nobody may be told of an end. */
static void act_quietly(struct http_lane *lane)
{
	struct http_pass *pass = lane->pass;

	act(lane, CURL_SOCKET_TIMEOUT, 0);
	if (!list_is_empty(&pass->ended))
		http_timer_set(pass->loop, &pass->ended_timer, http_now_ms());
}

static void on_ended_timer(struct http_timer *timer)
{
	tell_ended(LIST_ELEMENT(timer, struct http_pass, ended_timer));
}

static void on_timer(struct http_timer *timer)
{
	struct http_lane *lane = LIST_ELEMENT(timer, struct http_lane, timer);

	act(lane, CURL_SOCKET_TIMEOUT, 0);
	tell_ended(lane->pass);
}

/* libcurl wants to be called then. */
static int on_wish(CURLM *multi, long timeout_ms, void *arg)
{
	struct http_lane *lane = arg;

	(void)multi;
	if (timeout_ms < 0)
		http_timer_clear(lane->pass->loop, &lane->timer);
	else
		http_timer_set(lane->pass->loop, &lane->timer, http_now_ms() + timeout_ms);
	return 0;
}

/* A socket that the loop looks at for libcurl.
 *
 * It should end before its descriptor is closed, for the next socket gets the same number. But libcurl 7.88 may say
 * CURL_POLL_REMOVE only after it has closed a socket that broke or that is given up. So which numbers are watched is
 * known here; who is dropped ends its watch before; and open_socket gives no number that is still watched. (That
 * another thread gets the number is harmless: it is not in this loop's set, and nothing is taken out of it.) */
struct http_watch {
	uv_poll_t poll;
	struct http_lane *lane;
	curl_socket_t fd;
};

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct http_watch *watch = LIST_ELEMENT(poll, struct http_watch, poll);
	struct http_lane *lane = watch->lane;
	int what = status < 0 ? CURL_CSELECT_ERR : 0;

	if (events & UV_READABLE)
		what |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		what |= CURL_CSELECT_OUT;
	act(lane, watch->fd, what);
	tell_ended(lane->pass);
}

static void on_watch_closed(uv_handle_t *handle)
{
	free(LIST_ELEMENT(handle, struct http_watch, poll));
}

static struct http_watch *watch_find(const struct http_pass *pass, curl_socket_t fd)
{
	return (size_t)fd < pass->watch_room ? pass->watches[fd] : NULL;
}

static void watch_end(struct http_pass *pass, curl_socket_t fd)
{
	struct http_watch *watch = watch_find(pass, fd);

	if (watch == NULL)
		return;
	pass->watches[fd] = NULL;
	uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static void make_room(struct http_pass *pass, curl_socket_t fd)
{
	size_t room = pass->watch_room ? pass->watch_room : 64;

	if ((size_t)fd < pass->watch_room)
		return;
	while (room <= (size_t)fd)
		room *= 2;
	pass->watches = mem_reallocarray(pass->watches, room, sizeof(struct http_watch *));
	memset(pass->watches + pass->watch_room, 0, (room - pass->watch_room) * sizeof(struct http_watch *));
	pass->watch_room = room;
}

static struct http_watch *watch_new(struct http_lane *lane, curl_socket_t fd)
{
	struct http_watch *watch = mem_zalloc(sizeof(*watch));
	struct http_pass *pass = lane->pass;

	watch->lane = lane;
	watch->fd = fd;
	if (uv_poll_init_socket(&pass->loop->uv, &watch->poll, fd) != 0) {
		free(watch);
		return NULL;
	}
	/* The loop ends without waiting for other servers. */
	uv_unref((uv_handle_t *)&watch->poll);
	make_room(pass, fd);
	pass->watches[fd] = watch;
	return watch;
}

/* libcurl wants to hear of a socket, or no more. */
static int on_interest(CURL *curl, curl_socket_t fd, int what, void *arg, void *kept)
{
	struct http_lane *lane = arg;
	struct http_watch *watch = watch_find(lane->pass, fd);
	struct http_exchange *x = NULL;
	int events = 0;

	(void)kept;
	curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&x);
	if (x)
		x->watched = what == CURL_POLL_REMOVE ? CURL_SOCKET_BAD : fd;
	if (what == CURL_POLL_REMOVE) {
		watch_end(lane->pass, fd);
		return 0;
	}
	if (watch == NULL && (watch = watch_new(lane, fd)) == NULL)
		return -1;
	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= UV_READABLE;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= UV_WRITABLE;
	return uv_poll_start(&watch->poll, events, on_socket) == 0 ? 0 : -1;
}

/* --- Sockets ------------------------------------------------------------------------------------ */

static void set_number(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

/* A machine that has gone says nothing: without this a long poll would wait for it for ever. */
static void notice_silence(int fd)
{
	set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
	set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
#endif
	set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EACH_S);
	set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, HTTP_PASS_SILENCE_MS / 1000 - KEEPALIVE_IDLE_S);
#ifdef TCP_USER_TIMEOUT
	set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, HTTP_PASS_SILENCE_MS);
#endif
}

/* As libcurl does it by itself; but that would say of a descriptor that is not there that nobody can be reached. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_exchange *x = arg;
	int fd;

	(void)purpose;
	if (x->sendings > 0)
		return CURL_SOCKET_BAD;
	fd = socket(address->family, address->socktype, address->protocol);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			x->starved_by = errno;
		return CURL_SOCKET_BAD;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	while (fd >= 0 && watch_find(x->pass, fd)) {
		int other = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);

		close(fd);
		fd = other;
	}
	if (fd < 0)
		return CURL_SOCKET_BAD;
	notice_silence(fd);
	return fd;
}

/* Called each time when a connection is there and the request is about to be sent. Where a connection that was kept
 * ends without a byte of an answer libcurl takes another one and sends again, whatever the method is
 * (Curl_retry_request in its lib/transfer.c), although the peer may have carried out the request and died before it
 * answered. No option turns that off. So the second time is refused, here and in open_socket. */
static int on_sending(void *arg, char *to, char *from, int to_port, int from_port)
{
	struct http_exchange *x = arg;

	(void)to;
	(void)from;
	(void)to_port;
	(void)from_port;
	if (x->sendings > 0)
		return CURL_PREREQFUNC_ABORT;
	x->sendings++;
	return CURL_PREREQFUNC_OK;
}

/* --- Lanes --------------------------------------------------------------------------------------- */

static struct http_lane *lane_new(struct http_pass *pass)
{
	struct http_lane *lane = mem_zalloc(sizeof(*lane));

	lane->pass = pass;
	lane->multi = curl_multi_init();
	if (lane->multi == NULL)
		mem_exhausted(sizeof(*lane));
	http_timer_init(&lane->timer, on_timer);
	curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)EXCHANGE_KEPT_MAX);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_wish);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
	return lane;
}

static void lane_free(struct http_lane *lane)
{
	curl_multi_cleanup(lane->multi);
	http_timer_clear(lane->pass->loop, &lane->timer);
	free(lane);
}

static struct http_lane *lane_with_room(struct http_pass *pass)
{
	for (size_t i = 0; i < pass->lane_count; i++)
		if (pass->lanes[i]->active < EXCHANGE_LANE_MAX)
			return pass->lanes[i];
	pass->lanes = mem_reallocarray(pass->lanes, pass->lane_count + 1, sizeof(struct http_lane *));
	pass->lanes[pass->lane_count] = lane_new(pass);
	return pass->lanes[pass->lane_count++];
}

/* --- An exchange --------------------------------------------------------------------------------- */

static CURL *take_handle(struct http_pass *pass)
{
	CURL *curl = pass->spare_count > 0 ? pass->spare[--pass->spare_count] : curl_easy_init();

	if (curl == NULL)
		mem_exhausted(sizeof(struct http_exchange));
	return curl;
}

static void give_handle(struct http_pass *pass, CURL *curl)
{
	if (pass->spare_count == EXCHANGE_SPARE_MAX) {
		curl_easy_cleanup(curl);
		return;
	}
	curl_easy_reset(curl);
	pass->spare[pass->spare_count++] = curl;
}

/* Who names authorities means these: the directory of the system goes with its file. */
static void set_files(CURL *c, const struct http_pass_files *files)
{
	if (files->ca) {
		http_exchange_must(curl_easy_setopt(c, CURLOPT_CAINFO, files->ca));
		http_exchange_must(curl_easy_setopt(c, CURLOPT_CAPATH, NULL));
	}
	if (files->cert)
		http_exchange_must(curl_easy_setopt(c, CURLOPT_SSLCERT, files->cert));
	if (files->key)
		http_exchange_must(curl_easy_setopt(c, CURLOPT_SSLKEY, files->key));
}

/* Nothing of the surroundings decides where a request goes: no proxy, no redirect, no .netrc. */
void http_exchange_init(struct http_exchange *x, struct http_pass *pass, const char *url,
			void (*on_end)(struct http_exchange *x), void (*forget)(struct http_exchange *x))
{
	CURL *c = take_handle(pass);

	*x = (struct http_exchange){
		.pass = pass, .curl = c, .on_end = on_end, .forget = forget, .watched = CURL_SOCKET_BAD,
	};
	list_init(&x->link);
	http_exchange_must(curl_easy_setopt(c, CURLOPT_URL, url));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https"));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_PROXY, ""));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_PASS_CONNECT_MS));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, (long)EXCHANGE_IDLE_MAX_S));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, x));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_PREREQFUNCTION, on_sending));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_PREREQDATA, x));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_ERRORBUFFER, x->error));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_PRIVATE, x));
	set_files(c, &pass->files);
}

void http_exchange_start(struct http_exchange *x)
{
	struct http_pass *pass = x->pass;

	http_exchange_must(curl_easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->lines));
	x->lane = lane_with_room(pass);
	x->lane->active++;
	pass->active++;
	list_add(&pass->exchanges, &x->link);
	if (curl_multi_add_handle(x->lane->multi, x->curl) != CURLM_OK)
		mem_exhausted(sizeof(*x));
	act_quietly(x->lane);
}

void http_exchange_drop(struct http_exchange *x)
{
	if (x->watched != CURL_SOCKET_BAD)
		watch_end(x->pass, x->watched);
	/* Of one that has ended it does nothing. */
	curl_multi_remove_handle(x->lane->multi, x->curl);
	list_remove(&x->link);
	x->lane->active--;
	x->pass->active--;
	give_handle(x->pass, x->curl);
	curl_slist_free_all(x->lines);
}

void http_exchange_resume(struct http_exchange *x)
{
	curl_easy_pause(x->curl, CURLPAUSE_CONT);
	act_quietly(x->lane);
}

const char *http_exchange_failure(struct http_exchange *x)
{
	char words[CURL_ERROR_SIZE];
	long number = 0;

	memcpy(words, x->error, sizeof(words));
	curl_easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &number);
	if (x->sendings > 0 && (x->result == CURLE_COULDNT_CONNECT || x->result == CURLE_ABORTED_BY_CALLBACK ||
				x->result == CURLE_GOT_NOTHING))
		return "it closed the connection without an answer";
	if (x->starved_by) {
		snprintf(x->error, sizeof(x->error), "this server cannot open a connection: %s (raise its limit of "
			 "open files, or look at what holds them)", strerror(x->starved_by));
		return x->error;
	}
	switch (x->result) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return "host not found";
	case CURLE_COULDNT_CONNECT:
		snprintf(x->error, sizeof(x->error), "cannot connect: %.200s", number ? strerror((int)number) : words);
		return x->error;
	case CURLE_OPERATION_TIMEDOUT:
		return x->sendings > 0 ? "no answer in time" : "cannot connect in time";
	case CURLE_PEER_FAILED_VERIFICATION:
		snprintf(x->error, sizeof(x->error), "its certificate is not trusted: %.200s", words);
		return x->error;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return "the connection broke off";
	case CURLE_WRITE_ERROR:
		return "its answer is more than this server takes, or not HTTP as it should be";
	default:
		return x->error[0] ? x->error : curl_easy_strerror(x->result);
	}
}

/* --- Life ----------------------------------------------------------------------------------------- */

struct http_pass *http_pass_new(struct http_server *server, int thread, const struct http_pass_files *files)
{
	struct http_pass *pass = mem_zalloc(sizeof(*pass));

	assert(thread >= 0 && thread < server->config.threads);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		mem_exhausted(sizeof(*pass));
	pass->loop = &server->loops[thread];
	pass->files = *files;
	list_init(&pass->exchanges);
	list_init(&pass->ended);
	http_timer_init(&pass->ended_timer, on_ended_timer);
	return pass;
}

static void forget_all(struct list *exchanges)
{
	while (!list_is_empty(exchanges)) {
		struct http_exchange *x = LIST_ELEMENT(exchanges->next, struct http_exchange, link);

		x->forget(x);
	}
}

void http_pass_free(struct http_pass *pass)
{
	if (pass == NULL)
		return;
	forget_all(&pass->exchanges);
	forget_all(&pass->ended);
	while (pass->spare_count > 0)
		curl_easy_cleanup(pass->spare[--pass->spare_count]);
	while (pass->lane_count > 0)
		lane_free(pass->lanes[--pass->lane_count]);
	http_timer_clear(pass->loop, &pass->ended_timer);
	/* The watches that were closed just now. The loop has ended: nothing else is left on it. */
	uv_run(&pass->loop->uv, UV_RUN_NOWAIT);
	curl_global_cleanup();
	free(pass->lanes);
	free(pass->watches);
	free(pass);
}

size_t http_pass_active(const struct http_pass *pass)
{
	return pass->active;
}
