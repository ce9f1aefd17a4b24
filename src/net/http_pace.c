/* Replies that are held back. Whoever asks again as soon as it is refused gets the refusal a moment later, and so asks
 * less often: no thread waits, only the connection does.
 *
 * What is held is the bytes of the reply. Its request has ended, with its body and all that it had allocated. The
 * connection's next requests wait, as they do behind any other. A drain lets it go at once.
 */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void http_req_hold_reply(struct http_req *req, int64_t delay_ms)
{
	assert(delay_ms >= 0 && delay_ms <= UINT32_MAX);
	req->hold_ms = req->loop->is_draining ? 0 : (uint32_t)delay_ms;
}

unsigned http_req_refusals(const struct http_req *req)
{
	return req->conn ? req->conn->refusals : 0;
}

size_t http_server_held(const struct http_server *server)
{
	return atomic_load_explicit(&server->paced, memory_order_relaxed);
}

void http_pace_put(struct http_conn *conn, int64_t delay_ms, struct str head, struct buf *body)
{
	struct http_paced *paced = conn->paced;
	size_t before;

	if (paced == NULL) {
		paced = conn->paced = mem_zalloc(sizeof(*paced));
		buf_init(&paced->reply, SIZE_MAX / 2);
		paced->delay_ms = delay_ms;
		paced->budget = http_conn_budget(conn);
		atomic_fetch_add_explicit(&conn->loop->server->paced, 1, memory_order_relaxed);
	}
	before = paced->reply.len;
	buf_put(&paced->reply, head);
	if (body) {
		buf_put(&paced->reply, buf_str(body));
		buf_release(body);
	}
	atomic_fetch_add_explicit(paced->budget, paced->reply.len - before, memory_order_relaxed);
}

void http_pace_begin(struct http_conn *conn)
{
	assert(conn->paced);
	conn->req = NULL;
	http_conn_set_state(conn, HTTP_CONN_PACED);
	if (!conn->is_taking)
		http_conn_settle(conn);
}

void http_pace_drop(struct http_conn *conn)
{
	struct http_paced *paced = conn->paced;

	if (paced == NULL)
		return;
	conn->paced = NULL;
	atomic_fetch_sub_explicit(paced->budget, paced->reply.len, memory_order_relaxed);
	atomic_fetch_sub_explicit(&conn->loop->server->paced, 1, memory_order_relaxed);
	buf_release(&paced->reply);
	free(paced);
}

void http_pace_end(struct http_conn *conn)
{
	assert(conn->state == HTTP_CONN_PACED);
	http_conn_send(conn, buf_str(&conn->paced->reply), NULL);
	http_pace_drop(conn);
	http_conn_replied(conn);
}
