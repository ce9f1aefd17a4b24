// Signing in and out. The key is sent once and kept nowhere: not in the browser's storage, not in an address. The server answers with a cookie
// that no script can read, and that no other site can use.
import { asProblem, call } from "./api";
import { session, type Session } from "./identity";
import { place } from "./router";

/** Asks the server who we are. A server that cannot be asked is asked for everything else in vain, too, and the pages say so. */
export async function loadSession(): Promise<void> {
	try {
		session.set(await call<Session>(undefined, "GET", "v1/session"));
	} catch (error) {
		session.set({ mode: asProblem(error).status === 401 ? "keys" : "open", key: null });
	}
}

/** Throws where the server does not know the key. Else the page begins anew: nothing of who was here before stays in it. */
export async function signIn(key: string): Promise<void> {
	const now = await call<Session>(undefined, "POST", "v1/session", { body: { key } });
	const { space } = place.get();

	if (now.key && now.key.space !== "*" && now.key.space !== space) history.replaceState(null, "", `#/${now.key.space}/overview`);
	location.reload();
}

export async function signOut(): Promise<void> {
	await call(undefined, "DELETE", "v1/session");
	location.reload();
}
