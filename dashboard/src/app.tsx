// The frame around every page: where one is, in which space, and whether what is shown is how things are.
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api";
import { identity, isOut, may, mayRoam, session } from "./identity";
import { connection, listen, reconnect } from "./live";
import { Count, Failure, Table, Time, Waiting } from "./parts/basics";
import { Dialog, Field, Sheet } from "./parts/dialog";
import { Notes } from "./parts/notes";
import { Agents } from "./pages/agents";
import { Channels } from "./pages/channels";
import { Cluster, useIsCluster } from "./pages/cluster";
import { Handoff } from "./pages/handoff";
import { Keys } from "./pages/keys";
import { Memories } from "./pages/memories";
import { Overview } from "./pages/overview";
import { Parked } from "./pages/parked";
import { Queues } from "./pages/queues";
import { SignIn } from "./pages/sign_in";
import { Task } from "./pages/task";
import { Tasks } from "./pages/tasks";
import { count, span } from "./format";
import { useParkedCount } from "./parked_count";
import { go, link, place, spaceLink, type Page, type Place } from "./router";
import { loadSession, signOut } from "./session";
import { isSpaceName, person, spaces, theme, type Theme } from "./settings";
import { useResource } from "./resource";
import { listSpaces } from "./spaces";
import { useStore } from "./store";

const nav: readonly { readonly page: Page; readonly title: string }[] = [
	{ page: "overview", title: "Overview" },
	{ page: "tasks", title: "Tasks" },
	{ page: "queues", title: "Queues" },
	{ page: "parked", title: "Parked" },
	{ page: "agents", title: "Agents" },
	{ page: "channels", title: "Channels" },
	{ page: "memories", title: "Memories" },
	{ page: "keys", title: "Keys" },
	{ page: "cluster", title: "Cluster" },
];

const themes: readonly Theme[] = ["auto", "light", "dark"];

function ThemeButton() {
	const chosen = useStore(theme);
	const next = themes[(themes.indexOf(chosen) + 1) % themes.length]!;

	return (
		<button
			type="button"
			class="quiet"
			onClick={() => theme.set(next)}
			aria-label={`Theme: ${chosen}. Change to ${next}`}
		>
			{chosen === "auto" ? "◐" : chosen === "light" ? "☀" : "☾"}
		</button>
	);
}

/** All spaces of the server, with how much is in each. */
function SpaceChooser({ space, close }: { space: string; close: () => void }) {
	const found = useResource(`${space} spaces`, (signal) => listSpaces(space, signal));

	return (
		<Sheet title="Spaces" close={close}>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!found.data && !found.problem && <Waiting />}
			{found.data?.length === 0 && <p class="faint">There is none yet: the first write makes one.</p>}
			{found.data && found.data.length > 0 && (
				<Table label="Spaces">
					<thead>
						<tr>
							<th scope="col">Space</th>
							<th scope="col" class="n">
								Memories
							</th>
							<th scope="col" class="n">
								Open
							</th>
							<th scope="col" class="n">
								Parked
							</th>
							<th scope="col">Made</th>
						</tr>
					</thead>
					<tbody>
						{found.data.map((one) => (
							<tr key={one.name}>
								<th scope="row">
									<a
										href={spaceLink(one.name)}
										aria-current={one.name === space ? "true" : undefined}
										onClick={close}
									>
										{one.name}
									</a>{" "}
									{one.name === space && <span class="faint">this one</span>}
								</th>
								<td class="n">{count(one.memories)}</td>
								<td class="n">
									<Count value={one.handoffs_open} />
								</td>
								<td class="n">
									<Count value={one.parked} tone="bad" />
								</td>
								<td>
									<Time at={one.created_at} />
								</td>
							</tr>
						))}
					</tbody>
				</Table>
			)}
		</Sheet>
	);
}

