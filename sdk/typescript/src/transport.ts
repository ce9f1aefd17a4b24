/**
 * One request and its answer: deadlines, and when it is sent again.
 *
 * RETRIES. A request is sent again, until its time is over, where that cannot do anything twice: it was not sent at all
 * (no connection could be made); the connection was lost, and the request is `safe` (it only reads, says what is to be
 * however often it is said, carries an Idempotency-Key, or is known by its lease); the server refused it with 503 and
 * said when to come again (it is busy, or the node of a cluster that has the space is being replaced), or that it is
 * about to stop. An open breaker is no such refusal. All attempts share one deadline, so that a call outlives a restart
 * of the server.
 *
 * WAITING. A request may ask the server to wait (`waitS`): each time that it is sent, the time for its answer has that
 * much more.
 *
 * @module
 */
import { ConnectionError, ProtocolError, SpineError, TimeoutError, TlsError, Unavailable } from "./errors.js";
import type { JsonObject } from "./generated/types.js";
import { fromProblem } from "./problems.js";

/** A server that is started again takes some hundred milliseconds; one that takes long is asked every other second. */
const BACKOFF_MS = 50;
const BACKOFF_MAX_MS = 2000;
/** Which attempt says that a call is waiting for the server: by then it has waited for about a second. */
const TELL_AT = 5;
/** How much later than asked for the answer to a request that waits may come. */
const LATE_MS = 5000;

/** What happens where nobody could be told otherwise; see {@link MemorySpineOptions.log}. */
export type Log = (level: "info" | "warn" | "error", text: string, error?: unknown) => void;

export interface Request {
	readonly method: string;
	/** Path and query. */
	readonly target: string;
	readonly headers: { readonly [name: string]: string };
	readonly body?: string | undefined;
	/** Sending it twice does what sending it once does. */
	readonly safe: boolean;
	readonly retry: boolean;
	readonly waitS?: number | undefined;
	readonly timeoutS: number;
	readonly signal?: AbortSignal | undefined;
}

export interface Answer {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;
}

export interface TransportSettings {
	readonly endpoint: string;
	readonly retries: number | undefined;
	readonly maxResponseBytes: number;
	readonly fetch: typeof fetch;
	readonly log: Log;
}

/** Milliseconds of a clock that only goes forward. */
export function now(): number {
	return performance.now();
}

/** Half to all of a time that doubles: clients that lost their server together do not come back together. */
export function backoffMs(attempt: number): number {
	return Math.min(BACKOFF_MS * 2 ** Math.min(attempt, 16), BACKOFF_MAX_MS) * (0.5 + Math.random() / 2);
}

/** Waits; an abort ends it at once and throws the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const onAbort = (): void => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", onAbort);
			resolve();
		}, ms);
		signal?.addEventListener("abort", onAbort, { once: true });
		return undefined;
	});
}

/** Whether a call that waits goes on waiting: the server is starting, stopping, or has too much to do. */
export function mayRecover(error: unknown): boolean {
	return error instanceof ConnectionError || (error instanceof Unavailable && error.retryable);
}

/** How the platforms say that no connection could be made: Node, Bun and Deno. A browser does not say. */
const NOT_SENT = new RegExp(
	[
		...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
		...["ConnectionRefused", "FailedToOpenSocket", "connection refused", "tcp connect error"],
	].join("|"),
	"i",
);

/** A browser does not tell a page why it may not call, so the likely reason is said here. */
function pageHint(): string {
	const { document, origin } = globalThis as { document?: unknown; origin?: string };
	return document === undefined
		? ""
		: `; is it running, and does it allow pages of ${origin}? (spine serve --allow-origin)`;
}

