/** The calls on queues, and on many handoffs at once: all that fit a filter, or those that are named. @module */
import type { CallOptions } from "./caller.js";
import type * as wire from "./generated/types.js";
import { type DecideOptions, HandoffCalls, type HandoffId, idOf } from "./handoffs.js";
import { apart } from "./memories.js";
import { Pages } from "./pages.js";

/** Which handoffs are decided about, and how. The filters hold together; `ids` stand alone. */
export interface ManyOptions extends DecideOptions {
	/** Handoffs or their ids, such as `parked` lists them. A thousand and more are several calls. */
	readonly ids?: readonly HandoffId[] | undefined;
	/** What is for this agent, or was. */
	readonly to?: string | undefined;
	/** What this agent has sent. */
	readonly from?: string | undefined;
	/** What is parked, or has failed before, for a reason that holds this text, in upper or lower case. */
	readonly reason?: string | undefined;
	/** What is of this task. */
	readonly task?: string | undefined;
	/** What was parked, or queued, at this time or later. */
	readonly since?: Date | string | undefined;
	/** What was parked, or queued, before this time. */
	readonly before?: Date | string | undefined;
	/** Everything: it must be said where there is no filter. */
	readonly all?: boolean | undefined;
	/** Ends it after so many. */
	readonly limit?: number | undefined;
	/** Changes nothing, and tells what would be done. */
	readonly dryRun?: boolean | undefined;
}

/** What came of a decision about many handoffs; of a dry run, what would come of it. */
export interface Bulk extends Omit<wire.Bulk, "nextAfter" | "warnings"> {
	/** The limit has ended it: the same call goes on. */
	readonly more: boolean;
}

type Verb = "redriveMany" | "rerouteMany" | "discardMany" | "restoreMany" | "cancelMany" | "moveMany";

/** In a call of the server, which is one transaction: others wait for its end. */
const AT_A_TIME = 100;
/** As many ids as the server takes in one call. */
const IDS_MAX = 1000;

export abstract class ManyCalls extends HandoffCalls {
	/** The agents that have open or parked work: how much of it waits, since when, and why. */
	queues(options: CallOptions & { readonly pageSize?: number | undefined } = {}): Pages<wire.Queue> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listQueues", { query: { pageSize, pageToken } }, how);
			return { items: answer.queues, nextPageToken: answer.nextPageToken };
		});
	}

	/** What waits for an agent, the next first: since when, and why. What waits for its time comes last. */
	queue(agent: string, options: CallOptions & { readonly pageSize?: number | undefined } = {}): Pages<wire.QueueEntry> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("readQueue", { params: { name: agent }, query: { pageSize, pageToken } }, how);
			return { items: answer.queue, nextPageToken: answer.nextPageToken };
		});
	}

	/**
	 * Sends all that is parked and fits to its agent again, with new attempts. Each is done or refused by itself, and
	 * repeating it does no harm.
	 *
	 * @example
	 * const preview = await spine.redriveMany({ to: "coder", reason: "timeout", dryRun: true });
	 * console.log(preview.matched);
	 */
	async redriveMany(options: ManyOptions): Promise<Bulk> {
		return this.#many("redriveMany", options);
	}

	/** Sends all that is parked and fits to another agent, `rerouteTo`; `to` is whose it was. */
	async rerouteMany(options: ManyOptions & { readonly rerouteTo: string }): Promise<Bulk> {
		return this.#many("rerouteMany", options);
	}

	/** Takes all that is parked and fits out of the queue; it stays visible, as discarded. `restoreMany` brings it back. */
	async discardMany(options: ManyOptions & { readonly why: string }): Promise<Bulk> {
		return this.#many("discardMany", options);
	}

	/**
	 * Undoes decisions: what was discarded or cancelled, and what was redriven or rerouted and that nobody has taken
	 * since, is parked again. The ids are, say, the `done` of the call that is undone.
	 */
	async restoreMany(ids: readonly HandoffId[], options: Pick<ManyOptions, "limit" | "dryRun" | keyof DecideOptions> = {}): Promise<Bulk> {
		return this.#many("restoreMany", { ...options, ids });
	}

	/** Takes back all that is queued and fits: nobody gets it any more. `restoreMany` brings it back, as parked. */
	async cancelMany(options: ManyOptions): Promise<Bulk> {
		return this.#many("cancelMany", options);
	}

	/** Gives all that is queued and fits to another agent, `moveTo`; `to` is whose it was. */
	async moveMany(options: ManyOptions & { readonly moveTo: string }): Promise<Bulk> {
		return this.#many("moveMany", options);
	}

	/** A hundred at a time, to the end. Safe to say again: what was done does not fit any more. */
	async #many(verb: Verb, options: ManyOptions): Promise<Bulk> {
		const [{ ids, limit = Infinity, dryRun = false, ...said }, how] = apart(options);
		if (!(limit >= 1)) throw new RangeError(`limit is ${limit}; it must be positive`);
		const bulk = { action: actionOf(verb), dryRun, matched: 0, done: [] as wire.Bulk["done"][number][], refused: [] as wire.Bulk["refused"][number][], more: false };
		for (const chosen of ids === undefined ? [{}] : inParts(ids)) {
			for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
				const left = Math.min(AT_A_TIME, limit - bulk.done.length);
				if (left === 0) return { ...bulk, more: true };
				const body = { ...said, ...chosen, limit: left, dryRun, after } as wire.Operations["cancelMany"]["input"]["body"];
				const answer = await this.request(verb as "cancelMany", { body }, { ...how, safe: true });
				if (isFirst) bulk.matched += answer.matched;
				bulk.done.push(...answer.done);
				bulk.refused.push(...answer.refused);
				after = answer.nextAfter ?? undefined;
			}
		}
		return bulk;
	}
}

/** `redriveMany` does `redrive`. */
const actionOf = (verb: Verb): wire.Bulk["action"] => verb.replace("Many", "") as wire.Bulk["action"];

function inParts(ids: readonly HandoffId[]): { readonly ids: readonly string[] }[] {
	const names = ids.map(idOf);
	return Array.from({ length: Math.ceil(names.length / IDS_MAX) }, (_, at) => ({ ids: names.slice(at * IDS_MAX, (at + 1) * IDS_MAX) }));
}
