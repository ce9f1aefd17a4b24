// How it goes: what needs a person, the five metrics, who gets how much, and what has just happened.
import { useMemo, useState } from "preact/hooks";
import { call } from "../api";
import { count, decimal, duration, percent, plural, roundPercent } from "../format";
import { Breaker, Choice, Count, Failure, Panel, Table, Title, Waiting } from "../parts/basics";
import { QueueLink } from "../parts/handoffs";
import { Plot, type Line, type Threshold } from "../parts/plot";
import { useResource } from "../resource";
import type { AlertsAnswer, Metrics, Rule, Stats } from "../types";
import { Alerts, Rules } from "./alerts";
import { Activity } from "./activity";
import { Needs } from "./needs";
import { useIsEmpty, Welcome } from "./welcome";

const windows = ["1m", "5m", "1h", "24h"] as const;
type Window = (typeof windows)[number];
const windowSeconds: Readonly<Record<Window, number>> = { "1m": 60, "5m": 300, "1h": 3600, "24h": 86_400 };
const windowNames: Readonly<Record<Window, string>> = {
	"1m": "minute",
	"5m": "5 minutes",
	"1h": "hour",
	"24h": "24 hours",
};
// The plots move on also when nothing happens; no oftener than one would see.
const refreshMs: Readonly<Record<Window, number>> = { "1m": 2_000, "5m": 5_000, "1h": 20_000, "24h": 60_000 };

/** The threshold that is in force, from the server; undefined where there is none yet. */
type Limit = (name: string, severity?: Rule["severity"]) => number | undefined;

function limitsOf(rules: readonly Rule[]): Limit {
	return (name, severity) =>
		rules.find((rule) => rule.name === name && (!severity || rule.severity === severity))?.threshold ?? undefined;
}

/** A line in a plot, where there is a threshold. */
function lineAt(
	value: number | undefined,
	tone: Threshold["tone"],
	label: (value: number) => string,
): readonly Threshold[] {
	return value === undefined ? [] : [{ value, label: label(value), tone }];
}

/** Below that an envelope counts as hardly used. */
const LOW_USE = 0.3;

interface CardProps {
	readonly title: string;
	readonly value: string;
	readonly details: string;
	readonly lines: readonly Line[];
	readonly thresholds?: readonly Threshold[];
	readonly format: (value: number) => string;
	readonly low: number;
	readonly high: number;
	readonly limit?: number;
	readonly isLogarithmic?: boolean;
}

function Card({
	card,
	seconds,
	window,
	now,
}: {
	card: CardProps;
	seconds: readonly number[];
	window: Window;
	now: number;
}) {
	const limits = (card.thresholds ?? []).map((one) => `threshold ${one.label}`).join(", ");

	return (
		<figure class="card">
			<figcaption>
				<span class="card-title">{card.title}</span>
				<span class="card-value">{card.value}</span>
				<span class="card-details">{card.details}</span>
				{card.lines.length > 1 && (
					<span class="legend" aria-hidden="true">
						{card.lines.map((line) => (
							<span key={line.label} class={`key-${line.tone}`}>
								{line.label}
							</span>
						))}
					</span>
				)}
			</figcaption>
			<Plot
				summary={`${card.title} over the last ${windowNames[window]}: ${card.value}; ${card.details}${limits ? `; ${limits}` : ""}`}
				seconds={seconds}
				lines={card.lines}
				thresholds={card.thresholds ?? []}
				format={card.format}
				low={card.low}
				high={card.high}
				limit={card.limit}
				isLogarithmic={card.isLogarithmic}
				from={now - windowSeconds[window]}
				to={now}
			/>
		</figure>
	);
}

