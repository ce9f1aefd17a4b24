/* Tasks: chains of envelopes, what each hop kept, and what happened to them. */
#include "api/describe/descriptions.h"
#include "api/describe/query.h"
#include "api/describe/read_list.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/page.h"
#include "engine/envelope/blame.h"
#include "engine/envelope/envelope_get.h"
#include "engine/envelope/task_get.h"
#include "engine/envelope/waive.h"
#include "engine/board/task_list.h"
#include "engine/watch/trace_get.h"

#define PRUNED "Envelopes before one of these are not kept any more."

/* --- Which envelope --- */

static const struct field hop_fields[] = {
	FIELD_ENVELOPE_ID("envelope", struct envelope, num, "The envelope."),
	FIELD_ENVELOPE_ID("parent", struct envelope, parent, "The one that it continues; null: it is the root.",
			  NULLABLE),
	FIELD_INT("hop", struct envelope, hop, 1, NO_MAX, "Counts from 1, the root."),
	FIELD_TEXT("from", struct envelope, from, 0, 0, "Who handed over.", NULLABLE),
	FIELD_TEXT("to", struct envelope, to, 0, 0, "Who got the work."),
	FIELD_TIME("created_at", struct envelope, created_at_ms, "When it was packed."),
	FIELDS_END,
};
const struct shape shape_hop = {.fields = hop_fields, .size = sizeof(struct envelope)};

/* --- What was kept --- */

static void put_canonical(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct json *value = *(const struct json *const *)((const char *)from + f->offset);

	(void)with;
	if (value == NULL)
		return;
	json_key_str(w, f->name);
	json_put_canonical(w, value);
}

static void put_if_true(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	(void)with;
	if (*(const bool *)((const char *)from + f->offset))
		field_write(f, (const char *)from + f->offset, w);
}

static const struct field change_fields[] = {
	FIELD_ENUM("kind", struct fidelity_item, kind, &words_change_kind, 0, "What kind of thing it is."),
	FIELD_ENUM("fate", struct fidelity_item, fate, &words_change_fate, 0, "What became of it."),
	FIELD_TEXT("key", struct fidelity_item, key, 0, 0,
		   "A constraint's key, a memory's id, the text of a decision or step.", MAYBE),
	FIELD_ANY("before", struct fidelity_item, before, "Of a constraint.", MAYBE, .write = put_canonical),
	FIELD_ANY("after", struct fidelity_item, after, "Of a constraint.", MAYBE, .write = put_canonical),
	FIELD_TEXT("reason", struct fidelity_item, reason, 0, 0, "Why it was waived.", MAYBE),
	FIELD_TEXT("by", struct fidelity_item, by, 0, 0, "Who waived it.", MAYBE),
	FIELD_BOOL("unauthenticated", struct fidelity_item, unauthenticated,
		   "Of what a person waived: nobody has checked who that was.", MAYBE, .write = put_if_true),
	FIELDS_END,
};
static const struct shape change = {
	.name = "Change", .says = "What became of one thing on the way from one envelope to the other.",
	.fields = change_fields, .size = sizeof(struct fidelity_item),
};

static void put_changes(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct fidelity *kept = from;

	json_key_str(w, f->name);
	json_begin_array(w);
	for (size_t i = 0; i < kept->count; i++)
		if (kept->items[i].fate != FATE_KEPT)
			shape_write_with(&change, &kept->items[i], with, w);
	json_end_array(w);
}

#define KEPT(of_score, of_kept, of_total, ...) \
	FIELD_NUMBER("score", struct fidelity, score, 0, 1, of_score, .component = "Share", .unset = -1, \
		     __VA_ARGS__), \
	COUNT_OF("kept", struct fidelity, kept, of_kept, .unset = -1, __VA_ARGS__), \
	COUNT_OF("waived", struct fidelity, waived, \
		 "How many of the rest were given up by name and with a reason; what is left was lost.", .unset = -1, \
		 __VA_ARGS__), \
	COUNT_OF("total", struct fidelity, total, of_total, .unset = -1, __VA_ARGS__), \
	DOC_SHAPES("changes", 0, &change, "All that is not as it was.", .write = put_changes, __VA_ARGS__)

