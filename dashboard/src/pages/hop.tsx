// One hop: what the model was given, what changed since the hop before, what was left out, and what happened to it.
import { useState } from "preact/hooks";
import { call, path, text } from "../api";
import { count, duration, percent, plural, words } from "../format";
import { Failure, FromTo, Name, Panel, Pill, State, Table, Tabs, Text, Time, Waiting } from "../parts/basics";
import { Changes, valueText } from "../parts/difference";
import { HandoffLink } from "../parts/handoffs";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { link } from "../router";
import type { Difference, Envelope, Handoff, HandoffEvent, Trace } from "../types";
import { Considered } from "./considered";
import { latencyMs } from "./pipeline";

export function Prompt({ space, id }: { space: string; id: string }) {
	const prompt = useResource(
		`${space} prompt ${id}`,
		(signal) => text(space, path("envelopes", id), { query: { format: "prompt" }, signal }),
		{ topics: ["memory.forgotten"] },
	);

	if (prompt.problem) return <Failure problem={prompt.problem} retry={prompt.reload} />;
	return prompt.data === undefined ? (
		<Waiting />
	) : (
		<Text text={prompt.data} label={`The prompt of ${id}`} class="prompt" />
	);
}

function Since({ space, parent, id }: { space: string; parent: string | null; id: string }) {
	const difference = useResource(parent && `${space} diff ${parent} ${id}`, (signal) =>
		call<Difference>(space, "GET", path("envelopes", parent!, "diff", id), { signal }),
	);

	if (parent === null) return <p class="faint">This is the first hop: there is nothing to compare it with.</p>;
	if (difference.problem) return <Failure problem={difference.problem} retry={difference.reload} />;
	if (!difference.data) return <Waiting />;
	const { score, kept, total, changes } = difference.data;
	return (
		<>
			<p>
				Kept {count(kept)} of {count(total)} ({percent(score)}) of {parent}.
			</p>
			{changes.length === 0 ? (
				<p class="faint">Nothing was added, changed or dropped.</p>
			) : (
				<Changes changes={changes} />
			)}
		</>
	);
}

function MemoryLink({ id }: { id: string }) {
	return /^ms-\d+$/.test(id) ? <a href={link("memories", id)}>{id}</a> : <bdi>{id}</bdi>;
}

function LeftOut({ envelope }: { envelope: Envelope }) {
	const { trimmed } = envelope.budget;
	const { missing } = envelope.memory;

	return (
		<>
			<h3>Trimmed for the budget</h3>
			{trimmed.length === 0 ? (
				<p class="faint">Nothing: all of it fitted.</p>
			) : (
				<Table label="Trimmed">
					<thead>
						<tr>
							<th scope="col">What</th>
							<th scope="col" class="n">
								Tokens
							</th>
							<th scope="col">Reason</th>
							<th scope="col">What is left</th>
						</tr>
					</thead>
					<tbody>
						{trimmed.map((one, i) => (
							<tr key={i}>
								<th scope="row">
									<MemoryLink id={one.id} />
								</th>
								<td class="n">{count(one.tokens)}</td>
								<td>{words(one.reason)}</td>
								<td>{words(one.form)}</td>
							</tr>
						))}
					</tbody>
				</Table>
			)}
			<h3>Missing</h3>
			{missing.length === 0 ? (
				<p class="faint">Nothing: all that was named was found.</p>
			) : (
				<ul class="plain-list">
					{missing.map((one) => (
						<li key={one.id}>
							<MemoryLink id={one.id} /> <Pill tone="warn">{words(one.reason)}</Pill>
						</li>
					))}
				</ul>
			)}
			<h3>Waived constraints</h3>
			{envelope.waived.length === 0 ? (
				<p class="faint">None: every constraint of the hops before holds.</p>
			) : (
				<ul class="changes">
					{envelope.waived.map((one) => (
						<li key={one.key}>
							<Pill tone="warn">waived</Pill>
							<bdi class="key"><Seen text={one.key} /></bdi>
							<del dir="auto"><Seen text={valueText(one.value)} /></del>
							<q dir="auto"><Seen text={one.reason} /></q>
							<span class="faint">
								by <Name none="somebody">{one.by}</Name> at hop {one.at_hop}
								{one.unauthenticated && ", unauthenticated"}
							</span>
						</li>
					))}
				</ul>
			)}
			{envelope.guard && envelope.guard.findings.length > 0 && (
				<>
					<h3>Credentials found ({envelope.guard.policy})</h3>
					<ul class="plain-list">
						{envelope.guard.findings.map((one, i) => (
							<li key={i}>
								{words(one.kind)} in <bdi>{one.where}</bdi>
							</li>
						))}
					</ul>
				</>
			)}
			{envelope.since && envelope.since.length > 0 && (
				<>
					<h3>Since it was packed</h3>
					<ul class="plain-list">
						{envelope.since.map((one) => (
							<li key={one.handoff ?? one.id}>
								{one.id && <MemoryLink id={one.id} />} {words(one.event)}
								{one.handoff && (
									<>
										{" "}
										of <HandoffLink id={one.handoff} />, by <bdi>{one.agent}</bdi>
									</>
								)}
								{one.by && (
									<>
										{" "}
										by <MemoryLink id={one.by} />
									</>
								)}
							</li>
						))}
					</ul>
				</>
			)}
		</>
	);
}

