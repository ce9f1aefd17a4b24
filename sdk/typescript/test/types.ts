// What a type checker knows of the client. It is compiled, never run.
import {
	type AgentInfo,
	type DryRun,
	type Envelope,
	type Handoff,
	HandoffClient,
	type Json,
	type Memory,
	MemorySpine,
	type Origin,
	type Pages,
	type Sent,
	type SpaceEvent,
	type Trust,
	type Work,
} from "memory-spine";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

export async function knows(spine: MemorySpine): Promise<void> {
	const memory = await spine.store("x", { tags: ["a"] as const, expiresAt: new Date(), importance: "high" });
	same<typeof memory, Memory>();
	same<typeof memory.createdAt, Date>();
	same<typeof memory.state, "active" | "superseded" | "expired" | "forgotten" | "quarantined">();
	same<typeof memory.origin, Origin | null>();
	same<typeof memory.flags, readonly string[] | undefined>();
	const envelope = await spine.pack("a", "b", { parent: "env-1", constraints: { x: 1, y: [true, null] } });
	same<typeof envelope, Envelope>();
	same<typeof envelope.trust, Trust | null>();
	const dry = await spine.pack("a", "b", { dryRun: true });
	same<typeof dry, DryRun>();
	same<ReturnType<typeof spine.list>, Pages<Memory>>();
	const sent = await spine.send({ taskSummary: "x" }, { to: "a", priority: 3 });
	same<typeof sent, Sent>();
	same<Awaited<ReturnType<typeof spine.deliverHandoff>>, Sent>();
	for await (const event of spine.events({ types: "handoff." })) same<typeof event, SpaceEvent>();
	for await (const work of spine.agent("a").inbox({ limit: 1 })) {
		same<typeof work, Work>();
		same<typeof work.flags, readonly string[]>();
		const next = await work.handOn("b", "c", {
			result: { anything: new Map() },
			constraints: { x: 1 },
			priority: 1,
		});
		same<typeof next, Handoff>();
	}
	const count = await spine
		.agent("a")
		.run(async (work) => work.prompt.length, { concurrency: 2, signal: new AbortController().signal });
	same<typeof count, number>();
	const join = await spine.getChannel("c").join(envelope);
	same<typeof join.results, { readonly [agent: string]: Json }>();
	same<Awaited<ReturnType<typeof spine.agentInfo>>, AgentInfo>();
	const { queues } = await spine.request("listQueues", { query: { pageSize: 5 } });
	same<(typeof queues)[number]["queued"], number>();
	new HandoffClient(spine, { maxRetries: 3 });
	const again = await spine.agent("a").receive({ waitS: 1 });
	const made: { ok: boolean } | undefined = await again[0]?.run(() => ({ ok: true }));
	void made;

	// @ts-expect-error: importance is one of four words
	await spine.store("x", { importance: "urgent" });
	// @ts-expect-error: a misspelt option
	await spine.store("x", { tag: ["a"] });
	// @ts-expect-error: a wrong type
	await spine.pack("a", "b", { includeRecent: "many" });
	// @ts-expect-error: what is it to accomplish?
	await spine.pack("a");
	// @ts-expect-error: a call that is not there
	await spine.request("listNothing", {});
	// @ts-expect-error: a parameter is missing
	await spine.request("readQueue", {});
	// @ts-expect-error: a memory does not change
	memory.content = "other";
	// @ts-expect-error: seconds
	await spine.deliverHandoff(envelope, "a", { timeoutS: "soon" });
	// @ts-expect-error: what was dry is not stored
	await spine.send(dry);
}
