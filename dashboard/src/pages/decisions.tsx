// What a person decides about handoffs, one or many: what is parked is sent again, given to another agent, made smaller or ended; what is queued is
// cancelled or moved. What would happen is shown before anything does, and what can be undone is offered to be.
import { useEffect, useState } from "preact/hooks";
import { asProblem, call, path } from "../api";
import { count, plural, words } from "../format";
import { Failure, Name } from "../parts/basics";
import { Dialog, Field } from "../parts/dialog";
import { useAgents } from "../parts/filters";
import { say } from "../parts/notes";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { by, may, session } from "../identity";
import { useStore } from "../store";
import type { Decided } from "../types";

export type ParkedVerb = "redrive" | "reroute" | "shrink" | "discard";
export type QueuedVerb = "cancel" | "move";
export type Verb = ParkedVerb | QueuedVerb;

export const parkedVerbs: readonly ParkedVerb[] = ["redrive", "reroute", "shrink", "discard"];
export const queuedVerbs: readonly QueuedVerb[] = ["move", "cancel"];

const meanings: Readonly<Record<Verb, { readonly title: string; readonly what: string; readonly done: string }>> = {
	redrive: { title: "Redrive", what: "To the same agent again, with new attempts.", done: "sent again" },
	reroute: { title: "Reroute", what: "To another agent.", done: "sent to another agent" },
	shrink: {
		title: "Shrink",
		what: "A new, smaller envelope in the same place of the chain replaces it.",
		done: "replaced by a smaller one",
	},
	discard: {
		title: "Discard",
		what: "It ends here. It can still be read, and be restored.",
		done: "discarded",
	},
	cancel: {
		title: "Cancel",
		what: "It leaves the queue and ends here: nobody gets it. It can be restored, and is parked then.",
		done: "cancelled",
	},
	move: { title: "Move", what: "It goes into the queue of another agent, with new attempts.", done: "moved" },
};

/** What a filter of the page says, as the server takes it. */
export type Filter = Readonly<Record<string, string>>;

/** Some that were chosen, or all that a filter finds. */
export type Selection =
	| { readonly ids: readonly string[] }
	| { readonly filter: Filter; readonly total: number };

export function sizeOf(selection: Selection): number {
	return "ids" in selection ? selection.ids.length : selection.total;
}

interface Outcome {
	readonly done: readonly string[];
	readonly refused: readonly string[];
}

const AT_ONCE = 100;

function bodyOf(selection: Selection): Record<string, unknown> {
	if ("ids" in selection) return { ids: selection.ids };
	return Object.keys(selection.filter).length ? { ...selection.filter } : { all: true };
}

function placeOf(verb: Verb | "restore"): string {
	return path(verb === "cancel" || verb === "move" ? "queued" : "parked", verb);
}

/** In steps of a hundred, each of them whole or not at all. */
async function decideMany(
	space: string,
	verb: Verb | "restore",
	selection: Selection,
	more: Record<string, unknown>,
	tell: (done: number) => void,
): Promise<Outcome> {
	const parts: Selection[] = [];
	const done: string[] = [];
	const refused: string[] = [];

	if ("ids" in selection)
		for (let i = 0; i < selection.ids.length; i += AT_ONCE) parts.push({ ids: selection.ids.slice(i, i + AT_ONCE) });
	else parts.push(selection);
	for (const part of parts) {
		let after: string | null = null;
		do {
			const answer: Decided = await call<Decided>(space, "POST", placeOf(verb), {
				body: { ...bodyOf(part), ...more, limit: AT_ONCE, by: by(), ...(after ? { after } : {}) },
			});
			done.push(...answer.done.map((one) => one.id));
			refused.push(...answer.refused.map((one) => `${one.id}: ${one.detail}`));
			after = answer.next_after;
			tell(done.length);
		} while (after);
	}
	return { done, refused };
}

/** One after the other: what fails is told, and the rest goes on. */
async function decideEach(
	space: string,
	address: (id: string) => string,
	ids: readonly string[],
	body: Record<string, unknown>,
	tell: (done: number) => void,
): Promise<Outcome> {
	const done: string[] = [];
	const refused: string[] = [];

	for (const id of ids) {
		try {
			await call(space, "POST", address(id), { body: { ...body, by: by() } });
			done.push(id);
			tell(done.length);
		} catch (error) {
			refused.push(`${id}: ${asProblem(error).message}`);
		}
	}
	return { done, refused };
}

const REFUSED_SHOWN_MAX = 2;

function sayRefused(refused: readonly string[]): void {
	for (const text of refused.slice(0, REFUSED_SHOWN_MAX)) say(text, true);
	if (refused.length > REFUSED_SHOWN_MAX) say(`${count(refused.length - REFUSED_SHOWN_MAX)} more were refused`, true);
}

interface Choices {
	readonly why: string;
	readonly to: string;
	readonly tokens: string;
}

