#include "store/ram/ram_faults.h"

#include "store/ram/ram_internal.h"

#include <assert.h>
#include <stdio.h>

void ram_fail(struct store_conn *c, enum store_status status, uint64_t after, uint64_t more)
{
	struct ram_store *s = ram_of(c);

	s->fail_status = status;
	s->fail_after = after;
	s->fail_more = more;
}

void ram_fail_commit(struct store_conn *c, bool is_kept)
{
	struct ram_store *s = ram_of(c);

	s->fail_commit = true;
	s->fail_is_kept = is_kept;
}

void ram_heal(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	s->fail_after = s->fail_more = 0;
	s->fail_commit = c->is_failed = false;
}

enum store_status ram_enter(struct store_conn *c, bool writes)
{
	struct ram_store *s = ram_of(c);

	if (writes && c->is_reader) {
		snprintf(c->error, sizeof(c->error), "the connection is for reading");
		return STORE_FAILED;
	}
	assert(!writes || s->in_transaction);
	if (c->is_reader || s->fail_after == 0 || (s->fail_status == STORE_FULL && !writes))
		return STORE_OK;
	if (s->fail_after > 1) {
		s->fail_after--;
		return STORE_OK;
	}
	if (s->fail_more)
		s->fail_more--;
	else
		s->fail_after = 0;
	snprintf(c->error, sizeof(c->error), "the verb was made to fail");
	return s->fail_status;
}
