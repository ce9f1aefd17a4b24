// Alerts that are firing: seen, acknowledged, or silenced for a while.
import { useState } from "preact/hooks";
import { call, path } from "../api";
import { count, decimal, duration, percent, plural, roundPercent, span, words } from "../format";
import { Name, Pill, State, Table, Time } from "../parts/basics";
import { now } from "../parts/clock";
import { Dialog, Field } from "../parts/dialog";
import { say } from "../parts/notes";
import { May } from "../parts/may";
import { Seen } from "../parts/seen";
import { ownLink, pageOf } from "../router";
import { by } from "../identity";
import { useStore } from "../store";
import type { Alert, Rule } from "../types";

const order: readonly string[] = ["critical", "warning", "info"];

/** In the unit of what it is about. */
function figure(name: string, value: number | null, isChosen = false): string {
	if (value === null) return "";
	if (/^latency|^queue_stuck/.test(name)) return duration(value);
	if (/rate|completeness|utilization/.test(name)) return isChosen ? roundPercent(value) : percent(value);
	return value % 1 ? decimal(value, 1) : count(value);
}

/** The page on which something can be done about it. The overview is where one is. */
function mendingPlace(alert: Alert): string | undefined {
	const href = ownLink(alert.url);
	return href && pageOf(href) === "overview" ? undefined : href;
}

const doings: Readonly<Record<string, string>> = { parked: "Decide", queues: "Queue", agents: "Agent" };

function doing(href: string): string {
	return doings[pageOf(href) ?? ""] ?? "Look";
}

function Silence({ space, alert, close, done }: { space: string; alert: Alert; close: () => void; done: () => void }) {
	const [hours, setHours] = useState("1");
	const [why, setWhy] = useState("");

	return (
		<Dialog
			title={`Silence “${words(alert.name)}”`}
			action="Silence"
			close={close}
			submit={async () => {
				await call(space, "POST", path("alerts", alert.id, "silence"), {
					body: { for_s: Math.round(Number(hours) * 3600), by: by(), why },
				});
				say(`${words(alert.name)} is silent for ${hours} h`);
				done();
			}}
		>
			<Field label="For how many hours">
				<input
					type="number"
					min="0.1"
					max="720"
					step="any"
					required
					value={hours}
					onInput={(event) => setHours(event.currentTarget.value)}
				/>
			</Field>
			<Field label="Why">
				<input required maxLength={1000} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
			</Field>
		</Dialog>
	);
}

function One({ space, alert, reload }: { space: string; alert: Alert; reload: () => void }) {
	const [isAsking, setAsking] = useState(false);
	const current = useStore(now);
	const href = mendingPlace(alert);
	const isSilent = alert.silenced_until !== null && Date.parse(alert.silenced_until) > current;
	const acknowledge = async () => {
		try {
			await call(space, "POST", path("alerts", alert.id, "ack"), { body: { by: by() } });
			reload();
		} catch (error) {
			say(error instanceof Error ? error.message : String(error), true);
		}
	};

	return (
		<li class={`alert ${alert.severity} ${isSilent || alert.acknowledged_at ? "quiet" : ""}`}>
			<State name={alert.severity} />
			<div class="alert-text">
				<strong>{words(alert.name)}</strong> <span dir="auto"><Seen text={alert.summary} /></span>{" "}
				<span class="faint">
					since <Time at={alert.since} />
					{alert.value !== null && (
						<>
							{" "}
							· at {figure(alert.name, alert.value)}
							{alert.threshold !== null && <>, threshold {figure(alert.name, alert.threshold, true)}</>}
						</>
					)}
					{alert.acknowledged_at && (
						<>
							{" "}
							· acknowledged by <Name none="somebody">{alert.acknowledged_by}</Name>
						</>
					)}
					{isSilent && (
						<>
							{" "}
							· silent, ends <Time at={alert.silenced_until} />
						</>
					)}
				</span>
			</div>
			{alert.pages && (
				<Pill tone="bad" title="somebody is paged for this">
					pages
				</Pill>
			)}
			<div class="buttons">
				{href && (
					<a class="button lead" href={href} aria-label={`${doing(href)}: ${words(alert.name)} ${alert.agent ?? ""}`}>
						{doing(href)}
					</a>
				)}
				<May scope="admin">
					{!alert.acknowledged_at && (
						<button type="button" onClick={() => void acknowledge()}>
							Acknowledge
						</button>
					)}
					<button type="button" onClick={() => setAsking(true)}>
						Silence…
					</button>
				</May>
			</div>
			{isAsking && <Silence space={space} alert={alert} close={() => setAsking(false)} done={reload} />}
		</li>
	);
}

/** What is only told, and what would fill the page, waits behind a line. */
const SHOWN_MAX = 5;

export function Alerts({ space, alerts, reload }: { space: string; alerts: readonly Alert[]; reload: () => void }) {
	const firing = alerts
		.filter((alert) => alert.state === "firing")
		.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || Date.parse(b.since) - Date.parse(a.since));
	const first = firing.filter((alert) => alert.severity !== "info").slice(0, SHOWN_MAX);
	const rest = firing.filter((alert) => !first.includes(alert));
	const draw = (some: readonly Alert[]) =>
		some.map((alert) => <One key={alert.id} space={space} alert={alert} reload={reload} />);

	if (firing.length === 0) return null;
	return (
		<section aria-label="Alerts">
			<h2 class="visually-hidden">Alerts</h2>
			{first.length > 0 && <ul class="alerts">{draw(first)}</ul>}
			{rest.length > 0 && (
				<details class="rest-of-alerts">
					<summary>
						{plural(rest.length, first.length ? "more alert" : "alert")}
						{rest.every((alert) => alert.severity === "info") && ", for information"}
					</summary>
					<ul class="alerts">{draw(rest)}</ul>
				</details>
			)}
		</section>
	);
}

/** "above 2 %", "at least 3 handoffs" */
function limit(rule: Rule): string {
	const value = rule.threshold;
	const how = rule.comparison.replace("_", " ");

	if (value === null) return `${how} the usual, which is not known yet`;
	if (rule.unit === "share") return `${how} ${roundPercent(value)}`;
	if (rule.unit === "ms") return `${how} ${duration(value)}`;
	return `${how} ${value % 1 ? decimal(value, 1) : count(value)} ${value === 1 ? rule.unit.replace(/s$/, "") : rule.unit}`;
}

/** When alerts fire, for who asks. */
export function Rules({ rules }: { rules: readonly Rule[] }) {
	return (
		<details class="rules">
			<summary>When alerts fire</summary>
			<Table label="Rules of the alerts">
				<thead>
					<tr>
						<th scope="col">Alert</th>
						<th scope="col">Severity</th>
						<th scope="col">Fires</th>
						<th scope="col">What is measured</th>
						<th scope="col">Over</th>
					</tr>
				</thead>
				<tbody>
					{rules.map((rule) => (
						<tr key={`${rule.name} ${rule.severity}`}>
							<th scope="row">{words(rule.name)}</th>
							<td>
								<State name={rule.severity} />
								{rule.pages && " pages"}
							</td>
							<td>{limit(rule)}</td>
							<td class="wide">{rule.measures}</td>
							<td>
								{rule.window_s === null ? "now" : `the last ${span(rule.window_s * 1000)}`}
								{rule.min_samples > 1 && `, of ${rule.min_samples} or more`}
							</td>
						</tr>
					))}
				</tbody>
			</Table>
		</details>
	);
}
