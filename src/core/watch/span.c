#include "core/watch/span.h"

#include "core/watch/event.h"
#include "core/delivery/handoff_id.h"

#define BIT(kind) (UINT64_C(1) << (kind))

/* From when a span of an event counts. */
enum since { SINCE_NOW, SINCE_CREATED, SINCE_QUEUED, SINCE_TAKEN };

static const struct form {
	enum event_kind event;
	const char *operation;		/* messaging.operation.name */
	const char *type;		/* messaging.operation.type */
	enum span_kind kind;
	enum since since;
	bool is_failure;
} forms[] = {
	{EVENT_ENVELOPE_PACKED, "create", "create", SPAN_PRODUCER, SINCE_CREATED, false},
	{EVENT_QUEUED, "send", "send", SPAN_CLIENT, SINCE_NOW, false},
	{EVENT_FALLBACK, "fall_back", "send", SPAN_CLIENT, SINCE_NOW, false},
	{EVENT_REDRIVEN, "redrive", "send", SPAN_CLIENT, SINCE_NOW, false},
	{EVENT_REROUTED, "reroute", "send", SPAN_CLIENT, SINCE_NOW, false},
	{EVENT_MOVED, "move", "send", SPAN_CLIENT, SINCE_NOW, false},
	{EVENT_TAKEN, "receive", "receive", SPAN_CLIENT, SINCE_QUEUED, false},
	{EVENT_ACKED, "ack", "settle", SPAN_CLIENT, SINCE_TAKEN, false},
	{EVENT_COMPLETED, "process", "process", SPAN_CONSUMER, SINCE_TAKEN, false},
	{EVENT_NACKED, "nack", "settle", SPAN_CLIENT, SINCE_TAKEN, true},
	{EVENT_RELEASED, "release", "settle", SPAN_CLIENT, SINCE_TAKEN, false},
	{EVENT_REJECTED, "reject", "settle", SPAN_CLIENT, SINCE_TAKEN, true},
	{EVENT_LEASE_LOST, "lose_lease", "settle", SPAN_CLIENT, SINCE_TAKEN, true},
	{EVENT_WORK_LOST, "lose_work", "settle", SPAN_CLIENT, SINCE_TAKEN, true},
	{EVENT_ACK_TIMEOUT, "ack_timeout", "settle", SPAN_CLIENT, SINCE_QUEUED, true},
	{EVENT_EXPIRED, "expire", "settle", SPAN_CLIENT, SINCE_QUEUED, true},
	{EVENT_PARKED, "park", "settle", SPAN_CLIENT, SINCE_NOW, true},
	{EVENT_CANCELLED, "cancel", "settle", SPAN_CLIENT, SINCE_NOW, false},
};

/* With these a handoff stands in a queue (again). */
#define QUEUEING \
	(BIT(EVENT_QUEUED) | BIT(EVENT_FALLBACK) | BIT(EVENT_REDRIVEN) | BIT(EVENT_REROUTED) | BIT(EVENT_RELEASED) | \
	 BIT(EVENT_MOVED) | BIT(EVENT_NACKED) | BIT(EVENT_LEASE_LOST) | BIT(EVENT_WORK_LOST) | BIT(EVENT_ACK_TIMEOUT))
#define SENDING \
	(BIT(EVENT_QUEUED) | BIT(EVENT_FALLBACK) | BIT(EVENT_REDRIVEN) | BIT(EVENT_REROUTED) | BIT(EVENT_MOVED))

static const struct form *form_of(int kind)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((int)forms[i].event == kind)
			return &forms[i];
	return NULL;
}

uint64_t span_history_kinds(void)
{
	return QUEUEING | SENDING | BIT(EVENT_TAKEN);
}

uint64_t span_kinds(void)
{
	uint64_t kinds = 0;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		kinds |= BIT(forms[i].event);
	return kinds;
}

/* --- Contexts --- */

