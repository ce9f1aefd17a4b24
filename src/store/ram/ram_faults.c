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
	s->fail_is_settled = false;
}

void ram_break_commit(struct store_conn *c, bool is_kept)
{
	ram_fail_commit(c, is_kept);
	ram_of(c)->fail_is_settled = true;
}

void ram_cut(struct store_conn *c, bool is_cut)
{
	((struct ram_conn *)c)->is_cut = is_cut;
}

bool ram_is_writing(const struct store_conn *c)
{
	return ram_of(c)->in_transaction;
}

bool ram_is_own(const struct store_conn *writer)
{
	return ram_of(writer)->writing == (const struct ram_conn *)writer;
}

int64_t ram_epoch(const struct store_conn *writer)
{
	return ((const struct ram_conn *)writer)->epoch;
}

void ram_set_hooks(struct store_conn *c, const struct ram_hooks *hooks)
{
	ram_of(c)->hooks = *hooks;
}

void ram_set_broken(struct store_conn *c, unsigned broken)
{
	ram_of(c)->shard->broken = broken;
}

bool ram_retake(struct store_conn *writer)
{
	struct buf error;
	bool is_taken;

	buf_init(&error, 4096);
	is_taken = ram_shard_take((struct ram_conn *)writer, &error);
	buf_release(&error);
	return is_taken;
}

void ram_heal(struct store_conn *c)
{
	struct ram_store *s = ram_of(c);

	s->fail_after = s->fail_more = 0;
	s->fail_commit = s->fail_is_settled = c->is_failed = false;
}

enum store_status ram_enter(struct store_conn *c, bool writes)
{
	struct ram_store *s = ram_of(c);

	if (writes && c->is_reader) {
		snprintf(c->error, sizeof(c->error), "the connection is for reading");
		return STORE_FAILED;
	}
	if (ram_is_over(c))
		return STORE_BUSY;
	assert(!writes || ram_is_own(c));
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