/** How they say that no secure connection could be made, and what to do about it; the first that fits. */
const NOT_SECURE: readonly (readonly [RegExp, string])[] = [
	[
		/ALTNAME|NotValidForName|HOSTNAME_MISMATCH/i,
		"its certificate is not for this host; use the name that the certificate has, or have one made for this one",
	],
	[
		/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate:? ?(has )?expired/i,
		"its certificate is not valid now; renew it, or set this machine's clock",
	],
	[
		/CERTIFICATE_REQUIRED|certificate required|ALERT_HANDSHAKE_FAILURE/i,
		"it asks for a client certificate; name one, as certFile or SPINE_CERT_FILE",
	],
	[
		/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE)|alert (unknown ca|bad certificate|certificate)/i,
		"it does not accept the client certificate; see certFile, SPINE_CERT_FILE",
	],
	[
		/WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|InvalidContentType|corrupt message/i,
		"what answers there does not speak TLS; is its address http://…?",
	],
	[
		/SELF_SIGNED|self.signed|UNABLE_TO_(VERIFY|GET)|DEPTH_ZERO|UnknownIssuer|CERT_(UNTRUSTED|SIGNATURE)/i,
		"its certificate is not from an authority that is trusted here; name the authority's, as caFile or SPINE_CA_FILE",
	],
	[/ERR_SSL_|ERR_TLS_|EPROTO|SSL routines|invalid peer certificate/i, "the two could not agree"],
];

function lost(error: unknown, endpoint: string): SpineError {
	const cause = error instanceof Error ? error.cause : undefined;
	const parts = [error, cause].filter((one) => one instanceof Error) as (Error & { code?: unknown })[];
	const said = parts.map((one) => `${String(one.code ?? "")} ${one.message}`).join(" ");
	if (NOT_SENT.test(said))
		return new ConnectionError(`nobody answers at ${endpoint}; is the server running? (spine serve)`, {
			code: "connect_failed",
			retryable: true,
			cause: error,
		});
	const insecure = endpoint.startsWith("https:") ? NOT_SECURE.find(([pattern]) => pattern.test(said)) : undefined;
	if (insecure !== undefined)
		return new TlsError(`no secure connection to ${endpoint}: ${insecure[1]} (${said.trim()})`, {
			code: "tls_failed",
			cause: error,
		});
	return new ConnectionError(`the connection to ${endpoint} was lost: ${said.trim() || String(error)}${pageHint()}`, {
		code: "connection_lost",
		retryable: true,
		cause: error,
	});
}

/** A signal that follows another one and has a deadline of its own. */
class Deadline {
	readonly #abort = new AbortController();
	readonly #timer: ReturnType<typeof setTimeout>;
	readonly #outer: AbortSignal | undefined;
	readonly #onAbort = (): void => this.#abort.abort(this.#outer?.reason);
	isOver = false;

	constructor(ms: number, outer: AbortSignal | undefined) {
		this.#outer = outer;
		this.#timer = setTimeout(
			() => {
				this.isOver = true;
				this.#abort.abort();
			},
			Math.max(0, ms),
		);
		if (outer?.aborted) this.#onAbort();
		else outer?.addEventListener("abort", this.#onAbort, { once: true });
	}

	get signal(): AbortSignal {
		return this.#abort.signal;
	}

	end(): void {
		clearTimeout(this.#timer);
		this.#outer?.removeEventListener("abort", this.#onAbort);
	}
}

export class Transport {
	readonly #settings: TransportSettings;

	constructor(settings: TransportSettings) {
		this.#settings = settings;
	}

