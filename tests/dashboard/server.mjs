// A server for the tests: the real binary, on a free port and a data directory of its own. SPINE_BIN names the binary.
import { spawn } from "node:child_process";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const START_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 10;

export function binary() {
	return resolve(process.env.SPINE_BIN || join(root, "build/spine"));
}

export class Server {
	#process;
	#options;
	url = "";
	data = "";
	home = "";

	/** A server on a free port; with options of `spine serve`. */
	static async start(...options) {
		const server = new Server();
		await access(binary());
		server.home = await mkdtemp(join(tmpdir(), "spine-dashboard-"));
		server.data = join(server.home, "data");
		server.#options = options;
		await server.#run("127.0.0.1:0");
		return server;
	}

	async #run(listen) {
		const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SPINE_")));
		this.#process = spawn(binary(), ["serve", "--quiet", "--listen", listen, "--data", this.data, ...this.#options], {
			env: environment,
			stdio: ["ignore", "ignore", "pipe"],
		});
		let log = "";
		this.#process.stderr.on("data", (bytes) => (log = (log + bytes).slice(-4000)));
		const deadline = Date.now() + START_TIMEOUT_MS;
		// The file is written when requests are taken; it names the process, because one that was killed leaves its own behind.
		while (Date.now() < deadline) {
			if (this.#process.exitCode !== null) throw new Error(`the server ended with ${this.#process.exitCode}: ${log}`);
			try {
				const note = JSON.parse(await readFile(join(this.data, "server.json"), "utf8"));
				if (note.pid === this.#process.pid) {
					this.url = note.url;
					return;
				}
			} catch {
				// Not yet.
			}
			await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
		}
		throw new Error(`the server was not ready in time: ${log}`);
	}

	/** Ends it; the data stay. */
	async kill() {
		const process = this.#process;
		if (process.exitCode !== null || process.signalCode !== null) return;
		const ended = new Promise((done) => process.once("exit", done));
		process.kill("SIGKILL");
		await ended;
	}

	/** On the same port and data as before. */
	async restart() {
		await this.#run(new URL(this.url).host);
	}

	async stop() {
		const process = this.#process;
		const ended = new Promise((done) =>
			process.exitCode !== null || process.signalCode !== null ? done() : process.once("exit", done),
		);
		process.kill("SIGTERM");
		await ended;
		await rm(this.home, { recursive: true, force: true });
		if (process.exitCode !== 0 && process.signalCode !== "SIGKILL")
			throw new Error(`the server ended with ${process.exitCode ?? process.signalCode}`);
	}
}

/** Calls in one space. */
export class Api {
	constructor(url, space) {
		this.url = url;
		this.space = space;
	}

	async call(method, path, body, agent) {
		const answer = await fetch(`${this.url}${path}`, {
			method,
			headers: {
				"Spine-Space": this.space,
				...(agent ? { "Spine-Agent": Buffer.from(agent).toString("latin1") } : {}),
				...(body === undefined ? {} : { "Content-Type": "application/json" }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await answer.text();
		if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
		return text ? JSON.parse(text) : null;
	}

	get(path) {
		return this.call("GET", path);
	}

	post(path, body = {}, agent = undefined) {
		return this.call("POST", path, body, agent);
	}

	put(path, body = {}) {
		return this.call("PUT", path, body);
	}

	store(content, more = {}) {
		return this.post("/v1/memories", { content, ...more });
	}

	/** Packs and sends; the handoff. */
	send(from, to, summary, envelope = {}, more = {}) {
		return this.post(
			"/v1/handoffs",
			{ envelope: { target_agent: to, task_summary: summary, from, ...envelope }, ...more },
			from,
		);
	}

	/** Takes the next handoff of an agent, which must be there. */
	async take(agent, more = {}) {
		const { handoffs } = await this.post(
			`/v1/agents/${encodeURIComponent(agent)}/receive`,
			{ wait_s: 10, format: "none", ...more },
			agent,
		);
		if (handoffs.length !== 1) throw new Error(`nothing is there for ${agent}`);
		return handoffs[0];
	}

	settle(handoff, verb, more = {}) {
		return this.post(`/v1/handoffs/${handoff.id}/${verb}`, { lease: handoff.lease, ...more }, handoff.to);
	}

	async complete(agent, result = null) {
		return this.settle(await this.take(agent), "complete", { result });
	}

	/** A parked handoff, because nobody wants it. */
	async park(from, to, summary, reason, envelope = {}) {
		const sent = await this.send(from, to, summary, envelope);
		await this.settle(await this.take(to), "reject", { reason });
		return sent;
	}
}