static const struct field kept_fields[] = {
	KEPT("kept / total; 1 where there was nothing to keep.",
	     "How many things of the earlier one the later one has.", "How many the earlier one had."),
	FIELDS_END,
};
static const struct shape kept_shape = {.fields = kept_fields, .size = sizeof(struct fidelity)};

static const struct field difference_fields[] = {
	FIELD_ENVELOPE_ID("from", struct envelope_diff, nums[0], "The earlier one."),
	FIELD_ENVELOPE_ID("to", struct envelope_diff, nums[1], "The later one."),
	FIELD_INCLUDE(struct envelope_diff, kept, &kept_shape),
	FIELDS_END,
};
static const struct shape difference = {.name = "Difference", .fields = difference_fields, .warns = true};

/* --- A task --- */

static const struct field task_envelope_fields[] = {
	FIELD_INCLUDE_SAME(struct envelope, &shape_hop),
	FIELD_TEXT("state", struct envelope, state, 0, 0, "Where the work stood.", NULLABLE),
	COUNT_OF("token_count", struct envelope, token_count, "What its prompt takes."),
	FIELD_INT("max_tokens", struct envelope, max_tokens, 1, NO_MAX, "Its budget."),
	COUNT_OF("refs", struct envelope, ref_count, "How many."),
	COUNT_OF("missing", struct envelope, missing_count, "How many."),
	COUNT_OF("trimmed", struct envelope, trim_count, "How many."),
	FIELDS_END,
};
static const struct shape task_envelope = {.fields = task_envelope_fields, .size = sizeof(struct envelope)};

static void put_unauthenticated(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct waiver_row *row = from;

	(void)with;
	json_key_str(w, f->name);
	json_put_bool(w, row->access_key == 0);
}

static const struct field task_waiver_fields[] = {
	FIELD_INT("waiver", struct waiver_row, id, 1, NO_MAX, "Its number; waived[] of an envelope names it."),
	FIELD_TEXT("key", struct waiver_row, key, 0, 0, "The constraint."),
	FIELD_TEXT("reason", struct waiver_row, reason, 0, 0, "Why."),
	FIELD_TEXT("by", struct waiver_row, by, 0, 0, "Who: the name of the key, or without keys their own word."),
	DOC_BOOL("unauthenticated", "Nobody has checked who that was.", .write = put_unauthenticated),
	FIELD_TIME("at", struct waiver_row, at_ms, "When."),
	FIELDS_END,
};
static const struct shape task_waiver = {.fields = task_waiver_fields, .size = sizeof(struct waiver_row)};

static const struct field task_fields[] = {
	FIELD_TEXT("id", struct task_get, task, 0, 0, "The task."),
	FIELD_TEXT("intent", struct task_get, newest.intent, 0, 0,
		   "What the user wants, as the newest envelope has it.", NULLABLE),
	FIELD_ENVELOPE_ID("newest", struct task_get, newest.num, "The newest envelope of all pages."),
	FIELD_SHAPES("waivers", struct task_get, waivers, waiver_count, 0, &task_waiver,
		     "What persons have waived for the whole task, the first one first; on every page."),
	FIELD_SHAPES("envelopes", struct task_get, envelopes, count, 0, &task_envelope, "The first one first.",
		     .min = 1),
	FIELD_BOOL("pruned", struct task_get, is_pruned, PRUNED),
	NEXT_PAGE_OF(struct task_get, page),
	FIELDS_END,
};
static const struct shape task = {.name = "Task", .fields = task_fields, .warns = true};

#define SCORES(says, ...) \
	FIELD_NUMBER("score", struct task_score, score, 0, 1, says, .component = "Share", .unset = -1, __VA_ARGS__), \
	FIELD_NUMBER("intent_and_constraints", struct task_score, core, 0, 1, "The same for what must never be lost.", \
		     .component = "Share", .unset = -1, __VA_ARGS__)

static const struct field against_root_fields[] = {SCORES("What it has of its root."), FIELDS_END};
static const struct shape against_root = {.fields = against_root_fields, .size = sizeof(struct task_score)};

