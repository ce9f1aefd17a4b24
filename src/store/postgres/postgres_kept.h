/* What the writer of a shard keeps in memory, so that a usual transaction asks the database nothing and is sent in one
 * go: the order of what is open (postgres_live.h), the numbers given last, the rows of spaces; and what the transaction
 * has written and the database does not know of yet.
 *
 * Nobody else writes the shard while its epoch is ours. Every statement that may look at a gathered table sends what is
 * gathered before itself (postgres_query.c); one that is "apart" does not. A rollback forgets numbers and spaces, which
 * are read again, and plays the order back; with the session all of it goes.
 *
 * Whether a task that an envelope begins is there already is guessed where nobody has asked for it lately: mostly it is
 * not. A wrong guess fails the transaction, and those after it do not guess for a while.
 */
#ifndef SPINE_STORE_POSTGRES_KEPT_H
#define SPINE_STORE_POSTGRES_KEPT_H

#include "store/postgres/postgres_live.h"
#include "store/row_cache.h"
#include "store/store.h"

struct postgres_gather;
struct postgres_kept;
struct postgres_query;

/* Returns owned. */
struct postgres_kept *postgres_kept_new(int64_t shard);
/* NULL-safe. */
void postgres_kept_free(struct postgres_kept *k);

/* Of a connection that writes, within a transaction: otherwise nothing is kept, and all of these say so. */
bool postgres_keeps(const struct store_conn *c);

/* Before a verb gathers anything: STORE_REFUSED where nothing is kept, or why the transaction is broken. */
enum store_status postgres_kept_may_write(struct store_conn *c);

/* --- The way of a transaction --- */

void postgres_kept_begin(struct store_conn *c);
/* Sends what is gathered; waits for no answer. */
enum store_status postgres_kept_send(struct store_conn *c);
bool postgres_kept_is_unsent(const struct store_conn *c);
/* The database knows of the transaction from here on: it hears of the statements that have waited. */
enum store_status postgres_kept_begun(struct store_conn *c);
/* How much it is, about. */
size_t postgres_kept_bytes(const struct store_conn *c);
/* All of it, for somebody else who sends it; it stays here until the end of the transaction. Borrowed. */
struct postgres_gather *postgres_kept_make(struct store_conn *c);
void postgres_kept_commit(struct store_conn *c);
void postgres_kept_rollback(struct store_conn *c);
/* A savepoint is set, with what is gathered sent before; the newest one is given up; what came since it is undone. */
void postgres_kept_mark(struct store_conn *c);
void postgres_kept_release(struct store_conn *c);
void postgres_kept_undo(struct store_conn *c);
/* The session is over, or what was kept was not so. */
void postgres_kept_forget(struct store_conn *c);
/* A guess was wrong. */
void postgres_kept_be_careful(struct store_conn *c);
bool postgres_kept_is_careful(const struct store_conn *c);

/* --- Numbers and spaces --- */

/* Gives the next id of an event, and the next number in its space. */
enum store_status postgres_kept_event_next(struct store_conn *c, int64_t space, int64_t *ret_id, int64_t *ret_number);
/* The last id given. False: not known. */
bool postgres_kept_event_last(const struct store_conn *c, int64_t *ret);
/* The highest number of a handoff; and that it is this one now. */
enum store_status postgres_kept_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret);
void postgres_kept_handoff_given(struct store_conn *c, int64_t space, uint64_t num);
/* Is it sure that no envelope has that number, nor ever had, and that no handoff is of it? And that this is so no more.
 */
enum store_status postgres_kept_envelope_is_free(struct store_conn *c, int64_t space, uint64_t num, bool *ret);
void postgres_kept_envelope_given(struct store_conn *c, int64_t space, uint64_t num);
/* A space that is there has so many bytes and agents more. STORE_NOT_FOUND: there is none. */
enum store_status postgres_kept_space_grows(struct store_conn *c, int64_t space, int64_t bytes, int64_t agents);
/* A statement has changed the row of the space, or numbers in it. */
void postgres_kept_space_changed(struct store_conn *c, int64_t space);

/* When an agent is due next; 0: never. False: not known. */
bool postgres_kept_target_due(const struct store_conn *c, int64_t *ret_ms);
void postgres_kept_target_due_is(struct store_conn *c, int64_t due_ms);
void postgres_kept_target_due_changed(struct store_conn *c);

/* --- Rows of the transaction --- */

/* With its id. */
enum store_status postgres_kept_event(struct store_conn *c, const struct event_row *event);
/* One of which it is sure that it can be written. task: the key of its task; is_new: that begins with it. */
enum store_status postgres_kept_envelope(struct store_conn *c, const struct envelope_row *row, int64_t task,
					 bool is_new);
/* The handoff is this one now. */
enum store_status postgres_kept_handoff(struct store_conn *c, const struct handoff_row *h, bool is_new);
/* A statement of which nobody waits for the answer, and that looks at nothing that is gathered. */
enum store_status postgres_kept_statement(struct store_conn *c, const struct postgres_query *q);
/* What is gathered, to look into it; NULL where nothing is kept. */
const struct postgres_gather *postgres_kept_gathered(const struct store_conn *c);

/* --- What is open --- */

/* NULL for a reader, who asks the database, and where it could not be read: see *ret_status. */
struct postgres_live *postgres_kept_live(struct store_conn *c, enum store_status *ret_status);
/* Puts all of them into l, within a transaction. */
enum store_status postgres_live_read(struct store_conn *c, struct postgres_live *l);
/* What stands for a sender in it. */
uint64_t postgres_live_sender(int64_t space, struct str name);

#endif
