/* The rows that a transaction has written and the database does not know of yet: one statement for all of a kind; and
 * statements that wait with them, because nobody waits for their answer. */
#ifndef SPINE_STORE_POSTGRES_GATHER_H
#define SPINE_STORE_POSTGRES_GATHER_H

#include "store/postgres/postgres_table.h"
#include "store/store.h"

struct gathered_handoff;
struct gathered_statement;
struct gathered_task;
struct postgres_query;

enum { GATHER_BUCKETS = 512 };

struct postgres_gather {
	int64_t shard;			/* of the rows that are added one by one */
	struct postgres_table events, envelopes, citations, spaces;
	struct postgres_table new_tasks, tasks, new_handoffs, handoffs;	/* made when they are sent */
	struct gathered_handoff *handoff_buckets[GATHER_BUCKETS], *first_handoff, **last_handoff;
	struct gathered_handoff *target_buckets[GATHER_BUCKETS];
	struct gathered_task *task_buckets[GATHER_BUCKETS], *first_task, **last_task;
	struct gathered_statement *first_statement, **last_statement;
	bool is_made;			/* so they are */
	struct arena arena;
	size_t row_count, bytes;
};

void postgres_gather_init(struct postgres_gather *g, int64_t shard);
void postgres_gather_release(struct postgres_gather *g);
void postgres_gather_clear(struct postgres_gather *g);

void postgres_gather_event(struct postgres_gather *g, const struct event_row *event);
void postgres_gather_envelope(struct postgres_gather *g, const struct envelope_row *row, int64_t task, bool is_new);
void postgres_gather_handoff(struct postgres_gather *g, const struct handoff_row *h, bool is_new);
void postgres_gather_space(struct postgres_gather *g, int64_t space, int64_t bytes, int64_t agents);
/* NULL: it is not among them, or g is NULL. Without names; its texts are borrowed until the next verb. */
const struct handoff_row *postgres_gather_find_handoff(const struct postgres_gather *g, int64_t key);
/* The one of the envelope for the target. */
const struct handoff_row *postgres_gather_find_handed(const struct postgres_gather *g, int64_t envelope,
						      int64_t target);

/* A copy of one that looks at nothing that is gathered. */
void postgres_gather_statement(struct postgres_gather *g, const struct postgres_query *q);

/* --- Sending: with the connection of the shard, or one that commits for several --- */

/* No row is added from here on. */
void postgres_gather_make(struct postgres_gather *g);
/* Adds the rows that another has made, of the same shard or not. */
void postgres_gather_append(struct postgres_gather *g, const struct postgres_gather *from);
/* These two keep what they send, which may have to be sent again. */
enum store_status postgres_gather_send_statements(struct postgres_gather *g, struct store_conn *c);
enum store_status postgres_gather_send_rows(struct postgres_gather *g, struct store_conn *c);
void postgres_gather_drop_statements(struct postgres_gather *g);

#endif