static const struct field hop_kept_fields[] = {
	KEPT("What it kept of its parent.", "How many things of its parent it has.", "How many its parent had.", MAYBE),
	FIELDS_END,
};
static const struct shape hop_kept = {.fields = hop_kept_fields, .size = sizeof(struct fidelity)};

static const struct field fidelity_hop_fields[] = {
	FIELD_INCLUDE_AT(struct task_hop, envelope, &shape_hop),
	FIELD_BOOL("new_root", struct task_hop, is_new_root, "true: it begins another chain in the task.", MAYBE,
		   .write = put_if_true),
	FIELD_INCLUDE_AT(struct task_hop, kept, &hop_kept),
	FIELD_SHAPE_AT("against_root", struct task_hop, of_root, &against_root,
		       "The same, compared with its root; of one that begins another chain, with the task's first.",
		       MAYBE),
	FIELD_BOOL("pruned", struct task_hop, is_pruned,
		   "Its parent, or its root, is not kept any more: with that it is not compared."),
	FIELDS_END,
};
static const struct shape fidelity_hop = {
	.says = "The root has no score: there is nothing before it.", .fields = fidelity_hop_fields,
	.size = sizeof(struct task_hop),
};

static const struct field newest_fields[] = {SCORES("What the newest envelope has of the task's "
	"first.", MAYBE), FIELDS_END};
static const struct shape newest = {.fields = newest_fields, .size = sizeof(struct task_score)};

static const struct field fidelity_fields[] = {
	FIELD_TEXT("task", struct task_fidelity, task.task, 0, 0, "The task."),
	FIELD_INCLUDE_AT(struct task_fidelity, score, &newest),
	FIELD_SHAPES("hops", struct task_fidelity, hops, task.count, 0, &fidelity_hop, "The first one first.",
		     .min = 1),
	FIELD_BOOL("pruned", struct task_fidelity, task.is_pruned, PRUNED),
	NEXT_PAGE_OF(struct task_fidelity, task.page),
	FIELDS_END,
};
static const struct shape fidelity = {.name = "Fidelity", .fields = fidelity_fields, .warns = true};

static const struct field blamed_hop_fields[] = {
	FIELD_INCLUDE(struct blame_hop, envelope, &shape_hop),
	FIELD_INCLUDE_AT(struct blame_hop, fate, WITHIN_OF(struct fidelity_item,
		FIELD_ENUM("fate", struct fidelity_item, fate, &words_blamed_fate, 0, "Where it was lost: how.", MAYBE,
			   .unset = -1, .schema = "'type':'string'"),
		FIELD_TEXT("reason", struct fidelity_item, reason, 0, 0, "Why it was waived.", MAYBE),
		FIELD_TEXT("by", struct fidelity_item, by, 0, 0, "Who waived it.", MAYBE),
		FIELD_BOOL("unauthenticated", struct fidelity_item, unauthenticated,
			   "Of what a person waived: nobody has checked who that was.", MAYBE,
			   .write = put_if_true))),
	FIELDS_END,
};
static const struct shape blamed_hop = {
	.name = "BlamedHop", .fields = blamed_hop_fields, .size = sizeof(struct blame_hop),
};

static const struct field blame_fields[] = {
	FIELD_TEXT("task", struct blame, task, 0, 0, "The task."),
	FIELD_TEXT("key", struct blame, key, 0, 0, "What was asked for."),
	FIELD_ENUM("verdict", struct blame, verdict, &words_blame, 0, "What became of it."),
	FIELD_BOOL("pruned", struct blame, is_pruned,
		   "Earlier hops are not kept any more: it may have come, or gone, before the first that is."),
	FIELD_SHAPE_AT("introduced", struct blame, introduced, &blamed_hop, "Absent where it was never there.", MAYBE),
	FIELD_SHAPE_AT("lost", struct blame, lost, &blamed_hop,
		       "The hop that has it no more: lost, waived, or left behind by another chain. Else "
		       "absent.", MAYBE),
	FIELD_SHAPE_AT("resolved", struct blame, resolved, &blamed_hop, "Where an open decision was made.", MAYBE),
	FIELD_SHAPE_AT("left_out", struct blame, left_out, &blamed_hop,
		       "The first hop without it, where a later one has it again.", MAYBE),
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
	FIELD_BOOL("pruned", struct trace_get, is_pruned, PRUNED),
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
	.path_into = {INTO(struct envelope_diff, nums[0]), INTO(struct envelope_diff, nums[1])},
	ANSWERS(ANSWER(200, "The difference.", &difference)),
	REFUSES(P_ENVELOPE_NOT_FOUND, P_ENVELOPE_PRUNED, P_ENVELOPE_DAMAGED),
};

