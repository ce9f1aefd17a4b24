/* Calls whose answers are not to be trusted: hostile URL, or hostile URL fetch for that one alone. Prints a line for
 * each: what, ms_status, code, HTTP status. Uses all that it is given, so that a sanitizer sees what is wrong with it.
 */
#include "check.h"

static ms_client *spine;
static ms_error error;

static void tell(const char *what, ms_status status)
{
	printf("%s %d %s %d\n", what, (int)status, status ? error.code : "ok", error.http_status);
	CHECK(status == error.status && (status == MS_OK) == (error.code[0] == '\0'));
	CHECK(strlen(error.detail) < MS_DETAIL_SIZE && strlen(error.field) < MS_FIELD_SIZE);
}

static void tell_answer(const char *what, ms_status status, ms_answer *answer)
{
	tell(what, status);
	CHECK((status == MS_OK) == (answer != NULL));
	if (answer) {
		CHECK(ms_json_type(ms_answer_json(answer)) == MS_OBJECT);
		CHECK(ms_id(answer) == NULL || strlen(ms_id(answer)) < 1000000);
		CHECK(strlen(ms_answer_etag(answer)) < 128);
	}
	ms_answer_free(answer);
}

static void receive(void)
{
	ms_work *work = NULL;
	ms_status status = ms_receive(spine, &(ms_receive_options){.agent = "a"}, &work, &error);

	tell(work ? "received" : "receive", status);
	if (work == NULL)
		return;
	CHECK(ms_work_id(work) && ms_work_lease(work) && ms_work_to(work) && ms_work_envelope_id(work));
	CHECK(strlen(ms_work_prompt(work)) + strlen(ms_work_envelope(work)) > 0);
	tell("ack", ms_ack(work, 1000, NULL, &error));
	ms_work_free(work);
}

int main(int argc, char **argv)
{
	const char *timeout = getenv("TIMEOUT_MS");
	ms_options options = {.timeout_ms = timeout ? atoi(timeout) : 1000, .max_answer_bytes = 4 << 20};
	ms_answer *answer = NULL;
	ms_status status;

	if (argc != 2 && !(argc == 3 && same(argv[2], "fetch")))
		return 2;
	options.url = argv[1];
	WELL(ms_open(&options, &spine, &error));
	if (argc == 3) {
		status = ms_fetch(spine, (const char *[]){"ms-1", "ms-2", "ms-3", NULL}, &answer, &error);
		tell_answer("fetch", status, answer);
		ms_close(spine);
		return 0;
	}
	status = ms_get(spine, "ms-1", &answer, &error);
	tell_answer("get", status, answer);
	status = ms_store(spine, &(ms_memory){.content = "x"}, &answer, &error);
	tell_answer("store", status, answer);
	receive();
	ms_close(spine);
	return 0;
}