	/** Sends a request, again where that is safe, and returns the answer; a refusal is thrown. */
	async send(request: Request): Promise<Answer> {
		const timeoutMs = request.timeoutS * 1000;
		const lateMs = request.waitS === undefined ? 0 : request.waitS * 1000 + Math.min(timeoutMs, LATE_MS);
		const deadline = now() + (request.waitS ?? 0) * 1000 + timeoutMs;
		let wasLost = false;
		let nobody: SpineError | undefined;
		for (let attempt = 0; ; attempt++) {
			try {
				const answer = await this.#once(request, lateMs > 0 ? now() + lateMs : deadline);
				if (answer.status < 400) return answer;
				throw refusal(answer);
			} catch (error) {
				if (!(error instanceof SpineError)) throw error;
				error.repeated = wasLost;
				// That nobody is there says more than that the time is over.
				if (nobody && error.code === "timeout") throw nobody;
				nobody = error.code === "connect_failed" ? error : undefined;
				const wait = waitBeforeRetry(request, error, attempt);
				if (wait === undefined || attempt >= (this.#settings.retries ?? Infinity) || now() + wait >= deadline)
					throw error;
				if (attempt === TELL_AT)
					this.#settings.log(
						"warn",
						`trying again for up to ${Math.round((deadline - now()) / 1000)} s: ${error.message}`,
					);
				wasLost ||= error.code === "connection_lost";
				await sleep(wait, request.signal);
			}
		}
	}

	/** The answer to a request that has no end: its body, read by the caller, who ends it with the signal. */
	async open(request: Request): Promise<ReadableStream<Uint8Array>> {
		const deadline = new Deadline(request.timeoutS * 1000, request.signal);
		try {
			// The deadline is for the head alone; what follows takes as long as it takes.
			const response = await Promise.race([this.#fetch(request, request.signal), over(deadline)]);
			if (response.status >= 400)
				throw refusal({ status: response.status, headers: response.headers, text: await response.text() });
			if (!response.body)
				throw new ProtocolError("the server answered with no stream", {
					code: "invalid_response",
					status: response.status,
				});
			return response.body;
		} catch (error) {
			throw this.#meaning(error, request, deadline);
		} finally {
			deadline.end();
		}
	}

	async #once(request: Request, until: number): Promise<Answer> {
		const deadline = new Deadline(until - now(), request.signal);
		try {
			const response = await this.#fetch(request, deadline.signal);
			return { status: response.status, headers: response.headers, text: await this.#read(response) };
		} catch (error) {
			throw this.#meaning(error, request, deadline);
		} finally {
			deadline.end();
		}
	}

	#fetch(request: Request, signal: AbortSignal | undefined): Promise<Response> {
		const init: RequestInit = {
			method: request.method,
			headers: request.headers,
			body: request.body ?? null,
			cache: "no-store",
			credentials: "omit",
			redirect: "error",
			referrerPolicy: "no-referrer",
			signal: signal ?? null,
		};
		return this.#settings.fetch.call(undefined, `${this.#settings.endpoint}${request.target}`, init);
	}

	/** The body as text, as far as it may be. */
	async #read(response: Response): Promise<string> {
		if (!response.body) return "";
		const decoder = new TextDecoder();
		const reader = response.body.getReader();
		let text = "";
		let size = 0;
		for (let part = await reader.read(); !part.done; part = await reader.read()) {
			size += part.value.byteLength;
			if (size > this.#settings.maxResponseBytes) {
				await reader.cancel();
				throw new ProtocolError(`the answer is larger than ${this.#settings.maxResponseBytes} bytes`, {
					code: "response_too_large",
					status: response.status,
				});
			}
			text += decoder.decode(part.value, { stream: true });
		}
		return text + decoder.decode();
	}

	/** What an exception of `fetch` means: the caller's abort, the end of the time, or a lost connection. */
	#meaning(error: unknown, request: Request, deadline: Deadline): unknown {
		if (request.signal?.aborted) return request.signal.reason;
		if (deadline.isOver)
			return new TimeoutError(
				`no answer from ${this.#settings.endpoint} in time; the request may have been carried out`,
				{ code: "timeout", retryable: true, cause: error },
			);
		return error instanceof SpineError ? error : lost(error, this.#settings.endpoint);
	}
}

function over(deadline: Deadline): Promise<never> {
	return new Promise((_, reject) =>
		deadline.signal.addEventListener("abort", () => reject(deadline.signal.reason), { once: true }),
	);
}

function refusal(answer: Answer): SpineError {
	let problem: unknown;
	try {
		problem = JSON.parse(answer.text);
	} catch {
		problem = undefined;
	}
	const after = answer.headers.get("retry-after") ?? "";
	const isObject = typeof problem === "object" && problem !== null && !Array.isArray(problem);
	return fromProblem(
		answer.status,
		isObject ? (problem as JsonObject) : {},
		/^\d+$/.test(after) ? Number(after) : undefined,
	);
}

/** Milliseconds to wait before a request is sent again; undefined where it must not be. */
function waitBeforeRetry(request: Request, error: SpineError, attempt: number): number | undefined {
	if (!request.retry) return undefined;
	if (error instanceof ConnectionError)
		return error.code === "connect_failed" || request.safe ? backoffMs(attempt) : undefined;
	if (!(error instanceof Unavailable) || !error.retryable) return undefined;
	if (error.retryAfterS !== undefined) return error.retryAfterS * 1000 + Math.random() * BACKOFF_MS;
	return error.code === "draining" ? backoffMs(attempt) : undefined;
}
