/* Memories that cannot be trusted: quarantine and purge. */
#include "api/describe/descriptions.h"
#include "api/describe/read.h"
#include "api/describe/shapes.h"
#include "api/page.h"
#include "core/memory/memory_id.h"
#include "engine/memory/quarantine.h"

enum { PERSON_MAX = 128, WHY_MAX = 4096, KEY_ID_MAX = 32 };

/* --- Which ones --- */

static enum problem_code read_ids(const struct field *f, const struct json *value, void *into, struct shape_reader *r)
{
	struct quarantine *q = into;
	enum problem_code code = field_read(f, value, into, r);
	struct memory_id id;

	if (code != P_OK)
		return code;
	q->nums = arena_calloc(r->arena, value->count + 1, sizeof(*q->nums));
	for (uint32_t i = 0; i < value->count; i++) {
		if (!memory_id_parse(value->items[i].s, &id)) {
			problem_set(r->problem, P_INVALID_FIELD, NULL,
				    "ids[%u] is not an id of a memory; expected one as in ms-12", i);
			problem_prefix(r->problem, f->name.p, i);
			return r->problem->code;
		}
		q->nums[i] = id.num;
	}
	q->num_count = value->count;
	return P_OK;
}

static bool has_filter(const struct quarantine_filter *f)
{
	return f->agent.p || f->task.p || f->key.p || f->trust != QUARANTINE_ANY_TRUST || f->since_ms || f->before_ms ||
	       f->is_quarantined;
}

/* Stands behind the filters in the table. Nobody purges everything by leaving something out. */
static enum problem_code check_filter(const struct quarantine *q, struct shape_reader *r)
{
	if (q->nums && has_filter(&q->filter))
		return problem_set(r->problem, P_INVALID_FIELD, "ids", "ids stand alone: give them, or a filter");
	if (q->nums || has_filter(&q->filter))
		return P_OK;
	return problem_set(r->problem, P_MISSING_FIELD, "ids", "nothing says which memories are meant; name them "
			   "(ids), or filter them (agent, key, task, trust, since, before, quarantined)");
}

static enum problem_code read_dry_run(const struct field *f, const struct json *value, void *into,
				      struct shape_reader *r)
{
	enum problem_code code = field_read(f, value, into, r);

	return code == P_OK ? check_filter(into, r) : code;
}

static enum problem_code without_dry_run(const struct field *f, void *into, struct shape_reader *r)
{
	(void)f;
	return check_filter(into, r);
}

static const struct field filter_fields[] = {
	FIELD_TEXT("agent", struct quarantine, filter.agent, 1, 0, "What this agent wrote, in any version.",
		   OF_ANYBODY),
	FIELD_TEXT("key", struct quarantine, filter.key, 1, KEY_ID_MAX,
		   "What was stored with this key, as in key-7; what was moved here counts by the key that moved it."),
	FIELD_TEXT("task", struct quarantine, filter.task, 1, 0, "What is of this task."),
	FIELD_ENUM("trust", struct quarantine, filter.trust, &words_trust, 0, "What has exactly this trust."),
	FIELD_TIME("since", struct quarantine, filter.since_ms, "Written since then."),
	FIELD_TIME("before", struct quarantine, filter.before_ms, "Written before then."),
	FIELD_BOOL("quarantined", struct quarantine, filter.is_quarantined, "Only what is in quarantine."),
	DOC_NAMES("ids", QUARANTINE_LIMIT_MAX, 32, "These memories, whatever else.", .read = read_ids),
	FIELD_BOOL("dry_run", struct quarantine, dry_run, "Only says what would be done, and whom it had reached.",
		   .read = read_dry_run, .absent = without_dry_run),
	FIELD_INT("limit", struct quarantine, limit, 1, QUARANTINE_LIMIT_MAX, "How many to do in this call.",
		  .otherwise = "1000"),
	FIELD_MEMORY_ID("after", struct quarantine, after, "Goes on behind this one: next_after of the call before."),
	FIELD_NAME("by", struct quarantine, by, PERSON_MAX, "Who; the caller where absent.", OF_CALLER),
	FIELDS_END,
};
static const struct shape filter = {.fields = filter_fields, .size = sizeof(struct quarantine), .is_input = true};

#define WHY(...) FIELD_TEXT("why", struct quarantine, why, 1, WHY_MAX, "Why; it stays in the events.", __VA_ARGS__)

/* --- What is answered --- */

static const struct field memory_fields[] = {
	FIELD_MEMORY_ID("id", struct quarantine_memory, num, "The memory."),
	FIELD_INT("version", struct quarantine_memory, version, 1, NO_MAX, "The newest version that fits."),
	FIELD_TEXT("agent", struct quarantine_memory, agent, 0, 0, "Who wrote that.", NULLABLE),
	FIELD_RAW("origin", struct quarantine_memory, origin, "Where it came from.", .raw_unset = "null",
		  .schema = ORIGIN_OR_NULL),
	FIELD_WORD("trust", struct quarantine_memory, trust, &words_trust, "Its trust; null: it is forgotten.",
		   NULLABLE),
	FIELD_TIME("written_at", struct quarantine_memory, written_at_ms, "When that was; null: it is forgotten.",
		   NULLABLE),
	FIELD_TEXT("beginning", struct quarantine_memory, beginning, 0, 0, "How its text begins."),
	FIELD_BOOL("quarantined", struct quarantine_memory, is_quarantined, "It was in quarantine before this call."),
	FIELD_BOOL("forgotten", struct quarantine_memory, is_forgotten,
		   "It was forgotten before this call: its id and the key that wrote it are all that is left."),
	FIELDS_END,
};
static const struct shape memory = {.fields = memory_fields, .size = sizeof(struct quarantine_memory)};

