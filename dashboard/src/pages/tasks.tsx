// All tasks, the newest first.
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { count, plural, shorten } from "../format";
import { Empty, Failure, More, Name, Table, Time, Title, Waiting } from "../parts/basics";
import { useResource } from "../resource";
import { link } from "../router";
import type { Trace } from "../types";

interface TaskRow {
	readonly id: string;
	readonly created_at: string;
	readonly envelopes: number;
}

const PAGE = 25;

/** What the user asked for. The list does not say it, so it is read for each row that is shown. */
function Intent({ space, id }: { space: string; id: string }) {
	const task = useResource(`${space} about ${id}`, async (signal) => {
		const { intent } = await call<{ intent: string | null }>(space, "GET", path("tasks", id), {
			query: { page_size: 1 },
			signal,
		});
		// Nobody said what the user asked for: then what the first agent was asked for.
		const first = intent
			? undefined
			: await call<Trace>(space, "GET", path("tasks", id, "trace"), { query: { page_size: 1 }, signal });
		return { intent, summary: first?.envelopes[0]?.summary };
	});

	if (!task.data) return <span class="faint">…</span>;
	const { intent, summary } = task.data;
	return (
		<span class={intent ? "" : "faint"} dir="auto">
			{shorten(intent ?? summary ?? "", 160)}
		</span>
	);
}

export function Tasks({ space }: { space: string }) {
	const [size, setSize] = useState(PAGE);
	const list = useResource(
		`${space} tasks ${size}`,
		(signal) =>
			call<{ tasks: TaskRow[]; next_page_token: string | null }>(space, "GET", "v1/tasks", {
				query: { page_size: size },
				signal,
			}),
		{ topics: ["envelope."] },
	);
	const tasks = list.data?.tasks ?? [];

	return (
		<>
			<Title
				aside={
					list.data && (
						<span class="faint">
							{plural(tasks.length, "task")}
							{list.data.next_page_token && ", and more"}
						</span>
					)
				}
			>
				Tasks
			</Title>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.data && !list.problem && <Waiting />}
			{list.data && tasks.length === 0 && (
				<Empty title="No task yet">
					<p>
						A task begins with the first envelope that is packed: <code>spine handoff</code>, <code>spine send</code> or{" "}
						<code>agent_handoff</code>.
					</p>
				</Empty>
			)}
			{tasks.length > 0 && (
				<Table label="Tasks">
					<thead>
						<tr>
							<th scope="col">Task</th>
							<th scope="col">What the user asked for</th>
							<th scope="col" class="n">
								Envelopes
							</th>
							<th scope="col">Begun</th>
						</tr>
					</thead>
					<tbody>
						{tasks.map((task) => (
							<tr key={task.id}>
								<th scope="row">
									<a href={link("tasks", task.id)}>
										<Name>{task.id}</Name>
									</a>
								</th>
								<td class="wide widest">
									<Intent space={space} id={task.id} />
								</td>
								<td class="n">{count(task.envelopes)}</td>
								<td>
									<Time at={task.created_at} />
								</td>
							</tr>
						))}
					</tbody>
				</Table>
			)}
			<More shown={tasks.length} next={list.data?.next_page_token} more={() => setSize(Math.min(1000, size * 2))} />
		</>
	);
}
