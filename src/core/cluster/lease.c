#include "core/cluster/lease.h"

void lease_renewed(struct lease *l, int64_t asked_ns)
{
	if (!l->is_held || asked_ns > l->asked_ns)
		l->asked_ns = asked_ns;
	l->is_held = true;
}

int64_t lease_left_ms(const struct lease *l, int64_t now_ns)
{
	int64_t gone_ms = (now_ns - l->asked_ns) / 1000000;

	return l->is_held && gone_ms < LEASE_MS ? LEASE_MS - gone_ms : 0;
}

bool lease_allows(const struct lease *l, int64_t now_ns)
{
	return lease_left_ms(l, now_ns) >= LEASE_RESERVE_MS;
}
