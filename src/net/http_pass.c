/* The states of a request that is passed on:
 *
 *             head of the answer                     all of it
 *     ASKED ----------------------> KEPT (small) ----------------> http_reply
 *                      `----------> STREAMED ---------------------> http_stream_end, or http_stream_cut
 *
 * Until STREAMED nothing has reached the client, and a failure is the caller's to tell.
 */
#include "net/http_pass.h"

#include "base/mem.h"
#include "net/http_exchange.h"
#include "net/http_pass_head.h"

#include <assert.h>
#include <stdlib.h>

/* A drain calls timers at once, whatever they are set to. */
enum { FAR_MS = 24 * 60 * 60 * 1000 };

enum passing_state { PASSING_ASKED, PASSING_KEPT, PASSING_STREAMED };

struct passing {
	struct http_exchange x;
	struct http_req *req;
	struct http_timer drain_timer;
	struct http_pass_head head;
	struct buf body;		/* KEPT */
	uint64_t streamed;		/* bytes of the body */
	char *url_base;			/* owned */
	int64_t drain_ms;
	int64_t drained_at_ms;		/* when this request was told; 0: not yet */
	void (*on_failed)(void *ctx, struct http_req *req, const struct http_pass_failure *why);
	void (*on_over)(void *ctx, struct http_req *req, int status, bool is_whole);
	void *ctx;
	enum passing_state state;
	bool is_paused;			/* until the client has taken what was written */
};

static void on_drain(struct http_req *req, void *arg);

/* --- The end ------------------------------------------------------------------------------------- */

/* The request is nobody's for a moment: whoever calls this goes on with it. */
static void release(struct passing *p)
{
	http_req_on_gone(p->req, NULL, NULL);
	http_req_set_timer(p->req, 0, NULL, NULL);
	http_stream_on_taken(p->req, NULL, NULL);
	http_timer_clear(p->x.pass->loop, &p->drain_timer);
	http_exchange_drop(&p->x);
	buf_release(&p->body);
	free(p->url_base);
	free(p);
}

static void forget(struct http_exchange *x)
{
	struct passing *p = LIST_ELEMENT(x, struct passing, x);

	release(p);
}

static void tell_over(const struct passing *p, bool is_whole)
{
	if (p->on_over)
		p->on_over(p->ctx, p->req, p->state == PASSING_ASKED ? 0 : p->head.status, is_whole);
}

/* Nobody hears the answer. */
static void end_unheard(struct passing *p)
{
	struct http_req *req = p->req;
	bool is_stream = p->state == PASSING_STREAMED;

	tell_over(p, false);
	release(p);
	if (is_stream)
		http_stream_end(req);
	else
		http_reply(req, 503, NULL, NULL, NULL);
}

static void fail(struct passing *p, const struct http_pass_failure *failure)
{
	void (*on_failed)(void *ctx, struct http_req *req, const struct http_pass_failure *why) = p->on_failed;
	struct http_pass_failure told = *failure;
	struct http_req *req = p->req;
	void *ctx = p->ctx;
	char words[CURL_ERROR_SIZE];

	if (http_req_is_gone(req)) {
		end_unheard(p);
	} else if (p->state == PASSING_STREAMED) {
		tell_over(p, false);
		release(p);
		http_stream_cut(req);
	} else {
		/* They may be the exchange's own. */
		snprintf(words, sizeof(words), "%s", failure->why);
		told.why = words;
		release(p);
		on_failed(ctx, req, &told);
	}
}

static void give_up(struct passing *p, const char *why)
{
	fail(p, &(struct http_pass_failure){.why = why, .may_have_run = p->x.sendings > 0});
}

static void give_up_drained(struct passing *p)
{
	fail(p, &(struct http_pass_failure){
		.why = "this server is stopping", .may_have_run = p->x.sendings > 0, .is_drained = true,
	});
}

static void end_stream(struct passing *p)
{
	struct http_req *req = p->req;

	tell_over(p, true);
	release(p);
	http_stream_end(req);
}

static void reply(struct passing *p)
{
	struct http_req *req = p->req;
	struct http_header *headers = p->head.list;
	int status = p->head.status;
	struct buf body = p->body;

	buf_init(&p->body, 0);
	tell_over(p, true);
	release(p);
	http_reply(req, status, NULL, headers, &body);
}

