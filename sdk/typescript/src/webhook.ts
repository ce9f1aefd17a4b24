/** Receiving webhooks: is this really from the server, and is it new? @module */
import { WebhookError } from "./errors.js";
import type { Taken } from "./generated/types.js";
import { fromWire } from "./wire.js";

const PREFIX = "whsec_";

/** Options of {@link verifyWebhook}. */
export interface WebhookOptions {
	/** Seconds that it may be old, or early: 300. */
	readonly toleranceS?: number | undefined;
}

type HeadersLike = Headers | { readonly [name: string]: string | readonly string[] | undefined };

function headerOf(headers: HeadersLike, name: string): string {
	if (headers instanceof Headers) return headers.get(name)?.trim() ?? "";
	const found = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
	return String(found ?? "").trim();
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
	try {
		return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
	} catch {
		return undefined;
	}
}

async function keyOf(secret: string): Promise<CryptoKey> {
	const bytes = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : undefined;
	// The secret itself is not shown: errors end in logs.
	if (bytes === undefined || bytes.length < 24 || bytes.length > 64)
		throw new TypeError(
			"secret is not what registering the webhook answered: whsec_ and the base64 of 24 to 64 bytes",
		);
	return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/**
 * The handoff that the body of a webhook holds, where the server that knows the secret has sent it within the last
 * minutes. Anything else is a {@link WebhookError}: answer it with 401.
 *
 * The signatures are those of Standard Webhooks: any library for them verifies ours, too.
 *
 * @param headers of the request, in any case
 * @param body as it came, byte for byte: JSON that was read and written again has another signature
 * @param secret the agent's `webhookSecret`, as registering the webhook answered it
 */
export async function verifyWebhook(
	headers: HeadersLike,
	body: string | Uint8Array,
	secret: string,
	options: WebhookOptions = {},
): Promise<Taken> {
	const { toleranceS = 300 } = options;
	const key = await keyOf(secret);
	const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
		headerOf(headers, `webhook-${name}`),
	) as [string, string, string];
	if (!id || !signatures || !/^[0-9]{1,15}$/.test(timestamp))
		throw new WebhookError("webhook-id, webhook-timestamp or webhook-signature is missing", {
			code: "webhook_headers",
		});
	const text = typeof body === "string" ? body : new TextDecoder().decode(body);
	const data = typeof body === "string" ? new TextEncoder().encode(body) : body;
	const head = new TextEncoder().encode(`${id}.${timestamp}.`);
	const signed = new Uint8Array(head.length + data.length);
	signed.set(head);
	signed.set(data, head.length);
	if (!(await isSigned(key, signed, signatures)))
		throw new WebhookError("the signature is not that of this body with this secret", {
			code: "webhook_signature",
		});
	if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceS)
		throw new WebhookError(`the webhook is not of the last ${toleranceS} seconds`, { code: "webhook_timestamp" });
	return handoffIn(text);
}

/** There may be several: of the old secret and of the new, or of other versions. */
async function isSigned(key: CryptoKey, signed: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
	for (const one of signatures.split(" ")) {
		const signature = one.startsWith("v1,") ? bytesOf(one.slice(3)) : undefined;
		if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed))) return true;
	}
	return false;
}

function handoffIn(text: string): Taken {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		value = undefined;
	}
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw new WebhookError("the body is not a JSON object", { code: "webhook_body" });
	return fromWire(value, "Taken") as Taken;
}