export function Events({ events, isOne = false }: { events: readonly HandoffEvent[]; /** All of one handoff. */ isOne?: boolean }) {
	if (events.length === 0) return <p class="faint">Nothing has happened to it yet.</p>;
	return (
		<ol class="events">
			{events.map((event) => (
				<li key={event.id}>
					<time dateTime={event.at} title={new Date(event.at).toLocaleString()}>
						{new Date(event.at).toLocaleTimeString(undefined, { hour12: false })}
					</time>
					<span class="event-type">{event.event.replace(/^handoff\./, "")}</span>
					{event.handoff && (
						<span class="faint">
							{!isOne && <HandoffLink id={event.handoff} />}
							{event.attempt ? ` try ${event.attempt}` : ""}
						</span>
					)}
					<Name none="">{event.agent}</Name>
					{event.actor && event.actor !== event.agent && (
						<span class="faint">
							by <Name>{event.actor}</Name>
						</span>
					)}
					{event.key && <span class="faint">with {event.key}</span>}
					{event.note && (
						<span class="note-text" dir="auto">
							<Seen text={event.note} />
						</span>
					)}
				</li>
			))}
		</ol>
	);
}

/** What the receiver gave back. */
export function Result({ handoff }: { handoff: Handoff }) {
	const { result, result_state: state } = handoff;

	if (state) return <p class="faint">Its result was {words(state)}.</p>;
	if (result === undefined || result === null) return null;
	return (
		<Text
			text={typeof result === "string" ? result : JSON.stringify(result, null, 2)}
			label={`Result of ${handoff.id}`}
		/>
	);
}

/** The same where the list of a task does not say it. */
function ResultOf({ space, handoff }: { space: string; handoff: Handoff }) {
	const whole = useResource(handoff.state === "completed" ? `${space} result ${handoff.id}` : null, (signal) =>
		call<Handoff>(space, "GET", path("handoffs", handoff.id), { signal }),
	);

	return whole.data ? <Result handoff={whole.data} /> : null;
}

