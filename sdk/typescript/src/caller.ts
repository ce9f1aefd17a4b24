/** What every call has in common: settings, headers, names on the wire, warnings. @module */
import { type KeyPlace, placeOfKey, readKey } from "./credentials.js";
import { ProtocolError } from "./errors.js";
import { type Operation, operations, type Shape, version } from "./generated/operations.js";
import type { JsonObject, Operations } from "./generated/types.js";
import { taskInHand } from "./in-hand.js";
import { secureFetch } from "./secure-fetch.js";
import { type Answer, type Log, Transport } from "./transport.js";
import { fromWire, headerValue, isHeaderValue, pathPiece, queryString, toWire } from "./wire.js";

const DEFAULT_ENDPOINT = "http://127.0.0.1:8788";

/** What a client is made with. */
export interface MemorySpineOptions {
	/** Where the server is; else the environment's `SPINE_URL`, else `http://127.0.0.1:8788`. */
	readonly endpoint?: string | undefined;
	/** The space to work in; else `SPINE_SPACE`, else the server's `default`. */
	readonly space?: string | undefined;
	/** Who is calling, the author of what is stored; else `SPINE_AGENT`, else nobody. */
	readonly agent?: string | undefined;
	/** What the client proves itself with, where the server asks for a key; else `SPINE_KEY`. Never in a page: others read it. */
	readonly key?: string | undefined;
	/** A file of mode 0600 that holds the key (Node, Deno, Bun); else `SPINE_KEY_FILE`. It is read with the first call. */
	readonly keyFile?: string | undefined;
	/** Of an `https://` server: a file with the certificates (PEM) of the authorities that are trusted, instead of the runtime's; else `SPINE_CA_FILE`. */
	readonly caFile?: string | undefined;
	/** A file with the client's certificate, where the server asks for one; else `SPINE_CERT_FILE`. */
	readonly certFile?: string | undefined;
	/** Its private key, where that is not in the same file; else `SPINE_CERT_KEY_FILE`. */
	readonly certKeyFile?: string | undefined;
	/** Seconds that one call may take, its retries included: 30. What the server is asked to wait comes on top. */
	readonly timeoutS?: number | undefined;
	/** How often a request is sent again at most; 0: never. As often as there is time for, where it is not given. */
	readonly retries?: number | undefined;
	/** Beyond it an answer is refused: 64 MiB. */
	readonly maxResponseBytes?: number | undefined;
	/** The `fetch` to use, such as one with a proxy. */
	readonly fetch?: typeof fetch | undefined;
	/** Where warnings go, and what went wrong where nobody could be told: `console`, but for what is only informative. */
	readonly log?: Log | undefined;
}

const OPTIONS = [
	...["endpoint", "space", "agent", "key", "keyFile", "caFile", "certFile", "certKeyFile"],
	...["timeoutS", "retries", "maxResponseBytes", "fetch", "log"],
];

/** A name that is not known would be the default, silently: another server than the one that was meant. */
function checkNames(options: object): void {
	for (const name of Object.keys(options))
		if (!OPTIONS.includes(name)) throw new TypeError(`there is no option "${name}"; there are ${OPTIONS.join(", ")}`);
}

/** What every call takes. */
export interface CallOptions {
	/** Ends the call at once, which then throws the signal's reason. */
	readonly signal?: AbortSignal | undefined;
	/** Seconds that this call may take, instead of the client's. */
	readonly timeoutS?: number | undefined;
}

/** How a call is made, beside what it says. */
export interface Sending extends CallOptions {
	/** Carries the request out once, however often it is sent; one of its own where none is given. */
	readonly idempotencyKey?: string | undefined;
	/** An ETag: only where nothing has changed since. */
	readonly ifMatch?: string | undefined;
	/** Who is calling, instead of the client's agent. */
	readonly agent?: string | undefined;
	/** The task of what is stored. */
	readonly task?: string | undefined;
	/** The person who asks, for what only persons may do. */
	readonly person?: string | undefined;
	/** The request may be sent again although it carries no key. @internal */
	readonly safe?: boolean | undefined;
	/** No key: what is sent is the same however often it is sent. @internal */
	readonly noKey?: boolean | undefined;
	/** @internal */
	readonly retry?: boolean | undefined;
	/** @internal */
	readonly waitS?: number | undefined;
}

interface Said {
	readonly params?: { readonly [name: string]: string } | undefined;
	readonly query?: { readonly [name: string]: unknown } | undefined;
	readonly body?: unknown;
}

/** An environment variable, where there is an environment and it may be read. */
function environment(name: string): string | undefined {
	const { Deno, process } = globalThis as {
		Deno?: { permissions?: { querySync?(what: object): { state: string } } };
		process?: { env?: { [name: string]: string | undefined } };
	};
	// Deno would stop and ask the person at the terminal.
	if (Deno?.permissions?.querySync?.({ name: "env", variable: name }).state === "prompt") return undefined;
	try {
		return process?.env?.[name] || undefined;
	} catch {
		return undefined;
	}
}

