// Who one is to the server, as it says: which key the browser's cookie stands for, and what that may do. The key itself is not here.
import { Store } from "./store";
import { person } from "./settings";

export type Scope = "read" | "write" | "receive" | "admin";

export interface Identity {
	readonly id: string;
	readonly name: string;
	/** "*": all of them. */
	readonly space: string;
	readonly agent: string | null;
	readonly scopes: readonly Scope[];
	readonly trust: string;
	readonly expires_at: string | null;
}

export interface Session {
	/** "open": nobody needs a key. */
	readonly mode: "open" | "keys";
	readonly key: Identity | null;
}

/** Undefined until the server has said it. */
export const session = new Store<Session | undefined>(undefined);

export function identity(): Identity | null {
	return session.get()?.key ?? null;
}

/** The server does not let us in, or no longer. */
export function isOut(now: Session | undefined): boolean {
	return now?.mode === "keys" && now.key === null;
}

export function may(now: Session | undefined, scope: Scope): boolean {
	return !now?.key || now.key.scopes.includes(scope) || now.key.scopes.includes("admin");
}

/** Whether other spaces than one can be looked at. */
export function mayRoam(now: Session | undefined): boolean {
	return !now?.key || now.key.space === "*";
}

/** Who decides, in the events and the audit trail. The key of an agent speaks for that agent, and for nobody else. */
export function by(): string {
	return identity()?.agent ?? (person.get() || identity()?.name || "dashboard");
}
