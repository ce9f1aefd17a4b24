/* The request object: one allocation for the struct, its header fields, the bytes of its head, a small body, and the
 * arena's first bytes. That is what a waiting request costs, and for most requests it is all: the application's state
 * finds room in it, too. */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

static void on_timer(struct http_timer *timer);

/* --- Life ------------------------------------------------------------------------------------ */

static size_t aligned(size_t size)
{
	size_t align = _Alignof(max_align_t);

	return (size + align - 1) & ~(align - 1);
}

/* The same slice of the copy; slices of other memory are static, and stay. */
static struct str moved(struct str s, struct str from, const char *to)
{
	if (s.p < from.p || s.p >= from.p + from.n)
		return s;
	return (struct str){to + (s.p - from.p), s.n};
}

/* Joins the values of fields of the same name, in order, at the end of the text (RFC 9110, 5.3). `at`: where the
 * text ends; there is room for all values and their commas. */
static void join_duplicates(struct http_req *req, char *text, size_t at)
{
	for (uint32_t i = 0; i < req->fields_len; i++) {
		struct http_field *first = &req->fields[i];

		for (uint32_t k = i + 1; k < req->fields_len; k++) {
			struct http_field *f = &req->fields[k];
			size_t start = at;

			if (f->name_len == 0 || f->name_len != first->name_len ||
			    memcmp(text + f->name_at, text + first->name_at, f->name_len) != 0)
				continue;
			/* What was joined so far stands at the end, but for the first time. */
			if (first->value_at + first->value_len == at) {
				start = first->value_at;
			} else {
				memcpy(text + at, text + first->value_at, first->value_len);
				at += first->value_len;
			}
			memcpy(text + at, ", ", 2);
			memcpy(text + at + 2, text + f->value_at, f->value_len);
			at += 2 + f->value_len;
			first->value_at = (uint32_t)start;
			first->value_len = (uint32_t)(at - start);
			f->name_len = 0;
		}
	}
}

static size_t joined_room(const struct http_head *head)
{
	size_t room = 0;

	for (size_t i = 0; head->has_duplicates && i < head->fields_len; i++)
		room += head->fields[i].value_len + 2;
	return room;
}

struct http_req *http_req_new(struct http_conn *conn, const struct http_head *head, struct str text)
{
	bool is_inline = !head->is_chunked && head->content_length <= HTTP_INLINE_BODY_BYTES;
	size_t fields_size = head->fields_len * sizeof(*head->fields);
	size_t body_size = is_inline ? (size_t)head->content_length : 0;
	size_t text_at = sizeof(struct http_req) + fields_size;
	size_t body_at = text_at + text.n + joined_room(head);
	size_t arena_at = aligned(body_at + body_size);
	size_t arena_size = arena_at + HTTP_ARENA_BYTES < HTTP_REQ_BYTES ? HTTP_REQ_BYTES - arena_at : HTTP_ARENA_BYTES;
	struct http_req *req = mem_alloc(arena_at + arena_size);
	char *copy = (char *)req + text_at;

	*req = (struct http_req){
		.conn = conn,
		.loop = conn->loop,
		.method_name = moved(head->method_name, text, copy),
		.path = moved(head->path, text, copy),
		.query = moved(head->query, text, copy),
		.text = copy,
		.fields = (struct http_field *)(req + 1),
		.fields_len = (uint32_t)head->fields_len,
		.text_size = (uint32_t)(body_at - text_at),
		.arena_at = (uint32_t)arena_at,
		.arena_size = (uint32_t)arena_size,
		.method = head->method,
		.is_chunked = head->is_chunked,
		.is_http10 = head->is_http10,
		.is_secure = conn->tls != NULL,
		.peer = conn->peer,
		.keep_alive = head->keep_alive,
		.expects_continue = head->expects_continue,
		.is_body_inline = is_inline,
		.body = is_inline ? (char *)req + body_at : NULL,
		.content_length = head->content_length,
	};
	list_init(&req->link);
	http_timer_init(&req->timer, on_timer);
	memcpy(req->fields, head->fields, fields_size);
	memcpy(copy, text.p, text.n);
	if (head->has_duplicates)
		join_duplicates(req, copy, text.n);
	arena_init_room(&req->arena, (char *)req + arena_at, arena_size);
	return req;
}

void http_req_free(struct http_req *req)
{
	struct http_loop *loop = req->loop;

	http_timer_clear(loop, &req->timer);
	list_remove(&req->link);
	if (req->body_cap > 0)
		atomic_fetch_sub_explicit(&loop->server->body_bytes, req->body_cap, memory_order_relaxed);
	if (req->is_secret)
		mem_wipe(req->body, req->body_len);
	if (!req->is_body_inline)
		free(req->body);
	if (req->is_held)
		atomic_fetch_sub(&loop->requests_active, 1);
	mem_wipe((char *)(uintptr_t)req->text, req->text_size);
	if (req->is_secret)
		arena_release_wiped(&req->arena, (char *)req + req->arena_at, req->arena_size);
	else
		arena_release(&req->arena);
	if (req->end_fn)
		req->end_fn(req->end_arg);
	free(req);
}

