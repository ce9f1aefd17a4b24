// The three listings of the text that the protocol comes from, line by line in TypeScript's words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitOpenError, HandoffClient, HandoffError, MemorySpine, TimeoutError } from "../dist/index.js";
import { failure, later, until, useServer } from "./world.mjs";

const world = await useServer();

test("listing 1: a handoff from an analysis agent to a code-generation agent", async () => {
	const spine = new MemorySpine({ endpoint: world.server.url, space: "listing-1" });
	for (let number = 4821; number <= 4825; number++)
		await spine.store(`What was found out, number ${number}.`, { id: `ms-${number}` });
	// Build the handoff envelope
	const handoff = await spine.agentHandoff({
		targetAgent: "code-generator",
		includeRecent: 20, // Last 20 relevant memories
		includePins: true, // Always include pinned context
		taskSummary:
			"Implement the retry logic for the payment gateway " +
			"based on the analysis in memories ms-4821 through ms-4825. " +
			"Use exponential backoff with jitter. Max 3 retries.",
		constraints: {
			language: "python",
			max_tokens: 4000,
			security: "no plaintext credentials",
			style: "follow existing patterns in src/payments/",
		},
		executionHistory: [
			{ agent: "researcher", action: "gathered API docs", memoryId: "ms-4821" },
			{ agent: "analyst", action: "identified failure modes", memoryId: "ms-4824" },
			{ agent: "analyst", action: "recommended retry strategy", memoryId: "ms-4825" },
		],
	});
	// The handoff object contains the full envelope
	assert.equal(handoff.envelopeVersion, "2");
	assert.ok(handoff.tokenCount <= 4000);
	assert.deepEqual([...handoff.memoryRefs].sort(), ["ms-4821", "ms-4822", "ms-4823", "ms-4824", "ms-4825"]);
	assert.deepEqual(
		handoff.history.map((step) => step.memoryId),
		["ms-4821", "ms-4824", "ms-4825"],
	);
});

test("listing 2: a broadcast handoff, one sender and several receivers", async () => {
	const spine = new MemorySpine({ endpoint: world.server.url, space: "listing-2" });
	for (let number = 7100; number <= 7108; number++) await spine.store(`Finding ${number}.`, { id: `ms-${number}` });
	// Broadcast handoff: one sender, multiple receivers
	const handoffEnvelope = await spine.agentHandoff({
		targetAgent: "broadcast",
		includeRecent: 15,
		taskSummary: "Research complete on OAuth 2.1 migration. " + "Findings stored in ms-7100 through ms-7108.",
		constraints: { deadline: "2026-01-30T00:00:00Z" },
	});
	// Publish to the handoff channel
	const channel = spine.getChannel("oauth-migration");
	await channel.publish(handoffEnvelope, {
		receivers: ["code-generator", "test-writer", "doc-writer"],
		delivery: "at-least-once",
	});
	// Each receiver picks up the envelope independently and works in parallel without blocking others
	const receivers = ["code-generator", "test-writer", "doc-writer"];
	const together = { count: 0 };
	await Promise.all(
		receivers.map((name) =>
			spine.agent(name).run(
				async (work) => {
					together.count++;
					await until("all three work at the same time", () => together.count === 3);
					assert.equal(work.envelope.memoryRefs.length, 9);
					return `${name} is done`;
				},
				{ limit: 1 },
			),
		),
	);
	const join = await channel.join(handoffEnvelope, { timeoutS: 10 });
	assert.deepEqual(join.results, {
		"code-generator": "code-generator is done",
		"test-writer": "test-writer is done",
		"doc-writer": "doc-writer is done",
	});
});

/** Listing 3 as it stands there, with naps instead of sleeps. */
class PublishedHandoffClient {
	constructor(spine, maxRetries = 3, timeoutS = 15) {
		this.spine = spine;
		this.maxRetries = maxRetries;
		this.timeoutS = timeoutS;
		this.failureCount = 0;
		this.circuitOpen = false;
		this.circuitResetTime = null;
		this.naps = [];
	}

