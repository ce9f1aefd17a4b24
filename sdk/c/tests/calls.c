/* Every call of memory_spine.h against a real server: calls URL. */
#include "check.h"

#include <locale.h>

static ms_client *spine;
static ms_error error;

/* --- Memories --- */

static void test_a_memory_is_stored_read_found_pinned_and_forgotten(void)
{
	const char *tags[] = {"gateway", "r\xc3\xa9sum\xc3\xa9", NULL};
	ms_answer *stored, *read, *found, *pinned, *gone;
	const char *id;

	WELL(ms_store(spine, &(ms_memory){
		.content = "The gateway answers 429 with \"Retry-After\".\n\tIn seconds.", .summary = "429",
		.kind = "fact", .tags = tags, .importance = "high", .trust = "user", .ttl_s = 86400,
		.metadata_json = " {\"a\": [1, 2.5]} ",
		.extra_json = "{\"agent\": \"scribe\"}",
	}, &stored, &error));
	id = ms_id(stored);
	CHECK(id && strncmp(id, "ms-", 3) == 0);
	CHECK(ms_answer_status(stored) == 201);
	WELL(ms_get(spine, id, &read, &error));
	CHECK(same(text_at(read, "/content"), "The gateway answers 429 with \"Retry-After\".\n\tIn seconds."));
	CHECK(same(text_at(read, "/tags/1"), "r\xc3\xa9sum\xc3\xa9"));
	CHECK(same(text_at(read, "/agent"), "scribe"));
	CHECK(ms_json_number(ms_json_find(ms_answer_json(read), "/metadata/a/1"), 0) == 2.5);
	CHECK(ms_answer_etag(read)[0] == '"');
	WELL(ms_pin(spine, id, &pinned, &error));
	CHECK(ms_json_bool(ms_json_get(ms_answer_json(pinned), "pinned"), false));
	WELL(ms_search(spine, &(ms_search_options){.query = "gateway", .limit = 5, .tags = tags, .pinned = true,
						   .kind = "fact", .explain = true}, &found, &error));
	CHECK(ms_json_count(ms_json_find(ms_answer_json(found), "/memories")) == 1);
	CHECK(same(text_at(found, "/memories/0/id"), id));
	WELL(ms_unpin(spine, id, NULL, &error));
	WELL(ms_forget(spine, id, &gone, &error));
	CHECK(same(text_at(gone, "/state"), "forgotten"));
	ms_answer_free(stored);
	ms_answer_free(read);
	ms_answer_free(pinned);
	ms_answer_free(found);
	ms_answer_free(gone);
}

static void test_the_same_key_stores_once(void)
{
	ms_memory memory = {.content = "Once.", .idempotency_key = "a-key-of-mine"};
	ms_answer *first, *again;

	WELL(ms_store(spine, &memory, &first, &error));
	WELL(ms_store(spine, &memory, &again, &error));
	CHECK(same(ms_id(first), ms_id(again)));
	CHECK(!ms_answer_replayed(first) && ms_answer_replayed(again));
	ms_answer_free(first);
	ms_answer_free(again);
}

enum { LARGE = 255000, LARGE_COUNT = 34 };	/* together more than the 8 MiB of an answer */

static const char *large_ids[LARGE_COUNT + 2];	/* and one that is not there */

static void store_large(ms_answer **stored)
{
	static char text[LARGE + 1];

	memset(text, 'a', LARGE);
	for (int i = 0; i < LARGE_COUNT; i++) {
		WELL(ms_store(spine, &(ms_memory){.content = text}, &stored[i], &error));
		large_ids[i] = ms_id(stored[i]);
	}
	large_ids[LARGE_COUNT] = "ms-999999";
}

