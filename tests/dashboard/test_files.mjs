// The files: what is sent, how large it is, what it may do.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { root } from "./server.mjs";

const MAX_BYTES = 150 * 1024;

/** A plain request: nothing is decoded, nothing is cached. */
function get(url, headers = {}, method = "GET") {
	return new Promise((done, fail) => {
		const sent = request(url, { method, headers }, (answer) => {
			const parts = [];
			answer.on("data", (part) => parts.push(part));
			answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
		});
		sent.on("error", fail);
		sent.end();
	});
}

async function assets(server) {
	const page = await get(`${server.url}/`);
	return [...page.body.toString().matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(
		(match) => `${server.url}/${match[1]}`,
	);
}

async function sources(folder) {
	const entries = await readdir(folder, { withFileTypes: true });
	return (
		await Promise.all(
			entries.map((entry) => (entry.isDirectory() ? sources(join(folder, entry.name)) : [join(folder, entry.name)])),
		)
	).flat();
}

export const tests = {
	async "the page is never taken from a cache without asking, and not sent again where it is the same"({ server }) {
		const first = await get(`${server.url}/`);
		assert.equal(first.status, 200);
		assert.equal(first.headers["content-type"], "text/html; charset=utf-8");
		assert.equal(first.headers["cache-control"], "no-cache");
		const again = await get(`${server.url}/`, { "If-None-Match": first.headers.etag });
		assert.equal(again.status, 304);
		assert.equal(again.body.length, 0);
		assert.equal(again.headers.etag, first.headers.etag);
		assert.equal((await get(`${server.url}/`, { "If-None-Match": `"other", W/${first.headers.etag}` })).status, 304);
		assert.equal((await get(`${server.url}/`, { "If-None-Match": '"other"' })).status, 200);
	},

	async "files are named by their version, kept for ever, and of no other version"({ server }) {
		const found = await assets(server);
		assert.equal(found.length, 2);
		for (const url of found) {
			const answer = await get(url);
			assert.equal(answer.status, 200);
			assert.equal(answer.headers["cache-control"], "public, max-age=31536000, immutable");
			assert.equal((await get(url.replace(/assets\/[0-9a-f]+/, "assets/0000000000000000"))).status, 404);
			assert.equal((await get(url.replace(/[^/]+$/, "other.js"))).status, 404);
			assert.equal((await get(url, {}, "POST")).status, 405);
			const head = await get(url, {}, "HEAD");
			assert.equal(head.status, 200);
			assert.equal(head.body.length, 0);
		}
	},

	async "gzip is sent to those who take it, and says the same"({ server }) {
		for (const url of [`${server.url}/`, ...(await assets(server))]) {
			const plain = await get(url);
			const packed = await get(url, { "Accept-Encoding": "br, gzip;q=0.8" });
			assert.equal(plain.headers["content-encoding"], undefined);
			assert.equal(packed.headers["content-encoding"], "gzip");
			assert.equal(packed.headers.vary, "Accept-Encoding");
			assert.notEqual(packed.headers.etag, plain.headers.etag);
			assert.deepEqual(gunzipSync(packed.body), plain.body);
			for (const refusal of ["gzip;q=0", "gzip;q=0.0, br", "br", "identity", "gzipped"])
				assert.equal((await get(url, { "Accept-Encoding": refusal })).headers["content-encoding"], undefined, refusal);
		}
	},

	async "all of it is under 150 KB compressed"({ server }) {
		let total = 0;
		for (const url of [`${server.url}/`, ...(await assets(server))])
			total += (await get(url, { "Accept-Encoding": "gzip" })).body.length;
		assert.ok(total < MAX_BYTES, `${total} bytes`);
	},

	async "the policy allows this server only, and nobody may frame the page"({ server }) {
		for (const url of [`${server.url}/`, ...(await assets(server))]) {
			const { headers } = await get(url);
			const policy = new Map(
				headers["content-security-policy"].split(";").map((part) => part.trim().split(/ (.*)/s).slice(0, 2)),
			);
			assert.equal(policy.get("default-src"), "'none'");
			for (const name of ["script-src", "style-src", "connect-src"]) assert.equal(policy.get(name), "'self'");
			assert.equal(policy.get("img-src"), "'self' data:");
			for (const name of ["frame-ancestors", "base-uri", "form-action"]) assert.equal(policy.get(name), "'none'");
			assert.equal(headers["x-content-type-options"], "nosniff");
			assert.equal(headers["referrer-policy"], "no-referrer");
		}
	},

	async "no source makes HTML, code or styles from text, and no file names another host"({ server }) {
		const forbidden =
			/innerHTML|outerHTML|dangerouslySet|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:|setAttribute\(/;
		for (const file of await sources(join(root, "dashboard/src")))
			assert.doesNotMatch(await readFile(file, "utf8"), forbidden, file);
		for (const url of [`${server.url}/`, ...(await assets(server))]) {
			const hosts = (await get(url)).body.toString().match(/(?:https?:)?\/\/[a-z0-9-]+\.[a-z0-9.-]+/g) ?? [];
			// Names of the XML kinds, which nobody fetches; where the licence of a library is to be found; and ourselves.
			assert.deepEqual(
				hosts.filter((host) => !/www\.w3\.org|github\.com|127\.0\.0\.1/.test(host)),
				[],
				url,
			);
		}
	},

	async "the source has no type error"() {
		const require = createRequire(import.meta.url);
		const compiler = join(require.resolve("typescript/package.json"), "../bin/tsc");
		await promisify(execFile)(process.execPath, [compiler, "-p", join(root, "dashboard")]).catch((error) =>
			assert.fail(error.stdout),
		);
	},

	async "a difference, applied, makes the one text from the other"() {
		const { build } = createRequire(join(root, "dashboard/package.json"))("esbuild");
		const made = await build({
			entryPoints: [join(root, "dashboard/src/diff.ts")],
			format: "esm",
			write: false,
			bundle: true,
		});
		const { diff } = await import(
			`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`
		);
		let seed = 7;
		const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
		const text = () =>
			Array.from({ length: random(30) }, () => ["one", " ", "two", "\n", "drei", ".", "Ω"][random(7)]).join("");
		for (let round = 0; round < 3000; round++) {
			const [before, after] = [text(), text()];
			const pieces = diff(before, after);
			assert.equal(
				pieces
					.filter((piece) => piece.fate !== "new")
					.map((piece) => piece.text)
					.join(""),
				before,
			);
			assert.equal(
				pieces
					.filter((piece) => piece.fate !== "gone")
					.map((piece) => piece.text)
					.join(""),
				after,
			);
			if (before === after && before) assert.deepEqual(pieces, [{ fate: "same", text: before }]);
		}
		assert.deepEqual(diff("At most 5 retries.", "At most 3 retries."), [
			{ fate: "same", text: "At most " },
			{ fate: "gone", text: "5" },
			{ fate: "new", text: "3" },
			{ fate: "same", text: " retries." },
		]);
	},
};
