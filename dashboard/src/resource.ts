// Something of the server that is shown, and kept as it is there: read when it is first needed, and again when something has happened to it.
//
// What several parts of a page show is read once for all of them. A server that is busy is not made busier: after a reading that took
// long, the next one waits longer.
import { useCallback, useEffect, useReducer, useRef } from "preact/hooks";
import { asProblem, type Problem } from "./api";
import { onChange } from "./live";

export interface Resource<T> {
	readonly data: T | undefined;
	readonly problem: Problem | undefined;
	readonly reload: () => void;
}

interface Options {
	/** Beginnings of the kinds of events that change it; none: it never changes. */
	readonly topics?: readonly string[];
	/** Read again after that time in any case. */
	readonly everyMs?: number;
	/** The shortest time between two readings. */
	readonly gapMs?: number;
}

const KEPT_MAX = 60;
const GAP_MS = 600;
/** At most so much of the time is spent reading. */
const READING_SHARE = 0.1;
/** But not for ever: a machine that slept in the middle of a reading has not read for hours. */
const GAP_MAX_MS = 10_000;

type Load = (signal: AbortSignal) => Promise<unknown>;

class Source {
	readonly name: string;
	data: unknown;
	problem: Problem | undefined;
	readonly #users = new Set<() => void>();
	#load: Load | undefined;
	#gapMs = GAP_MS;
	#abort: AbortController | undefined;
	#isWanted = false;
	#mayAt = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(name: string) {
		this.name = name;
	}

	/** Reads at once for the first who looks; whoever comes beside it is shown the same. */
	use(changed: () => void, load: Load, gapMs: number): () => void {
		this.#load = load;
		this.#gapMs = gapMs;
		this.#users.add(changed);
		if (this.#users.size === 1) this.want(true);
		// It may have come after this one was drawn, and before it was here to be told.
		else if (this.data !== undefined || this.problem) changed();
		return () => {
			this.#users.delete(changed);
			if (this.#users.size) return;
			clearTimeout(this.#timer);
			this.#timer = undefined;
			this.#abort?.abort();
			this.#abort = undefined;
			this.#isWanted = false;
		};
	}

	/** Soon, or now where somebody waits for it. One at a time: what is asked for meanwhile is done once, afterwards. */
	want(isUrgent = false): void {
		if (this.#abort) {
			this.#isWanted = true;
			return;
		}
		const wait = isUrgent ? 0 : this.#mayAt - performance.now();
		if (wait <= 0) {
			clearTimeout(this.#timer);
			this.#timer = undefined;
			void this.#read();
		} else {
			this.#timer ??= setTimeout(() => {
				this.#timer = undefined;
				void this.#read();
			}, wait);
		}
	}

	async #read(): Promise<void> {
		const mine = new AbortController();
		const beganAt = performance.now();

		this.#abort = mine;
		try {
			const data = await this.#load!(mine.signal);
			if (mine.signal.aborted) return;
			this.data = data;
			this.problem = undefined;
		} catch (error) {
			if (mine.signal.aborted) return;
			// What was there stays: the page says that the connection is lost, and the old is better than nothing.
			this.problem = asProblem(error);
			if (this.problem.status === 404) this.data = undefined;
		}
		const endedAt = performance.now();
		this.#abort = undefined;
		this.#mayAt = endedAt + Math.max(this.#gapMs, Math.min((endedAt - beganAt) / READING_SHARE, GAP_MAX_MS));
		for (const changed of [...this.#users]) changed();
		if (!this.#isWanted) return;
		this.#isWanted = false;
		this.want();
	}

	get isUsed(): boolean {
		return this.#users.size > 0;
	}
}

// What was shown before is there at once when somebody comes back to it, and is then read again.
const sources = new Map<string, Source>();

function sourceOf(name: string): Source {
	const source = sources.get(name) ?? new Source(name);

	sources.delete(name);
	sources.set(name, source);
	for (const [old, one] of sources) {
		if (sources.size <= KEPT_MAX) break;
		if (!one.isUsed) sources.delete(old);
	}
	return source;
}

/** name says what it is, the space included; null: nothing is wanted now. load must depend on nothing else. */
export function useResource<T>(
	name: string | null,
	load: (signal: AbortSignal) => Promise<T>,
	options: Options = {},
): Resource<T> {
	const [, redraw] = useReducer<number, void>((n) => n + 1, 0);
	const latest = useRef(load);
	const topics = (options.topics ?? []).join(" ");
	const { everyMs, gapMs = GAP_MS } = options;

	latest.current = load;
	useEffect(() => {
		if (name === null) return;
		const source = sourceOf(name);
		const prefixes = topics.split(" ").filter(Boolean);
		const stopUsing = source.use(
			() => redraw(),
			(signal) => latest.current(signal),
			gapMs,
		);
		const stopListening = onChange((types) => {
			if (
				prefixes.length &&
				(types === "all" || types.some((type) => prefixes.some((prefix) => type.startsWith(prefix))))
			)
				source.want();
		});
		const interval = everyMs ? setInterval(() => document.hidden || source.want(), everyMs) : undefined;

		return () => {
			stopListening();
			clearInterval(interval);
			stopUsing();
		};
	}, [name, topics, everyMs, gapMs]);

	const reload = useCallback(() => {
		if (name !== null) sourceOf(name).want(true);
	}, [name]);
	const source = name === null ? undefined : sources.get(name);
	return { data: source?.data as T | undefined, problem: source?.problem, reload };
}