static void check_large(ms_answer *answer)
{
	const ms_json *memories = ms_json_get(ms_answer_json(answer), "memories");

	CHECK(ms_json_count(memories) == LARGE_COUNT);
	for (int i = 0; i < LARGE_COUNT; i++)
		CHECK(same(ms_json_text(ms_json_get(ms_json_at(memories, (size_t)i), "id"), NULL), large_ids[i]));
	CHECK(ms_json_count(ms_json_get(ms_answer_json(answer), "missing")) == 1);
	CHECK(same(text_at(answer, "/missing/0/id"), "ms-999999"));
	CHECK(same(text_at(answer, "/missing/0/reason"), "unknown"));
	ms_answer_free(answer);
}

static void test_fetch_and_need_give_also_what_one_answer_has_no_room_for(void)
{
	ms_options narrow = {.url = ms_url(spine), .space = "calls", .max_answer_bytes = LARGE * (LARGE_COUNT - 1)};
	ms_answer *stored[LARGE_COUNT], *answer;
	ms_client *client;
	ms_work *work;

	store_large(stored);
	WELL(ms_fetch(spine, large_ids, &answer, &error));
	CHECK(ms_answer_status(answer) == 200);
	check_large(answer);
	WELL(ms_send(spine, &(ms_delivery){.envelope = &(ms_envelope){.to = "reader", .summary = "Read."}}, NULL,
		     &error));
	WELL(ms_receive(spine, &(ms_receive_options){.agent = "reader", .wait_ms = 5000}, &work, &error));
	WELL(ms_need(work, large_ids, &answer, &error));
	CHECK(same(text_at(answer, "/handoff/id"), ms_work_id(work)));
	check_large(answer);
	WELL(ms_complete(work, NULL, NULL, &error));
	ms_work_free(work);
	WELL(ms_open(&narrow, &client, &error));
	CHECK(ms_fetch(client, large_ids, &answer, &error) == MS_BAD_ANSWER && answer == NULL);
	CHECK(strstr(error.detail, "max_answer_bytes"));
	ms_close(client);
	WELL(ms_fetch(spine, (const char *[]){NULL}, &answer, &error));
	CHECK(ms_json_count(ms_json_get(ms_answer_json(answer), "memories")) == 0);
	ms_answer_free(answer);
	CHECK(ms_fetch(spine, NULL, &answer, &error) == MS_INVALID && same(error.field, "ids"));
	for (int i = 0; i < LARGE_COUNT; i++) {
		WELL(ms_forget(spine, ms_id(stored[i]), NULL, &error));
		ms_answer_free(stored[i]);
	}
}

/* --- Errors --- */

static void test_a_refusal_says_what_where_and_whether_to_try_again(void)
{
	ms_answer *none = (ms_answer *)1;

	CHECK(ms_store(spine, &(ms_memory){.content = "x", .importance = "urgent"}, &none, &error) == MS_REFUSED);
	CHECK(none == NULL && error.status == MS_REFUSED && error.http_status == 422);
	CHECK(same(error.code, "invalid_field") && same(error.field, "importance"));
	CHECK(error.detail[0] && !error.retryable && !error.repeated && error.retry_after_ms == -1);
	CHECK(ms_get(spine, "ms-999999", NULL, &error) == MS_REFUSED && error.http_status == 404);
	CHECK(ms_get(spine, "ms-999999", NULL, NULL) == MS_REFUSED);
}

