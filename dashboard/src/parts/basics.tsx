// Small things that every page uses. What agents wrote is only ever given to the browser as text: never as HTML, as an address or as a style.
import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { ago, count, percent, size, span, words } from "../format";
import { useStore } from "../store";
import type { BreakerState } from "../types";
import { now } from "./clock";
import { Seen } from "./seen";

export type Tone = "plain" | "good" | "info" | "warn" | "bad";

export function Pill({
	tone = "plain",
	title,
	children,
}: {
	tone?: Tone;
	title?: string;
	children: ComponentChildren;
}) {
	return (
		<span class={`pill ${tone}`} title={title}>
			{children}
		</span>
	);
}

/** What the server says of a memory's text. */
export function Flags({ flags }: { flags: readonly string[] | undefined }) {
	return (
		<>
			{flags?.map((flag) => (
				<Pill key={flag} tone="bad" title="Characters that nobody sees stand in it; they are marked in the text">
					{flag === "invisible" ? "invisible characters" : flag}
				</Pill>
			))}
		</>
	);
}

/** How far it is to be trusted, where that is not as usual. */
export function Trust({ trust }: { trust: string | null }) {
	if (!trust || trust === "agent") return null;
	return <Pill tone={trust === "external" ? "warn" : "info"}>trust: {trust}</Pill>;
}

/** A name that somebody gave: written in whichever direction, it does not disturb what stands beside it. */
export function Name({ children, none = "–" }: { children: string | null | undefined; none?: string }) {
	return children ? (
		<bdi class="name" title={children}>
			<Seen text={children} />
		</bdi>
	) : (
		<span class="faint">{none}</span>
	);
}

export function FromTo({ from, to }: { from: string | null; to: string }) {
	return (
		<span class="from-to">
			<Name none="(unnamed)">{from}</Name> <span aria-label="to">→</span> <Name>{to}</Name>
		</span>
	);
}

export function Time({ at, none = "never" }: { at: string | null | undefined; none?: string }) {
	const current = useStore(now);

	if (!at) return <span class="faint">{none}</span>;
	return (
		<time dateTime={at} title={new Date(at).toLocaleString()}>
			{ago(at, current)}
		</time>
	);
}

/** How long ago that was, without a word more. */
export function Age({ at }: { at: string }) {
	const current = useStore(now);

	return (
		<time dateTime={at} title={new Date(at).toLocaleString()}>
			{span(current - Date.parse(at))}
		</time>
	);
}

const TEXT_MAX = 20_000;

/** A long text as it is. What is huge is shown when it is asked for. */
export function Text({ text, label, class: more = "" }: { text: string; label: string; class?: string }) {
	const [isWhole, setWhole] = useState(false);
	const shown = isWhole || text.length <= TEXT_MAX ? text : text.slice(0, TEXT_MAX);

	return (
		<>
			<pre class={`text ${more}`} dir="auto" tabIndex={0} role="region" aria-label={label}>
				<Seen text={shown} />
			</pre>
			{shown.length < text.length && (
				<button type="button" onClick={() => setWhole(true)}>
					Show all of it ({size(new Blob([text]).size)})
				</button>
			)}
		</>
	);
}

export function Share({ value }: { value: number | null | undefined }) {
	return <>{percent(value)}</>;
}

/** Which tone a state of a handoff, a breaker, an alert or a memory has. */
const tones: Readonly<Record<string, Tone>> = {
	queued: "info",
	leased: "info",
	acked: "good",
	completed: "good",
	working: "good",
	waiting: "info",
	held: "warn",
	parked: "bad",
	expired: "warn",
	discarded: "plain",
	closed: "good",
	half_open: "warn",
	open: "bad",
	info: "info",
	warning: "warn",
	critical: "bad",
	active: "good",
	superseded: "plain",
	forgotten: "bad",
};

export function State({ name }: { name: string }) {
	return <Pill tone={tones[name] ?? "plain"}>{words(name)}</Pill>;
}

export function Breaker({ state }: { state: BreakerState }) {
	return (
		<Pill tone={tones[state]} title={`circuit breaker: ${words(state)}`}>
			{words(state)}
		</Pill>
	);
}

/** A number in a table, the zero faint, so that what is not zero stands out. */
export function Count({ value, tone }: { value: number; tone?: Tone }) {
	return <span class={value === 0 ? "faint" : tone ? `tone-${tone}` : ""}>{count(value)}</span>;
}