static const char *words_of_undone(const struct passing *p)
{
	return arena_cstr(http_req_arena(p->req), p->head.undone);
}

/* libcurl reads the head for itself, and may see another end of the body: the client must not take that for all. */
static bool is_cut(const struct passing *p)
{
	return p->state == PASSING_STREAMED && p->head.length >= 0 && p->streamed < (uint64_t)p->head.length &&
	       http_req_method(p->req) != HTTP_HEAD;
}

static void on_end(struct http_exchange *x)
{
	struct passing *p = LIST_ELEMENT(x, struct passing, x);

	if (x->result != CURLE_OK)
		give_up(p, http_exchange_failure(x));
	else if (!p->head.is_whole || is_cut(p))
		give_up(p, "its answer is not HTTP as it should be");
	else if (http_req_is_gone(p->req))
		end_unheard(p);
	else if (p->state == PASSING_STREAMED)
		end_stream(p);
	else if (p->head.undone.p)
		fail(p, &(struct http_pass_failure){.why = words_of_undone(p), .is_undone = true});
	else
		reply(p);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	end_unheard(arg);
}

/* --- The answer, in libcurl's callbacks ------------------------------------------------------------ */

static bool has_no_body(const struct passing *p)
{
	return p->head.status == 204 || p->head.status == 304;
}

/* The head is whole: how the rest is given on. */
static void decide(struct passing *p)
{
	const struct http_pass_head *head = &p->head;
	bool is_head = http_req_method(p->req) == HTTP_HEAD;

	if (has_no_body(p) || head->undone.p ||
	    (!is_head && head->length >= 0 && head->length <= HTTP_PASS_WHOLE_BYTES)) {
		p->state = PASSING_KEPT;
		return;
	}
	p->state = PASSING_STREAMED;
	if (head->length >= 0)
		http_stream_begin_sized(p->req, head->status, NULL, head->list, (uint64_t)head->length);
	else
		http_stream_begin(p->req, head->status, NULL, head->list);
	/* Such a stream ends by the drain alone; the drain may have begun. */
	if (head->is_events)
		http_req_set_timer(p->req, FAR_MS, on_drain, p);
}

static size_t on_line(char *data, size_t size, size_t count, void *arg)
{
	struct passing *p = arg;
	bool was_whole = p->head.is_whole;

	assert(size == 1);
	if (!http_pass_head_line(&p->head, (struct str){data, count}))
		return 0;
	if (p->head.is_whole && !was_whole)
		decide(p);
	return count;
}

static void on_taken(struct http_req *req, void *arg)
{
	struct passing *p = arg;

	(void)req;
	p->is_paused = false;
	http_exchange_resume(&p->x);
}

/* How much may wait for the client: nothing where clients together have left too much untaken already. */
static size_t allowance(const struct passing *p)
{
	struct http_server *server = p->x.pass->loop->server;
	size_t waiting = atomic_load_explicit(&server->reply_bytes, memory_order_relaxed);

	return waiting > server->config.limits.max_reply_total_bytes ? 0 : HTTP_PASS_AHEAD_BYTES;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct passing *p = arg;

	assert(size == 1);
	if (!p->head.is_whole)
		return 0;
	if (p->state == PASSING_KEPT) {
		buf_append(&p->body, data, count);
		return buf_overflowed(&p->body) ? 0 : count;
	}
	if (p->is_paused)
		return CURL_WRITEFUNC_PAUSE;
	if (p->head.length >= 0 && count > (uint64_t)p->head.length - p->streamed)
		return 0;
	p->streamed += count;
	if (http_stream_write(p->req, (struct str){data, count}) > allowance(p)) {
		p->is_paused = true;
		http_stream_on_taken(p->req, on_taken, p);
	}
	return count;
}

/* --- Drain, and cutting ----------------------------------------------------------------------------- */

static void end_drained(struct passing *p)
{
	if (p->state == PASSING_STREAMED && p->head.is_events)
		end_stream(p);
	else if (p->state == PASSING_ASKED)
		give_up_drained(p);
}

static void on_drain_over(struct http_timer *timer)
{
	end_drained(LIST_ELEMENT(timer, struct passing, drain_timer));
}