static void test_what_cannot_be_sent_is_told_before(void)
{
	static const ms_envelope broken = {.to = "a", .summary = "b", .constraints_json = "{\"a\":1}, \"x\": {}"};
	static const ms_delivery nothing = {.to = "a"};
	static const ms_arg dots[] = {{.name = "id", .text = ".."}, {.name = NULL}};
	ms_work *work;

	CHECK(ms_store(spine, &(ms_memory){.content = "\xff"}, NULL, &error) == MS_INVALID);
	CHECK(same(error.code, "invalid_argument") && same(error.field, "content") && error.http_status == 0);
	CHECK(ms_store(spine, &(ms_memory){.summary = "x"}, NULL, &error) == MS_INVALID);
	CHECK(same(error.field, "content"));
	CHECK(ms_pack(spine, &broken, NULL, &error) == MS_INVALID && same(error.field, "constraints"));
	CHECK(ms_pack(spine, &(ms_envelope){.to = "a", .summary = "b", .constraints_json = "[]"}, NULL, &error) ==
	      MS_INVALID);
	CHECK(ms_pack(spine, &(ms_envelope){.to = "a", .summary = "b", .extra_json = "7"}, NULL, &error) == MS_INVALID);
	CHECK(ms_send(spine, &nothing, NULL, &error) == MS_INVALID && same(error.field, "envelope_id"));
	CHECK(ms_get(spine, NULL, NULL, &error) == MS_INVALID && same(error.field, "id"));
	CHECK(ms_search(spine, &(ms_search_options){.limit = 1001}, NULL, &error) == MS_INVALID);
	CHECK(ms_receive(spine, &(ms_receive_options){.agent = "a\r\nb"}, &work, &error) == MS_INVALID);
	CHECK(ms_receive(spine, &(ms_receive_options){.agent = "a", .wait_ms = -1}, &work, &error) == MS_INVALID);
	CHECK(ms_call(spine, &(ms_request){.operation = "fly"}, NULL, &error) == MS_INVALID);
	CHECK(ms_call(spine, &(ms_request){.method = "GET", .path = "/a b"}, NULL, &error) == MS_INVALID);
	CHECK(ms_call(spine, &(ms_request){.method = "GET"}, NULL, &error) == MS_INVALID);
	CHECK(ms_call(spine, &(ms_request){.operation = "readMemory", .args = dots}, NULL, &error) == MS_INVALID);
}

static void test_a_client_is_opened_for_an_address_and_nothing_else(void)
{
	static const ms_options wrong[] = {
		{.url = ""}, {.url = "ftp://127.0.0.1"}, {.url = "http://a:b@127.0.0.1"}, {.url = "http://127.0.0.1/x"},
		{.space = "a\nb"}, {.agent = " a"}, {.key = "a\r\nb"}, {.timeout_ms = -1}, {.max_connections = 5000},
		{.max_answer_bytes = (size_t)1 << 31},
	};
	ms_client *client;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(ms_open(&wrong[i], &client, &error) == MS_INVALID && client == NULL && error.field[0]);
	ms_close(NULL);
	ms_answer_free(NULL);
	ms_work_free(NULL);
	ms_free(NULL);
}

static void test_a_server_that_is_not_there_is_told_in_time(void)
{
	ms_client *client;

	WELL(ms_open(&(ms_options){.url = "http://127.0.0.1:1", .timeout_ms = 300}, &client, &error));
	CHECK(ms_stats(client, NULL, NULL, &error) == MS_UNREACHABLE && same(error.code, "connect_failed"));
	CHECK(error.retryable && strstr(error.detail, "127.0.0.1:1"));
	ms_close(client);
}

/* --- Work --- */

static ms_work *take(const char *agent)
{
	ms_receive_options options = {.agent = agent, .wait_ms = 10000, .instance = "one"};
	ms_work *work;

	WELL(ms_receive(spine, &options, &work, &error));
	CHECK(work != NULL);
	return work;
}

static void send_to(const char *agent, const char *summary)
{
	ms_envelope envelope = {.to = agent, .summary = summary};

	WELL(ms_send(spine, &(ms_delivery){.envelope = &envelope, .max_attempts = 5}, NULL, &error));
}

