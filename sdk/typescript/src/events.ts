/**
 * What happens in a space, as it happens.
 *
 * The server sends events as a stream (server-sent events), each with its id. Where the connection is lost, or nothing
 * was heard for so long that it must be, it is made again with the last id (Last-Event-ID): no event is lost and none
 * comes twice. While the server cannot be reached the iteration waits for it, but for the first time: a wrong address is
 * an error.
 *
 * @module
 */
import type { Caller } from "./caller.js";
import { ConnectionError, ProtocolError, TimeoutError } from "./errors.js";
import type { CloudEvent } from "./generated/types.js";
import { backoffMs, mayRecover, sleep } from "./transport.js";
import { fromWire, queryString } from "./wire.js";

/** The server says every 15 seconds that it is there. Should it say so less often, asking again loses nothing. */
const SILENCE_MS = 60_000;
const EVENT_MAX_CHARS = 16 * 1024 * 1024;
const TYPE_PREFIX = "com.memoryspine.";

/** Options of `events`. */
export interface EventOptions {
	/** Begins behind the event with this id; 0: with the first there is. Else with what happens from now on. */
	readonly after?: number | undefined;
	/** Only events whose names begin so: `handoff.`, `["memory.stored", "alert."]`. */
	readonly types?: string | readonly string[] | undefined;
	/** Ends the iteration. */
	readonly signal?: AbortSignal | undefined;
}

/** Something that happened in the space. */
export interface SpaceEvent {
	readonly id: number;
	readonly at: Date;
	/** `memory.stored`, `envelope.packed`, `handoff.acked`, `agent.set`, `alert.fired`… */
	readonly event: string;
	/** What it is about: `ms-12`, `env-3`, `ho-7`, the name of an agent… */
	readonly subject: string | null;
	/** The agent that it is about. */
	readonly agent: string | null;
	/** Who did it. */
	readonly actor: string | null;
	/** The key that let them in, `key-7`; null where the server has none, or did it itself. */
	readonly key: string | null;
	/** What else there is to say of it. */
	readonly data: CloudEvent["data"];
}

interface Block {
	readonly id: number;
	readonly event: SpaceEvent | undefined;
}

function eventOf(text: string): SpaceEvent {
	const one = fromWire(JSON.parse(text), "CloudEvent") as CloudEvent;
	return {
		id: Number(one.id),
		at: one.time,
		event: one.type.startsWith(TYPE_PREFIX) ? one.type.slice(TYPE_PREFIX.length) : one.type,
		subject: one.subject ?? null,
		agent: one.data.agent ?? null,
		actor: one.data.actor ?? null,
		key: one.data.key ?? null,
		data: one.data,
	};
}

/** Server-sent events, by their rules: an empty line ends a block, and what is no whole line yet is kept. */
class Parser {
	#rest = "";
	#id: number | undefined;
	#data: string[] = [];

	feed(part: string): Block[] {
		const lines = (this.#rest + part).split("\n");
		this.#rest = lines.pop() ?? "";
		if (this.#rest.length > EVENT_MAX_CHARS)
			throw new ProtocolError("an event is larger than can be", { code: "response_too_large" });
		try {
			return lines.flatMap((line) => this.#line(line.replace(/\r$/, "")));
		} catch (cause) {
			throw new ProtocolError("this is no stream of events", { code: "invalid_response", cause });
		}
	}

	#line(line: string): Block[] {
		if (line === "") return this.#end();
		const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
		if (name === "id") this.#id = Number(value);
		else if (name === "data") this.#data.push(value);
		return []; // a comment, or what is of no use here
	}

	#end(): Block[] {
		const data = this.#data.join("\n");
		this.#data = [];
		return this.#id === undefined ? [] : [{ id: this.#id, event: data ? eventOf(data) : undefined }];
	}
}

/** The events of a space, to be looped over. Each iteration goes on where the last one was left. */
export class Events implements AsyncIterable<SpaceEvent> {
	readonly #caller: Caller;
	readonly #types: string | undefined;
	readonly #outer: AbortSignal | undefined;
	readonly #stop = new AbortController();
	#position: number | undefined;

