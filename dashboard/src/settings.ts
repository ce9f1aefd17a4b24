// What a person has chosen: the theme, the name and the spaces seen stay in the browser. No key is ever kept here.
import { Store } from "./store";

export type Theme = "auto" | "light" | "dark";

const SPACES_MAX = 30;

// Storage may be forbidden; then nothing is remembered, and everything else works.
function read(name: string): string {
	try {
		return localStorage.getItem(`spine.${name}`) ?? "";
	} catch {
		return "";
	}
}

function write(name: string, value: string): void {
	try {
		if (value) localStorage.setItem(`spine.${name}`, value);
		else localStorage.removeItem(`spine.${name}`);
	} catch {
		// Remembered until the page is closed.
	}
}

function readTheme(): Theme {
	const theme = read("theme");
	return theme === "light" || theme === "dark" ? theme : "auto";
}

export const theme = new Store<Theme>(readTheme());
export const person = new Store<string>(read("person"));
export const spaces = new Store<readonly string[]>(read("spaces").split(" ").filter(Boolean));

function applyTheme(): void {
	const chosen = theme.get();
	if (chosen === "auto") delete document.documentElement.dataset["theme"];
	else document.documentElement.dataset["theme"] = chosen;
	write("theme", chosen === "auto" ? "" : chosen);
}

theme.subscribe(applyTheme);
applyTheme();
person.subscribe(() => write("person", person.get()));
spaces.subscribe(() => write("spaces", spaces.get().join(" ")));

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
