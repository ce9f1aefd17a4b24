/**
 * One patch, three reviewers at the same time, one report: fan-out with a join.
 *
 * All agents run in this one program so that there is one thing to start. In real life each is a program of its own, on
 * any machine: it needs its `agent(…).run(…)` line, and no agent knows where the others are.
 */
import { MemorySpine, type Work } from "memory-spine";
import { model } from "./model.ts";

const reviewers: { readonly [name: string]: string } = {
	"security-reviewer": "You review for security.",
	"speed-reviewer": "You review for speed.",
	"style-reviewer": "You review for style.",
};

const spine = new MemorySpine({ agent: "lead", space: "fan-out" });
const stop = new AbortController();

/** A reviewer: what its model says is its result. */
function review(role: string) {
	return (work: Work): Promise<string> => model(role, work.prompt, work.signal);
}

/** The writer finds all results in its prompt: they are memories of the task. */
async function write(work: Work): Promise<string> {
	console.log(work.prompt);
	return model("You write the report.", work.prompt, work.signal);
}

// The reviewers and the writer wait for work, several handoffs at a time.
const agents = [
	...Object.entries(reviewers).map(([name, role]) =>
		spine.agent(name).run(review(role), { concurrency: 4, signal: stop.signal }),
	),
	spine.agent("writer").run(write, { signal: stop.signal }),
];

// Fan out: one envelope, and a handoff of its own for each reviewer.
const patch = await spine.store("retry.py: at most 3 retries of 30 seconds each; do_it(card) logs what it sends.", {
	kind: "output",
});
const question = await spine.pack("reviewers", `Review the patch in ${patch.id}.`, {
	intent: "Payments must survive a flaky gateway, and nothing may leak.",
	constraints: { language: "python", public_api: "unchanged" },
});
const channel = spine.getChannel("reviews");
await channel.publish(question, { receivers: Object.keys(reviewers) });

// Join: when all have completed. `need: 2` would go on with the first two.
const join = await channel.join(question, { need: "all", timeoutS: 60 });
if (!join.joined)
	throw new Error(`the reviews did not come together: ${join.state}, ${join.completed} of ${join.need}`);
for (const [name, finding] of Object.entries(join.results)) console.log(`${name}: ${String(finding)}`);

// Go on with what they found. Intent and constraints go on by themselves.
const report = await spine.send(await spine.pack("writer", "Write one report of the reviews.", { parent: question }));
for await (const event of spine.events({ after: 0, types: "handoff.completed" }))
	if (event.subject === report.id) break;
console.log(`writer: ${String((await spine.handoff(report)).result)}`);
console.log(`the chain is ${(await spine.verify(report.envelopeId)).verdict}`);

// The end of the program: agents finish what is in hand, and take nothing more.
stop.abort();
await Promise.all(agents);
