/**
 * Memory Spine: what agents remember, and hand on.
 *
 * @example
 * import { MemorySpine } from "memory-spine";
 *
 * const spine = new MemorySpine({ agent: "researcher" });
 * await spine.send(await spine.pack("coder", "Implement the retry logic."));
 *
 * await spine.agent("coder").run(async (work) => {
 *     await work.handOn("reviewer", "Review the patch.", { result: await write(work.prompt) });
 * });
 *
 * @packageDocumentation
 */
export type { CallOptions, MemorySpineOptions, Sending } from "./caller.js";
export { Channel, Join, type JoinOptions, type PublishOptions } from "./channel.js";
export { MemorySpine } from "./client.js";
export { DryRun, Envelope, type EnvelopeId } from "./envelope.js";
export type { HandoffFields, PackFields, PackOptions, TaskFilters, WaiveOptions } from "./envelopes.js";
export * from "./errors.js";
export { type EventOptions, Events, type SpaceEvent } from "./events.js";
export { version } from "./generated/operations.js";
export type {
	Agent,
	AgentSettings,
	Alert,
	AlertRule,
	Blame,
	Channel as ChannelInfo,
	Considered,
	Difference,
	Fidelity,
	Found,
	HandoffHistory,
	Json,
	JsonObject,
	Key,
	Memory,
	Operations,
	Origin,
	Parked,
	Queue,
	QueueEntry,
	Route,
	RouteSettings,
	Sent,
	Session,
	Space,
	Stats,
	Status,
	Step,
	Taken,
	Task,
	TaskListed,
	Trace,
	Trust,
	Verdict,
} from "./generated/types.js";
export { HandoffClient, type HandoffClientOptions } from "./handoff-client.js";
export type {
	DecideOptions,
	DeliverOptions,
	DeliveryOptions,
	Handoff,
	HandoffFilters,
	HandoffId,
	ParkedFilters,
	Sendable,
	SendOptions,
} from "./handoffs.js";
export { Handled, idempotent, type IdempotentOptions } from "./idempotent.js";
export type { LoopOptions } from "./loop.js";
export type { Bulk, ManyOptions } from "./many.js";
export type {
	ChangeOptions,
	Draft,
	ListOptions,
	MemoryFields,
	MemoryFilters,
	SearchOptions,
	StoreManyOptions,
	StoreOptions,
	UpdateOptions,
} from "./memories.js";
export type { AgentInfo, AuditFilters, CreateKeyOptions, PageOptions, RegisterOptions } from "./operating.js";
export { type Page, Pages } from "./pages.js";
export { type Handler, Inbox, type InboxOptions, type ReceiveOptions, Receiver, type RunOptions } from "./receiver.js";
export type { Log } from "./transport.js";
export { verifyWebhook, type WebhookOptions } from "./webhook.js";
export { type AckOptions, type CompleteOptions, type HandOnOptions, type Verb, Work } from "./work.js";
