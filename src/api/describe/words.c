/* The words of each enumeration, in the order of its C values where it has some. */
#include "api/describe/words.h"

#define WORDS(name, in_openapi, sentence, first_value, ...) \
	static const char *const name##_list[] = {__VA_ARGS__, NULL}; \
	const struct words words_##name = { \
		.component = in_openapi, .says = sentence, .list = name##_list, .first = first_value, \
	};

WORDS(importance, "Importance", NULL, 0, "low", "medium", "high", "critical")
WORDS(trust, "Trust", "Where it comes from.", 0, "system", "user", "agent", "external")
WORDS(key_scope, "KeyScope", "What a key may do; admin includes the others.", 0, "read", "write", "receive", "admin")
WORDS(key_status, NULL, NULL, 1, "valid", "expired", "revoked")
WORDS(access_mode, NULL, NULL, 0, "open", "keys")
WORDS(tokenizer, "Tokenizer", NULL, 0, "o200k_base", "cl100k_base", "estimate")
WORDS(guard, "Guard", "Credentials in plain text: let through, blank, or refuse the handoff.", 0, "off", "redact",
      "refuse")
WORDS(memory_state, NULL, NULL, 0, "active", "superseded", "expired", "forgotten", "quarantined")
WORDS(searched_state, NULL, NULL, 0, "active", "superseded", "expired", "any")
WORDS(not_found, NULL, NULL, 0, "unknown", "forgotten", "quarantined", "not_given")
WORDS(newest_oldest, NULL, NULL, 0, "newest", "oldest")
WORDS(oldest_newest, NULL, NULL, 0, "oldest", "newest")
WORDS(of_no_task, NULL, NULL, 0, "space")
WORDS(scope, NULL, NULL, 0, "task", "space")
WORDS(strategy, NULL, NULL, 0, "priority", "full", "summary", "lazy")
WORDS(fetch, NULL, NULL, 1, "mcp", "command", "http")
WORDS(envelope_form, NULL, NULL, 0, "json", "prompt", "v1", "both")
WORDS(received_form, NULL, NULL, 0, "both", "envelope", "prompt", "none")
WORDS(why, NULL, NULL, 0, "cited", "pinned", "inherited", "relevant", "recent")
WORDS(fate, NULL, NULL, 0, "full", "summary", "ref", "left_out", "passed_over")
WORDS(left_out, NULL, NULL, 0, "budget", "room", "repetition", "lazy", "summary", "trust_floor",
      "not_relevant", "not_asked_for")
WORDS(trimmed_form, NULL, NULL, 0, "summary", "ref", "none")
WORDS(verdict, NULL, NULL, 0, "intact", "forgotten", "damaged", "unchained",
      "pruned")
WORDS(change_kind, NULL, NULL, 0, "intent", "constraint", "decision", "step", "memory")
WORDS(change_fate, NULL, NULL, 1, "added", "narrowed", "changed", "waived", "dropped")
WORDS(blamed_fate, NULL, NULL, 0, "kept", "added", "narrowed", "changed", "waived", "dropped")
WORDS(blame, NULL, NULL, 0, "never there", "still there", "resolved", "lost", "waived",
      "left behind")
WORDS(handoff_state, NULL, NULL, 0, "queued", "queued", "leased", "acked", "acked", "completed", "parked", "expired",
      "discarded")
WORDS(handoff_state_asked, NULL, NULL, 0, "queued", "leased", "acked", "completed", "parked", "expired", "discarded")
WORDS(result_forgotten, NULL, NULL, 0, "forgotten", "quarantined")
WORDS(task_state, "TaskState", NULL, 0, "parked", "working", "held", "waiting", "done")
WORDS(task_state_asked, NULL, NULL, 0, "parked", "working", "held", "waiting", "done", "open")
WORDS(presence, "Presence", NULL, 0, "never_seen", "waiting", "working", "away")
WORDS(queue_why, "QueueWhy", NULL, 0, "empty_chair", "busy", "held", "backoff", "deferred")
WORDS(attempt, NULL, NULL, 0, "under_way", "acked", "completed", "nacked", "rejected", "lease_lost", "work_lost",
      "not_taken", "released", "expired", "parked")
WORDS(bulk, NULL, NULL, 0, "redrive", "reroute", "discard", "restore", "cancel", "move")
WORDS(notice, NULL, NULL, 0, "handoff.parked")
WORDS(remedy, NULL, NULL, 0, "redrive", "reroute", "shrink", "discard")
WORDS(breaker, NULL, NULL, 0, "closed", "open", "half_open")
WORDS(breaker_closed, NULL, NULL, 0, "closed")
WORDS(delivery, NULL, NULL, 0, "at-least-once")
WORDS(join, NULL, NULL, 0, "waiting", "joined", "failed", "deadline")
WORDS(window, NULL, NULL, 0, "1m", "5m", "1h", "24h")
WORDS(all_spaces, NULL, NULL, 0, "all")
WORDS(alert, NULL, NULL, 0, "handoff_failed", "consecutive_failures", "completeness_low", "failure_rate_high",
      "breaker_open", "completeness_critical", "latency_high", "utilization_pinned", "utilization_low",
      "hop_depth_high", "handoffs_parked", "queue_stuck", "envelope_refused", "constraint_waived",
      "store_damaged", "quota_near")
WORDS(severity, NULL, NULL, 0, "info", "warning", "critical")
WORDS(alert_state, NULL, NULL, 0, "firing", "resolved")
WORDS(alert_state_asked, NULL, NULL, 0, "all", "firing", "resolved")
WORDS(alert_of, NULL, NULL, 0, "agent", "space")
WORDS(unit, NULL, NULL, 0, "handoffs", "share", "ms", "hops", "envelopes", "constraints", "places")
WORDS(comparison, NULL, NULL, 0, "above", "below", "at_least")
WORDS(status, NULL, NULL, 0, "ready", "draining", "store_failed", "store_damaged", "no_lease", "no_database", "too_old")
WORDS(health, NULL, NULL, 0, "ok", "ready", "not ready")
WORDS(not_ready, NULL, NULL, 0, "store_failed", "draining", "store_damaged", "no_lease", "no_database", "too_old")
WORDS(node_state, NULL, NULL, 0, "live", "leaving", "gone", "unknown")
WORDS(shard_state, NULL, NULL, 0, "owned", "open", "moving", "idle", "none", "unknown")
WORDS(schema, NULL, NULL, 0, "envelope-1.json", "envelope-2.json")
WORDS(cloud_version, NULL, NULL, 0, "1.0")
WORDS(cloud_content, NULL, NULL, 0, "application/json")
WORDS(envelope_2, NULL, NULL, 0, "2")

bool words_stands_before(const struct words *words, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (strcmp(words->list[i], words->list[place]) == 0)
			return true;
	return false;
}
