/* Moving a space: rows out, and in. The tables are of both directions. Times are milliseconds since 1970, and what the
 * store keeps as JSON is a text, so that nothing is written in another way than it was. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "engine/transfer/transfer.h"

enum { ROWS_DEFAULT = 200, ROWS_MAX = 2000, ROWS_IN_MAX = 100000 };

/* A number that may be anything. */
#define ROW_INT(name, s, member, text, ...) FIELD_INT(name, s, member, NO_MIN, NO_MAX, text, __VA_ARGS__)
#define ROW_TEXT(name, s, member, text, ...) FIELD_TEXT(name, s, member, 0, 0, text, NULLABLE, __VA_ARGS__)

static const char *const row_states[] = {
	"queued", "delayed", "leased", "working", "acked", "completed", "parked", "expired", "discarded", NULL,
};
static const struct words words_row_state = {.list = row_states};
static const char *const row_parts[] = {"memories", "envelopes", "handoffs", NULL};
static const struct words words_part = {.list = row_parts};

static const struct field memory_fields[] = {
	FIELD_MEMORY_ID("id", struct transfer_memory, row.num, "The memory.", .required = "it is which memory this is"),
	FIELD_INT("version", struct transfer_memory, row.version, 1, UINT32_MAX, "This version."),
	FIELD_INT("current_version", struct transfer_memory, row.current_version, 1, UINT32_MAX, "The newest."),
	ROW_TEXT("content", struct transfer_memory, row.content, "Its text."),
	ROW_TEXT("summary", struct transfer_memory, row.summary, "Its short form."),
	ROW_TEXT("kind", struct transfer_memory, row.kind, "What it is."),
	ROW_TEXT("tags", struct transfer_memory, row.tags, "A JSON array."),
	ROW_TEXT("metadata", struct transfer_memory, row.metadata, "A JSON object."),
	ROW_TEXT("agent", struct transfer_memory, row.agent, "Its author."),
	ROW_TEXT("task", struct transfer_memory, row.task, "Its task."),
	FIELD_ENUM("importance", struct transfer_memory, row.importance, &words_importance, 0, "Its importance."),
	FIELD_ENUM("trust", struct transfer_memory, row.trust, &words_trust, 0, "Its trust."),
	FIELD_BOOL("pinned", struct transfer_memory, row.pinned, "It is pinned."),
	ROW_INT("supersedes", struct transfer_memory, row.supersedes, "A memory's number; 0: none."),
	ROW_INT("superseded_by", struct transfer_memory, row.superseded_by, "The same."),
	ROW_INT("created_at", struct transfer_memory, row.created_at_ms, "When it was made."),
	ROW_INT("updated_at", struct transfer_memory, row.updated_at_ms, "When this version was made."),
	ROW_INT("expires_at", struct transfer_memory, row.expires_at_ms, "0: never."),
	ROW_INT("forgotten_at", struct transfer_memory, row.forgotten_at_ms, "0: it is not forgotten."),
	ROW_INT("quarantined_at", struct transfer_memory, row.quarantined_at_ms, "0: it is not in quarantine."),
	ROW_TEXT("origin", struct transfer_memory, row.origin,
		 "Where this version came from: a JSON object. Whoever takes it in keeps it as a claim."),
	FIELDS_END,
};

static const struct field envelope_fields[] = {
	FIELD_ENVELOPE_ID("id", struct transfer_envelope, row.num, "The envelope.",
			  .required = "it is which envelope this is"),
	FIELD_BOOL("pruned", struct transfer_envelope, is_pruned, "Only parent, time and digest are left."),
	ROW_INT("parent", struct transfer_envelope, row.parent, "An envelope's number; 0: none."),
	ROW_INT("created_at", struct transfer_envelope, row.created_at_ms, "When it was packed."),
	ROW_INT("texts", struct transfer_envelope, row.texts,
		"References whose text the body leaves out; -1: not known."),
	ROW_TEXT("digest", struct transfer_envelope, digest, "SHA-256, hexadecimal."),
	ROW_TEXT("body_digest", struct transfer_envelope, body_digest, "The same, of the body."),
	ROW_TEXT("body", struct transfer_envelope, row.body, "Its canonical JSON without the texts of its references."),
	ROW_TEXT("considered", struct transfer_envelope, row.considered, "What it was chosen from: JSON."),
	FIELDS_END,
};

