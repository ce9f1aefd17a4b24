// Signing in with a key: a server of its own that asks for one, because the others are open.
import assert from "node:assert/strict";
import { Server } from "./server.mjs";
import { until } from "./stage.mjs";

/** A server that asks for keys; `make(…)` makes one more, `api(…)` calls with the first. */
async function locked(t) {
	const server = await Server.start();
	let admin;
	const api = async (method, path, body, key = admin?.key, space = undefined) => {
		const answer = await fetch(`${server.url}${path}`, {
			method,
			headers: {
				...(key ? { Authorization: `Bearer ${key}` } : {}),
				...(space ? { "Spine-Space": space } : {}),
				...(body === undefined ? {} : { "Content-Type": "application/json" }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await answer.text();
		if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
		return text ? JSON.parse(text) : null;
	};
	admin = await api("POST", "/v1/keys", { name: "the operator", space: "*", scopes: ["admin"] });
	const make = (more) => api("POST", "/v1/keys", { name: "a key", space: t.space, scopes: ["read"], ...more });
	await api("POST", "/v1/memories", { content: "Behind the door." }, admin.key, t.space);
	t.server = server;
	return { server, api, make, admin };
}

async function signIn(t, key) {
	await t.page.getByLabel("Key").fill(key);
	await t.button("Sign in", "main").click();
}

/** Where a script, or somebody who looks over a shoulder, could find it. */
async function traces(t) {
	return t.page.evaluate(() =>
		[
			JSON.stringify(localStorage),
			JSON.stringify(sessionStorage),
			location.href,
			document.cookie,
			document.documentElement.outerHTML,
			...[...document.querySelectorAll("input")].map((one) => one.value),
		].join("\n"),
	);
}

/** With a server of the test's own, which ends with it. The browser reports each 401 that is meant. */
function behind(run, options = {}) {
	return {
		options,
		async run(t) {
			const given = t.server;
			t.mayFail = true;
			const door = await locked(t);
			try {
				await run(t, door);
				await t.page.goto("about:blank");
			} finally {
				await door.server.stop();
				t.server = given;
			}
		},
	};
}

const look = behind(async (t, { admin, make }) => {
	const picture = async (name) =>
		process.env.PICTURES && (await t.page.screenshot({ path: `${process.env.PICTURES}/${name}-${t.page.viewportSize().width}.png` }));
	await t.open("memories");
	await t.sees("This server asks for a key");
	assert.deepEqual(await t.accessibility(), [], "the door");
	await picture("door");
	await signIn(t, "spk_9_wrong");
	await t.sees("the server does not know this key");
	assert.deepEqual(await t.accessibility(), [], "a refusal");
	await make({ name: "a reader" });
	await signIn(t, admin.key);
	await t.sees("Behind the door.", ".memory");
	await t.open("keys");
	await t.row("a reader").waitFor();
	assert.deepEqual(await t.accessibility(), [], "keys");
	await picture("keys");
	await t.button("Make a key…").click();
	await t.page.locator("dialog").waitFor();
	assert.deepEqual(await t.accessibility(), [], "a new key");
	await picture("new-key");
	await t.page.keyboard.press("Escape");
	await t.button(/^You are/).click();
	await t.sees("Signed in with the key", "dialog");
	assert.deepEqual(await t.accessibility(), [], "who one is");
	await picture("who");
});

export const tests = {
	"axe finds no serious problem at the door and behind it, in light": look,
	"axe finds no serious problem at the door and behind it, in dark": { ...look, options: { colorScheme: "dark" } },
	"axe finds no serious problem at the door and behind it, on a phone": {
		...look,
		options: { viewport: { width: 390, height: 780 } },
	},

	"a key is asked for, sent once, and kept nowhere that a script could read": behind(async (t, { admin }) => {
		const asked = [];
		t.page.on("request", (request) => asked.push(request));
		await t.open("memories");
		await t.sees("This server asks for a key");
		assert.equal(await t.page.getByText("Behind the door.").count(), 0);
		await signIn(t, "spk_1_" + "x".repeat(43));
		await t.sees("the server does not know this key");
		assert.ok(!(await traces(t)).includes("xxxxxxxx"));
		await signIn(t, ` ${admin.key} `);
		await t.sees("Behind the door.", ".memory");
		await t.live();
		assert.ok(!(await traces(t)).includes(admin.key));
		const [cookie] = await t.page.context().cookies();
		assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/"]);
		assert.ok(!cookie.value.includes(admin.key));
		const held = asked.filter((one) => `${one.url()} ${one.postData()}`.includes(admin.key));
		assert.deepEqual(held.map((one) => one.method()), ["POST"]);
		assert.ok(asked.every((one) => !one.headers().authorization));
		await t.page.reload();
		await t.sees("Behind the door.", ".memory");
	}),

	"who is signed in is shown, and signing out ends it": behind(async (t, { admin }) => {
		await t.open("memories");
		await signIn(t, admin.key);
		await t.sees("Behind the door.", ".memory");
		await t.button("You are the operator. Change").click();
		await t.sees("Signed in with the key the operator (key-1): admin, in all spaces", "dialog");
		await t.button("Sign out", "dialog").click();
		await t.sees("This server asks for a key");
		assert.equal(await t.page.getByText("Behind the door.").count(), 0);
		await t.page.reload();
		await t.sees("This server asks for a key");
	}),

	"a key for one space leads there, and no other is offered": behind(async (t, { make }) => {
		const one = await make({ name: "one space" });
		await t.page.goto(`${t.server.url}/#/elsewhere/memories`);
		await signIn(t, one.key);
		await t.live();
		assert.ok(new URL(t.page.url()).hash.startsWith(`#/${t.space}/`));
		await t.open("memories");
		await t.sees("Behind the door.", ".memory");
		assert.equal(await t.button("Choose a space").count(), 0);
		assert.equal(await t.page.getByRole("link", { name: "Keys" }).count(), 0);
		await t.page.evaluate(() => (location.hash = "#/elsewhere/memories"));
		await until(async () => new URL(t.page.url()).hash.startsWith(`#/${t.space}/`), "the key's space again");
	}),

	"what a key may not do is told and not offered": behind(async (t, { make, api }) => {
		const reader = await make({ name: "a reader" });
		const packed = await api("POST", "/v1/envelopes", { target_agent: "coder", task_summary: "Work.", constraints: { style: "short" } }, undefined, t.space);
		await api("POST", `/v1/envelopes/${packed.id}/park`, { reason: "it waits" }, undefined, t.space);
		await t.open("memories", "ms-1");
		await signIn(t, reader.key);
		await t.sees("Your key may look, and change nothing");
		const offers = async (...names) => {
			for (const name of names) assert.equal(await t.button(name, "main").count(), 0, name);
		};
		await t.sees("1 version");
		await offers("Pin", "Supersede…", "Forget…");
		await t.open("parked", "ho-1");
		await t.page.locator("pre.prompt").waitFor();
		await offers("Redrive", "Reroute…", "Discard…");
		await t.open("tasks", "task-1");
		await t.page.locator(".constraints .key").first().waitFor();
		await offers(/^Waive…/);
	}),

	"what the server refuses all the same is told in its words": behind(async (t, { make, api }) => {
		const writer = await make({ name: "a writer", scopes: ["read", "write"] });
		await t.open("memories", "ms-1");
		await signIn(t, writer.key);
		await t.sees("Your key may write, and decide nothing");
		await t.page.route("**/v1/memories/ms-1/pin", (route) => route.continue({ headers: { ...route.request().headers(), "spine-space": "elsewhere" } }));
		await t.button("Pin").click();
		await t.sees(/key-2/, ".notes");
		assert.equal((await api("GET", "/v1/memories/ms-1", undefined, undefined, t.space)).pinned, false);
	}),

	"the key of an agent decides in the agent's name, whatever name was typed": behind(async (t, { make, api, admin }) => {
		const one = await make({ name: "of an agent", agent: "reviewer", scopes: ["read", "write"] });
		await t.page.goto(t.server.url);
		await t.page.evaluate(() => localStorage.setItem("spine.person", "somebody else"));
		await t.open("memories");
		await signIn(t, one.key);
		await t.sees("Behind the door.", ".memory");
		await t.button("You are reviewer. Change").waitFor();
		await t.open("memories", "ms-1");
		await t.button("Pin").click();
		await until(
			async () => (await api("GET", "/v1/memories/ms-1", undefined, admin.key, t.space)).pinned,
			"the pin",
		);
	}),

	"a key that is revoked shuts the page at once, and it does not go on asking": behind(async (t, { make, api }) => {
		const one = await make({ name: "short" });
		await t.open("memories");
		await signIn(t, one.key);
		await t.sees("Behind the door.", ".memory");
		await t.live();
		await api("POST", `/v1/keys/${one.id}/revoke`, { reason: "a test" });
		await t.sees("This server asks for a key");
		const asked = [];
		t.page.on("request", (request) => asked.push(request.url()));
		await t.page.waitForTimeout(1500);
		assert.deepEqual(asked, []);
	}),

	"keys are made, rotated and revoked, and a secret is shown once": behind(async (t, { api }) => {
		await t.open("keys");
		await signIn(t, (await api("POST", "/v1/keys", { name: "second", space: "*", scopes: ["admin"] })).key);
		await t.row("the operator").waitFor();
		await t.button("Make a key…").click();
		await t.page.getByLabel("Name").fill("pipeline");
		await t.page.getByLabel("Agent (optional)").fill("coder");
		await t.page.getByLabel("receive").check();
		await t.button("Make it").click();
		const shown = async () => t.page.locator("dialog code").first().textContent();
		await until(async () => /^spk_3_/.test(await shown()), "the secret");
		const first = await shown();
		assert.equal((await api("GET", "/v1/session", undefined, first)).key.agent, "coder");
		await t.button("Close", "dialog").click();
		await t.row("pipeline").waitFor();
		assert.match(await t.row("pipeline").textContent(), /coder.*read, receive.*valid/);
		await t.button("Rotate key-3").click();
		await t.page.getByLabel("The old one is valid for").selectOption("0");
		await t.button("Rotate").click();
		await until(async () => /^spk_3_/.test(await shown()) && (await shown()) !== first, "the new secret");
		await t.button("Close", "dialog").click();
		assert.equal((await api("GET", "/v1/session", undefined, first).catch(() => ({ key: null }))).key, null);
		assert.ok(!(await traces(t)).includes(first));
		await t.button("Revoke key-3").click();
		await t.page.getByLabel("Why (optional)").fill("it leaked");
		await t.button("Revoke for good").click();
		await until(async () => /revoked/.test(await t.row("pipeline").textContent()), "that it is revoked");
		assert.equal((await api("GET", "/v1/keys/key-3")).reason, "it leaked");
	}),
};
