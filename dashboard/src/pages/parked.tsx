// Handoffs that wait for a person: read, and decide, one, several, or all that a filter finds.
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { count, plural } from "../format";
import { Empty, Failure, FromTo, Name, Panel, Pill, Table, Time, Title, Waiting } from "../parts/basics";
import { Choose, ChooseAll, useChoosing, type Choosing } from "../parts/choosing";
import { AgentSelect, ClearFilters, SearchField, Select } from "../parts/filters";
import { QueueLink, Summary, TaskLink } from "../parts/handoffs";
import { MoreRows } from "../parts/more";
import { now } from "../parts/clock";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { go, link, linkWith, place } from "../router";
import { useRows, type Rows } from "../rows";
import { useStore } from "../store";
import type { Parked as ParkedHandoff, WholeHandoff } from "../types";
import { Decision, parkedVerbs, Verbs, type Filter, type ParkedVerb, type Selection } from "./decisions";
import { Attempts } from "./handoff";
import { Events, Prompt } from "./hop";

const PAGE = 50;
const times = [
	{ value: "", title: "at any time" },
	{ value: "since 900", title: "in the last 15 min" },
	{ value: "since 3600", title: "in the last hour" },
	{ value: "since 86400", title: "in the last day" },
	{ value: "before 3600", title: "over an hour ago" },
	{ value: "before 86400", title: "over a day ago" },
];

/** What the address says, as the server takes it. Times are rounded to the minute, so that the list is the same for a while. */
function filterOf(query: URLSearchParams, current: number): Filter {
	const [when, seconds] = (query.get("when") ?? "").split(" ");
	const at = new Date(Math.floor((current - Number(seconds) * 1000) / 60_000) * 60_000);
	const filter: Record<string, string> = {
		to: query.get("agent") ?? "",
		reason: (query.get("q") ?? "").trim(),
		task: query.get("task") ?? "",
	};

	if ((when === "since" || when === "before") && !Number.isNaN(at.getTime())) filter[when] = at.toISOString();
	return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

function One({ space, id, ask }: { space: string; id: string; ask: (verb: ParkedVerb) => void }) {
	const found = useResource(
		`${space} handoff ${id}`,
		(signal) => call<WholeHandoff>(space, "GET", path("handoffs", id), { signal }),
		{ topics: ["handoff."] },
	);
	const handoff = found.data;

	return (
		<Panel
			title={
				<>
					{id} <a href={link("handoffs", id)}>open</a>
				</>
			}
			aside={handoff && <FromTo from={handoff.from} to={handoff.to} />}
		>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!handoff && !found.problem && <Waiting />}
			{handoff && (
				<>
					{handoff.state === "parked" ? (
						<>
							<p class="reason" dir="auto">
								<Seen text={handoff.reason} />
							</p>
							<Verbs verbs={parkedVerbs} count={1} first="redrive" ask={ask} />
						</>
					) : (
						<p>
							It is <Pill>{handoff.state}</Pill> now.
						</p>
					)}
					<p class="facts-line">
						<TaskLink id={handoff.task} />
						<span dir="auto"><Seen text={handoff.summary} /></span>
					</p>
					<h3>Attempts</h3>
					<Attempts attempts={handoff.attempts} />
					<h3>What happened</h3>
					<Events events={handoff.events ?? []} isOne />
					<h3>The envelope, as the receiver would read it</h3>
					<Prompt space={space} id={handoff.envelope_id} />
				</>
			)}
		</Panel>
	);
}

function Row({ one, isOpen, choosing }: { one: ParkedHandoff; isOpen: boolean; choosing: Choosing }) {
	const query = Object.fromEntries(place.get().query);

	return (
		<tr class={isOpen ? "open" : ""}>
			<td class="box">
				<Choose id={one.id} choosing={choosing} />
			</td>
			<th scope="row">
				<a href={linkWith(query, "parked", one.id)} aria-current={isOpen ? "true" : undefined}>
					{one.id}
				</a>
				<div class="faint">
					<TaskLink id={one.task} />
				</div>
			</th>
			<td class="agent" data-label="for">
				<QueueLink agent={one.to} />{" "}
				<div class="faint">
					from <Name none="(unnamed)">{one.from}</Name>
				</div>
			</td>
			<td class="wide">
				<Summary>{one.summary}</Summary>
			</td>
			<td class="wide">
				<span class="clamp" dir="auto">
					<Seen text={one.reason} />
				</span>
			</td>
			<td class="n spare" data-label="tries">
				{count(one.attempt)}
			</td>
			<td class="spare" data-label="parked">
				<Time at={one.changed_at} />
			</td>
		</tr>
	);
}

function ParkedTable({
	parked,
	open,
	choosing,
}: {
	parked: readonly ParkedHandoff[];
	open: string | undefined;
	choosing: Choosing;
}) {
	return (
		<Table label="Parked handoffs" class="stack">
			<thead>
				<tr>
					<th scope="col">
						<span class="visually-hidden">Chosen</span>
					</th>
					<th scope="col">Handoff</th>
					<th scope="col">Agent</th>
					<th scope="col">What it is about</th>
					<th scope="col">Reason</th>
					<th scope="col" class="n spare">
						Tries
					</th>
					<th scope="col" class="spare">
						Parked
					</th>
				</tr>
			</thead>
			<tbody>
				{parked.map((one) => (
					<Row key={one.id} one={one} isOpen={one.id === open} choosing={choosing} />
				))}
			</tbody>
		</Table>
	);
}