static void test_work_is_packed_sent_received_and_completed(void)
{
	const char *refs[] = {NULL, NULL}, *open[] = {"Which parser?", NULL}, *fallbacks[] = {"spare", NULL};
	ms_answer *memory, *envelope, *sent, *now, *done;
	ms_work *work;

	WELL(ms_store(spine, &(ms_memory){.content = "The grammar is LL(1)."}, &memory, &error));
	refs[0] = ms_id(memory);
	WELL(ms_pack(spine, &(ms_envelope){
		.to = "coder", .summary = "Write the parser.", .intent = "I want \xc2\xab" "a\xc2\xbb parser.",
		.state = "planned", .constraints_json = "{\"max_files\": 3}", .refs = refs, .open_decisions = open,
		.history_json = "[{\"agent\": \"planner\", \"action\": \"planned\"}]", .from = "planner",
		.expected_output_json = "{\"format\": \"patch\"}", .task = "parser", .strategy = "full",
		.extra_json = "{\"max_hops\": 7}",
	}, &envelope, &error));
	CHECK(ms_json_int(ms_json_find(ms_answer_json(envelope), "/lineage/max_hops"), 0) == 7);
	WELL(ms_send(spine, &(ms_delivery){
		.envelope_id = ms_id(envelope), .to = "coder", .ack_timeout_ms = 20500, .max_attempts = 2,
		.fallbacks = fallbacks, .priority = 7, .queue_timeout_ms = 60000,
	}, &sent, &error));
	CHECK(same(text_at(sent, "/state"), "queued"));
	work = take("coder");
	CHECK(same(ms_work_id(work), ms_id(sent)) && same(ms_work_envelope_id(work), ms_id(envelope)));
	CHECK(same(ms_work_intent(work), "I want \xc2\xab" "a\xc2\xbb parser.") && same(ms_work_task(work), "parser"));
	CHECK(same(ms_work_summary(work), "Write the parser.") && same(ms_work_to(work), "coder"));
	CHECK(same(ms_work_from(work), "planner") && ms_work_attempt(work) == 1 && !ms_work_redelivered(work));
	CHECK(strstr(ms_work_prompt(work), "The grammar is LL(1).") != NULL);
	CHECK(strstr(ms_work_envelope(work), "\"max_files\":3") != NULL);
	WELL(ms_store(spine, &(ms_memory){.content = "Found.", .task = ms_work_task(work)}, &now, &error));
	CHECK(same(text_at(now, "/task"), "parser"));
	ms_answer_free(now);
	CHECK(ms_work_lease(work)[0] && ms_json_type(ms_work_json(work)) == MS_OBJECT);
	WELL(ms_need(work, refs, &now, &error));
	CHECK(same(text_at(now, "/memories/0/id"), refs[0]));
	ms_answer_free(now);
	WELL(ms_progress(work, "half of it", NULL, &error));
	WELL(ms_store(spine, &(ms_memory){.content = "For all.", .shared = true}, NULL, &error));
	WELL(ms_ack(work, 30000, NULL, &error));
	WELL(ms_progress(work, NULL, NULL, &error));
	WELL(ms_complete(work, &(ms_result){.json = "{\"files\": 2}", .gaps_json = "[]", .input_tokens = 100,
					    .forget = true}, &done, &error));
	CHECK(same(text_at(done, "/state"), "completed"));
	WELL(ms_handoff(spine, ms_work_id(work), &now, &error));
	CHECK(ms_json_int(ms_json_find(ms_answer_json(now), "/result/files"), 0) == 2);
	CHECK(ms_nack(work, NULL, -1, NULL, &error) == MS_REFUSED && error.http_status == 409);
	ms_work_free(work);
	ms_answer_free(memory);
	ms_answer_free(envelope);
	ms_answer_free(sent);
	ms_answer_free(done);
	ms_answer_free(now);
}

static void test_work_is_handed_on_in_one_call(void)
{
	ms_envelope first = {.to = "analyst", .summary = "Look.", .intent = "Word for word.",
			     .constraints_json = "{\"max_files\": 3}"};
	ms_envelope conflict = {.to = "writer", .summary = "Write.", .constraints_json = "{\"max_files\": 5}"};
	ms_answer *on;
	ms_work *work;

	WELL(ms_send(spine, &(ms_delivery){.envelope = &first}, NULL, &error));
	work = take("analyst");
	CHECK(ms_hand_on(work, "x", &conflict, NULL, &error) == MS_REFUSED);
	CHECK(same(error.code, "constraint_conflict"));
	WELL(ms_hand_on(work, "I looked.", &(ms_envelope){.to = "writer", .summary = "Write."}, &on, &error));
	CHECK(same(text_at(on, "/then/state"), "queued"));
	ms_work_free(work);
	ms_answer_free(on);
	work = take("writer");
	CHECK(same(ms_work_intent(work), "Word for word.") && strstr(ms_work_prompt(work), "I looked."));
	WELL(ms_complete(work, &(ms_result){.text = "written"}, NULL, &error));
	ms_work_free(work);
}

