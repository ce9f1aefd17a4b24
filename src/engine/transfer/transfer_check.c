#include "engine/transfer/transfer_check.h"

#include "codec/json.h"
#include "core/access/access.h"
#include "core/delivery/agent.h"
#include "core/delivery/delivery.h"
#include "core/delivery/handoff_state.h"
#include "core/delivery/keeping.h"
#include "core/memory/memory.h"

/* The end of the year 9999, which is the last that a time on the wire can tell. Versions: a forgotten memory is written
 * as often as it was changed, in one transaction. Notes: a receiver's has 4096 bytes at most; the server adds words of
 * its own, and the guard's marks are longer than what they stand for. */
#define TIME_MAX_MS INT64_C(253402300799999)
enum { VERSIONS_MAX = 10000, LEASES_MAX = 1000000000, NOTE_BYTES_MAX = 16 * 4096 };

/* --- What the parts of a row may be --- */

static bool is_time(int64_t ms)
{
	return ms >= 0 && ms <= TIME_MAX_MS;
}

static bool are_times(const int64_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_time(list[i]))
			return false;
	return true;
}

static bool is_text(struct str s, size_t min, size_t max)
{
	return s.p && s.n >= min && s.n <= max && memchr(s.p, '\0', s.n) == NULL;
}

static bool is_text_or_none(struct str s, size_t max)
{
	return s.p == NULL || is_text(s, 0, max);
}

