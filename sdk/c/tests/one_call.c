/* One operation by its name, and what came of it: one_call URL OPERATION [NAME=TEXT | NAME:=JSON …]
 *
 * Prints the ms_status, the code, the HTTP status and the number of tries; then the body, or the sentence. */
#include "check.h"

enum { ARGS_MAX = 20 };

static ms_arg split(char *given)
{
	char *at = strchr(given, '=');
	bool is_json = at > given && at[-1] == ':';

	CHECK(at != NULL);
	at[is_json ? -1 : 0] = *at = '\0';
	return is_json ? (ms_arg){.name = given, .json = at + 1} : (ms_arg){.name = given, .text = at + 1};
}

int main(int argc, char **argv)
{
	const char *timeout = getenv("TIMEOUT_MS"), *max = getenv("MAX_BYTES");
	ms_options options = {
		.url = argv[1], .timeout_ms = timeout ? atoi(timeout) : 5000,
		.max_answer_bytes = max ? (size_t)atol(max) : 0,
	};
	ms_arg args[ARGS_MAX + 1] = {0};
	ms_answer *answer = NULL;
	ms_client *spine;
	ms_status status;
	ms_error error;

	CHECK(argc >= 3 && argc - 3 <= ARGS_MAX);
	for (int i = 3; i < argc; i++)
		args[i - 3] = split(argv[i]);
	WELL(ms_open(&options, &spine, &error));
	status = ms_call(spine, &(ms_request){.operation = argv[2], .args = args}, &answer, &error);
	printf("%d %s %d %d\n%s\n", (int)status, status ? error.code : "ok",
	       status ? error.http_status : ms_answer_status(answer), ms_answer_tries(answer),
	       status ? error.detail : ms_answer_body(answer, NULL));
	ms_answer_free(answer);
	ms_close(spine);
	return 0;
}