/** A browser sets its own. */
const isBrowser =
	"window" in globalThis ? "document" in globalThis : "WorkerGlobalScope" in globalThis && !("Deno" in globalThis);

function checkEndpoint(text: string): string {
	let url: URL | undefined;
	try {
		url = new URL(text);
	} catch {
		url = undefined;
	}
	if (!url || !/^https?:$/.test(url.protocol))
		throw new TypeError(`endpoint ${JSON.stringify(text)} must begin with http:// or https://`);
	if (url.username || url.password) throw new TypeError("endpoint carries a user name or password: there are none");
	if (url.pathname !== "/" || url.search || url.hash)
		throw new TypeError(`endpoint ${JSON.stringify(text)} carries a path: give only http://HOST:PORT`);
	return url.origin;
}

/** The platform's, unless there are certificates of one's own. */
function fetchFor(endpoint: string, options: MemorySpineOptions): typeof fetch {
	const caFile = options.caFile ?? environment("SPINE_CA_FILE");
	const certFile = options.certFile ?? environment("SPINE_CERT_FILE");
	const certKeyFile = options.certKeyFile ?? environment("SPINE_CERT_KEY_FILE");
	if (certKeyFile !== undefined && certFile === undefined)
		throw new TypeError("certKeyFile is given and certFile is not: name the certificate, too");
	if (!endpoint.startsWith("https:") || (caFile ?? certFile) === undefined) return globalThis.fetch;
	return secureFetch({ caFile, certFile, certKeyFile });
}

function consoleLog(level: "info" | "warn" | "error", text: string, error?: unknown): void {
	if (level === "info") return;
	console[level](`memory-spine: ${text}`, ...(error === undefined ? [] : [error]));
}

/** The part of a client that sends. */
export class Caller {
	/** Where the server is. */
	readonly endpoint: string;
	/** The space that was asked for; undefined is the server's default. */
	readonly space: string | undefined;
	/** Who is calling; undefined is nobody. */
	readonly agentName: string | undefined;
	/** Seconds that one call may take. */
	readonly timeoutS: number;
	/** @internal */
	readonly retries: number | undefined;
	/** @internal */
	readonly log: Log;
	/** The task that this program was started for, by `spine receive --exec`. */
	readonly #task: string | undefined;
	readonly #headers: { readonly [name: string]: string };
	readonly #keyPlace: KeyPlace | undefined;
	#key: Promise<string> | undefined;
	readonly #transport: Transport;

