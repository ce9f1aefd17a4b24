// Handoffs that wait for a person: read, and decide, one or several at a time.
import { useState } from "preact/hooks";
import { asProblem, call, path } from "../api";
import { count, plural } from "../format";
import { Empty, Failure, FromTo, More, Panel, Pill, Table, Time, Title, Waiting } from "../parts/basics";
import { Dialog, Field } from "../parts/dialog";
import { say } from "../parts/notes";
import { useResource } from "../resource";
import { go, link } from "../router";
import { by } from "../settings";
import type { Handoff, Parked as ParkedHandoff } from "../types";
import { Events, Prompt } from "./hop";

const PAGE = 50;
type Verb = "redrive" | "reroute" | "shrink" | "discard";
const verbs: readonly Verb[] = ["redrive", "reroute", "shrink", "discard"];
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
		what: "It ends here. It can still be read, and never be sent again.",
		done: "discarded",
	},
};

/** One after the other: what fails is told, and the rest goes on. */
async function decide(
	space: string,
	verb: Verb,
	ids: readonly string[],
	body: Record<string, unknown>,
): Promise<string[]> {
	const refused: string[] = [];

	for (const id of ids) {
		try {
			await call(space, "POST", path("parked", id, verb), { body: { ...body, by: by() } });
		} catch (error) {
			refused.push(`${id}: ${asProblem(error).message}`);
		}
	}
	return refused;
}

function Decision({
	space,
	verb,
	ids,
	close,
	done,
}: {
	space: string;
	verb: Verb;
	ids: readonly string[];
	close: () => void;
	done: () => void;
}) {
	const [why, setWhy] = useState("");
	const [to, setTo] = useState("");
	const [tokens, setTokens] = useState("2000");
	const { title, what, done: did } = meanings[verb];
	const submit = async () => {
		const refused = await decide(space, verb, ids, {
			...(why ? { why } : {}),
			...(verb === "reroute" ? { to } : {}),
			...(verb === "shrink" ? { max_tokens: Number(tokens) } : {}),
		});
		const changed = ids.length - refused.length;
		if (changed === 0) throw new Error(refused.join("; "));
		say(`${plural(changed, "handoff")} ${did}`);
		for (const text of refused) say(text, true);
		done();
	};

	return (
		<Dialog
			title={`${title} ${ids.length === 1 ? ids[0] : plural(ids.length, "handoff")}`}
			action={title}
			isDangerous={verb === "discard"}
			close={close}
			submit={submit}
		>
			<p>{what}</p>
			{verb === "reroute" && (
				<Field label="To which agent">
					<input
						required
						maxLength={128}
						value={to}
						autocomplete="off"
						onInput={(event) => setTo(event.currentTarget.value)}
					/>
				</Field>
			)}
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
		</Dialog>
	);
}

function Verbs({ ids, ask }: { ids: readonly string[]; ask: (verb: Verb, ids: readonly string[]) => void }) {
	return (
		<div class="buttons">
			{verbs.map((verb) => (
				<button
					key={verb}
					type="button"
					class={verb === "discard" ? "danger" : verb === "redrive" ? "primary" : ""}
					disabled={ids.length === 0}
					title={meanings[verb].what}
					onClick={() => ask(verb, ids)}
				>
					{meanings[verb].title}
					{verb === "redrive" ? "" : "…"}
				</button>
			))}
		</div>
	);
}

function One({ space, id, ask }: { space: string; id: string; ask: (verb: Verb, ids: readonly string[]) => void }) {
	const found = useResource(
		`${space} parked one ${id}`,
		(signal) => call<Handoff>(space, "GET", path("handoffs", id), { signal }),
		{ topics: ["handoff."] },
	);
	const handoff = found.data;

	return (
		<Panel title={id} aside={handoff && <FromTo from={handoff.from} to={handoff.to} />}>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!handoff && !found.problem && <Waiting />}
			{handoff && (
				<>
					{handoff.state === "parked" ? (
						<>
							<p class="reason" dir="auto">
								{handoff.reason}
							</p>
							<Verbs ids={[id]} ask={ask} />
						</>
					) : (
						<p>
							It is <Pill>{handoff.state}</Pill> now.
						</p>
					)}
					<h3>What happened</h3>
					<Events events={handoff.events ?? []} />
					<h3>The envelope, as the receiver would read it</h3>
					<Prompt space={space} id={handoff.envelope_id} />
				</>
			)}
		</Panel>
	);
}

