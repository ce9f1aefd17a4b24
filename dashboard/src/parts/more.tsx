// The end of a list that goes on.
import { count } from "../format";
import type { Rows } from "../rows";

export function MoreRows({ list }: { list: Rows<unknown> }) {
	if (!list.rows || !list.hasMore) return null;
	return (
		<p class="more">
			<span class="faint">
				{count(list.rows.length)}
				{list.total !== undefined && ` of ${count(list.total)}`} shown
			</span>{" "}
			<button type="button" onClick={list.more}>
				Show more
			</button>
		</p>
	);
}