/* Who only listens loses nothing when the stream ends; what was asked for by another method comes at its end. */
static int64_t patience_ms(const struct passing *p)
{
	bool is_listening = p->state == PASSING_STREAMED && http_req_method(p->req) == HTTP_GET;

	return is_listening && p->drain_ms > HTTP_PASS_EVENTS_MS ? HTTP_PASS_EVENTS_MS : p->drain_ms;
}

/* Once more where the answer that is waited for turns out to be a stream. */
static void on_drain(struct http_req *req, void *arg)
{
	struct passing *p = arg;

	if (!http_server_is_draining(p->x.pass->loop->server)) {
		http_req_set_timer(req, FAR_MS, on_drain, p);
		return;
	}
	if (p->drained_at_ms == 0)
		p->drained_at_ms = http_now_ms();
	if (p->drain_ms > 0)
		http_timer_set(p->x.pass->loop, &p->drain_timer, p->drained_at_ms + patience_ms(p));
	else
		end_drained(p);
}

void http_pass_cut(struct http_pass *pass, const char *url_base, const char *why)
{
	struct list cut;

	/* on_failed may pass a request on again. */
	list_init(&cut);
	for (struct list *link = pass->exchanges.next, *next; link != &pass->exchanges; link = next) {
		struct http_exchange *x = LIST_ELEMENT(link, struct http_exchange, link);

		next = link->next;
		if (x->on_end != on_end || strcmp(LIST_ELEMENT(x, struct passing, x)->url_base, url_base) != 0)
			continue;
		list_remove(link);
		list_add(&cut, link);
	}
	while (!list_is_empty(&cut)) {
		struct http_exchange *x = LIST_ELEMENT(cut.next, struct http_exchange, link);

		give_up(LIST_ELEMENT(x, struct passing, x), why);
	}
}

/* --- Sending ---------------------------------------------------------------------------------------- */

static struct str target(struct http_req *req)
{
	struct str path = http_req_path(req), query = http_req_query(req);

	return query.n > 0 ? arena_printf(http_req_arena(req), "%.*s?%.*s", STR_ARG(path), STR_ARG(query)) : path;
}

static void set_method(CURL *c, struct http_req *req)
{
	enum http_method method = http_req_method(req);
	struct str body = http_req_body(req);

	if (method == HTTP_HEAD) {
		http_exchange_must(curl_easy_setopt(c, CURLOPT_NOBODY, 1L));
		return;
	}
	if (body.n > 0 || method == HTTP_POST || method == HTTP_PUT || method == HTTP_PATCH) {
		http_exchange_must(curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n));
		http_exchange_must(curl_easy_setopt(c, CURLOPT_POSTFIELDS, body.p));
	}
	http_exchange_must(curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST,
					    arena_cstr(http_req_arena(req), http_req_method_name(req))));
}

static void set_options(struct passing *p)
{
	CURL *c = p->x.curl;

	http_exchange_must(curl_easy_setopt(c, CURLOPT_REQUEST_TARGET,
					    arena_cstr(http_req_arena(p->req), target(p->req))));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_line));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_HEADERDATA, p));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body));
	http_exchange_must(curl_easy_setopt(c, CURLOPT_WRITEDATA, p));
	set_method(c, p->req);
}

void http_pass_send(struct http_pass *pass, struct http_req *req, const struct http_pass_order *order)
{
	struct passing *p = mem_zalloc(sizeof(*p));

	assert(req->loop == pass->loop && order->on_failed);
	http_exchange_init(&p->x, pass, order->url_base, on_end, forget);
	p->req = req;
	p->url_base = mem_strdup(order->url_base);
	p->drain_ms = order->drain_ms;
	p->on_failed = order->on_failed;
	p->on_over = order->on_over;
	p->ctx = order->ctx;
	http_timer_init(&p->drain_timer, on_drain_over);
	http_pass_head_init(&p->head, req, order->undone_name);
	buf_init(&p->body, HTTP_PASS_WHOLE_BYTES);
	p->body.is_secret = req->is_secret;
	p->x.lines = http_pass_lines(req, order);
	set_options(p);
	http_req_on_gone(req, on_gone, p);
	http_req_set_timer(req, FAR_MS, on_drain, p);
	http_exchange_start(&p->x);
}
