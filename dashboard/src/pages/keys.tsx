// Keys: who is let in, and to do what. A secret is shown once, when it is made.
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { identity, type Scope, session } from "../identity";
import { Command, Empty, Failure, Name, Pill, Table, Time, Title, Waiting, type Tone } from "../parts/basics";
import { Dialog, Field, Sheet } from "../parts/dialog";
import { say } from "../parts/notes";
import { useResource } from "../resource";
import { useStore } from "../store";

interface Key {
	readonly id: string;
	readonly name: string;
	readonly space: string;
	readonly agent: string | null;
	readonly scopes: readonly Scope[];
	readonly trust: string;
	readonly created_at: string;
	readonly created_by: string | null;
	readonly expires_at: string | null;
	readonly revoked_at: string | null;
	readonly reason: string | null;
	readonly rotated_until: string | null;
	readonly status: string;
}

type WithSecret = Key & { readonly key: string };

const PAGE = 200;
const PAGES_MAX = 5;
const SCOPES: readonly Scope[] = ["read", "write", "receive", "admin"];
const MEANING: Readonly<Record<Scope, string>> = {
	read: "looks at what is there",
	write: "stores memories, packs and sends",
	receive: "takes work, and settles it",
	admin: "all of these, settings and keys",
};
const tones: Readonly<Record<string, Tone>> = { valid: "good", revoked: "plain", expired: "warn" };

async function listKeys(space: string, signal: AbortSignal): Promise<readonly Key[]> {
	const found: Key[] = [];
	let token: string | null | undefined;

	for (let page = 0; page < PAGES_MAX && token !== null; page++) {
		const answer: { keys: Key[]; next_page_token: string | null } = await call(space, "GET", "v1/keys", {
			query: { page_size: PAGE, page_token: token },
			signal,
		});
		found.push(...answer.keys);
		token = answer.next_page_token;
	}
	return found;
}

/** The one time that it is to be seen. */
function Secret({ made, close }: { made: WithSecret; close: () => void }) {
	return (
		<Sheet title={`The key ${made.id}`} close={close}>
			<p>
				Copy it now: <strong>it is shown this once</strong>. The server itself does not know it any more.
			</p>
			<Command what={made.name} text={made.key} />
			<p class="faint">
				Keep it in a file of mode 0600 that SPINE_KEY_FILE names, or in SPINE_KEY.
			</p>
		</Sheet>
	);
}

function CreateDialog({ space, close, done }: { space: string; close: () => void; done: (made: WithSecret) => void }) {
	const mine = identity();
	const [name, setName] = useState("");
	const [where, setWhere] = useState(mine && mine.space !== "*" ? mine.space : space);
	const [agent, setAgent] = useState("");
	const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
	const [days, setDays] = useState("90");
	const toggle = (scope: Scope, isOn: boolean) =>
		setScopes(SCOPES.filter((one) => (one === scope ? isOn : scopes.includes(one))));

	return (
		<Dialog
			title="Make a key"
			action="Make it"
			isReady={name.trim() !== "" && scopes.length > 0}
			close={close}
			submit={async () => {
				const body = {
					name: name.trim(),
					space: where.trim(),
					...(agent.trim() ? { agent: agent.trim() } : {}),
					scopes,
					...(days ? { ttl_s: Number(days) * 86_400 } : {}),
				};
				done(await call<WithSecret>(space, "POST", "v1/keys", { body }));
			}}
		>
			<Field label="Name" hint="What people call it, such as the program that has it.">
				<input value={name} maxLength={128} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
			</Field>
			<Field label="Space" hint="The one space that it is for, or * for all of them.">
				<input
					value={where}
					maxLength={64}
					autocomplete="off"
					disabled={mine !== null && mine.space !== "*"}
					onInput={(event) => setWhere(event.currentTarget.value)}
				/>
			</Field>
			<Field label="Agent (optional)" hint="Then it speaks and takes work for that agent only.">
				<input value={agent} maxLength={128} autocomplete="off" onInput={(event) => setAgent(event.currentTarget.value)} />
			</Field>
			<fieldset class="scopes">
				<legend>What it may do</legend>
				{SCOPES.map((scope) => (
					<label key={scope}>
						<input
							type="checkbox"
							checked={scopes.includes(scope)}
							onChange={(event) => toggle(scope, event.currentTarget.checked)}
						/>{" "}
						{scope} <span class="faint">{MEANING[scope]}</span>
					</label>
				))}
			</fieldset>
			<Field label="Valid for">
				<select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
					<option value="1">1 day</option>
					<option value="30">30 days</option>
					<option value="90">90 days</option>
					<option value="365">a year</option>
					<option value="">ever</option>
				</select>
			</Field>
		</Dialog>
	);
}

