/* A thread that gives freed memory back to the system. What a burst of large requests took stays with the process
 * otherwise, wherever something that lives longer lies behind it. */
#ifndef SPINE_SERVE_GIVE_BACK_H
#define SPINE_SERVE_GIVE_BACK_H

struct give_back;

/* Returns owned, running. */
struct give_back *give_back_start(void);
/* NULL-safe. */
void give_back_stop(struct give_back *g);

#endif
