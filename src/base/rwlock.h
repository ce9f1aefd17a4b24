/* A lock for many readers or one writer, whose writer gets its turn: glibc's default lets readers that come one after
 * the other keep it waiting for ever. The price: a thread must not take it for reading twice. */
#ifndef SPINE_BASE_RWLOCK_H
#define SPINE_BASE_RWLOCK_H

#include <pthread.h>

/* To be released with pthread_rwlock_destroy(). */
static inline void rwlock_init(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

#endif
