/* Answers of a store as text, to be compared. */
#ifndef SPINE_TESTS_SHOW_H
#define SPINE_TESTS_SHOW_H

#include "base/buf.h"
#include "store/store.h"

void show_status(struct buf *b, enum store_status status);
void show_str(struct buf *b, struct str s);
void show_memory(struct buf *b, const struct memory *m);
void show_reply(struct buf *b, const struct kept_reply *r);
void show_envelope(struct buf *b, const struct envelope_row *e);
void show_agent(struct buf *b, const struct agent_row *a);
void show_target(struct buf *b, const struct target_row *t);
void show_due(struct buf *b, const struct target_due *t);
void show_counts(struct buf *b, const struct target_counts *n);
void show_handoff(struct buf *b, const struct handoff_row *h);
void show_result(struct buf *b, const struct result_row *r);
void show_event(struct buf *b, const struct event_row *e);
void show_alert(struct buf *b, const struct alert_row *a);
void show_channel(struct buf *b, const struct channel_row *c);
void show_queue(void *b, const struct queue_row *q);

/* All that a connection sees: the first few spaces, with everything in them that the random operations name. */
void show_all(struct buf *b, struct store_conn *c);

#endif
