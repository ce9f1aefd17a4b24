// What a test of the dashboard has: a server, a space of its own in it, and a page in a real browser.
//
// Whatever goes wrong in the page fails the test, also where the test does not look at it: an error, a refusal of the
// Content-Security-Policy, a dialog, a request to another host.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";
import { Api } from "./server.mjs";

const WAIT_MS = 20_000;
const executable = process.env.CHROMIUM || "/usr/bin/chromium";
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let spaces = 0;

export async function launch() {
	// As root, as in a container, Chromium starts only without its sandbox; the pages are ours.
	return chromium.launch({ executablePath: executable, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/** Waits until look() gives something, or until it no longer throws. */
export async function until(look, what = "what was expected") {
	const deadline = Date.now() + WAIT_MS;
	let last;

	while (Date.now() < deadline) {
		try {
			const found = await look();
			if (found) return found;
		} catch (error) {
			last = error;
		}
		await new Promise((done) => setTimeout(done, 25));
	}
	throw new Error(`${what} did not come${last ? `: ${last.message}` : ""}`);
}

export class Stage {
	#context;
	#faults = [];
	mayFail = false;

	static async open(browser, server, options = {}) {
		const stage = new Stage();
		stage.server = server;
		stage.space = `space-${++spaces}`;
		stage.api = new Api(server.url, stage.space);
		stage.#context = await browser.newContext({
			viewport: { width: 1280, height: 860 },
			colorScheme: "light",
			...options,
		});
		stage.#context.setDefaultTimeout(WAIT_MS);
		stage.page = await stage.#context.newPage();
		stage.#watch(stage.page);
		return stage;
	}

	#watch(page) {
		const fault = (text) => this.mayFail || this.#faults.push(text);

		page.on("pageerror", (error) => this.#faults.push(`error in the page: ${error.stack}`));
		page.on("console", (message) => message.type() === "error" && fault(`console: ${message.text()}`));
		page.on("dialog", (dialog) => {
			this.#faults.push(`a dialog opened: ${dialog.message()}`);
			void dialog.dismiss();
		});
		page.on("request", (request) => {
			const url = new URL(request.url());
			if (url.protocol !== "data:" && url.origin !== this.server.url)
				this.#faults.push(`a request to another host: ${request.url()}`);
		});
	}

	/** Goes to a page of the space: open("tasks", "task-1"). */
	async open(...parts) {
		const [path, query] = parts.join("/").split("?");
		await this.page.goto(
			`${this.server.url}/#/${[this.space, ...path.split("/")].map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`,
		);
		await this.page.locator("h1").waitFor();
	}

	/** Waits until the text is to be seen. */
	async sees(text, within = "body") {
		await this.page.locator(within).getByText(text).first().waitFor();
	}

	async live() {
		await this.page.locator(".is-live").waitFor();
	}

	button(name, within = "body") {
		return this.page.locator(within).getByRole("button", { name, exact: typeof name === "string" });
	}

	/** The row of a table that begins with the text. */
	row(text) {
		return this.page.locator("tbody tr").filter({ has: this.page.locator("th", { hasText: text }) });
	}

	/** Problems that axe-core calls serious or critical. */
	async accessibility() {
		// Through the debugger, not the page: the policy of the page allows no such script.
		await this.page.evaluate(`{ ${axe} }; 0`);
		const { violations } = await this.page.evaluate(() =>
			globalThis.axe.run(document, { resultTypes: ["violations"] }),
		);
		return violations
			.filter((one) => one.impact === "serious" || one.impact === "critical")
			.map(
				(one) =>
					`${one.id}: ${one.help}: ${one.nodes
						.slice(0, 3)
						.map((node) => node.target.join(" ") + " " + (node.any[0]?.message ?? ""))
						.join(" | ")}`,
			);
	}

	async close() {
		await this.#context.close();
		assert.deepEqual(this.#faults, []);
	}
}
