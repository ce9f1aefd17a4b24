// Builds dist/ from src/ and the descriptions of the server. `make typescript` calls it, and `npm pack`.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");

function fail(text) {
	console.error(text);
	process.exit(1);
}

const version = readFileSync(join(root, "VERSION"), "utf8").trim();
const own = JSON.parse(readFileSync(join(here, "package.json"), "utf8")).version;
if (own !== version)
	fail(`package.json has the version ${own}, the project ${version}: npm version ${version} --no-git-tag-version`);
if (!existsSync(join(root, "schemas/openapi.json")))
	fail("schemas/openapi.json is not there: run make in the project's root first");

await import("./generate.mjs");
rmSync(join(here, "dist"), { recursive: true, force: true });
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const compiled = spawnSync(process.execPath, [compiler, "-p", here], { stdio: ["ignore", "inherit", "inherit"] });
if (compiled.status !== 0) fail("it does not compile");
copyFileSync(join(root, "LICENSE"), join(here, "LICENSE"));