function Deliveries({
	space,
	handoffs,
	events,
}: {
	space: string;
	handoffs: readonly Handoff[];
	events: readonly HandoffEvent[];
}) {
	return (
		<>
			{handoffs.length === 0 && <p class="faint">It was packed, and not sent.</p>}
			{handoffs.slice(0, 50).map((handoff) => (
				<div class="delivery" key={handoff.id}>
					<p>
						<strong>
							<HandoffLink id={handoff.id} />
						</strong>{" "}
						<State name={handoff.state} /> <FromTo from={handoff.from} to={handoff.to} />{" "}
						{handoff.target !== handoff.to && (
							<span class="faint">
								(meant for <Name>{handoff.target}</Name>)
							</span>
						)}{" "}
						<span class="faint">
							try {handoff.attempt} of {handoff.max_attempts}, acked after {duration(latencyMs(handoff))}
						</span>{" "}
						{handoff.state === "parked" && (
							<a class="button" href={link("parked", handoff.id)}>
								Decide
							</a>
						)}
					</p>
					{handoff.reason && (
						<p class="reason" dir="auto">
							<Seen text={handoff.reason} />
						</p>
					)}
					{handoff.progress && (
						<p class="faint">
							Progress: <span dir="auto"><Seen text={handoff.progress} /></span>
						</p>
					)}
					<ResultOf space={space} handoff={handoff} />
				</div>
			))}
			<Events events={events} />
		</>
	);
}

type Tab = "prompt" | "changes" | "considered" | "left out" | "delivery";

export function Hop({
	space,
	id,
	trace,
	score,
}: {
	space: string;
	id: string;
	trace: Trace;
	score: number | undefined;
}) {
	const [tab, setTab] = useState<Tab>("prompt");
	const found = useResource(
		`${space} envelope ${id}`,
		(signal) => call<Envelope>(space, "GET", path("envelopes", id), { signal }),
		{ topics: ["memory."] },
	);
	const handoffs = trace.handoffs.filter((handoff) => handoff.envelope_id === id);
	const events = trace.events.filter((event) => event.envelope_id === id);
	const envelope = found.data;

	return (
		<Panel
			title={
				<>
					Hop {envelope?.lineage.hop ?? ""} · {id}
				</>
			}
			aside={envelope && <FromTo from={envelope.from} to={envelope.to} />}
		>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!envelope && !found.problem && <Waiting />}
			{envelope && (
				<>
					<dl class="facts">
						<div>
							<dt>Tokens</dt>
							<dd>
								{count(envelope.budget.token_count)} of {count(envelope.budget.max_tokens)} (
								{percent(envelope.budget.utilization)})
							</dd>
						</div>
						<div>
							<dt>Complete</dt>
							<dd>
								{percent(envelope.completeness.score)}, {count(envelope.completeness.resolved)} of{" "}
								{count(envelope.completeness.requested)}
							</dd>
						</div>
						<div>
							<dt>Fidelity</dt>
							<dd>{score === undefined ? "first hop" : percent(score)}</dd>
						</div>
						<div>
							<dt>State</dt>
							<dd>
								<span dir="auto"><Seen text={envelope.task.state ?? "–"} /></span>
							</dd>
						</div>
						<div>
							<dt>Packed</dt>
							<dd>
								<Time at={envelope.created_at} />
							</dd>
						</div>
						<div>
							<dt>Memories</dt>
							<dd>{plural(envelope.memory.refs.length, "reference")}</dd>
						</div>
					</dl>
					<Tabs
						label={`Parts of ${id}`}
						chosen={tab}
						choose={(chosen) => setTab(chosen as Tab)}
						tabs={[
							{ id: "prompt", title: "Prompt" },
							{ id: "changes", title: "Changes" },
							{ id: "considered", title: "Considered" },
							{
								id: "left out",
								title: "Left out",
								count: envelope.budget.trimmed.length + envelope.memory.missing.length + envelope.waived.length,
							},
							{ id: "delivery", title: "Delivery", count: handoffs.length },
						]}
					>
						{tab === "prompt" && <Prompt space={space} id={id} />}
						{tab === "considered" && <Considered space={space} envelope={envelope} />}
						{tab === "changes" && <Since space={space} parent={envelope.lineage.parent} id={id} />}
						{tab === "left out" && <LeftOut envelope={envelope} />}
						{tab === "delivery" && <Deliveries space={space} handoffs={handoffs} events={events} />}
					</Tabs>
				</>
			)}
		</Panel>
	);
}
