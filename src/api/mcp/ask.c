#include "api/mcp/ask.h"

#include "base/mem.h"
#include "codec/base64.h"
#include "codec/hmac.h"
#include "codec/sha256.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* A person takes their time; what was asked longer ago is asked again. */
enum { ANSWER_MS = 300 * 1000, STATE_MS = 600 * 1000, STATE_MAX = 4096, DEPTH_MAX = 32 };

struct asking {
	pthread_mutex_t lock;
	struct mcp_call *calls;		/* that wait for a response; each is changed by its own thread */
};

struct asking *ask_new(void)
{
	struct asking *a = mem_zalloc(sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void ask_free(struct asking *a)
{
	if (a)
		pthread_mutex_destroy(&a->lock);
	free(a);
}

const struct json *ask_input(const struct mcp_call *m, const char *key)
{
	for (size_t i = 0; i < m->input_count; i++)
		if (str_is(m->inputs[i].key, key) && m->inputs[i].answer.type == JSON_OBJECT)
			return &m->inputs[i].answer;
	return NULL;
}

/* --- The state that a client carries: "EXPIRES:TEXT", signed together with what it is for --- */

static void sign(const struct mcp_call *m, struct str payload, uint8_t ret[HMAC_SHA256_SIZE])
{
	struct str name = mcp_param(m, "name"), agent = http_req_header(m->req, "spine-agent");
	struct str space = http_req_header(m->req, "spine-space");
	uint64_t key = mcp_key(m);
	struct str parts[] = {
		m->method, STR("\n"), name, STR("\n"), agent, STR("\n"), space, STR("\n"),
		{(const char *)&key, sizeof(key)}, payload,
	};

	hmac_sha256((struct str){(const char *)m->mcp->key, sizeof(m->mcp->key)}, parts,
		    sizeof(parts) / sizeof(parts[0]), ret);
}

static void put_state(struct mcp_call *m, struct str state)
{
	uint8_t mac[HMAC_SHA256_SIZE];
	struct buf payload, text;

	buf_init(&payload, STATE_MAX);
	buf_init(&text, 2 * STATE_MAX);
	buf_printf(&payload, "%lld:%.*s", (long long)(engine_now_ms(m->mcp->api->engine) + STATE_MS), STR_ARG(state));
	sign(m, buf_str(&payload), mac);
	base64_encode((struct str){(const char *)mac, sizeof(mac)}, BASE64_URL, &text);
	buf_putc(&text, '.');
	base64_encode(buf_str(&payload), BASE64_URL, &text);
	json_member_str(&m->w, "requestState", buf_str(&text));
	buf_release(&payload);
	buf_release(&text);
}

static bool read_state(struct mcp_call *m, struct str text)
{
	struct str mac = str_cut(&text, '.');
	uint8_t right[HMAC_SHA256_SIZE];
	struct buf given, payload;
	struct str rest, expires;
	int64_t at_ms = 0;
	bool ok;

	buf_init(&given, HMAC_SHA256_SIZE);
	buf_init(&payload, STATE_MAX);
	ok = text.p && base64_decode(mac, BASE64_URL, &given) && base64_decode(text, BASE64_URL, &payload) &&
	     given.len == sizeof(right);
	if (ok)
		sign(m, buf_str(&payload), right);
	ok = ok && sha256_equal((const uint8_t *)given.data, right);
	rest = arena_str(m->call.op->arena, buf_str(&payload));
	expires = str_cut(&rest, ':');
	ok = ok && rest.p && str_to_i64(expires, &at_ms) && at_ms > engine_now_ms(m->mcp->api->engine);
	if (ok)
		m->state = rest;
	buf_release(&given);
	buf_release(&payload);
	return ok;
}

bool ask_read(struct mcp_call *m)
{
	const struct json *inputs = json_get(m->params, "inputResponses"), *state = json_get(m->params, "requestState");

	if (!mcp_is_modern(m))
		return true;
	if (inputs && inputs->type != JSON_OBJECT) {
		mcp_error(m, MCP_INVALID_PARAMS, "inputResponses is %s; expected an object",
			  json_type_name(inputs->type));
		return false;
	}
	if (state && (state->type != JSON_STRING || !read_state(m, state->s))) {
		mcp_error(m, MCP_INVALID_PARAMS, "requestState is not what this server gave for this request, or is "
			  "too old; send the request without it");
		return false;
	}
	for (uint32_t i = 0; inputs && i < inputs->count && m->input_count < MCP_INPUTS_MAX; i++)
		m->inputs[m->input_count++] = (struct mcp_input){
			.key = inputs->members[i].key, .answer = inputs->members[i].value,
		};
	return true;
}

/* --- Waiting for responses, before 2026-07-28 --- */

static void forget(struct mcp_call *m)
{
	struct asking *a = m->mcp->asking;

	pthread_mutex_lock(&a->lock);
	for (struct mcp_call **at = &a->calls; *at; at = &(*at)->next_asking)
		if (*at == m) {
			*at = m->next_asking;
			break;
		}
	pthread_mutex_unlock(&a->lock);
	held_remove(&m->held);
	http_req_set_timer(m->req, 0, NULL, NULL);
	http_req_on_gone(m->req, NULL, NULL);
}

static void on_unwelcome(void *arg)
{
	struct mcp_call *m = arg;

	forget(m);
	if (held_is_welcome(&m->held))
		mcp_error(m, MCP_INTERNAL, "the server is stopping, or the space moves to another one; call again");
	else
		mcp_error(m, MCP_INVALID_REQUEST, "the key of this call has ended");
}

static void on_late(struct http_req *req, void *arg)
{
	struct mcp_call *m = arg;

	(void)req;
	forget(m);
	mcp_error(m, MCP_INTERNAL, "the client has not answered what it was asked within %d s", ANSWER_MS / 1000);
}

static void on_gone(struct http_req *req, void *arg)
{
	struct mcp_call *m = arg;

	forget(m);
	buf_release(&m->out);
	buf_release(&m->call.reply);
	http_stream_end(req);
}

static void wait_for_answers(struct mcp_call *m)
{
	struct asking *a = m->mcp->asking;

	pthread_mutex_lock(&a->lock);
	m->next_asking = a->calls;
	a->calls = m;
	pthread_mutex_unlock(&a->lock);
	held_add(m->call.api, m->req, &m->held, m->access, on_unwelcome, m);
	http_req_set_timer(m->req, ANSWER_MS, on_late, m);
	http_req_on_gone(m->req, on_gone, m);
}

struct response {
	struct mcp *mcp;
	uint64_t key;			/* of who answers */
	char id[40];
	struct buf body;
};

/* The call of that key that asked that, and where; NULL: none does any more. With the lock held. */
static struct mcp_call *asked_by(struct asking *a, uint64_t key, const char *id, size_t *ret_input)
{
	for (struct mcp_call *m = a->calls; m; m = m->next_asking)
		for (*ret_input = 0; *ret_input < m->input_count; (*ret_input)++)
			if (mcp_key(m) == key && strcmp(m->inputs[*ret_input].id, id) == 0)
				return m;
	return NULL;
}

static bool is_answered(const struct mcp_call *m)
{
	for (size_t i = 0; i < m->input_count; i++)
		if (m->inputs[i].answer.type == JSON_NULL)
			return false;
	return true;
}

/* On the thread of the call that asked. */
static void deliver(void *arg)
{
	struct response *r = arg;
	struct json message = {0};
	struct json_error error;
	struct mcp_call *m;
	size_t input;

	pthread_mutex_lock(&r->mcp->asking->lock);
	m = asked_by(r->mcp->asking, r->key, r->id, &input);
	pthread_mutex_unlock(&r->mcp->asking->lock);
	if (m && json_parse(buf_str(&r->body), DEPTH_MAX, http_req_arena(m->req), &message, &error)) {
		const struct json *result = json_get(&message, "result");

		/* An error is an answer that says nothing. */
		m->inputs[input].answer = result && result->type == JSON_OBJECT ? *result
									       : (struct json){.type = JSON_OBJECT};
		if (is_answered(m)) {
			forget(m);
			m->again(m);
		}
	}
	buf_release(&r->body);
	free(r);
}

void ask_answered(struct mcp_call *m)
{
	struct str body = http_req_body(m->req);
	struct response *r = mem_zalloc(sizeof(*r));
	struct mcp_call *asker = NULL;
	size_t input;
	int thread = 0;

	r->mcp = m->mcp;
	r->key = mcp_key(m);
	if (m->id->type == JSON_STRING && m->id->s.n < sizeof(r->id)) {
		memcpy(r->id, m->id->s.p, m->id->s.n);
		pthread_mutex_lock(&m->mcp->asking->lock);
		asker = asked_by(m->mcp->asking, mcp_key(m), r->id, &input);
		thread = asker ? http_req_thread(asker->req) : 0;
		pthread_mutex_unlock(&m->mcp->asking->lock);
	}
	buf_init(&r->body, body.n + 1);
	if (asker == NULL) {
		free(r);
		return;
	}
	buf_put(&r->body, body);
	http_post(m->call.api->http, thread, deliver, r);
}

/* --- Asking --- */

void ask_begin(struct mcp_call *m)
{
	m->input_count = 0;
	if (!mcp_is_modern(m)) {
		mcp_stream(m);
		return;
	}
	mcp_begin_type(m, "input_required");
	json_key(&m->w, "inputRequests");
	json_begin_object(&m->w);
}

/* One that somebody else could guess would let them answer in place of the client. */
static void make_id(char ret[40])
{
	uint64_t chance[2];

	if (getentropy(chance, sizeof(chance)) != 0)
		abort();
	snprintf(ret, 40, "ask-%016llx%016llx", (unsigned long long)chance[0], (unsigned long long)chance[1]);
}

static void put_request(struct mcp_call *m, struct mcp_input *input, const char *method, struct str params)
{
	make_id(input->id);
	buf_clear(&m->out);
	json_writer_init(&m->w, &m->out);
	json_begin_object(&m->w);
	json_member_cstr(&m->w, "jsonrpc", "2.0");
	json_member_cstr(&m->w, "id", input->id);
	json_member_cstr(&m->w, "method", method);
	json_key(&m->w, "params");
	json_put_raw(&m->w, params);
	json_end_object(&m->w);
	mcp_stream_put(m, buf_str(&m->out));
}

void ask_add(struct mcp_call *m, const char *key, const char *method, struct str params)
{
	struct mcp_input *input = &m->inputs[m->input_count++];

	*input = (struct mcp_input){.key = str_of(key)};
	if (!mcp_is_modern(m)) {
		put_request(m, input, method, params);
		return;
	}
	json_key(&m->w, key);
	json_begin_object(&m->w);
	json_member_cstr(&m->w, "method", method);
	json_key(&m->w, "params");
	json_put_raw(&m->w, params);
	json_end_object(&m->w);
}

void ask_end(struct mcp_call *m, struct str state)
{
	if (!mcp_is_modern(m)) {
		m->state = state;
		wait_for_answers(m);
		return;
	}
	json_end_object(&m->w);
	if (state.p)
		put_state(m, state);
	mcp_end(m);
}
