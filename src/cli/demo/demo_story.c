/* The story: a payment service charges twice; four agents find out why, decide, repair and review, and three things go
 * wrong. */
#include "cli/demo/demo.h"

#include "base/clock.h"
#include "cli/show/show_changes.h"
#include "cli/show/show_trace.h"

#define INTENT "Customers are charged twice when the network is slow. Stop that, and leave the public API as it is."
#define FACT_1 "The gateway answers 504 after 30 s although the charge went through: so it was in 47 of 52 cases."
#define FACT_2 "payments/retry.py repeats a charge with a new request id every time, so the gateway cannot tell."
#define DECISION "Make the request id from the order id, so that a repeated charge is the same charge."
#define OUTPUT "retry.py: request id from the order id, 3 retries at most; 14 tests, all pass."

/* What is handed over, as POST /v1/handoffs takes it. */
#define TO_ANALYST \
	"{\"envelope\":{\"target_agent\":\"analyst\",\"task_summary\":\"Decide how to stop the double charges; see " \
	"%s and %s.\",\"intent\":\"" INTENT "\",\"state\":\"cause known\"," \
	"\"constraints\":{\"public_api\":\"unchanged\",\"max_retries\":3}," \
	"\"open_decisions\":[\"Where does the request id come from?\"]}}"
#define TO_CODER \
	"{\"envelope\":{\"target_agent\":\"coder\",\"parent\":\"%s\",\"task_summary\":\"Repair payments/retry.py as " \
	"decided in %s.\",\"state\":\"decided\"," \
	"\"execution_history\":[{\"agent\":\"analyst\",\"action\":\"decided how\",\"memory_id\":\"%s\"}]," \
	"\"resolved_decisions\":[{\"decision\":\"Where does the request id come from?\"," \
	"\"outcome\":\"the order id\"}]}}"
#define TO_REVIEWER_CHANGED \
	"{\"envelope\":{\"target_agent\":\"reviewer\",\"parent\":\"%s\",\"task_summary\":\"Review the patch.\"," \
	"\"constraints\":{\"public_api\":\"may change\"}}}"
#define TO_REVIEWER \
	"{\"envelope\":{\"target_agent\":\"reviewer\",\"parent\":\"%s\",\"task_summary\":\"Review the patch of %s.\"," \
	"\"state\":\"repaired\"," \
	"\"execution_history\":[{\"agent\":\"coder\",\"action\":\"repaired retry.py\",\"memory_id\":\"%s\"}]}}"

enum { WORK_LEASE_MS = 2000, WORK_LEASE_FAST_MS = 300, RECEIVE_WAIT_S = 20 };

static struct str id_of(const struct json *answer)
{
	return ask_str(answer, "id");
}

static const char *path(struct demo *d, const char *prefix, struct str id, const char *suffix)
{
	return ask_path(d->cli->arena, prefix, arena_cstr(d->cli->arena, id), suffix);
}

/* Returns its id. */
static const char *store(struct demo *d, enum demo_agent who, const char *name, const char *kind, const char *text)
{
	const struct json *m = demo_call(d, who, "POST", "/v1/memories", "{\"content\":\"%s\",\"kind\":\"%s\"}", text,
					 kind);

	demo_say(d, name, "stores %.*s: %s", STR_ARG(id_of(m)), text);
	return arena_cstr(d->cli->arena, id_of(m));
}

/* The next handoff of the agent; must be there soon. */
static const struct json *receive(struct demo *d, enum demo_agent who, const char *instance)
{
	const struct json *answer = demo_call(d, who, "POST",
					      path(d, "/v1/agents/", str_of(demo_name(who)), "/receive"),
					      "{\"wait_s\":%d,\"instance\":\"%s\"}", RECEIVE_WAIT_S, instance);
	const struct json *handoffs = ask_array(answer, "handoffs");

	demo_must(d, d->code != CLI_OK || handoffs->count == 1, "nothing was there to receive");
	return handoffs->count ? &handoffs->items[0] : answer;
}

static const struct json *settle(struct demo *d, enum demo_agent who, const struct json *handoff, const char *verb,
				 const char *members)
{
	const char *suffix = arena_printf(d->cli->arena, "/%s", verb).p;

	return demo_call(d, who, "POST", path(d, "/v1/handoffs/", id_of(handoff), suffix), "{\"lease\":\"%.*s\"%s}",
			 STR_ARG(ask_str(handoff, "lease")), members);
}

/* How many events of a kind a handoff has. */
static int count_events(struct demo *d, const struct json *handoff, const char *event)
{
	const struct json *all = demo_call(d, DEMO_ANALYST, "GET", path(d, "/v1/handoffs/", id_of(handoff), ""), NULL);
	const struct json *events = ask_array(all, "events");
	int count = 0;

	for (uint32_t i = 0; i < events->count; i++)
		count += str_is(ask_str(&events->items[i], "event"), event);
	return count;
}

