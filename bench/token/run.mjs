// Speed of the token counter beside the reference's, npm's tiktoken (WASM): node run.mjs SPEED [--kinds]
//
// SPEED is the program built from speed.c. One thread each, the fastest of several rounds, in turns, so that both
// meet the same state of the machine. The mixed text is what the counter is tested on (code, documents, prose,
// JSON, words of many scripts, emoji, marks, numbers), without the runs of one thing, on which the reference takes
// quadratic time. Prints a line for each encoding and, with --kinds, for each kind of text.

import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

import { makeChunks, requireTool } from '../../tests/token_reference/corpus.mjs';

const { get_encoding: getEncoding } = requireTool('tiktoken');
const ENCODINGS = ['o200k_base', 'cl100k_base'];
const MIXED = ['source', 'document', 'prose', 'json', 'words', 'emoji', 'marks', 'mix', 'numbers'];
const TURNS = 4, ROUNDS = 5, SLICES = 20;

function ours(program, encoding, input) {
	const { status, stdout, stderr, error } = spawnSync(program, [encoding, String(ROUNDS)], { input });
	if (error || status !== 0)
		throw error ?? new Error(`${program} ended with ${status}: ${stderr}`);
	const [tokens, seconds] = stdout.toString().split(' ').map(Number);
	return { tokens, seconds };
}

// Seconds for each of SLICES parts of the texts: as short as one round of ours, so that a disturbance costs both
// the same.
function theirs(reference, texts) {
	const seconds = [];
	let tokens = 0;
	for (let slice = 0; slice < SLICES; slice++) {
		const start = performance.now();
		for (let i = slice; i < texts.length; i += SLICES)
			tokens += reference.encode_ordinary(texts[i]).length;
		seconds.push((performance.now() - start) / 1000);
	}
	return { tokens, seconds };
}

function measure(program, encoding, reference, chunks) {
	const input = Buffer.concat(chunks.flatMap(({ bytes }) => {
		const length = Buffer.alloc(4);
		length.writeUInt32LE(bytes.length);
		return [length, bytes];
	}));
	const texts = chunks.map(({ bytes }) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
	const megabytes = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1e6;
	const slices = Array(SLICES).fill(Infinity);
	let our = Infinity;
	for (let turn = 0; turn < TURNS; turn++) {
		const a = ours(program, encoding, input), b = theirs(reference, texts);
		if (a.tokens !== b.tokens)
			throw new Error(`${encoding}: ${a.tokens} tokens, the reference has ${b.tokens}`);
		our = Math.min(our, a.seconds);
		b.seconds.forEach((seconds, i) => { slices[i] = Math.min(slices[i], seconds); });
	}
	const their = slices.reduce((sum, seconds) => sum + seconds, 0);
	return { megabytes, our: megabytes / our, their: megabytes / their };
}

function report(encoding, kind, { megabytes, our, their }) {
	console.log(`tokens ${encoding.padEnd(12)} ${kind.padEnd(9)} ${megabytes.toFixed(1).padStart(5)} MB: ` +
		`${our.toFixed(1).padStart(6)} MB/s, reference ${their.toFixed(2).padStart(5)} MB/s, ` +
		`ratio ${(our / their).toFixed(1)}`);
}

const [program, option] = process.argv.slice(2);
if (!program) {
	console.error('usage: node run.mjs SPEED [--kinds]');
	process.exit(2);
}
const mixed = (await makeChunks()).filter(({ kind }) => MIXED.includes(kind));
for (const encoding of ENCODINGS) {
	const reference = getEncoding(encoding);
	for (const kind of option === '--kinds' ? MIXED : []) {
		const chunks = mixed.filter((chunk) => chunk.kind === kind);
		report(encoding, kind, measure(program, encoding, reference, chunks));
	}
	report(encoding, 'mixed', measure(program, encoding, reference, mixed));
	reference.free();
}
