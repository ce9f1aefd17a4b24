// One handoff, with all that is known of it: what it is about, who had it when and how that ended, what was sent and what came back.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { count, duration, words } from "../format";
import { Empty, Failure, Name, Panel, Pill, State, Time, Title, Waiting, type Tone } from "../parts/basics";
import { Clock, QueueLink, TaskLink } from "../parts/handoffs";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { link } from "../router";
import type { Attempt, WholeHandoff } from "../types";
import { Decision, parkedVerbs, queuedVerbs, restore, Verbs, type Verb } from "./decisions";
import { Events, Prompt, Result } from "./hop";

const outcomeTones: Readonly<Record<string, Tone>> = {
	under_way: "info",
	acked: "good",
	completed: "good",
	nacked: "warn",
	rejected: "bad",
	lease_lost: "warn",
	work_lost: "bad",
	not_taken: "plain",
	released: "plain",
	expired: "warn",
	parked: "bad",
};

function passed(from: string | null, to: string | null): string {
	return from && to ? duration(Math.max(0, Date.parse(to) - Date.parse(from))) : "";
}

/** Who had it, from when to when, and how each ended, in its own words. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
	if (attempts.length === 0) return <p class="faint">Nobody was offered it yet.</p>;
	return (
		<ol class="attempts">
			{attempts.map((one, i) => (
				<li key={i}>
					<div class="attempt-head">
						<Pill tone={outcomeTones[one.outcome]}>{words(one.outcome)}</Pill>
						<span>
							try {count(one.attempt)}, <Name>{one.agent}</Name>
							{one.receiver && one.receiver !== one.agent && (
								<span class="faint">
									{" "}
									(<Name>{one.receiver}</Name>)
								</span>
							)}
						</span>
						<span class="faint">
							{one.taken_at ? (
								<>
									taken <Clock at={one.taken_at} />
								</>
							) : (
								"nobody took it"
							)}
							{one.acked_at && `, acked after ${passed(one.taken_at, one.acked_at)}`}
							{one.ended_at && one.ended_at !== one.acked_at && (
								<>
									, ended <Clock at={one.ended_at} />
								</>
							)}
						</span>
					</div>
					{one.error && (
						<p class="reason" dir="auto">
							<Seen text={one.error} />
						</p>
					)}
				</li>
			))}
		</ol>
	);
}

function Fact({ title, children }: { title: string; children: ComponentChildren }) {
	return (
		<div>
			<dt>{title}</dt>
			<dd>{children}</dd>
		</div>
	);
}

function Facts({ handoff }: { handoff: WholeHandoff }) {
	const { lease } = handoff;

	return (
		<dl class="facts">
			<Fact title="Task">
				<TaskLink id={handoff.task} />
			</Fact>
			<Fact title="Envelope">
				{handoff.task ? <a href={link("tasks", handoff.task, handoff.envelope_id)}>{handoff.envelope_id}</a> : handoff.envelope_id}
			</Fact>
			<Fact title="From">
				<Name none="(unnamed)">{handoff.from}</Name>
			</Fact>
			<Fact title="To">
				<QueueLink agent={handoff.to} />
			</Fact>
			{handoff.target !== handoff.to && (
				<Fact title="Meant for">
					<Name>{handoff.target}</Name>
				</Fact>
			)}
			{handoff.channel && (
				<Fact title="Channel">
					<Name>{handoff.channel}</Name>
				</Fact>
			)}
			<Fact title="Try">
				{count(handoff.attempt)} of {count(handoff.max_attempts)}
			</Fact>
			<Fact title="Sent">
				<Time at={handoff.created_at} />
			</Fact>
			<Fact title="Changed">
				<Time at={handoff.changed_at} />
			</Fact>
			{handoff.held_until && (
				<Fact title="Held until">
					<Clock at={handoff.held_until} />
				</Fact>
			)}
			{handoff.not_before && (
				<Fact title="Not before">
					<Clock at={handoff.not_before} />
				</Fact>
			)}
			{lease && (
				<Fact title="Lease">
					{handoff.id}.{lease.number}, <Name none="somebody">{lease.receiver}</Name>, since <Clock at={lease.since} />, until{" "}
					<Clock at={lease.expires_at} />
				</Fact>
			)}
		</dl>
	);
}

/** Before that, the reason is that of an attempt, and stands there. */
const isOver = ["parked", "expired", "discarded"];

