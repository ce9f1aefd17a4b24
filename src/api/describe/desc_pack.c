/* What an envelope is packed from: agent_handoff's arguments, or an envelope of either version. */
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "core/delivery/agent.h"
#include "core/memory/mention.h"
#include "engine/envelope/pack.h"

enum { TASK_NAME_MAX = 128 };

#define STEPS "'$ref':'#/components/schemas/Step'"

static const struct field waive_fields[] = {
	DOC_TEXT("key", 1, 0, "The constraint.", .required = "it is the constraint that no longer holds"),
	DOC_TEXT("reason", 1, WAIVER_REASON_MAX, "Why it no longer holds.", .required = "somebody will ask"),
	FIELDS_END,
};
static const struct shape waiver = {.fields = waive_fields, .is_input = true};

static const struct field resolved_fields[] = {
	DOC_ANY("decision", "As it stands in open_decisions.", .required = "it is the open decision that was made"),
	DOC_ANY("outcome", "What was decided."),
	FIELDS_END,
};
static const struct shape resolved = {.fields = resolved_fields, .is_input = true};

/* Each names the decision that it resolves. */
static enum problem_code read_resolved(const struct field *f, const struct json *value, void *into,
				       struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		const struct json *decision = json_get(&value->items[i], "decision");

		if (decision && decision->type != JSON_NULL)
			continue;
		code = problem_set(r->problem, P_MISSING_FIELD, "decision", "decision is missing; %s",
				   resolved_fields[0].required);
		problem_prefix(r->problem, f->name.p, i);
	}
	return code;
}

/* Any number of them: what there may be in the end is said when all of the chain is known. */
static enum problem_code read_unbounded(const struct field *f, const struct json *value, void *into,
					struct shape_reader *r)
{
	struct field unbounded = *f;

	unbounded.max = 0;
	return field_read(&unbounded, value, into, r);
}

/* One id, or a range ("ms-4821 through ms-4825"). */
static bool collect(struct mention_list *ids, const struct json *item, struct arena *arena)
{
	struct memory_id id;
	size_t before = ids->count;

	if (item->type != JSON_STRING)
		return false;
	if (memory_id_parse(item->s, &id)) {
		mention_add(ids, id, arena);
		return true;
	}
	mention_collect(ids, item->s, arena);
	return ids->count > before;
}

static enum problem_code read_refs(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct envelope_draft *d = &((struct packing *)into)->draft;
	struct mention_list ids = {0};
	enum problem_code code = field_read(f, value, into, r);

	for (uint32_t i = 0; code == P_OK && i < value->count; i++) {
		if (collect(&ids, &value->items[i], r->arena))
			continue;
		code = problem_set(r->problem, P_INVALID_FIELD, NULL,
				   "not an id of a memory; expected ids as in ms-4821");
		problem_prefix(r->problem, f->name.p, i);
	}
	if (code == P_OK && ids.truncated)
		code = problem_set(r->problem, P_TOO_LARGE, f->name.p, "%s names more than %d memories", f->name.p,
				   MENTION_MAX);
	d->refs = ids.ids;
	d->ref_count = ids.count;
	return code;
}