	async sendHandoff(envelope, targetAgent) {
		// Circuit breaker: fast-fail if recent handoffs have failed
		if (this.circuitOpen) {
			if (Date.now() < this.circuitResetTime)
				throw new CircuitOpenError(`Circuit open for ${targetAgent}. Resets at ${this.circuitResetTime}`, {
					code: "circuit_open",
				});
			this.circuitOpen = false;
			this.failureCount = 0;
		}
		let lastError;
		for (let attempt = 1; attempt <= this.maxRetries; attempt++) {
			try {
				const ack = await this.spine.deliverHandoff(envelope, targetAgent, { timeoutS: this.timeoutS });
				this.failureCount = 0; // Reset on success
				return ack;
			} catch (error) {
				if (!(error instanceof TimeoutError)) throw error;
				lastError = error;
				this.naps.push(Math.min(2 ** attempt, 30)); // Exponential backoff
			}
		}
		// All retries exhausted - open the circuit
		this.failureCount += 1;
		if (this.failureCount >= 3) {
			this.circuitOpen = true;
			this.circuitResetTime = Date.now() + 60_000; // 1-min cooldown
		}
		// Park the failed handoff for recovery
		await this.spine.parkEnvelope(envelope, String(lastError));
		throw new HandoffError(`Handoff to ${targetAgent} failed after ${this.maxRetries} attempts: ${lastError}`, {
			code: "handoff_failed",
		});
	}
}

test("listing 3: the published client delivers, retries and parks", async () => {
	const spine = world.client();
	const client = new PublishedHandoffClient(spine, 3, 0.02);
	const envelope = await spine.pack("coder", "Go.");
	const error = await failure(client.sendHandoff(envelope, "coder"));
	assert.ok(error instanceof HandoffError);
	assert.match(error.message, /Handoff to coder failed after 3 attempts: AckTimeoutError/);
	assert.deepEqual(client.naps, [2, 4, 8]);
	assert.equal((await spine.parked({ envelope }).all()).length, 1);
	const running = spine.agent("other").run(() => undefined, { limit: 1 });
	client.timeoutS = 10;
	assert.equal((await client.sendHandoff(await spine.pack("other", "Go."), "other")).state, "acked");
	await running;
});

test("the package's own client: an ack, or an error that names what is parked", async () => {
	const spine = world.client();
	const client = new HandoffClient(spine, { maxRetries: 1, timeoutS: 0.05 });
	const envelope = await spine.pack("coder", "Go.");
	const error = await failure(client.sendHandoff(envelope, "coder"));
	assert.ok(error instanceof HandoffError);
	assert.equal(error.code, "ack_timeout");
	assert.match(
		error.detail,
		/^Handoff to coder failed after 1 attempts: .* It is parked as ho-\d+: redrive, reroute, shrink or discard it$/,
	);
	assert.equal((await spine.handoff(error.handoff)).state, "parked");
	assert.equal((await client.circuit("coder")).failures >= 0, true);
	assert.equal((await client.circuit("nobody-knows")).state, "closed");
	const running = spine.agent("eager").run(async () => later(10), { limit: 1 });
	const patient = new HandoffClient(spine);
	assert.equal((await patient.sendHandoff({ taskSummary: "Packed on the way." }, "eager")).state, "acked");
	await running;
	assert.throws(() => new HandoffClient(spine, { maxRetries: 0 }), RangeError);
});

test("a target that fails again and again is told of at once, and nothing is parked by that", async () => {
	const spine = world.client();
	const client = new HandoffClient(spine, { maxRetries: 1, timeoutS: 0.02 });
	for (let i = 0; i < 3; i++)
		assert.ok(
			(await failure(client.sendHandoff(await spine.pack("dead", `Go ${i}.`), "dead"))) instanceof HandoffError,
		);
	assert.equal((await client.circuit("dead")).state, "open");
	const envelope = await spine.pack("dead", "Go.");
	const error = await failure(client.sendHandoff(envelope, "dead"));
	assert.ok(error instanceof CircuitOpenError);
	assert.ok(error.resetAt > new Date());
	assert.deepEqual(await spine.parked({ envelope }).all(), []);
});
