/* A loop and its thread.
 *
 * Before each sleep the loop looks at the connections that asked for it, and sets one libuv timer to the earliest
 * deadline of all (beanstalkd's way: one heap, one place that computes the next wake-up). Where nothing is due
 * nothing ticks.
 *
 * Posts are taken before each sleep, too, so a loop that is awake needs no wake-up for them. One that sleeps is woken
 * through a pipe and not by uv_async_send(): there the woken thread waits, spinning, until the sender has left the
 * call, and on a busy machine the sender is what it has just pushed off the CPU.
 */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A queue of posts that has grown past this after a burst is given back. */
enum { POSTS_KEPT = 4096 };

/* The clock of libuv's timers. */
int64_t http_now_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

/* --- Deadlines ------------------------------------------------------------------------------- */

static bool timer_before(const void *a, const void *b)
{
	return ((const struct http_timer *)a)->due_ms < ((const struct http_timer *)b)->due_ms;
}

static void timer_set_pos(void *timer, size_t pos)
{
	((struct http_timer *)timer)->pos = pos;
}

void http_timer_init(struct http_timer *timer, void (*fn)(struct http_timer *timer))
{
	*timer = (struct http_timer){.pos = HEAP_NONE, .fn = fn};
}

void http_timer_set(struct http_loop *loop, struct http_timer *timer, int64_t due_ms)
{
	timer->due_ms = due_ms;
	if (timer->pos == HEAP_NONE)
		heap_insert(&loop->timers, timer);
	else
		heap_update(&loop->timers, timer->pos);
}

void http_timer_clear(struct http_loop *loop, struct http_timer *timer)
{
	if (timer->pos != HEAP_NONE)
		heap_remove(&loop->timers, timer->pos);
}

static void on_timer(uv_timer_t *handle)
{
	struct http_loop *loop = handle->data;
	int64_t now_ms = http_now_ms();
	struct http_timer *first;

	loop->timer_due_ms = INT64_MAX;
	while ((first = heap_first(&loop->timers)) != NULL && first->due_ms <= now_ms) {
		heap_remove(&loop->timers, first->pos);
		first->fn(first);
	}
}

static void arm_timer(struct http_loop *loop)
{
	const struct http_timer *first = heap_first(&loop->timers);
	int64_t due_ms = first ? first->due_ms : INT64_MAX;
	int64_t now_ms = (int64_t)uv_now(&loop->uv);

	if (due_ms == loop->timer_due_ms)
		return;
	loop->timer_due_ms = due_ms;
	if (due_ms == INT64_MAX)
		uv_timer_stop(&loop->timer);
	else
		uv_timer_start(&loop->timer, on_timer, due_ms > now_ms ? (uint64_t)(due_ms - now_ms) : 0, 0);
}

/* --- Before each sleep ----------------------------------------------------------------------- */

static void tell_late(struct http_loop *loop)
{
	while (!list_is_empty(&loop->late_reqs)) {
		struct http_req *req = LIST_ELEMENT(loop->late_reqs.next, struct http_req, link);
		void (*fn)(struct http_req *req, void *arg) = req->gone_fn;

		list_remove(&req->link);
		list_add(&loop->reqs, &req->link);
		req->gone_fn = NULL;
		if (fn)
			fn(req, req->gone_arg);
	}
}

/* Ends: each turn uses up some of the input of a connection, and nothing is read meanwhile. */
static void look_at_ready(struct http_loop *loop)
{
	tell_late(loop);
	while (!list_is_empty(&loop->ready)) {
		struct http_conn *conn = LIST_ELEMENT(loop->ready.next, struct http_conn, ready_link);

		list_remove(&conn->ready_link);
		http_conn_ready(conn);
		tell_late(loop);
	}
}

/* --- Posts ----------------------------------------------------------------------------------- */

/* A full pipe wakes it as well. */
static void wake(struct http_loop *loop)
{
	ssize_t n;

	do
		n = write(loop->wake_write, "", 1);
	while (n < 0 && errno == EINTR);
	assert(n == 1 || errno == EAGAIN);
}

void http_post(struct http_server *server, int thread, void (*fn)(void *arg), void *arg)
{
	struct http_loop *loop;
	struct http_posts *posts;
	bool must_wake = false;

	assert(thread >= 0 && thread < server->config.threads);
	loop = &server->loops[thread];
	posts = &loop->posts;
	uv_mutex_lock(&loop->lock);
	if (!loop->posts_closed) {
		if (posts->len == posts->cap) {
			posts->cap = posts->cap ? posts->cap * 2 : 64;
			posts->items = mem_reallocarray(posts->items, posts->cap, sizeof(*posts->items));
		}
		posts->items[posts->len++] = (struct http_post){fn, arg};
		must_wake = atomic_exchange(&loop->is_asleep, false);
	}
	uv_mutex_unlock(&loop->lock);
	/* The pipe stays open until the server is freed, so it does not matter that the loop may have ended by now. */
	if (must_wake)
		wake(loop);
}

static void run_posts(struct http_loop *loop)
{
	struct http_posts *batch = &loop->posts_running;
	struct http_posts empty;

	assert(batch->len == 0);
	if (batch->cap > POSTS_KEPT) {
		free(batch->items);
		*batch = (struct http_posts){0};
	}
	empty = *batch;
	uv_mutex_lock(&loop->lock);
	*batch = loop->posts;
	loop->posts = empty;
	uv_mutex_unlock(&loop->lock);
	for (size_t i = 0; i < batch->len; i++)
		batch->items[i].fn(batch->items[i].arg);
	batch->len = 0;
}