/* --- The chapters --- */

static void begin(struct demo *d)
{
	const struct json *sent, *envelope;
	int64_t began_ns;

	demo_chapter(d, 1, "The researcher finds out, and hands over");
	d->memories[0] = store(d, DEMO_RESEARCHER, "researcher", "fact", FACT_1);
	d->memories[1] = store(d, DEMO_RESEARCHER, "researcher", "fact", FACT_2);
	began_ns = clock_mono_ns();
	sent = demo_call(d, DEMO_RESEARCHER, "POST", "/v1/handoffs", TO_ANALYST, d->memories[0], d->memories[1]);
	demo_say(d, "researcher", "packs everything for the analyst and sends it, in one call of %.0f ms: envelope "
				  "%.*s, handoff %.*s",
		 demo_ms_since(began_ns), STR_ARG(ask_str(sent, "envelope_id")), STR_ARG(id_of(sent)));
	d->envelopes[0] = arena_cstr(d->cli->arena, ask_str(sent, "envelope_id"));
	envelope = demo_call(d, DEMO_RESEARCHER, "GET", path(d, "/v1/envelopes/", ask_str(sent, "envelope_id"), ""),
			     NULL);
	d->task = arena_cstr(d->cli->arena, ask_str(json_get(envelope, "task"), "id"));
	demo_say(d, NULL, "It holds the user's words, 2 constraints, 2 memories and 1 open decision in %lld tokens.",
		 (long long)ask_int(json_get(envelope, "budget"), "token_count", 0));
}

static const struct json *lose_an_ack(struct demo *d)
{
	const struct json *taken, *again;
	int acks;

	demo_chapter(d, 2, "An ack gets lost");
	taken = receive(d, DEMO_ANALYST, "analyst-1");
	demo_say(d, "analyst", "takes %.*s and acks it. The answer to the ack is lost on the way, so it acks again.",
		 STR_ARG(id_of(taken)));
	settle(d, DEMO_ANALYST, taken, "ack", "");
	again = settle(d, DEMO_ANALYST, taken, "ack", "");
	acks = count_events(d, taken, "handoff.acked");
	demo_say(d, NULL, "Same answer (%.*s), one effect: %d ack on record.", STR_ARG(ask_str(again, "state")), acks);
	demo_must(d, acks == 1, "two acks had two effects");
	d->memories[2] = store(d, DEMO_ANALYST, "analyst", "decision", DECISION);
	settle(d, DEMO_ANALYST, taken, "complete",
	       arena_printf(d->cli->arena, ",\"result\":{\"decision\":\"%s\"}", d->memories[2]).p);
	return taken;
}

static void hand_to_coder(struct demo *d, const struct json *taken)
{
	const struct json *sent;

	sent = demo_call(d, DEMO_ANALYST, "POST", "/v1/handoffs", TO_CODER, d->envelopes[0], d->memories[2],
			 d->memories[2]);
	d->envelopes[1] = arena_cstr(d->cli->arena, ask_str(sent, "envelope_id"));
	demo_say(d, "analyst", "completes %.*s with its decision, and hands over to the coder: %.*s, %.*s",
		 STR_ARG(id_of(taken)),
		 STR_ARG(ask_str(sent, "envelope_id")), STR_ARG(id_of(sent)));
}

static void crash(struct demo *d)
{
	int64_t lease_ms = d->is_fast ? WORK_LEASE_FAST_MS : WORK_LEASE_MS, crashed_ns;
	const struct json *first, *second, *problem;
	const char *members = arena_printf(d->cli->arena, ",\"work_lease_s\":%g", (double)lease_ms / 1000).p;

	demo_chapter(d, 3, "An agent crashes in the middle of its work");
	first = receive(d, DEMO_CODER, "coder-1");
	settle(d, DEMO_CODER, first, "ack", members);
	crashed_ns = clock_mono_ns();
	demo_say(d, "coder-1", "takes %.*s, acks it with a work lease of %g s, begins, and crashes.",
		 STR_ARG(id_of(first)),
		 (double)lease_ms / 1000);
	second = receive(d, DEMO_CODER, "coder-2");
	demo_say(d, "coder-2", "another instance of the coder gets the same work %.1f s later: %.*s, attempt %lld, "
			       "redelivered: %s",
		 demo_ms_since(crashed_ns) / 1000, STR_ARG(id_of(second)), (long long)ask_int(second, "attempt", 0),
		 ask_bool(second, "redelivered") ? "true" : "false");
	demo_must(d, str_eq(id_of(first), id_of(second)) && ask_bool(second, "redelivered"),
		  "the work did not come back");
	settle(d, DEMO_CODER, second, "ack", ",\"work_lease_s\":600");
	problem = demo_refused(d, DEMO_CODER, "stale_lease", path(d, "/v1/handoffs/", id_of(first), "/complete"),
			       "{\"lease\":\"%.*s\",\"result\":\"too late\"}", STR_ARG(ask_str(first, "lease")));
	demo_say(d, "coder-1", "comes back to life and completes with its old lease %.*s: refused, %lld %.*s. Nothing "
			       "was changed.",
		 STR_ARG(ask_str(first, "lease")), (long long)ask_int(problem, "status", 0),
		 STR_ARG(ask_str(problem, "code")));
	d->memories[3] = store(d, DEMO_CODER, "coder-2", "output", OUTPUT);
	settle(d, DEMO_CODER, second, "complete",
	       arena_printf(d->cli->arena, ",\"result\":{\"patch\":\"%s\",\"tests\":14}", d->memories[3]).p);
	demo_say(d, "coder-2", "completes %.*s with its result.", STR_ARG(id_of(second)));
}

