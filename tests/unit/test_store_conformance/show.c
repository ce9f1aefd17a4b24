#include "show.h"

#include "differential.h"

static void show_int(struct buf *b, int64_t value)
{
	buf_printf(b, "%lld ", (long long)value);
}

static void show_bytes(struct buf *b, const uint8_t *bytes)
{
	buf_printf(b, "%02x%02x ", bytes[0], bytes[31]);
}

void show_status(struct buf *b, enum store_status status)
{
	static const char *const names[] = {"ok", "not found", "exists", "refused", "full", "busy", "failed"};

	buf_printf(b, "%s: ", names[status]);
}

void show_str(struct buf *b, struct str s)
{
	if (s.p)
		buf_printf(b, "'%.*s' ", STR_ARG(s));
	else
		buf_puts(b, "- ");
}

void show_memory(struct buf *b, const struct memory *m)
{
	const struct str texts[] = {m->content, m->summary, m->kind, m->tags, m->agent, m->task, m->metadata,
				    m->origin, m->keys};
	const int64_t numbers[] = {
		m->space, (int64_t)m->num, m->current_version, m->pinned, m->created_at_ms, (int64_t)m->supersedes,
		(int64_t)m->superseded_by, m->forgotten_at_ms, m->version, m->updated_at_ms, m->expires_at_ms,
		m->importance, m->trust, m->quarantined_at_ms,
	};

	buf_puts(b, "memory ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		show_str(b, texts[i]);
	show_bytes(b, m->digest);
}

void show_reply(struct buf *b, const struct kept_reply *r)
{
	buf_printf(b, "reply %d %lld %d ", r->status, (long long)r->at_ms, r->is_quarantined);
	show_bytes(b, r->request_digest);
	show_str(b, r->etag);
	show_str(b, r->location);
	show_str(b, r->body);
}

void show_envelope(struct buf *b, const struct envelope_row *e)
{
	const int64_t numbers[] = {e->space, (int64_t)e->num, (int64_t)e->parent, e->hop, e->created_at_ms, e->texts,
				   e->has_body_digest};

	buf_puts(b, "envelope ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
	show_str(b, e->task);
	show_str(b, e->body);
	show_str(b, e->considered);
	show_bytes(b, e->digest);
	show_bytes(b, e->body_digest);
}

void show_agent(struct buf *b, const struct agent_row *a)
{
	buf_printf(b, "agent %lld %lld %d ", (long long)a->created_at_ms, (long long)a->updated_at_ms,
		   a->is_registered);
	show_str(b, a->name);
	show_str(b, a->settings);
}

void show_target(struct buf *b, const struct target_row *t)
{
	const int64_t numbers[] = {t->seen_at_ms, t->failures, t->open_until_ms, (int64_t)t->probe, t->failing_since_ms,
				   t->has_opened, t->redrive_from_ms, t->redrive_to_ms, t->due_ms};

	buf_puts(b, "target ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
}

void show_due(struct buf *b, const struct target_due *t)
{
	show_int(b, t->agent);
	show_int(b, t->space);
	show_str(b, t->name);
	show_target(b, &t->target);
}

void show_counts(struct buf *b, const struct target_counts *n)
{
	buf_printf(b, "counts %lld %lld %lld %lld ", (long long)n->queued, (long long)n->leased,
		   (long long)n->working, (long long)n->parked);
}

void show_handoff(struct buf *b, const struct handoff_row *h)
{
	const int64_t numbers[] = {
		h->space, (int64_t)h->num, (int64_t)h->envelope, h->created_at_ms, h->channel, h->target, h->agent,
		h->state, h->priority, h->attempt, h->max_attempts, h->leases, h->due_ms, h->expires_at_ms,
		h->ack_timeout_ms, h->lease_ms, h->changed_at_ms, h->acked_at_ms, h->is_exhausted, h->is_told,
		h->is_retried, (int64_t)h->place, h->not_before_ms, h->queue_timeout_ms, h->queue_until_ms, h->passes,
		h->is_outage, h->is_redriven, h->is_touched,
	};
	const struct str texts[] = {h->from, h->channel_name, h->target_name, h->agent_name, h->receiver,
				    h->fallbacks, h->reason, h->progress};

	buf_puts(b, "handoff ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		show_str(b, texts[i]);
}

void show_result(struct buf *b, const struct result_row *r)
{
	buf_printf(b, "result %lld %d %llu %d %llu %02x ", (long long)r->input_tokens, (int)r->form,
		   (unsigned long long)r->memory, r->is_forgotten, (unsigned long long)r->then, r->then_digest[31]);
	show_str(b, r->result);
	show_str(b, r->gaps);
}

void show_event(struct buf *b, const struct event_row *e)
{
	const int64_t numbers[] = {e->id, e->space, e->number, e->at_ms, e->kind, (int64_t)e->handoff,
				   (int64_t)e->envelope, (int64_t)e->memory, e->attempt, (int64_t)e->access_key};

	buf_puts(b, "event ");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
	buf_printf(b, "%g %g ", e->value[0], e->value[1]);
	show_str(b, e->agent);
	show_str(b, e->actor);
	show_str(b, e->note);
}

void show_alert(struct buf *b, const struct alert_row *a)
{
	const int64_t numbers[] = {a->id, a->space, a->severity, a->since_ms, a->resolved_at_ms,
				   a->acknowledged_at_ms, a->silenced_until_ms, a->is_untold};
	const struct str texts[] = {a->name, a->agent, a->summary, a->acknowledged_by, a->silenced_by,
				    a->silenced_why};

	buf_printf(b, "alert %g %g ", a->value, a->threshold);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		show_int(b, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		show_str(b, texts[i]);
}

void show_channel(struct buf *b, const struct channel_row *c)
{
	buf_printf(b, "channel %lld %lld %lld ", (long long)c->id, (long long)c->created_at_ms,
		   (long long)c->subscribers);
	show_str(b, c->name);
	show_str(b, c->description);
}

void show_queue(void *b, const struct queue_row *q)
{
	buf_printf(b, "queue %lld %lld ", (long long)q->agent, (long long)q->space);
	show_str(b, q->name);
	show_counts(b, &q->counts);
	show_target(b, &q->target);
}

/* --- All of it --- */

void show_all(struct buf *b, struct store_conn *c)
{
	uint64_t seed = 0;

	/* Each question that there is, with each of a few choices of what is asked for. */
	for (size_t op = 0; op < differential_question_count; op++)
		for (int i = 0; i < 40; i++)
			differential_questions[op](c, &seed, b);
}
