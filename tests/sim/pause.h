/* A function that stops in its middle, while others go on: as a process does that is paused. It has a stack of its own;
 * whoever calls it gets back when it stops, or when it has ended. */
#ifndef SPINE_TESTS_SIM_PAUSE_H
#define SPINE_TESTS_SIM_PAUSE_H

#include <stdbool.h>
#include <ucontext.h>

struct pause {
	ucontext_t outside, inside;
	char *stack;
	void (*fn)(void *arg);
	void *arg;
	bool is_inside;			/* it runs just now */
	bool is_stopped;		/* it is in its middle */
	bool is_left;			/* it was left for good */
};

void pause_release(struct pause *p);
/* Runs fn. True: it has ended; false: it has stopped. */
bool pause_run(struct pause *p, void (*fn)(void *arg), void *arg);
/* Within fn: stops, until it is gone on with. */
void pause_here(struct pause *p);
/* Within fn: leaves it for good. Whoever called it gets back, and finds is_left. */
void pause_leave(struct pause *p) __attribute__((noreturn));
/* Goes on with it. Returns as pause_run does. */
bool pause_go_on(struct pause *p);

#endif
