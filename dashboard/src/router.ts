// Addresses: #/SPACE/PAGE/PART…?name=value. The space is part of it, so that an address can be handed to somebody else.
import { Store } from "./store";
import { isSpaceName, lastSpace, rememberSpace } from "./settings";

export const pages = [
	"overview",
	"tasks",
	"queues",
	"parked",
	"agents",
	"channels",
	"memories",
	"handoffs",
	"keys",
	"cluster",
] as const;
export type Page = (typeof pages)[number];

export interface Place {
	readonly space: string;
	readonly page: Page;
	readonly parts: readonly string[];
	readonly query: URLSearchParams;
}

function decode(piece: string): string {
	try {
		return decodeURIComponent(piece);
	} catch {
		return piece;
	}
}

function parse(hash: string): Place {
	const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
	const [space = "", page = "", ...parts] = path.split("/").filter(Boolean).map(decode);

	return {
		space: isSpaceName(space) ? space : lastSpace(),
		page: pages.find((one) => one === page) ?? "overview",
		parts,
		query: new URLSearchParams(query),
	};
}

export const place = new Store<Place>(parse(location.hash));

function arrive(): void {
	place.set(parse(location.hash));
	rememberSpace(place.get().space);
}

window.addEventListener("hashchange", arrive);
arrive();

function address(space: string, pieces: readonly string[], query?: Record<string, string>): string {
	const text = query ? new URLSearchParams(query).toString() : "";
	return `#/${[space, ...pieces].map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** An address in the space that is looked at. */
export function link(page: Page, ...parts: string[]): string {
	return address(place.get().space, [page, ...parts]);
}

/** The same with something behind the question mark. */
export function linkWith(query: Record<string, string>, page: Page, ...parts: string[]): string {
	return address(place.get().space, [page, ...parts], query);
}

/** An address that the server gives, such as "/#/default/parked?agent=a"; undefined where it leads to no page of ours. */
export function ownLink(url: string | null | undefined): string | undefined {
	const hash = /^\/?(#\/.*)$/s.exec(url ?? "")?.[1];

	return hash && pageOf(hash) ? hash : undefined;
}

/** Which page an address of ours is of; undefined: of none. */
export function pageOf(hash: string): Page | undefined {
	const name = hash.split(/[/?]/)[2];
	return pages.find((page) => page === name);
}

export function go(href: string): void {
	location.hash = href;
}

/** Another space, the same page. */
export function spaceLink(space: string): string {
	return address(space, [place.get().page]);
}

/** Changes what stands behind the question mark, without a step in the history: it is called with every letter typed. */
export function setQuery(query: Record<string, string>): void {
	const { space, page, parts } = place.get();
	const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));

	history.replaceState(null, "", address(space, [page, ...parts], given));
	place.set(parse(location.hash));
}
