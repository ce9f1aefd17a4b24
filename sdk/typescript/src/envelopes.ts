/** The calls on envelopes and tasks: pack one, read it, compare two. @module */
import type { CallOptions } from "./caller.js";
import { DryRun, Envelope, envelopeId, type EnvelopeId } from "./envelope.js";
import { fetching } from "./fetching.js";
import type * as wire from "./generated/types.js";
import { apart, MemoryCalls } from "./memories.js";
import { Pages } from "./pages.js";
import { toWire } from "./wire.js";

/** What an envelope is packed from, beside its receiver and its summary. */
export interface PackFields extends Omit<
	wire.Handoff,
	"targetAgent" | "taskSummary" | "executionHistory" | "parent" | "dryRun"
> {
	/** What was done so far. */
	readonly history?: readonly wire.Step[] | undefined;
	/** The envelope that this one continues, its id, or the work that brought it: intent, constraints, memories go on. */
	readonly parent?: EnvelopeId | undefined;
}

/** Options of `pack`. */
export interface PackOptions extends PackFields, CallOptions {
	/** Stores nothing, and returns what would be packed. */
	readonly dryRun?: boolean | undefined;
	readonly idempotencyKey?: string | undefined;
}

/** What an envelope is packed from, with the protocol's older names. */
export type HandoffFields = Omit<wire.Handoff, "parent" | "dryRun"> &
	CallOptions & { readonly parent?: EnvelopeId | undefined };

type Asked<Name extends keyof wire.Operations> = wire.Operations[Name]["input"] extends { readonly query?: infer Query }
	? NonNullable<Query>
	: never;

/** Which tasks are listed. */
export type TaskFilters = Omit<Asked<"listTasks">, "pageToken"> & CallOptions;

/** The body of a request that packs, with the names of the wire. @internal */
export function packing(to: string, summary: string, fields: PackFields): wire.JsonObject {
	const { history, parent, ...rest } = fields;
	const body: wire.Handoff = {
		...rest,
		targetAgent: to,
		taskSummary: summary,
		executionHistory: history,
		parent: parent === undefined ? undefined : envelopeId("parent", parent),
	};
	return toWire(body, "Handoff") as wire.JsonObject;
}

/** Options of `waive`. */
export interface WaiveOptions extends CallOptions {
	/** The person. Nobody checks it, and what is recorded says that. */
	readonly by: string;
	readonly idempotencyKey?: string | undefined;
}

export abstract class EnvelopeCalls extends MemoryCalls {
	/**
	 * Packs what the next agent needs into an envelope that fits its token budget. It is durable when this returns.
	 *
	 * `to` is who gets the work (`next` asks the routes), `summary` what it is to accomplish; memories that the text
	 * names go with it. Throws {@link BudgetTooSmall}, {@link ConstraintConflict}, {@link ParentUnclear},
	 * {@link HopLimit}, {@link RoutingLoop}, {@link NoRoute}. That memories cannot be found is no error: see `missing`.
	 */
	pack(to: string, summary: string, options: PackOptions & { readonly dryRun: true }): Promise<DryRun>;
	pack(
		to: string,
		summary: string,
		options?: PackOptions & { readonly dryRun?: false | undefined },
	): Promise<Envelope>;
	pack(to: string, summary: string, options?: PackOptions): Promise<Envelope | DryRun>;
	async pack(to: string, summary: string, options: PackOptions = {}): Promise<Envelope | DryRun> {
		const [{ dryRun, idempotencyKey, ...fields }, how] = apart(options);
		const receiver = receiverOf(fields);
		const body = { ...packing(to, summary, fields), ...(receiver === undefined ? {} : { from: receiver }) };
		return this.#pack(body, dryRun ?? false, { ...how, idempotencyKey, agent: receiver });
	}

	/** `pack` with all that it takes in one object, by the protocol's names: `targetAgent`, `taskSummary`… */
	agentHandoff(fields: HandoffFields): Promise<Envelope> {
		const { targetAgent, taskSummary, executionHistory, ...rest } = fields;
		return this.pack(targetAgent, taskSummary, { ...rest, history: executionHistory ?? undefined });
	}

