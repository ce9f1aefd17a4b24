// The time, for what says "3 min ago": one timer for all of them.
import { Store } from "../store";

const TICK_MS = 5_000;

export const now = new Store<number>(Date.now());
setInterval(() => {
	if (!document.hidden) now.set(Date.now());
}, TICK_MS);
document.addEventListener("visibilitychange", () => now.set(Date.now()));
