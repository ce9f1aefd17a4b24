// Compares the token counter with the reference, npm's tiktoken: node compare.mjs COUNT
//
// COUNT is the program built from count.c. Every chunk of the corpus must have the same number of tokens; one in
// three must have the same tokens. Every chunk is one test, for each encoding.

import { spawnSync } from 'node:child_process';

import { makeChunks, requireTool } from './corpus.mjs';

const { get_encoding: getEncoding } = requireTool('tiktoken');
const ENCODINGS = ['o200k_base', 'cl100k_base'];
const SHOWN = 10;

// What the counter promises for any bytes: what a decoder on the web makes of them, byte order mark included.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function lines(program, encoding, mode, chunks) {
	const input = Buffer.concat(chunks.flatMap(({ bytes }) => {
		const length = Buffer.alloc(4);
		length.writeUInt32LE(bytes.length);
		return [length, bytes];
	}));
	const { status, stdout, stderr, error } = spawnSync(program, [encoding, mode], { input, maxBuffer: 2 ** 30 });
	if (error || status !== 0)
		throw error ?? new Error(`${program} ended with ${status}: ${stderr}`);
	const output = stdout.toString('latin1').split('\n').slice(0, -1);
	if (output.length !== chunks.length)
		throw new Error(`${program} answered ${output.length} of ${chunks.length} chunks`);
	return output;
}

function compare(program, encoding, chunks) {
	const reference = getEncoding(encoding);
	const counts = lines(program, encoding, 'count', chunks);
	const wantsIds = (chunk, i) => i % 3 === 0 || chunk.kind === 'classes' || chunk.kind === 'runs';
	const ids = lines(program, encoding, 'ids', chunks.filter(wantsIds));
	let failed = 0, bytes = 0;

	chunks.forEach((chunk, i) => {
		const wanted = reference.encode_ordinary(decoder.decode(chunk.bytes));
		const sameIds = !wantsIds(chunk, i) || ids.shift() === wanted.join(' ');
		bytes += chunk.bytes.length;
		if (Number(counts[i]) === wanted.length && sameIds)
			return;
		if (failed++ < SHOWN)
			console.log(`${encoding}: chunk ${i} (${chunk.kind}): ${counts[i]} tokens, ` +
				`the reference has ${wanted.length}: ` +
				JSON.stringify(decoder.decode(chunk.bytes)).slice(0, 300));
	});
	reference.free();
	console.log(`${encoding}: ${chunks.length} chunks, ${(bytes / 1e6).toFixed(1)} MB, ${failed} different`);
	return failed;
}

const program = process.argv[2];
if (!program) {
	console.error('usage: node compare.mjs COUNT');
	process.exit(2);
}
const chunks = await makeChunks();
const failed = ENCODINGS.reduce((sum, encoding) => sum + compare(program, encoding, chunks), 0);
console.log(`${ENCODINGS.length * chunks.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
