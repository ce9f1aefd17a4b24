// The servers that share a database, and which of them has which part of it.
import { call, path } from "../api";
import { plural, span } from "../format";
import { Failure, Name, Pill, Table, Title, Waiting, type Tone } from "../parts/basics";
import { useResource } from "../resource";
import type { Cluster as Answer, ClusterNode, ClusterShard, ClusterStandby } from "../types";

const EVERY_MS = 2_000;

const nodeTones: Readonly<Record<ClusterNode["state"], Tone>> = {
	live: "good",
	leaving: "info",
	gone: "bad",
	unknown: "warn",
};
/** Nodes look each second. Longer ago nothing needs to be so any more. */
const SEEN_MS = 4_000;

function load(space: string, signal: AbortSignal): Promise<Answer> {
	return call<Answer>(space, "GET", path("cluster"), { signal });
}

/** A server that keeps everything itself has one shard. */
export function useIsCluster(space: string, isAllowed: boolean): boolean {
	const found = useResource(isAllowed ? `${space} is cluster` : null, (signal) => load(space, signal));

	return (found.data?.shards.length ?? 0) > 1;
}

/** The node that answers does not reach the database: it tells what it saw last. */
function Stale({ seenMsAgo }: { seenMsAgo: number | null | undefined }) {
	if (seenMsAgo === undefined || (seenMsAgo !== null && seenMsAgo < SEEN_MS)) return null;
	return (
		<p class="tone-bad" role="alert">
			{seenMsAgo === null
				? "This node has not reached the database yet."
				: `This node has not reached the database for ${Math.floor(seenMsAgo / 1000)} s; what follows is from then.`}
		</p>
	);
}

/** Those without an owner are what somebody has to look at. */
function Orphans({ shards }: { shards: readonly ClusterShard[] }) {
	const without = shards.filter(({ state }) => state === "none");
	const moving = shards.filter(({ state }) => state === "moving");

	return (
		<>
			{without.length > 0 && (
				<p class="tone-bad" role="alert">
					{plural(without.length, "shard")} without an owner: {without.map(({ shard }) => shard).join(", ")}. Requests for
					their spaces are answered 503 until a node takes them.
				</p>
			)}
			{moving.length > 0 && <p class="tone-info">{plural(moving.length, "shard")} on the way to another node.</p>}
		</>
	);
}

/** "0 to 5, 9" */
function ranges(numbers: readonly number[]): string {
	const runs: [number, number][] = [];

	for (const n of numbers) {
		const last = runs.at(-1);
		if (last && last[1] === n - 1) last[1] = n;
		else runs.push([n, n]);
	}
	return runs.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
}

function Node({ one, isThis, shards }: { one: ClusterNode; isThis: boolean; shards: readonly ClusterShard[] }) {
	const own = shards.filter(({ owner }) => owner === one.id).map(({ shard }) => shard);

	return (
		<tr>
			<th scope="row">
				<Name>{one.id}</Name> {isThis && <span class="faint">this one</span>}
			</th>
			<td>
				<Name>{one.url}</Name>
			</td>
			<td>{one.version}</td>
			<td>
				<Pill tone={nodeTones[one.state] ?? "plain"}>{one.state}</Pill>
			</td>
			<td>{one.lease_left_ms == null ? "–" : span(Math.max(one.lease_left_ms, 0))}</td>
			<td>{one.clock_offset_ms == null ? "–" : `${one.clock_offset_ms} ms`}</td>
			<td class="n">{own.length}</td>
			<td>{ranges(own) || <span class="faint">none</span>}</td>
		</tr>
	);
}

/** A server that keeps everything itself has none. */
function Standbys({ list }: { list: readonly ClusterStandby[] | null | undefined }) {
	if (!list)
		return (
			<p class="faint">
				PostgreSQL's standbys are not known: the node has not asked yet, or its user of the database may not see them (pg_monitor).
			</p>
		);
	if (list.length === 0) return <p class="faint">PostgreSQL has no standby.</p>;
	return (
		<Table label="PostgreSQL's standbys">
			<thead>
				<tr>
					<th scope="col">Standby</th>
					<th scope="col">State</th>
					<th scope="col">Sync</th>
					<th scope="col">Lag</th>
					<th scope="col" class="n">
						Bytes behind
					</th>
				</tr>
			</thead>
			<tbody>
				{list.map((one) => (
					<tr>
						<th scope="row">
							<Name>{one.name}</Name>
						</th>
						<td>{one.state}</td>
						<td>{one.sync_state}</td>
						<td>{one.lag_ms == null ? "–" : `${one.lag_ms} ms`}</td>
						<td class="n">{one.lag_bytes ?? "–"}</td>
					</tr>
				))}
			</tbody>
		</Table>
	);
}

export function Cluster({ space }: { space: string }) {
	const found = useResource(`${space} cluster`, (signal) => load(space, signal), { everyMs: EVERY_MS });

	return (
		<>
			<Title>Cluster</Title>
			{found.problem && <Failure problem={found.problem} retry={found.reload} />}
			{!found.data && !found.problem && <Waiting />}
			{found.data && (
				<>
					<Stale seenMsAgo={found.data.seen_ms_ago} />
					<Orphans shards={found.data.shards} />
					<Table label="Nodes">
						<thead>
							<tr>
								<th scope="col">Node</th>
								<th scope="col">Address</th>
								<th scope="col">Version</th>
								<th scope="col">State</th>
								<th scope="col">Lease left</th>
								<th scope="col">Clock</th>
								<th scope="col" class="n">
									Shards
								</th>
								<th scope="col">Which</th>
							</tr>
						</thead>
						<tbody>
							{found.data.nodes.map((one) => (
								<Node
									key={one.id}
									one={one}
									isThis={one.id === found.data!.node}
									shards={found.data!.shards}
								/>
							))}
						</tbody>
					</Table>
					{found.data.shards.length > 0 && <Standbys list={found.data.standbys} />}
				</>
			)}
		</>
	);
}
