/* A request until it is answered: deadline, keys, and when to send it again.
 *
 * A request is sent again where that cannot do anything twice:
 *
 *   - no connection could be made: it was not sent;
 *   - the connection was lost, and the request is safe: it reads, may be said twice, or carries an Idempotency-Key;
 *   - the server refused it with 503 and said when to come again: it is busy, or the space moves to another node.
 *     What is refused has changed nothing. A breaker that is open ("circuit_open") is no such refusal: whoever waits is
 *     told.
 *
 * What may have happened although it was refused ("outcome_unknown", 500) is never sent again from here.
 */
#include "exchange.h"

#include "error.h"
#include "transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
	BRIEF_REPAIRS = 3,		/* so often is a connection made again while a person waits */
	BRIEF_AFTER_MAX_MS = 5000,	/* who says "not before a minute" is not asked again while a person waits */
	FIRST_PAUSE_MS = 100,		/* doubled for each further try */
	PAUSE_MAX_MS = 2000,		/* a server that takes long to start is asked every other second */
	SLICE_MS = 200,			/* of a pause, between two looks at is_stopped */
	TELL_AFTER_MS = 1000,		/* what is over sooner is not worth a word */
	LATE_MS = 5000,			/* how much later than asked for the answer to a call that waits may come */
	KEY_BYTES = 16,
	WAIT_MAX_MS = 24 * 60 * 60 * 1000,
};

struct attempt {
	struct msi_transfer transfer;
	ms_status status;		/* of the last try */
	CURLcode code;
	ms_error error;			/* of the last try */
	int64_t begun_ns;
	int64_t until_ns;		/* no try begins later */
	int tries;
	int repairs;			/* tries before it had no connection, or lost it */
	bool was_lost;			/* one of the tries before it was */
	bool was_told;			/* on_retry was called */
	bool is_safe;
};

/* --- Keys --- */

