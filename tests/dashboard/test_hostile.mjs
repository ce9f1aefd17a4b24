// Whatever agents write, in whichever field: it is shown as text, and disturbs nothing beside it.
import assert from "node:assert/strict";
import { until } from "./stage.mjs";

const markup = `<img src=x onerror="document.title='HACKED';alert(1)"><svg/onload=alert(2)></script><script>alert(3)</script>{{7*7}}\${7*7}<!--`;
const rtl = "\u202Egnirts desrever\u202C مرحبا بالعالم \u2067\u2066";
const odd = "a\u0301\u0000".replace("\u0000", "") + "\u200B\uFEFF👩‍👩‍👧‍👦 \uD83D\uDE00 &lt;b&gt; %3Cscript%3E";
const huge = "word ".repeat(40_000);
/** A name: no control characters, 128 bytes at most. */
const name = `<b onmouseover=alert(4)>"'&;javascript:alert(5)/..%2f\u202Eelbon`;

/** Fills every field of the protocol that is shown. */
async function fill(api) {
	const encoded = encodeURIComponent(name);
	await api.put(`/v1/agents/${encoded}`, { description: markup + rtl, fallbacks: [`${name}2`], accepts: ["2"] });
	const memory = await api.store(markup + rtl + odd, {
		summary: markup,
		kind: "<i>kind</i>",
		tags: [markup.slice(0, 100), rtl],
		agent: name,
		task: name,
		metadata: { [markup]: markup, list: [markup], html: { b: markup } },
	});
	await api.call("PATCH", `/v1/memories/${memory.id}`, { content: `${rtl}${markup}changed` });
	await api.store(huge, { tags: ["huge"] });
	const sent = await api.send(name, name, `${markup} ${rtl} see ${memory.id}, ms-999`, {
		intent: markup + rtl,
		state: markup,
		task: name,
		constraints: { [markup.slice(0, 60)]: markup, drop: [markup] },
		open_decisions: [markup],
		execution_history: [{ agent: name, action: markup, decision: markup, why: markup }],
		expected_output: { format: markup, criteria: [markup] },
	});
	const taken = await api.take(name, { instance: name });
	await api.settle(taken, "progress", { note: markup });
	await api.settle(taken, "complete", { result: { html: markup, [markup]: rtl }, gaps: [markup] });
	const next = await api.send(name, `${name}2`, markup, {
		parent: sent.envelope_id,
		state: rtl,
		waive: [{ key: "drop", reason: markup }],
	});
	await api.settle(await api.take(`${name}2`), "reject", { reason: markup + rtl });
	const long = await api.send(name, name, `A long reason. ${huge.slice(0, 3000)}`, {});
	await api.settle(await api.take(name), "reject", { reason: huge.slice(0, 4000) });
	await api.put("/v1/channels/hostile", { description: markup });
	await api.put(`/v1/channels/hostile/subscribers/${encoded}`);
	await api.put("/v1/routes/hostile", {
		from: name,
		to: name,
		when: { state: markup, constraint: { a: markup }, tag: "x" },
		description: markup,
	});
	for (let i = 0; i < 3; i++) {
		await api.send(name, `${name}3`, "Fail.", {}, { max_attempts: 1 });
		await api.settle(await api.take(`${name}3`), "nack", { reason: markup, delay_s: 0 });
	}
	// Two that wait for somebody who never comes.
	for (let i = 0; i < 2; i++) await api.send(name, `${name}4`, `${markup} ${rtl} ${i}`);
	return { memory, sent, next, long };
}

/** Is it there as text, and did the browser make nothing of it? */
async function isText(t, within, text = markup) {
	await until(
		async () => (await t.page.locator(within).allTextContents()).some((found) => found.includes(text)),
		`the text in ${within}`,
	);
	const made = await t.page.evaluate(() => ({
		elements: document.querySelectorAll(
			"#app img, #app script, #app b, #app i, #app iframe, #app object, #app embed, #app svg [onload], #app [onerror], #app [onmouseover], #app [style*=url]",
		).length,
		links: [...document.querySelectorAll("#app a")]
			.map((link) => link.getAttribute("href"))
			.filter((href) => !href?.startsWith("#")),
		title: document.title,
	}));
	assert.equal(made.elements, 0);
	assert.deepEqual(made.links, []);
	assert.ok(!made.title.includes("HACKED"));
}

/** Nothing is wider than the page. */
async function fits(t) {
	const [inner, outer] = await t.page.evaluate(() => [
		document.documentElement.scrollWidth,
		document.documentElement.clientWidth,
	]);
	assert.ok(inner <= outer, `the page is ${inner} wide, the window ${outer}`);
}

