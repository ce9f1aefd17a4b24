// The words of plain letters that are one token, by their bytes: a hash table of sets of four, in which a word is found
// by one load of a cache line.
//
// Which tokens are words is said in src/token/words.c, where they are looked up; the two must agree. A set takes the
// first four words by rank, which are the most frequent; what finds no place is left to the trie.

const SET_BITS = 14, WAYS = 4;
const WORD = /^(?:[^\r\n0-9A-Za-z'\x80-\xff]?[A-Za-z]|[A-Z][A-Za-z])[a-z]*$/, WORD_BYTES = 16;
const TAIL_MULTIPLIER = 0x9e3779b97f4a7c15n, MULTIPLIER = 0xd6e8feb86659fd93n;

function setOf(head, tail) {
	const hash = BigInt.asUintN(64, (head ^ BigInt.asUintN(64, tail * TAIL_MULTIPLIER)) * MULTIPLIER);
	return Number(hash >> BigInt(64 - SET_BITS));
}

// Two 64-bit numbers for each place of the table, the word's bytes; zero where it is empty.
export function makeWordTable(tokens) {
	const table = new BigUint64Array(2 * WAYS << SET_BITS), bytes = Buffer.alloc(WORD_BYTES);
	const taken = new Uint8Array(1 << SET_BITS);
	for (const token of tokens) {
		if (token.length >= WORD_BYTES || !WORD.test(token))
			continue;
		bytes.fill(0).write(token, 'latin1');
		const head = bytes.readBigUInt64LE(0), tail = bytes.readBigUInt64LE(8), set = setOf(head, tail);
		if (taken[set] === WAYS)
			continue;
		table.set([head, tail], 2 * (set * WAYS + taken[set]++));
	}
	return table;
}
