/* http_ask: a question of this server's own to another one. */
#include "net/http_pass.h"

#include "base/mem.h"
#include "net/http_exchange.h"
#include "net/http_pass_head.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

struct asking {
	struct http_exchange x;
	struct buf body;
	void (*done)(void *ctx, const struct http_answer *answer);
	void *ctx;
};

static void forget(struct http_exchange *x)
{
	struct asking *a = LIST_ELEMENT(x, struct asking, x);

	http_exchange_drop(x);
	buf_release(&a->body);
	free(a);
}

static void on_end(struct http_exchange *x)
{
	struct asking *a = LIST_ELEMENT(x, struct asking, x);
	struct http_answer answer = {0};
	long status = 0;

	if (x->result == CURLE_OK) {
		curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
		answer.status = (int)status;
		answer.body = buf_str(&a->body);
	} else {
		answer.failure = http_exchange_failure(x);
	}
	a->done(a->ctx, &answer);
	forget(x);
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct asking *a = arg;

	assert(size == 1);
	buf_append(&a->body, data, count);
	return buf_overflowed(&a->body) ? 0 : count;
}

void http_ask(struct http_pass *pass, const char *url, const struct http_header *headers, int64_t timeout_ms,
	      size_t max_bytes, void (*done)(void *ctx, const struct http_answer *answer), void *ctx)
{
	struct asking *a = mem_zalloc(sizeof(*a));
	struct buf room;

	http_exchange_init(&a->x, pass, url, on_end, forget);
	a->done = done;
	a->ctx = ctx;
	buf_init(&a->body, max_bytes);
	buf_init(&room, SIZE_MAX / 2);
	room.is_secret = true;
	for (const struct http_header *h = headers; h && h->name; h++)
		http_pass_add_line(&a->x.lines, &room, str_of(h->name), h->value.p ? h->value : STR(""));
	buf_release(&room);
	http_exchange_must(curl_easy_setopt(a->x.curl, CURLOPT_WRITEFUNCTION, on_body));
	http_exchange_must(curl_easy_setopt(a->x.curl, CURLOPT_WRITEDATA, a));
	http_exchange_must(curl_easy_setopt(a->x.curl, CURLOPT_TIMEOUT_MS,
					    timeout_ms < LONG_MAX ? (long)timeout_ms : LONG_MAX));
	http_exchange_start(&a->x);
}