static void drop_a_constraint(struct demo *d)
{
	const struct json *problem, *sent;

	demo_chapter(d, 4, "Somebody tries to drop a constraint");
	problem = demo_refused(d, DEMO_CODER, "constraint_conflict", "/v1/handoffs", TO_REVIEWER_CHANGED,
			       d->envelopes[1]);
	demo_say(d, "coder", "hands over to the reviewer, but with public_api=\"may change\": refused, %lld %.*s",
		 (long long)ask_int(problem, "status", 0), STR_ARG(ask_str(problem, "code")));
	demo_say(d, NULL, "The server says: %.*s", STR_ARG(ask_str(problem, "detail")));
	sent = demo_call(d, DEMO_CODER, "POST", "/v1/handoffs", TO_REVIEWER, d->envelopes[1], d->memories[3],
			 d->memories[3]);
	d->envelopes[2] = arena_cstr(d->cli->arena, ask_str(sent, "envelope_id"));
	demo_say(d, "coder", "hands over without that: %.*s, %.*s", STR_ARG(ask_str(sent, "envelope_id")),
		 STR_ARG(id_of(sent)));
}

static bool has(struct str text, const char *part)
{
	return text.n && memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static void review(struct demo *d)
{
	const struct json *taken;
	struct str prompt;
	bool whole;

	demo_chapter(d, 5, "The last agent knows everything that matters");
	taken = receive(d, DEMO_REVIEWER, "reviewer-1");
	prompt = ask_str(taken, "prompt");
	whole = has(prompt, INTENT) && has(prompt, "public_api") && has(prompt, "unchanged") &&
		has(prompt, "max_retries") &&
		has(prompt, FACT_1) && has(prompt, FACT_2) && has(prompt, DECISION) && has(prompt, OUTPUT);
	demo_must(d, whole, "something is missing from the last prompt");
	demo_say(d, "reviewer", "takes %.*s. In its prompt, at the third hop and word for word: what the user said, "
		 "public_api=unchanged, max_retries=3, both facts, the decision and the patch.", STR_ARG(id_of(taken)));
	settle(d, DEMO_REVIEWER, taken, "ack", "");
	settle(d, DEMO_REVIEWER, taken, "complete", ",\"result\":{\"approved\":true}");
	demo_say(d, "reviewer", "approves, and completes %.*s.", STR_ARG(id_of(taken)));
}

static void sum_up(struct demo *d)
{
	const struct json *fidelity = demo_call(d, DEMO_REVIEWER, "GET",
						path(d, "/v1/tasks/", str_of(d->task), "/fidelity"), NULL);
	const struct json *trace = demo_call(d, DEMO_REVIEWER, "GET", path(d, "/v1/tasks/", str_of(d->task), "/trace"),
					     NULL);

	demo_must(d, ask_number(fidelity, "score") > 0.9999,
		  "something was lost between the first envelope and the last");
	if (d->code != CLI_OK)
		return;
	if (cli_is_json(d->cli)) {
		struct json_writer w;
		struct buf out;

		buf_init(&out, 64 * 1024 * 1024);
		json_writer_init(&w, &out);
		json_begin_object(&w);
		json_member_cstr(&w, "url", d->url);
		json_member_cstr(&w, "space", d->space);
		json_member_bool(&w, "private_server", d->is_private);
		json_member_cstr(&w, "task", d->task);
		json_key(&w, "fidelity");
		json_put(&w, fidelity);
		json_key(&w, "trace");
		json_put(&w, trace);
		json_end_object(&w);
		cli_write_json_buf(d->cli, &out);
		return;
	}
	demo_chapter(d, 6, "Fidelity: what each hop kept of what it got");
	cli_write(STR("\n"));
	show_fidelity(d->cli, fidelity, true);
	demo_pause(d, d->is_fast ? 0 : 1500);
	demo_chapter(d, 7, "The trace: what happened, step by step");
	cli_write(STR("\n"));
	show_trace(d->cli, trace);
}

void demo_story(struct demo *d)
{
	begin(d);
	hand_to_coder(d, lose_an_ack(d));
	crash(d);
	drop_a_constraint(d);
	review(d);
	sum_up(d);
}
