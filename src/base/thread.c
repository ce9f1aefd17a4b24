#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	int error = pthread_create(ret, NULL, run, arg);

	if (error == 0)
		return;
	fprintf(stderr, "spine: cannot start a thread: %s (out of memory, or too many threads); stopping. "
			"What was acknowledged is on disk.\n", strerror(error));
	abort();
}
