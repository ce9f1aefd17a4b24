/* What people see and mend: queues, and decisions about many handoffs at once. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/delivery/handoff_id.h"
#include "engine/board/bulk.h"
#include "engine/board/queue_list.h"

enum { PERSON_MAX = 128, WHY_MAX = 4096, REASON_MAX = 1024, QUEUES_MAX = 10000 };

/* --- Queues --- */

static const struct field queue_fields[] = {
	FIELD_TEXT("agent", struct queue_listed, view.agent.name, 0, 0, "The agent."),
	FIELD_INCLUDE(struct queue_listed, view.counts, &shape_queue),
	FIELD_SHAPE("breaker", struct queue_listed, view, &shape_breaker, "Its circuit breaker."),
	FIELD_INCLUDE(struct queue_listed, view, &shape_presence),
	FIELD_TIME("oldest_at", struct queue_listed, oldest_at_ms,
		   "Since when the first of the queue wait; null: nothing waits.", NULLABLE),
	FIELD_ENUM("why", struct queue_listed, why, &words_queue_why, 0, "Why the first waits; null: nothing does.",
		   NULLABLE, .given = INTO(struct queue_listed, has_first), .unset = -1),
	FIELD_TIME("until", struct queue_listed, until_ms, "Held: until when.", NULLABLE),
	FIELDS_END,
};
static const struct shape queue = {
	.name = "Queue", .says = "What an agent has, and how it stands.", .fields = queue_fields,
	.size = sizeof(struct queue_listed),
};

static const struct field entry_fields[] = {
	FIELD_INCLUDE(struct queue_entry, row, &shape_handoff_row),
	FIELD_INCLUDE(struct queue_entry, about, &shape_about),
	FIELD_INT("position", struct queue_entry, position, 1, NO_MAX, "1 is taken next."),
	FIELD_TIME("since", struct queue_entry, row.changed_at_ms, "Since when it waits."),
	FIELD_ENUM("why", struct queue_entry, why, &words_queue_why, 0, "Why it waits."),
	FIELD_TIME("until", struct queue_entry, until_ms, "When that ends, where it is known.", NULLABLE),
	FIELDS_END,
};
static const struct shape entry = {
	.name = "QueueEntry", .fields = entry_fields, .size = sizeof(struct queue_entry),
};

