/** The calls on agents, routes, channels, spaces, alerts and the server itself. @module */
import type { CallOptions } from "./caller.js";
import { Events, type EventOptions } from "./events.js";
import { NotFound, PreconditionFailed } from "./errors.js";
import type * as wire from "./generated/types.js";
import { ManyCalls } from "./many.js";
import { apart } from "./memories.js";
import { Pages } from "./pages.js";
import { backoffMs, sleep } from "./transport.js";
import { memberNames } from "./wire.js";

/** An agent as the server has it; `etag` is another whenever its settings change, and null in a list. */
export type AgentInfo = wire.Agent & { readonly etag: string | null };

/** Options of `registerAgent`: what is not named stays as it is; `null` takes it away. */
export interface RegisterOptions extends wire.AgentSettings, CallOptions {
	/** An agent as it was read, or its ETag: only where nobody has registered it anew since. `*`: where it is registered. */
	readonly ifMatch?: { readonly etag: string | null } | string | undefined;
	/** Forgets the settings that are not named, instead of keeping them. */
	readonly replace?: boolean | undefined;
}

/** What a list takes. */
export interface PageOptions extends CallOptions {
	readonly pageSize?: number | undefined;
}

type Quarantining = wire.Operations["quarantine"]["input"]["body"];
type SpaceSettings = wire.Operations["setSpace"]["input"]["body"];
type AuditQuery = NonNullable<wire.Operations["audit"]["input"]["query"]>;

/** Which entries of the audit are listed. */
export interface AuditFilters extends Omit<AuditQuery, "action" | "pageToken">, CallOptions {
	/** Beginnings of actions, such as `memory.` or `["handoff.ack", "handoff.nack"]`. */
	readonly action?: string | readonly string[] | undefined;
}

/** How often the settings of an agent are read anew where somebody else keeps changing them. */
const TRIES_MAX = 50;

function tagOf(match: RegisterOptions["ifMatch"]): string | undefined {
	if (match === undefined || typeof match === "string") return match;
	if (match.etag === null)
		throw new TypeError("ifMatch is an agent of a list, which has no ETag; read it with agentInfo");
	return match.etag;
}

