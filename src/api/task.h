/* The task that a request names in its address. */
#ifndef SPINE_API_TASK_H
#define SPINE_API_TASK_H

#include "api/call.h"

/* Sets the problem, and returns its code. */
enum problem_code task_not_found(struct call *call);

#endif