	async #pack(
		body: wire.JsonObject,
		dryRun: boolean,
		how: CallOptions & { idempotencyKey?: string | undefined; agent?: string | undefined },
	): Promise<Envelope | DryRun> {
		const said = dryRun ? { ...body, dry_run: true } : body;
		const { raw } = await this.exchange(
			"handOff",
			{ body: said as unknown as wire.Handoff },
			dryRun ? { ...how, noKey: true, safe: true } : how,
		);
		return dryRun ? new DryRun(raw) : new Envelope(this, raw);
	}

	/** Reads an envelope. */
	async envelope(id: string, options: CallOptions = {}): Promise<Envelope> {
		const { raw } = await this.exchange("readEnvelope", { params: { id } }, options);
		return new Envelope(this, raw);
	}

	/** Fetches what an envelope trimmed or missed, as it is now: all, or the ids given. `receipts` tells who did. */
	async resolve(
		id: EnvelopeId,
		options: CallOptions & { readonly ids?: readonly string[] | undefined } = {},
	): Promise<wire.Found> {
		const { ids, ...how } = options;
		const params = { id: envelopeId("id", id) };
		return fetching(ids, (ids) =>
			this.request("resolveEnvelope", { params, body: { ids } }, { ...how, safe: true }),
		);
	}

	/** Who fetched what an envelope could not carry. */
	async receipts(
		id: EnvelopeId,
		options: CallOptions = {},
	): Promise<wire.Operations["listReceipts"]["answer"]["receipts"]> {
		return (await this.request("listReceipts", { params: { id: envelopeId("id", id) } }, options)).receipts;
	}

	/** What an envelope was chosen from, as it was recorded when it was packed: what it has, what not, and why. */
	async considered(id: EnvelopeId, options: CallOptions = {}): Promise<wire.Operations["readConsidered"]["answer"]> {
		return this.request("readConsidered", { params: { id: envelopeId("id", id) } }, options);
	}

	/** Has the server check the digests of an envelope and of all before it, to the root of the chain. */
	async verify(id: EnvelopeId, options: CallOptions = {}): Promise<wire.Verdict> {
		return this.request("verifyEnvelope", { params: { id: envelopeId("id", id) } }, options);
	}

	/** What `b` kept of `a`, and what it added, changed or dropped. */
	async diff(a: EnvelopeId, b: EnvelopeId, options: CallOptions = {}): Promise<wire.Difference> {
		return this.request(
			"compareEnvelopes",
			{ params: { id: envelopeId("a", a), other: envelopeId("b", b) } },
			options,
		);
	}

	/** A task: what the user wanted, and its envelopes from the first to the newest. */
	async task(id: string, options: CallOptions = {}): Promise<wire.Task> {
		return whole(["envelopes"], (pageToken) =>
			this.request("readTask", { params: { id }, query: { pageToken } }, options),
		);
	}

	/** The tasks of the space that pass the filters, the newest change first. */
	tasks(options: TaskFilters = {}): Pages<wire.TaskListed> {
		const [{ pageSize = 100, ...filters }, how] = apart(options);
		return new Pages(async (pageToken) => {
			const answer = await this.request("listTasks", { query: { ...filters, pageSize, pageToken } }, how);
			return { items: answer.tasks, nextPageToken: answer.nextPageToken };
		});
	}

	/** What each handoff of a task kept of the one before it, and what the newest has of the first. */
	async fidelity(task: string, options: CallOptions = {}): Promise<wire.Fidelity> {
		return whole(["hops"], (pageToken) =>
			this.request("readFidelity", { params: { id: task }, query: { pageToken } }, options),
		);
	}

	/** Where a constraint, a memory (`ms-4821`), an open decision or `intent` came in, and where it was lost. */
	async blame(task: string, key: string, options: CallOptions = {}): Promise<wire.Blame> {
		return this.request("blame", { params: { id: task }, query: { key } }, options);
	}

	/**
	 * A person waives a constraint for a task, locked or not; `by` is who says so. It is for programs in which persons
	 * decide; agents waive with `pack`. The next envelope of each line of the task goes without the constraint.
	 */
	async waive(task: string, key: string, reason: string, options: WaiveOptions): Promise<wire.Operations["waive"]["answer"]> {
		const { by, ...how } = options;
		return this.request("waive", { params: { id: task }, body: { key, reason } }, { ...how, person: by });
	}

	/** All that happened to a task: envelopes, their handoffs and the events, each in the order of time. */
	async trace(task: string, options: CallOptions = {}): Promise<wire.Trace> {
		const found = await whole(["envelopes", "handoffs", "events"], (pageToken) =>
			this.request("traceTask", { params: { id: task }, query: { pageToken } }, options),
		);
		return { ...found, events: [...found.events].sort((a, b) => a.id - b.id) };
	}
}

/** Who packs from the work in hand, where nobody else is named. */
function receiverOf(fields: PackFields): string | undefined {
	const { parent, from } = fields;
	const isWork = typeof parent === "object" && !(parent instanceof Envelope) && "to" in parent;
	return isWork && (from === undefined || from === null) ? (parent as unknown as { to: string }).to : undefined;
}

/** An answer whose lists come in pages, read to the last one. */
async function whole<T extends object>(
	lists: readonly (keyof T)[],
	read: (pageToken: string | undefined) => Promise<T>,
): Promise<T> {
	const pages: T[] = [];
	for (let token: string | undefined; pages.length === 0 || token !== undefined;) {
		const page = await read(token);
		pages.push(page);
		token = (page as { nextPageToken?: string | null }).nextPageToken ?? undefined;
	}
	const joined = Object.fromEntries(
		lists.map((name) => [name, pages.flatMap((page) => page[name] as readonly unknown[])]),
	);
	return { ...(pages.at(-1) as T), ...joined };
}
