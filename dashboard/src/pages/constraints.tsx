// What binds a task: the constraints of its newest hop, which of them are locked, and what was waived. A person may waive one here.
import { useRef, useState } from "preact/hooks";
import { bytes, call, path } from "../api";
import { count } from "../format";
import { Failure, Name, Panel, Pill, Time } from "../parts/basics";
import { Dialog, Field } from "../parts/dialog";
import { valueText } from "../parts/difference";
import { say } from "../parts/notes";
import { May } from "../parts/may";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { person } from "../settings";
import { useStore } from "../store";
import type { Envelope, Json, TaskAbout, Waiver } from "../types";

const REASON_MAX = 2_048; // as the server has it
const SHOWN_AT_FIRST = 8;
const VALUE_MAX = 300; // the prompt has it whole

function shortText(value: Json): string {
	const text = valueText(value);
	return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

/** Something that can be seen. The server looks more closely. */
function isBlank(text: string): boolean {
	return !/[^\s\p{C}\p{Z}]/u.test(text);
}

interface Constraint {
	readonly name: string;
	readonly value: Json;
	readonly isLocked: boolean;
}

function WaiveDialog({
	space,
	task,
	name: constraint,
	value,
	isLocked,
	close,
	done,
}: Constraint & {
	space: string;
	task: string;
	close: () => void;
	done: () => void;
}) {
	const known = useStore(person);
	const [isKnown] = useState(known !== "");
	const [name, setName] = useState(known);
	const [reason, setReason] = useState("");
	const submit = async () => {
		const who = name.trim();
		await call(space, "POST", path("tasks", task, "waive"), {
			body: { key: constraint, reason },
			headers: { "Spine-Person": bytes(who) },
		});
		if (!isKnown) person.set(who);
		say(`${constraint} is waived for the whole task`);
		done();
	};

	return (
		<Dialog
			title="Waive a constraint"
			action="Waive for the whole task"
			isDangerous
			isReady={!isBlank(reason) && !isBlank(name)}
			close={close}
			submit={submit}
		>
			<p class="waives">
				{isLocked && <Pill tone="info">locked</Pill>} <bdi class="key"><Seen text={constraint} /></bdi> <del dir="auto"><Seen text={shortText(value)} /></del>
			</p>
			<p>
				From the next hop on nobody in this task is bound by it{isLocked ? ", although it is locked" : ""}. Envelopes that are there
				stay as they are: who is at work now still reads it.
			</p>
			<p>
				<strong>It cannot be undone.</strong> A later hop can only set the constraint anew. Your name and the reason stay on record, in every envelope that
				follows, marked as unauthenticated: nobody checks who you are.
			</p>
			{isKnown ? (
				<p class="faint">
					You are <Name>{known}</Name>.
				</p>
			) : (
				<Field label="Your name" hint="Written beside what you decide. Kept in this browser.">
					<input
						required
						value={name}
						maxLength={100}
						autocomplete="off"
						onInput={(event) => setName(event.currentTarget.value)}
					/>
				</Field>
			)}
			<Field label="Reason" hint="Why it no longer holds, for whoever asks later.">
				<textarea
					required
					rows={3}
					maxLength={REASON_MAX}
					value={reason}
					onInput={(event) => setReason(event.currentTarget.value)}
				/>
			</Field>
		</Dialog>
	);
}

/** By whom and why, and that nobody has checked it. */
function Who({ by, reason, unauthenticated }: { by: string | null; reason: string; unauthenticated: boolean }) {
	return (
		<>
			<q dir="auto"><Seen text={reason} /></q>
			<span class="faint">
				by <Name none="somebody">{by}</Name>
				{unauthenticated && ", a person, unauthenticated"}
			</span>
		</>
	);
}

function Pending({ waiver }: { waiver: Waiver }) {
	return (
		<>
			<Pill tone="warn">waived from the next hop on</Pill>
			<Who by={waiver.by} reason={waiver.reason} unauthenticated={waiver.unauthenticated} />
			<span class="faint">
				<Time at={waiver.at} />
			</span>
		</>
	);
}

function Holding({
	name,
	value,
	isLocked,
	waiver,
	ask,
}: Constraint & {
	waiver: Waiver | undefined;
	ask: () => void;
}) {
	return (
		<li>
			<bdi class="key"><Seen text={name} /></bdi>
			<span class="value" dir="auto">
				<Seen text={shortText(value)} />
			</span>
			{isLocked && (
				<Pill tone="info" title="No agent can waive it; a person can.">
					locked
				</Pill>
			)}
			{waiver ? (
				<Pending waiver={waiver} />
			) : name === "max_tokens" ? (
				<span class="faint">of this receiver alone</span>
			) : (
				<May scope="admin">
					<button type="button" onClick={ask}>
						Waive…<span class="visually-hidden"> {name}</span>
					</button>
				</May>
			)}
		</li>
	);
}

export function Constraints({
	space,
	task,
	about,
	reload,
}: {
	space: string;
	task: string;
	about: TaskAbout;
	reload: () => void;
}) {
	const { newest, waivers } = about;
	const [asked, ask] = useState<Constraint>();
	const last = useRef<Envelope>(undefined);
	const [isWhole, setWhole] = useState(false);
	const found = useResource(
		`${space} envelope ${newest}`,
		(signal) => call<Envelope>(space, "GET", path("envelopes", newest), { signal }),
		{ topics: ["memory."] },
	);
	if (found.data) last.current = found.data;
	// While the next hop is read, that of the one before: nobody who writes a reason is interrupted.
	const envelope = last.current;

	if (!envelope) return found.problem ? <Failure problem={found.problem} retry={found.reload} /> : null;
	const holding = Object.entries(envelope.constraints);
	const shown = isWhole ? holding : holding.slice(0, SHOWN_AT_FIRST);
	const locked = new Set(envelope.locked);
	// What the newest hop has in waived[] has had its effect; the rest waits for the next one.
	const pending = waivers.filter((waiver) => !envelope.waived.some((one) => one.waiver === waiver.waiver));
	const elsewhere = pending.filter((waiver) => !Object.hasOwn(envelope.constraints, waiver.key));

	if (!asked && holding.length + envelope.waived.length + pending.length === 0) return null;
	return (
		<Panel
			title="Constraints"
			aside={
				<span class="faint">
					as of hop {envelope.lineage.hop}, {envelope.id}
				</span>
			}
		>
			{holding.length === 0 && <p class="faint">None holds any more.</p>}
			<ul class="constraints" aria-label="What holds">
				{shown.map(([name, one]) => (
					<Holding
						key={name}
						name={name}
						value={one}
						isLocked={locked.has(name)}
						waiver={pending.find((waiver) => waiver.key === name)}
						ask={() => ask({ name, value: one, isLocked: locked.has(name) })}
					/>
				))}
			</ul>
			{shown.length < holding.length && (
				<button type="button" onClick={() => setWhole(true)}>
					Show all {count(holding.length)}
				</button>
			)}
			{envelope.waived.length + elsewhere.length > 0 && (
				<>
					<h3>Waived</h3>
					<ul class="constraints" aria-label="What was waived">
						{envelope.waived.map((one, i) => (
							<li key={i}>
								<bdi class="key"><Seen text={one.key} /></bdi>
								<del dir="auto"><Seen text={shortText(one.value)} /></del>
								<Who by={one.by} reason={one.reason} unauthenticated={one.unauthenticated === true} />
								<span class="faint">at hop {one.at_hop}</span>
							</li>
						))}
						{elsewhere.map((waiver) => (
							<li key={`waiver ${waiver.waiver}`}>
								<bdi class="key"><Seen text={waiver.key} /></bdi>
								<Pending waiver={waiver} />
							</li>
						))}
					</ul>
				</>
			)}
			{asked && <WaiveDialog space={space} task={task} {...asked} close={() => ask(undefined)} done={reload} />}
		</Panel>
	);
}
