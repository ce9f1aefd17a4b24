// Who works here, and how delivery to each of them goes.
import { useState } from "preact/hooks";
import { asProblem, call, path } from "../api";
import { count, plural } from "../format";
import { Breaker, Count, Empty, Failure, More, Name, Pill, Table, Time, Title, Waiting } from "../parts/basics";
import { say } from "../parts/notes";
import { useResource } from "../resource";
import type { Agent } from "../types";

const PAGE = 200;

function Row({
	space,
	agent,
	isChosen,
	reload,
}: {
	space: string;
	agent: Agent;
	isChosen: boolean;
	reload: () => void;
}) {
	const { queue, breaker } = agent;
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
		<tr class={isChosen ? "open" : ""}>
			<th scope="row">
				<Name>{agent.name}</Name>
				{agent.description && (
					<div class="faint clamp" dir="auto">
						{agent.description}
					</div>
				)}
			</th>
			<td class="n">
				<Count value={queue.queued} />
			</td>
			<td class="n">
				<Count value={queue.leased + queue.working} />
			</td>
			<td class="n">
				<Count value={queue.parked} tone="bad" />
			</td>
			<td>
				<span class="breaker">
					<Breaker state={breaker.state} />
					{breaker.state === "open" && (
						<span class="faint">
							tries again <Time at={breaker.reset_at} none="soon" />
						</span>
					)}
					{breaker.state !== "closed" && (
						<button type="button" onClick={() => void reset()} aria-label={`Reset the breaker of ${agent.name}`}>
							Reset
						</button>
					)}
					{breaker.state === "closed" && breaker.failures > 0 && (
						<span class="tone-warn">{plural(breaker.failures, "failure")}</span>
					)}
				</span>
			</td>
			<td>
				<Time at={agent.last_seen_at} />
			</td>
			<td>
				{agent.accepts.map((version) => (
					<Pill key={version}>{`v${version}`}</Pill>
				))}
			</td>
			<td class="n">{agent.max_tokens === null ? <span class="faint">8,000</span> : count(agent.max_tokens)}</td>
			<td class="n">
				{agent.ack_timeout_s} s × {agent.max_attempts}
			</td>
			<td>
				{agent.fallbacks.length === 0 ? (
					<span class="faint">none</span>
				) : (
					agent.fallbacks.map((name, i) => (
						<span key={name}>
							{i > 0 && ", "}
							<Name>{name}</Name>
						</span>
					))
				)}
			</td>
			<td>
				{agent.webhook ? (
					<span class="clamp" dir="ltr">
						<bdi>{agent.webhook}</bdi>
					</span>
				) : (
					<span class="faint">fetches</span>
				)}
			</td>
		</tr>
	);
}

export function Agents({ space, chosen }: { space: string; chosen: string | undefined }) {
	const [size, setSize] = useState(PAGE);
	const list = useResource(
		`${space} agents ${size}`,
		(signal) =>
			call<{ agents: Agent[]; next_page_token: string | null }>(space, "GET", "v1/agents", {
				query: { page_size: size },
				signal,
			}),
		{ topics: ["handoff.", "breaker.", "agent."], everyMs: 15_000, gapMs: 1_000 },
	);
	const agents = list.data?.agents ?? [];

	return (
		<>
			<Title aside={list.data && <span class="faint">{plural(agents.length, "agent")}</span>}>Agents</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.data && !list.problem && <Waiting />}
			{list.data && agents.length === 0 && (
				<Empty title="No agent yet">
					<p>
						An agent is known when something is first sent to it, when it first asks for work, or by{" "}
						<code>spine agent NAME</code>.
					</p>
				</Empty>
			)}
			{agents.length > 0 && (
				<Table label="Agents">
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
							<th scope="col">Breaker</th>
							<th scope="col">Last seen</th>
							<th scope="col">Reads</th>
							<th scope="col" class="n">
								Budget
							</th>
							<th scope="col" class="n">
								Ack timeout
							</th>
							<th scope="col">Fallbacks</th>
							<th scope="col">Gets its work by</th>
						</tr>
					</thead>
					<tbody>
						{agents.map((agent) => (
							<Row key={agent.name} space={space} agent={agent} isChosen={agent.name === chosen} reload={list.reload} />
						))}
					</tbody>
				</Table>
			)}
			<More shown={agents.length} next={list.data?.next_page_token} more={() => setSize(1000)} />
		</>
	);
}
