/**
 * `fetch` with authorities and a certificate of one's own, by `node:https`: the `fetch` of Node takes neither without a
 * package that this client would depend on. It does what the transport asks for, and no more: no redirects, no cookies.
 *
 * @module
 */
import { builtin } from "./builtin.js";

/** Paths of files in PEM. */
export interface TlsFiles {
	readonly caFile?: string | undefined;
	readonly certFile?: string | undefined;
	readonly certKeyFile?: string | undefined;
}

interface Incoming {
	readonly statusCode?: number;
	readonly headers: { readonly [name: string]: string | string[] | undefined };
}

interface Outgoing {
	once(event: "error", call: (error: unknown) => void): void;
	end(body?: Uint8Array): void;
}

interface Https {
	readonly Agent: new (options: object) => object;
	request(url: string, options: object, call: (incoming: Incoming) => void): Outgoing;
}

interface Parts {
	readonly https: Https;
	readonly agent: object;
	toWeb(incoming: Incoming): ReadableStream<Uint8Array>;
}

async function prepare(named: TlsFiles): Promise<Parts> {
	const https = await builtin<Https>("node:https");
	const files = await builtin<{ readFile(path: string, encoding: "utf8"): Promise<string> }>("node:fs/promises");
	const streams = await builtin<{ Readable: { toWeb: Parts["toWeb"] } }>("node:stream");
	if (https === undefined || files === undefined || streams === undefined)
		throw new TypeError("certificates of one's own are for Node, Deno and Bun");
	const read = (what: string, path: string | undefined): Promise<string> | undefined =>
		path === undefined
			? undefined
			: files.readFile(path, "utf8").catch((error: { code?: string }) => {
					throw new TypeError(`${what} ${JSON.stringify(path)} cannot be read: ${error.code}`);
				});
	const cert = await read("certFile", named.certFile);
	const agent = new https.Agent({
		ca: await read("caFile", named.caFile),
		cert,
		key: (await read("certKeyFile", named.certKeyFile)) ?? cert,
		keepAlive: true,
		minVersion: "TLSv1.2",
	});
	return { https, agent, toWeb: (incoming) => streams.Readable.toWeb(incoming) };
}

function answer(incoming: Incoming, toWeb: Parts["toWeb"]): Response {
	const headers = new Headers();
	for (const [name, value] of Object.entries(incoming.headers))
		for (const one of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, one);
	const status = incoming.statusCode ?? 0;
	const body = toWeb(incoming);
	if (status >= 300 && status < 400) throw new TypeError(`the server answered ${status}: redirects are not followed`);
	return new Response(status === 204 ? null : body, { status, headers });
}

/** A `fetch` that uses the files, which are read when it is first called. */
export function secureFetch(named: TlsFiles): typeof fetch {
	let prepared: Promise<Parts> | undefined;
	return async (url, init = {}) => {
		prepared ??= prepare(named);
		const { https, agent, toWeb } = await prepared;
		const { method, signal, body } = init;
		return new Promise<Response>((resolve, reject) => {
			// Bytes, and their number: text would have the headers encoded with it, and a length unknown sent in chunks.
			const bytes = typeof body === "string" ? new TextEncoder().encode(body) : undefined;
			const length = bytes === undefined ? {} : { "Content-Length": bytes.length };
			const headers = { ...(init.headers as { [name: string]: string }), ...length };
			const options = { method, headers, agent, ...(signal ? { signal } : {}) };
			const outgoing = https.request(String(url), options, (incoming) => {
				try {
					resolve(answer(incoming, toWeb));
				} catch (error) {
					reject(error);
				}
			});
			outgoing.once("error", reject);
			outgoing.end(bytes);
		});
	};
}