enum { ASKED_OPEN = TASK_STATES };	/* the word behind those of enum task_state */

static enum problem_code read_task_state(const struct field *f, const struct json *value, void *into,
					 struct shape_reader *r)
{
	struct task_list *l = into;
	int word = read_word(f->words, value->s);

	if (word < 0)
		return query_value(f, value->s, into, r);
	l->states = word == ASKED_OPEN ? (1u << TASK_DONE) - 1 : 1u << word;
	return P_OK;
}

static const struct field listed_fields[] = {
	FIELD_TEXT("id", struct task_listed, row.name, 0, 0, "The task."),
	FIELD_ENUM("state", struct task_listed, state, &words_task_state, 0,
		   "How it stands. The first of these that one of its handoffs is in: parked; working (leased, or "
		   "acked with a work lease); held (queued behind an open breaker); waiting (queued, also for "
		   "later); else done: nothing of it is open."),
	FIELD_TEXT("agent", struct task_listed, work.agent_name, 0, 0,
		   "Who has it, or had it last; null: it was handed to nobody.", NULLABLE),
	FIELD_HANDOFF_ID("handoff", struct task_listed, work.handoff, "The handoff that state and agent are of.",
			 NULLABLE),
	FIELD_TIME("created_at", struct task_listed, row.created_at_ms, "When its first envelope was packed."),
	FIELD_TIME("changed_at", struct task_listed, changed_at_ms, "When one of its handoffs last changed its state."),
	FIELD_INT("envelopes", struct task_listed, row.envelopes, 1, NO_MAX, "How many it has."),
	FIELD_INT("hops", struct task_listed, row.hops, 0, NO_MAX, "The highest hop of its envelopes."),
	FIELD_INT("tokens", struct task_listed, row.tokens, 0, NO_MAX,
		  "What the prompts of its envelopes take in all."),
	FIELD_INT("open", struct task_listed, open, 0, NO_MAX, "Handoffs that are queued, leased or at work."),
	FIELD_INT("parked", struct task_listed, work.counts[HANDOFF_PARKED], 0, NO_MAX,
		  "Handoffs that wait for a person."),
	FIELD_TEXT("intent", struct task_listed, row.intent, 0, 0,
		   "What the user wants, as its newest envelope has it: the first 200 characters. Null where nobody "
		   "said it.", NULLABLE),
	FIELD_TEXT("summary", struct task_listed, row.summary, 0, 0,
		   "What its newest envelope asks for: the first 200 characters.", NULLABLE),
	FIELD_SHAPE_AT("last_event", struct task_listed, last_event, &shape_event,
		       "What happened last to that handoff, or to the one that changed last.", NULLABLE),
	FIELDS_END,
};
static const struct shape listed = {
	.name = "TaskListed", .fields = listed_fields, .size = sizeof(struct task_listed),
};

