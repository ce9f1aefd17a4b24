// Writes src/generated from the descriptions of the server: schemas/openapi.json, which `make` builds, the schemas of
// the envelope, and VERSION.
//
//   types.ts       an interface for each shape, with names in camelCase and its descriptions as comments
//   operations.ts  for each call its method and path, and which members of it are times or shapes of their own
//
// A shape is 0 (as it is), a name, [shape] (a list), or {member: shape}. What the schemas leave open (constraints,
// metadata, results) is 0: its names are the author's and stay as they are. So do members that a shape does not name.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const api = read("schemas/openapi.json");
const HEAD = "// Made by generate.mjs from schemas/openapi.json. Changes here are lost.\n\n";
const STREAMS = new Set(["streamHandoffs"]);

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const quoted = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const capital = (name) => name[0].toUpperCase() + name.slice(1);

// --- Named schemas -----------------------------------------------------------------------------

/** "$defs/ref/properties/why" is Envelope2RefWhy, "properties/budget" is Envelope2MemberBudget. */
function envelopeName(version, pointer) {
	const steps = pointer
		.replace(/^properties\//, "member/")
		.split("/")
		.filter((step) => !["$defs", "properties"].includes(step));
	return `Envelope${version}${steps.map((step) => capital(camel(step))).join("")}`;
}

/** All that can be referred to, by the name that it gets here. */
const named = new Map(Object.entries(api.components.schemas));
for (const version of ["1", "2"]) {
	const schema = read(`schemas/envelope-${version}.json`);
	named.set(`Envelope${version}`, schema);
	for (const [name, one] of Object.entries(schema.$defs ?? {}))
		named.set(envelopeName(version, `$defs/${name}`), one);
	// A member of it or of one of them, such as $defs/ref/properties/why.
	for (const [, pointer] of JSON.stringify(api).matchAll(new RegExp(`envelope-${version}\\.json#/([^"]+)"`, "g"))) {
		const one = pointer.split("/").reduce((at, step) => at[step], schema);
		const name = envelopeName(version, pointer);
		if (!named.has(name)) named.set(name, one.$ref ? { isAlias: envelopeName(version, one.$ref.slice(2)) } : one);
	}
}
named.set("Time", { description: "A point in time.", type: "string", format: "date-time", isTime: true });
named.set("Envelope2Time", { isAlias: "Time" });
if (named.has("Envelope1Time")) named.set("Envelope1Time", { isAlias: "Time" });

/** What a reference means, seen from the schema `within`. */
function target(ref, within) {
	const component = /^#\/components\/schemas\/(.+)$/.exec(ref);
	const envelope = /^\/v1\/schemas\/envelope-([12])\.json(?:#\/(.+))?$/.exec(ref);
	const local = /^#\/(\$defs\/.+)$/.exec(ref);
	let name;
	if (component) name = component[1];
	else if (envelope) name = envelope[2] ? envelopeName(envelope[1], envelope[2]) : `Envelope${envelope[1]}`;
	else if (local) name = envelopeName(within[8], local[1]);
	if (!named.has(name)) throw new Error(`${within} refers to ${ref}, which is not there`);
	while (named.get(name).isAlias) name = named.get(name).isAlias;
	return name;
}

// --- Types ---------------------------------------------------------------------------------------

const isNull = (schema) => schema.type === "null";
const isObject = (schema) => [schema.type].flat().includes("object");
/** An object some of whose members are known; others may be there, too, under names of their author's. */
const isOpen = (schema) => schema.additionalProperties === true;
/** An object whose members are known. Where names are somebody else's (constraints, old envelopes) it is none. */
const isShape = (schema) =>
	isObject(schema) && schema.properties && !schema.propertyNames && schema !== named.get("Envelope1");

function comment(text, indent = "") {
	if (!text) return "";
	return `${indent}/** ${text.replace(/\*\//g, "* /")} */\n`;
}

function union(parts) {
	return [...new Set(parts)].join(" | ") || "never";
}

function typeOf(schema, within, indent = "") {
	if (schema.$ref) return target(schema.$ref, within) === "Time" ? "Date" : target(schema.$ref, within);
	if (schema.anyOf && !schema.properties) return union(schema.anyOf.map((one) => typeOf(one, within, indent)));
	if ("const" in schema) return JSON.stringify(schema.const);
	if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
	if (schema.format === "date-time")
		return union(["Date", "string", ...([schema.type].flat().includes("null") ? ["null"] : [])]);
	if (schema.type === undefined) return schema.properties ? membersOf(schema, within, indent) : "Json";
	return union([schema.type].flat().map((type) => plainType(type, schema, within, indent)));
}

function plainType(type, schema, within, indent) {
	switch (type) {
		case "string":
			return "string";
		case "integer":
		case "number":
			return "number";
		case "boolean":
			return "boolean";
		case "null":
			return "null";
		case "array": {
			const item = schema.items ? typeOf(schema.items, within, indent) : "Json";
			return `readonly ${/[|{ ]/.test(item) ? `(${item})` : item}[]`;
		}
		case "object":
			return isShape(schema) ? membersOf(schema, within, indent) : "JsonObject";
		default:
			throw new Error(`${within} has the type ${type}`);
	}
}

function membersOf(schema, within, indent) {
	const inner = `${indent}\t`;
	const members = Object.entries(schema.properties).map(([name, one]) => {
		const type = typeOf(one, within, inner);
		const is = (schema.required ?? []).includes(name) ? `: ${type}` : `?: ${type} | undefined`;
		return `${comment(one.description, inner)}${inner}readonly ${quoted(camel(name))}${is};\n`;
	});
	if (isOpen(schema)) members.push(`${inner}readonly [name: string]: Json | undefined;\n`);
	return `{\n${members.join("")}${indent}}`;
}

function declarations() {
	let text = "";
	for (const [name, schema] of [...named].sort(([a], [b]) => (a < b ? -1 : 1))) {
		if (schema.isAlias || schema.isTime) continue;
		const head = comment(schema.description);
		if (isShape(schema)) text += `${head}export interface ${name} ${membersOf(schema, name, "")}\n\n`;
		else text += `${head}export type ${name} = ${typeOf(schema, name)};\n\n`;
	}
	return text;
}

// --- Shapes --------------------------------------------------------------------------------------

function shapeOf(schema, within) {
	if (schema.$ref) {
		const name = target(schema.$ref, within);
		return name === "Time" ? "Time" : hasShape(name) ? name : shapeOf(named.get(name), name);
	}
	if (schema.anyOf && !schema.properties) {
		const shapes = schema.anyOf.filter((one) => !isNull(one)).map((one) => shapeOf(one, within));
		// Of several that would fit nobody can say which it is.
		return shapes.length === 1 ? shapes[0] : 0;
	}
	if (isShape(schema)) return membersShape(schema, within);
	if (schema.items) {
		const item = shapeOf(schema.items, within);
		return item === 0 ? 0 : [item];
	}
	return 0;
}

const hasShape = (name) => isShape(named.get(name)) && !named.get(name).isTime;

function membersShape(schema, within) {
	return Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, shapeOf(one, within)]));
}

