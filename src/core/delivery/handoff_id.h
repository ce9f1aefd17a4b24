/* The ids of handoffs, "ho-12", and of their leases, "ho-12.3": the third lease of that handoff. The number of a lease
 * grows with each that is given: it is the fencing token. */
#ifndef SPINE_CORE_HANDOFF_ID_H
#define SPINE_CORE_HANDOFF_ID_H

#include "base/str.h"

enum { HANDOFF_ID_SIZE = 48 };

/* All of s. False, and *ret untouched, where it is not such an id. */
bool handoff_id_parse(struct str s, uint64_t *ret);
bool handoff_lease_parse(struct str s, uint64_t *ret_num, int64_t *ret_lease);
/* Terminated. Return the length. */
size_t handoff_id_format(uint64_t num, char ret[HANDOFF_ID_SIZE]);
size_t handoff_lease_format(uint64_t num, int64_t lease, char ret[HANDOFF_ID_SIZE]);

#endif
