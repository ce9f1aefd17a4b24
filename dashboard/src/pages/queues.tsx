// What waits for whom, since when and why; and what can be done about it.
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { count, plural } from "../format";
import { Breaker, Count, Empty, Failure, Name, Panel, Table, Time, Title, Waiting } from "../parts/basics";
import { Choose, ChooseAll, useChoosing, type Choosing } from "../parts/choosing";
import { useAgents } from "../parts/filters";
import { HandoffLink, Presence, QueueLink, Summary, TaskLink, WhyPill } from "../parts/handoffs";
import { MoreRows } from "../parts/more";
import { Seen } from "../parts/seen";
import { nearest } from "../names";
import { useResource } from "../resource";
import { link, linkWith, place } from "../router";
import { useRows } from "../rows";
import { useStore } from "../store";
import type { Agent, Queued, QueueSummary } from "../types";
import { BreakerOf } from "./agents";
import { Decision, queuedVerbs, Verbs, type QueuedVerb } from "./decisions";

const PAGE = 200;
const QUEUE_PAGE = 50;

function Row({ queue, near }: { queue: QueueSummary; near: string | undefined }) {
	const flying = queue.leased + queue.working;

	return (
		<tr>
			<th scope="row">
				<QueueLink agent={queue.agent} />
			</th>
			<td class="n" data-label="waiting">
				<Count value={queue.queued} />
			</td>
			<td data-label="since" class={queue.oldest_at ? "" : "nothing"}>
				<Time at={queue.oldest_at} none="–" />
			</td>
			<td class={queue.why ? "" : "nothing"}>
				<WhyPill why={queue.why} until={queue.until} />
				{queue.breaker.state !== "closed" && queue.why !== "held" && (
					<span class="faint">
						{" "}
						breaker <Breaker state={queue.breaker.state} />
					</span>
				)}
			</td>
			<td class={`n ${flying ? "" : "nothing"}`} data-label="in flight">
				<Count value={flying} />
			</td>
			<td class={`n ${queue.parked ? "" : "nothing"}`} data-label="parked">
				{queue.parked > 0 ? (
					<a href={linkWith({ agent: queue.agent }, "parked")}>
						<Count value={queue.parked} tone="bad" />
					</a>
				) : (
					<Count value={0} />
				)}
			</td>
			<td>
				<Presence of={queue} near={near} />
			</td>
		</tr>
	);
}

/** The longest wait first; then those for whom nothing waits. */
function byWait(one: QueueSummary, other: QueueSummary): number {
	return (one.oldest_at ?? "9").localeCompare(other.oldest_at ?? "9") || one.agent.localeCompare(other.agent);
}

function QueueTable({ space, queues }: { space: string; queues: readonly QueueSummary[] }) {
	const agents = useAgents(space) ?? [];

	return (
		<Table label="Queues" class="stack">
			<thead>
				<tr>
					<th scope="col">Agent</th>
					<th scope="col" class="n">
						Waiting
					</th>
					<th scope="col">Since</th>
					<th scope="col">Why</th>
					<th scope="col" class="n">
						In flight
					</th>
					<th scope="col" class="n">
						Parked
					</th>
					<th scope="col">The agent is</th>
				</tr>
			</thead>
			<tbody>
				{[...queues].sort(byWait).map((queue) => (
					<Row
						key={queue.agent}
						queue={queue}
						near={queue.presence === "never_seen" ? nearest(queue.agent, agents) : undefined}
					/>
				))}
			</tbody>
		</Table>
	);
}

function QueuedRow({ one, choosing }: { one: Queued; choosing: Choosing }) {
	return (
		<tr>
			<td class="box">
				<Choose id={one.id} choosing={choosing} />
			</td>
			<th scope="row">
				<HandoffLink id={one.id} />
				<div class="faint">
					<TaskLink id={one.task} />
				</div>
			</th>
			<td class="wide">
				<Summary>{one.summary}</Summary>
				<span class="faint">
					from <Name none="(unnamed)">{one.from}</Name>
				</span>
			</td>
			<td data-label="since">
				<Time at={one.since} />
			</td>
			<td>
				<WhyPill why={one.why} until={one.until} />
			</td>
			<td class="n" data-label="try">
				{count(one.attempt)} of {count(one.max_attempts)}
			</td>
		</tr>
	);
}

function QueuedTable({ queue, choosing }: { queue: readonly Queued[]; choosing: Choosing }) {
	return (
		<Table label="What waits, the next one first" class="stack">
			<thead>
				<tr>
					<th scope="col">
						<span class="visually-hidden">Chosen</span>
					</th>
					<th scope="col">Handoff</th>
					<th scope="col">What it is about</th>
					<th scope="col">Waits since</th>
					<th scope="col">Why</th>
					<th scope="col" class="n">
						Try
					</th>
				</tr>
			</thead>
			<tbody>
				{queue.map((one) => (
					<QueuedRow key={one.id} one={one} choosing={choosing} />
				))}
			</tbody>
		</Table>
	);
}

