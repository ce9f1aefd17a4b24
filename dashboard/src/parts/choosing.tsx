// Choosing some of the rows of a list, or all of them.
import { useState } from "preact/hooks";

export interface Choosing {
	readonly chosen: ReadonlySet<string>;
	readonly toggle: (id: string) => void;
	readonly choose: (ids: readonly string[]) => void;
	readonly clear: () => void;
}

export function useChoosing(): Choosing {
	const [chosen, set] = useState<ReadonlySet<string>>(new Set());

	return {
		chosen,
		toggle: (id) => {
			const next = new Set(chosen);
			if (!next.delete(id)) next.add(id);
			set(next);
		},
		choose: (ids) => set(new Set(ids)),
		clear: () => set(new Set()),
	};
}

export function Choose({ id, choosing }: { id: string; choosing: Choosing }) {
	return (
		<input
			type="checkbox"
			aria-label={`Choose ${id}`}
			checked={choosing.chosen.has(id)}
			onChange={() => choosing.toggle(id)}
		/>
	);
}

/** All that are shown; the box is half full where only some are chosen. */
export function ChooseAll({ ids, choosing }: { ids: readonly string[]; choosing: Choosing }) {
	const chosen = ids.filter((id) => choosing.chosen.has(id)).length;
	const isAll = ids.length > 0 && chosen === ids.length;

	return (
		<input
			type="checkbox"
			aria-label="Choose all"
			checked={isAll}
			ref={(box) => {
				if (box) box.indeterminate = chosen > 0 && !isAll;
			}}
			onChange={() => (isAll ? choosing.clear() : choosing.choose(ids))}
		/>
	);
}