export abstract class OperatingCalls extends ManyCalls {
	/**
	 * Registers an agent, or changes its settings. Two who change different settings at once do not undo one another's.
	 *
	 * `webhookSecret` of the answer is what {@link verifyWebhook} takes; only this call tells it.
	 */
	async registerAgent(name: string, options: RegisterOptions = {}): Promise<AgentInfo> {
		const [{ ifMatch, replace, ...given }, how] = apart(options);
		if (replace) return this.#put(name, given, tagOf(ifMatch), how);
		for (let attempt = 0; ; attempt++) {
			const present = await this.agentInfo(name, how).catch((error: unknown) => {
				if (error instanceof NotFound) return undefined;
				throw error;
			});
			// Where the caller made no condition, that it is still what was read is ours.
			const isOurs = (ifMatch === undefined || ifMatch === "*") && present !== undefined;
			const tag = isOurs ? (present?.etag ?? undefined) : tagOf(ifMatch);
			try {
				return await this.#put(name, { ...kept(present), ...given }, tag, {
					...how,
					...(isOurs ? { safe: true } : {}),
				});
			} catch (error) {
				if (!(error instanceof PreconditionFailed) || !isOurs || attempt >= TRIES_MAX) throw error;
			}
			await sleep(backoffMs(attempt), how.signal);
		}
	}

	async #put(
		name: string,
		body: wire.AgentSettings,
		ifMatch: string | undefined,
		how: CallOptions,
	): Promise<AgentInfo> {
		const { value, headers } = await this.exchange(
			"registerAgent",
			{ params: { name }, body },
			{ ...how, ifMatch },
		);
		return { ...value, etag: headers.get("etag") };
	}

	/** The settings of an agent, what waits for it, and its circuit breaker. */
	async agentInfo(name: string, options: CallOptions = {}): Promise<AgentInfo> {
		const { value, headers } = await this.exchange("readAgent", { params: { name } }, options);
		return { ...value, etag: headers.get("etag") };
	}

	/** All agents of the space, by name. */
	agents(options: PageOptions = {}): Pages<AgentInfo> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listAgents", { query: { pageSize, pageToken } }, how);
			return { items: answer.agents.map((one) => ({ ...one, etag: null })), nextPageToken: answer.nextPageToken };
		});
	}

	/**
	 * Forgets an agent that has no open work: its settings, breaker and subscriptions go, what it had stays in the
	 * history. Throws {@link Conflict} where something is queued for it, in its hands or parked.
	 */
	async deleteAgent(name: string, options: CallOptions = {}): Promise<void> {
		await this.request("deleteAgent", { params: { name } }, options).catch((error: unknown) => {
			if (!(error instanceof NotFound) || !error.repeated) throw error;
		});
	}

	/** Closes the circuit breaker of an agent by hand: it is sent handoffs again. */
	async resetBreaker(agent: string, options: CallOptions = {}): Promise<void> {
		await this.request("resetBreaker", { params: { name: agent } }, { ...options, safe: true });
	}

	/** All channels of the space, by name. */
	channels(options: PageOptions = {}): Pages<wire.Operations["listChannels"]["answer"]["channels"][number]> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listChannels", { query: { pageSize, pageToken } }, how);
			return { items: answer.channels, nextPageToken: answer.nextPageToken };
		});
	}

	/** All routes of the space. */
	routes(options: PageOptions = {}): Pages<wire.Route> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listRoutes", { query: { pageSize, pageToken } }, how);
			return { items: answer.routes, nextPageToken: answer.nextPageToken };
		});
	}

	/** Reads a route. */
	async route(name: string, options: CallOptions = {}): Promise<wire.Route> {
		return this.request("readRoute", { params: { name } }, options);
	}

	/** Makes a route, or replaces it: where `to: "next"` leads, from an agent or from any, while all of `when` holds. */
	async putRoute(
		name: string,
		to: string,
		options: Omit<wire.RouteSettings, "to"> & CallOptions = {},
	): Promise<wire.Route> {
		const [said, how] = apart(options);
		return this.request("putRoute", { params: { name }, body: { ...said, to } }, how);
	}

	/** Deletes a route. */
	async deleteRoute(name: string, options: CallOptions = {}): Promise<void> {
		await this.request("deleteRoute", { params: { name } }, options).catch((error: unknown) => {
			if (!(error instanceof NotFound) || !error.repeated) throw error;
		});
	}

	/** The settings of the space, and how many memories it has. */
	async spaceInfo(options: CallOptions = {}): Promise<wire.Space> {
		return this.request("readSpace", {}, options);
	}

	/** Sets what the space does about credentials in handoffs, and how long it keeps things. What is not given stays. */
	async setSpace(options: SpaceSettings & CallOptions): Promise<wire.Space> {
		const [body, how] = apart(options);
		return this.request("setSpace", { body }, how);
	}

	/**
	 * Keeps memories from everybody: they are neither found nor packed nor read. `releaseQuarantined` undoes it. The
	 * answer says which envelopes refer to them, which agents were given them, and who opened one.
	 */
	async quarantine(options: Quarantining & CallOptions): Promise<wire.Quarantine> {
		const [body, how] = apart(options);
		return this.request("quarantine", { body }, { ...how, safe: true });
	}

	/** Takes memories out of quarantine: they are as they were. */
	async releaseQuarantined(options: Quarantining & CallOptions): Promise<wire.Quarantine> {
		const [body, how] = apart(options);
		return this.request("releaseQuarantined", { body }, { ...how, safe: true });
	}

	/** Forgets memories for good, all that fit. */
	async purge(options: wire.Operations["purge"]["input"]["body"] & CallOptions): Promise<wire.Quarantine> {
		const [body, how] = apart(options);
		return this.request("purge", { body }, { ...how, safe: true });
	}

	/** What is in quarantine, with its text. */
	quarantined(options: PageOptions = {}): Pages<wire.Memory> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listQuarantined", { query: { pageSize, pageToken } }, how);
			return { items: answer.memories, nextPageToken: answer.nextPageToken };
		});
	}

	/** Deletes a space and everything in it, for good. `confirm` is its name once more. */
	async deleteSpace(
		name: string,
		options: CallOptions & { readonly confirm: string },
	): Promise<wire.Operations["deleteSpace"]["answer"]> {
		const { confirm, ...how } = options;
		return this.request("deleteSpace", { params: { name }, query: { confirm } }, { ...how, safe: false });
	}

	/** All spaces of the server in the order in which they were made. */
	spaces(options: PageOptions = {}): Pages<wire.Operations["listSpaces"]["answer"]["spaces"][number]> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listSpaces", { query: { pageSize, pageToken } }, how);
			return { items: answer.spaces, nextPageToken: answer.nextPageToken };
		});
	}

	/** The alerts of the space, the newest first: those that are `firing`, `resolved`, or `all`. */
	alerts(
		options: PageOptions & { readonly state?: "firing" | "resolved" | "all" | undefined } = {},
	): Pages<wire.Alert> {
		const { pageSize = 100, state = "firing", ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listAlerts", { query: { state, pageSize, pageToken } }, how);
			return { items: answer.alerts, nextPageToken: answer.nextPageToken };
		});
	}

	/** When alerts fire: what each measures, and the threshold that is in force. */
	async alertRules(options: CallOptions = {}): Promise<readonly wire.AlertRule[]> {
		return (await this.request("listAlerts", { query: { pageSize: 1 } }, options)).rules;
	}

	/** Notes who has seen an alert. The first stays. */
	async ackAlert(id: string, options: CallOptions & { readonly by?: string | undefined } = {}): Promise<wire.Alert> {
		const { by, ...how } = options;
		return this.request("ackAlert", { params: { id }, body: { by } }, { ...how, safe: true });
	}

	/** The webhook hears nothing of the alert for so many seconds. 0 ends it. */
	async silenceAlert(id: string, forS: number, options: DecideAlert = {}): Promise<wire.Alert> {
		const [said, how] = apart(options);
		return this.request("silenceAlert", { params: { id }, body: { ...said, forS } }, { ...how, safe: true });
	}

	/** How delivery goes: of the space, of each of its agents, and point by point. */
	async stats(
		window: "1m" | "5m" | "1h" | "24h" = "5m",
		options: CallOptions & { readonly space?: "all" | undefined } = {},
	): Promise<wire.Stats> {
		const { space, ...how } = options;
		return this.request("stats", { query: { window, space } }, how);
	}

	/** Who did what to which object, the oldest first unless `order` is `newest`. */
	audit(options: AuditFilters = {}): Pages<wire.AuditPage["entries"][number]> {
		const [{ action, pageSize = 100, ...filters }, how] = apart(options);
		const query = {
			order: "oldest" as const,
			...filters,
			pageSize,
			action: typeof action === "object" ? action.join(",") : action,
		};
		return new Pages(async (pageToken) => {
			const answer = await this.request("audit", { query: { ...query, pageToken } }, how);
			return { items: answer.entries, nextPageToken: answer.nextPageToken };
		});
	}

	/**
	 * What happens in the space, as it happens. It goes on for ever, over restarts of the server, too; no event is lost
	 * and none comes twice. `break` ends it, or its `stop()`, or the signal; its `position` is where it stands.
	 *
	 * @example
	 * for await (const event of spine.events({ types: ["handoff."] })) console.log(event.id, event.event, event.subject);
	 */
	events(options: EventOptions = {}): Events {
		return new Events(this, options);
	}

	/**
	 * Makes a key; its `key` is the secret, which is told this once. The first of a server must be admin of all spaces,
	 * and from then on everybody needs one. It is not sent again where its answer is lost: that would be a second key.
	 *
	 * @example
	 * const made = await spine.createKey("the pipeline", { agent: "coder", scopes: ["read", "write", "receive"] });
	 */
	async createKey(name: string, options: CreateKeyOptions = {}): Promise<wire.Operations["createKey"]["answer"]> {
		const [said, how] = apart(options);
		return this.request("createKey", { body: { ...said, name } }, { ...how, safe: false });
	}

	/** The keys that this one may see, in the order in which they were made. No secrets. */
	keys(options: PageOptions = {}): Pages<wire.Key> {
		const { pageSize = 100, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listKeys", { query: { pageSize, pageToken } }, how);
			return { items: answer.keys, nextPageToken: answer.nextPageToken };
		});
	}

	/** One key, such as `key-7`. */
	async key(id: string, options: CallOptions = {}): Promise<wire.Key> {
		return this.request("readKey", { params: { id } }, options);
	}

	/** Gives a key a new secret, told this once. The one before is valid for `graceS` seconds more: a day, or 0: no longer. */
	async rotateKey(
		id: string,
		options: CallOptions & { readonly graceS?: number | undefined } = {},
	): Promise<wire.Operations["rotateKey"]["answer"]> {
		const { graceS, ...how } = options;
		return this.request("rotateKey", { params: { id }, body: { graceS } }, { ...how, safe: false });
	}

	/** Ends a key for good, with its open streams, waiting calls and sessions. */
	async revokeKey(
		id: string,
		options: CallOptions & { readonly reason?: string | undefined } = {},
	): Promise<wire.Key> {
		const { reason, ...how } = options;
		return this.request("revokeKey", { params: { id }, body: { reason } }, { ...how, safe: true });
	}

	/** Who one is to the server: whether it asks for keys, and which key this client has. Answered without one, too. */
	async session(options: CallOptions = {}): Promise<wire.Session> {
		return this.request("readSession", {}, options);
	}

	/** How many tokens a text has: exactly, in `o200k_base` and `cl100k_base`; about, with `estimate`. */
	async tokens(
		text: string,
		options: CallOptions & { readonly tokenizer?: wire.Tokenizer | undefined } = {},
	): Promise<number> {
		const { tokenizer = "o200k_base", ...how } = options;
		return (await this.request("countTokens", { body: { text, tokenizer } }, { ...how, safe: true })).tokens;
	}

	/**
	 * The servers that share a database, and which of them owns which part of it. One that keeps everything itself is the
	 * only node, and has no shards.
	 */
	async cluster(options: CallOptions = {}): Promise<wire.Operations["readCluster"]["answer"]> {
		return this.request("readCluster", {}, options);
	}

	/** What the server says about itself: version, uptime, store, memories in the space, connections, requests. */

	async status(options: CallOptions = {}): Promise<wire.Status> {
		return this.request("status", {}, options);
	}

	/** Whether the server's process serves. False, not an error, where nobody answers. Asks once. */
	async healthy(options: CallOptions = {}): Promise<boolean> {
		return this.request("health", {}, { ...options, retry: false }).then(
			() => true,
			() => false,
		);
	}

	/** Whether the server takes writes. False where nobody answers. Asks once. */
	async ready(options: CallOptions = {}): Promise<boolean> {
		return this.request("readiness", {}, { ...options, retry: false }).then(
			() => true,
			() => false,
		);
	}
}

/** Options of `createKey`. */
export interface CreateKeyOptions extends Omit<wire.Operations["createKey"]["input"]["body"], "name">, CallOptions {}

/** Options of `silenceAlert`. */
export interface DecideAlert extends CallOptions {
	readonly by?: string | undefined;
	readonly why?: string | undefined;
}

/** The settings that stay when others are changed. The secret of the webhook the server keeps by itself. */
function kept(present: AgentInfo | undefined): wire.AgentSettings {
	if (present === undefined) return {};
	const has = present as unknown as wire.JsonObject;
	const names = memberNames("AgentSettings").filter((name) => name !== "webhookSecret" && has[name] !== null);
	return Object.fromEntries(names.map((name) => [name, has[name]])) as wire.AgentSettings;
}
