// What does not go on without a person, the most urgent first.
import type { ComponentChildren } from "preact";
import { call } from "../api";
import { plural } from "../format";
import { Name, Panel, Time } from "../parts/basics";
import { useAgents } from "../parts/filters";
import { HandoffLink } from "../parts/handoffs";
import { nearest } from "../names";
import { useParkedCount } from "../parked_count";
import { useResource } from "../resource";
import { link, linkWith } from "../router";
import type { Agent, Parked } from "../types";

interface Need {
	readonly id: string;
	readonly href: string;
	readonly what: ComponentChildren;
	readonly action: string;
}

const SHOWN_MAX = 8;

/** Work waits, and nobody asks for it. */
function isAbandoned(agent: Agent): boolean {
	return (
		agent.queue.queued > 0 &&
		agent.webhook === null &&
		agent.breaker.state === "closed" &&
		(agent.presence === "never_seen" ||
			(agent.presence === "away" && Date.now() - Date.parse(agent.last_seen_at ?? "") > agent.ack_timeout_s * 1000))
	);
}

const decisions = ["handoff.redriven", "handoff.rerouted", "handoff.shrunk", "handoff.discarded", "handoff.restored"];

function needs(agents: readonly Agent[], parked: number, first: Parked | undefined): Need[] {
	const found: Need[] = [];

	if (parked)
		found.push({
			id: "parked",
			href: link("parked"),
			action: "Decide",
			what: (
				<>
					{plural(parked, "handoff")} parked
					{first && (
						<>
							, the first (<HandoffLink id={first.id} />) <Time at={first.changed_at} />: <bdi>{first.reason}</bdi>
						</>
					)}
				</>
			),
		});
	for (const agent of agents.filter((one) => one.breaker.state !== "closed"))
		found.push({
			id: `breaker ${agent.name}`,
			href: linkWith({ agent: agent.name }, "queues"),
			action: "Look",
			what: (
				<>
					the breaker of <Name>{agent.name}</Name> is{" "}
					{agent.breaker.state === "open"
						? `open: ${agent.queue.queued ? plural(agent.queue.queued, "handoff") : "what is sent to it"} held`
						: "half open: one handoff is let through"}
				</>
			),
		});
	for (const agent of agents.filter(isAbandoned))
		found.push({
			id: `queue ${agent.name}`,
			href: linkWith({ agent: agent.name }, "queues"),
			action: "Look",
			what: (
				<>
					{plural(agent.queue.queued, "handoff")} for <Name>{agent.name}</Name>, which{" "}
					{agent.last_seen_at ? (
						<>
							was last seen <Time at={agent.last_seen_at} />
						</>
					) : (
						"nobody has ever seen"
					)}
					{agent.presence === "never_seen" && nearest(agent.name, agents) && (
						<>
							; did you mean <Name>{nearest(agent.name, agents)}</Name>?
						</>
					)}
				</>
			),
		});
	return found;
}

export function Needs({ space }: { space: string }) {
	const agents = useAgents(space);
	const count = useParkedCount(space);
	// The first that was parked says most about what is wrong; it is looked for only where there is one.
	const parked = useResource(
		count ? `${space} first parked` : null,
		(signal) => call<{ parked: Parked[] }>(space, "GET", "v1/parked", { query: { page_size: 1 }, signal }),
		{ topics: ["handoff.parked", ...decisions], gapMs: 1_500 },
	);

	if (!agents) return null;
	const all = needs(agents, count, parked.data?.parked[0]);
	return (
		<Panel title="Needs a person">
			{all.length === 0 ? (
				<p class="all-good">Nothing. Every handoff goes on by itself.</p>
			) : (
				<ul class="needs">
					{all.slice(0, SHOWN_MAX).map((need) => (
						<li key={need.id}>
							<span>{need.what}</span>{" "}
							<a class="button" href={need.href} aria-label={`${need.action}: ${need.id}`}>
								{need.action}
							</a>
						</li>
					))}
					{all.length > SHOWN_MAX && <li class="faint">and {all.length - SHOWN_MAX} more</li>}
				</ul>
			)}
		</Panel>
	);
}
