// A space in which nothing has happened yet: what to do first.
import { useRef } from "preact/hooks";
import { call } from "../api";
import { Command, Title } from "../parts/basics";
import { useResource } from "../resource";
import { spaceLink } from "../router";
import { listSpaces } from "../spaces";
import type { Agent, Status } from "../types";

/** True where it is sure that nothing is there. */
export function useIsEmpty(space: string): boolean {
	// What is not empty stays so, and need not be asked again.
	const isFilled = useRef("");
	const found = useResource(
		`${space} empty`,
		async (signal) => {
			const [status, agents, tasks] = await Promise.all([
				call<Status>(space, "GET", "v1/status", { signal }),
				call<{ agents: Agent[] }>(space, "GET", "v1/agents", { query: { page_size: 1 }, signal }),
				call<{ tasks: unknown[] }>(space, "GET", "v1/tasks", { query: { page_size: 1 }, signal }),
			]);
			return status.memories === 0 && agents.agents.length === 0 && tasks.tasks.length === 0;
		},
		{ topics: isFilled.current === space ? [] : ["memory.", "envelope.", "agent.", "handoff.queued"], gapMs: 300 },
	);

	if (found.data === false) isFilled.current = space;
	return found.data === true;
}

export function Welcome({ space }: { space: string }) {
	const where = `${location.origin === "http://127.0.0.1:8788" ? "" : ` --url ${location.origin}`}${space === "default" ? "" : ` --space ${space}`}`;
	// The demonstration plays in a space of its own, unless it is told to play here.
	const demo = `build/spine demo --space ${space}${location.origin === "http://127.0.0.1:8788" ? "" : ` --url ${location.origin}`}`;

	const known = useResource(`${space} spaces`, (signal) => listSpaces(space, signal), { everyMs: 2_000 });
	const others = (known.data ?? []).map(({ name }) => name).filter((name) => name !== space);

	return (
		<>
			<Title>Nothing has happened here yet</Title>
			<div class="welcome">
				<p>
					The space <code>{space}</code> is empty. This page comes alive by itself as soon as an agent stores a memory
					or hands over work. Try one of these, in the folder where you ran <code>make run</code>:
				</p>
				<Command what="Four agents, one task, three things that go wrong: twenty seconds" text={demo} />
				<Command
					what="Remember something"
					text={`build/spine store 'Retries use exponential backoff with jitter.'${where}`}
				/>
				<Command what="Hand work to an agent" text={`build/spine send --to coder 'Say hello.' --from me${where}`} />
				<Command what="Be that agent" text={`build/spine receive coder --exec cat${where}`} />
				{others.length > 0 && (
					<p>
						There is something in {others.length === 1 ? "another space" : "other spaces"}:{" "}
						<span class="names">
							{others.slice(0, 100).map((name) => (
								<a key={name} href={spaceLink(name)}>
									{name}
								</a>
							))}
						</span>
					</p>
				)}
				<p class="faint">
					From Python: <code>from memory_spine import MemorySpine</code>, see <code>sdk/python/README.md</code>. The
					space is chosen at the top of the page.
				</p>
			</div>
		</>
	);
}
