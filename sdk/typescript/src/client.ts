/** The client. Its calls are in the modules named after their subject. @module */
import { Channel } from "./channel.js";
import { OperatingCalls } from "./operating.js";
import { Receiver } from "./receiver.js";

/**
 * The client of a Memory Spine server. One for all parts of a program; it holds no connection of its own.
 *
 * @example
 * const spine = new MemorySpine({ agent: "researcher" });
 * await spine.store("The gateway answers 429 with Retry-After in seconds.", { tags: ["gateway"] });
 */
export class MemorySpine extends OperatingCalls {
	/** An agent as a receiver of handoffs: `receive`, `inbox`, `run`. Else the one that the client was made with. */
	agent(name?: string, options: { readonly instance?: string | undefined } = {}): Receiver {
		const which = name ?? this.agentName;
		if (which === undefined || which === "")
			throw new TypeError("which agent? Name one, here or when the client is made ({ agent: … })");
		return new Receiver(this, which, options.instance);
	}

	/** A channel: `publish`, `join`, `subscribe`. Asks the server nothing yet. */
	getChannel(name: string): Channel {
		return new Channel(this, name);
	}
}