	constructor(caller: Caller, options: EventOptions) {
		if (options.after !== undefined && !Number.isInteger(options.after))
			throw new TypeError("after is the id of an event, a number");
		this.#caller = caller;
		this.#types = typeof options.types === "object" ? options.types.join(",") || undefined : options.types;
		this.#outer = options.signal;
		this.#position = options.after;
	}

	/** The id up to which all events were given, which `events` takes as `after`; undefined where nothing came yet. */
	get position(): number | undefined {
		return this.#position;
	}

	/** Ends the iteration. */
	stop(): void {
		this.#stop.abort();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<SpaceEvent, void, undefined> {
		const onAbort = (): void => this.stop();
		this.#outer?.addEventListener("abort", onAbort, { once: true });
		if (this.#outer?.aborted) this.stop();
		try {
			for await (const block of this.#blocks()) {
				this.#position = block.id;
				if (block.event) yield block.event;
			}
		} finally {
			this.#outer?.removeEventListener("abort", onAbort);
		}
	}

	/** Connection after connection, until it is stopped. */
	async *#blocks(): AsyncGenerator<Block, void, undefined> {
		let wasReached = false;
		for (let attempt = 0; !this.#stop.signal.aborted; attempt++) {
			try {
				for await (const block of this.#connection(() => (wasReached = true))) {
					attempt = 0;
					yield block;
				}
			} catch (error) {
				if (this.#stop.signal.aborted) return;
				if (!wasReached || !(mayRecover(error) || error instanceof TimeoutError)) throw error;
				if (attempt === 0) this.#caller.log("warn", `the events wait for the server: ${String(error)}`);
			}
			await sleep(backoffMs(attempt), this.#stop.signal).catch(() => undefined);
		}
	}

	async *#connection(onOpen: () => void): AsyncGenerator<Block, void, undefined> {
		const abort = new AbortController();
		const onStop = (): void => abort.abort();
		this.#stop.signal.addEventListener("abort", onStop, { once: true });
		const silence = new Silence(() => abort.abort());
		try {
			const headers = this.#position === undefined ? {} : { "Last-Event-ID": String(this.#position) };
			const stream = await this.#caller.stream(
				`/v1/events${queryString({ types: this.#types }, [])}`,
				headers,
				abort.signal,
			);
			onOpen();
			yield* blocksOf(stream, silence);
		} catch (error) {
			throw silence.isOver
				? new TimeoutError("nothing was heard of the server for a minute", { code: "timeout", retryable: true })
				: error;
		} finally {
			this.#stop.signal.removeEventListener("abort", onStop);
			silence.end();
			abort.abort();
		}
	}
}

/** Ends a connection on which nothing was heard for too long. */
class Silence {
	readonly #onOver: () => void;
	#timer: ReturnType<typeof setTimeout> | undefined;
	isOver = false;

	constructor(onOver: () => void) {
		this.#onOver = onOver;
		this.heard();
	}

	heard(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			this.isOver = true;
			this.#onOver();
		}, SILENCE_MS);
	}

	end(): void {
		clearTimeout(this.#timer);
	}
}

async function* blocksOf(stream: ReadableStream<Uint8Array>, silence: Silence): AsyncGenerator<Block, void, undefined> {
	const reader = stream.getReader();
	const decoder = new TextDecoder();
	const parser = new Parser();
	try {
		for (;;) {
			const part = await reader.read().catch(broken);
			if (part.done) return;
			silence.heard();
			yield* parser.feed(decoder.decode(part.value, { stream: true }));
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}

function broken(cause: unknown): never {
	throw new ConnectionError("the stream of events was cut off", { code: "connection_lost", retryable: true, cause });
}
