/* libFuzzer target: any bytes at all as the answer of a server. make c-fuzz runs it. */
#include "answer_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_answer((const char *)data, size);
	return 0;
}
