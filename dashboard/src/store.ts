// A value that tells whoever draws it when it has changed.
import { useEffect, useState } from "preact/hooks";

export class Store<T> {
	#value: T;
	readonly #listeners = new Set<() => void>();

	constructor(value: T) {
		this.#value = value;
	}

	get(): T {
		return this.#value;
	}

	set(value: T): void {
		if (Object.is(value, this.#value)) return;
		this.#value = value;
		for (const listener of [...this.#listeners]) listener();
	}

	/** Returns what ends it. */
	subscribe(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
}

export function useStore<T>(store: Store<T>): T {
	const [value, set] = useState(store.get());

	useEffect(() => {
		const update = () => set(() => store.get());
		update();
		return store.subscribe(update);
	}, [store]);
	return value;
}
