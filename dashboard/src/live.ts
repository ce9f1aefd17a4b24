// What happens on the server, as it happens: GET /v1/events read with fetch, because an EventSource cannot send headers.
//
//     connecting -> live -> lost -> (again, with the last id: nothing is missed) -> live
//                -> polling, where the server has no stream
//     live -> busy -> connecting: more happens than anybody can read
//
// A server that works at its limit would spend much of its time on telling a hundred dashboards about it. So the page hangs up when there is too
// much to hear, looks for itself now and then, and listens again later.
//
// A browser opens six connections to a server at most, for all of its tabs: a tab that nobody looks at gives its own back, and
// catches up when it is looked at again.
import { headers, problemOf } from "./api";
import { isOut, session } from "./identity";
import { Store } from "./store";
import type { LiveEvent } from "./types";

export type Connection =
	| { readonly state: "connecting" | "live" | "polling" | "busy" }
	| { readonly state: "lost"; readonly since: number; readonly retryAt: number };

const SILENCE_MAX_MS = 45_000; // the server says something every 15 seconds
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;
const POLL_MS = 4_000;
const BUSY_EVENTS = 300; // in a second
const BUSY_POLL_MS = 2_000;
const BUSY_POLLS = 6;
const HIDDEN_MS = 20_000;
const AWAY_MAX_MS = 300_000; // who was away longer is told how things are, not all that has happened
const RECENT_MAX = 40;
const SEED_EVENTS = 200;

export const connection = new Store<Connection>({ state: "connecting" });
/** The newest first. */
export const recent = new Store<readonly LiveEvent[]>([]);

type Listener = (types: readonly string[] | "all") => void;
const listeners = new Set<Listener>();

/** fn is told what kinds of things have happened, or "all" where that is not known. Returns what ends it. */
export function onChange(fn: Listener): () => void {
	listeners.add(fn);
	return () => listeners.delete(fn);
}

function tell(types: readonly string[] | "all"): void {
	for (const listener of [...listeners]) listener(types);
}

/** "com.memoryspine.handoff.acked" -> "handoff.acked" */
export function shortType(type: string): string {
	return type.replace(/^com\.memoryspine\./, "");
}

let space = "";
let lastId = "";
let lastHeardAt = 0;
let attempt: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let lostSince = 0;

/** Ids only grow. */
function advance(id: string): void {
	if (/^\d+$/.test(id) && Number(id) > Number(lastId)) lastId = id;
}

function remember(events: readonly LiveEvent[]): void {
	if (events.length === 0) return;
	for (const event of events) advance(event.id);
	recent.set([...[...events].reverse(), ...recent.get()].slice(0, RECENT_MAX));
}

// --- Reading the stream ---

/** One event of the stream: its lines without the empty one that ends it. */
function parseEvent(block: string): LiveEvent | undefined {
	let data = "";

	for (const line of block.split("\n")) {
		// "problem" says why the stream ends: going on is answered with the same.
		if (line.startsWith("event:")) return undefined;
		if (line.startsWith("id:")) advance(line.slice(3).trim());
		else if (line.startsWith("data:")) data += line.slice(5).replace(/^ /, "");
	}
	try {
		const event = data ? JSON.parse(data) : undefined;
		return typeof event?.type === "string" ? event : undefined;
	} catch {
		return undefined;
	}
}

