// Where characters stand that nobody sees, and no script or emoji needs. Whether a memory has some is the server's word
// (`flags`); where they are is told here by its rule, src/text/invisible.c: a test compares the two.

const pictures =
	"\u00a9\u00ae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f" +
	"\u2b00-\u2bff\u3030\u303d\u3297-\u3299\u{1f000}-\u{1faff}";
const joining =
	"\u0600-\u109f\u1780-\u18af\u1900-\u1aaf\u1b00-\u1c4f\ua800-\ua8ff\ua980-\uaadf\uabc0-\uabff\ufb50-\ufdff" +
	"\ufe70-\ufefc\u{10a00}-\u{10aff}\u{11000}-\u{11fff}\u{1e900}-\u{1e95f}";
const unspaced =
	"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3";
const rightToLeft = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}";
const ideographs = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}";
const ofForms = `\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\ua840-\ua87f\u3000-\u30ff${ideographs}`;
const invisible = "\\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb";
const letter = `[[a-zA-Z\u00c0-\u1fff\u2c00-\u{10ffff}]--[${invisible}]]`;
const other = `[^${letter}]`;
const direction = "\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069";

/** Each tag of a region's flag, between the others of that very flag. */
function inFlag(region: string): (readonly [string, string, string])[] {
	const tags = [...region].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)));

	tags.push("\u{e007f}");
	return tags.map((tag, i) => [tag, `\u{1f3f4}${tags.slice(0, i).join("")}$`, `^${tags.slice(i + 1).join("")}`]);
}

const of = (pattern: string) => new RegExp(pattern, "v");
const any = of("");
/** These characters are as usual between these. */
const usual = (
	[
		["\u200d", `[\ufe0f${pictures}]$`, `^[\ufe0f${pictures}]`],
		["\u200c\u200d", `[${joining}]$`],
		["\u200b", `[${unspaced}]$`],
		["\u200b", "", `^[${unspaced}]`],
		["\ufeff", "^$"],
		["\ufeff", '"$', `^${letter}`],
		["\u00ad", `${letter}$`, `^${letter}`],
		["\u034f", `[\u0300-\u036f${rightToLeft}]$`],
		["\u2800", "[\u2801-\u28ff]$"],
		["\u2800", "", "^[\u2801-\u28ff]"],
		["\u180b-\u180f", "[\u1800-\u18af]$"],
		["\u115f\u1160", "[\u1100-\u11ff]$"],
		["\u115f\u1160", "", "^[\u1100-\u11ff]"],
		[direction, `[${rightToLeft}]${other}{0,23}$`],
		[direction, "", `^${other}{0,23}[${rightToLeft}]`],
		...["gbeng", "gbsct", "gbwls"].flatMap(inFlag),
		["\ufe0e\ufe0f", `[#*0-9${pictures}]$`],
		["\ufe00-\ufe02", `[${ofForms}]$`],
		["\u{e0100}-\u{e01ef}", `[${ideographs}]$`],
	] as readonly (readonly [string, string, string?])[]
).map(([characters, before, after]) => [of(`[${characters}]`), of(before), after ? of(after) : any] as const);

const LOOK = 64;
const suspect = of(`[${invisible}]`);

function isUsual(text: string, at: number, character: string): boolean {
	const before = text.slice(Math.max(0, at - LOOK), at);
	const after = text.slice(at + character.length, at + character.length + LOOK);

	return usual.some(([characters, left, right]) => characters.test(character) && left.test(before) && right.test(after));
}

export interface Piece {
	readonly text: string;
	/** Of a run that nobody sees: what it is, as in U+200B. */
	readonly codes?: readonly string[];
}

/** A text in pieces: what is seen, and what is not. */
export function pieces(text: string): readonly Piece[] {
	const found: { text: string; codes?: string[] }[] = [];
	let seen = 0;

	for (const { 0: character, index } of text.matchAll(new RegExp(suspect, "gv"))) {
		if (isUsual(text, index, character)) continue;
		const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
		const last = found.at(-1);
		if (index > seen) found.push({ text: text.slice(seen, index) });
		if (index === seen && last?.codes) {
			last.codes.push(code);
			last.text += character;
		} else found.push({ text: character, codes: [code] });
		seen = index + character.length;
	}
	if (seen < text.length) found.push({ text: text.slice(seen) });
	return found;
}