static const struct field pack_fields[] = {
	FIELD_NAME("from", struct packing, draft.from, AGENT_NAME_MAX, "Who hands over; Spine-Agent where absent.",
		   .usually = "`Spine-Agent`", .docs = "who hands over", OF_CALLER),
	FIELD_NAME("target_agent", struct packing, draft.to, AGENT_NAME_MAX, "Who gets the work.",
		   .required = "it is who gets the work",
		   .docs = "who gets the work; `next` asks the [routes](#11-routes)"),
	FIELD_TEXT("task_summary", struct packing, draft.summary, 1, PACK_TEXT_MAX,
		   "What the receiver is to accomplish, at most 256 KiB. Memories named in it are cited.",
		   .required = "it says what the receiver is to accomplish",
		   .docs = "what the receiver is to accomplish, at most 256 KiB"),
	FIELD_TEXT("intent", struct packing, draft.intent, 1, PACK_TEXT_MAX,
		   "The user's own words. Set once, at the root.",
		   .docs = "the user's own words. Set once, at the root (or at the first hop that has them), and "
			   "inherited word for word; another text at a later hop is 409 `intent_conflict`"),
	FIELD_TEXT("state", struct packing, draft.state, 1, PACK_TEXT_MAX,
		   "Where the work stands; the parent's where absent.", .usually = "the parent's",
		   .docs = "where the work stands"),
	FIELD_NAME("task", struct packing, draft.task, TASK_NAME_MAX, "A root's task; a new one where absent.",
		   .docs = "a root's task; a new one, `task-17`, where it names none. Later hops have the root's; "
			   "another one is 409 `task_conflict`"),
	FIELD_INT("include_recent", struct packing, draft.include_recent, 0, PACK_RECENT_MAX,
		  "Up to how many memories to add by relevance. What is less relevant than a floor stays behind.",
		  .otherwise = "20",
		  .docs = "up to how many memories to add by relevance, 0 to 500: those that are less relevant than "
			  "1/13 (0.077) stay behind. The rarest words of the summary find them, as many as stand "
			  "together in 49,152 memories, but at least three (in a small space all of them), and all of "
			  "its words rank what they find. Of a summary or intent of more than 4,096 bytes the first "
			  "and the last 2,048 are searched with"),
	FIELD_BOOL("include_pins", struct packing, draft.include_pins, "Add what is pinned.", .otherwise = "true",
		   .docs = "add what is pinned in this task, and what is pinned without a task, which is for the whole "
			   "space"),
	FIELD_OBJECT("constraints", struct packing, draft.constraints,
		     "Key to value of any type. max_tokens is the budget.", .usually = "`{}`",
		     .docs = "key → value of any JSON type"),
	FIELD_OBJECTS("execution_history", struct packing, draft.history, PACK_HISTORY_MAX,
		      "Appended to the parent's.", .usually = "`[]`", .items = STEPS,
		      .docs = "`[{\"agent\",\"action\",\"decision\"?,\"why\"?,\"memory_id\"?,\"at\"?}]`: appended to "
			      "the parent's; entries that are there already are not doubled. One without `at` gets the "
			      "time of the envelope, one without `agent` its sender, `from`. `agent` is no name of the "
			      "form `key-7` (422). With the key of an agent a new one is that agent's: another name is "
			      "403"),
	FIELD_OBJECT("expected_output", struct packing, draft.expected_output,
		     "format, length, schema, criteria, and whatever else the receiver should know.", .usually = "`{}`",
		     .docs = "`format`, `length`, `schema`, `criteria[]`, and whatever else the receiver should know"),
	FIELD_ARRAY("open_decisions", struct packing, draft.open_decisions, PACK_DECISIONS_MAX,
		    "Appended to the parent's.", .read = read_unbounded, .usually = "`[]`"),
	FIELD_OBJECTS("waive", struct packing, draft.waive, PACK_DECISIONS_MAX,
		      "Inherited constraints that no longer hold.", .shape = &waiver, .usually = "`[]`",
		      .docs = "`[{\"key\",\"reason\"}]`: inherited constraints that no longer hold; of one that is "
			      "locked 409 `constraint_locked`"),
	FIELD_ARRAY("locked", struct packing, draft.locked, CONSTRAINTS_MAX,
		    "Keys of constraints, inherited ones or this hop's, that no agent may waive from here on.",
		    .usually = "`[]`", .items = "'type':'string'",
		    .docs = "keys of constraints, inherited ones or this hop's, that no agent may waive from here on; "
			    "never unlocked"),
	FIELD_OBJECTS("resolved_decisions", struct packing, draft.resolved_decisions, PACK_DECISIONS_MAX,
		      "Taken off the open ones and put into the history.", .shape = &resolved, .read = read_resolved,
		      .usually = "`[]`",
		      .docs = "`[{\"decision\",\"outcome\"}]`: takes an open decision off the list and puts it into "
			      "the history"),
	FIELD_ENVELOPE_ID("parent", struct packing, parent,
			  "The envelope that this one continues. Without it: of a task that has a chain, what the "
			  "sender holds of it, or its end; of any other a root.",
			  .docs = "the envelope that this one continues (`env-17`). Without it, in a task that has a "
				  "chain, it is found: what `from` holds of the task, else the chain's end; 409 "
				  "`parent_unclear` where there are several. Otherwise this is a root"),
	FIELD_BOOL("new_root", struct packing, new_root, "true: begin a second chain in a task that has one.",
		   .otherwise = "false", .docs = "begin a second chain in a task that has one; not with `parent`"),
	FIELD_ENUM("strategy", struct packing, draft.strategy, &words_strategy, 64, "What is kept where not all fits.",
		   .otherwise = "'priority'", .docs = "`priority`, `full`, `summary`, `lazy`, see below"),
	FIELD_INT("max_hops", struct packing, draft.max_hops, 1, PACK_HOPS_MAX,
		  "The parent's, or 12, where absent; a later hop can only lower it.", .usually = "the parent's, or 12",
		  .docs = "1 to 64; a later hop can only lower it. A hop beyond it is 409 `hop_limit`: nothing "
			  "changes but an event, and the receiver still holds its work"),
	FIELD_BOOL("dry_run", struct packing, dry_run, "true: answer without storing.", .otherwise = "false",
		   .docs = "answer without storing"),
	FIELD_TEXT("tokenizer", struct packing, tokenizer, 1, 64, "The receiver's, or o200k_base, where absent.",
		   .words = &words_tokenizer, .usually = "the receiver's, or `o200k_base`",
		   .docs = "in which tokens are counted"),
	FIELD_ENUM("scope", struct packing, draft.whole_space, &words_scope, 64,
		   "Whose memories may be added by relevance: task, those of this task and those without one; space, "
		   "those of other tasks, too.", .otherwise = "'task'",
		   .expected = "expected task (memories of this task and those without one) or space (those of other "
			       "tasks, too)",
		   .docs = "whose memories may be added by relevance: `task`, those of this task and those without "
			   "one; `space`, those of other tasks, too. It holds for this hop and is not inherited. "
			   "Anything else is 422"),
	DOC_ARRAY("refs", PACK_REFS_MAX, "Ids, or ranges as text: \"ms-4821 through ms-4825\".", .usually = "`[]`",
		  .read = read_refs, .items = "'type':'string'",
		  .docs = "ids of memories, or ranges as text (`\"ms-4821 through ms-4825\"`)"),
	FIELDS_END,
};
const struct shape shape_pack = {
	.name = "Handoff", .says = "What the sender says of the work. null is the same as absent.",
	.fields = pack_fields, .size = sizeof(struct packing), .is_input = true,
};