/** Returns true where there was too much to hear, false where the stream has ended. */
async function readStream(body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<boolean> {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	let second = 0;
	let heardInSecond = 0;
	let watchdog: ReturnType<typeof setTimeout> | undefined;
	const heard = () => {
		lastHeardAt = Date.now();
		clearTimeout(watchdog);
		watchdog = setTimeout(() => void reader.cancel("silent").catch(() => undefined), SILENCE_MAX_MS);
	};

	try {
		for (heard(); ; heard()) {
			const { done, value } = await reader.read();
			if (done || signal.aborted) return false;
			const blocks = (rest + value.replaceAll("\r\n", "\n")).split("\n\n");
			rest = blocks.pop() ?? "";
			const events = blocks.map(parseEvent).filter((event) => event !== undefined);
			remember(events);
			if (events.length) tell(events.map((event) => shortType(event.type)));
			const now = Math.floor(Date.now() / 1000);
			heardInSecond = now === second ? heardInSecond + events.length : events.length;
			second = now;
			if (heardInSecond > BUSY_EVENTS) return true;
		}
	} finally {
		clearTimeout(watchdog);
	}
}

// --- The connection ---

/** The last things that happened before we looked; and from where on to listen, so that nothing falls between. */
async function seed(signal: AbortSignal): Promise<void> {
	const get = async (after: number, limit: number): Promise<{ events: LiveEvent[]; next: number; pruned_to?: number }> => {
		const answer = await fetch(`v1/events?after=${after}&limit=${limit}`, {
			headers: { ...headers(space), Accept: "application/json" },
			signal,
			cache: "no-store",
		});
		// Events are kept for a time only, and of these some are gone.
		if (answer.status === 410) return get((await answer.json()).pruned_to, limit);
		if (!answer.ok) throw await problemOf(answer);
		return answer.json();
	};
	const last = await get(Number.MAX_SAFE_INTEGER, 1);
	const page = await get(Math.max(0, last.next - SEED_EVENTS, last.pruned_to ?? 0), SEED_EVENTS);

	recent.set([]);
	remember(page.events);
	lastId = String(page.next);
}

function poll(signal: AbortSignal): void {
	connection.set({ state: "polling" });
	tell("all");
	timer = setTimeout(() => {
		if (!signal.aborted) poll(signal);
	}, POLL_MS);
}

/** Hangs up, looks a few times, and then listens again, from then on. */
function beBusy(polls: number): void {
	attempt?.abort();
	connection.set({ state: "busy" });
	tell("all");
	timer = setTimeout(() => {
		if (polls > 1) {
			beBusy(polls - 1);
		} else {
			lastId = "";
			void connect();
		}
	}, BUSY_POLL_MS);
}

function retry(signal: AbortSignal): void {
	const delay = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** failures) * (0.75 + Math.random() / 2);

	if (signal.aborted) return;
	failures++;
	lostSince ||= Date.now();
	connection.set({ state: "lost", since: lostSince, retryAt: Date.now() + delay });
	timer = setTimeout(() => void connect(), delay);
}

async function connect(): Promise<void> {
	attempt?.abort();
	clearTimeout(timer);
	attempt = new AbortController();
	const { signal } = attempt;

	try {
		if (lastId === "") await seed(signal);
		const answer = await fetch("v1/events", {
			headers: { ...headers(space), Accept: "text/event-stream", "Last-Event-ID": lastId },
			signal,
			cache: "no-store",
		});
		if (answer.status === 404) {
			poll(signal);
			return;
		}
		if (answer.status === 410) {
			// What happened since was pruned: the pages are drawn anew, and listen from now on.
			lastId = "";
			void connect();
			return;
		}
		if (!answer.ok || !answer.body) throw await problemOf(answer);
		failures = 0;
		lostSince = 0;
		connection.set({ state: "live" });
		// What was drawn may be from before the connection was lost, or from between its drawing and the stream's beginning.
		tell("all");
		if (await readStream(answer.body, signal)) {
			beBusy(BUSY_POLLS);
			return;
		}
	} catch (error) {
		if (error instanceof Error && "status" in error && error.status === 404) {
			poll(signal);
			return;
		}
	}
	if (isOut(session.get())) return;
	retry(signal);
}

/** Listens to a space from now on. */
export function listen(to: string): void {
	if (to === space) return;
	space = to;
	lastId = "";
	failures = 0;
	lostSince = 0;
	recent.set([]);
	connection.set({ state: "connecting" });
	void connect();
}

/** Tries at once, because somebody has asked for it. */
export function reconnect(): void {
	failures = 0;
	if (space) void connect();
}

function pause(): void {
	attempt?.abort();
	clearTimeout(timer);
	connection.set({ state: "connecting" });
}

let hiding: ReturnType<typeof setTimeout> | undefined;
let isPaused = false;

document.addEventListener("visibilitychange", () => {
	clearTimeout(hiding);
	if (document.hidden) {
		hiding = setTimeout(() => {
			isPaused = true;
			pause();
		}, HIDDEN_MS);
	} else if (isPaused) {
		isPaused = false;
		if (Date.now() - lastHeardAt > AWAY_MAX_MS) lastId = "";
		reconnect();
	}
});
window.addEventListener("online", reconnect);
// Who is not let in has nothing to listen to; it is not tried again until somebody signs in.
session.subscribe(() => isOut(session.get()) && pause());