const struct description describe_list_tasks = {
	.id = "listTasks", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "List tasks, the newest change first",
	.says = "A page may be short, and still have a next one: one answer goes through a bounded part of the "
		"history.",
	.query = INPUT(
		DOC_ENUM("state", &words_task_state_asked, 0,
			 "Those that stand so; open: all that are not done.", .read = read_task_state,
			 .expected = "expected parked, working, held, waiting, done or open"),
		FIELD_TEXT("agent", struct task_list, agent, 0, 0, "Those that this agent has, or had last.",
			   OF_ANYBODY),
		FIELD_TEXT("query", struct task_list, text, 0, 1024,
			   "Those whose id, intent or summary holds this text, in upper or lower case."),
		FIELD_SECONDS("older_than_s", struct task_list, older_than_ms, 0, NO_MAX / 1000,
			      "Those that were begun so long ago at least."),
		FIELD_TIME("changed_since", struct task_list, changed_since_ms, "Those that were changed since then."),
		PAGE_SIZE, PAGE_TOKEN),
	LISTS(struct task_list),
	ANSWERS(ANSWER(200, "A page of tasks.", OUTPUT(
		FIELD_SHAPES("tasks", struct task_list, tasks, count, 0, &listed, "Those of the page."),
		NEXT_PAGE_OF(struct task_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};

/* A chain is mostly read whole, so that a page is as large as can be where the caller does not say. */
static void as_whole(void *op)
{
	((struct task_get *)op)->page.size = LIST_SIZE_MAX;
}

#define READS_TASK .path_into = {INTO(struct task_get, task)}, LISTS(struct task_get), .defaults = as_whole

const struct description describe_read_task = {
	.id = "readTask", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "The envelopes of a task",
	.path = {&path_task}, .query = INPUT(PAGE_SIZE_OF_TASK, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "The task.", &task)), READS_TASK,
	REFUSES(P_TASK_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

const struct description describe_read_fidelity = {
	.id = "readFidelity", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "What each hop of a task kept",
	.path = {&path_task}, .query = INPUT(PAGE_SIZE_OF_TASK, PAGE_TOKEN),
	ANSWERS(ANSWER(200, "The scores, hop by hop.", &fidelity)), READS_TASK,
	REFUSES(P_TASK_NOT_FOUND, P_INVALID_PAGE_TOKEN),
};

const struct description describe_blame = {
	.id = "blame", .tag = "tasks", .scope = SCOPE_READ,
	.summary = "Where something came into a task, and where it was lost",
	.path = {&path_task}, .path_into = {INTO(struct blame, task)}, .query_into = INTO(struct blame, op),
	.query = INPUT(FIELD_TEXT("key", struct blame, key, 1, 0,
				  "The key of a constraint, the id of a memory, an open decision, or intent.",
				  .required = "it names a constraint, a memory (ms-4821), an open decision, or "
					      "intent")),
	ANSWERS(ANSWER(200, "The verdict.", &blame)),
	REFUSES(P_TASK_NOT_FOUND),
};

const struct description describe_waive = {
	.id = "waive", .tag = "tasks", .scope = SCOPE_ADMIN,
	.is_of_nobody = "only a person waives a constraint for a whole task",
	.summary = "A person waives a constraint for a task, locked or not",
	.says = "The next envelope of each line of the task goes without it, and says who waived it; envelopes that "
		"are there stay as they are.",
	.takes = TAKES_PERSON | TAKES_KEY | TAKES_BODY,
	.path = {&path_task}, .path_into = {INTO(struct waive, task)}, .body_into = INTO(struct waive, op),
	.body = {INPUT(
		FIELD_TEXT("key", struct waive, key, 1, 0, "The constraint, as it is spelled in the task's envelopes.",
			   .required = "it is the constraint that no longer holds"),
		FIELD_TEXT("reason", struct waive, reason, 1, WAIVER_REASON_MAX, "Why it no longer holds.",
			   .required = "somebody will ask"))},
	ANSWERS(ANSWER(201, "The waiver.", OUTPUT(
		FIELD_TEXT("task", struct waive, task, 0, 0, "The task."),
		FIELD_INT("waiver", struct waive, row.id, 1, NO_MAX, "Its number; waived[] of an envelope names it."),
		FIELD_TEXT("key", struct waive, row.key, 0, 0, "The constraint."),
		FIELD_ANY("value", struct waive, value, "What it says in the envelope.", .schema = ""),
		FIELD_ENVELOPE_ID("envelope", struct waive, envelope, "The newest end of the task that has it."),
		FIELD_TEXT("reason", struct waive, row.reason, 0, 0, "Why."),
		FIELD_TEXT("by", struct waive, row.by, 0, 0, "Who, by their own word."),
		FIELD_BOOL("unauthenticated", struct waive, unauthenticated, "Nobody has checked who that was."),
		FIELD_TIME("at", struct waive, row.at_ms, "When.")))),
	REFUSES(P_PERSON_REQUIRED, P_TASK_NOT_FOUND, P_ENVELOPE_DAMAGED),
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
