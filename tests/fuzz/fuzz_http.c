/* Any bytes over a connection to a whole server. */
#include "fuzz_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf answer;

	buf_init(&answer, FUZZ_ANSWER_MAX);
	fuzz_ask(fuzz_str(data, size), &answer);
	buf_release(&answer);
	return 0;
}