function Rows({
	parked,
	open,
	chosen,
	choose,
}: {
	parked: readonly ParkedHandoff[];
	open: string | undefined;
	chosen: ReadonlySet<string>;
	choose: (ids: ReadonlySet<string>) => void;
}) {
	const toggle = (id: string) => {
		const next = new Set(chosen);
		if (!next.delete(id)) next.add(id);
		choose(next);
	};
	const isAll = parked.every((one) => chosen.has(one.id));

	return (
		<Table label="Parked handoffs">
			<thead>
				<tr>
					<th scope="col">
						<input
							type="checkbox"
							aria-label="Choose all"
							checked={isAll}
							onChange={() => choose(new Set(isAll ? [] : parked.map((one) => one.id)))}
						/>
					</th>
					<th scope="col">Handoff</th>
					<th scope="col">Reason</th>
					<th scope="col" class="n">
						Tries
					</th>
					<th scope="col">Parked</th>
				</tr>
			</thead>
			<tbody>
				{parked.map((one) => (
					<tr key={one.id} class={one.id === open ? "open" : ""}>
						<td>
							<input
								type="checkbox"
								aria-label={`Choose ${one.id}`}
								checked={chosen.has(one.id)}
								onChange={() => toggle(one.id)}
							/>
						</td>
						<th scope="row">
							<a href={link("parked", one.id)} aria-current={one.id === open ? "true" : undefined}>
								{one.id}
							</a>
							<div class="faint">
								<FromTo from={one.from} to={one.to} />
							</div>
						</th>
						<td class="wide">
							<span class="clamp" dir="auto">
								{one.reason}
							</span>
						</td>
						<td class="n">{count(one.attempt)}</td>
						<td>
							<Time at={one.changed_at} />
						</td>
					</tr>
				))}
			</tbody>
		</Table>
	);
}

export function Parked({ space, id }: { space: string; id: string | undefined }) {
	const [size, setSize] = useState(PAGE);
	const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
	const [asked, ask] = useState<{ verb: Verb; ids: readonly string[] }>();
	const list = useResource(
		`${space} parked ${size}`,
		(signal) =>
			call<{ parked: ParkedHandoff[]; next_page_token: string | null }>(space, "GET", "v1/parked", {
				query: { page_size: size },
				signal,
			}),
		{ topics: ["handoff."] },
	);
	const parked = list.data?.parked ?? [];
	// What has gone meanwhile is not decided about.
	const present = parked.filter((one) => chosen.has(one.id)).map((one) => one.id);
	const begin = (verb: Verb, ids: readonly string[]) => ask({ verb, ids });

	return (
		<>
			<Title
				aside={
					list.data && (
						<span class="faint">
							{plural(parked.length, "handoff")}
							{list.data.next_page_token && ", and more"}
						</span>
					)
				}
			>
				Parked
			</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.data && !list.problem && <Waiting />}
			{list.data && parked.length === 0 && (
				<Empty title="Nothing is parked">
					<p>
						A handoff comes here when its attempts and fallbacks are used up, when it goes in circles, or when somebody
						parks it. Nothing leaves by itself.
					</p>
				</Empty>
			)}
			<div class={id ? "split" : ""}>
				{parked.length > 0 && (
					<div>
						<div class="bulk" role="group" aria-label="Decide about all that are chosen">
							<span class="faint">
								{present.length ? `${count(present.length)} chosen` : "Choose some to decide about them together"}
							</span>
							<Verbs ids={present} ask={begin} />
						</div>
						<Rows parked={parked} open={id} chosen={chosen} choose={choose} />
						<More
							shown={parked.length}
							next={list.data?.next_page_token}
							more={() => setSize(Math.min(1000, size * 2))}
						/>
					</div>
				)}
				{id && <One key={id} space={space} id={id} ask={begin} />}
			</div>
			{asked && (
				<Decision
					space={space}
					verb={asked.verb}
					ids={asked.ids}
					close={() => ask(undefined)}
					done={() => {
						choose(new Set());
						list.reload();
						if (id && asked.ids.includes(id)) go(link("parked"));
					}}
				/>
			)}
		</>
	);
}