function act(
	space: string,
	verb: Verb,
	selection: Selection,
	{ why, to, tokens }: Choices,
	tell: (done: number) => void,
): Promise<Outcome> {
	const ids = "ids" in selection ? selection.ids : [];
	const reason = why ? { why } : {};
	const target = to.trim();

	switch (verb) {
		case "move":
			return decideMany(space, verb, selection, { ...reason, move_to: target }, tell);
		case "shrink":
			return decideEach(space, (id) => path("parked", id, verb), ids, { ...reason, max_tokens: Number(tokens) }, tell);
		case "reroute":
			return decideMany(space, verb, selection, { ...reason, reroute_to: target }, tell);
		default:
			return decideMany(space, verb, selection, reason, tell);
	}
}

/** Parks again what was discarded, or sent again and not taken yet. */
export async function restore(space: string, ids: readonly string[]): Promise<void> {
	try {
		const { done, refused } = await decideMany(space, "restore", { ids }, { why: "undone" }, () => undefined);
		if (done.length) say(`${plural(done.length, "handoff")} parked again`);
		sayRefused(refused);
	} catch (error) {
		say(asProblem(error).message, true);
	}
}

const LISTED_MAX = 6;

interface Item {
	readonly id: string;
	readonly to?: string;
	readonly summary?: string | null;
}

function Listed({ items, total }: { items: readonly Item[]; total: number }) {
	return (
		<ul class="listed">
			{items.slice(0, LISTED_MAX).map((item) => (
				<li key={item.id}>
					<span class="ids">{item.id}</span> {item.to && <Name>{item.to}</Name>}{" "}
					<span class="faint clamp-one" dir="auto">
						<Seen text={item.summary} />
					</span>
				</li>
			))}
			{total > LISTED_MAX && <li class="faint">and {count(total - Math.min(items.length, LISTED_MAX))} more</li>}
		</ul>
	);
}

/** "translator 40, coder 18" */
function byAgent(items: readonly Item[]): string {
	const counts = new Map<string, number>();

	for (const { to } of items) if (to) counts.set(to, (counts.get(to) ?? 0) + 1);
	return [...counts]
		.sort((a, b) => b[1] - a[1])
		.slice(0, 5)
		.map(([agent, n]) => `${agent} ${count(n)}`)
		.join(", ");
}

let openings = 0;

/** What would happen, asked of the server. Nothing is changed by it. */
function usePreview(space: string, verb: Verb, selection: Selection, to: string) {
	// Of now: what was seen when the dialog was last open may be over.
	const [opening] = useState(() => ++openings);
	const needsAgent = verb === "reroute" || verb === "move";
	const isWanted = verb !== "shrink" && (!needsAgent || to.trim() !== "");
	const body = {
		...bodyOf(selection),
		dry_run: true,
		limit: AT_ONCE,
		...(verb === "reroute" ? { reroute_to: to.trim() } : {}),
		...(verb === "move" ? { move_to: to.trim() } : {}),
		...(verb === "discard" ? { why: "a preview" } : {}),
	};
	const preview = useResource(isWanted ? `${space} preview ${opening} ${verb} ${JSON.stringify(body)}` : null, (signal) =>
		call<Decided>(space, "POST", placeOf(verb), { body, signal }),
	);
	return { ...preview, isWanted };
}

function Preview({ answer }: { answer: Decided }) {
	const { done, refused, matched } = answer;
	const total = Math.max(matched - refused.length, done.length);

	return (
		<div class="preview" role="status">
			<p>
				<strong>{plural(total, "handoff")}</strong>
				{done.length === total && done.length > 1 && (
					<span class="faint">
						{" "}
						<bdi>{byAgent(done)}</bdi>
					</span>
				)}
			</p>
			<Listed items={done} total={total} />
			{refused.length > 0 && (
				<>
					<p class="tone-warn">{plural(refused.length, "handoff")} will stay:</p>
					<ul class="listed">
						{refused.slice(0, LISTED_MAX).map((one) => (
							<li key={one.id}>
								<span class="ids">{one.id}</span>{" "}
								<span class="faint" dir="auto">
									{one.detail || words(one.code)}
								</span>
							</li>
						))}
					</ul>
				</>
			)}
		</div>
	);
}

/** Back to the queues from which they came. */
async function moveBack(space: string, ids: readonly string[], items: readonly Item[]): Promise<void> {
	const back = items.filter((item) => ids.includes(item.id));
	let moved = 0;

	for (const { id, to } of back) {
		const body = { to, why: "undone" };
		const { done, refused } = await decideEach(space, (one) => path("handoffs", one, "move"), [id], body, () => undefined);
		moved += done.length;
		for (const text of refused) say(text, true);
	}
	if (moved) say(`${plural(moved, "handoff")} moved back`);
}

