#include "tally.h"

#include <stdio.h>

static const char *const fault_names[FAULT_KINDS] = {
	[FAULT_KILLED_BEFORE_COMMIT] = "killed in a transaction",
			[FAULT_KILLED_AFTER_COMMIT] = "killed before the reply",
	[FAULT_FULL] = "disk full", [FAULT_VERB_FAILED] = "a verb failed",
			[FAULT_COMMIT_FAILED_LOST] = "commit failed, lost",
	[FAULT_COMMIT_FAILED_KEPT] = "commit failed, kept", [FAULT_REPLY_LOST] = "reply lost",
			[FAULT_REPLY_TWICE] = "reply twice", [FAULT_CALLER_GONE] = "caller gone while it waited",
	[FAULT_PAUSED] = "node paused", [FAULT_PAUSED_IN_BATCH] = "paused in a batch",
	[FAULT_IDLE_ENDED] = "batch ended by the database", [FAULT_DIED] = "node died", [FAULT_LEFT] = "node left",
	[FAULT_CUT] = "node cut off", [FAULT_APART] = "nodes apart", [FAULT_AWAY] = "database away",
	[FAULT_CLOCK] = "clock jumped", [FAULT_COMMIT_BROKE_LOST] = "commit's answer lost, not made",
	[FAULT_COMMIT_BROKE_KEPT] = "commit's answer lost, made",
};