/** Choosing and deciding, above the list. */
function Bulk({
	list,
	choosing,
	selection,
	isAll,
	setAll,
	ask,
}: {
	list: Rows<ParkedHandoff>;
	choosing: Choosing;
	selection: Selection;
	isAll: boolean;
	setAll: (isAll: boolean) => void;
	ask: (verb: ParkedVerb, selection: Selection) => void;
}) {
	const parked = list.rows ?? [];
	const total = list.total ?? parked.length;
	const chosen = "ids" in selection ? selection.ids.length : selection.total;
	const isEvery = parked.length > 0 && parked.every((one) => choosing.chosen.has(one.id));

	return (
		<div class={`bulk ${chosen ? "some" : ""}`} role="group" aria-label="Decide about all that are chosen">
			<label class="inline">
				<ChooseAll ids={parked.map((one) => one.id)} choosing={choosing} />
				<span role="status">
					{isAll ? `All ${count(total)} chosen` : chosen ? `${count(chosen)} chosen` : "Choose some to decide about them together"}
				</span>
			</label>
			{isEvery && total > parked.length && (
				<button type="button" onClick={() => setAll(!isAll)}>
					{isAll ? `Only the ${count(parked.length)} shown` : `Choose all ${count(total)}`}
				</button>
			)}
			<Verbs
				verbs={parkedVerbs}
				count={chosen}
				first={chosen ? "redrive" : undefined}
				disabled={isAll ? ["shrink"] : []}
				ask={(verb) => ask(verb, selection)}
			/>
		</div>
	);
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
	return isFiltered ? (
		<Empty title="Nothing that is parked fits">
			<p>Take a filter away to see the rest.</p>
		</Empty>
	) : (
		<Empty title="Nothing is parked">
			<p>
				A handoff comes here when its attempts and fallbacks are used up, when it has waited too long, or when somebody
				parks it. What an outage parked comes back by itself; everything else waits for a person.
			</p>
		</Empty>
	);
}

function Filters({ space, task }: { space: string; task: string | null }) {
	return (
		<div class="search" role="search">
			<SearchField name="q" label="Search the reasons" hint="Words of the reason" />
			<AgentSelect space={space} />
			<Select name="when" label="Parked" options={times} />
			<Select
				name="order"
				label="First"
				options={[
					{ value: "", title: "the oldest" },
					{ value: "newest", title: "the newest" },
				]}
			/>
			{task && (
				<span class="inline">
					Task <Name>{task}</Name>
				</span>
			)}
			<ClearFilters />
		</div>
	);
}

export function Parked({ space, id }: { space: string; id: string | undefined }) {
	const { query } = useStore(place);
	const current = useStore(now);
	const choosing = useChoosing();
	const [asked, ask] = useState<{ verb: ParkedVerb; selection: Selection }>();
	const filter = filterOf(query, current);
	const filterName = JSON.stringify(filter);
	const [allOf, setAllOf] = useState("");
	const list = useRows<ParkedHandoff>(space, "v1/parked", "parked", {
		query: { ...filter, order: query.get("order") ?? "" },
		size: PAGE,
		topics: ["handoff."],
	});
	const parked = list.rows ?? [];
	const total = list.total ?? parked.length;
	const isFiltered = Object.keys(filter).length > 0;
	// What has gone meanwhile is not decided about.
	const present = parked.filter((one) => choosing.chosen.has(one.id)).map((one) => one.id);
	const isAll = allOf === filterName && present.length === parked.length && total > parked.length;
	const selection: Selection = isAll ? { filter, total } : { ids: present };

	return (
		<>
			<Title
				aside={
					list.rows && (
						<span class="faint" role="status">
							{plural(total, "handoff")}
							{isFiltered && " of this filter"}
						</span>
					)
				}
			>
				Parked
			</Title>
			<Filters space={space} task={query.get("task")} />
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.rows && !list.problem && <Waiting />}
			{list.rows && parked.length === 0 && <Nothing isFiltered={isFiltered} />}
			{id && (
				<p class="back to-list">
					<a href={linkWith(Object.fromEntries(query), "parked")}>← All that are parked</a>
				</p>
			)}
			<div class={id ? "split master" : ""}>
				{parked.length > 0 && (
					<div>
						<Bulk
							list={list}
							choosing={choosing}
							selection={selection}
							isAll={isAll}
							setAll={(all) => setAllOf(all ? filterName : "")}
							ask={(verb, chosen) => ask({ verb, selection: chosen })}
						/>
						<ParkedTable parked={parked} open={id} choosing={choosing} />
						<MoreRows list={list} />
					</div>
				)}
				{id && <One key={id} space={space} id={id} ask={(verb) => ask({ verb, selection: { ids: [id] } })} />}
			</div>
			{asked && (
				<Decision
					space={space}
					verb={asked.verb}
					selection={asked.selection}
					items={parked.filter((one) => "ids" in asked.selection && asked.selection.ids.includes(one.id))}
					close={() => ask(undefined)}
					done={() => {
						choosing.clear();
						setAllOf("");
						list.reload();
						if (id && "ids" in asked.selection && asked.selection.ids.includes(id))
							go(linkWith(Object.fromEntries(place.get().query), "parked"));
					}}
				/>
			)}
		</>
	);
}
