// Short notes about what was just done. They are read aloud, and go away by themselves; those about failures stay until they are closed.
import { Store, useStore } from "../store";

interface Note {
	readonly number: number;
	readonly text: string;
	readonly isBad: boolean;
	readonly action: Action | undefined;
}

/** What can be done about what the note says, once. */
interface Action {
	readonly title: string;
	readonly run: () => Promise<void>;
}

const SHOWN_MS = 6_000;
/** Whoever may want to undo something has to read first what was done. */
const ACTION_SHOWN_MS = 30_000;
const NOTES_MAX = 4;
const notes = new Store<readonly Note[]>([]);
let last = 0;

function remove(number: number): void {
	notes.set(notes.get().filter((note) => note.number !== number));
}

export function say(text: string, isBad = false, action?: Action): void {
	const number = ++last;

	notes.set([...notes.get(), { number, text, isBad, action }].slice(-NOTES_MAX));
	if (!isBad) setTimeout(() => remove(number), action ? ACTION_SHOWN_MS : SHOWN_MS);
}

export function Notes() {
	const shown = useStore(notes);

	return (
		<div class="notes" role="status" aria-live="polite">
			{shown.map((note) => (
				<div key={note.number} class={`note ${note.isBad ? "bad" : ""}`}>
					<span dir="auto">{note.text}</span>
					{note.action && (
						<button
							type="button"
							class="note-action"
							onClick={() => {
								remove(note.number);
								void note.action!.run();
							}}
						>
							{note.action.title}
						</button>
					)}
					<button type="button" aria-label="Close" onClick={() => remove(note.number)}>
						×
					</button>
				</div>
			))}
		</div>
	);
}
