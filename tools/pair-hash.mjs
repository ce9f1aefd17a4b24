// A perfect hash from a pair of tokens (left, right) to the token that they merge into.
//
// Every key falls into a bucket; the bucket's pilot (16 bits) is chosen here so that all keys of all buckets get
// slots of their own. A lookup is then one pilot and one slot, found or not. A slot holds the rank of the merged
// token (18 bits) and 14 bits of the hash, which turn away nearly every pair that is not in the table; what they let
// through is compared with the merged token's own record, so that the answer is exact.
//
// The C side of the hash is pair_find() in src/token/bpe.c; the two must agree.

const MULTIPLIER_1 = 0x9e3779b97f4a7c15n, MULTIPLIER_2 = 0xbf58476d1ce4e5b9n;
const PILOT_MULTIPLIER = 0x9e3779b1, SLOT_MULTIPLIER = 0x85ebca77;
const RANK_BITS = 18;
const KEYS_PER_BUCKET = 5, LOAD = 0.95, PILOTS = 65536;

function hash(key, seed) {
	let h = BigInt.asUintN(64, (BigInt(key) ^ seed) * MULTIPLIER_1);
	h ^= h >> 32n;
	h = BigInt.asUintN(64, h * MULTIPLIER_2);
	h ^= h >> 29n;
	return { high: Number(h >> 32n), low: Number(h & 0xffffffffn) };
}

// The upper half of a 32 by 32 bit product: spreads a 32-bit hash over [0, count).
function scale(hash32, count) {
	return Math.floor((hash32 * count) / 2 ** 32);
}

function slotOf(low, pilot, slots) {
	return scale(Math.imul(low ^ Math.imul(pilot, PILOT_MULTIPLIER), SLOT_MULTIPLIER) >>> 0, slots);
}

// One attempt: null where some bucket finds no pilot.
function attempt(pairs, seed) {
	const bucketCount = Math.ceil(pairs.length / KEYS_PER_BUCKET);
	const slotCount = Math.ceil(pairs.length / LOAD);
	const buckets = Array.from({ length: bucketCount }, () => []);
	for (const { key, rank } of pairs) {
		const { high, low } = hash(key, seed);
		buckets[scale(high, bucketCount)].push({ low, value: ((high & 0x3fff) << RANK_BITS) | rank });
	}

	const pilots = new Uint16Array(bucketCount);
	const slots = new Uint32Array(slotCount);
	const taken = new Uint8Array(slotCount);
	const order = buckets.map((_, b) => b).sort((a, b) => buckets[b].length - buckets[a].length);
	for (const b of order) {
		let pilot = 0, places;
		for (; pilot < PILOTS; pilot++) {
			places = buckets[b].map(({ low }) => slotOf(low, pilot, slotCount));
			if (places.every((place) => !taken[place]) && new Set(places).size === places.length)
				break;
		}
		if (pilot === PILOTS)
			return null;
		pilots[b] = pilot;
		places.forEach((place, i) => {
			taken[place] = 1;
			slots[place] = buckets[b][i].value;
		});
	}
	return { pilots, slots, seed };
}

// `pairs`: [{ key: left * 2^18 + right, rank }]. Returns { pilots: Uint16Array, slots: Uint32Array, seed: BigInt }.
export function makePairHash(pairs) {
	for (let seed = 1n; seed <= 100n; seed++) {
		const table = attempt(pairs, seed);
		if (table)
			return table;
	}
	throw new Error('no seed gives a perfect hash');
}