export function Failure({ problem, retry }: { problem: Problem; retry?: () => void }) {
	return (
		<p class="failure" role="alert">
			<strong>{words(problem.code)}</strong> <span dir="auto">{problem.message}</span>
			{retry && (
				<button type="button" onClick={retry}>
					Try again
				</button>
			)}
		</p>
	);
}

export function Waiting() {
	return (
		<p class="faint waiting" role="status">
			Loading…
		</p>
	);
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<p class="empty-title">{title}</p>
			{children}
		</div>
	);
}

/** A command, and a button that copies it. */
export function Command({ text, what }: { text: string; what: string }) {
	const [isCopied, setCopied] = useState(false);
	const reset = useRef<ReturnType<typeof setTimeout>>(undefined);

	useEffect(() => () => clearTimeout(reset.current), []);
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			setCopied(true);
			clearTimeout(reset.current);
			reset.current = setTimeout(() => setCopied(false), 2_000);
		} catch {
			// Not allowed: the command can be marked and copied by hand.
		}
	};
	return (
		<div class="command">
			<span class="command-what">{what}</span>
			<code tabIndex={0}>{text}</code>
			<button type="button" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
				{isCopied ? "Copied" : "Copy"}
			</button>
		</div>
	);
}

export function Tabs({
	label,
	tabs,
	chosen,
	choose,
	children,
}: {
	label: string;
	tabs: readonly { readonly id: string; readonly title: string; readonly count?: number }[];
	chosen: string;
	choose: (id: string) => void;
	children: ComponentChildren;
}) {
	const base = useId();
	const list = useRef<HTMLDivElement>(null);
	const move = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		const at = tabs.findIndex((tab) => tab.id === chosen);
		const next = tabs[(at + step + tabs.length) % tabs.length];
		if (step === 0 || !next) return;
		event.preventDefault();
		choose(next.id);
		list.current?.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)]?.focus();
	};

	return (
		<>
			<div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
				{tabs.map((tab) => (
					<button
						key={tab.id}
						type="button"
						role="tab"
						id={`${base}-${tab.id}`}
						aria-selected={tab.id === chosen}
						aria-controls={`${base}-panel`}
						tabIndex={tab.id === chosen ? 0 : -1}
						onClick={() => choose(tab.id)}
					>
						{tab.title}
						{tab.count ? <span class="badge">{count(tab.count)}</span> : null}
					</button>
				))}
			</div>
			<div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${chosen}`}>
				{children}
			</div>
		</>
	);
}

export function More({ shown, next, more }: { shown: number; next: string | null | undefined; more: () => void }) {
	if (!next) return null;
	return (
		<p class="more">
			<button type="button" onClick={more}>
				Show more than these {count(shown)}
			</button>
		</p>
	);
}

/** The page's title; focus goes there when the page changes, so that a screen reader says where one is. */
export function Title({ children, aside }: { children: ComponentChildren; aside?: ComponentChildren }) {
	const heading = useRef<HTMLHeadingElement>(null);

	useEffect(() => {
		document.title = `${heading.current?.textContent ?? ""} · Memory Spine`;
	});
	return (
		<div class="title">
			<h1 ref={heading} tabIndex={-1}>
				{children}
			</h1>
			{aside}
		</div>
	);
}

export function Panel({
	title,
	aside,
	children,
	id,
}: {
	title: ComponentChildren;
	aside?: ComponentChildren;
	children: ComponentChildren;
	id?: string;
}) {
	const base = useId();

	return (
		<section class="panel" aria-labelledby={base} id={id}>
			<div class="panel-head">
				<h2 id={base}>{title}</h2>
				{aside}
			</div>
			{children}
		</section>
	);
}

/** A table that scrolls by itself where the screen is narrow. */
export function Table({
	label,
	class: more = "",
	children,
}: {
	label: string;
	class?: string;
	children: ComponentChildren;
}) {
	return (
		<div class={`table-box ${more}`} tabIndex={0} role="region" aria-label={label}>
			<table>{children}</table>
		</div>
	);
}

export function Choice<T extends string>({
	label,
	options,
	chosen,
	choose,
}: {
	label: string;
	options: readonly T[];
	chosen: T;
	choose: (value: T) => void;
}) {
	return (
		<div class="choice" role="group" aria-label={label}>
			{options.map((option) => (
				<button key={option} type="button" aria-pressed={option === chosen} onClick={() => choose(option)}>
					{option}
				</button>
			))}
		</div>
	);
}
