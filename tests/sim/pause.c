#include "pause.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20 };

/* What makecontext hands on are numbers: a pointer comes in two. */
static void begin(unsigned high, unsigned low)
{
	struct pause *p = (struct pause *)((uintptr_t)high << 32 | low);	/* NOLINT(performance-no-int-to-ptr) */

	p->fn(p->arg);
	p->is_stopped = false;
	setcontext(&p->outside);
}

static bool enter(struct pause *p)
{
	p->is_inside = true;
	swapcontext(&p->outside, &p->inside);
	p->is_inside = false;
	return !p->is_stopped;
}

bool pause_run(struct pause *p, void (*fn)(void *arg), void *arg)
{
	uintptr_t self = (uintptr_t)p;

	if (p->stack == NULL)
		p->stack = mem_alloc(STACK_BYTES);
	p->fn = fn;
	p->arg = arg;
	p->is_stopped = p->is_left = false;
	getcontext(&p->inside);
	p->inside.uc_stack.ss_sp = p->stack;
	p->inside.uc_stack.ss_size = STACK_BYTES;
	p->inside.uc_link = NULL;
	makecontext(&p->inside, (void (*)(void))begin, 2, (unsigned)(self >> 32), (unsigned)self);
	return enter(p);
}

void pause_here(struct pause *p)
{
	p->is_stopped = true;
	swapcontext(&p->inside, &p->outside);
	p->is_stopped = false;
}

void pause_leave(struct pause *p)
{
	p->is_left = true;
	p->is_stopped = false;
	setcontext(&p->outside);
	abort();
}

bool pause_go_on(struct pause *p)
{
	return enter(p);
}

void pause_release(struct pause *p)
{
	free(p->stack);
	p->stack = NULL;
}
