/* libFuzzer target: any bytes at all, read, written and read again. */
#include "json_property.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *broken = json_promise_broken((struct str){(const char *)data, size});

	if (broken) {
		fprintf(stderr, "broken promise: %s\n", broken);
		abort();
	}
	return 0;
}
