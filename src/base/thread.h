/* Threads that the program cannot do without. */
#ifndef SPINE_BASE_THREAD_H
#define SPINE_BASE_THREAD_H

#include <pthread.h>

/* Where the system has no thread left, the process stops and says so. */
void thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg);

#endif
