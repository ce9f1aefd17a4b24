// Makes the dashboard: node dashboard/build.mjs build/dashboard
//
//   app.js, app.css   everything of src/, the libraries included
//   index.html        names them by their version
//   *.gz              the same, compressed as far as it goes
//   version           16 hexadecimal digits of a digest of all of it
//
// The same source makes the same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs DIRECTORY");

// What a browser that is kept up to date has known for some years.
const result = await build({
	absWorkingDir: here,
	entryPoints: { app: "src/main.tsx" },
	bundle: true,
	minify: true,
	format: "esm",
	target: ["chrome123", "firefox121", "safari17.5"],
	jsx: "automatic",
	jsxImportSource: "preact",
	legalComments: "eof",
	outdir: "/out",
	write: false,
	logLevel: "warning",
});

const files = new Map(
	result.outputFiles.map((file) => [file.path.replace(/^.*[\\/]/, ""), Buffer.from(file.contents)]),
);
const template = await readFile(join(here, "index.html"), "utf8");
const digest = createHash("sha256").update(template);
for (const name of [...files.keys()].sort()) digest.update(name).update(files.get(name));
const version = digest.digest("hex").slice(0, 16);
files.set("index.html", Buffer.from(template.replaceAll("VERSION", version)));

await mkdir(out, { recursive: true });
for (const [name, bytes] of files) {
	await writeFile(join(out, name), bytes);
	await writeFile(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
await writeFile(join(out, "version"), version);