/* The posts themselves are run before the next sleep. */
static void on_wakeup(uv_poll_t *handle, int status, int events)
{
	struct http_loop *loop = handle->data;
	char bytes[16];

	(void)status;
	(void)events;
	if (read(loop->wake_read, bytes, sizeof(bytes)) < 0)
		assert(errno == EAGAIN || errno == EINTR);
}

/* From here on a post wakes the loop. What was posted since the posts were run keeps it awake. */
static void fall_asleep(struct http_loop *loop)
{
	bool has_posts;

	uv_mutex_lock(&loop->lock);
	has_posts = loop->posts.len > 0;
	atomic_store(&loop->is_asleep, !has_posts);
	uv_mutex_unlock(&loop->lock);
	if (has_posts)
		wake(loop);
}

static void on_prepare(uv_prepare_t *handle)
{
	struct http_loop *loop = handle->data;

	run_posts(loop);
	if (loop->posts_closed)	/* one of them has ended the loop */
		return;
	look_at_ready(loop);
	arm_timer(loop);
	fall_asleep(loop);
}

static void on_check(uv_check_t *handle)
{
	struct http_loop *loop = handle->data;

	atomic_store(&loop->is_asleep, false);
}

/* --- Life ------------------------------------------------------------------------------------ */

static void close_pipe(struct http_loop *loop)
{
	close(loop->wake_read);
	close(loop->wake_write);
}

/* The loop and the pipe that wakes it. */
static int open_loop(struct http_loop *loop)
{
	uv_file fds[2];
	int err = uv_pipe(fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);

	if (err)
		return err;
	loop->wake_read = fds[0];
	loop->wake_write = fds[1];
	err = uv_loop_init(&loop->uv);
	if (err) {
		close_pipe(loop);
		return err;
	}
	err = uv_poll_init(&loop->uv, &loop->wakeup, loop->wake_read);
	if (err) {
		uv_loop_close(&loop->uv);
		close_pipe(loop);
	}
	return err;
}

int http_loop_init(struct http_loop *loop, struct http_server *server, int index)
{
	const struct http_limits *limits = &server->config.limits;
	int err = open_loop(loop);

	if (err)
		return err;
	uv_poll_start(&loop->wakeup, UV_READABLE, on_wakeup);
	uv_timer_init(&loop->uv, &loop->timer);
	uv_prepare_init(&loop->uv, &loop->prepare);
	uv_prepare_start(&loop->prepare, on_prepare);
	uv_check_init(&loop->uv, &loop->check);
	uv_check_start(&loop->check, on_check);
	loop->wakeup.data = loop->timer.data = loop->prepare.data = loop->check.data = loop;

	loop->server = server;
	loop->index = index;
	uv_mutex_init(&loop->lock);
	heap_init(&loop->timers, timer_before, timer_set_pos);
	loop->timer_due_ms = INT64_MAX;
	list_init(&loop->conns);
	list_init(&loop->reqs);
	list_init(&loop->late_reqs);
	list_init(&loop->ready);
	loop->read_buf = mem_alloc(HTTP_READ_BYTES);
	if (server->config.tls)
		loop->plain_buf = mem_alloc(HTTP_READ_BYTES);
	buf_init(&loop->cipher, SIZE_MAX / 2);
	loop->fields = mem_calloc(limits->max_headers, sizeof(*loop->fields));
	buf_init(&loop->scratch, SIZE_MAX / 2);
	return 0;
}

void http_loop_run(void *arg)
{
	struct http_loop *loop = arg;
	const struct http_config *config = &loop->server->config;

	if (config->on_thread_start)
		config->on_thread_start(config->ctx, loop->index);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	/* Posts that came while the handles were closing; what they reply to has gone. */
	while (loop->posts.len > 0)
		run_posts(loop);
	if (config->on_thread_stop)
		config->on_thread_stop(config->ctx, loop->index);
}

void http_loop_end(struct http_loop *loop)
{
	uv_mutex_lock(&loop->lock);
	loop->posts_closed = true;
	uv_mutex_unlock(&loop->lock);
	uv_close((uv_handle_t *)&loop->wakeup, NULL);
	uv_close((uv_handle_t *)&loop->timer, NULL);
	uv_close((uv_handle_t *)&loop->prepare, NULL);
	uv_close((uv_handle_t *)&loop->check, NULL);
}

static void free_reqs(struct list *reqs)
{
	while (!list_is_empty(reqs))
		http_req_free(LIST_ELEMENT(reqs->next, struct http_req, link));
}

void http_loop_release(struct http_loop *loop)
{
	int err;

	if (!loop->posts_closed) {
		http_loop_end(loop);
		uv_run(&loop->uv, UV_RUN_DEFAULT);
	}
	assert(list_is_empty(&loop->conns));
	/* Requests that the application still held when it was stopped: it must not touch them any more. */
	free_reqs(&loop->reqs);
	free_reqs(&loop->late_reqs);
	err = uv_loop_close(&loop->uv);
	assert(err == 0);
	(void)err;
	close_pipe(loop);
	free(loop->posts.items);
	free(loop->posts_running.items);
	heap_release(&loop->timers);
	buf_release(&loop->scratch);
	free(loop->fields);
	free(loop->read_buf);
	free(loop->plain_buf);
	buf_release(&loop->cipher);
	uv_mutex_destroy(&loop->lock);
}

void http_loop_tell(struct http_loop *loop)
{
	struct http_server *server = loop->server;

	if (!loop->is_draining)
		return;
	uv_mutex_lock(&server->lock);
	uv_cond_signal(&server->changed);
	uv_mutex_unlock(&server->lock);
}
