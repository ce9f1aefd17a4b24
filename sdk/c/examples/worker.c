/* An agent in C: takes work, has a model do it, and hands it on.
 *
 *	cc worker.c -o worker $(pkg-config --cflags --libs memoryspine)
 *	./worker coder reviewer         takes the work of "coder", hands it on to "reviewer", until Ctrl-C
 *	./worker reviewer               takes the work of "reviewer", and finishes it
 *	./worker --demo                 both in turn, with one piece of work
 */
#include <memory_spine.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 30000 };

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
	(void)number;
	is_interrupted = 1;
}

static bool is_stopped(void *arg)
{
	(void)arg;
	return is_interrupted;
}

static int report(const ms_error *error)
{
	fprintf(stderr, "%s: %s\n", error->code, error->detail);
	return 1;
}

/* Put the call of your model here. What it reads is the prompt: the task, the user's own words, the constraints, and
 * the memories that matter. One that takes longer than the lease calls ms_progress() meanwhile. */
static void ask_model(const char *prompt, char *ret, size_t size)
{
	snprintf(ret, size, "a model's answer to %zu bytes of prompt", strlen(prompt));
}

/* One piece of work, from its prompt to its end. */
static int handle(ms_work *work, const char *next, ms_error *error)
{
	char result[200];
	ms_status status;

	printf("%s works on %s: %s (the user said: %s)\n", ms_work_to(work), ms_work_id(work),
	       ms_work_summary(work) ? ms_work_summary(work) : "?", ms_work_intent(work) ? ms_work_intent(work) : "?");
	ask_model(ms_work_prompt(work), result, sizeof(result));
	if (next) {
		ms_envelope envelope = {.to = next, .summary = "Review what was written."};

		status = ms_hand_on(work, result, &envelope, NULL, error);
	} else {
		status = ms_complete(work, &(ms_result){.text = result}, NULL, error);
	}
	if (status != MS_OK)
		return report(error);
	printf("%s has done: %s\n", ms_work_to(work), result);
	return 0;
}

/* Takes work until it is told to stop, or, with limit, until so much was done. */
static int work_as(ms_client *spine, const char *agent, const char *next, int limit)
{
	ms_receive_options options = {.agent = agent, .wait_ms = WAIT_MS, .is_stopped = is_stopped};
	ms_error error;
	ms_work *work;
	int code = 0;

	for (int done = 0; code == 0 && !is_interrupted && (limit == 0 || done < limit);) {
		ms_status status = ms_receive(spine, &options, &work, &error);

		if (status == MS_STOPPED)
			break;
		if (status != MS_OK)
			return report(&error);
		if (work == NULL)
			continue;	/* nothing came; ask again */
		code = handle(work, next, &error);
		ms_work_free(work);
		done++;
	}
	return code;
}

static int demonstrate(ms_client *spine)
{
	ms_envelope envelope = {
		.to = "coder", .summary = "Write a haiku about queues.", .intent = "Keep it short.",
		.constraints_json = "{\"max_lines\": 3}", .from = "planner",
	};
	ms_error error;

	if (ms_send(spine, &(ms_delivery){.envelope = &envelope}, NULL, &error) != MS_OK)
		return report(&error);
	return work_as(spine, "coder", "reviewer", 1) || work_as(spine, "reviewer", NULL, 1);
}

int main(int argc, char **argv)
{
	bool is_demo = argc == 2 && strcmp(argv[1], "--demo") == 0;
	ms_client *spine;
	ms_error error;
	int code;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: worker AGENT [NEXT] | --demo\n");
		return 2;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (ms_open(NULL, &spine, &error) != MS_OK)	/* SPINE_URL and SPINE_SPACE say where */
		return report(&error);
	code = is_demo ? demonstrate(spine) : work_as(spine, argv[1], argc > 2 ? argv[2] : NULL, 0);
	ms_close(spine);
	return code;
}
