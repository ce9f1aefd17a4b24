/** Modules that Node, Deno and Bun have, and a browser has not. @module */

/** The name is no literal, so that who bundles for a browser leaves it alone. */
const load = (name: string): Promise<unknown> => import(name);

/** A module of the runtime, such as `node:fs`; undefined where it has none. */
export async function builtin<T>(name: string): Promise<T | undefined> {
	const { process } = globalThis as { process?: { versions?: { node?: string } } };
	if (process?.versions?.node === undefined) return undefined;
	try {
		return (await load(name)) as T;
	} catch {
		return undefined;
	}
}