/** All shapes that have members; those that nobody has to convert are there, too, for their names. */
function shapes() {
	const found = {};
	for (const [name, schema] of named) if (!schema.isAlias && hasShape(name)) found[name] = membersShape(schema, name);
	return found;
}

// --- Operations ----------------------------------------------------------------------------------

function parametersOf(path, operation) {
	const given = [...(path.parameters ?? []), ...(operation.parameters ?? [])];
	return given.map((one) => (one.$ref ? api.components.parameters[one.$ref.split("/").pop()] : one));
}

function responseSchemas(operation) {
	const found = [];
	for (const [status, entry] of Object.entries(operation.responses)) {
		const response = entry.$ref ? api.components.responses[entry.$ref.split("/").pop()] : entry;
		if (!/^2/.test(status)) continue;
		if (!response.content) found.push({ type: "null" });
		for (const [type, one] of Object.entries(response.content ?? {}))
			if (/json$/.test(type)) found.push(one.schema);
			else if (!/event-stream/.test(type)) found.push({ type: "string" });
	}
	return found;
}

function operations() {
	const found = [];
	for (const [path, methods] of Object.entries(api.paths))
		for (const [method, operation] of Object.entries(methods))
			if (operation.operationId) found.push(describe(path, method, methods, operation));
	return found.filter((one) => !STREAMS.has(one.id)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describe(path, method, methods, operation) {
	const id = operation.operationId;
	const parameters = parametersOf(methods, operation);
	const of = (place) => parameters.filter((one) => one.in === place);
	const headers = new Set(of("header").map((one) => one.name));
	const body = operation.requestBody?.content["application/json"].schema;
	const answers = responseSchemas(operation);
	// Where there are several answers, each names itself; the caller finds out.
	const answer =
		answers.length === 1 || new Set(answers.map((one) => JSON.stringify(one))).size === 1 ? answers[0] : undefined;
	return {
		id,
		path,
		method: method.toUpperCase(),
		operation,
		of,
		headers,
		body,
		answer,
		isBodyNeeded: operation.requestBody?.required,
	};
}

function queryType(parameters) {
	if (parameters.length === 0) return undefined;
	const members = parameters.map((one) => {
		const type =
			one.schema.type === "array"
				? `${typeOf(one.schema.items, one.name)} | ${typeOf(one.schema, one.name)}`
				: typeOf(one.schema, one.name);
		return `${comment(one.description, "\t\t\t")}\t\t\treadonly ${quoted(camel(one.name))}${one.required ? "" : "?"}: ${type}${one.required ? "" : " | undefined"};\n`;
	});
	return `{\n${members.join("")}\t\t}`;
}

function operationType(one) {
	const parts = [];
	const path = one.of("path");
	if (path.length) parts.push(`readonly params: { ${path.map((p) => `readonly ${p.name}: string`).join("; ")} };`);
	const query = queryType(one.of("query"));
	if (query)
		parts.push(
			`readonly query${one.of("query").some((p) => p.required) ? "" : "?"}: ${query}${one.of("query").some((p) => p.required) ? "" : " | undefined"};`,
		);
	if (one.body)
		parts.push(
			`readonly body${one.isBodyNeeded ? "" : "?"}: ${typeOf(one.body, one.id, "\t\t")}${one.isBodyNeeded ? "" : " | undefined"};`,
		);
	const answer = one.answer ? typeOf(one.answer, one.id, "\t\t") : "Json";
	const input = parts.length ? `{\n\t\t${parts.join("\n\t\t")}\n\t}` : "object";
	return `${comment([one.operation.summary, one.operation.description].filter(Boolean).join(". "), "\t")}\t${one.id}: { input: ${input}; answer: ${answer} };\n`;
}

function operationEntry(one) {
	const entry = {
		method: one.method,
		path: one.path,
		query: one.of("query").map((p) => p.name),
		headers: [...one.headers].filter((name) => !["Spine-Space", "Spine-Agent"].includes(name)),
		body: one.body ? shapeOf(one.body, one.id) : 0,
		answer: one.answer ? shapeOf(one.answer, one.id) : 0,
	};
	return `\t${one.id}: ${JSON.stringify(entry)},\n`;
}

// --- Files ---------------------------------------------------------------------------------------

const all = operations();
const version = readFileSync(join(root, "VERSION"), "utf8").trim();

const types = `${HEAD}/** Anything that JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** An object whose names and values are their author's. */
export type JsonObject = { readonly [name: string]: Json | undefined };

${declarations()}/** Every call of the protocol: what it takes, and what it answers. */
export interface Operations {
${all.map(operationType).join("")}}
`;

const tables = `${HEAD}/** The version of this package, and of the server that it was made with. */
export const version = ${JSON.stringify(version)};

/** 0: as it is; a name of \`shapes\`, or "Time"; a list of one; members. */
export type Shape = 0 | string | readonly [Shape] | { readonly [member: string]: Shape };

export interface Operation {
	readonly method: string;
	readonly path: string;
	readonly query: readonly string[];
	readonly headers: readonly string[];
	readonly body: Shape;
	readonly answer: Shape;
}

export const shapes: { readonly [name: string]: { readonly [member: string]: Shape } } = {
${Object.entries(shapes())
	.map(([name, shape]) => `\t${name}: ${JSON.stringify(shape)},\n`)
	.join("")}};

export const operations: { readonly [name: string]: Operation } = {
${all.map(operationEntry).join("")}};
`;

const folder = join(here, "src/generated");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "types.ts"), types);
writeFileSync(join(folder, "operations.ts"), tables);