static bool is_name(struct str s, size_t max)
{
	for (size_t i = 0; s.p && i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return is_text(s, 1, max);
}

static bool is_name_or_none(struct str s, size_t max)
{
	return s.p == NULL || is_name(s, max);
}

/* Who did something: an agent, and not one that the audit would show as the holder of a key. */
static bool is_agent_or_none(struct str s, size_t max)
{
	struct problem problem;

	return s.p == NULL || (is_name(s, max) && access_check_name("agent", s, &problem) == P_OK);
}

static bool read_json(struct str s, struct arena *arena, struct json *ret)
{
	struct json_error error;

	return s.p && json_parse(s, JSON_DEPTH_MAX, arena, ret, &error);
}

static bool is_json(struct str s, enum json_type type, struct arena *arena)
{
	struct json value;

	return read_json(s, arena, &value) && value.type == type;
}

static bool is_json_or_none(struct str s, struct arena *arena)
{
	return s.p == NULL || read_json(s, arena, &(struct json){0});
}

static bool are_names(struct str s, uint32_t max_count, size_t max_bytes, struct arena *arena)
{
	struct json value;

	if (!read_json(s, arena, &value) || value.type != JSON_ARRAY || value.count > max_count)
		return false;
	for (uint32_t i = 0; i < value.count; i++)
		if (value.items[i].type != JSON_STRING || !is_name(value.items[i].s, max_bytes))
			return false;
	return true;
}

/* --- Rows --- */

const char *transfer_check_memory(const struct transfer_memory *one, struct arena *arena)
{
	const struct memory *m = &one->row;
	const int64_t times[] = {m->created_at_ms, m->updated_at_ms, m->expires_at_ms, m->forgotten_at_ms,
				 m->quarantined_at_ms};

	if (m->version < 1 || m->version > m->current_version || m->current_version > VERSIONS_MAX)
		return "needs a version from 1 to its current_version, which is at most 10000";
	if (!are_times(times, sizeof(times) / sizeof(times[0])))
		return "has a time that is none";
	if (m->supersedes > MEMORY_NUM_MAX || m->superseded_by > MEMORY_NUM_MAX)
		return "supersedes, or is superseded by, what is no memory";
	if (m->forgotten_at_ms)
		return NULL;	/* of such a one nothing else is taken */
	if (!is_text(m->content, 1, MEMORY_CONTENT_MAX) || !is_text_or_none(m->summary, MEMORY_SUMMARY_MAX))
		return "has no content, or content or a summary that no memory can have";
	if (!is_name(m->kind, MEMORY_KIND_MAX) || !is_agent_or_none(m->agent, MEMORY_AGENT_MAX) ||
	    !is_name_or_none(m->task, MEMORY_TASK_MAX))
		return "has a kind, an agent or a task that is no name; an agent is not called as a key is (key-7)";
	if (!are_names(m->tags, MEMORY_TAGS_MAX, MEMORY_TAG_MAX, arena))
		return "has tags that are no JSON array of names";
	return is_json(m->metadata, JSON_OBJECT, arena) ? NULL : "has metadata that is no JSON object";
}

const char *transfer_check_envelope(const struct transfer_envelope *one, struct arena *arena)
{
	const struct envelope_row *row = &one->row;

	if (row->num > MEMORY_NUM_CHOSEN_MAX)
		return "has a number so high that those of the space would soon end; the highest is 549755813888";
	if (!is_time(row->created_at_ms) || row->parent > MEMORY_NUM_MAX || row->texts < -1)
		return "has a time, a parent or a number of texts that no envelope has";
	if (!one->is_pruned && row->body.p == NULL)
		return "has no body";
	return is_json_or_none(row->considered, arena) ? NULL : "has in considered what is no JSON";
}

static const char *check_numbers(const struct handoff_row *h)
{
	const int64_t times[] = {h->created_at_ms, h->changed_at_ms, h->due_ms, h->expires_at_ms, h->acked_at_ms,
				 h->not_before_ms, h->queue_until_ms};

	if (!are_times(times, sizeof(times) / sizeof(times[0])))
		return "has a time that is none";
	if (h->attempt < 0 || h->attempt > LEASES_MAX || h->max_attempts < 1 ||
	    h->max_attempts > DELIVERY_ATTEMPTS_MAX || h->leases < 0 || h->leases > LEASES_MAX ||
	    h->place > MEMORY_NUM_MAX)
		return "has attempts, leases or a place that no handoff has";
	if (h->ack_timeout_ms < 1 || h->ack_timeout_ms > DELIVERY_TIMEOUT_MAX_MS || h->lease_ms < 0 ||
	    h->lease_ms > TIME_MAX_MS || h->queue_timeout_ms < 0 || h->queue_timeout_ms > TIME_MAX_MS)
		return "has a timeout or a lease that no handoff has";
	if ((h->state == HANDOFF_LEASED || h->state == HANDOFF_WORKING) && h->leases < 1)
		return "is leased without a lease";
	/* What is due and not open would end the server, and each that follows it. */
	if (handoff_is_open(h->state) != (h->due_ms != 0))
		return "is open without a time when it is due, or has ended and is due";
	return NULL;
}

static const char *check_result(const struct transfer_handoff *one, struct arena *arena)
{
	const struct result_row *r = &one->result;

	if (!is_json_or_none(r->result, arena) || (r->gaps.p && !is_json(r->gaps, JSON_ARRAY, arena)))
		return "has a result that is no JSON, or gaps that are no JSON array";
	return r->input_tokens < -1 || r->memory > MEMORY_NUM_MAX || r->then > MEMORY_NUM_MAX
		       ? "has a result with a number that none has" : NULL;
}

const char *transfer_check_handoff(const struct transfer_handoff *one, struct arena *arena)
{
	const struct handoff_row *h = &one->row;
	const char *wrong;

	if (one->is_pruned && keeping_is_live(h->state))
		return "was pruned in a state in which none has ended";
	if (one->is_pruned)
		return is_time(h->created_at_ms) && is_time(h->changed_at_ms) ? NULL : "has a time that is none";
	wrong = check_numbers(h);
	if (wrong)
		return wrong;
	if (!is_name(h->target_name, AGENT_NAME_MAX) || !is_name(h->agent_name, AGENT_NAME_MAX) ||
	    !is_agent_or_none(h->from, AGENT_NAME_MAX) || !is_name_or_none(one->from_channel, AGENT_NAME_MAX))
		return "names no agent in to or agent, or what is no name; an agent is not called as a key is (key-7)";
	if (h->fallbacks.p && !are_names(h->fallbacks, DELIVERY_FALLBACKS_MAX, AGENT_NAME_MAX, arena))
		return "has fallbacks that are no JSON array of names";
	if (!is_text_or_none(h->receiver, NOTE_BYTES_MAX) || !is_text_or_none(h->reason, NOTE_BYTES_MAX) ||
	    !is_text_or_none(h->progress, NOTE_BYTES_MAX))
		return "has a receiver, a reason or a progress that no handoff has";
	return check_result(one, arena);
}

bool transfer_is_result(const struct result_row *result, const struct memory *memory, struct arena *arena)
{
	return result->form != RESULT_JSON || memory->forgotten_at_ms ||
	       read_json(memory->content, arena, &(struct json){0});
}
