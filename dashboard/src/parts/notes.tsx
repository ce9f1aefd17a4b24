// Short notes about what was just done. They are read aloud, and go away by themselves; those about failures stay until they are closed.
import { Store, useStore } from "../store";

interface Note {
	readonly number: number;
	readonly text: string;
	readonly isBad: boolean;
}

const SHOWN_MS = 6_000;
const NOTES_MAX = 4;
const notes = new Store<readonly Note[]>([]);
let last = 0;

function remove(number: number): void {
	notes.set(notes.get().filter((note) => note.number !== number));
}

export function say(text: string, isBad = false): void {
	const number = ++last;

	notes.set([...notes.get(), { number, text, isBad }].slice(-NOTES_MAX));
	if (!isBad) setTimeout(() => remove(number), SHOWN_MS);
}

export function Notes() {
	const shown = useStore(notes);

	return (
		<div class="notes" role="status" aria-live="polite">
			{shown.map((note) => (
				<div key={note.number} class={`note ${note.isBad ? "bad" : ""}`}>
					<span dir="auto">{note.text}</span>
					<button type="button" aria-label="Close" onClick={() => remove(note.number)}>
						×
					</button>
				</div>
			))}
		</div>
	);
}
