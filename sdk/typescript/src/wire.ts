/** The forms of things on the wire: names, headers, query parameters. @module */
import { type Shape, shapes } from "./generated/operations.js";

type Members = { readonly [member: string]: Shape };

const camelNames = new Map<string, string>();

function camel(name: string): string {
	let found = camelNames.get(name);
	if (found === undefined) {
		found = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
		camelNames.set(name, found);
	}
	return found;
}

function isObject(value: unknown): value is { [name: string]: unknown } {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function membersOf(shape: Shape): Members | undefined {
	if (typeof shape === "string") return shapes[shape];
	return isObject(shape) ? (shape as Members) : undefined;
}

/** What the server sent, with names in camelCase and times as Dates. What the shape does not know stays as it is. */
export function fromWire(value: unknown, shape: Shape): unknown {
	if (value === null || value === undefined || shape === 0) return value;
	if (shape === "Time") return new Date(String(value));
	if (Array.isArray(shape)) return Array.isArray(value) ? value.map((one) => fromWire(one, shape[0])) : value;
	const members = membersOf(shape);
	if (members === undefined || !isObject(value)) return value;
	const result: { [name: string]: unknown } = {};
	for (const [name, one] of Object.entries(value)) {
		const known = members[name];
		result[known === undefined ? name : camel(name)] = fromWire(one, known ?? 0);
	}
	return result;
}

/** What is sent: names as the protocol has them. A name that the shape does not know is sent as it is. */
export function toWire(value: unknown, shape: Shape): unknown {
	if (value === null || value === undefined || shape === 0 || value instanceof Date) return value;
	if (Array.isArray(shape)) return Array.isArray(value) ? value.map((one) => toWire(one, shape[0])) : value;
	const members = membersOf(shape);
	if (members === undefined || !isObject(value)) return value;
	const wireNames = new Map(Object.keys(members).map((name) => [camel(name), name]));
	const result: { [name: string]: unknown } = {};
	for (const [name, one] of Object.entries(value)) {
		const wireName = wireNames.get(name) ?? name;
		result[wireName] = toWire(one, members[wireName] ?? 0);
	}
	return result;
}

/** Which members a shape has, in camelCase. */
export function memberNames(shape: string): string[] {
	return Object.keys(shapes[shape] ?? {}).map(camel);
}

/** A query string with its "?", from names in camelCase; what is undefined is left out, lists are repeated. */
export function queryString(given: { readonly [name: string]: unknown }, names: readonly string[]): string {
	const wireNames = new Map(names.map((name) => [camel(name), name]));
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(given)) {
		const values: readonly unknown[] = Array.isArray(value) ? value : [value];
		for (const one of values)
			if (one !== undefined && one !== null)
				query.append(wireNames.get(name) ?? name, one instanceof Date ? one.toISOString() : String(one));
	}
	const text = query.toString();
	return text ? `?${text}` : "";
}

/** Whether a text arrives as it is in a header: no control characters, no blank at either end. */
export function isHeaderValue(value: string): boolean {
	return value.length > 0 && value === value.trim() && !/[\u0000-\u001f\u007f]/.test(value);
}

/** The bytes of a text in UTF-8, one character for each, which is what `fetch` takes for a header. */
export function headerValue(what: string, value: string): string {
	if (!isHeaderValue(value))
		throw new TypeError(
			`${what} ${JSON.stringify(value)} must not be empty, nor hold control characters, nor begin or end with a blank`,
		);
	return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
}

/** One piece of a path. */
export function pathPiece(what: string, value: unknown): string {
	if (typeof value !== "string" || value === "")
		throw new TypeError(`${what} must be a text that is not empty, not ${JSON.stringify(value)}`);
	// The URL of a request is made simple before it is sent, and there these two mean this place and the one above.
	if (value === "." || value === "..")
		throw new TypeError(`${what} ${JSON.stringify(value)} cannot be part of an address`);
	return encodeURIComponent(value);
}
