/* Tasks: chains of envelopes, what each hop kept, and what happened to them. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "engine/trace_get.h"

/* --- Which envelope --- */

static const struct field hop_fields[] = {
	DOC_ENVELOPE_ID("envelope", "The envelope."),
	DOC_ENVELOPE_ID("parent", "The one that it continues; null: it is the root.", NULLABLE),
	DOC_INT("hop", 1, NO_MAX, "Counts from 1, the root."),
	DOC_TEXT("from", 0, 0, "Who handed over.", NULLABLE),
	DOC_TEXT("to", 0, 0, "Who got the work."),
	DOC_TIME("created_at", "When it was packed."),
	FIELDS_END,
};
const struct shape shape_hop = {.fields = hop_fields};

/* --- What was kept --- */

static const struct field change_fields[] = {
	DOC_ENUM("kind", &words_change_kind, 0, "What kind of thing it is."),
	DOC_ENUM("fate", &words_change_fate, 0, "What became of it."),
	DOC_TEXT("key", 0, 0, "A constraint's key, a memory's id, the text of a decision or step.", MAYBE),
	DOC_ANY("before", "Of a constraint.", MAYBE),
	DOC_ANY("after", "Of a constraint.", MAYBE),
	DOC_TEXT("reason", 0, 0, "Why it was waived.", MAYBE),
	DOC_TEXT("by", 0, 0, "Who waived it.", MAYBE),
	FIELDS_END,
};
static const struct shape change = {
	.name = "Change", .says = "What became of one thing on the way from one envelope to the other.",
	.fields = change_fields,
};

static const struct field difference_fields[] = {
	DOC_ENVELOPE_ID("from", "The earlier one."),
	DOC_ENVELOPE_ID("to", "The later one."),
	DOC_NUMBER("score", 0, 1, "kept / total; 1 where there was nothing to keep.", .component = "Share"),
	COUNT("kept", "How many things of the earlier one the later one has."),
	COUNT("total", "How many the earlier one had."),
	DOC_SHAPES("changes", 0, &change, "All that is not as it was."),
	FIELDS_END,
};
static const struct shape difference = {.name = "Difference", .fields = difference_fields, .warns = true};

/* --- A task --- */

static const struct field task_envelope_fields[] = {
	DOC_INCLUDE(&shape_hop),
	DOC_TEXT("state", 0, 0, "Where the work stood.", NULLABLE),
	COUNT("token_count", "What its prompt takes."),
	DOC_INT("max_tokens", 1, NO_MAX, "Its budget."),
	COUNT("refs", "How many."),
	COUNT("missing", "How many."),
	COUNT("trimmed", "How many."),
	FIELDS_END,
};
static const struct shape task_envelope = {.fields = task_envelope_fields};

static const struct field task_fields[] = {
	DOC_TEXT("id", 0, 0, "The task."),
	DOC_TEXT("intent", 0, 0, "What the user wants, as the newest envelope has it.", NULLABLE),
	DOC_SHAPES("envelopes", 0, &task_envelope, "The first one first.", .min = 1),
	NEXT_PAGE,
	FIELDS_END,
};
static const struct shape task = {.name = "Task", .fields = task_fields, .warns = true};

#define SCORES(of) \
	DOC_NUMBER("score", 0, 1, "What the newest envelope has of its root.", of, .component = "Share"), \
	DOC_NUMBER("intent_and_constraints", 0, 1, "The same for what must never be lost.", of, .component = "Share")

static const struct field against_root_fields[] = {
	DOC_NUMBER("score", 0, 1, "What it has of its root.", .component = "Share"),
	DOC_NUMBER("intent_and_constraints", 0, 1, "The same for what must never be lost.", .component = "Share"),
	FIELDS_END,
};
static const struct shape against_root = {.fields = against_root_fields};

static const struct field fidelity_hop_fields[] = {
	DOC_INCLUDE(&shape_hop),
	DOC_NUMBER("score", 0, 1, "What it kept of its parent.", MAYBE, .component = "Share"),
	COUNT("kept", "How many things of its parent it has.", MAYBE),
	COUNT("total", "How many its parent had.", MAYBE),
	DOC_SHAPES("changes", 0, &change, "All that is not as it was.", MAYBE),
	DOC_SHAPE("against_root", &against_root, "The same, compared with its root.", MAYBE),
	FIELDS_END,
};
static const struct shape fidelity_hop = {
	.says = "The root has no score: there is nothing before it.", .fields = fidelity_hop_fields,
};

static const struct field fidelity_fields[] = {
	DOC_TEXT("task", 0, 0, "The task."),
	SCORES(MAYBE),
	DOC_SHAPES("hops", 0, &fidelity_hop, "The first one first.", .min = 1),
	NEXT_PAGE,
	FIELDS_END,
};
static const struct shape fidelity = {.name = "Fidelity", .fields = fidelity_fields, .warns = true};

static const struct field blamed_hop_fields[] = {
	DOC_INCLUDE(&shape_hop),
	DOC_TEXT("fate", 0, 0, "Where it was lost: how.", MAYBE),
	DOC_TEXT("reason", 0, 0, "Why it was waived.", MAYBE),
	DOC_TEXT("by", 0, 0, "Who waived it.", MAYBE),
	FIELDS_END,
};
static const struct shape blamed_hop = {.name = "BlamedHop", .fields = blamed_hop_fields};

