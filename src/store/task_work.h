/* How the handoffs of a task make up its work: what both engines share, so that there is one rule. */
#ifndef SPINE_STORE_TASK_WORK_H
#define SPINE_STORE_TASK_WORK_H

#include "store/records.h"

/* Begins with a struct of zeros; true where this handoff is the one that decides now. */
bool task_work_add(struct task_work *w, uint64_t num, int64_t agent, enum handoff_state state, int64_t changed_at_ms);

#endif
