// What has changed, as text and as things.
import { useMemo } from "preact/hooks";
import { diff } from "../diff";
import { words } from "../format";
import type { Change, Json } from "../types";
import { Pill, type Tone } from "./basics";
import { Seen } from "./seen";

const PART_MAX = 20_000;

export function TextDifference({ before, after }: { before: string; after: string }) {
	const pieces = useMemo(() => diff(before.slice(0, PART_MAX), after.slice(0, PART_MAX)), [before, after]);

	return (
		<pre class="text difference" dir="auto" tabIndex={0} role="region" aria-label="What has changed">
			{pieces.map((piece, i) =>
				piece.fate === "same" ? (
					<span key={i}>
						<Seen text={piece.text} />
					</span>
				) : piece.fate === "new" ? (
					<ins key={i}>
						<Seen text={piece.text} />
					</ins>
				) : (
					<del key={i}>
						<Seen text={piece.text} />
					</del>
				),
			)}
		</pre>
	);
}

const tones: Readonly<Record<string, Tone>> = {
	added: "good",
	narrowed: "info",
	changed: "warn",
	waived: "warn",
	dropped: "bad",
};
const VALUE_MAX = 2_000;

export function valueText(value: Json | undefined): string {
	const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
	return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

export function Changes({ changes }: { changes: readonly Change[] }) {
	return (
		<ul class="changes">
			{changes.map((change, i) => (
				<li key={i}>
					<Pill tone={tones[change.fate]}>{words(change.fate)}</Pill>
					<span class="kind">{change.kind}</span>
					<bdi class="key">
						<Seen text={change.key ?? ""} />
					</bdi>
					{change.before !== undefined && (
						<del dir="auto">
							<Seen text={valueText(change.before)} />
						</del>
					)}
					{change.after !== undefined && (
						<ins dir="auto">
							<Seen text={valueText(change.after)} />
						</ins>
					)}
					{change.reason && (
						<q dir="auto">
							<Seen text={change.reason} />
						</q>
					)}
					{change.by && (
						<span class="faint">
							by <bdi>{change.by}</bdi>
							{change.unauthenticated && ", unauthenticated"}
						</span>
					)}
				</li>
			))}
		</ul>
	);
}