static const struct field handoff_fields[] = {
	FIELD_HANDOFF_ID("id", struct transfer_handoff, row.num, "The handoff.",
			 .required = "it is which handoff this is"),
	FIELD_BOOL("pruned", struct transfer_handoff, is_pruned, "Only envelope, state and times are left."),
	FIELD_ENVELOPE_ID("envelope_id", struct transfer_handoff, row.envelope, "Its envelope."),
	FIELD_ENUM("state", struct transfer_handoff, row.state, &words_row_state, 0, "Its state in the store."),
	ROW_INT("created_at", struct transfer_handoff, row.created_at_ms, "When it was sent."),
	ROW_INT("changed_at", struct transfer_handoff, row.changed_at_ms, "When it came into its state."),
	ROW_TEXT("from", struct transfer_handoff, row.from, "Its sender."),
	ROW_TEXT("to", struct transfer_handoff, row.target_name, "The agent that the sender named."),
	ROW_TEXT("agent", struct transfer_handoff, row.agent_name, "The agent that has it."),
	ROW_TEXT("channel", struct transfer_handoff, from_channel, "Its channel."),
	FIELD_INT("priority", struct transfer_handoff, row.priority, 0, 9, "0 to 9."),
	ROW_INT("attempt", struct transfer_handoff, row.attempt, "With this agent."),
	ROW_INT("max_attempts", struct transfer_handoff, row.max_attempts, "With one agent."),
	ROW_INT("leases", struct transfer_handoff, row.leases, "Given so far: the fencing token."),
	ROW_INT("due", struct transfer_handoff, row.due_ms, "When something happens by itself; 0: never."),
	ROW_INT("expires_at", struct transfer_handoff, row.expires_at_ms,
		"When its sender stops waiting; 0: it does not wait."),
	ROW_INT("ack_timeout", struct transfer_handoff, row.ack_timeout_ms, "Milliseconds."),
	ROW_INT("lease_ms", struct transfer_handoff, row.lease_ms, "Of the lease that is out."),
	ROW_INT("acked_at", struct transfer_handoff, row.acked_at_ms, "0: it was not."),
	FIELD_BOOL("exhausted", struct transfer_handoff, row.is_exhausted, "Its attempts are used up."),
	FIELD_BOOL("told", struct transfer_handoff, row.is_told, "Its sender knows that it was parked."),
	FIELD_BOOL("retried", struct transfer_handoff, row.is_retried, "Attempts follow while its sender waits."),
	ROW_INT("place", struct transfer_handoff, row.place, "In the queue."),
	ROW_INT("not_before", struct transfer_handoff, row.not_before_ms, "0: at once."),
	ROW_INT("queue_timeout", struct transfer_handoff, row.queue_timeout_ms, "Milliseconds; 0: the server's."),
	ROW_INT("queue_until", struct transfer_handoff, row.queue_until_ms, "When that is over."),
	FIELD_BOOL("passes", struct transfer_handoff, row.passes, "An open breaker does not hold it."),
	FIELD_BOOL("outage", struct transfer_handoff, row.is_outage, "It comes back when the breaker closes."),
	FIELD_BOOL("redriven", struct transfer_handoff, row.is_redriven, "It came back so."),
	FIELD_BOOL("touched", struct transfer_handoff, row.is_touched, "A person has decided about it."),
	ROW_TEXT("receiver", struct transfer_handoff, row.receiver, "Who holds or held the lease."),
	ROW_TEXT("fallbacks", struct transfer_handoff, row.fallbacks, "A JSON array, those not tried yet."),
	ROW_TEXT("reason", struct transfer_handoff, row.reason, "Of the last failure."),
	ROW_TEXT("progress", struct transfer_handoff, row.progress, "As the receiver told it last."),
	FIELD_BOOL("has_result", struct transfer_handoff, has_result, "What follows is its result."),
	ROW_TEXT("result", struct transfer_handoff, result.result, "JSON; null where a memory has it."),
	ROW_TEXT("gaps", struct transfer_handoff, result.gaps, "A JSON array."),
	ROW_INT("input_tokens", struct transfer_handoff, result.input_tokens, "-1: not told."),
	FIELD_INT("result_form", struct transfer_handoff, result.form, 0, RESULT_LARGE, "Where the result is."),
	ROW_INT("result_memory", struct transfer_handoff, result.memory, "A memory's number; 0: none."),
	ROW_INT("then", struct transfer_handoff, result.then,
		"What was handed on with it, a handoff's number; 0: nothing."),
	ROW_TEXT("then_digest", struct transfer_handoff, then_digest, "Of what was asked for."),
	FIELDS_END,
};

