// What is shown of handoffs, wherever they are shown.
import type { ComponentChildren } from "preact";
import { plural, words } from "../format";
import { link, linkWith } from "../router";
import type { Agent, Presence, Why } from "../types";
import { Name, Pill, Time, type Tone } from "./basics";
import { Seen } from "./seen";

export function HandoffLink({ id }: { id: string }) {
	return <a href={link("handoffs", id)}>{id}</a>;
}

export function TaskLink({ id }: { id: string | null | undefined }) {
	return id ? (
		<a href={link("tasks", id)}>
			<Name>{id}</Name>
		</a>
	) : (
		<span class="faint">–</span>
	);
}

export function QueueLink({ agent }: { agent: string }) {
	return (
		<a href={linkWith({ agent }, "queues")}>
			<Name>{agent}</Name>
		</a>
	);
}

/** What is to be done, in two lines. */
export function Summary({ children }: { children: string | null | undefined }) {
	return children ? (
		<span class="clamp" dir="auto">
			<Seen text={children} />
		</span>
	) : (
		<span class="faint">–</span>
	);
}

const whys: Readonly<Record<Why, { readonly title: string; readonly tone: Tone; readonly what: string }>> = {
	empty_chair: { title: "empty chair", tone: "warn", what: "Nobody asks for the work of this agent." },
	busy: { title: "busy", tone: "plain", what: "The agent is at work on something else." },
	held: { title: "held", tone: "bad", what: "The breaker is open: nothing is delivered until it lets one through." },
	backoff: { title: "backoff", tone: "warn", what: "An attempt has failed; the next one is later." },
	deferred: { title: "deferred", tone: "info", what: "Its sender wants it to be delivered later." },
};

/** Why something waits. */
export function WhyPill({ why, until }: { why: Why | null; until?: string | null }) {
	if (!why) return <span class="faint">–</span>;
	const { title, tone, what } = whys[why] ?? { title: words(why), tone: "plain" as Tone, what: "" };
	return (
		<span class="why-waits">
			<Pill tone={tone} title={what}>
				{title}
			</Pill>
			{until && (
				<span class="faint">
					{" "}
					until <Clock at={until} />
				</span>
			)}
		</span>
	);
}

/** A time of the day; with the day where that is another one. */
export function Clock({ at }: { at: string }) {
	const date = new Date(at);
	const isToday = date.toDateString() === new Date().toDateString();

	return (
		<time dateTime={at} title={date.toLocaleString()}>
			{isToday
				? date.toLocaleTimeString(undefined, { hour12: false })
				: date.toLocaleString(undefined, { hour12: false, dateStyle: "short", timeStyle: "short" })}
		</time>
	);
}

const presences: Readonly<Record<Presence, { readonly tone: Tone; readonly what: string }>> = {
	never_seen: { tone: "warn", what: "Nobody has ever asked for work by this name." },
	waiting: { tone: "good", what: "It waits for work now." },
	working: { tone: "info", what: "It is at work." },
	away: { tone: "plain", what: "It neither waits for work nor is at work." },
};

/** Where an agent is: waiting, at work and on what, away since when, or never seen. */
export function Presence({
	of,
	near,
	hasWork = true,
}: {
	of: Pick<Agent, "presence" | "receivers_waiting" | "last_seen_at">;
	/** The known name that is nearest, where this one was never seen. */
	near?: string;
	hasWork?: boolean;
}) {
	const { tone, what } = presences[of.presence] ?? { tone: "plain" as Tone, what: "" };
	// A name that nobody uses is no trouble until something waits there.
	const isFine = of.presence === "never_seen" && !hasWork;
	let more: ComponentChildren = null;

	if (of.presence === "waiting") more = plural(of.receivers_waiting, "receiver");
	if (of.presence === "away")
		more = (
			<>
				seen <Time at={of.last_seen_at} />
			</>
		);
	if (of.presence === "never_seen" && near)
		more = (
			<>
				did you mean <Name>{near}</Name>?
			</>
		);
	return (
		<span class="presence">
			<Pill tone={isFine ? "plain" : tone} title={what}>
				{words(of.presence)}
			</Pill>{" "}
			{more && <span class="faint">{more}</span>}
		</span>
	);
}
