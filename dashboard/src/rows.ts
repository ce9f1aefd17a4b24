// A list that the server gives in pages: shown as far as somebody has asked for, and kept as it is there.
import { useRef, useState } from "preact/hooks";
import { call, type Options, type Problem } from "./api";
import { useResource } from "./resource";

export interface Rows<T> {
	/** undefined: not read yet. What was shown before stays until what was asked for is there. */
	readonly rows: readonly T[] | undefined;
	/** How many there are in all, where the server says it. */
	readonly total: number | undefined;
	readonly hasMore: boolean;
	readonly problem: Problem | undefined;
	readonly reload: () => void;
	readonly more: () => void;
	/** Shows at least so many. */
	readonly showAtLeast: (count: number) => void;
}

interface Answer {
	readonly next_page_token: string | null;
	readonly total?: number;
}

interface Found<T> {
	readonly rows: readonly T[];
	readonly total: number | undefined;
	readonly hasMore: boolean;
}

const PAGE_MAX = 1000;
/** A page of a search may be short, or empty, and have a next one. So many are read for each time that somebody asks for more. */
const PAGES_EACH = 10;

async function read<T>(
	space: string,
	address: string,
	field: string,
	query: Options["query"],
	wanted: number,
	pagesMax: number,
	signal: AbortSignal,
): Promise<Found<T>> {
	const rows: T[] = [];
	let total: number | undefined;
	let token: string | null | undefined;

	for (let page = 0; page < pagesMax && token !== null && rows.length < wanted; page++) {
		const answer: Answer = await call(space, "GET", address, {
			query: { ...query, page_size: Math.min(PAGE_MAX, wanted - rows.length), page_token: token },
			signal,
		});
		rows.push(...((answer as unknown as Record<string, T[]>)[field] ?? []));
		total ??= answer.total;
		token = answer.next_page_token;
	}
	return { rows, total, hasMore: token !== null };
}

export function useRows<T>(
	space: string,
	address: string,
	field: string,
	{ query = {}, size, ...live }: {
		query?: Options["query"];
		/** How many are shown at first. */
		size: number;
		topics: readonly string[];
		everyMs?: number;
		gapMs?: number;
	},
): Rows<T> {
	const list = `${space} ${address} ${JSON.stringify(query)}`;
	const [asked, ask] = useState({ list, wanted: size, times: 1 });
	const { wanted, times } = asked.list === list ? asked : { wanted: size, times: 1 };
	const found = useResource(
		`${list} ${wanted}`,
		(signal) => read<T>(space, address, field, query, wanted, PAGES_EACH * times, signal),
		live,
	);
	// Nothing flickers under the typing hand; but what is of another space is never shown.
	const last = useRef<{ space: string; address: string; data: Found<T> }>(undefined);

	if (found.data) last.current = { space, address, data: found.data };
	const old = last.current?.space === space && last.current.address === address ? last.current.data : undefined;
	const shown = found.data ?? (found.problem ? undefined : old);
	return {
		rows: shown?.rows,
		total: shown?.total,
		hasMore: shown?.hasMore ?? false,
		problem: found.problem,
		reload: found.reload,
		more: () => ask({ list, wanted: wanted * 2, times: times * 2 }),
		showAtLeast: (count) => ask({ list, wanted: Math.max(wanted, count), times }),
	};
}