#define ROWS(kind, direction) \
	static const struct shape kind##_##direction = { \
		.fields = kind##_fields, .size = sizeof(struct transfer_##kind), .noun = "a row of a " #kind,
ROWS(memory, out) };
ROWS(envelope, out) };
ROWS(handoff, out) };
ROWS(memory, in) .is_input = true };
ROWS(envelope, in) .is_input = true };
ROWS(handoff, in) .is_input = true };

static void some_rows(void *op)
{
	((struct transfer_out *)op)->limit = ROWS_DEFAULT;
}

const struct description describe_export_rows = {
	.id = "exportRows", .tag = "spaces", .scope = SCOPE_ADMIN,
	.is_of_nobody = "rows of a space tell the leases of all agents",
	.summary = "Rows of a space, to be imported elsewhere",
	.says = "In the order of their numbers. spine export --whole writes a file of them.",
	.query = INPUT(
		FIELD_ENUM("part", struct transfer_out, part, &words_part, 0, "Which rows.",
			   .required = "it is which rows are wanted",
			   .refusal = "is not one of memories, envelopes and handoffs"),
		FIELD_INT("after", struct transfer_out, after, 0, MEMORY_NUM_MAX, "Go on behind this number.",
			  .otherwise = "0"),
		FIELD_INT("limit", struct transfer_out, limit, 1, ROWS_MAX, "So many rows, about.",
			  .otherwise = "200")),
	.query_into = INTO(struct transfer_out, op), .defaults = some_rows,
	ANSWERS(ANSWER(200, "Rows.", OUTPUT(
		FIELD_SHAPES("memories", struct transfer_out, rows.memories, rows.memory_count, 0, &memory_out,
			     "One for each version."),
		FIELD_SHAPES("envelopes", struct transfer_out, rows.envelopes, rows.envelope_count, 0, &envelope_out,
			     "Envelopes, and what is left of pruned ones."),
		FIELD_SHAPES("handoffs", struct transfer_out, rows.handoffs, rows.handoff_count, 0, &handoff_out,
			     "Handoffs with their results, and what is left of pruned ones."),
		FIELD_INT("next", struct transfer_out, next, 0, NO_MAX, "Everything up to here was looked at."),
		FIELD_BOOL("has_more", struct transfer_out, has_more, "There is more behind it.")))),
};

const struct description describe_import_rows = {
	.id = "importRows", .tag = "spaces", .scope = SCOPE_ADMIN,
	.is_of_nobody = "rows of a space name other authors",
	.summary = "Write rows that another server has exported",
	.says = "All of them, or none. Numbers, digests, times and states stay; envelopes are verified. A row that is "
		"there already is left alone. In the order of their numbers: memories, then envelopes, then handoffs.",
	.takes = TAKES_BODY, .body_into = INTO(struct transfer_in, op),
	.body = {INPUT(
		FIELD_SHAPES("memories", struct transfer_in, rows.memories, rows.memory_count, ROWS_IN_MAX, &memory_in,
			     "Versions of memories."),
		FIELD_SHAPES("envelopes", struct transfer_in, rows.envelopes, rows.envelope_count, ROWS_IN_MAX,
			     &envelope_in, "Envelopes."),
		FIELD_SHAPES("handoffs", struct transfer_in, rows.handoffs, rows.handoff_count, ROWS_IN_MAX,
			     &handoff_in, "Handoffs."))},
	ANSWERS(ANSWER(200, "They are there.", OUTPUT(
		COUNT_OF("imported", struct transfer_in, imported, "That were written."),
		COUNT_OF("unchanged", struct transfer_in, unchanged, "That were there already.")))),
	REFUSES(P_ID_TAKEN, P_ENVELOPE_NOT_FOUND, P_CHANNEL_NOT_FOUND),
};
