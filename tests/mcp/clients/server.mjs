// A server for a test: the real binary, on a free port and a data directory of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const BINARY = resolve(process.env.SPINE_BIN ?? join(ROOT, "build/spine"));
const PATIENCE_MS = 20000;

export async function until(isSo, what) {
	const deadline = Date.now() + PATIENCE_MS;
	while (!(await isSo())) {
		if (Date.now() > deadline)
			throw new Error(`waited in vain for ${what}`);
		await new Promise((wake) => setTimeout(wake, 5));
	}
}

export class Server {
	static async start() {
		const server = new Server();
		server.directory = mkdtempSync(join(tmpdir(), "spine-mcp-"));
		await server.run("127.0.0.1:0");
		return server;
	}

	async run(listen) {
		const log = openSync(join(this.directory, "log"), "a");
		const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SPINE_")));
		const args = ["serve", "--quiet", "--listen", listen, "--data", join(this.directory, "data")];
		this.process = spawn(BINARY, args, { stdio: ["ignore", log, log], env });
		this.ended = new Promise((done) => this.process.on("exit", done));
		await until(() => {
			try {
				const note = JSON.parse(readFileSync(join(this.directory, "data/server.json"), "utf8"));
				this.url = note.url;
				return note.pid === this.process.pid;
			} catch {
				return false;
			}
		}, "the server to serve");
	}

	async restart(signal = "SIGTERM") {
		this.process.kill(signal);
		await this.ended;
		await this.run(new URL(this.url).host);
	}

	async call(method, path, body) {
		const headers = { "Content-Type": "application/json", "Spine-Agent": "analyst" };
		const reply = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
		const text = await reply.text();
		if (!reply.ok)
			throw new Error(`${method} ${path}: ${reply.status} ${text}`);
		return text;
	}

	send(to, intent) {
		return this.call("POST", "/v1/handoffs", { envelope: { target_agent: to, task_summary: intent, intent } });
	}

	waiting(count) {
		const line = `\nspine_waiting_calls ${count}\n`;
		return until(async () => (await this.call("GET", "/metrics")).includes(line), `${count} waiting calls`);
	}

	async stop() {
		this.process.kill("SIGTERM");
		const code = await this.ended;
		const log = readFileSync(join(this.directory, "log"), "utf8");
		rmSync(this.directory, { recursive: true, force: true });
		if (code !== 0)
			throw new Error(`the server ended with ${code}: ${log.slice(-4000)}`);
	}
}
