// The inspector in its CLI mode: by a URL, and by the configuration in examples/mcp, which is what hosts read.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BINARY, ROOT } from "./server.mjs";

const LAUNCHER = join(import.meta.dirname, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

async function inspect(server, ...args) {
	const env = { PATH: process.env.PATH, HOME: server.directory, SPINE_URL: server.url };
	const done = await promisify(execFile)(process.execPath, [LAUNCHER, "--cli", ...args], { env, timeout: 60000 });
	return JSON.parse(done.stdout);
}

// The example names the program by PATH and the server by its usual address: both are the test's here.
function example(server, file) {
	const example = JSON.parse(readFileSync(join(ROOT, "examples/mcp", file), "utf8"));
	const entry = example.mcpServers["memory-spine"], path = join(server.directory, file);
	if (entry.url) {
		assert.equal(entry.url, "http://127.0.0.1:8788/mcp");
		entry.url = server.url + "/mcp";
	} else {
		assert.equal(entry.command, "spine");
		Object.assign(entry, { command: BINARY, env: { SPINE_URL: server.url } });
	}
	writeFileSync(path, JSON.stringify(example));
	return path;
}

async function listsAndCalls(server, ...target) {
	const { tools } = await inspect(server, ...target, "--method", "tools/list");
	assert.equal(tools.length, 12);
	const call = ["--method", "tools/call", "--tool-name", "memory_store", "--tool-arg", "content=The inspector was here"];
	assert.match(JSON.stringify(await inspect(server, ...target, ...call)), /ms-1/);
	assert.match(await server.call("GET", "/v1/memories/ms-1"), /The inspector was here/);
}

export const inspector = {
	httpListsAndCalls: (server) => listsAndCalls(server, server.url + "/mcp", "--transport", "http"),
	stdioListsAndCalls: (server) => listsAndCalls(server, BINARY, "mcp", "--url", server.url),
	theExampleOverHttp: (server) => listsAndCalls(server, "--config", example(server, "http.mcp.json"), "--server", "memory-spine"),
	theExampleOverStdio: (server) => listsAndCalls(server, "--config", example(server, "stdio.mcp.json"), "--server", "memory-spine"),
};