static const struct field blame_fields[] = {
	DOC_TEXT("task", 0, 0, "The task."),
	DOC_TEXT("key", 0, 0, "What was asked for."),
	DOC_ENUM("verdict", &words_blame, 0, "What became of it."),
	DOC_SHAPE("introduced", &blamed_hop, "Absent where it was never there.", MAYBE),
	DOC_SHAPE("lost", &blamed_hop, "Absent where it was not lost.", MAYBE),
	DOC_SHAPE("resolved", &blamed_hop, "Where an open decision was made.", MAYBE),
	DOC_SHAPE("left_out", &blamed_hop, "The first hop without it, where a later one has it again.", MAYBE),
	FIELDS_END,
};
static const struct shape blame = {.name = "Blame", .fields = blame_fields, .warns = true};

/* --- What happened --- */

static const struct field trace_envelope_fields[] = {
	FIELD_ENVELOPE_ID("id", struct envelope, num, "The envelope."),
	FIELD_TEXT("from", struct envelope, from, 0, 0, "Who handed over.", NULLABLE),
	FIELD_TEXT("to", struct envelope, to, 0, 0, "Who got the work."),
	FIELD_ENVELOPE_ID("parent", struct envelope, parent, "The one that it continues; null: it is the root.",
			  NULLABLE),
	FIELD_INT("hop", struct envelope, hop, 1, NO_MAX, "Counts from 1, the root."),
	FIELD_TIME("created_at", struct envelope, created_at_ms, "When it was packed."),
	FIELD_INT("token_count", struct envelope, token_count, NO_MIN, NO_MAX, "What its prompt takes."),
	FIELD_INT("max_tokens", struct envelope, max_tokens, NO_MIN, NO_MAX, "Its budget."),
	FIELD_TEXT("summary", struct envelope, summary, 0, 0, "What is to be done."),
	FIELD_INT("refs", struct envelope, ref_count, NO_MIN, NO_MAX, "How many."),
	FIELD_INT("missing", struct envelope, missing_count, NO_MIN, NO_MAX, "How many."),
	FIELD_INT("trimmed", struct envelope, trim_count, NO_MIN, NO_MAX, "How many."),
	FIELDS_END,
};
static const struct shape trace_envelope = {.fields = trace_envelope_fields, .size = sizeof(struct envelope)};

static const struct field trace_fields[] = {
	FIELD_TEXT("task", struct trace_get, task, 0, 0, "The task."),
	FIELD_SHAPES("envelopes", struct trace_get, envelopes, envelope_count, 0, &trace_envelope,
		     "The first one first."),
	FIELD_SHAPES("handoffs", struct trace_get, handoffs, handoff_count, 0, &shape_handoff, "Of these envelopes."),
	FIELD_SHAPES("events", struct trace_get, events, event_count, 0, &shape_event,
		     "Of these handoffs, in order."),
	NEXT_PAGE_OF(struct trace_get, page),
	FIELDS_END,
};
static const struct shape trace = {.name = "Trace", .fields = trace_fields, .warns = true};

static void all_that_a_trace_shows(void *op)
{
	((struct trace_get *)op)->page.size = TRACE_ENVELOPES_MAX;
}

/* --- Operations --- */

const struct description describe_compare_envelopes = {
	.id = "compareEnvelopes", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "What one envelope kept of another",
	.path = {&path_envelope, &path_other_envelope},
	ANSWERS(ANSWER(200, "The difference.", &difference)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_DAMAGED),
};

const struct description describe_list_tasks = {
	.id = "listTasks", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "List tasks, the newest first",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "A page of tasks.", OUTPUT(DOC_SHAPES("tasks", 0, WITHIN(
		DOC_TEXT("id", 0, 0, "The task."),
		DOC_TIME("created_at", "When its first envelope was packed."),
		DOC_INT("envelopes", 1, NO_MAX, "How many it has."),
		DOC_TEXT("intent", 0, 0, "What the user wants, as its newest envelope has it: the first 200 "
			 "characters. Null where nobody said it.", NULLABLE),
		DOC_TEXT("summary", 0, 0, "What its first envelope asks for: the first 200 characters.", NULLABLE)),
		"Those of the page."), NEXT_PAGE))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_task = {
	.id = "readTask", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "The envelopes of a task",
	.path = {&path_task}, .query = INPUT(PAGE_SIZE_OF_TASK, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "The task.", &task)),
	REFUSES(P_TASK_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_fidelity = {
	.id = "readFidelity", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "What each hop of a task kept",
	.path = {&path_task}, .query = INPUT(PAGE_SIZE_OF_TASK, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "The scores, hop by hop.", &fidelity)),
	REFUSES(P_TASK_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

const struct description describe_blame = {
	.id = "blame", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "Where something came into a task, and where it was lost",
	.path = {&path_task},
	.query = INPUT(DOC_TEXT("key", 1, 0,
				"The key of a constraint, the id of a memory, an open decision, or intent.",
				.required = "it names a constraint, a memory (ms-4821), an open decision, or intent")),
	ANSWERS(ANSWER(200, "The verdict.", &blame)),
	REFUSES(P_TASK_NOT_FOUND),
};

const struct description describe_trace_task = {
	.id = "traceTask", .tag = "tasks", .scope = SCOPE_READ, .tool = "handoff_trace",
	.summary = "Everything that happened to a task, in order",
	.path = {&path_task}, .path_into = {INTO(struct trace_get, task)},
	.query = INPUT(DOC_INT("page_size", 1, LIST_SIZE_MAX, "At most 200 envelopes are shown at a time.",
			       .otherwise = "200"),
		       PAGE_TOKEN),
	LISTS(struct trace_get), .defaults = all_that_a_trace_shows,
	ANSWERS(ANSWER(200, "A page of its envelopes, with their handoffs and events.", &trace)),
	REFUSES(P_TASK_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};