/** What can be done with it as it stands. */
function Actions({ space, handoff, ask }: { space: string; handoff: WholeHandoff; ask: (verb: Verb) => void }) {
	if (handoff.state === "parked") return <Verbs verbs={parkedVerbs} count={1} first="redrive" ask={ask} />;
	if (handoff.state === "queued") return <Verbs verbs={queuedVerbs} count={1} ask={ask} />;
	// What was replaced by a smaller one does not come back.
	if (handoff.state === "discarded" && handoff.events?.at(-1)?.event !== "handoff.shrunk")
		return (
			<div class="buttons">
				<button type="button" title="It is parked again, and can be decided about." onClick={() => void restore(space, [handoff.id])}>
					Restore
				</button>
			</div>
		);
	return null;
}

export function Handoff({ space, id }: { space: string; id: string }) {
	const [verb, ask] = useState<Verb>();
	const found = useResource(
		`${space} handoff ${id}`,
		(signal) => call<WholeHandoff>(space, "GET", path("handoffs", id), { signal }),
		{ topics: ["handoff.", "breaker."] },
	);
	const handoff = found.data;

	return (
		<>
			<p class="back">
				{handoff?.task ? (
					<a href={link("tasks", handoff.task)}>
						← Task <Name>{handoff.task}</Name>
					</a>
				) : (
					<a href={link("queues")}>← Queues</a>
				)}
			</p>
			<Title aside={handoff && <Actions space={space} handoff={handoff} ask={ask} />}>
				Handoff {id} {handoff && <State name={handoff.state} />}
			</Title>
			{found.problem &&
				(found.problem.status === 404 ? (
					<Empty title="There is no such handoff in this space">
						<p>
							<a href={link("queues")}>Look at the queues</a>, or choose another space.
						</p>
					</Empty>
				) : (
					<Failure problem={found.problem} retry={found.reload} />
				))}
			{!handoff && !found.problem && <Waiting />}
			{handoff && (
				<>
					<section class="panel" aria-label="In short">
						<p class="about" dir="auto">
							<Seen text={handoff.summary} />
						</p>
						{isOver.includes(handoff.state) && handoff.reason && (
							<p class="reason" dir="auto">
								<Seen text={handoff.reason} />
							</p>
						)}
						{handoff.progress && (
							<p>
								<span class="faint">Progress:</span> <span dir="auto"><Seen text={handoff.progress} /></span>
							</p>
						)}
						<Facts handoff={handoff} />
					</section>
					<div class="split even">
						<div class="column">
							<Panel title="Attempts">
								<Attempts attempts={handoff.attempts} />
							</Panel>
							<Panel title="What happened">
								<Events events={handoff.events ?? []} isOne />
							</Panel>
						</div>
						<div class="column">
							{handoff.state === "completed" && (
								<Panel
									title="Result"
									aside={handoff.result_memory && <a href={link("memories", handoff.result_memory)}>{handoff.result_memory}</a>}
								>
									{handoff.result === undefined || handoff.result === null ? (
										<p class="faint">It brought no result.</p>
									) : (
										<Result handoff={handoff} />
									)}
									<Gaps gaps={handoff.gaps ?? []} />
								</Panel>
							)}
							<Panel title="The envelope, as the receiver reads it">
								<Prompt space={space} id={handoff.envelope_id} />
							</Panel>
						</div>
					</div>
				</>
			)}
			{verb && handoff && (
				<Decision
					space={space}
					verb={verb}
					selection={{ ids: [id] }}
					items={[handoff]}
					close={() => ask(undefined)}
					done={found.reload}
				/>
			)}
		</>
	);
}

/** What the receiver could not do. */
function Gaps({ gaps }: { gaps: WholeHandoff["gaps"] & {} }) {
	if (gaps.length === 0) return null;
	return (
		<>
			<h3>Gaps</h3>
			<ul class="plain-list">
				{gaps.map((gap, i) => (
					<li key={i} dir="auto">
						{typeof gap === "string" ? gap : JSON.stringify(gap)}
					</li>
				))}
			</ul>
		</>
	);
}