static void test_work_is_given_back_and_refused(void)
{
	ms_answer *parked;
	ms_work *work;

	send_to("moody", "Try this.");
	work = take("moody");
	WELL(ms_release(work, "shutting down", 0, NULL, &error));
	ms_work_free(work);
	work = take("moody");
	CHECK(ms_work_attempt(work) == 1);
	WELL(ms_nack(work, "not today", 0, NULL, &error));
	CHECK(ms_ack(work, 0, NULL, &error) == MS_REFUSED && same(error.code, "stale_lease"));
	ms_work_free(work);
	work = take("moody");
	CHECK(ms_work_attempt(work) == 2 && ms_work_redelivered(work));
	CHECK(ms_reject(work, NULL, NULL, &error) == MS_INVALID);
	WELL(ms_reject(work, "never", NULL, &error));
	WELL(ms_parked(spine, NULL, &parked, &error));
	CHECK(same(text_at(parked, "/parked/0/id"), ms_work_id(work)));
	ms_work_free(work);
	ms_answer_free(parked);
}

static void test_nothing_to_receive_is_no_error(void)
{
	ms_work *work = (ms_work *)1;

	WELL(ms_receive(spine, &(ms_receive_options){.agent = "idle", .wait_ms = 50, .lease_ms = 1000}, &work, &error));
	CHECK(work == NULL);
}

static void test_a_sender_that_waits_gets_no_ack_in_time(void)
{
	ms_envelope envelope = {.to = "nobody", .summary = "Anyone?"};

	CHECK(ms_send(spine, &(ms_delivery){.envelope = &envelope, .wait_ms = 100}, NULL, &error) == MS_REFUSED);
	CHECK(same(error.code, "ack_timeout") && error.http_status == 504);
}

static bool is_stopped(void *arg)
{
	return ++*(int *)arg > 0;
}

static void test_a_call_that_waits_can_be_stopped(void)
{
	ms_receive_options options = {.agent = "idle", .wait_ms = 30000, .is_stopped = is_stopped};
	ms_work *work;
	int asked = 0;

	options.stop_arg = &asked;
	CHECK(ms_receive(spine, &options, &work, &error) == MS_STOPPED && same(error.code, "stopped") && asked > 0);
}

/* --- Channels, figures, and the rest --- */

static void test_what_is_published_is_joined(void)
{
	const char *receivers[] = {"reviewer", "tester", NULL};
	ms_publication publication = {.channel = "reviews", .receivers = receivers, .delivery = "at-least-once"};
	ms_answer *envelope, *published, *joined;

	WELL(ms_pack(spine, &(ms_envelope){.to = "broadcast", .summary = "Review."}, &envelope, &error));
	publication.envelope_id = ms_id(envelope);
	WELL(ms_publish(spine, &publication, &published, &error));
	CHECK(ms_json_count(ms_json_find(ms_answer_json(published), "/handoffs")) == 2);
	WELL(ms_join(spine, "reviews", ms_id(envelope), NULL, 0, &joined, &error));
	CHECK(same(text_at(joined, "/state"), "waiting"));
	ms_answer_free(joined);
	for (int i = 0; receivers[i]; i++) {
		ms_work *work = take(receivers[i]);

		WELL(ms_complete(work, &(ms_result){.text = "fine"}, NULL, &error));
		ms_work_free(work);
		WELL(ms_join(spine, "reviews", ms_id(envelope), i ? NULL : "1", 5000, &joined, &error));
		CHECK(same(text_at(joined, "/state"), "joined"));
		ms_answer_free(joined);
	}
	WELL(ms_join(spine, "reviews", ms_id(envelope), "any", 0, NULL, &error));
	ms_answer_free(envelope);
	ms_answer_free(published);
}

