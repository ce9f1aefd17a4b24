/* Faults on demand, for the simulator and the tests. c is a connection to a store in memory, its writer. */
#ifndef SPINE_STORE_RAM_FAULTS_H
#define SPINE_STORE_RAM_FAULTS_H

#include "store/store.h"

/* The after-th verb from now on, and `more` verbs behind it, return status. STORE_FULL comes from verbs that write
 * only. */
void ram_fail(struct store_conn *c, enum store_status status, uint64_t after, uint64_t more);
/* The next commit returns STORE_UNKNOWN; is_kept: although it got to the disk. */
void ram_fail_commit(struct store_conn *c, bool is_kept);
/* No fault that is still to come will, and a connection that has failed works again. */
void ram_heal(struct store_conn *c);
/* Empty again, without faults. */
void ram_clear(struct store_conn *c);

#endif
