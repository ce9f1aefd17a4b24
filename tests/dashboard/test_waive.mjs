// A person waives a constraint of a task: what it says before, what it does, and what stays to be seen.
import assert from "node:assert/strict";

const holds = "ul[aria-label='What holds']";
const waived = "ul[aria-label='What was waived']";

/** A task of one hop, with a constraint that is locked and one that is not. */
function begin(t, more = {}) {
	return t.api.send("planner", "coder", "Write it.", {
		task: "t",
		constraints: { region: "eu", style: "terse", max_tokens: 3000 },
		locked: ["region"],
		...more,
	});
}

const line = (t, key, within = holds) => t.page.locator(`${within} li`).filter({ has: t.page.locator(".key", { hasText: key }) });
const waivers = async (t) => (await t.api.get("/v1/tasks/t")).waivers;

export const tests = {
	async "a task shows what holds at its newest hop, what is locked, and what was waived"(t) {
		const first = await begin(t);
		await t.api.send("coder", "tester", "Test it.", {
			parent: first.envelope_id,
			constraints: { language: "C" },
			waive: [{ key: "style", reason: "nobody reads it" }],
		});
		await t.open("tasks", "t", first.envelope_id);
		await t.sees("as of hop 2", ".panel");
		assert.deepEqual(await t.page.locator(`${holds} .key`).allTextContents(), ["language", "region"]);
		assert.match(await line(t, "region").textContent(), /eu.*locked/);
		assert.doesNotMatch(await line(t, "language").textContent(), /locked/);
		const text = await line(t, "style", waived).textContent();
		assert.match(text, /terse.*nobody reads it.*by coder.*at hop 2/);
		assert.doesNotMatch(text, /unauthenticated/, "an agent's own");
		assert.equal(await t.page.getByRole("button", { name: "Waive…" }).count(), 2);
	},

	async "nothing is shown where nothing binds"(t) {
		await t.api.send("planner", "coder", "Write it.", { task: "t", intent: "Ship it." });
		await t.open("tasks", "t");
		// Both that the list is made of are there.
		await t.page.locator("blockquote.intent").waitFor();
		await t.page.locator("pre.prompt").waitFor();
		assert.equal(await t.page.getByRole("heading", { name: "Constraints" }).count(), 0);
	},

	async "a person waives what is locked: with a name and a reason, and for the next hop"(t) {
		const first = await begin(t);
		await t.open("tasks", "t");
		assert.equal(await line(t, "max_tokens").getByRole("button").count(), 0, "there is nothing to waive");
		await line(t, "region").getByRole("button", { name: "Waive… region" }).click();
		await t.sees("It cannot be undone.", "dialog");
		await t.sees("although it is locked", "dialog");
		await t.sees("unauthenticated", "dialog");
		const submit = t.button("Waive for the whole task", "dialog");
		// Neither without a name nor with a blank reason.
		await t.page.getByLabel("Reason").fill("legal said so");
		assert.ok(await submit.isDisabled());
		await t.page.getByLabel("Your name").fill("Zo\u00eb");
		assert.ok(await submit.isEnabled());
		for (const blank of ["", "   ", "\u200b \u00a0"]) {
			await t.page.getByLabel("Reason").fill(blank);
			assert.ok(await submit.isDisabled());
		}
		assert.deepEqual(await waivers(t), []);
		await t.page.getByLabel("Reason").fill("legal said so");
		await submit.click();
		await t.sees("region is waived for the whole task");
		await t.sees("waived from the next hop on", holds);
		assert.match(await line(t, "region").textContent(), /legal said so.*by Zo\u00eb, a person, unauthenticated/);
		assert.equal(await line(t, "region").getByRole("button").count(), 0, "once is enough");
		const [made] = await waivers(t);
		assert.deepEqual([made.key, made.reason, made.by, made.unauthenticated], ["region", "legal said so", "Zo\u00eb", true]);
		// It is to be seen by whoever comes later, and the name is known from now on.
		await t.page.reload();
		await t.sees("waived from the next hop on", holds);
		await t.button("You are Zo\u00eb. Change", "header").waitFor();
		// The next hop goes without it, and the page sees it come.
		await t.live();
		await t.api.send("coder", "tester", "Test it.", { parent: first.envelope_id });
		await line(t, "region", waived).waitFor();
		assert.match(await line(t, "region", waived).textContent(), /eu.*legal said so.*unauthenticated.*at hop 2/);
		assert.equal(await line(t, "region").count(), 0);
	},

	async "who is known is not asked again, and a refusal is said in the dialog"(t) {
		await begin(t);
		await t.open("tasks", "t");
		await t.button("You", "header").or(t.button("Say who you are")).first().click();
		await t.page.getByLabel("Your name").fill("kim");
		await t.button("Save").click();
		await t.page.locator("dialog").waitFor({ state: "detached" });
		await line(t, "style").getByRole("button").click();
		await t.sees("You are kim.", "dialog");
		assert.equal(await t.page.getByLabel("Your name").count(), 0);
		// What cannot be seen, and is a letter for a browser.
		await t.page.getByLabel("Reason").fill("\u3164");
		t.mayFail = true; // The browser reports the refusal that the dialog shows.
		await t.button("Waive for the whole task", "dialog").click();
		await t.page.locator("dialog [role=alert]").waitFor();
		assert.deepEqual(await waivers(t), []);
		await t.page.getByLabel("Reason").fill("the house style has changed");
		await t.button("Waive for the whole task", "dialog").click();
		await t.sees("waived from the next hop on", holds);
		assert.equal((await waivers(t))[0].by, "kim");
	},

	async "who writes a reason is not interrupted by the next hop"(t) {
		const first = await begin(t);
		await t.open("tasks", "t");
		await t.live();
		await line(t, "style").getByRole("button").click();
		await t.page.getByLabel("Your name").fill("kim");
		await t.page.getByLabel("Reason").fill("the house style");
		// One that has it no more: then there is nothing to waive, and the server says so.
		await t.api.send("coder", "tester", "Test it.", {
			parent: first.envelope_id,
			waive: [{ key: "style", reason: "nobody reads it" }],
		});
		await t.sees("as of hop 2", ".panel");
		assert.equal(await t.page.getByLabel("Reason").inputValue(), "the house style");
		t.mayFail = true; // The browser reports the refusal that the dialog shows.
		await t.button("Waive for the whole task", "dialog").click();
		await t.sees('no end of the task has a constraint "style"', "dialog [role=alert]");
		assert.deepEqual(await waivers(t), []);
	},

	async "a constraint that a later hop sets anew can be waived anew"(t) {
		const first = await begin(t);
		await t.open("tasks", "t");
		const waive = async () => {
			await line(t, "region").getByRole("button").click();
			if (await t.page.getByLabel("Your name").count()) await t.page.getByLabel("Your name").fill("kim");
			await t.page.getByLabel("Reason").fill("legal said so");
			await t.button("Waive for the whole task", "dialog").click();
			await t.sees("waived from the next hop on", holds);
		};
		await waive();
		const second = await t.api.send("coder", "tester", "Test it.", { parent: first.envelope_id });
		await t.api.send("tester", "writer", "Describe it.", { parent: second.envelope_id, constraints: { region: "us" } });
		await line(t, "region").filter({ hasText: "us" }).waitFor();
		assert.match(await line(t, "region", waived).textContent(), /eu/);
		await waive();
		assert.equal((await waivers(t)).length, 2);
	},
};
