#include "client/client_many.h"

#include "base/clock.h"
#include "base/epoll.h"
#include "base/list.h"
#include "base/mem.h"
#include "client/spine_client.h"

#include <stdlib.h>
#include <unistd.h>

enum { EVENTS_MAX = 256 };

struct under_way {
	struct list link;
	struct client *client;
	ms_request request;
	struct msi_transfer transfer;
	client_done *done;
	void *arg;
};

struct client_many {
	CURLM *multi;
	int epoll_fd;
	int stop_fd;
	int64_t timer_ns;	/* when libcurl wants to be called; 0: it does not */
	struct list calls;
};

/* --- What libcurl asks for --- */

static int on_socket(CURL *curl, curl_socket_t fd, int what, void *arg, void *known)
{
	struct client_many *many = arg;
	struct epoll_event event = {.data.fd = fd};

	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(many->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	epoll_ctl(many->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	curl_multi_assign(many->multi, fd, many);	/* so that the next time it is known */
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct client_many *many = arg;

	(void)multi;
	many->timer_ns = timeout_ms < 0 ? 0 : clock_mono_ns() + timeout_ms * 1000000;
	return 0;
}

/* --- Its life --- */

struct client_many *client_many_new(size_t max_clients, int stop_fd)
{
	struct client_many *many = mem_zalloc(sizeof(*many));
	struct epoll_event event = {.events = EPOLLIN, .data.fd = stop_fd};

	many->stop_fd = stop_fd;
	list_init(&many->calls);
	many->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (many->epoll_fd < 0 || (stop_fd >= 0 && epoll_ctl(many->epoll_fd, EPOLL_CTL_ADD, stop_fd, &event) != 0)) {
		client_many_free(many);
		return NULL;
	}
	many->multi = curl_multi_init();
	if (many->multi == NULL)
		abort();	/* out of memory */
	curl_multi_setopt(many->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(many->multi, CURLMOPT_SOCKETDATA, many);
	curl_multi_setopt(many->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(many->multi, CURLMOPT_TIMERDATA, many);
	curl_multi_setopt(many->multi, CURLMOPT_MAXCONNECTS, (long)max_clients);
	return many;
}

static void end_call(struct client_many *many, struct under_way *call)
{
	curl_multi_remove_handle(many->multi, call->transfer.curl);
	msi_transfer_end(&call->transfer);
	call->client->was_sent = call->transfer.was_sent;
	msi_client_give_back(call->client->spine, call->transfer.curl);
	list_remove(&call->link);
}

static void free_call(struct under_way *call)
{
	ms_answer_free(call->transfer.answer);
	free(call);
}

void client_many_free(struct client_many *many)
{
	if (many == NULL)
		return;
	while (!list_is_empty(&many->calls)) {
		struct under_way *call = LIST_ELEMENT(many->calls.next, struct under_way, link);

		end_call(many, call);
		free_call(call);
	}
	if (many->multi)
		curl_multi_cleanup(many->multi);
	if (many->epoll_fd >= 0)
		close(many->epoll_fd);
	free(many);
}

/* --- Calls --- */

/* The call is over, and its client free for another before done is called. */
static void finish(struct client_many *many, struct under_way *call, CURLcode code)
{
	enum client_status status = client_status_of(msi_transfer_status(&call->transfer, code, NULL));
	struct client_reply reply = {0};

	end_call(many, call);
	if (status == CLIENT_OK)
		client_read_reply(call->transfer.answer, &reply);
	call->done(call->arg, status, status == CLIENT_OK ? &reply : NULL);
	client_reply_release(&reply);
	free_call(call);
}

void client_many_start(struct client_many *many, struct client *client, const struct client_request *request,
		       client_done *done, void *arg)
{
	struct under_way *call = mem_zalloc(sizeof(*call));
	struct msi_transfer *t = &call->transfer;

	call->done = done;
	call->arg = arg;
	call->client = client;
	client_translate(request, &call->request);
	t->client = client->spine;
	t->request = &call->request;
	t->key = request->idempotency_key;
	t->timeout_ms = client->spine->timeout_ms + request->wait_ms;
	t->deadline_ns = clock_mono_ns() + t->timeout_ms * 1000000;
	t->answer = msi_answer_new(client->spine->max_answer_bytes);
	if (t->answer == NULL || msi_client_take(client->spine, t->deadline_ns, &t->curl, NULL) != MS_OK)
		abort();	/* out of memory */
	list_init(&call->link);
	list_add(&many->calls, &call->link);
	if (msi_transfer_begin(t, NULL) != MS_OK) {
		finish(many, call, CURLE_URL_MALFORMAT);
		return;
	}
	curl_easy_setopt(t->curl, CURLOPT_PRIVATE, call);
	if (curl_multi_add_handle(many->multi, t->curl) != CURLM_OK)
		finish(many, call, CURLE_FAILED_INIT);
}

void client_many_cancel(struct client_many *many, struct client *client)
{
	for (struct list *l = many->calls.next; l != &many->calls; l = l->next) {
		struct under_way *call = LIST_ELEMENT(l, struct under_way, link);

		if (call->client != client)
			continue;
		end_call(many, call);
		free_call(call);
		return;
	}
}

static void finish_those_over(struct client_many *many)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(many->multi, &left)) != NULL) {
		CURLcode code = message->data.result;
		char *call = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		finish(many, (struct under_way *)(void *)call, code);
	}
}

int client_many_fd(const struct client_many *many)
{
	return many->epoll_fd;
}

int client_many_pause_ms(const struct client_many *many, int64_t timeout_ms)
{
	int64_t left_ms;

	if (many->timer_ns) {
		left_ms = (many->timer_ns - clock_mono_ns() + 999999) / 1000000;
		if (left_ms < timeout_ms)
			timeout_ms = left_ms;
	}
	return timeout_ms < 0 ? 0 : (int)timeout_ms;
}

bool client_many_run(struct client_many *many, int64_t timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int running, count = epoll_wait(many->epoll_fd, events, EVENTS_MAX,
						client_many_pause_ms(many, timeout_ms));
	bool go_on = true;

	for (int i = 0; i < count; i++) {
		int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
			   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

		if (events[i].data.fd == many->stop_fd)
			go_on = false;
		else
			curl_multi_socket_action(many->multi, events[i].data.fd, mask, &running);
	}
	if (many->timer_ns && many->timer_ns <= clock_mono_ns()) {
		many->timer_ns = 0;
		curl_multi_socket_action(many->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	finish_those_over(many);
	return go_on;
}
