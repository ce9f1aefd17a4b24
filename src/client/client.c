#include "client/client.h"

#include "base/mem.h"
#include "client/spine_client.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_named(const char *what, const char *text, struct buf *error)
{
	if (text == NULL || text[0])
		return true;
	buf_printf(error, "the %s must be text without control characters, and not empty", what);
	return false;
}

struct client *client_new(const struct client_config *config, struct buf *error)
{
	/* What the environment says of names was looked at already, by the options: "" keeps the library from it. */
	ms_options options = {
		.url = config->url, .space = config->space ? config->space : "",
		.agent = config->agent ? config->agent : "", .task = "", .timeout_ms = config->timeout_ms,
		.key_file = config->key_file, .ca_file = config->ca_file, .cert_file = config->cert_file,
		.cert_key_file = config->cert_key_file,
		.retry = config->is_told_at_once ? MS_RETRY_NEVER : MS_RETRY_BRIEFLY, .max_connections = 1,
		.max_answer_bytes = config->max_reply_bytes,
	};
	struct client *client;
	ms_error why;

	assert(config->timeout_ms > 0 && config->max_reply_bytes > 0);
	if (!is_named("space", config->space, error) || !is_named("agent", config->agent, error))
		return NULL;
	client = mem_zalloc(sizeof(*client));
	if (ms_open(&options, &client->spine, &why) != MS_OK) {
		buf_puts(error, why.detail);
		free(client);
		return NULL;
	}
	return client;
}

void client_free(struct client *client)
{
	if (client == NULL)
		return;
	ms_close(client->spine);
	free(client);
}

bool client_was_sent(const struct client *client)
{
	return client->was_sent;
}

const char *client_url(const struct client *client)
{
	return ms_url(client->spine);
}

bool client_is_local(const struct client *client)
{
	return client->spine->is_local;
}

/* --- A call --- */

static bool give_data(void *arg, const char *data, size_t len)
{
	const struct client_request *request = arg;

	return request->on_data(request->data_arg, (struct str){data, len});
}

static void give_header(void *arg, const char *name, size_t name_len, const char *value, size_t value_len)
{
	const struct client_request *request = arg;

	request->on_header(request->data_arg, (struct str){name, name_len}, (struct str){value, value_len});
}

static void tell_retry(void *arg, const ms_error *why, int64_t left_ms)
{
	const struct client_request *request = arg;
	struct str detail = str_of(why->detail);

	while (detail.n > 0 && detail.p[detail.n - 1] == '.')
		detail.n--;
	request->on_retry(request->retry_arg, detail, left_ms);
}

void client_translate(const struct client_request *request, ms_request *ret)
{
	*ret = (ms_request){
		.method = request->method, .path = request->path, .body_len = request->body.n,
		.body = request->body.p && request->body.n == 0 ? "" : request->body.p,
		.idempotency_key = request->idempotency_key, .task = request->task, .person = request->person,
		.if_match = request->if_match, .creates = request->creates, .repeatable = request->repeatable,
		.wait_ms = request->wait_ms, .accept = request->accept, .headers = request->headers,
		.silence_ms = request->silence_ms, .on_header = request->on_header ? give_header : NULL,
		.on_data = request->on_data ? give_data : NULL, .data_arg = (void *)(uintptr_t)request,
		.is_stopped = request->is_stopped, .stop_arg = request->stop_arg,
		.on_retry = request->on_retry ? tell_retry : NULL, .retry_arg = (void *)(uintptr_t)request,
	};
}

enum client_status client_status_of(ms_status status)
{
	switch (status) {
	case MS_OK:
		return CLIENT_OK;
	case MS_UNREACHABLE:
		return CLIENT_UNREACHABLE;
	case MS_TIMED_OUT:
		return CLIENT_TIMED_OUT;
	case MS_STOPPED:
		return CLIENT_STOPPED;
	case MS_TLS_FAILED:
		return CLIENT_INSECURE;
	default:
		return CLIENT_BAD_REPLY;
	}
}

void client_read_reply(const ms_answer *answer, struct client_reply *ret)
{
	size_t len;
	const char *body = ms_answer_body(answer, &len);

	*ret = (struct client_reply){
		.status = ms_answer_status(answer), .is_replayed = ms_answer_replayed(answer),
		.calls = ms_answer_tries(answer),
	};
	buf_init(&ret->body, len);
	buf_append(&ret->body, body, len);
	snprintf(ret->etag, sizeof(ret->etag), "%s", ms_answer_etag(answer));
}

enum client_status client_call(struct client *client, const struct client_request *request, struct client_reply *ret,
			       struct buf *error)
{
	ms_answer *answer = NULL;
	ms_request translated;
	ms_status status;
	ms_error why;

	client_translate(request, &translated);
	status = ms_exchange(client->spine, &translated, &answer, &why);
	if (status == MS_OK)
		client_read_reply(answer, ret);
	else
		buf_puts(error, why.detail);
	ms_answer_free(answer);
	return client_status_of(status);
}

void client_reply_release(struct client_reply *reply)
{
	buf_release(&reply->body);
}
