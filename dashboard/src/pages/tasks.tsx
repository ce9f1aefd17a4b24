// All tasks, as people work from them: how each stands, who has it, since when, and what it is about. The newest change comes first.
import { count, plural, words } from "../format";
import { Age, Count, Empty, Failure, Name, State, Table, Time, Title, Waiting } from "../parts/basics";
import { AgentSelect, Choices, ClearFilters, SearchField, Select } from "../parts/filters";
import { HandoffLink, QueueLink, Summary } from "../parts/handoffs";
import { MoreRows } from "../parts/more";
import { Seen } from "../parts/seen";
import { link, linkWith, place } from "../router";
import { useRows } from "../rows";
import { useStore } from "../store";
import type { TaskRow } from "../types";

const PAGE = 50;
const states = ["open", "working", "waiting", "held", "parked", "done"];
const ages = [
	{ value: "", title: "any age" },
	{ value: "600", title: "over 10 min" },
	{ value: "3600", title: "over 1 hour" },
	{ value: "86400", title: "over 1 day" },
	{ value: "604800", title: "over 7 days" },
];

/** What the user asked for, and what is being done about it; where nobody said the one, the other. */
function About({ task }: { task: TaskRow }) {
	const { intent, summary } = task;

	return (
		<>
			<Summary>{intent ?? summary}</Summary>
			{intent && summary && intent !== summary && (
				<span class="faint clamp-one" dir="auto">
					<Seen text={summary} />
				</span>
			)}
		</>
	);
}

function TaskState({ task }: { task: TaskRow }) {
	if (task.parked === 0) return <State name={task.state} />;
	return (
		<a href={linkWith({ task: task.id }, "parked")} aria-label={`${plural(task.parked, "handoff")} parked`}>
			<State name={task.state} />
			{task.parked > 1 && <span class="faint"> {count(task.parked)}</span>}
		</a>
	);
}

function LastEvent({ task }: { task: TaskRow }) {
	return (
		<>
			<Time at={task.changed_at} />{" "}
			{task.last_event && (
				<div class="faint">
					{words(task.last_event.event.replace(/^handoff\./, ""))} {task.handoff && <HandoffLink id={task.handoff} />}
				</div>
			)}
		</>
	);
}

function Row({ task }: { task: TaskRow }) {
	return (
		<tr>
			<th scope="row">
				<a href={link("tasks", task.id)}>
					<Name>{task.id}</Name>
				</a>
			</th>
			<td class="state">
				<TaskState task={task} />
			</td>
			<td class="wide">
				<About task={task} />
			</td>
			<td class="agent" data-label="with">
				{task.agent ? <QueueLink agent={task.agent} /> : <span class="faint">nobody</span>}
			</td>
			<td data-label="age">
				<Age at={task.created_at} />
			</td>
			<td class="n" data-label="hops">
				<Count value={task.hops} />
			</td>
			<td class="n" data-label="tokens">
				<Count value={task.tokens} />
			</td>
			<td data-label="changed">
				<LastEvent task={task} />
			</td>
		</tr>
	);
}

function TaskTable({ tasks }: { tasks: readonly TaskRow[] }) {
	return (
		<Table label="Tasks" class="stack">
			<thead>
				<tr>
					<th scope="col">Task</th>
					<th scope="col">State</th>
					<th scope="col">What it is about</th>
					<th scope="col">Agent</th>
					<th scope="col">Age</th>
					<th scope="col" class="n">
						Hops
					</th>
					<th scope="col" class="n">
						Tokens
					</th>
					<th scope="col">Last event</th>
				</tr>
			</thead>
			<tbody>
				{tasks.map((task) => (
					<Row key={task.id} task={task} />
				))}
			</tbody>
		</Table>
	);
}

export function Tasks({ space }: { space: string }) {
	const { query } = useStore(place);
	const wanted = {
		query: query.get("q") ?? "",
		state: states.find((one) => one === query.get("state")) ?? "",
		agent: query.get("agent") ?? "",
		older_than_s: query.get("age") ?? "",
	};
	const isFiltered = Object.values(wanted).some(Boolean);
	const list = useRows<TaskRow>(space, "v1/tasks", "tasks", {
		query: wanted,
		size: PAGE,
		topics: ["envelope.", "handoff.", "breaker."],
		gapMs: 1_000,
		// A task becomes older also when nothing happens to it.
		everyMs: wanted.older_than_s ? 15_000 : undefined,
	});
	const tasks = list.rows ?? [];

	return (
		<>
			<Title
				aside={
					list.rows && (
						<span class="faint" role="status">
							{plural(tasks.length, "task")}
							{list.hasMore && ", and more"}
						</span>
					)
				}
			>
				Tasks
			</Title>
			<div class="search" role="search">
				<SearchField name="q" label="Search tasks" hint="Words of the name, the intent or the summary" />
				<Choices name="state" label="State" options={states} />
				<AgentSelect space={space} />
				<Select name="age" label="Age" options={ages} />
				<ClearFilters />
			</div>
			{list.problem && <Failure problem={list.problem} retry={list.reload} />}
			{!list.rows && !list.problem && <Waiting />}
			{list.rows &&
				tasks.length === 0 &&
				(isFiltered ? (
					<Empty title="No task fits">
						<p>Take a filter away, or search for other words.</p>
					</Empty>
				) : (
					<Empty title="No task yet">
						<p>
							A task begins with the first envelope that is packed: <code>spine pack</code> or <code>spine send</code>.
						</p>
					</Empty>
				))}
			{tasks.length > 0 && <TaskTable tasks={tasks} />}
			<MoreRows list={list} />
		</>
	);
}