/* --- Whole envelopes --- */

static enum problem_code read_context(const struct field *f, const struct json *value, void *into,
				      struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	if (code == P_OK && value->s.n == 0)
		((struct packing *)into)->draft.state = STR_NULL;
	return code;
}

static const struct field envelope_1_fields[] = {
	DOC_INT("version", 1, 1, "It says that this is one.", .schema = "'const':1", .required = "it is 1"),
	FIELD_NAME("target", struct packing, draft.to, AGENT_NAME_MAX, "Who gets the work.",
		   .required = "it is who gets the work"),
	FIELD_NAME("from", struct packing, draft.from, AGENT_NAME_MAX, "Who hands over; Spine-Agent where absent.",
		   OF_CALLER),
	FIELD_TEXT("summary", struct packing, draft.summary, 1, PACK_TEXT_MAX, "What the receiver is to accomplish.",
		   .required = "it says what the receiver is to accomplish"),
	FIELD_ARRAY("locked", struct packing, draft.locked, CONSTRAINTS_MAX, "Constraints that no agent may waive.",
		    .items = "'type':'string'"),
	DOC_BOOL("new_root", "true: it begins a chain, whatever envelope_id says."),
	DOC_TEXT("envelope_id", 1, 64, "The envelope that the body was made from, which is the parent. With digest."),
	DOC_TEXT("digest", 1, 128, "Its digest."),
	FIELD_TEXT("context", struct packing, draft.state, 0, PACK_TEXT_MAX, "Becomes the state of the work.",
		   .read = read_context),
	FIELD_OBJECT("constraints", struct packing, draft.constraints, "What must hold."),
	FIELD_OBJECTS("history", struct packing, draft.history, PACK_HISTORY_MAX, "What was done before.",
		      .items = STEPS),
	DOC_ARRAY("memory_ids", PACK_REFS_MAX, "Memories that go along.", .read = read_refs,
		  .items = "'type':'string'"),
	FIELDS_END,
};
const struct shape shape_envelope_1_input = {
	.name = "Envelope1Input",
	.says = "A version 1 envelope, from which a new one is packed. Fields that are not known are kept.",
	.fields = envelope_1_fields, .size = sizeof(struct packing), .is_input = true,
};

static const struct field envelope_2_task_fields[] = {
	DOC_TEXT("summary", 1, PACK_TEXT_MAX, "What the receiver is to accomplish.",
		 .required = "it says what the receiver is to accomplish"),
	DOC_TEXT("intent", 1, PACK_TEXT_MAX, "The user's own words."),
	DOC_TEXT("state", 1, PACK_TEXT_MAX, "Where the work stands."),
	DOC_ARRAY("open_decisions", 0, "What is still to be decided."),
	FIELDS_END,
};
static const struct shape envelope_2_task = {.fields = envelope_2_task_fields, .is_input = true};

static const struct field envelope_2_fields[] = {
	DOC_ENUM("envelope_version", &words_envelope_2, 0, "It says that this is one.", .required = "it is \"2\""),
	DOC_NAME("from", AGENT_NAME_MAX, "Who hands over; Spine-Agent where absent.", OF_CALLER),
	DOC_NAME("to", AGENT_NAME_MAX, "Who gets the work.", .required = "it is who gets the work"),
	DOC_SHAPE("task", &envelope_2_task, "What is to be done.", .required = "it says what is to be done"),
	DOC_ANY("memory", "refs[].id is read.", .schema = ""),
	DOC_OBJECTS("history", PACK_HISTORY_MAX, "What was done before.", .items = STEPS),
	DOC_OBJECT("constraints", "What must hold."),
	DOC_OBJECT("expected_output", "What is to come out."),
	DOC_ARRAY("locked", CONSTRAINTS_MAX, "Constraints that no agent may waive.", .items = "'type':'string'"),
	DOC_TEXT("id", 1, 64, "The envelope that this is. With digest; both are checked."),
	DOC_TEXT("digest", 1, 128, "Its digest."),
	DOC_ANY("lineage", "As it came: another is packed in its place. With the envelope's own id as parent: it is "
		"handed on.", .schema = ""),
	DOC_BOOL("new_root", "true: it begins a second chain in its task."),
	FIELDS_END,
};
const struct shape shape_envelope_2_input = {
	.name = "Envelope2Input",
	.says = "A version 2 envelope, from which a new one is packed. Of it these members count; memories are asked "
		"for by their ids. Fields that are not known are kept.",
	.fields = envelope_2_fields, .is_input = true,
};
