// All tasks, the newest first.
import { useState } from "preact/hooks";
import { call } from "../api";
import { count, plural, shorten } from "../format";
import { Empty, Failure, More, Name, Table, Time, Title, Waiting } from "../parts/basics";
import { useResource } from "../resource";
import { link } from "../router";

interface TaskRow {
	readonly id: string;
	readonly created_at: string;
	readonly envelopes: number;
	readonly intent: string | null;
	readonly summary: string | null;
}

const PAGE = 25;

/** What the user asked for; where nobody said it, what the first agent was asked for. */
function About({ intent, summary }: TaskRow) {
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
									<About {...task} />
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
