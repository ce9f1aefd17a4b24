/* Whether a server may still answer from what it remembers.
 *
 * A server has one lease, by the database's clock, from the moment when that renewed it. The server counts from
 * when it *asked*, which is earlier, on a clock that goes on while the machine sleeps: so its own count ends
 * first, however long the way there and back took. Clocks may run differently fast by a thousandth; a second of
 * reserve is more than that.
 */
#ifndef SPINE_CORE_CLUSTER_LEASE_H
#define SPINE_CORE_CLUSTER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

/* Five times as long as the pause between two renewals: four of them may fail. */
enum { LEASE_MS = 5000, LEASE_RENEW_MS = 1000, LEASE_RESERVE_MS = 1000 };

struct lease {
	int64_t asked_ns;		/* when the renewal that succeeded last was sent; CLOCK_BOOTTIME */
	bool is_held;			/* it was renewed at least once, and never given up */
};

/* A renewal was sent then, and succeeded. An answer that comes late never shortens it. */
void lease_renewed(struct lease *l, int64_t asked_ns);
/* So long it lasts yet, at least; 0: it is over. */
int64_t lease_left_ms(const struct lease *l, int64_t now_ns);
/* Answers that are no commit may leave: a commit is fenced by the database. */
bool lease_allows(const struct lease *l, int64_t now_ns);

#endif
