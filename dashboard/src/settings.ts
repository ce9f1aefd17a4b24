// What a person has chosen. The theme, the name and the spaces seen stay in the browser; the key goes with the tab.
import { Store } from "./store";

export type Theme = "auto" | "light" | "dark";

const SPACES_MAX = 30;

// Storage may be forbidden; then nothing is remembered, and everything else works.
function read(storage: "localStorage" | "sessionStorage", name: string): string {
	try {
		return window[storage].getItem(`spine.${name}`) ?? "";
	} catch {
		return "";
	}
}

function write(storage: "localStorage" | "sessionStorage", name: string, value: string): void {
	try {
		if (value) window[storage].setItem(`spine.${name}`, value);
		else window[storage].removeItem(`spine.${name}`);
	} catch {
		// Remembered until the page is closed.
	}
}

function readTheme(): Theme {
	const theme = read("localStorage", "theme");
	return theme === "light" || theme === "dark" ? theme : "auto";
}

export const theme = new Store<Theme>(readTheme());
export const person = new Store<string>(read("localStorage", "person"));
export const key = new Store<string>(read("sessionStorage", "key"));
export const keyIsNeeded = new Store<boolean>(false);
export const spaces = new Store<readonly string[]>(read("localStorage", "spaces").split(" ").filter(Boolean));

function applyTheme(): void {
	const chosen = theme.get();
	if (chosen === "auto") delete document.documentElement.dataset["theme"];
	else document.documentElement.dataset["theme"] = chosen;
	write("localStorage", "theme", chosen === "auto" ? "" : chosen);
}

theme.subscribe(applyTheme);
applyTheme();
person.subscribe(() => write("localStorage", "person", person.get()));
key.subscribe(() => write("sessionStorage", "key", key.get()));
spaces.subscribe(() => write("localStorage", "spaces", spaces.get().join(" ")));

/** Who decides, in the events and the audit trail. */
export function by(): string {
	return person.get() || "dashboard";
}

/** The newest first. */
export function rememberSpace(name: string): void {
	if (spaces.get()[0] !== name) spaces.set([name, ...spaces.get().filter((one) => one !== name)].slice(0, SPACES_MAX));
}

export function lastSpace(): string {
	return spaces.get()[0] ?? "default";
}

export function isSpaceName(name: string): boolean {
	return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name);
}