static bool make_key(char ret[KEY_BYTES * 2 + 1])
{
	unsigned char bytes[KEY_BYTES];

	/* A key that is not unique could replay somebody else's answer. */
	if (getentropy(bytes, sizeof(bytes)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

/* --- Pauses --- */

static bool is_lost(const struct msi_transfer *t, CURLcode code)
{
	if (msi_transfer_is_insecure(t, code))
		return false;
	return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
	       code == CURLE_PARTIAL_FILE;
}

/* Half to all of a time that doubles: clients that lost their server together do not come back together. */
static int64_t backoff_ms(const struct attempt *a)
{
	int shift = a->tries - 1 < 8 ? a->tries - 1 : 8;
	int64_t ms = (int64_t)FIRST_PAUSE_MS << shift;
	unsigned char chance = 255;

	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	if (a->transfer.client->retry == MS_RETRY && getentropy(&chance, 1) != 0)
		chance = 255;
	return ms / 2 + ms / 2 * chance / 255;
}

/* The server is busy, or about to stop, and says so: after how long to come again, or -1. */
static int64_t busy_pause_ms(struct attempt *a)
{
	struct ms_answer *answer = a->transfer.answer;
	bool is_brief = a->transfer.client->retry == MS_RETRY_BRIEFLY;
	int64_t after_ms = answer->retry_after_ms, pause_ms = backoff_ms(a);
	const char *code;

	if (answer->status != 503 || msi_answer_read(answer, NULL) != MS_OK)
		return -1;
	code = ms_json_text(ms_json_get(&answer->tree.root, "code"), NULL);
	if (code && strcmp(code, "circuit_open") == 0)
		return -1;
	if (after_ms < 0)
		return !is_brief && code && strcmp(code, "draining") == 0 ? pause_ms : -1;
	if (is_brief && after_ms > BRIEF_AFTER_MAX_MS)
		return -1;
	return after_ms > pause_ms ? after_ms : pause_ms;
}

/* How long to wait before the next try; -1 where there is none. */
static int64_t pause_before_next(struct attempt *a)
{
	ms_retry retry = a->transfer.client->retry;

	if (retry == MS_RETRY_NEVER || a->transfer.has_begun)
		return -1;
	if (a->status == MS_OK)
		return busy_pause_ms(a);
	if (retry == MS_RETRY_BRIEFLY && a->repairs >= BRIEF_REPAIRS)
		return -1;
	if (is_lost(&a->transfer, a->code))
		return a->is_safe ? backoff_ms(a) : -1;
	/* Nothing listens: while a person waits, that is worth another try only where something did a moment ago. */
	if (a->code == CURLE_COULDNT_CONNECT)
		return retry == MS_RETRY || a->was_lost ? backoff_ms(a) : -1;
	return -1;
}

/* False where is_stopped says so meanwhile. */
static bool pause_for(const ms_request *request, int64_t ms)
{
	while (ms > 0) {
		int64_t slice = ms < SLICE_MS ? ms : SLICE_MS;
		struct timespec left = {.tv_sec = slice / 1000, .tv_nsec = slice % 1000 * 1000000};

		while (nanosleep(&left, &left) != 0 && errno == EINTR)
			;
		if (request->is_stopped && request->is_stopped(request->stop_arg))
			return false;
		ms -= slice;
	}
	return true;
}

/* --- Tries --- */

/* A call that waits is given its whole wait in each try, also where it was refused halfway. */
static int64_t deadline_of_try(const struct attempt *a)
{
	int64_t wait_ms = a->transfer.request->wait_ms, timeout_ms = a->transfer.client->timeout_ms, until_ns;

	if (wait_ms == 0)
		return a->until_ns;
	until_ns = msi_client_now_ns() + (wait_ms + (timeout_ms < LATE_MS ? timeout_ms : LATE_MS)) * 1000000;
	return until_ns > a->until_ns ? until_ns : a->until_ns;
}

static void try_once(struct attempt *a)
{
	struct msi_transfer *t = &a->transfer;

	a->tries++;
	a->code = CURLE_OK;
	t->deadline_ns = deadline_of_try(a);
	a->status = msi_transfer_begin(t, &a->error);
	if (a->status == MS_OK)
		a->code = curl_easy_perform(t->curl);
	msi_transfer_end(t);
	if (a->status == MS_OK)
		a->status = msi_transfer_status(t, a->code, &a->error);
}

/* Somebody may sit there and wonder. */
static void tell(struct attempt *a, int64_t now_ns)
{
	const ms_request *request = a->transfer.request;
	ms_error why = a->error;

	if (a->was_told || request->on_retry == NULL || now_ns - a->begun_ns < TELL_AFTER_MS * 1000000LL)
		return;
	a->was_told = true;
	if (a->status == MS_OK)
		msi_answer_problem(a->transfer.answer, a->transfer.client->url, &why);
	request->on_retry(request->retry_arg, &why, (a->until_ns - now_ns) / 1000000);
}

static void try_until_answered(struct attempt *a)
{
	struct msi_transfer *t = &a->transfer;
	int64_t pause_ms, now_ns;
	ms_error nobody;
	bool was_nobody = false;

	for (;;) {
		try_once(a);
		pause_ms = pause_before_next(a);
		now_ns = msi_client_now_ns();
		if (pause_ms < 0 || now_ns + pause_ms * 1000000 >= a->until_ns)
			break;
		was_nobody = a->code == CURLE_COULDNT_CONNECT;
		if (was_nobody)
			nobody = a->error;
		a->was_lost = a->was_lost || is_lost(&a->transfer, a->code);
		a->repairs += a->status != MS_OK;
		tell(a, now_ns);
		if (!pause_for(t->request, pause_ms)) {
			a->status = msi_error_set(&a->error, MS_STOPPED, "stopped",
						  "stopped before the answer was there");
			break;
		}
	}
	/* That nobody is there says more than that the time is over. */
	if (a->status == MS_TIMED_OUT && was_nobody) {
		a->error = nobody;
		a->status = nobody.status;
	}
	a->error.repeated = a->was_lost;
}

static ms_status check_headers(const ms_request *request, ms_error *ret_error)
{
	const struct {
		const char *field;
		const char *value;
	} headers[] = {
		{"idempotency_key", request->idempotency_key}, {"if_match", request->if_match}, {"task", request->task},
		{"person", request->person}, {"accept", request->accept}, {"method", request->method},
		{"agent", request->agent && request->agent[0] ? request->agent : NULL},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].value && !msi_client_is_header_safe(headers[i].value))
			return msi_error_invalid(ret_error, headers[i].field, "%s must be text without control "
						 "characters, and not empty", headers[i].field);
	return MS_OK;
}

static ms_status check_request(const ms_request *request, ms_error *ret_error)
{
	if (request->method == NULL || request->path == NULL || request->path[0] != '/')
		return msi_error_invalid(ret_error, "path", "a request needs an operation, or a method and a path "
					 "that begins with /");
	for (const char *p = request->path; *p; p++)
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
			return msi_error_invalid(ret_error, "path", "the path must be encoded: it holds a blank, a "
						 "control character or one beyond ASCII");
	if (request->wait_ms < 0 || request->wait_ms > WAIT_MAX_MS)
		return msi_error_invalid(ret_error, "wait_ms", "wait_ms must be 0 to 86,400,000");
	return check_headers(request, ret_error);
}

/* Takes a handle, tries, gives it back. */
static ms_status perform(ms_client *client, struct attempt *a, ms_error *ret_error)
{
	ms_status status = msi_client_take(client, a->until_ns, &a->transfer.curl, ret_error);

	if (status != MS_OK)
		return status;
	try_until_answered(a);
	msi_client_give_back(client, a->transfer.curl);
	if (ret_error && a->status != MS_OK)
		*ret_error = a->error;
	return a->status;
}

ms_status msi_exchange(ms_client *client, const ms_request *request, struct ms_answer **ret, bool *ret_repeated,
		       ms_error *ret_error)
{
	struct attempt a = {.transfer = {.client = client, .request = request, .key = request->idempotency_key}};
	ms_status status = check_request(request, ret_error);
	char made_key[KEY_BYTES * 2 + 1];

	if (status != MS_OK)
		return status;
	if (request->creates && a.transfer.key == NULL) {
		if (!make_key(made_key))
			return msi_error_set(ret_error, MS_NO_MEMORY, "no_memory", "the system has no random numbers");
		a.transfer.key = made_key;
	}
	a.is_safe = request->repeatable || a.transfer.key || strcmp(request->method, "GET") == 0;
	a.transfer.timeout_ms = client->timeout_ms + request->wait_ms;
	a.begun_ns = msi_client_now_ns();
	a.until_ns = a.begun_ns + a.transfer.timeout_ms * 1000000;
	a.transfer.answer = msi_answer_new(client->max_answer_bytes);
	if (a.transfer.answer == NULL)
		return msi_error_no_memory(ret_error);
	status = perform(client, &a, ret_error);
	*ret_repeated = a.was_lost;
	a.transfer.answer->tries = a.tries;
	if (status == MS_OK)
		*ret = a.transfer.answer;
	else
		ms_answer_free(a.transfer.answer);
	return status;
}
