// A team at work, for the screenshots and for tests that want a full page: one task that went well, one that is in trouble, a channel,
// routes, and memories with a past.

const intent = "Customers are charged twice when the network is slow. Stop that, and leave the public API as it is.";

async function repair(api) {
	const cause = await api.store(
		"The gateway answers 504 after 30 s although the charge went through: so it was in 47 of 52 cases.",
		{
			kind: "fact",
			agent: "researcher",
			importance: "high",
			tags: ["gateway", "payments"],
			metadata: { source: "logs/2026-01" },
		},
	);
	const repeat = await api.store(
		"payments/retry.py repeats a charge with a new request id every time, so the gateway cannot tell.",
		{
			kind: "fact",
			agent: "researcher",
			tags: ["payments", "retry"],
		},
	);
	const first = await api.send(
		"researcher",
		"analyst",
		`Decide how to stop the double charges; see ${cause.id} and ${repeat.id}.`,
		{
			intent,
			state: "cause known",
			constraints: { public_api: "unchanged", max_retries: 3, language: "python" },
			open_decisions: ["Where does the request id come from?"],
		},
	);
	await api.complete("analyst", { decision: "made" });
	const decision = await api.store(
		"Make the request id from the order id, so that a repeated charge is the same charge.",
		{
			kind: "decision",
			agent: "analyst",
			importance: "critical",
			pinned: true,
			tags: ["payments"],
		},
	);
	const second = await api.send(
		"analyst",
		"coder",
		`Repair payments/retry.py as decided in ${decision.id}; ms-900 has the test plan.`,
		{
			parent: first.envelope_id,
			state: "decided",
			constraints: { max_tokens: 900 },
			execution_history: [{ agent: "analyst", action: "decided how", memory_id: decision.id }],
			resolved_decisions: [{ decision: "Where does the request id come from?", outcome: "the order id" }],
		},
	);
	const taken = await api.take("coder", { instance: "coder-1" });
	await api.settle(taken, "nack", { reason: "the model is overloaded", delay_s: 0 });
	await api.complete("coder", { patch: "retry.py: request id from the order id, 3 retries at most" });
	const third = await api.send("coder", "reviewer", "Review the patch of payments/retry.py.", {
		parent: second.envelope_id,
		state: "repaired",
		execution_history: [{ agent: "coder", action: "repaired retry.py" }],
		waive: [{ key: "language", reason: "the test harness is a shell script" }],
	});
	await api.complete("reviewer", { verdict: "approved" });
	return { first, second, third };
}

async function trouble(api) {
	const root = await api.send(
		"planner",
		"migrator",
		"Move the orders table to the new schema without stopping the shop.",
		{
			intent: "Move us to the new database before the summer sale, without an outage.",
			constraints: { deadline: "2027-06-01", do_not: ["delete rows"] },
		},
	);
	await api.settle(await api.take("migrator"), "reject", {
		reason: "the dump needs 3.2 GB of memory, and I have 1 GB",
	});
	await api.park(
		"planner",
		"translator",
		"Translate the release notes into German, French and Arabic.",
		"context length exceeded: 12,400 tokens, the model takes 8,192",
	);
	await api.park(
		"analyst",
		"coder",
		"Add a metric for refused charges.",
		"the working tree has uncommitted changes of somebody else",
	);
	return root;
}

async function team(api) {
	await api.put("/v1/agents/coder", {
		description: "Writes and repairs Python",
		max_tokens: 16000,
		fallbacks: ["coder-2"],
		accepts: ["2", "1"],
	});
	await api.put("/v1/agents/archivist", {
		description: "Gets its work posted",
		webhook: "http://127.0.0.1:9/inbox",
		max_attempts: 5,
	});
	for (const name of ["alice", "bob", "carol"]) await api.put(`/v1/channels/reviews/subscribers/${name}`);
	await api.put("/v1/channels/reviews", { description: "Everything that wants a second pair of eyes" });
	await api.put("/v1/routes/python-work", {
		from: "analyst",
		to: "coder",
		when: { constraint: { language: "python" } },
		order: 10,
		description: "Python goes to the coder",
	});
	await api.put("/v1/routes/late-hops", { to: "reviewer", when: { hop: { min: 4 } }, order: 50 });
	await api.put("/v1/routes/otherwise", { to: "planner", order: 900 });
	await api.send("planner", "tester", "Run the whole suite against the staging database.");
	await api.send("planner", "tester", "Measure the time of a checkout before and after.");
	await api.send("coder", "documenter", "Describe the request id in docs/payments.md.");
	await api.settle(await api.take("documenter"), "ack", { work_lease_s: 600 });
}