static void test_figures_are_read(void)
{
	ms_answer *stats;

	WELL(ms_stats(spine, "1h", &stats, &error));
	CHECK(ms_json_type(ms_json_get(ms_answer_json(stats), "overall")) == MS_OBJECT);
	ms_answer_free(stats);
}

static bool count_data(void *arg, const char *data, size_t len)
{
	*(size_t *)arg += len;
	return data == NULL || *(size_t *)arg < 10;
}

static void test_every_operation_is_reached_by_its_name_or_its_path(void)
{
	ms_arg text[] = {{.name = "text", .text = "one two three"}, {.name = NULL}};
	ms_arg page[] = {{.name = "page_size", .json = "1"}, {.name = NULL}};
	ms_request fetch = {.method = "POST", .path = "/v1/memories/fetch", .body = "{\"ids\": [\"ms-2\"]}",
			    .repeatable = true};
	ms_answer *counted, *listed, *fetched, *raw, *metrics;
	size_t came = 0;

	WELL(ms_call(spine, &(ms_request){.operation = "countTokens", .args = text}, &counted, &error));
	CHECK(ms_json_int(ms_json_get(ms_answer_json(counted), "tokens"), 0) == 3);
	WELL(ms_call(spine, &(ms_request){.operation = "listTasks", .args = page}, &listed, &error));
	CHECK(ms_json_count(ms_json_get(ms_answer_json(listed), "tasks")) == 1);
	WELL(ms_call(spine, &fetch, &fetched, &error));
	CHECK(same(text_at(fetched, "/memories/0/id"), "ms-2"));
	WELL(ms_exchange(spine, &(ms_request){.method = "GET", .path = "/v1/memories/ms-999999"}, &raw, &error));
	CHECK(ms_answer_status(raw) == 404 && ms_answer_json(raw) == NULL && ms_answer_tries(raw) == 1);
	CHECK(strstr(ms_answer_body(raw, NULL), "\"detail\""));
	WELL(ms_call(spine, &(ms_request){.operation = "metrics", .accept = "text/plain"}, &metrics, &error));
	CHECK(strstr(ms_answer_body(metrics, NULL), "# TYPE") && ms_answer_json(metrics) == NULL);
	CHECK(ms_call(spine, &(ms_request){.operation = "metrics", .accept = "text/plain", .on_data = count_data,
					   .data_arg = &came}, NULL, &error) == MS_STOPPED && came >= 10);
	ms_answer_free(counted);
	ms_answer_free(listed);
	ms_answer_free(fetched);
	ms_answer_free(raw);
	ms_answer_free(metrics);
}

static void test_a_stream_is_read_until_the_caller_has_enough(void)
{
	ms_arg after[] = {{.name = "after", .json = "0"}, {.name = NULL}};
	size_t came = 0;

	CHECK(ms_call(spine, &(ms_request){.operation = "watchEvents", .args = after, .accept = "text/event-stream",
					   .on_data = count_data, .data_arg = &came}, NULL, &error) == MS_STOPPED);
	CHECK(came >= 10);
}

static void test_a_condition_holds_once(void)
{
	ms_answer *memory, *changed;
	ms_arg args[] = {{.name = "id"}, {.name = "content", .text = "New."}, {.name = NULL}};
	ms_request change = {.operation = "changeMemory", .args = args};

	WELL(ms_store(spine, &(ms_memory){.content = "Old."}, &memory, &error));
	args[0].text = ms_id(memory);
	change.if_match = ms_answer_etag(memory);
	CHECK(change.if_match[0]);
	WELL(ms_call(spine, &change, &changed, &error));
	CHECK(ms_json_int(ms_json_get(ms_answer_json(changed), "version"), 0) == 2);
	args[1].text = "Newer.";
	CHECK(ms_call(spine, &change, NULL, &error) == MS_REFUSED && error.http_status == 412);
	ms_answer_free(memory);
	ms_answer_free(changed);
}

