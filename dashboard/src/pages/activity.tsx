// What has just happened, as it happens.
import { Name, Panel, Time } from "../parts/basics";
import { HandoffLink } from "../parts/handoffs";
import { Seen } from "../parts/seen";
import { recent, shortType } from "../live";
import { link } from "../router";
import { useStore } from "../store";
import type { LiveEvent } from "../types";

const SHOWN_MAX = 15;

/** Where something can be looked at. */
function Subject({ subject }: { subject: string | undefined }) {
	if (!subject) return null;
	if (/^ms-\d+$/.test(subject)) return <a href={link("memories", subject)}>{subject}</a>;
	if (/^ho-\d+$/.test(subject)) return <HandoffLink id={subject} />;
	return <bdi>{subject}</bdi>;
}

function Row({ event }: { event: LiveEvent }) {
	const { data } = event;

	return (
		<li>
			<Time at={event.time} /> <span class="event-type">{shortType(event.type)}</span>{" "}
			<Subject subject={event.subject} /> {data?.agent && <Name>{data.agent}</Name>}{" "}
			{data?.actor && data.actor !== data.agent && (
				<span class="faint">
					by <Name>{data.actor}</Name>
				</span>
			)}{" "}
			{data?.key && <span class="faint">with {data.key}</span>}{" "}
			{data?.note && (
				<span class="faint note-text" dir="auto">
					<Seen text={data.note} />
				</span>
			)}
		</li>
	);
}

export function Activity() {
	const events = useStore(recent);

	if (events.length === 0) return null;
	return (
		<Panel title="Just now">
			<ul class="activity">
				{events.slice(0, SHOWN_MAX).map((event) => (
					<Row key={event.id} event={event} />
				))}
			</ul>
		</Panel>
	);
}
