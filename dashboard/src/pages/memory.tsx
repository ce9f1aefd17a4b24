// One memory: what it says, what it said before, and what can be done with it.
import { useState } from "preact/hooks";
import { asProblem, call, path } from "../api";
import { plural } from "../format";
import { Failure, Flags, Name, Panel, Pill, State, Text, Time, Trust, Waiting } from "../parts/basics";
import { TextDifference, valueText } from "../parts/difference";
import { Dialog, Field } from "../parts/dialog";
import { say } from "../parts/notes";
import { May } from "../parts/may";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import { go, link } from "../router";
import { by } from "../identity";
import type { Memory, Origin } from "../types";

/** If it has moved on since it was read, nothing is done to it. */
function ifUnchanged(memory: Memory): Record<string, string> {
	return { "If-Match": `"${memory.id}@${memory.version}"` };
}

function Supersede({ space, memory, close }: { space: string; memory: Memory; close: () => void }) {
	const [content, setContent] = useState(memory.content ?? "");

	return (
		<Dialog
			title={`Supersede ${memory.id}`}
			action="Supersede"
			close={close}
			submit={async () => {
				const made = await call<Memory>(space, "POST", "v1/memories", {
					body: {
						content,
						supersedes: memory.id,
						agent: by(),
						kind: memory.kind,
						tags: memory.tags,
						importance: memory.importance,
						pinned: memory.pinned,
						trust: "user",
						...(memory.task ? { task: memory.task } : {}),
					},
				});
				say(`${made.id} supersedes ${memory.id}`);
				go(link("memories", made.id));
			}}
		>
			<p>A new memory takes its place in searches and handoffs. The old one can still be read by its id.</p>
			<Field label="What is true now">
				<textarea
					required
					rows={8}
					value={content}
					dir="auto"
					onInput={(event) => setContent(event.currentTarget.value)}
				/>
			</Field>
		</Dialog>
	);
}

function Forget({
	space,
	memory,
	close,
	done,
}: {
	space: string;
	memory: Memory;
	close: () => void;
	done: () => void;
}) {
	const [typed, setTyped] = useState("");

	return (
		<Dialog
			title={`Forget ${memory.id} for good`}
			action="Forget"
			isDangerous
			close={close}
			submit={async () => {
				if (typed.trim() !== memory.id) throw new Error(`Type ${memory.id} to forget it`);
				await call(space, "DELETE", path("memories", memory.id), { headers: ifUnchanged(memory) });
				say(`${memory.id} is forgotten`);
				done();
			}}
		>
			<p>
				The content, summary, tags and metadata of every version are removed, from envelopes, too. This cannot be
				undone.
			</p>
			<Field label={`Type ${memory.id} to go on`}>
				<input
					required
					value={typed}
					autocomplete="off"
					spellcheck={false}
					onInput={(event) => setTyped(event.currentTarget.value)}
				/>
			</Field>
		</Dialog>
	);
}

function Versions({ space, memory, reload }: { space: string; memory: Memory; reload: () => void }) {
	const [at, setAt] = useState(0);
	const list = useResource(`${space} versions ${memory.id} ${memory.version}`, (signal) =>
		call<{ versions: Memory[] }>(space, "GET", path("memories", memory.id, "versions"), {
			query: { page_size: 200 },
			signal,
		}),
	);
	const versions = list.data?.versions ?? [];
	const later = versions[at];
	const earlier = versions[at + 1];
	const revert = async (version: number) => {
		try {
			await call(space, "POST", path("memories", memory.id, "revert"), {
				body: { version },
				headers: ifUnchanged(memory),
			});
			say(`${memory.id} says again what version ${version} said`);
			setAt(0);
			reload();
		} catch (error) {
			say(asProblem(error).message, true);
		}
	};

	if (list.problem) return <Failure problem={list.problem} retry={list.reload} />;
	if (!list.data) return <Waiting />;
	if (versions.length < 2) return <p class="faint">There is one version: it was never changed.</p>;
	return (
		<>
			<div class="versions">
				<label class="inline">
					What changed with{" "}
					<select value={at} onChange={(event) => setAt(Number(event.currentTarget.value))}>
						{versions.slice(0, -1).map((version, i) => (
							<option key={version.version} value={i}>
								version {version.version}
							</option>
						))}
					</select>
				</label>
				{earlier && (
					<May scope="write">
						<button type="button" onClick={() => void revert(earlier.version)}>
							Go back to version {earlier.version}
						</button>
					</May>
				)}
			</div>
			{later && earlier && (
				<>
					<p class="faint">
						version {earlier.version} → {later.version}, <Time at={later.updated_at} /> by{" "}
						<Name none="nobody">{later.agent}</Name>
					</p>
					<TextDifference before={earlier.content ?? ""} after={later.content ?? ""} />
				</>
			)}
		</>
	);
}

/** "http, key-7, memory-spine-python/0.1.0" */
function Way({ origin }: { origin: Origin }) {
	return <Name>{[origin.protocol, origin.key, origin.client].filter(Boolean).join(", ")}</Name>;
}