static const struct field envelope_fields[] = {
	FIELD_ENVELOPE_ID("id", struct reach_envelope, num, "The envelope."),
	FIELD_TEXT("task", struct reach_envelope, task, 0, 0, "Its task."),
	FIELD_TEXT("from", struct reach_envelope, from, 0, 0, "Who packed it.", NULLABLE),
	FIELD_TEXT("to", struct reach_envelope, to, 0, 0, "For whom."),
	FIELD_TIME("created_at", struct reach_envelope, created_at_ms, "When."),
	COUNT_OF("memories", struct reach_envelope, memories, "How many of these memories it refers to."),
	FIELDS_END,
};
static const struct field agent_fields[] = {
	FIELD_TEXT("name", struct reach_agent, name, 0, 0, "The agent."),
	COUNT_OF("delivered", struct reach_agent, delivered, "Handoffs with such an envelope that it was given."),
	COUNT_OF("waiting", struct reach_agent, waiting, "Those that it is still to be given."),
	COUNT_OF("opened", struct reach_agent, opened, "Memories that it opened by their reference."),
	FIELDS_END,
};
static const struct shape envelope = {.fields = envelope_fields, .size = sizeof(struct reach_envelope)};
static const struct shape agent = {.fields = agent_fields, .size = sizeof(struct reach_agent)};

static const struct field reach_fields[] = {
	FIELD_SHAPES("envelopes", struct reach, envelopes, envelope_count, 0, &envelope,
		     "The envelopes that refer to one of these memories; the first thousand."),
	COUNT_OF("envelopes_total", struct reach, envelopes_total, "How many there are."),
	FIELD_SHAPES("agents", struct reach, agents, agent_count, 0, &agent,
		     "The agents that were given one of them, are to be, or opened one of the memories."),
	COUNT_OF("handoffs_pruned", struct reach, handoffs_pruned,
		 "Handoffs of the space that are not kept any more: whom they had reached is not known."),
	FIELDS_END,
};
static const struct shape reach = {.name = "Reach", .fields = reach_fields, .size = sizeof(struct reach)};

static const char *const action_list[] = {"quarantine", "release", "purge", NULL};
static const struct words words_action = {.list = action_list};

static const struct field done_fields[] = {
	FIELD_CSTR("action", struct quarantine, action, "What was asked for.", .words = &words_action),
	FIELD_BOOL("dry_run", struct quarantine, dry_run, "Nothing was changed."),
	COUNT_OF("matched", struct quarantine, matched, "How many fitted before this call, on all its pages."),
	FIELD_SHAPES("memories", struct quarantine, memories, count, 0, &memory,
		     "What was done; of a dry run, what would be."),
	FIELD_SHAPE("reached", struct quarantine, reach, &reach, "Whom these memories had reached."),
	FIELD_MEMORY_ID("next_after", struct quarantine, next_after, "Give it as after to go on; null: that was all.",
			NULLABLE),
	FIELDS_END,
};
static const struct shape done = {.name = "Quarantine", .fields = done_fields, .warns = true};

static void usual(void *op)
{
	struct quarantine *q = op;

	q->limit = QUARANTINE_LIMIT;
	q->filter.trust = QUARANTINE_ANY_TRUST;
}

#define ABOUT_MANY .tag = "memories", .scope = SCOPE_ADMIN, .takes = TAKES_AGENT | TAKES_BODY, \
	.body_into = INTO(struct quarantine, op), .defaults = usual, \
	ANSWERS(ANSWER(200, "What was done, and whom it had reached.", &done))
#define BOUNDED "A memory fits where one of its versions does. One transaction, of at most limit memories in the " \
	"order of their ids; repeat it with after until next_after is null. The call is safe to repeat."

const struct description describe_quarantine = {
	.id = "quarantine", ABOUT_MANY,
	.summary = "Keep memories from everybody: not recalled, not packed, not read",
	.says = BOUNDED " It can be undone: see releaseQuarantined.",
	.body = {INPUT(FIELD_INCLUDE_SAME(struct quarantine, &filter), WHY())},
};

const struct description describe_release_quarantined = {
	.id = "releaseQuarantined", ABOUT_MANY,
	.summary = "Out of quarantine: they are as they were", .says = BOUNDED,
	.body = {INPUT(FIELD_INCLUDE_SAME(struct quarantine, &filter), WHY())},
};

const struct description describe_purge = {
	.id = "purge", ABOUT_MANY,
	.summary = "Forget memories for good, all that fit", .says = BOUNDED " There is no way back.",
	.body = {INPUT(FIELD_INCLUDE_SAME(struct quarantine, &filter),
		       WHY(.required = "what is purged is gone for good, and somebody will ask"))},
};

const struct description describe_list_quarantined = {
	.id = "listQuarantined", .tag = "memories", .scope = SCOPE_ADMIN,
	.summary = "What is in quarantine, with its text",
	.query = INPUT(PAGE_SIZE, PAGE_TOKEN), LISTS(struct quarantine_list),
	ANSWERS(ANSWER(200, "A page of memories.", OUTPUT(
		FIELD_SHAPES("memories", struct quarantine_list, memories, count, 0, &shape_memory,
			     "In the order of their ids."),
		NEXT_PAGE_OF(struct quarantine_list, page)))),
	REFUSES(P_INVALID_PAGE_TOKEN),
};