function cards(stats: Stats, rules: readonly Rule[]): CardProps[] {
	const {
		overall: all,
		series: { points },
	} = stats;
	const limit = limitsOf(rules);
	const latency = limit("latency_high");
	const failing = limit("failure_rate_high", "critical");
	const hops = limit("hop_depth_high");
	const incomplete = limit("completeness_critical");
	const positive = (value: number | null) => (value === null ? null : Math.max(value, 0.1));

	return [
		{
			title: "Latency to the ack",
			value: duration(all.latency_ms.p99),
			details: `p99 of ${plural(all.latency_ms.count, "ack")}, p50 ${duration(all.latency_ms.p50)}, p95 ${duration(all.latency_ms.p95)}`,
			lines: [
				{ label: "p99", values: points.map((p) => positive(p.p99)), tone: "accent" },
				{ label: "p50", values: points.map((p) => positive(p.p50)), tone: "second" },
			],
			thresholds: lineAt(latency, "warn", duration),
			format: duration,
			isLogarithmic: true,
			low: 1,
			high: Math.max(100, (latency ?? 0) * 3),
		},
		{
			title: "Completeness",
			value: percent(all.completeness.mean),
			details: `of ${plural(all.completeness.count, "envelope")}, lowest ${percent(all.completeness.min)}`,
			lines: [{ label: "mean", values: points.map((p) => p.completeness), tone: "accent", isFilled: true }],
			thresholds: [
				...lineAt(limit("completeness_low"), "warn", roundPercent),
				...lineAt(incomplete, "bad", roundPercent),
			],
			format: (value) => `${Math.round(value * 100)} %`,
			low: Math.max(0, Math.min(0.7, (incomplete ?? 1) - 0.1)),
			high: 1.01,
			limit: 1.01,
		},
		{
			title: "Failure rate",
			value: percent(all.failure_rate),
			details: `${count(all.failed)} of ${plural(all.handoffs, "handoff")}, ${plural(all.retries, "retry", "retries")}`,
			lines: [
				{
					label: "failed",
					tone: "bad",
					isFilled: true,
					values: points.map((p) => (p.handoffs || p.failed ? p.failed / Math.max(p.handoffs, p.failed) : null)),
				},
			],
			thresholds: [
				...lineAt(limit("failure_rate_high", "warning"), "warn", roundPercent),
				...lineAt(failing, "bad", roundPercent),
			],
			format: (value) => `${+(value * 100).toFixed(1)} %`,
			low: 0,
			high: Math.max(0.02, (failing ?? 0) * 1.5),
			limit: 1,
		},
		{
			title: "Hop depth",
			value: decimal(all.hops.mean, 1),
			details: `deepest ${count(all.hops.max)}${histogram(all)}`,
			lines: [{ label: "mean", values: points.map((p) => p.hop_mean), tone: "accent" }],
			thresholds: lineAt(hops, "warn", (value) => `above the usual: ${decimal(value, 1)}`),
			format: (value) => decimal(value, value % 1 ? 1 : 0),
			low: 0,
			high: Math.max(4, (hops ?? 0) * 1.2),
		},
		{
			title: "Token utilization",
			value: percent(all.utilization.mean),
			details: `of the budget; ${percent(all.utilization.pinned)} full, ${percent(all.utilization.low)} under ${roundPercent(LOW_USE)}`,
			lines: [{ label: "mean", values: points.map((p) => p.utilization), tone: "accent", isFilled: true }],
			thresholds: [
				{ value: LOW_USE, label: roundPercent(LOW_USE), tone: "warn" },
				{ value: 1, label: "100 %", tone: "warn" },
			],
			format: (value) => `${Math.round(value * 100)} %`,
			low: 0,
			high: 1.08,
			limit: 1.08,
		},
		{
			title: "Waiting in queues",
			value: count(all.queue.queued),
			details: `${count(all.queue.leased + all.queue.working)} in flight, ${count(all.queue.parked)} parked`,
			lines: [{ label: "queued", values: points.map((p) => p.queued), tone: "accent", isFilled: true }],
			format: count,
			low: 0,
			high: 5,
		},
	];
}

/** "; hop 1 (12×), 2 (7×)" */
function histogram(all: Metrics): string {
	const rows = all.hops.histogram.slice(0, 6).map(([hop, envelopes]) => `${hop} (${count(envelopes)}×)`);
	return rows.length ? `; hop ${rows.join(", ")}` : "";
}

