/* Takes a piece of work and gives it back: give_back URL. Prints ms_status, code, whether it was repeated, and the
 * state of the handoff. */
#include "check.h"

int main(int argc, char **argv)
{
	ms_answer *answer = NULL;
	ms_client *spine;
	ms_status status;
	ms_error error;
	ms_work *work;

	if (argc != 2)
		return 2;
	WELL(ms_open(&(ms_options){.url = argv[1], .agent = "a", .timeout_ms = 3000}, &spine, &error));
	WELL(ms_receive(spine, NULL, &work, &error));
	CHECK(work != NULL);
	status = ms_nack(work, "no", -1, &answer, &error);
	printf("%d %s %d %s\n", (int)status, status ? error.code : "ok", error.repeated,
	       answer ? text_at(answer, "/state") : "unknown");
	ms_answer_free(answer);
	ms_work_free(work);
	ms_close(spine);
	return 0;
}