/* Everything in struct tally is a uint64_t. */
void tally_add(struct tally *sum, const struct tally *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;

	_Static_assert(sizeof(struct tally) % sizeof(uint64_t) == 0, "counters only");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

bool tally_is_possible(enum handoff_verb verb, enum handoff_state from, enum handoff_state to)
{
	/* No handoff is taken so often that giving back would count: tests/unit/test_delivery_release.c does. */
	if (verb == VERB_RELEASE)
		return to != HANDOFF_PARKED;
	/* Who lets go what is queued already changes nothing. */
	if (verb == VERB_SEND && from == HANDOFF_QUEUED)
		return to == HANDOFF_DELAYED;
	/* Progress changes no state. */
	if (verb == VERB_PROGRESS)
		return from == to;
	if (verb == VERB_HAND_OVER)
		return from == to || to == HANDOFF_QUEUED;
	if (verb != VERB_TIMEOUT)
		return true;
	/* What nobody took is offered again at once; what waited for its time is offered, or withdrawn; a sender
	 * does not wait any more for what was acked. */
	if (to == HANDOFF_DELAYED)
		return from == HANDOFF_LEASED || from == HANDOFF_WORKING;
	if (from == HANDOFF_DELAYED)
		return to != HANDOFF_PARKED;
	return from != HANDOFF_WORKING || to != HANDOFF_EXPIRED;
}

static void print_count(const char *name, uint64_t count)
{
	printf("  %-40s %14llu\n", name, (unsigned long long)count);
}

static void print_moves(const struct tally *t)
{
	char name[80];

	printf("transitions\n");
	for (int v = 0; v < HANDOFF_VERBS; v++)
		for (int from = 0; from < HANDOFF_STATES; from++)
			for (int to = 0; to < HANDOFF_STATES; to++)
				if (t->moves[v][from][to]) {
					snprintf(name, sizeof(name), "%-10s %s -> %s", step_verb_name(v),
						 step_state_name(from), step_state_name(to));
					print_count(name, t->moves[v][from][to]);
				}
}

static void print_answers(const struct tally *t)
{
	char name[80];

	printf("steps and their answers\n");
	for (int kind = 0; kind < STEP_KINDS; kind++)
		for (int code = 0; code < TALLY_CODES; code++)
			if (t->codes[kind][code]) {
				snprintf(name, sizeof(name), "%-13s %s", step_name(kind),
					 problem_kind((enum problem_code)code)->name);
				print_count(name, t->codes[kind][code]);
			}
}

void tally_print(const struct tally *t)
{
	print_moves(t);
	print_answers(t);
	printf("events\n");
	for (int i = 0; i < TALLY_EVENTS; i++)
		if (t->events[i])
			print_count(event_name(i), t->events[i]);
	printf("faults\n");
	for (int i = 0; i < FAULT_KINDS; i++)
		print_count(fault_names[i], t->faults[i]);
	printf("answers\n");
	print_count("kept for a key, given again", t->replays);
	print_count("handoffs that their sender was told of", t->notices);
	print_count("handed on with a settling", t->handed_on);
	print_count("settled with a receive", t->items);
	print_count("held behind an open breaker", t->held);
	print_count("probes of a half-open one", t->probes);
	print_count("brought back after an outage", t->brought_back);
	print_count("passed on from an empty chair", t->passed_on[0]);
	print_count("given back to the target", t->passed_on[1]);
	print_count("timed out of the queue", t->queue_timeouts);
	print_count("handoffs that were pruned", t->pruned[0]);
	print_count("events that were pruned", t->pruned[1]);
	print_count("joins that waited in vain", t->joins[JOIN_WAITING]);
	print_count("joins", t->joins[JOIN_JOINED]);
	print_count("joins that failed", t->joins[JOIN_FAILED]);
	if (t->takeovers) {
		print_count("takeovers of shards", t->takeovers);
		print_count("answers that a lease held back", t->gated);
		print_count("calls given up", t->given_up);
		print_count("ms from the last fault until a shard is served",
			    t->recovered ? t->recovery_ms / t->recovered : 0);
	}
	printf("ended\n");
	for (int i = 0; i < HANDOFF_STATES; i++)
		if (t->ended[i])
			print_count(step_state_name(i), t->ended[i]);
	printf("%llu runs, %llu handoffs, %llu steps in %llu transactions, %.1f simulated days\n",
	       (unsigned long long)t->runs,
	       (unsigned long long)t->handoffs, (unsigned long long)t->steps, (unsigned long long)t->transactions,
	       (double)t->simulated_ms / 86400e3);
}

static int missing_faults(const struct tally *t, int from, int to)
{
	int missing = 0;

	for (int i = from; i <= to; i++)
		if (t->faults[i] == 0) {
			printf("never happened: %s\n", fault_names[i]);
			missing++;
		}
	return missing;
}

int tally_missing_of_cluster(const struct tally *t)
{
	int missing = missing_faults(t, FAULT_PAUSED, FAULT_KINDS - 1) +
		      missing_faults(t, FAULT_COMMIT_FAILED_LOST, FAULT_REPLY_TWICE);

	if (t->takeovers == 0 || t->gated == 0 || t->given_up == 0 || t->replays == 0) {
		printf("never seen: a takeover, an answer that a lease held back, a call given up, a replay\n");
		missing++;
	}
	return missing;
}

int tally_missing(const struct tally *t)
{
	int missing = 0;

	for (int v = 0; v < HANDOFF_VERBS; v++)
		for (int from = 0; from < HANDOFF_STATES; from++)
			for (int to = 0; to < HANDOFF_STATES; to++) {
				if (t->moves[v][from][to] || !handoff_allows_move(v, from, to) ||
				    !tally_is_possible(v, from, to))
					continue;
				printf("never taken: %s, %s -> %s\n", step_verb_name(v), step_state_name(from),
				       step_state_name(to));
				missing++;
			}
	for (int i = EVENT_QUEUED; i <= EVENT_MOVED; i++)
		if (t->events[i] == 0 && (i <= EVENT_BREAKER_RESET || i >= EVENT_CANCELLED)) {
			printf("never told: %s\n", event_name(i));
			missing++;
		}
	if (t->events[EVENT_RESTORED] == 0 || t->events[EVENT_RESCHEDULED] == 0) {
		printf("never told: %s or %s\n", event_name(EVENT_RESTORED), event_name(EVENT_RESCHEDULED));
		missing++;
	}
	missing += missing_faults(t, 0, FAULT_PAUSED - 1);
	if (t->handed_on == 0 || t->items == 0) {
		printf("never seen: something handed on with a settling, or settled with a receive\n");
		missing++;
	}
	if (t->held == 0 || t->probes == 0 || t->brought_back == 0 || t->passed_on[0] == 0 || t->passed_on[1] == 0 ||
	    t->queue_timeouts == 0) {
		printf("never seen: something held, a probe, something brought back, passed on or timed out\n");
		missing++;
	}
	if (t->replays == 0 || t->notices == 0 || t->joins[JOIN_JOINED] == 0 || t->joins[JOIN_FAILED] == 0) {
		printf("never seen: a replay, a notice, a join or one that failed\n");
		missing++;
	}
	return missing;
}