/* --- Values --- */

static void test_values_are_read_without_a_server(void)
{
	static const char text[] = "{\"a/b\": {\"~\": [10, -2.5, \"x\\u0000y\", true, null]}, \"n\": 5.0}";
	char *quoted, *printed;
	const ms_json *root;
	ms_answer *read;
	size_t len;

	WELL(ms_json_read(text, sizeof(text) - 1, &read, &error));
	root = ms_answer_json(read);
	CHECK(ms_json_count(root) == 2 && same(ms_json_name(root, 1), "n") && ms_json_name(root, 2) == NULL);
	CHECK(ms_json_int(ms_json_find(root, "/a~1b/~0/0"), 0) == 10 && ms_json_int(ms_json_get(root, "n"), 0) == 5);
	CHECK(ms_json_number(ms_json_find(root, "/a~1b/~0/1"), 0) == -2.5);
	CHECK(ms_json_text(ms_json_find(root, "/a~1b/~0/2"), &len) && len == 3);
	CHECK(ms_json_bool(ms_json_find(root, "/a~1b/~0/3"), false));
	CHECK(ms_json_type(ms_json_find(root, "/a~1b/~0/4")) == MS_NULL && ms_json_find(root, "/a~1b/~0/4") != NULL);
	CHECK(ms_json_find(root, "") == root && ms_json_find(root, "/a~1b/~0/05") == NULL);
	CHECK(ms_json_find(root, "n") == NULL && ms_json_find(root, "/n/0") == NULL);
	CHECK(ms_json_find(NULL, "/n") == NULL && ms_json_get(NULL, "n") == NULL && ms_json_at(root, 2) == NULL);
	WELL(ms_json_print(ms_json_find(root, "/a~1b/~0/1"), &printed, &error));
	WELL(ms_json_quote("a\"b\\\x01\n\xc3\xbc", &quoted, &error));
	CHECK(same(printed, "-2.5") && same(quoted, "\"a\\\"b\\\\\\u0001\\n\xc3\xbc\""));
	CHECK(ms_json_quote("\xc0", &(char *){NULL}, &error) == MS_INVALID);
	CHECK(ms_json_read("{", 1, &(ms_answer *){NULL}, &error) == MS_BAD_ANSWER && error.detail[0]);
	ms_free(quoted);
	ms_free(printed);
	ms_answer_free(read);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	setlocale(LC_ALL, "");
	WELL(ms_open(&(ms_options){.url = argv[1], .space = "calls", .timeout_ms = 20000}, &spine, &error));
	CHECK(same(ms_url(spine), argv[1]) && ms_version()[0]);
	test_a_memory_is_stored_read_found_pinned_and_forgotten();
	test_the_same_key_stores_once();
	test_fetch_and_need_give_also_what_one_answer_has_no_room_for();
	test_a_refusal_says_what_where_and_whether_to_try_again();
	test_what_cannot_be_sent_is_told_before();
	test_a_client_is_opened_for_an_address_and_nothing_else();
	test_a_server_that_is_not_there_is_told_in_time();
	test_work_is_packed_sent_received_and_completed();
	test_work_is_handed_on_in_one_call();
	test_work_is_given_back_and_refused();
	test_nothing_to_receive_is_no_error();
	test_a_sender_that_waits_gets_no_ack_in_time();
	test_a_call_that_waits_can_be_stopped();
	test_what_is_published_is_joined();
	test_figures_are_read();
	test_every_operation_is_reached_by_its_name_or_its_path();
	test_a_stream_is_read_until_the_caller_has_enough();
	test_a_condition_holds_once();
	test_values_are_read_without_a_server();
	ms_close(spine);
	printf("%d checks, with a decimal '%s'\n", check_count, localeconv()->decimal_point);
	return 0;
}
