/**
 * Handlers that have their effect once, although a handoff may come more than once.
 *
 * A handoff comes again when its receiver crashed, was cut off, or did its work and the ack was lost. `idempotent`
 * remembers in a folder which ones were handled, and with what result.
 *
 * WHAT IT GUARANTEES, for all processes on a machine that name the same folder:
 *
 * 1. A handler that has returned is not called again for that handoff. Its result is on the disk before the handoff is
 *    settled; should it come again, after a crash between the effect and the ack, say, the remembered result settles it.
 * 2. A handoff is not handled by two at once. Whoever gets it while another is still at it (its lease was lost, it lives
 *    on) gives it back for later. That a process died is known from the operating system, which closes its socket.
 * 3. Where a process died in the middle of a handler, nobody can know whether the effect took place. The handler is
 *    called again, with `work.inDoubt` set, so that it can look; with `inDoubt: "reject"` the handoff is rejected instead,
 *    and is parked for a person unless it has a fallback agent: at most once instead of at least once.
 *
 * A handler that throws has not handled the handoff: it may be called again. The folder must be on a local disk. Where the
 * effect is a row in a database of yours, keep `work.id` with it in the same transaction: that is exact, and needs none
 * of this.
 *
 * HOW. `done/KEY.json` is there when a handler has returned: written aside, synced, renamed. `begun/KEY.PROCESS` is there
 * while one is at work: each writes its own first and looks for others then, so that of two at least one sees the other.
 * `alive/PROCESS` is a socket that the process listens at; whoever can connect to it knows that it lives.
 *
 * @module
 */
import { builtin } from "./builtin.js";
import { digestOf } from "./digest.js";
import type { Work } from "./work.js";

const AGAIN_S = 5;
const BUSY = "another process is still working on it";
const DOUBT = "a process died while it handled this; whether the effect took place is for a person to find out";
/** An address of a socket has 108 bytes on Linux and 104 on macOS, the last of them a zero. */
const ADDRESS_MAX = 103;
/** Between its bind and its listen a socket refuses: microseconds. */
const NEW_SOCKET_MS = 60_000;

/** Options of {@link idempotent}. */
export interface IdempotentOptions {
	/** The folder that remembers, made where there is none: `handled` in the working directory. */
	readonly path?: string | undefined;
	/** What becomes of a handoff whose handler was cut short by a crash: `run` it again (with `work.inDoubt`), or `reject` it. */
	readonly inDoubt?: "run" | "reject" | undefined;
	/** What the handler is remembered by; else the name of the function, so that renaming it forgets what it handled. */
	readonly name?: string | undefined;
}

// --- What is used of the runtime -----------------------------------------------------------------

interface File {
	writeFile(text: string): Promise<void>;
	sync(): Promise<void>;
	close(): Promise<void>;
}

interface Files {
	mkdir(path: string, options: { recursive: true }): Promise<unknown>;
	open(path: string, flags: string): Promise<File>;
	readFile(path: string, encoding: "utf8"): Promise<string>;
	readdir(path: string): Promise<string[]>;
	rename(from: string, to: string): Promise<void>;
	rm(path: string, options: { force: true }): Promise<void>;
	stat(path: string): Promise<{ readonly mtimeMs: number }>;
}

interface Socket {
	once(event: "connect" | "error", call: (error: { readonly code?: string }) => void): void;
	destroy(): void;
}

interface Server {
	once(event: "error", call: (error: unknown) => void): void;
	listen(path: string, call: () => void): void;
	unref(): void;
}

interface Net {
	createServer(onConnection: (socket: Socket) => void): Server;
	connect(path: string): Socket;
}

async function needed<T>(name: string): Promise<T> {
	const found = await builtin<T>(name);
	if (found === undefined) throw new TypeError(`idempotent needs ${name}: it is for Node, Deno and Bun`);
	return found;
}

const isWindows = (): boolean => (globalThis as { process?: { platform?: string } }).process?.platform === "win32";
const isMissing = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === "ENOENT";

function randomName(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(8)), (one) => one.toString(16).padStart(2, "0")).join("");
}

// --- What was handled ----------------------------------------------------------------------------

/** What is known of a handoff when its handler is about to be called. */
interface Known {
	readonly isBusy: boolean;
	readonly isInDoubt: boolean;
	/** The text that was remembered where a handler has returned. */
	readonly done: string | undefined;
}

