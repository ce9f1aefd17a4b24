// Calls to the server that gave us this page, and to nobody else.
import { identity, session } from "./identity";
import { person } from "./settings";

/** What the server says when it refuses (RFC 9457), or what went wrong before it could. */
export class Problem extends Error {
	readonly status: number;
	readonly code: string;

	constructor(status: number, code: string, detail: string) {
		super(detail);
		this.status = status;
		this.code = code;
	}
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Options {
	readonly query?: Record<string, string | number | boolean | null | undefined>;
	readonly body?: unknown;
	readonly signal?: AbortSignal;
	readonly headers?: Record<string, string>;
}

// Names may be any UTF-8; a header is bytes, which the browser wants as characters below 256.
export function bytes(text: string): string {
	return String.fromCharCode(...new TextEncoder().encode(text));
}

/** Who we are the cookie says. The key of an agent speaks for that agent, whatever name was typed here. */
export function headers(space: string | undefined): Record<string, string> {
	if (space === undefined) return {};
	return {
		"Spine-Space": space,
		...(person.get() && !identity()?.agent ? { "Spine-Agent": bytes(person.get()) } : {}),
	};
}

/** A path from pieces that may hold anything. */
export function path(...pieces: string[]): string {
	return `v1/${pieces.map(encodeURIComponent).join("/")}`;
}

export async function problemOf(answer: Response): Promise<Problem> {
	let code = "error";
	let detail = `the server answered ${answer.status}`;

	try {
		const body = await answer.json();
		if (typeof body.code === "string") code = body.code;
		if (typeof body.detail === "string") detail = body.detail;
	} catch {
		// Not ours; the status has to do.
	}
	if (answer.status === 401) session.set({ mode: "keys", key: null });
	return new Problem(answer.status, code, detail);
}

async function request(space: string | undefined, method: Method, address: string, options: Options): Promise<Response> {
	const query = new URLSearchParams();
	const given = headers(space);

	for (const [name, value] of Object.entries(options.query ?? {}))
		if (value !== undefined && value !== null && value !== "") query.append(name, String(value));
	if (options.body !== undefined) given["Content-Type"] = "application/json";
	let answer: Response;
	try {
		answer = await fetch(query.size ? `${address}?${query}` : address, {
			method,
			headers: { ...given, ...options.headers },
			body: options.body === undefined ? undefined : JSON.stringify(options.body),
			signal: options.signal,
			cache: "no-store",
			credentials: "same-origin",
			redirect: "error",
		});
	} catch (error) {
		if (options.signal?.aborted) throw error;
		throw new Problem(0, "unreachable", "the server cannot be reached");
	}
	if (!answer.ok) throw await problemOf(answer);
	return answer;
}

/** Of no space: about the server, or whoever asks. */
export async function call<T>(
	space: string | undefined,
	method: Method,
	address: string,
	options: Options = {},
): Promise<T> {
	const answer = await request(space, method, address, options);
	return answer.status === 204 ? undefined! : answer.json();
}

export async function text(space: string, address: string, options: Options = {}): Promise<string> {
	return (await request(space, "GET", address, options)).text();
}

export function asProblem(error: unknown): Problem {
	return error instanceof Problem
		? error
		: new Problem(0, "error", error instanceof Error ? error.message : String(error));
}
