// Who works here, and how delivery to each of them goes.
import { useEffect, useState } from "preact/hooks";
import { asProblem, call, path } from "../api";
import { count, plural } from "../format";
import { Breaker, Count, Empty, Failure, Name, Pill, Table, Time, Title, Waiting } from "../parts/basics";
import { nearest } from "../names";
import { Dialog } from "../parts/dialog";
import { HandoffLink, Presence } from "../parts/handoffs";
import { MoreRows } from "../parts/more";
import { say } from "../parts/notes";
import { May } from "../parts/may";
import { Seen } from "../parts/seen";
import { linkWith } from "../router";
import { useRows } from "../rows";
import type { Agent } from "../types";

const PAGE = 200;

/** The breaker, and a button that closes it. */
export function BreakerOf({ space, agent, reload }: { space: string; agent: Agent; reload: () => void }) {
	const { breaker } = agent;
	const reset = async () => {
		try {
			await call(space, "POST", path("agents", agent.name, "reset"), { body: {} });
			say(`The breaker of ${agent.name} is closed`);
			reload();
		} catch (error) {
			say(asProblem(error).message, true);
		}
	};

	return (
		<span class="breaker">
			<Breaker state={breaker.state} />
			{breaker.state === "open" && (
				<span class="faint">
					tries again <Time at={breaker.reset_at} none="soon" />
				</span>
			)}
			{breaker.state !== "closed" && (
				<May scope="admin">
					<button type="button" onClick={() => void reset()} aria-label={`Reset the breaker of ${agent.name}`}>
						Reset
					</button>
				</May>
			)}
			{breaker.state === "closed" && breaker.failures > 0 && (
				<span class="tone-warn">{plural(breaker.failures, "failure")}</span>
			)}
		</span>
	);
}

function Delete({ space, agent, close, done }: { space: string; agent: Agent; close: () => void; done: () => void }) {
	return (
		<Dialog
			title={`Delete ${agent.name}`}
			action="Delete"
			isDangerous
			close={close}
			submit={async () => {
				await call(space, "DELETE", path("agents", agent.name));
				say(`${agent.name} is deleted`);
				done();
			}}
		>
			<p>
				Its settings and its place in this list go. What it did stays in the history. It is known again as soon as
				something is sent to it, or as it asks for work.
			</p>
		</Dialog>
	);
}

/** What it is at work on: the first in full, the others as a number. */
function Work({ agent }: { agent: Agent }) {
	const [first] = agent.working_on;

	if (!first) return null;
	const more = agent.queue.leased + agent.queue.working - 1;
	return (
		<div class="faint clamp">
			<HandoffLink id={first.id} />{" "}
			<bdi>
				<Seen text={first.summary} />
			</bdi>
			{more > 0 && `, and ${count(more)} more`}
		</div>
	);
}

/** How it wants its work, in one line. */
function Settings({ agent }: { agent: Agent }) {
	return (
		<span class="settings">
			<span>
				{agent.accepts.map((version) => (
					<Pill key={version} title="versions of the envelope that it reads">{`v${version}`}</Pill>
				))}
			</span>
			<span title="its budget, where the sender gives none">
				{agent.max_tokens === null ? <span class="faint">8,000 tokens</span> : `${count(agent.max_tokens)} tokens`}
			</span>
			<span title="time to the ack, and attempts">
				{agent.ack_timeout_s} s × {agent.max_attempts}
			</span>
			{agent.fallbacks.length > 0 && (
				<span>
					<span class="faint">else to</span>{" "}
					{agent.fallbacks.map((name, i) => (
						<span key={name}>
							{i > 0 && ", "}
							<Name>{name}</Name>
						</span>
					))}
				</span>
			)}
			{agent.webhook && (
				<span dir="ltr">
					<span class="faint">posted to</span> <bdi>{agent.webhook}</bdi>
				</span>
			)}
		</span>
	);
}