function Targets({ stats }: { stats: Stats }) {
	if (stats.targets.length === 0) return <p class="faint">Nobody was sent anything in this time.</p>;
	return (
		<Table label="Metrics by receiving agent">
			<thead>
				<tr>
					<th scope="col">Agent</th>
					<th scope="col" class="n">
						Handoffs
					</th>
					<th scope="col" class="n">
						p50
					</th>
					<th scope="col" class="n">
						p99
					</th>
					<th scope="col" class="n">
						Failed
					</th>
					<th scope="col" class="n">
						Complete
					</th>
					<th scope="col" class="n">
						Budget used
					</th>
					<th scope="col" class="n">
						Retries
					</th>
					<th scope="col" class="n">
						Leases lost
					</th>
					<th scope="col" class="n">
						Queued
					</th>
					<th scope="col">Breaker</th>
				</tr>
			</thead>
			<tbody>
				{stats.targets.map((target) => (
					<tr key={target.agent}>
						<th scope="row">
							<QueueLink agent={target.agent} />
						</th>
						<td class="n">
							<Count value={target.handoffs} />
						</td>
						<td class="n">{duration(target.latency_ms.p50)}</td>
						<td class="n">{duration(target.latency_ms.p99)}</td>
						<td class="n">
							<Count value={target.failed} tone="bad" />
						</td>
						<td class="n">{percent(target.completeness.mean)}</td>
						<td class="n">{percent(target.utilization.mean)}</td>
						<td class="n">
							<Count value={target.retries} />
						</td>
						<td class="n">
							<Count value={target.leases_lost} />
						</td>
						<td class="n">
							<Count value={target.queue.queued} />
						</td>
						<td>
							<Breaker state={target.breaker} />
						</td>
					</tr>
				))}
			</tbody>
		</Table>
	);
}

export function Overview({ space }: { space: string }) {
	const [window, setWindow] = useState<Window>("5m");
	const isEmpty = useIsEmpty(space);
	const stats = useResource(
		`${space} stats ${window}`,
		(signal) => call<Stats>(space, "GET", "v1/stats", { query: { window }, signal }),
		{
			topics: ["handoff.", "envelope.", "breaker."],
			everyMs: refreshMs[window],
			gapMs: 1_500,
		},
	);
	const alerts = useResource(
		`${space} alerts`,
		(signal) => call<AlertsAnswer>(space, "GET", "v1/alerts", { signal }),
		// The figures of an alert that fires are of now: they change without an event.
		{ topics: ["alert."], everyMs: 10_000 },
	);
	const known = alerts.data?.alerts ?? [];
	const rules = alerts.data?.rules;
	const shown = stats.data;
	const seconds = useMemo(() => shown?.series.points.map((point) => Date.parse(point.at) / 1000) ?? [], [shown]);
	const made = useMemo(() => (shown ? cards(shown, rules ?? []) : []), [shown, rules]);

	if (isEmpty) return <Welcome space={space} />;
	return (
		<>
			<Title aside={<Choice label="How far back" options={windows} chosen={window} choose={setWindow} />}>
				Overview
			</Title>
			{alerts.problem && <Failure problem={alerts.problem} retry={alerts.reload} />}
			<Alerts space={space} alerts={known} reload={alerts.reload} />
			<Needs space={space} />
			{stats.problem && <Failure problem={stats.problem} retry={stats.reload} />}
			{!shown && !stats.problem && <Waiting />}
			{shown && (
				<>
					<h2 class="visually-hidden">Metrics of the last {windowNames[window]}</h2>
					<div class="cards">
						{made.map((card) => (
							<Card
								key={`${window} ${card.title}`}
								card={card}
								seconds={seconds}
								window={window}
								now={Date.parse(shown.now) / 1000}
							/>
						))}
					</div>
					{rules && <Rules rules={rules} />}
					<Panel title="By receiving agent">
						<Targets stats={shown} />
					</Panel>
				</>
			)}
			<Activity />
		</>
	);
}
