// The official clients of MCP drive every tool, over HTTP and through `spine mcp`, and the inspector lists and calls.
// Each has a server of its own. SPINE_BIN is the program, build/spine unless set.
//
//     node tests/mcp/clients/run.mjs [WORD]     only what has this word in its name
//
// ends with "N passed, N failed".
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import assert from "node:assert/strict";
import { inspector } from "./inspector.mjs";
import { drive } from "./scenario.mjs";
import { BINARY, Server, until } from "./server.mjs";

const INBOX = "spine://inbox/coder";
const about = { name: "spine-tests", version: "1.0.0" };

function http(Transport, server, agent) {
	return new Transport(new URL(server.url + "/mcp"), { requestInit: { headers: { "Spine-Agent": agent } } });
}

function stdio(Transport, server, agent) {
	const env = { PATH: process.env.PATH, HOME: server.directory };
	return new Transport({ command: BINARY, args: ["mcp", "--agent", agent, "--url", server.url], env, stderr: "pipe" });
}

// What the two generations of clients do differently.
const kinds = {
	"TypeScript SDK 1.x": {
		make: () => new Client1(about),
		http: (server, agent) => http(Http1, server, agent),
		stdio: (server, agent) => stdio(Stdio1, server, agent),
		onUpdated: (client, tell) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => tell(n.params.uri)),
		subscribe: (client) => client.subscribeResource({ uri: INBOX }),
		version: "2025-11-25",
	},
	"client 2.x, as before 2026": {
		make: () => new Client2(about),
		http: (server, agent) => http(Http2, server, agent),
		stdio: (server, agent) => stdio(Stdio2, server, agent),
		onUpdated: (client, tell) => client.setNotificationHandler("notifications/resources/updated", (n) => tell(n.params.uri)),
		subscribe: (client) => client.subscribeResource({ uri: INBOX }),
		version: "2025-11-25",
	},
	"client 2.x, 2026-07-28": {
		make: () => new Client2(about, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
		http: (server, agent) => http(Http2, server, agent),
		stdio: (server, agent) => stdio(Stdio2, server, agent),
		onUpdated: (client, tell) => client.setNotificationHandler("notifications/resources/updated", (n) => tell(n.params.uri)),
		subscribe: (client) => client.listen({ resourceSubscriptions: [INBOX] }),
		version: "2026-07-28",
	},
};

async function connected(kind, transport, server, agent, work) {
	const client = kind.make();
	try {
		await client.connect(kind[transport](server, agent));
		return await work(client);
	} finally {
		await client.close();
	}
}

// --- What is promised ---

async function everyTool(kind, transport, server) {
	await connected(kind, transport, server, "analyst", (analyst) =>
		connected(kind, transport, server, "coder", (coder) => drive(analyst, coder)));
}

// An idle agent is told that there is work, without a call that waits.
async function anInboxWakes(kind, transport, server) {
	await connected(kind, transport, server, "coder", async (coder) => {
		const updated = [];
		kind.onUpdated(coder, (uri) => updated.push(uri));
		await kind.subscribe(coder);
		await server.send("coder", "wake up");
		await until(() => updated.length > 0, "the inbox to be told of");
		assert.equal(updated[0], INBOX);
		const inbox = await coder.readResource({ uri: INBOX });
		assert.match(inbox.contents[0].text, /wake up|ho-1/);
	});
}

// A call that waits is served when work comes, and tells meanwhile that it goes on.
async function waitingIsServed(kind, transport, server) {
	await connected(kind, transport, server, "coder", async (coder) => {
		const got = coder.callTool({ name: "handoff_receive", arguments: { wait_s: 40 } });
		got.catch(() => {});	// where something else goes wrong, that is what is told
		await server.waiting(1);
		await server.send("coder", "while it waits");
		assert.match(JSON.stringify(await got), /while it waits/);
	});
}

// Cancelling a call that waits leaves nobody waiting at the server.
async function cancellingEndsTheWait(kind, transport, server) {
	await connected(kind, transport, server, "coder", async (coder) => {
		const stop = new AbortController();
		const call = { name: "handoff_receive", arguments: { wait_s: 40 } };
		const got = kind.version === "2025-11-25" && kind === kinds["TypeScript SDK 1.x"] ?
			coder.callTool(call, undefined, { signal: stop.signal }) : coder.callTool(call, { signal: stop.signal });
		await server.waiting(1);
		stop.abort("enough");
		await assert.rejects(got);
		await server.waiting(0);
	});
}

// A server that is restarted is nothing that a host on stdio hears of; what it waits for comes all the same.
async function aRestartIsNotNoticed(kind, transport, server) {
	await connected(kind, transport, server, "coder", async (coder) => {
		const updated = [];
		kind.onUpdated(coder, (uri) => updated.push(uri));
		await kind.subscribe(coder);
		await server.restart();
		assert.equal((await coder.callTool({ name: "spine_status", arguments: {} })).isError ?? false, false);
		await server.send("coder", "after the restart");
		await until(() => updated.length > 0, "the inbox to be told of after a restart");
	});
}

// A call that waits while the server is restarted goes on waiting, and a handoff comes to it.
async function waitingOutlivesARestart(kind, transport, server) {
	await connected(kind, transport, server, "coder", async (coder) => {
		const got = coder.callTool({ name: "handoff_receive", arguments: { wait_s: 40 } });
		got.catch(() => {});	// where something else goes wrong, that is what is told
		await server.waiting(1);
		await server.restart("SIGKILL");
		await server.waiting(1);
		await server.send("coder", "after the crash");
		assert.match(JSON.stringify(await got), /after the crash/);
	});
}

const promises = { everyTool, anInboxWakes, waitingIsServed, cancellingEndsTheWait };
const stdioPromises = { aRestartIsNotNoticed, waitingOutlivesARestart };

// --- Running ---

const word = process.argv[2] ?? "";
let passed = 0, failed = 0;

async function test(name, run) {
	if (!name.includes(word))
		return;
	const server = await Server.start();
	try {
		await run(server);
		passed++;
	} catch (error) {
		failed++;
		console.log(`FAIL ${name}: ${error.stack}`);
	} finally {
		await server.stop();
	}
}

for (const [kind, what] of Object.entries(kinds))
	for (const transport of ["http", "stdio"])
		for (const [name, run] of Object.entries({ ...promises, ...(transport === "stdio" ? stdioPromises : {}) }))
			await test(`${kind}, ${transport}: ${name}`, (server) => run(what, transport, server));
for (const [name, run] of Object.entries(inspector))
	await test(`inspector: ${name}`, run);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