async function memories(api) {
	const policy = await api.store("Retries use exponential backoff: 1 s, 2 s, 4 s. At most 5 retries.", {
		kind: "decision",
		agent: "analyst",
		tags: ["retry"],
	});
	await api.call("PATCH", `/v1/memories/${policy.id}`, {
		content: "Retries use exponential backoff with jitter: 1 s, 2 s, 4 s. At most 3 retries.",
	});
	await api.call("PATCH", `/v1/memories/${policy.id}`, {
		content:
			"Retries use exponential backoff with full jitter: up to 1 s, 2 s, 4 s. At most 3 retries, only for 429 and 503.",
	});
	await api.store("The gateway answers 429 with Retry-After in seconds.", {
		kind: "observation",
		agent: "researcher",
		importance: "high",
		tags: ["gateway", "retry"],
	});
	await api.store("The staging gateway has no rate limit.", {
		kind: "observation",
		agent: "tester",
		tags: ["gateway", "staging"],
	});
	const old = await api.store("Deploys happen on Fridays.", { kind: "fact", agent: "planner" });
	await api.store("Deploys happen on Tuesdays, never on Fridays.", {
		kind: "fact",
		agent: "planner",
		supersedes: old.id,
	});
	return policy;
}

/** Plays all of it. */
export async function play(api) {
	await team(api);
	const chain = await repair(api);
	const root = await trouble(api);
	const policy = await memories(api);
	return { chain, root, policy };
}

/** Long, as people name things when nobody stops them. */
const long = "quarterly-report-translator-for-the-southern-region-v2";

const errands = [
	"Reconcile the invoices of March with the ledger, and list what does not match.",
	"Rewrite the onboarding mail so that it fits on one screen of a phone.",
	"Find out why the nightly export takes four hours since the last release.",
	"Translate chapter 7 of the handbook; keep the names of the menus as they are.",
	"Check the accessibility of the booking form against WCAG 2.2 AA.",
	"Move the image resizing out of the request, into a job of its own.",
	"Collect the questions about refunds of the last week, and group them by cause.",
	"Draw up a plan for the migration of the search index without a pause in service.",
];

/** Nobody answers, or whoever answers fails: a breaker is open, work is held behind it, and 58 handoffs are parked. */
export async function badDay(api) {
	const reasons = [
		"the model answers 529: overloaded",
		"context length exceeded: 12,400 tokens, the model takes 8,192",
		"TimeoutError: no answer within 120 s from the tool \"search\"",
		"the working tree has uncommitted changes of somebody else",
	];
	const parked = [];
	// With the two of play() and the three that open a breaker, 58.
	for (let i = 0; i < 53; i++) {
		const to = ["translator", "reviewer", "analyst", long][i % 4];
		parked.push(
			await api.park("planner", to, errands[i % errands.length], reasons[i % reasons.length], {
				task: `errand-${i + 1}`,
				intent: i % 3 ? undefined : "Have the quarter closed by Friday.",
			}),
		);
	}
	// An agent that fails three times in a row, and what is held behind its breaker.
	for (let i = 0; i < 3; i++) {
		await api.send("planner", "summarizer", `Summarize part ${i + 1} of the minutes.`, {}, { max_attempts: 1 });
		await api.settle(await api.take("summarizer"), "nack", { reason: "the model answers 529: overloaded", delay_s: 0 });
	}
	for (let i = 0; i < 6; i++)
		await api.send("planner", "summarizer", `Summarize part ${i + 4} of the minutes.`, { task: `minutes-${i + 1}` });
	// One that is at work, with more waiting; one name that was mistyped; one that waits for later.
	for (const [i, text] of errands.entries()) await api.send("planner", long, text, { task: `report-${i + 1}` });
	await api.settle(await api.take(long, { instance: `${long}-worker-1` }), "ack", { work_lease_s: 900 });
	await api.send("planner", "codr", "Add a test for the empty basket.", { task: "basket" });
	const tried = await api.send("planner", "analyst", "Compare the figures of both quarters.", { task: "figures" });
	const taken = await api.take("analyst", { instance: "analyst-eu-1" });
	await api.settle(taken, "nack", { reason: "the spreadsheet is locked by somebody else", delay_s: 0 });
	return { tried: tried.id, busy: long, held: "summarizer", parked: parked[0].id };
}
