// One task: its pipeline as a picture, and a hop of it.
import { useMemo } from "preact/hooks";
import { call, path } from "../api";
import { count, duration, percent, plural } from "../format";
import { Empty, Failure, Name, State, Title, Waiting } from "../parts/basics";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { link } from "../router";
import type { Fidelity, Handoff, HandoffEvent, TaskAbout, Trace, TraceEnvelope } from "../types";
import { Constraints } from "./constraints";
import { Hop } from "./hop";
import { CARD_HEIGHT, CARD_WIDTH, draw, latencyMs, NODE_HEIGHT, type Edge, type Picture } from "./pipeline";

const PAGES_MAX = 5; // of 200 envelopes each

/** All pages of a trace, as far as anybody would look. */
async function readTrace(space: string, task: string, signal: AbortSignal): Promise<Trace> {
	const envelopes: TraceEnvelope[] = [];
	const handoffs: Handoff[] = [];
	const events: HandoffEvent[] = [];
	let token: string | null | undefined;

	for (let page = 0; page < PAGES_MAX && token !== null; page++) {
		const trace: Trace = await call<Trace>(space, "GET", path("tasks", task, "trace"), {
			query: { page_token: token },
			signal,
		});
		envelopes.push(...trace.envelopes);
		handoffs.push(...trace.handoffs);
		events.push(...trace.events);
		token = trace.next_page_token;
	}
	return { task, envelopes, handoffs, events, next_page_token: token ?? null };
}

function retriesText(retries: number): string {
	return plural(retries, "retry", "retries");
}

function describe(edge: Edge, score: number | undefined): string {
	const { envelope, handoff } = edge;
	const latency = latencyMs(handoff);

	return [
		`hop ${envelope.hop}: ${envelope.from ?? "unnamed"} to ${handoff?.to ?? envelope.to}`,
		`${envelope.id}, ${handoff ? `${handoff.id} ${handoff.state}` : "not sent"}`,
		latency === null ? "no ack yet" : `acked after ${duration(latency)}`,
		plural(envelope.token_count, "token"),
		retriesText(edge.retries),
		score === undefined ? "" : `kept ${percent(score)} of the hop before`,
	]
		.filter(Boolean)
		.join(", ");
}

function Card({
	edge,
	task,
	isChosen,
	score,
}: {
	edge: Edge;
	task: string;
	isChosen: boolean;
	score: number | undefined;
}) {
	const { envelope, handoff } = edge;
	const latency = latencyMs(handoff);

	return (
		<a
			class={`hop-card ${isChosen ? "chosen" : ""}`}
			href={link("tasks", task, envelope.id)}
			title={describe(edge, score)}
			aria-current={isChosen ? "true" : undefined}
			style={{
				left: `${edge.x - CARD_WIDTH / 2}px`,
				top: `${edge.y - CARD_HEIGHT / 2}px`,
				width: `${CARD_WIDTH}px`,
				height: `${CARD_HEIGHT}px`,
			}}
		>
			<span class="visually-hidden">{describe(edge, score)}</span>
			<span class="hop-head" aria-hidden="true">
				<span class="ids">
					{envelope.id}
					{handoff && ` · ${handoff.id}`}
				</span>
				{handoff ? <State name={handoff.state} /> : <State name="not sent" />}
			</span>
			<span class="hop-figures" aria-hidden="true">
				<span>{latency === null ? "no ack" : duration(latency)}</span>
				<span>{count(envelope.token_count)} tok</span>
				{edge.retries > 0 && <span class="tone-warn">{retriesText(edge.retries)}</span>}
				{score !== undefined && <span class={score < 1 ? "tone-warn" : ""}>{percent(score)} kept</span>}
				{envelope.missing > 0 && <span class="tone-warn">{count(envelope.missing)} missing</span>}
			</span>
		</a>
	);
}

