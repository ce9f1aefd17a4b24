// A server that stands before the real one and misbehaves as told, request by request.
import { createServer, request as forward } from "node:http";

/** What a fault does with a request; see `Flaky`. */
export const faults = {
	/** Passes it on, and its answer back. */
	pass: (flaky, request, response) => flaky.pass(request, response),
	/** Cuts the connection before anything is done. */
	cut: (_, request) => request.socket.destroy(),
	/** Has it carried out, and loses the answer. */
	lose: async (flaky, request) => {
		await flaky.carryOut(request);
		request.socket.destroy();
	},
	/** Answers with the head and half of the body. */
	half: (_, request, response) => {
		response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
		response.write('{"half":');
		setTimeout(() => request.socket.destroy(), 20);
	},
	/** Never answers. */
	hang: () => undefined,
};

/** Refuses as the server does. */
export function refuse(status, code, headers = {}, more = {}) {
	return (_, request, response) => {
		request.resume();
		const problem = {
			type: "about:blank",
			title: "X",
			status,
			code,
			detail: `as told: ${code}`,
			retryable: status === 503,
			...more,
		};
		response
			.writeHead(status, { "Content-Type": "application/problem+json", ...headers })
			.end(JSON.stringify(problem));
	};
}

export class Flaky {
	/** Every request that came: method, url, headers, body. */
	requests = [];
	#script;
	#target;
	#server;

	/** The faults are used in their order; afterwards everything is passed on. */
	static async before(url, ...script) {
		const flaky = new Flaky();
		flaky.#script = script;
		flaky.#target = url;
		flaky.#server = createServer((request, response) => flaky.#serve(request, response));
		await new Promise((resolve) => flaky.#server.listen(0, "127.0.0.1", resolve));
		flaky.url = `http://127.0.0.1:${flaky.#server.address().port}`;
		return flaky;
	}

	async #serve(request, response) {
		const fault = this.#script.shift() ?? faults.pass;
		const seen = { method: request.method, url: request.url, headers: request.headers, body: "" };
		this.requests.push(seen);
		if (fault === faults.cut || fault === faults.hang) return fault(this, request, response);
		for await (const part of request) seen.body += part;
		request.body = seen.body;
		return fault(this, request, response);
	}

	/** What the real server answers. */
	carryOut(request) {
		return new Promise((resolve, reject) => {
			const headers = { ...request.headers, host: new URL(this.#target).host };
			const passed = forward(`${this.#target}${request.url}`, { method: request.method, headers }, (answer) => {
				let body = "";
				answer.setEncoding("utf8");
				answer.on("data", (part) => (body += part));
				answer.on("end", () => resolve({ answer, body }));
			});
			passed.on("error", reject);
			passed.end(request.body);
		});
	}

	async pass(request, response) {
		const { answer, body } = await this.carryOut(request);
		response.writeHead(answer.statusCode, answer.headers).end(body);
	}

	/** The faults of the requests from now on. */
	misbehave(...script) {
		this.#script = script;
		this.requests.length = 0;
	}

	async close() {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}
}