function Row({
	space,
	agent,
	near,
	isChosen,
	reload,
}: {
	space: string;
	agent: Agent;
	near: string | undefined;
	isChosen: boolean;
	reload: () => void;
}) {
	const { queue } = agent;
	const [isAsking, setAsking] = useState(false);
	const hasWork = queue.queued + queue.leased + queue.working + queue.parked > 0;

	return (
		<tr class={isChosen ? "open" : ""}>
			<th scope="row">
				<Name>{agent.name}</Name>
				{agent.description && (
					<div class="faint clamp" dir="auto">
						<Seen text={agent.description} />
					</div>
				)}
			</th>
			<td class={`n ${queue.queued ? "" : "nothing"}`} data-label="queued">
				{queue.queued > 0 ? (
					<a href={linkWith({ agent: agent.name }, "queues")} aria-label={`${queue.queued} queued for ${agent.name}`}>
						{count(queue.queued)}
					</a>
				) : (
					<Count value={0} />
				)}
			</td>
			<td class={`n ${queue.leased + queue.working ? "" : "nothing"}`} data-label="in flight">
				<Count value={queue.leased + queue.working} />
			</td>
			<td class={`n ${queue.parked ? "" : "nothing"}`} data-label="parked">
				{queue.parked > 0 ? (
					<a href={linkWith({ agent: agent.name }, "parked")} aria-label={`${queue.parked} parked for ${agent.name}`}>
						<Count value={queue.parked} tone="bad" />
					</a>
				) : (
					<Count value={0} />
				)}
			</td>
			<td class="normal">
				<Presence of={agent} near={near} hasWork={queue.queued > 0} />
				<Work agent={agent} />
			</td>
			<td data-label="breaker">
				<BreakerOf space={space} agent={agent} reload={reload} />
			</td>
			<td class="normal">
				<Settings agent={agent} />
			</td>
			<td>
				<May scope="admin">
					<button
						type="button"
						class="quiet in-row"
						disabled={hasWork}
						title={hasWork ? "It has open work." : undefined}
						aria-label={`Delete ${agent.name}`}
						onClick={() => setAsking(true)}
					>
						Delete…
					</button>
				</May>
				{isAsking && <Delete space={space} agent={agent} close={() => setAsking(false)} done={reload} />}
			</td>
		</tr>
	);
}

export function Agents({ space, chosen }: { space: string; chosen: string | undefined }) {
	const list = useRows<Agent>(space, "v1/agents", "agents", {
		size: PAGE,
		topics: ["handoff.", "breaker.", "agent."],
		everyMs: 15_000,
		gapMs: 1_000,
	});
	const agents = list.rows ?? [];
	const near = new Map(
		agents.filter((agent) => agent.presence === "never_seen").map((agent) => [agent.name, nearest(agent.name, agents)]),
	);

	// Whoever was sent here for one of them need not look for it.
	const isThere = agents.some((agent) => agent.name === chosen);
	useEffect(() => {
		if (isThere) document.querySelector("tr.open")?.scrollIntoView({ block: "center" });
	}, [chosen, isThere]);
	return (
		<>
			<Title aside={list.rows && <span class="faint">{plural(agents.length, "agent")}</span>}>Agents</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.rows && !list.problem && <Waiting />}
			{list.rows && agents.length === 0 && (
				<Empty title="No agent yet">
					<p>
						An agent is known when something is first sent to it, when it first asks for work, or by{" "}
						<code>spine agent NAME</code>.
					</p>
				</Empty>
			)}
			{agents.length > 0 && (
				<Table label="Agents" class="stack">
					<thead>
						<tr>
							<th scope="col">Agent</th>
							<th scope="col" class="n">
								Queued
							</th>
							<th scope="col" class="n">
								In flight
							</th>
							<th scope="col" class="n">
								Parked
							</th>
							<th scope="col">The agent is</th>
							<th scope="col">Breaker</th>
							<th scope="col">Settings</th>
							<th scope="col">
								<span class="visually-hidden">Delete</span>
							</th>
						</tr>
					</thead>
					<tbody>
						{agents.map((agent) => (
							<Row
								key={agent.name}
								space={space}
								agent={agent}
								near={near.get(agent.name)}
								isChosen={agent.name === chosen}
								reload={list.reload}
							/>
						))}
					</tbody>
				</Table>
			)}
			<MoreRows list={list} />
		</>
	);
}
