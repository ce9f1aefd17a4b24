/* epoll of Linux, and the part of it that is used here in terms of kqueue, for systems of the BSD family. */
#ifndef SPINE_BASE_EPOLL_H
#define SPINE_BASE_EPOLL_H

#ifdef __linux__
#include <sys/epoll.h>
#else
#include <stdint.h>
#include <sys/types.h>
#include <sys/event.h>
#include <sys/time.h>

enum {
	EPOLLIN = 1, EPOLLOUT = 4, EPOLLERR = 8, EPOLLHUP = 16,
	EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL, EPOLL_CTL_MOD,
	EPOLL_CLOEXEC = 0,		/* a kqueue is not inherited by a child */
	EPOLL_EVENTS_MAX = 256,
};

struct epoll_event {
	uint32_t events;
	union { int fd; } data;
};

static inline int epoll_create1(int flags)
{
	(void)flags;
	return kqueue();
}

/* A kqueue watches for reading and for writing apart; what is watched for already may be added again. */
static inline void epoll_filter(int queue, int fd, int filter, int is_wanted)
{
	struct kevent change;

	EV_SET(&change, (uintptr_t)fd, filter, is_wanted ? EV_ADD : EV_DELETE, 0, 0, NULL);
	kevent(queue, &change, 1, NULL, 0, NULL);	/* it fails where nothing is to be deleted */
}

/* An event's data is its descriptor, whatever else it could be. */
static inline int epoll_ctl(int queue, int what, int fd, const struct epoll_event *event)
{
	uint32_t events = what == EPOLL_CTL_DEL ? 0 : event->events;

	epoll_filter(queue, fd, EVFILT_READ, events & EPOLLIN);
	epoll_filter(queue, fd, EVFILT_WRITE, events & EPOLLOUT);
	return 0;
}

static inline int epoll_wait(int queue, struct epoll_event *ret, int max, int timeout_ms)
{
	struct kevent events[EPOLL_EVENTS_MAX];
	struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
	int count = kevent(queue, NULL, 0, events, max < EPOLL_EVENTS_MAX ? max : EPOLL_EVENTS_MAX,
			   timeout_ms < 0 ? NULL : &limit);

	for (int i = 0; i < count; i++) {
		ret[i].data.fd = (int)events[i].ident;
		ret[i].events = events[i].filter == EVFILT_WRITE ? EPOLLOUT : EPOLLIN;
		if (events[i].flags & EV_ERROR)
			ret[i].events |= EPOLLERR;
	}
	return count;
}
#endif

#endif