const struct description describe_list_queues = {
	.id = "listQueues", .tag = "delivery", .scope = SCOPE_READ,
	.summary = "The agents that have open or parked work",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct queue_list), .page_max = QUEUES_MAX,
	ANSWERS(ANSWER(200, "A page of queues.", OUTPUT(
		FIELD_SHAPES("queues", struct queue_list, queues, count, 0, &queue, "In the order of their making."),
		NEXT_PAGE_OF(struct queue_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

static const struct field one_queue_fields[] = {
	FIELD_INCLUDE(struct queue_get, queue, &queue),
	FIELD_SHAPES("queue", struct queue_get, entries, count, 0, &entry,
		     "What waits, the next first; what waits for later comes last."),
	NEXT_PAGE_OF(struct queue_get, page),
	FIELDS_END,
};
static const struct shape one_queue = {.fields = one_queue_fields, .warns = true};

const struct description describe_read_queue = {
	.id = "readQueue", .tag = "delivery", .scope = SCOPE_READ,
	.summary = "What waits for an agent: since when, and why",
	.path = {&path_queue}, .path_into = {INTO(struct queue_get, agent)},
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct queue_get),
	ANSWERS(ANSWER(200, "The queue.", &one_queue)),
	REFUSES(P_AGENT_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

/* --- Many at once --- */

static enum problem_code read_ids(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct bulk *b = into;
	enum problem_code code = field_read(f, value, into, r);

	if (code != P_OK)
		return code;
	b->nums = arena_calloc(r->arena, value->count + 1, sizeof(*b->nums));
	for (uint32_t i = 0; i < value->count; i++)
		if (!handoff_id_parse(value->items[i].s, &b->nums[i])) {
			problem_set(r->problem, P_INVALID_FIELD, NULL,
				    "ids[%u] is not an id of a handoff; expected one as in ho-12", i);
			problem_prefix(r->problem, f->name.p, i);
			return r->problem->code;
		}
	b->num_count = value->count;
	return P_OK;
}

static bool has_filter(const struct bulk *b)
{
	const struct handoff_filter *f = &b->filter;

	return b->to.p || f->from.p || f->reason.p || f->task.p || f->since_ms || f->before_ms;
}

/* Stands behind the filters in the table. Nobody discards everything by leaving something out. */
static enum problem_code check_filter(const struct bulk *b, struct shape_reader *r)
{
	if (b->nums && has_filter(b))
		return problem_set(r->problem, P_INVALID_FIELD, "ids", "ids stand alone: give them, or a filter");
	if (b->nums || has_filter(b) || b->is_all)
		return P_OK;
	return problem_set(r->problem, P_MISSING_FIELD, "all", "no filter is given; name handoffs (ids), filter them "
			   "(to, from, reason, task, since, before), or say \"all\": true");
}

static enum problem_code read_all(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	return code == P_OK ? check_filter(into, r) : code;
}

static enum problem_code without_all(const struct field *f, void *into, struct shape_reader *r)
{
	(void)f;
	return check_filter(into, r);
}

#define IDS(...) \
	DOC_NAMES("ids", BULK_LIMIT_MAX, 32, "These handoffs, whatever else.", .read = read_ids, __VA_ARGS__)

#define HOW_MANY \
	FIELD_BOOL("dry_run", struct bulk, dry_run, "Only says what would be done."), \
	FIELD_INT("limit", struct bulk, limit, 1, BULK_LIMIT_MAX, "How many to do in this call.", .otherwise = "100"), \
	FIELD_HANDOFF_ID("after", struct bulk, after, "Goes on behind this one: next_after of the call before."), \
	FIELD_NAME("by", struct bulk, by, PERSON_MAX, "Who; the caller where absent.", OF_CALLER)

#define WHY(...) FIELD_TEXT("why", struct bulk, why, 1, WHY_MAX, "Why; it stays in the events.", __VA_ARGS__)

static const struct field filter_fields[] = {
	FIELD_TEXT("to", struct bulk, to, 1, 0, "What this agent had."),
	FIELD_TEXT("from", struct bulk, filter.from, 1, 0, "What this agent has sent.", OF_ANYBODY),
	FIELD_TEXT("reason", struct bulk, filter.reason, 1, REASON_MAX,
		   "Whose reason holds this text, in upper or lower case."),
	FIELD_TEXT("task", struct bulk, filter.task, 1, 0, "What is of this task."),
	FIELD_TIME("since", struct bulk, filter.since_ms, "Parked, or queued, since then."),
	FIELD_TIME("before", struct bulk, filter.before_ms, "Parked, or queued, before then."),
	IDS(),
	FIELD_BOOL("all", struct bulk, is_all,
		   "Everything that is parked, or queued; must be said where there is no filter.",
		   .read = read_all, .absent = without_all),
	HOW_MANY,
	FIELDS_END,
};
static const struct shape filter = {.fields = filter_fields, .size = sizeof(struct bulk), .is_input = true};

static const struct field done_fields[] = {
	FIELD_HANDOFF_ID("id", struct about_handoff, row.num, "The handoff."),
	FIELD_ENVELOPE_ID("envelope_id", struct about_handoff, row.envelope, "Its envelope."),
	FIELD_ENUM("state", struct about_handoff, row.state, &words_handoff_state, 0,
		   "How far it is now; of a dry run, as it is."),
	FIELD_TEXT("to", struct about_handoff, row.agent_name, 0, 0, "Who has it."),
	FIELD_TEXT("reason", struct about_handoff, row.reason, 0, 0, "Why it was parked.", NULLABLE),
	FIELD_INCLUDE(struct about_handoff, about, &shape_about),
	FIELDS_END,
};
static const struct field refused_fields[] = {
	FIELD_HANDOFF_ID("id", struct bulk_refused, num, "The handoff."),
	FIELD_CSTR("code", struct bulk_refused, code, "The code of the problem, as the call for one handoff has it."),
	FIELD_TEXT("detail", struct bulk_refused, detail, 0, 0, "A sentence."),
	FIELDS_END,
};
static const struct shape done = {.fields = done_fields, .size = sizeof(struct about_handoff)};
static const struct shape refused = {.fields = refused_fields, .size = sizeof(struct bulk_refused)};

static const struct field bulk_fields[] = {
	FIELD_CSTR("action", struct bulk, action, "What was asked for.", .words = &words_bulk),
	FIELD_BOOL("dry_run", struct bulk, dry_run, "Nothing was changed."),
	FIELD_INT("matched", struct bulk, matched, 0, NO_MAX,
		  "How many fitted the filter before this call, on all its pages."),
	FIELD_SHAPES("done", struct bulk, done, done_count, 0, &done, "What was done; of a dry run, what would be."),
	FIELD_SHAPES("refused", struct bulk, refused, refused_count, 0, &refused, "What was not, and why."),
	FIELD_HANDOFF_ID("next_after", struct bulk, next_after, "Give it as after to go on; null: that was all.",
			 NULLABLE),
	FIELDS_END,
};
static const struct shape bulk = {.name = "Bulk", .fields = bulk_fields, .warns = true};

static void usual_limit(void *op)
{
	((struct bulk *)op)->limit = BULK_LIMIT;
}

#define BULK .tag = "delivery", .scope = SCOPE_ADMIN, .takes = TAKES_AGENT | TAKES_BODY, \
	.body_into = INTO(struct bulk, op), .defaults = usual_limit, \
	ANSWERS(ANSWER(200, "What was done, and what was not.", &bulk))
#define BOUNDED "One transaction, of at most limit handoffs in the order of their ids; repeat it with after until " \
	"next_after is null. Each handoff is done or refused by itself, and the call is safe to repeat."

const struct description describe_redrive_many = {
	.id = "redriveMany", BULK,
	.summary = "Out of parked: all that fit, each to its agent, with new attempts", .says = BOUNDED,
	.body = {INPUT(FIELD_INCLUDE_SAME(struct bulk, &filter), WHY())},
};

const struct description describe_reroute_many = {
	.id = "rerouteMany", BULK,
	.summary = "Out of parked: all that fit, to another agent", .says = BOUNDED,
	.body = {INPUT(FIELD_INCLUDE_SAME(struct bulk, &filter), WHY(),
		       FIELD_AGENT("reroute_to", struct bulk, other, "Who gets the work instead.",
				   .required = "it is the agent that gets the work instead"))},
};

const struct description describe_discard_many = {
	.id = "discardMany", BULK,
	.summary = "Out of parked: all that fit, for good", .says = BOUNDED " It can be undone: see restoreMany.",
	.body = {INPUT(FIELD_INCLUDE_SAME(struct bulk, &filter),
		       WHY(.required = "what is discarded is gone from the queue, and somebody will ask"))},
};

const struct description describe_restore_many = {
	.id = "restoreMany", BULK,
	.summary = "Undo: parked, what was discarded or cancelled, or redriven and not taken since", .says = BOUNDED,
	.body = {INPUT(IDS(.min = 1, .required = "they are the handoffs to bring back"), HOW_MANY, WHY())},
};

const struct description describe_cancel_many = {
	.id = "cancelMany", BULK,
	.summary = "Take back all that is queued and fits: nobody gets it any more",
	.says = BOUNDED " It can be undone: see restoreMany.",
	.body = {INPUT(FIELD_INCLUDE_SAME(struct bulk, &filter), WHY())},
};

const struct description describe_move_many = {
	.id = "moveMany", BULK,
	.summary = "Give all that is queued and fits to another agent, without parking it", .says = BOUNDED,
	.body = {INPUT(FIELD_INCLUDE_SAME(struct bulk, &filter), WHY(),
		       FIELD_AGENT("move_to", struct bulk, other, "Who gets the work instead.",
				   .required = "it is the agent that gets the work instead"))},
};