/* The trace, and the span that the sender was in (all 0: none). */
static struct trace_context sender_context(const struct envelope *e, const uint8_t *root_digest)
{
	struct trace_context context = {.flags = TRACE_SAMPLED};

	if (e->traceparent.p == NULL || !trace_context_parse(e->traceparent, &context))
		memcpy(context.trace, root_digest, TRACE_ID_SIZE);
	return context;
}

static void create_id(const struct trace_context *context, const uint8_t *digest, uint8_t ret[SPAN_ID_SIZE])
{
	trace_span_id(context->trace, "create", digest, 0, 0, ret);
}

struct trace_context span_context_of(const struct envelope *e, const uint8_t *root_digest)
{
	struct trace_context context = sender_context(e, root_digest);

	create_id(&context, e->digest, context.span);
	return context;
}

struct trace_context span_context_of_lease(const struct envelope *e, const uint8_t *root_digest, uint64_t handoff,
					   int64_t lease)
{
	struct trace_context context = sender_context(e, root_digest);

	trace_span_id(context.trace, "receive", e->digest, handoff, (uint64_t)lease, context.span);
	return context;
}

/* --- The history of a handoff --- */

/* The last event of these kinds before the source's own; NULL where there is none. */
static const struct event_row *last_of(const struct span_source *s, uint64_t kinds)
{
	const struct event_row *last = NULL;

	for (size_t i = 0; i < s->history_count && s->history[i].id < s->event->id; i++)
		if (BIT(s->history[i].kind) & kinds)
			last = &s->history[i];
	return last;
}

/* How many leases were given up to the source's event: the number of the last one. */
static uint64_t lease_of(const struct span_source *s)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->history_count && s->history[i].id <= s->event->id; i++)
		count += s->history[i].kind == EVENT_TAKEN;
	return count;
}

static void id_of(const struct span_source *s, const struct trace_context *context, const struct event_row *event,
		  uint8_t ret[SPAN_ID_SIZE])
{
	const uint8_t *digest = s->envelope->digest;

	if (event == NULL || event->kind == EVENT_ENVELOPE_PACKED)
		create_id(context, digest, ret);
	else if (event->kind == EVENT_TAKEN)
		trace_span_id(context->trace, "receive", digest, event->handoff, lease_of(s), ret);
	else
		trace_span_id(context->trace, "event", digest, event->handoff, (uint64_t)event->number, ret);
}

static void set_parent(const struct span_source *s, const struct form *form, const struct trace_context *sender,
		       struct span *span)
{
	const struct envelope *e = s->envelope;
	uint64_t kinds;

	if (form->event != EVENT_ENVELOPE_PACKED) {
		kinds = form->since == SINCE_TAKEN ? BIT(EVENT_TAKEN) : form->since == SINCE_QUEUED ? SENDING : 0;
		id_of(s, sender, last_of(s, kinds), span->parent);
	} else if (s->is_inherited && e->parent) {
		/* The sender did not say where it is; it was at work on the parent. */
		create_id(sender, e->parent_digest, span->parent);
	} else {
		memcpy(span->parent, sender->span, SPAN_ID_SIZE);
	}
}

static int64_t start_of(const struct span_source *s, const struct form *form)
{
	const struct event_row *from = NULL;

	switch (form->since) {
	case SINCE_NOW:
		break;
	case SINCE_CREATED:
		return s->envelope->created_at_ms;
	case SINCE_QUEUED:
		from = last_of(s, QUEUEING);
		break;
	case SINCE_TAKEN:
		from = last_of(s, BIT(EVENT_TAKEN));
		break;
	}
	return from ? from->at_ms : s->event->at_ms;
}

/* --- Attributes --- */

static struct span_attribute *add(struct span *span, const char *key)
{
	struct span_attribute *a = &span->attributes[span->attribute_count];

	if (span->attribute_count + 1 < SPAN_ATTRIBUTES_MAX)
		span->attribute_count++;
	*a = (struct span_attribute){.key = key};
	return a;
}

