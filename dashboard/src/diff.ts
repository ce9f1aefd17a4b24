// The difference of two texts, word by word: the shortest way from one to the other (Myers), within bounds.

export interface Piece {
	readonly fate: "same" | "gone" | "new";
	readonly text: string;
}

const EDITS_MAX = 1_000;

/** Words and what stands between them. */
function split(text: string): string[] {
	return text.match(/\p{L}+|\p{N}+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}

/** The states of the search, one for each number of edits; undefined where there are too many edits. */
function search(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
	const max = Math.min(a.length + b.length, EDITS_MAX);
	const reach = new Int32Array(2 * max + 2);
	const states: Int32Array[] = [];

	for (let edits = 0; edits <= max; edits++) {
		states.push(reach.slice(max - edits, max + edits + 2));
		for (let k = -edits; k <= edits; k += 2) {
			const down = k === -edits || (k !== edits && reach[max + k - 1]! < reach[max + k + 1]!);
			let x = down ? reach[max + k + 1]! : reach[max + k - 1]! + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
			reach[max + k] = x;
			if (x >= a.length && x - k >= b.length) return states;
		}
	}
	return undefined;
}

function join(pieces: readonly Piece[]): Piece[] {
	const joined: Piece[] = [];

	for (const piece of pieces) {
		const last = joined[joined.length - 1];
		if (piece.text === "") continue;
		if (last?.fate === piece.fate) joined[joined.length - 1] = { fate: last.fate, text: last.text + piece.text };
		else joined.push(piece);
	}
	return joined;
}

export function diff(before: string, after: string): Piece[] {
	const a = split(before);
	const b = split(after);
	const states = search(a, b);
	const pieces: Piece[] = [];
	let x = a.length;
	let y = b.length;

	// Too different to be compared usefully: all of the one, then all of the other.
	if (!states)
		return join([
			{ fate: "gone", text: before },
			{ fate: "new", text: after },
		]);
	for (let edits = states.length - 1; edits >= 0; edits--) {
		const state = states[edits]!;
		const at = (k: number) => state[edits + k]!;
		const k = x - y;
		const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
		const fromX = edits === 0 ? 0 : at(down ? k + 1 : k - 1);
		const fromY = edits === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
		const endX = edits === 0 ? 0 : down ? fromX : fromX + 1;

		while (x > endX && (edits === 0 ? y > 0 : true)) {
			pieces.push({ fate: "same", text: a[--x]! });
			y--;
		}
		if (edits === 0) break;
		if (down) pieces.push({ fate: "new", text: b[fromY]! });
		else pieces.push({ fate: "gone", text: a[fromX]! });
		x = fromX;
		y = fromY;
	}
	return join(pieces.reverse());
}
