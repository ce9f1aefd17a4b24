// A byte trie of all tokens as a double array: one 32-bit unit for each prefix of a token.
//
//   bits 0..7    the byte that leads to this node
//   bit 8        EDGE: the unit is a node; without it, it is free or holds a rank
//   bit 9        LEAF: the node is a token and has no children; the payload is its rank
//   bit 10       TOKEN: the node is a token and has children; its rank is in the unit (offset ^ 0xff)
//   bits 11..31  payload: the node's offset (its child by byte b is the unit at offset ^ b), or a rank
//
// A step is therefore one load and one comparison: units[offset ^ b] leads on where its low nine bits are
// EDGE | b. That no node has the offset of another makes the comparison exact. The byte 0xff begins a token but
// never continues one (it is in no UTF-8 text), which leaves its place free for the rank.

const EDGE = 1 << 8, LEAF = 1 << 9, TOKEN = 1 << 10, PAYLOAD_SHIFT = 11;
const RANK_LABEL = 0xff;
const BLOCK = 256;
// A block in which this many nodes did not find room is only offered to nodes with one child afterwards.
const BLOCK_PATIENCE = 24;

// The nodes of the trie of `tokens` (latin1 strings, the rank is the index): the root first, each with the bytes
// that lead to its children, the children's numbers, its rank (-1 where it is not a token) and the lowest rank
// beneath it.
function makeNodes(tokens) {
	const order = tokens.map((_, rank) => rank).sort((a, b) => (tokens[a] < tokens[b] ? -1 : 1));
	const nodes = [];

	function addNode(from, to, depth) {
		const node = { labels: [], children: [], rank: -1, lowest: Infinity, offset: 0 };
		const number = nodes.push(node) - 1;
		let at = from;
		if (at < to && tokens[order[at]].length === depth)
			node.rank = node.lowest = order[at++];
		while (at < to) {
			const label = tokens[order[at]].charCodeAt(depth);
			let next = at + 1;
			while (next < to && tokens[order[next]].charCodeAt(depth) === label)
				next++;
			const child = addNode(at, next, depth + 1);
			node.labels.push(label);
			node.children.push(child);
			node.lowest = Math.min(node.lowest, nodes[child].lowest);
			at = next;
		}
		if (number !== 0 && node.labels.includes(RANK_LABEL))
			throw new Error('a token continues with the byte 0xff, whose place holds the rank');
		return number;
	}

	addNode(0, order.length, 0);
	return nodes;
}

// Places for sets of labels: finds an offset such that all units (offset ^ label) are free.
class Places {
	constructor() {
		this.used = new Uint8Array(0);
		this.offsets = new Set();
		this.blocks = 0;
		this.firstWithRoom = 0;
		this.firstOpen = 0;
		this.failures = [];
	}

	grow() {
		if (++this.blocks * BLOCK > this.used.length) {
			const used = new Uint8Array(this.used.length * 2 + BLOCK);
			used.set(this.used);
			this.used = used;
		}
		this.failures.push(0);
	}

	tryBlock(block, labels) {
		for (let unit = block * BLOCK; unit < (block + 1) * BLOCK; unit++) {
			const offset = unit ^ labels[0];
			if (this.used[unit] || this.offsets.has(offset))
				continue;
			if (labels.every((label) => !this.used[offset ^ label]))
				return offset;
		}
		return -1;
	}

	find(labels) {
		const single = labels.length === 1;
		for (let block = single ? this.firstWithRoom : this.firstOpen; ; block++) {
			if (block === this.blocks)
				this.grow();
			const offset = this.tryBlock(block, labels);
			if (offset >= 0)
				return offset;
			if (single && block === this.firstWithRoom)
				this.firstWithRoom++;
			else if (!single && ++this.failures[block] >= BLOCK_PATIENCE && block === this.firstOpen)
				this.firstOpen++;
		}
	}

	take(labels) {
		const offset = this.find(labels);
		this.offsets.add(offset);
		for (const label of labels)
			this.used[offset ^ label] = 1;
		return offset;
	}
}

// Returns { units: Uint32Array, rootOffset }.
export function makeDoubleArray(tokens) {
	const nodes = makeNodes(tokens);
	const places = new Places();
	// Low ranks are frequent tokens: placed first, the nodes on their paths lie close together in memory.
	const inner = nodes.filter((node) => node.children.length > 0).sort((a, b) => a.lowest - b.lowest);
	for (const node of inner)
		node.offset = places.take(node.rank >= 0 ? [...node.labels, RANK_LABEL] : node.labels);

	const units = new Uint32Array(places.blocks * BLOCK);
	for (const node of inner) {
		if (node.rank >= 0)
			units[node.offset ^ RANK_LABEL] = node.rank << PAYLOAD_SHIFT;
		node.labels.forEach((label, i) => {
			const child = nodes[node.children[i]];
			const leaf = child.children.length === 0;
			const flags = EDGE | (leaf ? LEAF : 0) | (!leaf && child.rank >= 0 ? TOKEN : 0);
			const payload = leaf ? child.rank : child.offset;
			units[node.offset ^ label] = (payload << PAYLOAD_SHIFT) | flags | label;
		});
	}
	if (units.length >= 2 ** (32 - PAYLOAD_SHIFT))
		throw new Error(`${units.length} units do not fit into the payload`);
	return { units, rootOffset: nodes[0].offset };
}
