/**
 * What a client proves itself with, and what it trusts: its key, its certificate, the authorities of the server's.
 *
 * THE KEY is a text that `spine key create` shows once. It comes from the option `key`, else from the file `keyFile`, else
 * from SPINE_KEY, else from the file that SPINE_KEY_FILE names. A file that cannot be read, is empty, or that others could
 * read, too, is an error of the first call: never "no key". The key is in no property, log line or error of this package.
 *
 * CERTIFICATES. `fetch` trusts whom the runtime trusts. With files of one's own (`caFile`, `certFile`, `certKeyFile`, or
 * SPINE_CA_FILE, SPINE_CERT_FILE, SPINE_CERT_KEY_FILE) calls go by `node:https` instead, which Node, Deno and Bun have.
 *
 * @module
 */
import { builtin } from "./builtin.js";

/** A key has 50 characters or so. What is larger is another file than the one that was meant. */
const KEY_MAX_BYTES = 4096;

/** Where a key, or a file with it, was named. */
export interface KeyPlace {
	readonly key?: string | undefined;
	readonly keyFile?: string | undefined;
	/** What names it, for sentences. */
	readonly name: string;
}

interface Files {
	open(
		path: string,
		flags: "r",
	): Promise<{
		stat(): Promise<{ readonly mode: number; readonly size: number }>;
		readFile(encoding: "latin1"): Promise<string>;
		close(): Promise<void>;
	}>;
}

/** Where the key is: what was given, else what the environment has. Undefined where there is none. */
export function placeOfKey(
	given: { readonly key?: string | undefined; readonly keyFile?: string | undefined },
	environment: (name: string) => string | undefined,
): KeyPlace | undefined {
	if (given.key !== undefined && given.keyFile !== undefined)
		throw new TypeError("key and keyFile are both given: give one of them");
	const key = given.key ?? (given.keyFile === undefined ? environment("SPINE_KEY") : undefined);
	if (key !== undefined) return checked({ key, name: given.key === undefined ? "SPINE_KEY" : "key" });
	const keyFile = given.keyFile ?? environment("SPINE_KEY_FILE");
	if (keyFile === undefined) return undefined;
	return { keyFile, name: `${given.keyFile === undefined ? "SPINE_KEY_FILE" : "keyFile"} ${JSON.stringify(keyFile)}` };
}

/** A key can be a header. What it is instead is not shown: it may be the secret with a slip in it. */
function checked(place: KeyPlace): KeyPlace {
	if (typeof place.key !== "string" || place.key === "")
		throw new TypeError(`${place.name} is empty: give the text that \`spine key create\` showed, or leave it out`);
	if (!/^[\x21-\x7e]+$/.test(place.key))
		throw new TypeError(`${place.name} is no key: it holds blanks, line breaks or characters beyond ASCII`);
	return place;
}

/** The key. */
export async function readKey(place: KeyPlace): Promise<string> {
	if (place.keyFile === undefined) return place.key ?? "";
	const files = await builtin<Files>("node:fs/promises");
	if (files === undefined) throw new TypeError(`${place.name}: there are no files here; give the key itself`);
	const { mode, text } = await contentOf(files, place.keyFile).catch((error: { code?: string; message?: string }) => {
		throw new TypeError(`${place.name} cannot be read: ${error.code ?? error.message}`);
	});
	const { process } = globalThis as { process?: { platform?: string } };
	if (process?.platform !== "win32" && (mode & 0o077) !== 0)
		throw new TypeError(
			`${place.name} can be read by others (mode ${(mode & 0o777).toString(8).padStart(4, "0")}): make it yours alone, chmod 600`,
		);
	const key = text.trim();
	if (!/^[\x21-\x7e]+$/.test(key))
		throw new TypeError(`${place.name} holds no key: it must have the text that \`spine key create\` showed, alone`);
	return key;
}

async function contentOf(files: Files, path: string): Promise<{ mode: number; text: string }> {
	const file = await files.open(path, "r");
	try {
		const { mode, size } = await file.stat();
		return { mode, text: size > KEY_MAX_BYTES ? "" : await file.readFile("latin1") };
	} finally {
		await file.close();
	}
}