function SpaceField({ space }: { space: string }) {
	const remembered = useStore(spaces);
	const [typed, setTyped] = useState(space);
	const [all, setAll] = useState<readonly string[]>([]);
	const [isChoosing, setChoosing] = useState(false);
	const isValid = isSpaceName(typed);
	const known = [...new Set([...remembered, ...all])];
	const look = () =>
		void listSpaces(space).then(
			(found) => setAll(found.map(({ name }) => name)),
			() => undefined,
		);
	const enter = () => {
		if (isValid && typed !== space) go(spaceLink(typed));
	};

	useEffect(() => setTyped(space), [space]);
	return (
		<form
			class="space"
			onSubmit={(event) => {
				event.preventDefault();
				enter();
			}}
		>
			<label>
				<span>Space</span>
				<input
					list="spaces"
					value={typed}
					maxLength={64}
					autocomplete="off"
					autocapitalize="none"
					spellcheck={false}
					aria-invalid={!isValid}
					title="1 to 64 of a-z, 0-9, _ and -"
					onFocus={(event) => {
						event.currentTarget.select();
						look();
					}}
					onBlur={enter}
					onInput={(event) => {
						const { value } = event.currentTarget;
						setTyped(value);
						// One that was picked from the list is meant.
						if (
							known.includes(value) &&
							value !== space &&
							!(event as unknown as InputEvent).inputType?.startsWith("insertText")
						)
							go(spaceLink(value));
					}}
				/>
			</label>
			<datalist id="spaces">
				{known.map((name) => (
					<option key={name} value={name} />
				))}
			</datalist>
			<button type="button" class="quiet" aria-label="Choose a space" onClick={() => setChoosing(true)}>
				▾
			</button>
			{isChoosing && <SpaceChooser space={space} close={() => setChoosing(false)} />}
		</form>
	);
}

function PersonDialog({ close }: { close: () => void }) {
	const [name, setName] = useState(person.get());
	const mine = identity();

	return (
		<Dialog title="Who you are" action="Save" close={close} submit={() => person.set(name.trim())}>
			{mine && (
				<div class="identity">
					<p>
						Signed in with the key <bdi>{mine.name}</bdi> ({mine.id}): {mine.scopes.join(", ")}, in{" "}
						{mine.space === "*" ? "all spaces" : `the space ${mine.space}`}
						{mine.expires_at ? `, until ${new Date(mine.expires_at).toLocaleString()}` : ""}.
					</p>
					<button type="button" onClick={() => void signOut()}>
						Sign out
					</button>
				</div>
			)}
			{mine?.agent ? (
				<p>
					The key is that of the agent <bdi>{mine.agent}</bdi>: what you do here is done in its name.
				</p>
			) : (
				<Field label="Your name" hint="Written into the history beside what you decide. Kept in this browser.">
					<input
						value={name}
						maxLength={100}
						autocomplete="off"
						onInput={(event) => setName(event.currentTarget.value)}
					/>
				</Field>
			)}
		</Dialog>
	);
}

/** What the key does not allow is said before somebody tries. */
function Limits() {
	const now = useStore(session);

	if (may(now, "admin")) return null;
	return (
		<p class="limits" role="note">
			{may(now, "write")
				? "Your key may write, and decide nothing: what is parked, agents, alerts and constraints need one with admin."
				: "Your key may look, and change nothing."}
		</p>
	);
}

/** How fresh it is, in two words. */
function Live() {
	const { state } = useStore(connection);
	const text = {
		live: "live",
		connecting: "connecting",
		polling: "every 4 s",
		busy: "every 2 s",
		lost: "not connected",
	}[state];

	return (
		<span class={`live is-${state}`} role="status" title="Whether changes appear as they happen">
			<span aria-hidden="true">●</span> <span class="live-text">{text}</span>
		</span>
	);
}

function Lost() {
	const state = useStore(connection);
	const [current, tick] = useState(Date.now());
	const isLost = state.state === "lost";

	useEffect(() => {
		if (!isLost) return;
		const timer = setInterval(() => tick(Date.now()), 1_000);
		return () => clearInterval(timer);
	}, [isLost]);
	if (state.state !== "lost") return null;
	return (
		<div class="lost" role="alert">
			<span>
				The connection to the server is lost. What is shown is from{" "}
				<time>{new Date(state.since).toLocaleTimeString(undefined, { hour12: false })}</time>.
			</span>{" "}
			<span aria-hidden="true">
				Trying again {state.retryAt > current ? `in ${span(state.retryAt - current)}` : "now"}.
			</span>
			<button type="button" onClick={reconnect}>
				Try now
			</button>
		</div>
	);
}

function PageOf({ at }: { at: Place }) {
	const { space, page, parts } = at;

	switch (page) {
		case "overview":
			return <Overview space={space} />;
		case "tasks":
			return parts[0] ? <Task space={space} task={parts[0]} envelope={parts[1]} /> : <Tasks space={space} />;
		case "queues":
			return <Queues space={space} />;
		case "handoffs":
			return parts[0] ? <Handoff space={space} id={parts[0]} /> : <Queues space={space} />;
		case "parked":
			return <Parked space={space} id={parts[0]} />;
		case "agents":
			return <Agents space={space} chosen={parts[0] ?? at.query.get("agent") ?? undefined} />;
		case "channels":
			return <Channels space={space} />;
		case "memories":
			return <Memories space={space} id={parts[0]} />;
		case "keys":
			return <Keys space={space} />;
		case "cluster":
			return <Cluster space={space} />;
	}
}

