/* A condition to wait for until a time of the monotonic clock: setting the machine's time makes no wait longer. */
#ifndef SPINE_BASE_COND_H
#define SPINE_BASE_COND_H

#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* To be released with pthread_cond_destroy(). */
static inline void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
#ifndef __APPLE__
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* As pthread_cond_wait(), until clock_mono_ns() is until_ns. False when it is. */
static inline bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ns)
{
#ifdef __APPLE__
	int64_t left_ns = until_ns - clock_mono_ns();
	struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};

	return left_ns > 0 && pthread_cond_timedwait_relative_np(cond, lock, &left) == 0;
#else
	struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};

	return pthread_cond_timedwait(cond, lock, &until) == 0;
#endif
}

#endif
