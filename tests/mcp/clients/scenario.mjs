// Two agents use every tool that the server lists.
import assert from "node:assert/strict";

function recorder(client, called) {
	return async (name, args) => {
		called.add(name);
		const result = await client.callTool({ name, arguments: args });
		assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
		assert.ok(result.content.length > 0, `${name} says nothing`);
		assert.equal(typeof result.structuredContent, "object", `${name} has no structuredContent`);
		return result.structuredContent;
	};
}

const text = (result) => JSON.stringify(result);

export async function drive(analyst, coder) {
	const called = new Set(), from = recorder(analyst, called), to = recorder(coder, called);
	const listed = (await analyst.listTools()).tools.map((tool) => tool.name);

	const status = await from("spine_status", {});
	assert.equal(status.status, "ready");
	const memory = await from("memory_store", { content: "Expiring keys are rejected with 401 by the billing API", kind: "fact" });
	assert.match(text(await from("memory_get", { id: memory.id })), /billing API/);
	assert.match(text(await from("memory_search", { query: "expiring keys" })), /billing API/);
	await from("memory_pin", { id: memory.id, pinned: true });

	const sent = await from("agent_handoff", {
		target_agent: "coder", task_summary: "Renew the keys", intent: "Never let a key expire", refs: [memory.id],
		constraints: { never_log: "keys" }, task: "keys",
	});
	const got = await to("handoff_receive", { wait_s: 5 });
	assert.match(text(got), /Never let a key expire/);
	assert.match(text(got), /never_log/);
	const { id, lease } = got.handoffs[0];
	await to("handoff_need", { id, lease, refs: [memory.id] });
	await to("handoff_settle", { id, lease, verb: "ack" });
	await to("handoff_settle", { id, lease, verb: "complete", result: { renewed: 3 } });
	assert.match(text(await from("handoff_trace", { task: "keys" })), new RegExp(id));
	await from("parked_list", {});
	await from("channel_publish", { channel: "keys", envelope_id: sent.envelope_id ?? sent.envelope?.id, receivers: ["coder"] });
	assert.ok((await to("handoff_receive", { wait_s: 5 })));

	assert.deepEqual([...called].sort(), listed.sort(), "every tool is called");
	const refused = await analyst.callTool({ name: "memory_get", arguments: { id: "ms-99999" } });
	assert.ok(refused.isError, "what is not there is an error for the model");
}
