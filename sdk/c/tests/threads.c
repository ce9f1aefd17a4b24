/* Many threads on one client: threads URL. Half of them hand work to the other half, all store and read; there are
 * fewer connections than threads. Prints how many pieces of work were completed. */
#include "check.h"

#include <pthread.h>

enum { PAIRS = 6, ROUNDS = 25 };

static ms_client *spine;

static void *send_work(void *arg)
{
	const int *number = arg;
	char agent[32], summary[64];
	ms_error error;

	snprintf(agent, sizeof(agent), "worker-%d", *number);
	for (int i = 0; i < ROUNDS; i++) {
		ms_envelope envelope = {.to = agent, .summary = summary};
		ms_answer *memory;

		snprintf(summary, sizeof(summary), "Piece %d of %d.", i, *number);
		WELL(ms_store(spine, &(ms_memory){.content = summary}, &memory, &error));
		WELL(ms_get(spine, ms_id(memory), NULL, &error));
		ms_answer_free(memory);
		WELL(ms_send(spine, &(ms_delivery){.envelope = &envelope}, NULL, &error));
		CHECK(ms_get(spine, "ms-99999999", NULL, &error) == MS_REFUSED);
	}
	return NULL;
}

static void *do_work(void *arg)
{
	const int *number = arg;
	char agent[32];
	ms_error error;

	snprintf(agent, sizeof(agent), "worker-%d", *number);
	for (int done = 0; done < ROUNDS;) {
		ms_work *work;

		WELL(ms_receive(spine, &(ms_receive_options){.agent = agent, .wait_ms = 1000}, &work, &error));
		if (work == NULL)
			continue;
		CHECK(ms_work_prompt(work)[0]);
		WELL(ms_progress(work, NULL, NULL, &error));
		WELL(ms_complete(work, &(ms_result){.text = "done"}, NULL, &error));
		ms_work_free(work);
		done++;
	}
	return NULL;
}

static void *wait_for_nothing(void *arg)
{
	ms_error error;
	ms_work *work;

	WELL(ms_receive(arg, &(ms_receive_options){.agent = "idle", .wait_ms = 2000}, &work, &error));
	CHECK(work == NULL);
	return NULL;
}

/* One connection, which a call has: another waits for it as long as its time, and no longer. */
static void test_a_call_waits_for_its_turn_within_its_time(const char *url)
{
	ms_client *narrow;
	pthread_t waiter;
	ms_status status;
	ms_error error;

	WELL(ms_open(&(ms_options){.url = url, .timeout_ms = 300, .max_connections = 1}, &narrow, &error));
	CHECK(pthread_create(&waiter, NULL, wait_for_nothing, narrow) == 0);
	do
		status = ms_stats(narrow, NULL, NULL, &error);	/* until the other has the connection */
	while (status == MS_OK);
	CHECK(status == MS_TIMED_OUT && same(error.code, "timeout") && strstr(error.detail, "in use"));
	pthread_join(waiter, NULL);
	WELL(ms_stats(narrow, NULL, NULL, &error));
	ms_close(narrow);
}

int main(int argc, char **argv)
{
	pthread_t senders[PAIRS], workers[PAIRS];
	int numbers[PAIRS];
	ms_answer *stats;
	ms_error error;

	if (argc != 2)
		return 2;
	WELL(ms_open(&(ms_options){.url = argv[1], .agent = "sender", .max_connections = 8}, &spine, &error));
	for (int i = 0; i < PAIRS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&workers[i], NULL, do_work, &numbers[i]) == 0);
		CHECK(pthread_create(&senders[i], NULL, send_work, &numbers[i]) == 0);
	}
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(senders[i], NULL);
		pthread_join(workers[i], NULL);
	}
	WELL(ms_stats(spine, "1h", &stats, &error));
	printf("%lld\n", (long long)ms_json_int(ms_json_find(ms_answer_json(stats), "/overall/completed"), -1));
	ms_answer_free(stats);
	ms_close(spine);
	test_a_call_waits_for_its_turn_within_its_time(argv[1]);
	return 0;
}
