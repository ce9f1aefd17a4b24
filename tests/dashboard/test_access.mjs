// For everybody: by keyboard, with a screen reader, in light and dark, on a phone.
import assert from "node:assert/strict";
import { badDay, play } from "./scene.mjs";
import { until } from "./stage.mjs";

/** Each page with something in it, and how to see that it is there. */
async function places(t) {
	const { chain, policy } = await play(t.api);
	const day = await badDay(t.api);
	const { task } = await t.api.get(`/v1/envelopes/${chain.first.envelope_id}`);
	const { parked } = await t.api.get("/v1/parked");
	return [
		[["overview"], ".alert"],
		[["tasks"], "tbody tr"],
		[["tasks?state=parked&q=quarter"], "tbody tr"],
		[["queues"], "tbody tr"],
		[[`queues?agent=${day.busy}`], "tbody tr"],
		[[`queues?agent=${day.held}`], "tbody tr"],
		[["handoffs", day.tried], "pre.prompt"],
		[["handoffs", chain.second.id], "pre.prompt"],
		[["parked"], "tbody tr"],
		[[`parked?agent=${day.busy}&q=changes`], "tbody tr"],
		[["tasks", task.id, chain.second.envelope_id], "pre.prompt"],
		[["parked", parked[0].id], "pre.prompt"],
		[["agents"], "tbody tr"],
		[["channels"], "tbody tr"],
		[["cluster"], "tbody tr"],
		[["memories?q=retry"], ".memory"],
		[["memories", policy.id], ".difference"],
	];
}

async function inspect(t) {
	const all = await places(t);
	const task = all.map(([place]) => place).find(([page, id]) => page === "tasks" && id)[1];

	for (const [place, sign] of all) {
		await t.open(...place);
		await t.page.locator(sign).first().waitFor();
		assert.deepEqual(await t.accessibility(), [], place.join("/"));
	}
	await t.page.getByRole("button", { name: "Supersede…" }).click();
	await t.page.locator("dialog").waitFor();
	assert.deepEqual(await t.accessibility(), [], "a dialog");
	await t.open("tasks", task);
	await t.page.getByRole("button", { name: "Waive…" }).first().click();
	await t.page.locator("dialog .waives").waitFor();
	assert.deepEqual(await t.accessibility(), [], "a waiver");
	await t.open("parked");
	await t.page.getByLabel("Choose all").check();
	await t.button("Redrive", ".bulk").click();
	await t.page.locator("dialog .preview").waitFor();
	assert.deepEqual(await t.accessibility(), [], "a preview");
}

const tall = { viewport: { width: 390, height: 780 } };

export const tests = {
	"axe finds no serious problem on any page, in light": { run: inspect },
	"axe finds no serious problem on any page, in dark": { options: { colorScheme: "dark" }, run: inspect },
	"axe finds no serious problem on any page, on a phone": { options: tall, run: inspect },

	async "axe finds no serious problem in an empty space"(t) {
		for (const page of ["overview", "tasks", "queues", "parked", "agents", "channels", "memories"]) {
			await t.open(page);
			await t.page.locator(".empty, .welcome").first().waitFor();
			assert.deepEqual(await t.accessibility(), [], page);
		}
	},

	async "the theme follows the system until somebody chooses, and the choice stays"(t) {
		const background = () => t.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
		await t.open("tasks");
		const light = await background();
		await t.page.emulateMedia({ colorScheme: "dark" });
		const dark = await background();
		assert.notEqual(light, dark);
		await t.page.getByRole("button", { name: /^Theme: auto/ }).click();
		await t.page.getByRole("button", { name: /^Theme: light/ }).waitFor();
		assert.equal(await background(), light);
		await t.page.reload();
		await t.page.locator("h1").waitFor();
		assert.equal(await background(), light);
		await t.page.getByRole("button", { name: /^Theme: light/ }).click();
		assert.equal(await background(), dark);
	},

	async "everything is reached by keyboard"(t) {
		await t.api.park("planner", "worker", "Work.", "reason");
		await t.open("overview");
		await t.sees("1 handoff parked");
		await t.page.keyboard.press("Tab");
		assert.equal(await t.page.evaluate(() => document.activeElement.className), "skip");
		await t.page.keyboard.press("Enter");
		assert.equal(await t.page.evaluate(() => document.activeElement.tagName), "MAIN");
		await t.page.getByRole("link", { name: /^Parked/ }).focus();
		await t.page.keyboard.press("Enter");
		await until(
			async () => (await t.page.evaluate(() => document.activeElement.textContent)) === "Parked",
			"the focus on the title",
		);
		await t.row("ho-1").getByRole("link", { name: "ho-1", exact: true }).focus();
		await t.page.keyboard.press("Enter");
		await t.button("Redrive", "main .panel").focus();
		await t.page.keyboard.press("Enter");
		await t.page.locator("dialog").waitFor();
		assert.ok(await t.page.evaluate(() => document.querySelector("dialog").contains(document.activeElement)));
		await t.page.getByLabel("Why (optional)").focus();
		await t.page.keyboard.type("by keyboard");
		await t.page.keyboard.press("Enter");
		await t.sees("1 handoff sent again");
	},

	async "tabs are chosen with the arrow keys"(t) {
		await t.api.send("alice", "bob", "Work.");
		await t.open("tasks", "task-1");
		await t.page.getByRole("tab", { name: "Prompt" }).focus();
		await t.page.keyboard.press("ArrowRight");
		assert.equal(await t.page.evaluate(() => document.activeElement.textContent), "Changes");
		assert.equal(await t.page.getByRole("tab", { name: "Changes" }).getAttribute("aria-selected"), "true");
		await t.sees("This is the first hop");
		await t.page.keyboard.press("ArrowLeft");
		await t.page.keyboard.press("ArrowLeft");
		assert.equal(await t.page.getByRole("tab", { name: "Delivery" }).getAttribute("aria-selected"), "true");
	},

	"a phone shows every page without scrolling sideways": {
		options: tall,
		async run(t) {
			for (const [place, sign] of await places(t)) {
				await t.open(...place);
				await t.page.locator(sign).first().waitFor();
				const [inner, outer] = await t.page.evaluate(() => [
					document.documentElement.scrollWidth,
					document.documentElement.clientWidth,
				]);
				assert.ok(inner <= outer, `${place.join("/")}: ${inner} of ${outer}`);
			}
		},
	},

	async "the title of the window says where one is"(t) {
		await t.open("tasks");
		await until(async () => (await t.page.title()) === "Tasks · Memory Spine", "the title");
		await t.page.getByRole("link", { name: "Agents" }).click();
		await until(async () => (await t.page.title()) === "Agents · Memory Spine", "the title");
	},
};