function ParkedBadge({ space }: { space: string }) {
	const found = useParkedCount(space);

	return found ? (
		<span class="badge bad" aria-label={`, ${found} parked`}>
			{count(found)}
		</span>
	) : null;
}

/** What is looked at as a whole: a page, or a task, a queue or a handoff, which have pages of their own. */
function viewOf({ space, page, parts, query }: Place): string {
	const one = page === "queues" ? query.get("agent") : page === "tasks" || page === "handoffs" ? parts[0] : "";
	return [space, page, one ?? ""].join(" ");
}

function Brand() {
	return (
		<a class="brand" href={link("overview")}>
			Memory Spine
		</a>
	);
}

export function App() {
	const now = useStore(session);
	const at = useStore(place);
	const bound = now?.key && now.key.space !== "*" && now.key.space !== at.space ? now.key.space : undefined;

	useEffect(() => void loadSession(), []);
	// A key for one space has nothing to see in another.
	useEffect(() => {
		if (bound !== undefined) go(spaceLink(bound));
	}, [bound]);
	if (isOut(now))
		return (
			<>
				<header>
					<Brand />
					<div class="tools">
						<ThemeButton />
					</div>
				</header>
				<main>
					<SignIn />
				</main>
			</>
		);
	return now === undefined || bound !== undefined ? null : <Frame at={at} />;
}

function Frame({ at }: { at: Place }) {
	const now = useStore(session);
	const view = viewOf(at);
	const name = useStore(person);
	const shownName = now?.key?.agent ?? (name || now?.key?.name);
	const [isAsking, setAsking] = useState(false);
	const main = useRef<HTMLElement>(null);
	const first = useRef(true);
	const [error, setError] = useState<Problem>();
	const isAdmin = may(now, "admin") && mayRoam(now);
	const isCluster = useIsCluster(at.space, isAdmin);
	const isShown = (page: Page) =>
		page === "keys" ? now?.mode === "keys" && may(now, "admin") : page !== "cluster" || isCluster || at.page === page;

	useEffect(() => listen(at.space), [at.space]);
	// Where the pages do not fit side by side, the one that is open is to be seen.
	useEffect(() => {
		document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}, [at.page]);
	// A new page begins at its title, for eyes and for screen readers; the first one at the top of everything.
	useEffect(() => {
		if (!first.current) main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
		if (!first.current) window.scrollTo(0, 0);
		first.current = false;
	}, [view]);
	useEffect(() => {
		const show = (event: PromiseRejectionEvent | ErrorEvent) =>
			setError(
				new Problem(0, "error", `This page has a fault: ${String("reason" in event ? event.reason : event.message)}`),
			);
		window.addEventListener("error", show);
		window.addEventListener("unhandledrejection", show);
		return () => {
			window.removeEventListener("error", show);
			window.removeEventListener("unhandledrejection", show);
		};
	}, []);

	return (
		<>
			<a
				class="skip"
				href="#main"
				onClick={(event) => {
					event.preventDefault();
					main.current?.focus();
				}}
			>
				Skip to the content
			</a>
			<header>
				<Brand />
				<nav aria-label="Pages">
					{nav.filter(({ page }) => isShown(page)).map(({ page, title }) => (
						<a key={page} href={link(page)} aria-current={at.page === page ? "page" : undefined}>
							{title}
							{page === "parked" && <ParkedBadge space={at.space} />}
						</a>
					))}
				</nav>
				<div class="tools">
					<Live />
					{mayRoam(now) ? (
						<SpaceField space={at.space} />
					) : (
						<span title="The space that your key is for">
							<span class="faint">Space</span> {at.space}
						</span>
					)}
					<button
						type="button"
						class="quiet"
						onClick={() => setAsking(true)}
						aria-label={shownName ? `You are ${shownName}. Change` : "Say who you are"}
					>
						{shownName ? <bdi>{shownName}</bdi> : "You"}
					</button>
					<ThemeButton />
				</div>
			</header>
			<Lost />
			<main ref={main} tabIndex={-1}>
				<Limits />
				{error && <Failure problem={error} />}
				<PageOf key={view} at={at} />
			</main>
			<Notes />
			{isAsking && <PersonDialog close={() => setAsking(false)} />}
		</>
	);
}
