import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { verifyWebhook, WebhookError } from "../dist/index.js";
import { failure, until, useServer } from "./world.mjs";

const world = await useServer();
const posts = [];
const receiver = createServer(async (request, response) => {
	const parts = [];
	for await (const part of request) parts.push(part);
	posts.push({ headers: request.headers, body: Buffer.concat(parts) });
	response.end();
});
await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
after(() => receiver.close());

test("a webhook of the server is known from any other", async () => {
	const spine = world.client();
	const { webhookSecret } = await spine.registerAgent("hooked", {
		webhook: `http://127.0.0.1:${receiver.address().port}/`,
	});
	const sent = await spine.send(await spine.pack("hooked", "Go: grün."));
	await until("it was posted", () => posts.length === 1);
	const [{ headers, body }] = posts;
	const handoff = await verifyWebhook(headers, body, webhookSecret);
	assert.deepEqual([handoff.id, handoff.to, handoff.leaseExpiresAt instanceof Date], [sent.id, "hooked", true]);
	assert.match(handoff.prompt, /grün/);
	assert.equal((await verifyWebhook(new Headers(headers), body.toString(), webhookSecret)).id, sent.id);
	const code = async (...given) => {
		const error = await failure(verifyWebhook(...given));
		assert.ok(error instanceof WebhookError);
		return error.code;
	};
	assert.equal(await code(headers, `${body} `, webhookSecret), "webhook_signature");
	assert.equal(await code(headers, body, `whsec_${btoa("x".repeat(32))}`), "webhook_signature");
	assert.equal(await code({ ...headers, "webhook-timestamp": "1" }, body, webhookSecret), "webhook_signature");
	assert.equal(await code(headers, body, webhookSecret, { toleranceS: -1 }), "webhook_timestamp");
	assert.equal(await code({}, body, webhookSecret), "webhook_headers");
	const error = await failure(verifyWebhook(headers, body, "not a secret"));
	assert.ok(error instanceof TypeError && !error.message.includes("not a secret"));
});
