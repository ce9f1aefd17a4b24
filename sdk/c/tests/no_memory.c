/* Each allocation of the library fails in turn: no_memory URL, or no_memory URL fetch for that one alone. It is told as
 * MS_NO_MEMORY, and nothing leaks. The linker's --wrap puts what follows in the place of malloc and its kin; libcurl
 * keeps its own. */
#include "check.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static long left = -1;		/* so many go well, then one fails; -1: all go well */
static bool has_failed;

static bool fails(void)
{
	if (left < 0)
		return false;
	has_failed = has_failed || left == 0;
	return left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

static const char *url;
static ms_error error;

/* --- What is tried --- */

static ms_status try_open(void)
{
	ms_options options = {.url = url, .space = "a", .agent = "b", .key = "c"};
	ms_client *client;
	ms_status status = ms_open(&options, &client, &error);

	ms_close(client);
	return status;
}

static ms_status try_read(void)
{
	static char text[8192];
	ms_answer *answer;
	ms_status status;
	int len = snprintf(text, sizeof(text), "{\"d\": 1.5, \"many\": {");

	for (int i = 0; i < 200; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s\"k%d\": [%d]", i ? ", " : "", i, i);
	len += snprintf(text + len, sizeof(text) - (size_t)len, "}}");
	status = ms_json_read(text, (size_t)len, &answer, &error);
	ms_answer_free(answer);
	return status;
}

static ms_status try_texts(void)
{
	char *text;
	ms_status status = ms_json_quote("a \"text\"", &text, &error);

	ms_free(text);
	if (status == MS_OK) {
		status = ms_json_print(NULL, &text, &error);
		ms_free(text);
	}
	return status;
}

static ms_client *open_client(void)
{
	long before = left;
	ms_client *client;

	left = -1;
	WELL(ms_open(&(ms_options){.url = url, .space = "short", .agent = "a", .timeout_ms = 5000}, &client, &error));
	left = before;
	return client;
}

static ms_status try_store(void)
{
	const char *tags[] = {"one", "two", NULL};
	ms_client *client = open_client();
	ms_answer *answer;
	ms_status status = ms_store(client, &(ms_memory){.content = "x", .tags = tags, .metadata_json = "{\"a\": 1}",
							 .extra_json = "{\"summary\": \"y\"}"}, &answer, &error);

	CHECK((status == MS_OK) == (answer != NULL));
	ms_answer_free(answer);
	ms_close(client);
	return status;
}

static ms_status try_work(void)
{
	static int number;
	char agent[32];
	ms_envelope envelope = {.to = agent, .summary = "x"};
	ms_client *client = open_client();
	ms_work *work = NULL;
	ms_status status;

	snprintf(agent, sizeof(agent), "agent-%d", number++);	/* what was left over is another's */
	status = ms_send(client, &(ms_delivery){.envelope = &envelope}, NULL, &error);
	if (status == MS_OK)
		status = ms_receive(client, &(ms_receive_options){.agent = agent}, &work, &error);
	if (status == MS_OK && work)
		status = ms_complete(work, &(ms_result){.json = "[1]"}, NULL, &error);
	ms_work_free(work);
	ms_close(client);
	return status;
}

static ms_status try_fetch(void)
{
	ms_client *client = open_client();
	ms_answer *answer;
	ms_status status = ms_fetch(client, (const char *[]){"ms-1", "ms-2", NULL}, &answer, &error);

	CHECK((status == MS_OK) == (answer != NULL));
	CHECK(answer == NULL || ms_json_count(ms_json_get(ms_answer_json(answer), "memories")) == 2);
	ms_answer_free(answer);
	ms_close(client);
	return status;
}

/* One more allocation goes well each time, until all do. */
static void exhaust(const char *what, ms_status (*attempt)(void))
{
	long count = 0;

	for (;; count++) {
		ms_status status;

		left = count;
		has_failed = false;
		status = attempt();
		left = -1;
		if (!has_failed)
			break;
		CHECK(status == MS_OK || status == MS_NO_MEMORY);
		CHECK(status == MS_OK || (same(error.code, "no_memory") && error.detail[0]));
	}
	CHECK(count > 0);
	printf("%s: %ld\n", what, count);
}

int main(int argc, char **argv)
{
	if (argc != 2 && !(argc == 3 && same(argv[2], "fetch")))
		return 2;
	url = argv[1];
	CHECK(try_open() == MS_OK);	/* libcurl is prepared */
	if (argc == 3) {
		exhaust("fetch", try_fetch);
		return 0;
	}
	exhaust("open", try_open);
	exhaust("read", try_read);
	exhaust("texts", try_texts);
	exhaust("store", try_store);
	exhaust("work", try_work);
	return 0;
}