function RotateDialog({
	space,
	one,
	close,
	done,
}: {
	space: string;
	one: Key;
	close: () => void;
	done: (made: WithSecret) => void;
}) {
	const [grace, setGrace] = useState("86400");

	return (
		<Dialog
			title={`Rotate ${one.id}`}
			action="Rotate"
			close={close}
			submit={async () => {
				const body = { grace_s: Number(grace) };
				done(await call<WithSecret>(space, "POST", path("keys", one.id, "rotate"), { body }));
			}}
		>
			<p>
				<Name>{one.name}</Name> gets a new secret. What has the old one goes on with it for a while.
			</p>
			<Field label="The old one is valid for">
				<select value={grace} onChange={(event) => setGrace(event.currentTarget.value)}>
					<option value="0">no longer</option>
					<option value="3600">an hour</option>
					<option value="86400">a day</option>
					<option value="604800">a week</option>
				</select>
			</Field>
		</Dialog>
	);
}

function RevokeDialog({ space, one, close, done }: { space: string; one: Key; close: () => void; done: () => void }) {
	const [reason, setReason] = useState("");

	return (
		<Dialog
			title={`Revoke ${one.id}`}
			action="Revoke for good"
			isDangerous
			close={close}
			submit={async () => {
				await call(space, "POST", path("keys", one.id, "revoke"), { body: reason.trim() ? { reason: reason.trim() } : {} });
				say(`${one.id} is revoked`);
				done();
			}}
		>
			<p>
				Whoever has <Name>{one.name}</Name> is shut out at once, streams and waiting calls included.
				{one.id === identity()?.id && <strong> It is the key that you are signed in with.</strong>}
			</p>
			<Field label="Why (optional)">
				<input value={reason} maxLength={500} autocomplete="off" onInput={(event) => setReason(event.currentTarget.value)} />
			</Field>
		</Dialog>
	);
}

type Asked = { readonly what: "create" } | { readonly what: "rotate" | "revoke"; readonly one: Key };

export function Keys({ space }: { space: string }) {
	const mine = useStore(session)?.key;
	const list = useResource(`${space} keys`, (signal) => listKeys(space, signal), { everyMs: 30_000 });
	const [asked, setAsked] = useState<Asked>();
	const [made, setMade] = useState<WithSecret>();
	const close = () => setAsked(undefined);
	const done = (one?: WithSecret) => {
		if (one) setMade(one);
		list.reload();
	};

	return (
		<>
			<Title
				aside={
					<button type="button" class="primary" onClick={() => setAsked({ what: "create" })}>
						Make a key…
					</button>
				}
			>
				Keys
			</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.data && !list.problem && <Waiting />}
			{list.data?.length === 0 && <Empty title="No key" />}
			{list.data && list.data.length > 0 && (
				<Table label="Keys">
					<thead>
						<tr>
							<th scope="col">Key</th>
							<th scope="col">Space</th>
							<th scope="col">Agent</th>
							<th scope="col">May</th>
							<th scope="col">State</th>
							<th scope="col">Made</th>
							<th scope="col">Ends</th>
							<th scope="col">
								<span class="visually-hidden">Actions</span>
							</th>
						</tr>
					</thead>
					<tbody>
						{list.data.map((one) => (
							<tr key={one.id}>
								<th scope="row">
									{one.id} <Name>{one.name}</Name> {one.id === mine?.id && <span class="faint">yours</span>}
								</th>
								<td>{one.space === "*" ? "all" : one.space}</td>
								<td>
									<Name>{one.agent}</Name>
								</td>
								<td>{one.scopes.join(", ")}</td>
								<td>
									<Pill tone={tones[one.status] ?? "plain"} title={one.reason ?? undefined}>
										{one.status}
									</Pill>
								</td>
								<td>
									<Time at={one.created_at} />
								</td>
								<td>{one.expires_at ? new Date(one.expires_at).toLocaleDateString() : <span class="faint">never</span>}</td>
								<td class="actions">
									{one.status === "valid" && (
										<>
											<button
												type="button"
												aria-label={`Rotate ${one.id}`}
												onClick={() => setAsked({ what: "rotate", one })}
											>
												Rotate…
											</button>{" "}
											<button
												type="button"
												aria-label={`Revoke ${one.id}`}
												onClick={() => setAsked({ what: "revoke", one })}
											>
												Revoke…
											</button>
										</>
									)}
								</td>
							</tr>
						))}
					</tbody>
				</Table>
			)}
			{asked?.what === "create" && <CreateDialog space={space} close={close} done={done} />}
			{asked?.what === "rotate" && <RotateDialog space={space} one={asked.one} close={close} done={done} />}
			{asked?.what === "revoke" && <RevokeDialog space={space} one={asked.one} close={close} done={done} />}
			{made && <Secret made={made} close={() => setMade(undefined)} />}
		</>
	);
}