	constructor(options: MemorySpineOptions = {}) {
		checkNames(options);
		const { timeoutS = 30, retries, maxResponseBytes = 64 * 1024 * 1024 } = options;
		if (!(timeoutS > 0) || !(maxResponseBytes > 0) || (retries ?? 0) < 0)
			throw new RangeError("timeoutS and maxResponseBytes must be positive, retries not negative");
		const here = checkEndpoint(environment("SPINE_URL") ?? DEFAULT_ENDPOINT);
		this.endpoint = options.endpoint === undefined ? here : checkEndpoint(options.endpoint);
		this.space = options.space ?? environment("SPINE_SPACE");
		this.agentName = options.agent ?? environment("SPINE_AGENT");
		// The task is one of the server and the space that the program was told.
		this.#task =
			this.endpoint === here && this.space === environment("SPINE_SPACE") ? environment("SPINE_TASK") : undefined;
		this.timeoutS = timeoutS;
		this.retries = retries;
		this.log = options.log ?? consoleLog;
		this.#headers = {
			...(isBrowser ? {} : { "User-Agent": `memory-spine-typescript/${version}` }),
			...(this.space === undefined ? {} : { "Spine-Space": headerValue("space", this.space) }),
			...(this.agentName === undefined ? {} : { "Spine-Agent": headerValue("agent", this.agentName) }),
		};
		this.#keyPlace = placeOfKey(options, environment);
		this.#transport = new Transport({
			endpoint: this.endpoint,
			retries,
			maxResponseBytes,
			fetch: options.fetch ?? fetchFor(this.endpoint, options),
			log: this.log,
		});
	}

	/**
	 * Any call of the protocol, by its name in `/openapi.json`, such as `metrics`: for those that have no method of
	 * their own here.
	 *
	 * @example
	 * const figures = await spine.request("metrics", {});
	 */
	async request<Name extends keyof Operations>(
		name: Name,
		said: Operations[Name]["input"],
		how: Sending = {},
	): Promise<Operations[Name]["answer"]> {
		return (await this.exchange(name, said, how)).value;
	}

	/** The same, with the headers of the answer, and the answer as it was sent. @internal */
	async exchange<Name extends keyof Operations>(
		name: Name,
		said: Operations[Name]["input"],
		how: Sending = {},
	): Promise<{ value: Operations[Name]["answer"]; headers: Headers; raw: JsonObject }> {
		const operation = operations[name];
		if (operation === undefined) throw new TypeError(`the protocol has no call ${JSON.stringify(name)}`);
		const request = this.#requestOf(operation, said as Said, how);
		const answer = await this.#transport.send({ ...request, headers: await this.#proven(request.headers) });
		const isJson = /json/.test(answer.headers.get("content-type") ?? "json");
		const raw = isJson ? parse(answer) : answer.text;
		if (isJson) this.#tellWarnings(raw as JsonObject);
		return {
			value: fromWire(raw, operation.answer) as Operations[Name]["answer"],
			headers: answer.headers,
			raw: raw as JsonObject,
		};
	}

	/** A stream of events. @internal */
	async stream(
		target: string,
		headers: { readonly [name: string]: string },
		signal: AbortSignal,
	): Promise<ReadableStream<Uint8Array>> {
		return this.#transport.open({
			method: "GET",
			target,
			headers: await this.#proven({ ...this.#headers, Accept: "text/event-stream", ...headers }),
			safe: true,
			retry: false,
			timeoutS: this.timeoutS,
			signal,
		});
	}

	/** The headers with the key, where there is one. */
	async #proven(headers: { readonly [name: string]: string }): Promise<{ readonly [name: string]: string }> {
		if (this.#keyPlace === undefined) return headers;
		this.#key ??= readKey(this.#keyPlace);
		return { ...headers, Authorization: `Bearer ${await this.#key}` };
	}

	#requestOf(operation: Operation, said: Said, how: Sending): Parameters<Transport["send"]>[0] {
		const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => pathPiece(name, said.params?.[name]));
		const takesKey = operation.headers.includes("Idempotency-Key") && !how.noKey;
		const isIdempotent = operation.method !== "POST" && how.ifMatch === undefined;
		return {
			method: operation.method,
			target: path + queryString(said.query ?? {}, operation.query),
			headers: filled({ ...this.#headers, ...headersOf(operation, said, how, taskInHand(this) ?? this.#task) }),
			body: bodyOf(said.body, operation.body),
			safe: how.safe ?? (takesKey || isIdempotent),
			retry: how.retry ?? true,
			waitS: how.waitS,
			timeoutS: how.timeoutS ?? this.timeoutS,
			signal: how.signal,
		};
	}

	#tellWarnings(answer: JsonObject): void {
		const warnings = answer?.warnings;
		for (const one of Array.isArray(warnings) ? (warnings as JsonObject[]) : []) {
			const text = `${String(one.field)}: ${String(one.detail)}`;
			// Whoever wires agents together sends before the first receiver is there; only a likely slip is worth a warning.
			this.log(one.code === "agent_never_seen" && !text.includes("Did you mean") ? "info" : "warn", text);
		}
	}
}

function filled(headers: { readonly [name: string]: string }): { [name: string]: string } {
	return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
}

function bodyOf(body: unknown, shape: Shape): string | undefined {
	return body === undefined ? undefined : JSON.stringify(toWire(body, shape));
}

function headersOf(
	operation: Operation,
	said: Said,
	how: Sending,
	task: string | undefined,
): { [name: string]: string } {
	const headers: { [name: string]: string } = { Accept: "application/json, text/*" };
	if (said.body !== undefined) headers["Content-Type"] = "application/json";
	// A name that cannot be a header is left out: of what is settled the server knows whose it is.
	if (how.agent !== undefined)
		headers["Spine-Agent"] = isHeaderValue(how.agent) ? headerValue("agent", how.agent) : "";
	const inHand = how.task ?? task;
	if (operation.headers.includes("Spine-Task") && inHand !== undefined && isHeaderValue(inHand))
		headers["Spine-Task"] = headerValue("task", inHand);
	if (operation.headers.includes("Idempotency-Key") && !how.noKey)
		headers["Idempotency-Key"] = headerValue("idempotencyKey", how.idempotencyKey ?? newKey());
	if (how.ifMatch !== undefined) headers["If-Match"] = headerValue("ifMatch", how.ifMatch);
	if (how.person !== undefined) headers["Spine-Person"] = headerValue("person", how.person);
	return headers;
}

/** A page that is not of a secure origin has no `randomUUID`. */
function newKey(): string {
	if ("randomUUID" in crypto) return crypto.randomUUID();
	const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function parse(answer: Answer): unknown {
	if (answer.text === "") return null;
	try {
		return JSON.parse(answer.text);
	} catch (cause) {
		throw new ProtocolError(
			`the server answered ${answer.status} with ${JSON.stringify(answer.text.slice(0, 80))}, which is not what was asked for`,
			{
				code: "invalid_response",
				status: answer.status,
				cause,
			},
		);
	}
}