bool http_req_grow_body(struct http_req *req, size_t cap)
{
	struct http_server *server = req->loop->server;
	size_t more = cap - req->body_cap, before;

	assert(cap > req->body_cap);
	before = atomic_fetch_add_explicit(&server->body_bytes, more, memory_order_relaxed);
	if (before + more > server->config.limits.max_body_total_bytes) {
		atomic_fetch_sub_explicit(&server->body_bytes, more, memory_order_relaxed);
		return false;
	}
	if (!req->is_body_inline)
		req->body = mem_realloc(req->body, cap);
	req->body_cap = cap;
	return true;
}

/* --- What the application asks --------------------------------------------------------------- */

enum http_method http_req_method(const struct http_req *req)
{
	return req->method;
}

struct str http_req_method_name(const struct http_req *req)
{
	return req->method_name;
}

struct str http_req_path(const struct http_req *req)
{
	return req->path;
}

struct str http_req_query(const struct http_req *req)
{
	return req->query;
}

struct str http_req_body(const struct http_req *req)
{
	return (struct str){req->body_len ? req->body : "", req->body_len};
}

struct str http_req_header(const struct http_req *req, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t i = 0; i < req->fields_len; i++) {
		const struct http_field *f = &req->fields[i];

		if (f->name_len == len && memcmp(req->text + f->name_at, name, len) == 0)
			return (struct str){req->text + f->value_at, f->value_len};
	}
	return STR_NULL;
}

struct arena *http_req_arena(struct http_req *req)
{
	return &req->arena;
}

void http_req_add_headers(struct http_req *req, const struct http_header *headers)
{
	size_t before = 0, more = 0;
	struct http_header *all;

	while (req->headers && req->headers[before].name)
		before++;
	while (headers[more].name)
		more++;
	if (before == 0) {
		req->headers = headers;
		return;
	}
	all = arena_calloc(&req->arena, before + more + 1, sizeof(*all));
	memcpy(all, req->headers, before * sizeof(*all));
	memcpy(all + before, headers, more * sizeof(*all));
	req->headers = all;
}

void http_req_set_secret(struct http_req *req)
{
	req->is_secret = true;
}

void http_req_keep(struct http_req *req, void *what)
{
	req->kept = what;
}

void *http_req_kept(const struct http_req *req)
{
	return req->kept;
}

int http_req_thread(const struct http_req *req)
{
	return req->loop->index;
}

uint64_t http_req_peer(const struct http_req *req)
{
	return req->peer;
}

bool http_req_is_secure(const struct http_req *req)
{
	return req->is_secure;
}

/* --- Gone, and the timer --------------------------------------------------------------------- */

bool http_req_is_gone(const struct http_req *req)
{
	return req->conn == NULL || req->conn->has_failed;
}

void http_req_on_gone(struct http_req *req, void (*fn)(struct http_req *req, void *arg), void *arg)
{
	req->gone_fn = fn;
	req->gone_arg = arg;
	/* Too late to hear of it: told before the loop sleeps. Not now, because nobody expects a call from in here. */
	if (fn && req->conn == NULL && req->is_held) {
		list_remove(&req->link);
		list_add(&req->loop->late_reqs, &req->link);
	}
}

void http_req_on_end(struct http_req *req, void (*fn)(void *arg), void *arg)
{
	req->end_fn = fn;
	req->end_arg = arg;
}

static void on_timer(struct http_timer *timer)
{
	struct http_req *req = LIST_ELEMENT(timer, struct http_req, timer);
	void (*fn)(struct http_req *req, void *arg) = req->timer_fn;

	req->timer_fn = NULL;
	fn(req, req->timer_arg);
}

void http_req_set_timer(struct http_req *req, int64_t delay_ms, void (*fn)(struct http_req *req, void *arg), void *arg)
{
	struct http_loop *loop = req->loop;

	req->timer_fn = fn;
	req->timer_arg = arg;
	/* Never due in the pass over the deadlines under way, or one that sets itself again would not let it end. */
	if (loop->is_draining || delay_ms < 1)
		delay_ms = 1;
	if (fn == NULL)
		http_timer_clear(loop, &req->timer);
	else
		http_timer_set(loop, &req->timer, http_now_ms() + delay_ms);
}

void http_req_set_stranger(struct http_req *req, bool is_stranger)
{
	req->conn->is_stranger = is_stranger;
}

/* --- What waits for clients --- */

atomic_size_t *http_conn_budget(struct http_conn *conn)
{
	struct http_server *server = conn->loop->server;

	return conn->is_stranger ? &server->stranger_bytes : &server->reply_bytes;
}

bool http_conn_has_room(struct http_conn *conn, size_t bytes)
{
	size_t max = conn->loop->server->config.limits.max_reply_total_bytes;

	if (conn->is_stranger)
		max /= HTTP_STRANGERS_PART;
	return atomic_load_explicit(http_conn_budget(conn), memory_order_relaxed) + bytes <= max;
}