/** How to undo it; undefined: it cannot be. */
function undoOf(space: string, verb: Verb, ids: readonly string[], items: readonly Item[]) {
	// Of all that a filter found, the page does not know who had it.
	if (verb === "shrink" || (verb === "move" && items.length < ids.length)) return undefined;
	if (verb === "move") return { title: "Undo", run: () => moveBack(space, ids, items) };
	return { title: "Undo", run: () => restore(space, ids) };
}

/** A name, with those that are known to choose from. */
function AgentField({ space, value, change }: { space: string; value: string; change: (to: string) => void }) {
	const agents = useAgents(space) ?? [];

	return (
		<Field label="To which agent">
			<input
				required
				maxLength={128}
				value={value}
				list="known-agents"
				autocomplete="off"
				autocapitalize="none"
				spellcheck={false}
				onInput={(event) => change(event.currentTarget.value)}
			/>
			<datalist id="known-agents">
				{agents.map(({ name }) => (
					<option key={name} value={name} />
				))}
			</datalist>
		</Field>
	);
}

const TYPING_MS = 250;

/** The value, once nobody has typed for a moment. */
function useSettled(value: string): string {
	const [settled, settle] = useState(value);

	useEffect(() => {
		const timer = setTimeout(() => settle(value), TYPING_MS);
		return () => clearTimeout(timer);
	}, [value]);
	return settled;
}

export function Decision({
	space,
	verb,
	selection,
	items,
	close,
	done,
}: {
	space: string;
	verb: Verb;
	selection: Selection;
	/** What is known of those that were chosen. */
	items: readonly Item[];
	close: () => void;
	done: () => void;
}) {
	const [why, setWhy] = useState("");
	const [to, setTo] = useState("");
	const [tokens, setTokens] = useState("2000");
	const [progress, setProgress] = useState<number>();
	const settledTo = useSettled(to);
	const preview = usePreview(space, verb, selection, settledTo);
	const { title, what, done: did } = meanings[verb];
	const total = sizeOf(selection);
	const ids = "ids" in selection ? selection.ids : [];
	const isMany = total > 1;
	const mayNot = isMany && preview.isWanted && (!preview.data || settledTo !== to || preview.data.done.length === 0);
	const submit = async () => {
		const outcome = await act(space, verb, selection, { why, to, tokens }, (n) => isMany && setProgress(n));
		setProgress(undefined);
		if (outcome.done.length === 0) throw new Error(outcome.refused.join("; ") || "Nothing was left to be done.");
		say(`${plural(outcome.done.length, "handoff")} ${did}`, false, undoOf(space, verb, outcome.done, items));
		sayRefused(outcome.refused);
		done();
	};

	return (
		<Dialog
			title={`${title} ${"ids" in selection && !isMany ? ids[0] : plural(total, "handoff")}`}
			action={title}
			isDangerous={verb === "discard" || verb === "cancel"}
			isReady={!mayNot}
			close={close}
			submit={submit}
		>
			<p>{what}</p>
			{(verb === "reroute" || verb === "move") && <AgentField space={space} value={to} change={setTo} />}
			{verb === "shrink" && (
				<Field label="Tokens at most">
					<input
						type="number"
						required
						min={1}
						max={10_000_000}
						value={tokens}
						onInput={(event) => setTokens(event.currentTarget.value)}
					/>
				</Field>
			)}
			<Field label={verb === "discard" ? "Why" : "Why (optional)"} hint="It stays in the history of the handoff.">
				<input
					required={verb === "discard"}
					maxLength={1000}
					value={why}
					autocomplete="off"
					onInput={(event) => setWhy(event.currentTarget.value)}
				/>
			</Field>
			{preview.isWanted ? (
				<>
					{preview.problem && <Failure problem={preview.problem} />}
					{preview.data ? <Preview answer={preview.data} /> : !preview.problem && <p class="faint">Looking what would happen…</p>}
				</>
			) : (
				verb === "shrink" && isMany && <Listed items={items} total={total} />
			)}
			{progress !== undefined && (
				<p class="progress" role="status">
					<progress max={total} value={progress} aria-label="Done" /> {count(progress)} of {count(total)}
				</p>
			)}
		</Dialog>
	);
}

export function Verbs<T extends Verb>({
	verbs,
	count: chosen,
	disabled = [],
	first,
	ask,
}: {
	verbs: readonly T[];
	count: number;
	/** What cannot be done with these. */
	disabled?: readonly T[];
	/** What is usually done. */
	first?: T;
	ask: (verb: T) => void;
}) {
	const now = useStore(session);
	const allowed = verbs.filter((verb) => may(now, verb === "cancel" ? "write" : "admin"));

	return (
		<div class="buttons">
			{allowed.map((verb) => (
				<button
					key={verb}
					type="button"
					class={verb === "discard" || verb === "cancel" ? "danger" : verb === first ? "primary" : ""}
					disabled={chosen === 0 || disabled.includes(verb)}
					title={meanings[verb].what}
					onClick={() => ask(verb)}
				>
					{meanings[verb].title}
					{verb === "redrive" ? "" : "…"}
				</button>
			))}
		</div>
	);
}