function Facts({ memory }: { memory: Memory }) {
	const other = (id: string | null) => (id ? <a href={link("memories", id)}>{id}</a> : null);

	return (
		<dl class="facts">
			<div>
				<dt>Kind</dt>
				<dd>
					<Name none="note">{memory.kind}</Name>
				</dd>
			</div>
			<div>
				<dt>Importance</dt>
				<dd>{memory.importance}</dd>
			</div>
			<div>
				<dt>Trust</dt>
				<dd>{memory.trust}</dd>
			</div>
			<div>
				<dt>Author</dt>
				<dd>
					<Name none="nobody">{memory.agent}</Name>
				</dd>
			</div>
			{memory.task && (
				<div>
					<dt>Task</dt>
					<dd>
						<a href={link("tasks", memory.task)}>
							<Name>{memory.task}</Name>
						</a>
					</dd>
				</div>
			)}
			<div>
				<dt>Stored</dt>
				<dd>
					<Time at={memory.created_at} />
				</dd>
			</div>
			{memory.origin && (
				<div>
					<dt>Came by</dt>
					<dd>
						<Way origin={memory.origin} />
					</dd>
				</div>
			)}
			{memory.origin?.claimed && (
				<div>
					<dt>Its file says</dt>
					<dd>
						<Way origin={memory.origin.claimed} />
					</dd>
				</div>
			)}
			{memory.expires_at && (
				<div>
					<dt>Expires</dt>
					<dd>
						<Time at={memory.expires_at} />
					</dd>
				</div>
			)}
			{memory.supersedes && (
				<div>
					<dt>Supersedes</dt>
					<dd>{other(memory.supersedes)}</dd>
				</div>
			)}
			{memory.superseded_by && (
				<div>
					<dt>Superseded by</dt>
					<dd>{other(memory.superseded_by)}</dd>
				</div>
			)}
		</dl>
	);
}

export function MemoryDetail({ space, id }: { space: string; id: string }) {
	const [asked, ask] = useState<"supersede" | "forget">();
	const found = useResource(
		`${space} memory ${id}`,
		(signal) => call<Memory>(space, "GET", path("memories", id), { signal }),
		{ topics: ["memory."] },
	);
	const memory = found.data;
	const pin = async (verb: "pin" | "unpin") => {
		try {
			await call(space, "POST", path("memories", id, verb), { body: {} });
			found.reload();
		} catch (error) {
			say(asProblem(error).message, true);
		}
	};

	return (
		<Panel
			title={
				<>
					{id} {memory && memory.version > 1 && <span class="faint">version {memory.version}</span>}
				</>
			}
			aside={
				memory && (
					<span class="names">
						<State name={memory.state} />
						{memory.pinned && <Pill tone="info">pinned</Pill>}
						<Trust trust={memory.trust} />
						<Flags flags={memory.flags} />
					</span>
				)
			}
		>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!memory && !found.problem && <Waiting />}
			{memory && memory.state === "forgotten" && (
				<p>It was forgotten. Its content is gone; its id stays, so that references to it can say so.</p>
			)}
			{memory && memory.state !== "forgotten" && (
				<>
					<May scope="write">
						<div class="buttons">
							<button type="button" onClick={() => void pin(memory.pinned ? "unpin" : "pin")}>
								{memory.pinned ? "Unpin" : "Pin"}
							</button>
							{memory.superseded_by === null && (
								<button type="button" onClick={() => ask("supersede")}>
									Supersede…
								</button>
							)}
							<button type="button" class="danger" onClick={() => ask("forget")}>
								Forget…
							</button>
						</div>
					</May>
					<Facts memory={memory} />
					<Text text={memory.content ?? ""} label={`Content of ${id}`} />
					{memory.summary && (
						<>
							<h3>Summary</h3>
							<Text text={memory.summary} label={`Summary of ${id}`} />
						</>
					)}
					{memory.tags.length > 0 && (
						<p class="tags">
							{memory.tags.map((tag) => (
								<bdi key={tag} class="tag">
									<Seen text={tag} />
								</bdi>
							))}
						</p>
					)}
					{Object.keys(memory.metadata).length > 0 && (
						<>
							<h3>Metadata</h3>
							<ul class="plain-list">
								{Object.entries(memory.metadata).map(([name, value]) => (
									<li key={name}>
										<bdi class="key">
											<Seen text={name} />
										</bdi>{" "}
										<span dir="auto">
											<Seen text={valueText(value)} />
										</span>
									</li>
								))}
							</ul>
						</>
					)}
					<h3>{plural(memory.version, "version")}</h3>
					<Versions space={space} memory={memory} reload={found.reload} />
				</>
			)}
			{memory && asked === "supersede" && <Supersede space={space} memory={memory} close={() => ask(undefined)} />}
			{memory && asked === "forget" && (
				<Forget space={space} memory={memory} close={() => ask(undefined)} done={found.reload} />
			)}
		</Panel>
	);
}
