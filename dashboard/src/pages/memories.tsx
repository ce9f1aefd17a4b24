// What the agents have learned: search as one types, and see why something was found.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { decimal, plural, shorten } from "../format";
import { Empty, Failure, Flags, More, Name, Pill, State, Time, Title, Trust, Waiting } from "../parts/basics";
import { changeQuery, SearchField } from "../parts/filters";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { link, place } from "../router";
import { useStore } from "../store";
import type { Explain, Memory } from "../types";
import { MemoryDetail } from "./memory";

const PAGE = 20;
const SNIPPET_MAX = 280;
const states = ["active", "superseded", "expired", "any"];
const kinds = ["note", "fact", "decision", "observation", "output"];

/** score = (text + neighbours) × (1 + importance + pinned + recency), with its figures. */
function Why({ score, explain }: { score: number; explain: Explain }) {
	const parts = [
		["importance", explain.importance],
		["pinned", explain.pinned],
		["recency", explain.recency],
	] as const;

	return (
		<details class="why">
			<summary>score {decimal(score, 2)}</summary>
			<p>
				(text {decimal(explain.text, 2)}
				<span class={explain.neighbours ? "" : "faint"}> + neighbours {decimal(explain.neighbours, 2)}</span>) × (1
				{parts.map(([name, value]) => (
					<span key={name} class={value ? "" : "faint"}>
						{" "}
						+ {name} {decimal(value, 2)}
					</span>
				))}
				)
			</p>
			<ul class="terms">
				{explain.terms.map((term) => (
					<li key={term.term}>
						<bdi>{term.term}</bdi>
						<meter min={0} max={Math.max(explain.text, 0.01)} value={term.score} aria-label={`share of ${term.term}`} />
						<span class="n">{decimal(term.score, 2)}</span>
						<span class="faint">{term.count}×</span>
					</li>
				))}
			</ul>
		</details>
	);
}

function Row({ memory, isOpen }: { memory: Memory; isOpen: boolean }) {
	return (
		<li class={`memory ${isOpen ? "open" : ""}`}>
			<div class="memory-head">
				<a
					href={`${link("memories", memory.id)}${location.hash.includes("?") ? `?${location.hash.split("?")[1]}` : ""}`}
					aria-current={isOpen ? "true" : undefined}
				>
					{memory.id}
				</a>
				<Name none="note">{memory.kind}</Name>
				{memory.pinned && <Pill tone="info">pinned</Pill>}
				{memory.state !== "active" && <State name={memory.state} />}
				{(memory.importance === "high" || memory.importance === "critical") && (
					<Pill tone="warn">{memory.importance}</Pill>
				)}
				<Trust trust={memory.trust} />
				<Flags flags={memory.flags} />
				<span class="faint">
					by <Name none="nobody">{memory.agent}</Name>, <Time at={memory.updated_at} />
					{memory.version > 1 && `, version ${memory.version}`}
				</span>
			</div>
			<p class="snippet" dir="auto">
				<Seen text={shorten(memory.summary ?? memory.content ?? "", SNIPPET_MAX)} />
			</p>
			{memory.tags.length > 0 && (
				<p class="tags">
					{memory.tags.slice(0, 12).map((tag) => (
						<bdi key={tag} class="tag">
							<Seen text={tag} />
						</bdi>
					))}
				</p>
			)}
			{memory.explain && memory.score !== undefined && <Why score={memory.score} explain={memory.explain} />}
		</li>
	);
}

function Filters({ query, change }: { query: URLSearchParams; change: (name: string, value: string) => void }) {
	return (
		<>
			<label class="inline">
				State{" "}
				<select
					value={query.get("state") ?? "active"}
					onChange={(event) => change("state", event.currentTarget.value === "active" ? "" : event.currentTarget.value)}
				>
					{states.map((state) => (
						<option key={state} value={state}>
							{state}
						</option>
					))}
				</select>
			</label>
			<label class="inline">
				Kind{" "}
				<select value={query.get("kind") ?? ""} onChange={(event) => change("kind", event.currentTarget.value)}>
					<option value="">all</option>
					{kinds.map((kind) => (
						<option key={kind} value={kind}>
							{kind}
						</option>
					))}
				</select>
			</label>
			<label class="inline">
				<input
					type="checkbox"
					checked={query.get("pinned") === "true"}
					onChange={(event) => change("pinned", event.currentTarget.checked ? "true" : "")}
				/>{" "}
				pinned only
			</label>
		</>
	);
}

export function Memories({ space, id }: { space: string; id: string | undefined }) {
	const { query } = useStore(place);
	const [size, setSize] = useState(PAGE);
	const wanted = {
		query: query.get("q") ?? "",
		state: query.get("state") ?? "",
		kind: query.get("kind") ?? "",
		pinned: query.get("pinned") ?? "",
	};
	const list = useResource(
		`${space} memories ${JSON.stringify(wanted)} ${size}`,
		(signal) =>
			call<{ memories: Memory[]; next_page_token: string | null }>(space, "GET", "v1/memories", {
				query: { ...wanted, page_size: size, ...(wanted.query.trim() ? { explain: true } : {}) },
				signal,
			}),
		{ topics: ["memory."] },
	);
	// The old list stays until the new one is there: nothing flickers under the typing hand.
	const last = useRef<typeof list.data>(undefined);

	if (list.data) last.current = list.data;
	useEffect(() => {
		last.current = undefined;
	}, [space]);
	const shown = list.data ?? (list.problem ? undefined : last.current);
	const memories = shown?.memories ?? [];
	const isFiltered = Object.values(wanted).some(Boolean);

	return (
		<>
			<Title
				aside={
					shown && (
						<span class="faint" role="status">
							{memories.length}
							{shown.next_page_token ? " or more" : ""} found
						</span>
					)
				}
			>
				Memories
			</Title>
			<div class="search" role="search">
				<SearchField
					name="q"
					label="Search memories"
					hint="Any words: content, summary and tags are searched"
				/>
				<Filters query={query} change={changeQuery} />
			</div>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!shown && !list.problem && <Waiting />}
			{shown &&
				memories.length === 0 &&
				(isFiltered ? (
					<Empty title="Nothing was found">
						<p>Words are compared by their stems, without case and accents; all of them need not be there.</p>
					</Empty>
				) : (
					<Empty title="No memory yet">
						<p>
							Agents store what they learn: <code>spine store 'Retries use backoff.'</code> or{" "}
							<code>spine.store(…)</code> in Python.
						</p>
					</Empty>
				))}
			<div class={id ? "split" : ""}>
				{memories.length > 0 && (
					<div>
						<ul class="memories" aria-label={plural(memories.length, "memory", "memories")}>
							{memories.map((memory) => (
								<Row key={memory.id} memory={memory} isOpen={memory.id === id} />
							))}
						</ul>
						<More
							shown={memories.length}
							next={shown?.next_page_token}
							more={() => setSize(Math.min(1000, size * 2))}
						/>
					</div>
				)}
				{id && <MemoryDetail key={id} space={space} id={id} />}
			</div>
		</>
	);
}
