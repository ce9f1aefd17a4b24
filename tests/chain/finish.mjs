// The last agent of the chain, in TypeScript: completes the next handoff for AGENT, and prints what it was given.
//
//     node tests/chain/finish.mjs URL SPACE AGENT
import { MemorySpine } from "../../sdk/typescript/dist/index.js";

const [url, space, agent] = process.argv.slice(2);
const spine = new MemorySpine({ endpoint: url, space, agent });
await spine.agent(agent).run(
	(work) => {
		console.log(JSON.stringify({ prompt: work.prompt, intent: work.envelope.intent, constraints: work.envelope.constraints, path: work.envelope.path }));
		return "finished";
	},
	{ limit: 1 },
);
