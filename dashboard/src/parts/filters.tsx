// What narrows a list. It stands in the address, so that a list can be handed to somebody else as it is.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { useResource } from "../resource";
import { place, setQuery } from "../router";
import { useStore } from "../store";
import type { Agent } from "../types";
import { Choice } from "./basics";

const PAUSE_MS = 120;
const AGENTS_MAX = 500;

/** From what the address says then: between two letters a filter may have been set. */
export function changeQuery(name: string, value: string): void {
	setQuery({ ...Object.fromEntries(place.get().query), [name]: value });
}

/** Searches while one types. */
export function SearchField({ name, label, hint }: { name: string; label: string; hint: string }) {
	const given = useStore(place).query.get(name) ?? "";
	const [typed, setTyped] = useState(given);
	const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
	const sent = useRef(given);

	// Somebody followed a link, or went back: the field says what is searched for.
	useEffect(() => {
		if (given !== sent.current) setTyped(given);
		sent.current = given;
	}, [given]);
	useEffect(() => () => clearTimeout(pause.current), []);
	return (
		<input
			type="search"
			aria-label={label}
			placeholder={hint}
			value={typed}
			maxLength={2000}
			autocomplete="off"
			spellcheck={false}
			onInput={(event) => {
				const { value } = event.currentTarget;
				setTyped(value);
				clearTimeout(pause.current);
				pause.current = setTimeout(() => {
					sent.current = value;
					changeQuery(name, value);
				}, PAUSE_MS);
			}}
		/>
	);
}

/** One of a few; the first is what holds where nothing is chosen. */
export function Select({
	name,
	label,
	options,
}: {
	name: string;
	label: string;
	options: readonly { readonly value: string; readonly title: string }[];
}) {
	const given = useStore(place).query.get(name) ?? "";

	return (
		<label class="inline">
			{label}{" "}
			<select aria-label={label} value={given} onChange={(event) => changeQuery(name, event.currentTarget.value)}>
				{options.map((option) => (
					<option key={option.value} value={option.value}>
						{option.title}
					</option>
				))}
			</select>
		</label>
	);
}

/** One of a few, all of them in sight. */
export function Choices({ name, label, options }: { name: string; label: string; options: readonly string[] }) {
	const given = useStore(place).query.get(name) ?? "";

	return (
		<Choice
			label={label}
			options={["all", ...options]}
			chosen={options.includes(given) ? given : "all"}
			choose={(option) => changeQuery(name, option === "all" ? "" : option)}
		/>
	);
}

/** Agents by name, and how delivery to each of them goes. */
export function useAgents(space: string): readonly Agent[] | undefined {
	return useResource(
		`${space} agents`,
		(signal) => call<{ agents: Agent[] }>(space, "GET", "v1/agents", { query: { page_size: AGENTS_MAX }, signal }),
		{ topics: ["handoff.", "breaker.", "agent."], gapMs: 2_000, everyMs: 15_000 },
	).data?.agents;
}

export function AgentSelect({ space, label = "Agent" }: { space: string; label?: string }) {
	const given = useStore(place).query.get("agent") ?? "";
	const names = new Set((useAgents(space) ?? []).map((agent) => agent.name));

	if (given) names.add(given);
	return (
		<Select
			name="agent"
			label={label}
			options={[{ value: "", title: "all" }, ...[...names].sort().map((value) => ({ value, title: value }))]}
		/>
	);
}

/** Shown where something is filtered. */
export function ClearFilters() {
	const { query } = useStore(place);

	return [...query.values()].some(Boolean) ? (
		<button type="button" class="quiet" onClick={() => setQuery({})}>
			Clear
		</button>
	) : null;
}
