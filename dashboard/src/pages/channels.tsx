// Who hears what, and who comes next.
import { call, path } from "../api";
import { count } from "../format";
import { Empty, Failure, Name, Panel, Table, Time, Title, Waiting } from "../parts/basics";
import { valueText } from "../parts/difference";
import { Seen } from "../parts/seen";
import { useResource } from "../resource";
import type { Channel, Route } from "../types";

const SUBSCRIBERS_SHOWN = 30;

function Subscribers({ space, channel }: { space: string; channel: Channel }) {
	const whole = useResource(`${space} channel ${channel.name} ${channel.subscriber_count}`, (signal) =>
		call<Channel>(space, "GET", path("channels", channel.name), { signal }),
	);
	const names = whole.data?.subscribers ?? [];

	if (channel.subscriber_count === 0) return <span class="faint">nobody</span>;
	return (
		<span class="names">
			{names.slice(0, SUBSCRIBERS_SHOWN).map((name) => (
				<Name key={name}>{name}</Name>
			))}
			{names.length > SUBSCRIBERS_SHOWN && (
				<span class="faint">and {count(names.length - SUBSCRIBERS_SHOWN)} more</span>
			)}
		</span>
	);
}

function ChannelTable({ space }: { space: string }) {
	const list = useResource(
		`${space} channels`,
		(signal) => call<{ channels: Channel[] }>(space, "GET", "v1/channels", { query: { page_size: 200 }, signal }),
		{ topics: ["channel."] },
	);

	if (list.problem) return <Failure problem={list.problem} retry={list.reload} />;
	if (!list.data) return <Waiting />;
	if (list.data.channels.length === 0)
		return (
			<Empty title="No channel yet">
				<p>
					One envelope to many agents: <code>spine channels subscribe reviews alice</code>, then <code>publish</code>.
				</p>
			</Empty>
		);
	return (
		<Table label="Channels">
			<thead>
				<tr>
					<th scope="col">Channel</th>
					<th scope="col" class="n">
						Subscribers
					</th>
					<th scope="col">Who</th>
					<th scope="col">Made</th>
				</tr>
			</thead>
			<tbody>
				{list.data.channels.map((channel) => (
					<tr key={channel.name}>
						<th scope="row">
							<Name>{channel.name}</Name>
							{channel.description && (
								<div class="faint clamp" dir="auto">
									<Seen text={channel.description} />
								</div>
							)}
						</th>
						<td class="n">{count(channel.subscriber_count)}</td>
						<td class="wide">
							<Subscribers space={space} channel={channel} />
						</td>
						<td>
							<Time at={channel.created_at} />
						</td>
					</tr>
				))}
			</tbody>
		</Table>
	);
}

function When({ when }: { when: Route["when"] }) {
	const conditions = Object.entries(when ?? {});

	if (conditions.length === 0) return <span class="faint">always</span>;
	return (
		<span class="names">
			{conditions.map(([name, value]) => (
				<code key={name}>
					<bdi>{`${name}: ${valueText(value)}`}</bdi>
				</code>
			))}
		</span>
	);
}

function RouteTable({ space }: { space: string }) {
	const list = useResource(
		`${space} routes`,
		(signal) => call<{ routes: Route[] }>(space, "GET", "v1/routes", { query: { page_size: 500 }, signal }),
		{ topics: ["route."] },
	);

	if (list.problem) return <Failure problem={list.problem} retry={list.reload} />;
	if (!list.data) return <Waiting />;
	const routes = [...list.data.routes].sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
	if (routes.length === 0)
		return (
			<Empty title="No route yet">
				<p>
					Routes say who comes next where an envelope is for <code>next</code>: the first that fits.
				</p>
			</Empty>
		);
	return (
		<Table label="Routes, in the order in which they are tried">
			<thead>
				<tr>
					<th scope="col" class="n">
						Order
					</th>
					<th scope="col">Route</th>
					<th scope="col">From</th>
					<th scope="col">To</th>
					<th scope="col">Where</th>
				</tr>
			</thead>
			<tbody>
				{routes.map((route) => (
					<tr key={route.name}>
						<td class="n">{route.order}</td>
						<th scope="row">
							<Name>{route.name}</Name>
							{route.description && (
								<div class="faint clamp" dir="auto">
									<Seen text={route.description} />
								</div>
							)}
						</th>
						<td>
							<Name none="anybody">{route.from}</Name>
						</td>
						<td>
							<Name>{route.to}</Name>
						</td>
						<td class="wide">
							<When when={route.when} />
						</td>
					</tr>
				))}
			</tbody>
		</Table>
	);
}

export function Channels({ space }: { space: string }) {
	return (
		<>
			<Title>Channels and routes</Title>
			<Panel title="Channels">
				<ChannelTable space={space} />
			</Panel>
			<Panel title="Routes">
				<RouteTable space={space} />
			</Panel>
		</>
	);
}
