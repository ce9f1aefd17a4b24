// What nobody sees is seen on the pages, and what a script or an emoji needs is not disturbed.
import assert from "node:assert/strict";
import { until } from "./stage.mjs";

const hidden = "Pay\u200B the \u202Einvoice\u202C \u{E0069}\u{E0067}\u{E006E}\u{E006F}\u{E0072}\u{E0065} now \u{1F468}\u200D\u{1F469}";
const codes = ["U+200B", "U+202E", "U+202C", "U+E0069 U+E0067 U+E006E and 3 more"];

// Those of tests/unit/test_invisible.c.
const texts = [
	"pay\u200bload", "ig\u200cnore", "ig\u200dnore", "a\u2060b", "a\ufeffb", "\u202egnp.exe", "user\u202d", "a\u2066b\u2069 c", "x\u200e y",
	"\u{e0041}\u{e0042}", "hi\u{e0069}\u{e0067}\u{e006e}", "a\ufe01", "\u{1f600}\ufe0f\ufe01\ufe02", "b\ufe0f", "a\u{e0100}\u{e0101}",
	"字\u{e0100}\u{e0101}", "\u3164", "a\u00ad\u00adb", "\u115fx", "x\u2063y", "\ufffa", "word\u2800word", "\u{1f3f4} \u{e0067}", "\u206a",
	'ok "\ufeff\ufeff"', "سلام hello\u200cworld", "a\u034fb", "\u{e0001}", "x\u{e01f0}",
	"\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
	"\u{1f3f4}\u{e0049}\u{e0047}\u{e004e}\u{e004f}\u{e0052}\u{e0045}\u{e007f}", "\u{1f3f4}\u{e0061}\u{e0062}\u{e007f}",
	"\u{1f3f4}\u{e007a}\u{e007a}\u{e0039}\u{e0039}\u{e007f}", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}", "\u{1f3f4}\u{e007f}",
	"\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0061}",
	"\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
	"plain ASCII, of more than eight bytes", "café naïve", "\ufeff# A file with a mark", '{"a":"\ufeffTitle"}',
	"family \u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u2764\ufe0f", "\u2764\ufe0f\u200d\u{1f525}", "1\ufe0f\u20e3", "\u00a9\ufe0f", "\u2602\ufe0e",
	"\u{1f44d}\u{1f3fd}", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "می\u200cخواهم", "नमस्\u200dते", "क्\u200cष",
	"שלום\u200f (abc)", "\u200fשלום", "abc \u200eשלום", "عربي \u2067نص\u2069", "ไทย\u200bภาษา", "中文\u200b文字", "auf\u00adhören", "葛\u{e0100}",
	"ᠮᠣᠩ\u180bᠭᠣᠯ", "⠓⠑⠇⠇⠕\u2800⠺", "a\u2028b",
];

/** The codes that a person sees within. */
async function marked(t, within) {
	return t.page.locator(`${within} .unseen`).evaluateAll((marks) =>
		marks.map((mark) => {
			const shown = getComputedStyle(mark, "::before").content.replace(/^"|"$/g, "");
			return mark.getBoundingClientRect().width > 30 ? shown : `${shown} has no width`;
		}),
	);
}

export const tests = {
	async "a memory shows what nobody sees, and says so, with its trust and how it came"(t) {
		const memory = await t.api.store(hidden, {
			trust: "external", agent: "scra\u200Bper", tags: ["t\u200Bag"], metadata: { "k\u2060ey": "v\u2060alue" }, summary: `short\u200B ${hidden}`,
		});
		await t.open("memories", memory.id);
		const content = t.page.getByRole("region", { name: `Content of ${memory.id}` });
		await content.locator(".unseen").first().waitFor();
		assert.deepEqual(await marked(t, `[aria-label="Content of ${memory.id}"]`), codes);
		assert.equal(await content.textContent(), hidden);
		assert.deepEqual(await marked(t, `[aria-label="Summary of ${memory.id}"]`), ["U+200B", ...codes]);
		assert.deepEqual(await marked(t, ".panel .tags"), ["U+200B"]);
		assert.deepEqual(await marked(t, ".panel .plain-list"), ["U+2060", "U+2060"]);
		const head = await t.page.locator(".panel-head").textContent();
		assert.ok(head.includes("invisible characters") && head.includes("trust: external"), head);
		const row = t.page.locator("li.memory");
		assert.ok((await row.locator(".memory-head").textContent()).includes("invisible characters"));
		assert.ok((await row.locator(".memory-head").textContent()).includes("trust: external"));
		assert.deepEqual(await marked(t, "li.memory .snippet"), ["U+200B", ...codes]);
		assert.deepEqual(await marked(t, "li.memory .memory-head"), ["U+200B"]);
		const facts = await t.page.locator("dl.facts").textContent();
		assert.ok(facts.includes("Came by") && facts.includes(memory.origin.protocol) && facts.includes(memory.origin.client), facts);
		assert.deepEqual(await t.accessibility(), []);
	},

	async "what is as usual is not marked"(t) {
		const memory = await t.api.store("family \u{1f468}\u200d\u{1f469}\u200d\u{1f467}, می\u200cخواهم");
		await t.open("memories", memory.id);
		await t.sees("family");
		assert.equal(await t.page.locator(".unseen").count(), 0);
		const head = await t.page.locator(".panel-head").textContent();
		assert.ok(!head.includes("invisible") && !head.includes("trust"), head);
	},

	async "what the pages mark is what the server flags"(t) {
		const stored = [];
		for (const text of texts) stored.push(await t.api.store(text));
		for (const memory of stored) {
			await t.open("memories", memory.id);
			const content = t.page.getByRole("region", { name: `Content of ${memory.id}`, exact: true });
			await content.waitFor();
			assert.equal(
				(await content.locator(".unseen").count()) > 0,
				memory.flags !== undefined,
				`${JSON.stringify(memory.content)}: ${memory.flags}`,
			);
		}
	},

	async "the pages of tasks, handoffs and parked work show what nobody sees"(t) {
		const memory = await t.api.store(hidden);
		const sent = await t.api.send("planner", "coder", `Do\u200B it, see ${memory.id}`, { intent: "The\u2060 intent", task: "t", constraints: { a: "b\u200Bc" } });
		await t.open("tasks", "t");
		await t.page.locator("blockquote.intent .unseen").waitFor();
		assert.deepEqual(await marked(t, "blockquote.intent"), ["U+2060"]);
		assert.deepEqual(await marked(t, ".constraints .value"), ["U+200B"]);
		await until(async () => (await t.page.locator("pre.prompt").textContent()).includes("\\u{e0069}"), "the prompt");
		await t.page.getByRole("tab", { name: "Considered" }).click();
		await t.page.locator("td.wide .unseen").first().waitFor();
		assert.deepEqual(await marked(t, "td.wide"), codes);
		await t.open("handoffs", sent.id);
		await t.page.locator(".about .unseen").waitFor();
		await t.api.settle(await t.api.take("coder"), "reject", { reason: "no\u200B" });
		await t.open("parked", sent.id);
		await t.page.locator(".reason .unseen").first().waitFor();
		await t.open("tasks?state=open");
		await t.page.locator("tbody .unseen").first().waitFor();
	},
};