function Pipeline({
	picture,
	task,
	chosen,
	scores,
}: {
	picture: Picture;
	task: string;
	chosen: string | undefined;
	scores: ReadonlyMap<string, number>;
}) {
	return (
		<div class="pipeline-box" tabIndex={0} role="region" aria-label="Pipeline">
			<div class="pipeline" style={{ width: `${picture.width}px`, height: `${picture.height}px` }}>
				<svg width={picture.width} height={picture.height} aria-hidden="true">
					{picture.edges.map((edge) => {
						const top = edge.y - CARD_HEIGHT / 2;
						const bottom = edge.y + CARD_HEIGHT / 2;
						const middle = (edge.fromY + top) / 2;
						const end = bottom + (top - edge.fromY);
						return (
							<g key={edge.id} class={edge.handoff ? `edge ${edge.handoff.state}` : "edge unsent"}>
								<path
									d={`M${edge.fromX} ${edge.fromY}C${edge.fromX} ${middle} ${edge.x} ${middle} ${edge.x} ${top}M${edge.x} ${bottom}V${end}`}
								/>
								<path class="head" d={`M${edge.x - 4} ${end - 6}L${edge.x} ${end}L${edge.x + 4} ${end - 6}`} />
							</g>
						);
					})}
				</svg>
				{picture.nodes.map((node) => (
					<div
						key={node.id}
						class={`agent-node ${node.more ? "rest" : ""}`}
						style={{ left: `${node.x}px`, top: `${node.y}px`, height: `${NODE_HEIGHT}px` }}
					>
						{node.more ? <span>and {count(node.more)} more</span> : <Name none="(unnamed)">{node.agent}</Name>}
					</div>
				))}
				{picture.edges.map((edge) => (
					<Card
						key={edge.id}
						edge={edge}
						task={task}
						isChosen={edge.envelope.id === chosen}
						score={scores.get(edge.envelope.id)}
					/>
				))}
			</div>
		</div>
	);
}

export function Task({ space, task, envelope }: { space: string; task: string; envelope: string | undefined }) {
	const topics = ["handoff.", "envelope."];
	const trace = useResource(`${space} trace ${task}`, (signal) => readTrace(space, task, signal), { topics });
	const fidelity = useResource(
		`${space} fidelity ${task}`,
		(signal) => call<Fidelity>(space, "GET", path("tasks", task, "fidelity"), { signal }),
		{ topics: ["envelope."] },
	);
	const about = useResource(
		`${space} intent ${task}`,
		(signal) => call<TaskAbout>(space, "GET", path("tasks", task), { query: { page_size: 1 }, signal }),
		{ topics: ["envelope.", "constraint."] },
	);
	const picture = useMemo(() => trace.data && draw(trace.data), [trace.data]);
	const scores = useMemo(
		() =>
			new Map(
				fidelity.data?.hops.flatMap((hop) => (hop.score === undefined ? [] : [[hop.envelope, hop.score] as const])) ??
					[],
			),
		[fidelity.data],
	);
	// Without a choice, the newest hop: that is where the work is.
	const shown = envelope ?? trace.data?.envelopes[trace.data.envelopes.length - 1]?.id;

	return (
		<>
			<p class="back">
				<a href={link("tasks")}>← All tasks</a>
			</p>
			<Title
				aside={
					fidelity.data &&
					fidelity.data.score !== null && (
						<span class="faint">
							the newest hop has {percent(fidelity.data.score)} of the first,{" "}
							{percent(fidelity.data.intent_and_constraints)} of its intent and constraints
						</span>
					)
				}
			>
				Task <Name>{task}</Name>
			</Title>
			{about.data?.intent && (
				<blockquote class="intent" dir="auto">
					<Seen text={about.data.intent} />
				</blockquote>
			)}
			{about.data && <Constraints key={task} space={space} task={task} about={about.data} reload={about.reload} />}
			{trace.problem &&
				(trace.problem.status === 404 ? (
					<Empty title="There is no such task in this space">
						<p>
							<a href={link("tasks")}>Look at all tasks</a>, or choose another space.
						</p>
					</Empty>
				) : (
					<Failure problem={trace.problem} retry={trace.reload} />
				))}
			{!trace.data && !trace.problem && <Waiting />}
			{trace.data && picture && (
				<div class="split">
					<div>
						<Pipeline picture={picture} task={task} chosen={shown} scores={scores} />
						{trace.data.next_page_token && (
							<p class="faint">The task goes on: the first {count(trace.data.envelopes.length)} envelopes are shown.</p>
						)}
					</div>
					{shown && <Hop key={shown} space={space} id={shown} trace={trace.data} score={scores.get(shown)} />}
				</div>
			)}
		</>
	);
}