/** The folder, as this process uses it. `idempotent` gives it as `handled`. */
export class Handled {
	/** Where it is. */
	readonly path: string;
	readonly #process = randomName();
	readonly #held = new Set<string>();
	#opened: Promise<{ files: Files; net: Net }> | undefined;

	constructor(path: string) {
		this.path = path;
	}

	/** Forgets what was handled longer ago than that; returns how many. What is forgotten could be handled again. */
	async forgetOlder(ageS: number): Promise<number> {
		const { files } = await this.#open();
		let count = 0;
		for (const name of await files.readdir(`${this.path}/done`)) {
			const file = `${this.path}/done/${name}`;
			if (!name.endsWith(".json") || (await files.stat(file)).mtimeMs > Date.now() - ageS * 1000) continue;
			await files.rm(file, { force: true });
			count += 1;
		}
		return count;
	}

	/** Says that a handler is about to be called, and what is known. Where it is not busy, `leave` ends it. @internal */
	async begin(key: string): Promise<Known> {
		const { files } = await this.#open();
		const busy = { isBusy: true, isInDoubt: false, done: undefined };
		if (this.#held.has(key)) return busy;
		this.#held.add(key);
		try {
			await this.#write(files, "begun", `${key}.${this.#process}`, "");
			const others = await this.#others(files, key);
			for (const one of others) {
				if (!(await this.#isAlive(one))) continue;
				await files.rm(this.#begun(key, this.#process), { force: true });
				this.#held.delete(key);
				return busy;
			}
			return { isBusy: false, isInDoubt: others.length > 0, done: await this.#read(files, key) };
		} catch (error) {
			this.#held.delete(key);
			throw error;
		}
	}

	/** Remembers what a handler returned. @internal */
	async note(key: string, text: string): Promise<void> {
		const { files } = await this.#open();
		await this.#write(files, "done", `${key}.json`, text);
	}

	/** Its handler has returned and nobody could remember it: whoever gets it next is in doubt. @internal */
	async abandon(key: string): Promise<void> {
		const { files } = await this.#open();
		this.#held.delete(key);
		await files.rename(this.#begun(key, this.#process), this.#begun(key, randomName()));
	}

	/** Nobody is at it any more, and nothing is in doubt. @internal */
	async leave(key: string): Promise<void> {
		const { files } = await this.#open();
		for (const one of await this.#others(files, key)) {
			await files.rm(this.#begun(key, one), { force: true });
			if (!isWindows()) await files.rm(this.#address(one), { force: true });
		}
		await files.rm(this.#begun(key, this.#process), { force: true });
		this.#held.delete(key);
	}

	#begun(key: string, process: string): string {
		return `${this.path}/begun/${key}.${process}`;
	}

	#address(process: string): string {
		return isWindows() ? `\\\\.\\pipe\\memory-spine-${process}` : `${this.path}/alive/${process}`;
	}

	/** The processes beside this one that have begun it. */
	async #others(files: Files, key: string): Promise<string[]> {
		const names = await files.readdir(`${this.path}/begun`);
		return names
			.filter((name) => name.startsWith(`${key}.`))
			.map((name) => name.slice(key.length + 1))
			.filter((process) => process !== this.#process);
	}

	async #read(files: Files, key: string): Promise<string | undefined> {
		try {
			return await files.readFile(`${this.path}/done/${key}.json`, "utf8");
		} catch (error) {
			if (isMissing(error)) return undefined;
			throw error;
		}
	}

	/** A file that is there whole or not at all, and on the disk when this returns. */
	async #write(files: Files, folder: string, name: string, text: string): Promise<void> {
		const aside = `${this.path}/${folder}/.${name}.${randomName()}`;
		await synced(await files.open(aside, "wx"), (file) => file.writeFile(text));
		await files.rename(aside, `${this.path}/${folder}/${name}`);
		// Windows has no such thing, and needs none.
		if (!isWindows()) await synced(await files.open(`${this.path}/${folder}`, "r"), async () => undefined);
	}

	/** Whether a process lives. One that is too busy to answer does; only a refusal says that nobody listens. */
	async #isAlive(process: string): Promise<boolean> {
		const { net } = await this.#open();
		return connects(net, this.#address(process));
	}

	#open(): Promise<{ files: Files; net: Net }> {
		this.#opened ??= this.#make();
		return this.#opened;
	}

	async #make(): Promise<{ files: Files; net: Net }> {
		const [files, net] = [await needed<Files>("node:fs/promises"), await needed<Net>("node:net")];
		const address = this.#address(this.#process);
		if (new TextEncoder().encode(address).length > ADDRESS_MAX)
			throw new RangeError(`the path ${JSON.stringify(this.path)} is too long for a socket in it: name a shorter one`);
		for (const name of ["done", "begun", "alive"]) await files.mkdir(`${this.path}/${name}`, { recursive: true });
		if (!isWindows()) await this.#sweep(files, net);
		await new Promise<void>((resolve, reject) => {
			const server = net.createServer((socket) => socket.destroy());
			server.once("error", reject);
			server.listen(address, resolve);
			server.unref();
		});
		return { files, net };
	}

	/** Sockets of processes that were killed, and had nothing in hand. */
	async #sweep(files: Files, net: Net): Promise<void> {
		const begun = await files.readdir(`${this.path}/begun`);
		for (const name of await files.readdir(`${this.path}/alive`)) {
			if (begun.some((one) => one.endsWith(`.${name}`))) continue;
			const address = this.#address(name);
			const at = await files.stat(address).catch(() => undefined);
			if (at !== undefined && at.mtimeMs < Date.now() - NEW_SOCKET_MS && !(await connects(net, address)))
				await files.rm(address, { force: true });
		}
	}
}

async function synced(file: File, write: (file: File) => Promise<void>): Promise<void> {
	try {
		await write(file);
		await file.sync();
	} finally {
		await file.close();
	}
}

function connects(net: Net, address: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = net.connect(address);
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", (error) => resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT"));
	});
}