/** What the agent has in hand, of many the first. */
function AtWork({ agent }: { agent: Agent }) {
	if (agent.working_on.length === 0) return null;
	const total = agent.queue.leased + agent.queue.working;
	return (
		<Panel title="At work on">
			<ul class="plain-list">
				{agent.working_on.map((one) => (
					<li key={one.id}>
						<HandoffLink id={one.id} /> <TaskLink id={one.task} />{" "}
						<span class="clamp-one" dir="auto">
							<Seen text={one.summary} />
						</span>{" "}
						<span class="faint">
							since <Time at={one.since} />
							{one.receiver && (
								<>
									, <Name>{one.receiver}</Name>
								</>
							)}
						</span>
					</li>
				))}
				{total > agent.working_on.length && <li class="faint">and {count(total - agent.working_on.length)} more</li>}
			</ul>
		</Panel>
	);
}

/** One queue, with what can be done with it. */
function OneQueue({ space, name }: { space: string; name: string }) {
	const topics = ["handoff.", "breaker.", "agent."];
	const agent = useResource(
		`${space} agent ${name}`,
		(signal) => call<Agent>(space, "GET", path("agents", name), { signal }),
		{ topics, gapMs: 1_000, everyMs: 15_000 },
	);
	const list = useRows<Queued>(space, path("queues", name), "queue", {
		size: QUEUE_PAGE,
		topics,
		gapMs: 1_000,
		everyMs: 15_000,
	});
	const choosing = useChoosing();
	const [asked, ask] = useState<{ verb: QueuedVerb; ids: readonly string[] }>();
	const agents = useAgents(space) ?? [];
	const near = agent.data?.presence === "never_seen" ? nearest(name, agents) : undefined;
	const queue = list.rows ?? [];
	// What has gone meanwhile is not decided about.
	const present = queue.filter((one) => choosing.chosen.has(one.id)).map((one) => one.id);

	return (
		<>
			<p class="back">
				<a href={link("queues")}>← All queues</a>
			</p>
			<Title
				aside={
					agent.data && (
						<span class="inline">
							Breaker <BreakerOf space={space} agent={agent.data} reload={agent.reload} />
						</span>
					)
				}
			>
				Queue of <Name>{name}</Name>
			</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{agent.data && (
				<p class="facts-line">
					<Presence of={agent.data} near={near} />
					<a href={linkWith({ agent: name }, "agents")}>Settings</a>
					{agent.data.queue.parked > 0 && (
						<a href={linkWith({ agent: name }, "parked")}>{plural(agent.data.queue.parked, "handoff")} parked</a>
					)}
					<a href={linkWith({ agent: name, state: "open" }, "tasks")}>Open tasks</a>
				</p>
			)}
			{agent.data && <AtWork agent={agent.data} />}
			<h2>Waiting{agent.data && `: ${count(agent.data.queue.queued)}`}</h2>
			{!list.rows && !list.problem && <Waiting />}
			{list.rows && queue.length === 0 && <p class="faint">Nothing waits.</p>}
			{queue.length > 0 && (
				<div>
					<div class={`bulk ${present.length ? "some" : ""}`} role="group" aria-label="Decide about all that are chosen">
						<label class="inline">
							<ChooseAll ids={queue.map((one) => one.id)} choosing={choosing} />
							<span>{present.length ? `${count(present.length)} chosen` : "Choose some to move or cancel them"}</span>
						</label>
						<Verbs verbs={queuedVerbs} count={present.length} ask={(verb) => ask({ verb, ids: present })} />
					</div>
					<QueuedTable queue={queue} choosing={choosing} />
					<MoreRows list={list} />
				</div>
			)}
			{asked && (
				<Decision
					space={space}
					verb={asked.verb}
					selection={{ ids: asked.ids }}
					items={queue.filter((one) => asked.ids.includes(one.id))}
					close={() => ask(undefined)}
					done={() => {
						choosing.clear();
						list.reload();
						agent.reload();
					}}
				/>
			)}
		</>
	);
}

function AllQueues({ space }: { space: string }) {
	const list = useRows<QueueSummary>(space, "v1/queues", "queues", {
		size: PAGE,
		topics: ["handoff.", "breaker.", "agent."],
		gapMs: 1_000,
		everyMs: 15_000,
	});
	const queues = list.rows ?? [];
	const waiting = queues.reduce((sum, queue) => sum + queue.queued, 0);

	return (
		<>
			<Title
				aside={
					list.rows && (
						<span class="faint" role="status">
							{waiting === 0 ? "nothing waits" : `${plural(waiting, "handoff")} waiting`}
							{list.hasMore && ", and more"}
						</span>
					)
				}
			>
				Queues
			</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.rows && !list.problem && <Waiting />}
			{list.rows && queues.length === 0 && (
				<Empty title="Nothing is under way">
					<p>
						Whatever is sent to an agent waits here until it is taken. <a href={link("tasks")}>All tasks</a>
					</p>
				</Empty>
			)}
			{queues.length > 0 && <QueueTable space={space} queues={queues} />}
			<MoreRows list={list} />
		</>
	);
}

export function Queues({ space }: { space: string }) {
	const open = useStore(place).query.get("agent");

	return open ? <OneQueue key={open} space={space} name={open} /> : <AllQueues space={space} />;
}
