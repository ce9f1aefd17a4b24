// Keys and certificates: where they come from, that they go nowhere else, and what is said where they do not do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { Forbidden, MemorySpine, TlsError, Unauthorized } from "../dist/index.js";
import { Flaky, refuse } from "./flaky.mjs";
import { failure, Server, until, useServer } from "./world.mjs";

const KEY = `spk_7_${"Ab1-_".repeat(8)}xyz`;
const world = await useServer();
const folder = mkdtempSync(join(tmpdir(), "spine-keys-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** For the time of a call. */
async function withEnvironment(variables, call) {
	Object.assign(process.env, variables);
	try {
		return await call();
	} finally {
		for (const name of Object.keys(variables)) delete process.env[name];
	}
}

let files = 0;
function keyFile(text = `${KEY}\n`, mode = 0o600) {
	const path = join(folder, `key-${++files}`);
	writeFileSync(path, text);
	chmodSync(path, mode);
	return path;
}

async function before(...script) {
	const flaky = await Flaky.before(world.server.url, ...script);
	after(() => flaky.close());
	return flaky;
}

const sent = (flaky) => flaky.requests.map((one) => one.headers.authorization);

test("a key goes with every request, from wherever it was named", async () => {
	const flaky = await before();
	const ask = async (more) => {
		const spine = new MemorySpine({ endpoint: flaky.url, space: "keys", ...more });
		await spine.store("x");
		const count = flaky.requests.length;
		const stop = new AbortController();
		const first = spine.events({ after: 0, signal: stop.signal })[Symbol.asyncIterator]().next();
		await until("the stream is asked for", () => flaky.requests.length > count);
		stop.abort();
		await first.catch(() => undefined);
	};
	await ask({});
	await ask({ key: KEY });
	await ask({ keyFile: keyFile() });
	await withEnvironment({ SPINE_KEY: KEY, SPINE_KEY_FILE: "/nowhere" }, () => ask({}));
	await withEnvironment({ SPINE_KEY_FILE: keyFile() }, () => ask({}));
	await withEnvironment({ SPINE_KEY: "spk_1_other" }, () => ask({ keyFile: keyFile() }));
	assert.deepEqual(sent(flaky), [...Array(2).fill(undefined), ...Array(10).fill(`Bearer ${KEY}`)]);
});

test("a file that does not do is an error, and never no key", async () => {
	const flaky = await before();
	const ask = (keyFile) => failure(new MemorySpine({ endpoint: flaky.url, keyFile }).status());
	for (const mode of [0o644, 0o640, 0o606])
		assert.match((await ask(keyFile(KEY, mode))).message, /can be read by others \(mode 0\d+\): .*chmod 600/);
	for (const text of ["", "\n", "two words", `${KEY}\n${KEY}`, "k".repeat(5000), "kéy"])
		assert.match((await ask(keyFile(text))).message, /holds no key/);
	assert.match((await ask(join(folder, "none"))).message, /cannot be read: ENOENT/);
	for (const key of ["", "with blank", "line\nbreak", "ü"])
		assert.throws(
			() => new MemorySpine({ key }),
			(error) => error instanceof TypeError && (key === "" || !error.message.includes(key)),
		);
	assert.throws(() => new MemorySpine({ key: KEY, keyFile: "x" }), /give one of them/);
	assert.deepEqual(flaky.requests, []);
});

test("a refused key is an error of its own, is not tried again, and is shown nowhere", async () => {
	const told = [];
	for (const [status, code, kind] of [
		[401, "unauthorized", Unauthorized],
		[403, "forbidden", Forbidden],
	]) {
		const flaky = await before(...Array(9).fill(refuse(status, code)));
		const log = (...what) => told.push(...what.map((one) => inspect(one)));
		const spine = new MemorySpine({ endpoint: flaky.url, key: KEY, log });
		const calls = [
			() => spine.status(),
			() => spine.store("x"),
			() => spine.agent("a").run(() => 1),
			() => spine.events({ after: 0 })[Symbol.asyncIterator]().next(),
		];
		for (const call of calls) {
			flaky.requests.length = 0;
			const error = await failure(call());
			assert.ok(error instanceof kind, inspect(error));
			assert.deepEqual([error.status, error.code, flaky.requests.length], [status, code, 1]);
			told.push(inspect(error, { depth: 9 }), String(error), JSON.stringify(error));
		}
		told.push(inspect(spine, { depth: 9, showHidden: true }), JSON.stringify(spine), String(spine));
	}
	const nobody = await failure(new MemorySpine({ endpoint: "http://127.0.0.1:1", key: KEY, retries: 0 }).status());
	told.push(inspect(nobody, { depth: 9 }));
	assert.deepEqual(
		told.filter((text) => text?.includes(KEY)),
		[],
	);
});

test("a redirect is not followed, and the key goes nowhere else", async () => {
	const other = await before();
	const there = createServer((_, response) => response.writeHead(307, { Location: `${other.url}/v1/status` }).end());
	await new Promise((resolve) => there.listen(0, "127.0.0.1", resolve));
	after(() => there.close());
	const endpoint = `http://127.0.0.1:${there.address().port}`;
	await failure(new MemorySpine({ endpoint, key: KEY, retries: 0 }).status());
	assert.deepEqual(other.requests, []);
});

// --- Certificates --------------------------------------------------------------------------------

const openssl = (...args) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const newKey = (name) => ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}.key`];
const file = (name) => join(folder, name);

function authority(name) {
	openssl("req", "-x509", ...newKey(name), "-subj", `/CN=${name}`, "-out", `${name}.pem`, "-addext", "basicConstraints=critical,CA:TRUE");
}

function certificate(name, names, ca = "ca") {
	openssl("req", ...newKey(name), "-subj", `/CN=${name}`, "-out", `${name}.csr`);
	writeFileSync(file("names"), `subjectAltName=${names}\n`);
	const by = ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial", "-days", "2", "-extfile", "names"];
	openssl("x509", "-req", "-in", `${name}.csr`, ...by, "-out", `${name}.pem`);
}

authority("ca");
authority("stranger");
certificate("server", "IP:127.0.0.1,DNS:localhost");
certificate("elsewhere", "DNS:elsewhere.example");
certificate("client", "DNS:client");
certificate("theirs", "DNS:client", "stranger");

async function secure(name, ...more) {
	const server = await Server.start("--tls-cert", file(`${name}.pem`), "--tls-key", file(`${name}.key`), ...more);
	after(() => server.stop());
	assert.match(server.url, /^https:/);
	return server.url;
}

const caFile = file("ca.pem");

test("a server of an authority of one's own is spoken to", async () => {
	const endpoint = await secure("server");
	const spine = new MemorySpine({ endpoint, caFile, agent: "lead-ü" });
	const memory = await spine.store("x".repeat(200_000));
	assert.deepEqual([memory.agent, (await spine.get(memory.id)).content.length], ["lead-ü", 200_000]);
	await spine.send(await spine.pack("coder", "Go."));
	assert.equal(await spine.agent("coder").run(() => "done", { limit: 1 }), 1);
	for await (const event of spine.events({ after: 0 })) {
		assert.equal(event.event, "memory.stored");
		break;
	}
	await spine.deleteRoute("none").catch(() => undefined);
	const idle = spine.agent("idle").receive({ waitS: 30, signal: AbortSignal.timeout(50) });
	assert.equal((await failure(idle)).name, "TimeoutError");
	await withEnvironment({ SPINE_CA_FILE: caFile }, () => new MemorySpine({ endpoint }).status());
});

/** The sentence; nothing of the minute that the call has is waited for. */
async function refused(options) {
	const told = [];
	const spine = new MemorySpine({ timeoutS: 60, log: (...what) => told.push(what), key: KEY, ...options });
	const began = performance.now();
	for (const call of [() => spine.status(), () => spine.agent("a").run(() => 1)]) {
		const error = await failure(call());
		assert.ok(error instanceof TlsError, inspect(error));
		assert.deepEqual([error.code, error.status, error.retryable], ["tls_failed", undefined, false]);
		assert.ok(!inspect(error, { depth: 9 }).includes(KEY));
		told.push(error.detail);
	}
	assert.ok(performance.now() - began < 20_000);
	assert.equal(told.length, 2, inspect(told));
	return told[0];
}

test("what is not secure is told with what to do, and not tried again", async () => {
	const [endpoint, elsewhere] = [await secure("server"), await secure("elsewhere")];
	assert.match(await refused({ endpoint }), /not from an authority that is trusted here; .*SPINE_CA_FILE/);
	assert.match(await refused({ endpoint, caFile: file("stranger.pem") }), /not from an authority that is trusted/);
	assert.match(await refused({ endpoint: elsewhere, caFile }), /its certificate is not for this host/);
	const plain = world.server.url.replace("http:", "https:");
	assert.match(await refused({ endpoint: plain }), /does not speak TLS/);
	assert.match(await refused({ endpoint: plain, caFile }), /does not speak TLS/);
});

test("a client certificate is shown where it is asked for", async () => {
	const endpoint = await secure("server", "--tls-client-ca", caFile);
	const mine = { certFile: file("client.pem"), certKeyFile: file("client.key") };
	assert.ok((await new MemorySpine({ endpoint, caFile, ...mine }).status()).version);
	assert.match(await refused({ endpoint, caFile }), /asks for a client certificate; .*SPINE_CERT_FILE/);
	const theirs = { certFile: file("theirs.pem"), certKeyFile: file("theirs.key") };
	assert.match(await refused({ endpoint, caFile, ...theirs }), /SPINE_CERT_FILE/);
	assert.throws(() => new MemorySpine({ endpoint, certKeyFile: "x" }), /name the certificate, too/);
	const none = new MemorySpine({ endpoint, caFile: "/nowhere", retries: 0 });
	assert.match((await failure(none.status())).message, /caFile "\/nowhere" cannot be read: ENOENT/);
});