static void add_text(struct span *span, const char *key, struct str text)
{
	if (text.n)
		add(span, key)->text = text;
}

static void add_int(struct span *span, const char *key, int64_t value)
{
	struct span_attribute *a = add(span, key);

	a->type = SPAN_INT;
	a->i = value;
}

static void add_double(struct span *span, const char *key, double value)
{
	struct span_attribute *a = add(span, key);

	a->type = SPAN_DOUBLE;
	a->d = value;
}

static void add_messaging(const struct span_source *s, const struct form *form, struct arena *arena, struct span *span)
{
	const struct event_row *event = s->event;
	char id[HANDOFF_ID_SIZE];

	add_text(span, "messaging.system", STR("memory_spine"));
	add_text(span, "messaging.operation.name", str_of(form->operation));
	add_text(span, "messaging.operation.type", str_of(form->type));
	add_text(span, "messaging.destination.name", event->agent);
	if (event->handoff) {
		handoff_id_format(event->handoff, id);
		add_text(span, "messaging.message.id", arena_str(arena, str_of(id)));
		add_int(span, "spine.attempt", event->attempt);
	}
	add_text(span, "messaging.message.conversation_id", s->envelope->task);
	if (event->kind == EVENT_TAKEN)
		add_text(span, "messaging.client.id", event->note);
	if (form->is_failure)
		add_text(span, "error.type", str_of(event_name(event->kind)));
}

/* The agent is the one that does the work: the receiver. */
static void add_gen_ai(const struct span_source *s, struct span *span)
{
	const struct event_row *event = s->event;

	add_text(span, "gen_ai.agent.name", event->agent);
	add_text(span, "gen_ai.conversation.id", s->envelope->task);
	if (event->kind == EVENT_COMPLETED)
		add_text(span, "gen_ai.operation.name", STR("invoke_agent"));
	if (event->kind == EVENT_COMPLETED || event->kind == EVENT_ACKED)
		add_int(span, "gen_ai.usage.input_tokens",
			s->input_tokens >= 0 ? s->input_tokens : s->envelope->token_count);
}

static void add_spine(const struct span_source *s, struct arena *arena, struct span *span)
{
	const struct envelope *e = s->envelope;
	char id[ENVELOPE_ID_SIZE];

	envelope_id_format(e->num, id);
	add_text(span, "spine.space", s->space_name);
	add_text(span, "spine.envelope.id", arena_str(arena, str_of(id)));
	add_text(span, "spine.from", e->from);
	add_int(span, "spine.hop", e->hop);
	if (s->event->kind != EVENT_ENVELOPE_PACKED)
		return;
	add_int(span, "spine.token_count", e->token_count);
	add_int(span, "spine.max_tokens", e->max_tokens);
	add_double(span, "spine.completeness", s->event->value[0]);
	add_double(span, "spine.utilization", event_utilization(s->event));
}

bool span_of_event(const struct span_source *s, struct arena *arena, struct span *ret)
{
	const struct event_row *event = s->event;
	const struct form *form = form_of(event->kind);
	struct trace_context sender;

	if (form == NULL)
		return false;
	sender = sender_context(s->envelope, s->root_digest);
	if (!(sender.flags & TRACE_SAMPLED))
		return false;
	*ret = (struct span){
		.context = sender, .kind = form->kind, .start_ms = start_of(s, form), .end_ms = event->at_ms,
		.has_failed = form->is_failure,
		.message = form->is_failure ? event->note : STR_NULL,
	};
	/* The clock may have been set. */
	if (ret->start_ms > ret->end_ms)
		ret->start_ms = ret->end_ms;
	ret->name = arena_printf(arena, "%s %.*s", form->operation, STR_ARG(event->agent));
	id_of(s, &sender, event, ret->context.span);
	set_parent(s, form, &sender, ret);
	add_messaging(s, form, arena, ret);
	add_gen_ai(s, ret);
	add_spine(s, arena, ret);
	return true;
}
