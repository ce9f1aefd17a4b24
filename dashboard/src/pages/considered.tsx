// What an envelope was chosen from: for who wonders why an agent did not know something.
import { call, path } from "../api";
import { count, decimal, plural, words } from "../format";
import { Failure, Name, Pill, Table, Waiting } from "../parts/basics";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { link } from "../router";
import type { Considered as Account, ConsideredMemory, Envelope } from "../types";

const carriedFates: readonly string[] = ["full", "summary", "ref"];
const forms: Readonly<{ [fate: string]: string }> = { full: "in full", summary: "its summary", ref: "mentioned" };
const missingReasons: Readonly<{ [reason: string]: string }> = {
	unknown: "there is no such memory",
	forgotten: "was forgotten",
	expired: "had expired",
	unavailable: "could not be read",
};

/** Why it is not there, or not in full, as a person would say it. */
function reasonText({ reason, repeats }: ConsideredMemory, record: Account, envelope: Envelope): string {
	switch (reason) {
		case "budget":
		case "room":
			return `no room in ${count(envelope.budget.max_tokens)} tokens`;
		case "repetition":
			return `no room, repeats ${repeats ?? "another"}`;
		case "not_relevant":
			return `less relevant than ${decimal(record.floor, 3)}`;
		case "not_asked_for":
			return `beyond include_recent ${count(record.include_recent)}`;
		case "lazy":
		case "summary":
			return `by strategy ${reason}`;
		default:
			return words(reason ?? "");
	}
}

/** From 0 to 1, with a mark where the floor is. */
function Relevance({ value, floor, isCarried }: { value: number; floor?: number; isCarried: boolean }) {
	const share = (number: number) => `${100 * Math.min(1, Math.max(0, number))}%`;

	return (
		<span class="relevance">
			<span class={isCarried ? "bar" : "bar left"} aria-hidden="true">
				<span class="bar-fill" style={{ width: share(value) }} />
				{floor !== undefined && <span class="bar-mark" style={{ left: share(floor) }} />}
			</span>
			{decimal(value, 3)}
		</span>
	);
}

function Excerpt({ item }: { item: ConsideredMemory }) {
	if (item.text)
		return (
			<div class="excerpt" dir="auto" title={item.text}>
				<Seen text={item.text} />
			</div>
		);
	return <span class="faint">{item.fate === "ref" ? "" : "(its text is not shown, or was forgotten)"}</span>;
}

function Rows({
	label,
	items,
	missing,
	record,
	envelope,
}: {
	label: string;
	items: readonly ConsideredMemory[];
	missing?: Envelope["memory"]["missing"];
	record: Account;
	envelope: Envelope;
}) {
	const isCarried = missing === undefined;

	return (
		<Table label={label} class="considered">
			<thead>
				<tr>
					<th scope="col">Memory</th>
					<th scope="col">Relevance</th>
					<th scope="col">{isCarried ? "Why" : "Why not"}</th>
					<th scope="col">Text</th>
				</tr>
			</thead>
			<tbody>
				{items.map((item) => (
					<tr key={`${item.id} ${item.fate}`}>
						<th scope="row">
							<a href={link("memories", item.id)}>{item.id}</a>
						</th>
						<td>
							<Relevance value={item.relevance} floor={record.floor} isCarried={isCarried} />
						</td>
						<td class="reasons">
							{(isCarried || item.why !== "relevant") && <Name>{item.why}</Name>}{" "}
							{isCarried && item.fate !== "full" && <Pill tone="info">{forms[item.fate]}</Pill>}{" "}
							{item.reason && <span class="tone-warn">{reasonText(item, record, envelope)}</span>}
							{item.tokens !== null && <div class="faint">{plural(item.tokens, "token")}</div>}
						</td>
						<td class="wide">
							<Excerpt item={item} />
						</td>
					</tr>
				))}
				{missing?.map((one) => (
					<tr key={`missing ${one.id}`}>
						<th scope="row">{one.id}</th>
						<td class="faint">–</td>
						<td class="reasons">
							<span class="tone-warn">{missingReasons[one.reason] ?? words(one.reason)}</span>
						</td>
						<td class="wide" />
					</tr>
				))}
			</tbody>
		</Table>
	);
}

function Rules({ record }: { record: Account }) {
	if (!record.recorded)
		return (
			<p class="faint">
				What was passed over is not known: this envelope was packed before that was recorded. What it carries, and what it
				had no room for, stands here.
			</p>
		);
	return (
		<p class="faint">
			Up to {count(record.include_recent)} come by relevance, of {decimal(record.floor, 3)} at least (the mark on the
			bars). What was named, decided, opened or pinned comes whatever its relevance.{" "}
			{record.scope === "space"
				? "Memories of all tasks were looked at."
				: "Memories of this task and those without one were looked at."}
		</p>
	);
}

export function Considered({ space, envelope }: { space: string; envelope: Envelope }) {
	const found = useResource(
		`${space} considered ${envelope.id}`,
		(signal) => call<Account>(space, "GET", path("envelopes", envelope.id, "considered"), { signal }),
		{ topics: ["memory."] },
	);

	if (found.problem) return <Failure problem={found.problem} retry={found.reload} />;
	if (!found.data) return <Waiting />;
	const record = found.data;
	const byRelevance = [...record.considered].sort((one, other) => other.relevance - one.relevance);
	const carried = byRelevance.filter((item) => carriedFates.includes(item.fate));
	const left = byRelevance.filter((item) => !carriedFates.includes(item.fate));
	const { missing } = envelope.memory;

	return (
		<>
			<Rules record={record} />
			<h3>In the prompt: {plural(carried.length, "memory", "memories")}</h3>
			{carried.length === 0 ? (
				<p class="faint">None: nothing was named or pinned, and nothing was relevant enough.</p>
			) : (
				<Rows label="In the prompt" items={carried} record={record} envelope={envelope} />
			)}
			<h3>Not in the prompt: {plural(left.length + missing.length, "memory", "memories")}</h3>
			{left.length + missing.length === 0 ? (
				<p class="faint">
					{record.recorded
						? "Nothing else has anything to do with the summary."
						: "Nothing that is known: all that was named was found, and fitted."}
				</p>
			) : (
				<Rows label="Not in the prompt" items={left} missing={missing} record={record} envelope={envelope} />
			)}
		</>
	);
}
