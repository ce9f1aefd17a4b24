// Makes screenshots small: at most 256 colours, which pictures of text and lines hardly need more of.
import { deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const COLOURS = 256;
const EXACT = 24; // backgrounds: side by side a small difference is seen

const table = Array.from({ length: 256 }, (_, n) => {
	for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
	return n >>> 0;
});

function checksum(bytes) {
	let c = 0xffffffff;
	for (const byte of bytes) c = table[(c ^ byte) & 255] ^ (c >>> 8);
	return (c ^ 0xffffffff) >>> 0;
}

function chunk(kind, data) {
	const body = Buffer.concat([Buffer.from(kind), data]);
	const whole = Buffer.alloc(body.length + 8);
	whole.writeUInt32BE(data.length, 0);
	body.copy(whole, 4);
	whole.writeUInt32BE(checksum(body), body.length + 4);
	return whole;
}

function paeth(a, b, c) {
	const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** The pixels of a PNG of 8 bits a channel, without interlacing: what a browser makes. */
function decode(png) {
	const parts = [];
	let header;

	for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
		const kind = png.toString("latin1", at + 4, at + 8);
		const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
		if (kind === "IHDR") header = data;
		if (kind === "IDAT") parts.push(data);
	}
	const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
	const step = { 2: 3, 6: 4 }[header[9]];
	if (header[8] !== 8 || !step || header[12]) throw new Error("a kind of PNG that a browser does not make");
	const raw = inflateSync(Buffer.concat(parts));
	const line = width * step;
	const pixels = Buffer.alloc(line * height);
	for (let y = 0; y < height; y++) {
		const filter = raw[y * (line + 1)];
		for (let x = 0; x < line; x++) {
			const at = y * line + x;
			const [a, b, c] = [
				x >= step ? pixels[at - step] : 0,
				y ? pixels[at - line] : 0,
				x >= step && y ? pixels[at - line - step] : 0,
			];
			const guess = [0, a, b, (a + b) >> 1, filter === 4 ? paeth(a, b, c) : 0][filter];
			pixels[at] = raw[y * (line + 1) + 1 + x] + guess;
		}
	}
	return { width, height, step, pixels };
}

/** The colours that are used most; but for the first, each far enough from those before it. */
function choose(counts) {
	const byUse = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
	for (let apart = 0; ; apart += 6) {
		const chosen = [];
		for (const colour of byUse) {
			if (chosen.length < EXACT || chosen.every((one) => distance(one, colour) > apart)) chosen.push(colour);
			if (chosen.length > COLOURS) break;
		}
		if (chosen.length <= COLOURS) return chosen;
	}
}

function distance(a, b) {
	return (
		Math.abs((a >> 16) - (b >> 16)) + Math.abs(((a >> 8) & 255) - ((b >> 8) & 255)) + Math.abs((a & 255) - (b & 255))
	);
}

export function shrink(png) {
	const { width, height, step, pixels } = decode(png);
	const counts = new Map();
	const colourAt = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];

	for (let at = 0; at < pixels.length; at += step) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
	const palette = choose(counts);
	const nearest = new Map(
		[...counts.keys()].map((colour) => {
			let best = 0;
			for (let i = 1; i < palette.length; i++)
				if (distance(palette[i], colour) < distance(palette[best], colour)) best = i;
			return [colour, best];
		}),
	);
	const lines = Buffer.alloc((width + 1) * height);
	for (let y = 0; y < height; y++)
		for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = nearest.get(colourAt((y * width + x) * step));
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 3, 0, 0, 0], 8);
	return Buffer.concat([
		signature,
		chunk("IHDR", header),
		chunk("PLTE", Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
		chunk("IDAT", deflateSync(lines, { level: 9 })),
		chunk("IEND", Buffer.alloc(0)),
	]);
}