// --- The handler ---------------------------------------------------------------------------------

/** Names a handoff among those of all servers: its id alone would be another's on a server that was made anew. */
async function keyOf(name: string, work: Work): Promise<string> {
	const proof = work.v1 === undefined && work.task !== undefined ? work.envelope.digest : work.envelopeId;
	return (await digestOf([name, work.to, work.id, proof])).replace("sha256:", "");
}

/** What is remembered of a result. Of what the handler has settled itself (`return work.handOn(…)`) it is none. */
function remembered(work: Work, result: unknown): string {
	const counts = work.settled === undefined || work.settled === "ack";
	return JSON.stringify({ handoff: work.id, to: work.to, at: new Date(), result: counts ? result : undefined });
}

/** One folder of a process is one object: two would not know what the other holds. */
const folders = new Map<string, Handled>();

function folderOf(path: string): Handled {
	if (path === "" || path.startsWith(":memory:"))
		throw new TypeError("what was handled is remembered in a folder: name one");
	const { process } = globalThis as { process?: { cwd?(): string } };
	const whole = /^([/\\]|\w:)/.test(path) ? path : `${process?.cwd?.() ?? "."}/${path}`;
	const found = folders.get(whole) ?? new Handled(whole);
	folders.set(whole, found);
	return found;
}

/**
 * Makes a handler of handoffs have its effect once: what it returned is remembered, and returned again where the handoff
 * comes again. For Node, Deno and Bun.
 *
 * @example
 * const handle = idempotent(async (work) => charge(work.prompt), { path: "handled", name: "payments" });
 * await spine.agent("payments").run(handle);
 */
export function idempotent<T>(
	handler: (work: Work) => T | Promise<T>,
	options: IdempotentOptions = {},
): ((work: Work) => Promise<T | undefined>) & { readonly handled: Handled } {
	const { path = "handled", inDoubt = "run", name = handler.name } = options;
	if (inDoubt !== "run" && inDoubt !== "reject")
		throw new TypeError(`inDoubt is ${JSON.stringify(inDoubt)}; expected "run" or "reject"`);
	if (name === "") throw new TypeError("the handler has no name to be remembered by: give one, { name: … }");
	const handled = folderOf(path);

	const handle = async (work: Work): Promise<T | undefined> => {
		const key = await keyOf(name, work);
		const known = await handled.begin(key);
		if (known.isBusy) {
			await work.nack(BUSY, { delayS: AGAIN_S });
			return undefined;
		}
		let text: string | undefined;
		try {
			if (known.done !== undefined) return (JSON.parse(known.done) as { result?: T }).result;
			if (known.isInDoubt && inDoubt === "reject") {
				await work.reject(DOUBT);
				return undefined;
			}
			work.inDoubt = known.isInDoubt;
			const result = await handler(work);
			text = remembered(work, result);
			await handled.note(key, text);
			text = undefined;
			return result;
		} finally {
			await (text === undefined ? handled.leave(key) : handled.abandon(key));
		}
	};
	return Object.assign(handle, { handled });
}