export const tests = {
	async "hostile content stays text on every page"(t) {
		const { memory, sent, next } = await fill(t.api);
		await t.open("overview");
		await isText(t, ".needs");
		await isText(t, ".activity", name);
		await isText(t, "table", name);
		await isText(t, ".alerts", name);
		await fits(t);
		await t.open("tasks");
		await isText(t, "table", markup.slice(0, 60));
		await fits(t);
		await t.page.locator("tbody th a", { hasText: "onmouseover" }).first().click();
		await isText(t, ".pipeline", name);
		await isText(t, "blockquote.intent");
		await isText(t, "pre.prompt");
		await isText(t, ".constraints .key", markup.slice(0, 60));
		await isText(t, ".constraints .value");
		await isText(t, ".constraints q");
		await fits(t);
		await t.page.getByRole("button", { name: "Waive…" }).first().click();
		await isText(t, "dialog .waives");
		await fits(t);
		await t.page.keyboard.press("Escape");
		await t.page.locator(".hop-card", { hasText: next.envelope_id }).click();
		await t.page.getByRole("tab", { name: "Changes" }).click();
		await isText(t, ".changes");
		await t.page.getByRole("tab", { name: "Left out" }).click();
		await isText(t, ".changes");
		await t.page.getByRole("tab", { name: "Delivery" }).click();
		await isText(t, ".events");
		await t.page.locator(".hop-card", { hasText: sent.envelope_id }).click();
		await t.page.getByRole("tab", { name: "Delivery" }).click();
		await isText(t, ".delivery pre", "onerror");
		await t.page.getByRole("tab", { name: "Considered" }).click();
		await isText(t, "td.wide", "onerror");
		await fits(t);
		await t.open("parked", next.id);
		await isText(t, "tbody");
		await isText(t, ".reason");
		await isText(t, "pre.prompt");
		await fits(t);
		await t.page.getByLabel("Choose all").check();
		await t.button("Redrive", ".bulk").click();
		await isText(t, "dialog .preview", "onerror");
		await t.page.keyboard.press("Escape");
		await t.open(`parked?agent=${encodeURIComponent(name)}&q=${encodeURIComponent(markup)}&task=${encodeURIComponent(markup)}`);
		await isText(t, ".search");
		await fits(t);
		await t.open("handoffs", next.id);
		await isText(t, ".attempts");
		await isText(t, ".events");
		await isText(t, ".about", "onerror");
		await isText(t, ".facts", name);
		await fits(t);
		await t.open("handoffs", sent.id);
		await isText(t, "main pre", "onerror");
		await fits(t);
		await t.open("queues");
		await isText(t, "table", name);
		await fits(t);
		await t.open(`queues?agent=${encodeURIComponent(`${name}4`)}`);
		await isText(t, "h1", name);
		await isText(t, "table", "onerror");
		await t.page.getByLabel("Choose all").check();
		await t.button("Cancel…", ".bulk").click();
		await isText(t, "dialog .listed", "onerror");
		await t.page.keyboard.press("Escape");
		await fits(t);
		await t.open(`tasks?agent=${encodeURIComponent(name)}&q=${encodeURIComponent(markup)}&state=${encodeURIComponent(markup)}`);
		await t.page.getByRole("searchbox").waitFor();
		await fits(t);
		await t.open("agents");
		await isText(t, "table");
		await isText(t, "table", name);
		await fits(t);
		await t.page.locator("button:enabled", { hasText: "Delete…" }).first().click();
		await isText(t, "dialog h2", name.slice(0, 20));
		await t.page.keyboard.press("Escape");
		await t.open("channels");
		await isText(t, "table");
		await fits(t);
		await t.open("memories?q=onerror");
		await isText(t, ".memory");
		await fits(t);
		await t.open("memories", memory.id);
		await isText(t, ".panel pre");
		await isText(t, ".panel .plain-list");
		await isText(t, ".difference");
		await fits(t);
	},

	"hostile content fits a phone": {
		options: { viewport: { width: 390, height: 780 } },
		async run(t) {
			const { memory, next } = await fill(t.api);
			for (const page of [
				["overview"],
				["tasks"],
				["tasks", name],
				["parked"],
				["parked", next.id],
				["handoffs", next.id],
				["queues"],
				["agents"],
				["channels"],
				["memories"],
				["memories", memory.id],
			]) {
				await t.page.goto(`${t.server.url}/#/${[t.space, ...page].map(encodeURIComponent).join("/")}`);
				await isText(
					t,
					"main",
					["overview", "channels", "agents", "queues"].includes(page[0]) || page[1] === name
						? name
						: "onerror",
				);
				await fits(t);
			}
		},
	},

	async "what is written from right to left does not turn what stands beside it"(t) {
		await t.api.send("\u202Eevil", "عربي", "One.");
		await t.open("tasks", "task-1");
		const node = t.page.locator(".agent-node", { hasText: "عربي" });
		await node.waitFor();
		for (const style of await t.page
			.locator(".name")
			.evaluateAll((names) => names.map((one) => getComputedStyle(one).unicodeBidi)))
			assert.equal(style, "isolate");
	},

	async "a huge text is shown in part, and whole when asked for"(t) {
		const memory = await t.api.store(huge);
		await t.open("memories", memory.id);
		await t.sees("Show all of it");
		assert.ok((await t.page.locator(".panel pre").first().textContent()).length <= 20_000);
		await t.button(/^Show all of it/).click();
		assert.equal((await t.page.locator(".panel pre").first().textContent()).length, huge.length);
	},

	async "hostile addresses show a page, and nothing else"(t) {
		t.mayFail = true; // The browser reports the 404s that are shown.
		for (const hash of [
			`#/${encodeURIComponent(markup)}/tasks`,
			`#/default/${encodeURIComponent(markup)}`,
			`#/default/tasks/${encodeURIComponent(markup)}`,
			"#/default/memories/%E0%A4%A",
			"#/../../v1/status",
			`#/default/memories?q=${encodeURIComponent(markup)}`,
			`#/default/queues?agent=${encodeURIComponent(markup)}`,
			`#/default/parked?agent=${encodeURIComponent(markup)}&when=since%20${encodeURIComponent(markup)}`,
			`#/default/handoffs/${encodeURIComponent(markup)}`,
			`#/default/tasks?age=${encodeURIComponent(markup)}`,
			"#//////",
		]) {
			await t.page.goto(`${t.server.url}/${hash}`);
			await t.page.locator("h1").waitFor();
			assert.equal(await t.page.locator("#app img, #app script").count(), 0);
		}
	},
};
