#include "text/invisible.h"

#include "base/utf8.h"

/* How far the letter is looked for that a mark of direction belongs to: over spaces, digits and signs. */
enum { LOOK_CHARACTERS = 24, FLAG_TAGS = 6 };

enum {
	ZWSP = 0x200b, ZWNJ = 0x200c, ZWJ = 0x200d, BOM = 0xfeff, SOFT_HYPHEN = 0xad, GRAPHEME_JOINER = 0x34f,
	BLACK_FLAG = 0x1f3f4, BRAILLE_BLANK = 0x2800, MONGOLIAN_SEPARATOR = 0x180e,
	LINE_SEPARATOR = 0x2028, PARAGRAPH_SEPARATOR = 0x2029
};

struct range {
	uint32_t first, last;
};

#define IN(code, ranges) is_in(code, ranges, sizeof(ranges) / sizeof((ranges)[0]))

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Unicode's Default_Ignorable_Code_Point, the annotation marks and the blank of braille. */
static const struct range INVISIBLE[] = {
	{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0x2800, 0x2800}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},
	{0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
};
/* The first bytes of all of them, and of others. */
static const bool MAY_BEGIN[256] = {
	[0xc2] = true, [0xcd] = true, [0xd8] = true, [0xe1 ... 0xe3] = true, [0xef] = true, [0xf0] = true,
	[0xf3] = true,
};

/* Arabic and its kin, the scripts of India and South-East Asia, Mongolian: joiners choose the shape of a letter. */
static const struct range JOINING[] = {
	{0x600, 0x8ff}, {0x900, 0xdff}, {0xe00, 0xeff}, {0xf00, 0x109f}, {0x1780, 0x18af}, {0x1900, 0x1aaf},
	{0x1b00, 0x1c4f}, {0xa800, 0xa8ff}, {0xa980, 0xaadf}, {0xabc0, 0xabff}, {0xfb50, 0xfdff}, {0xfe70, 0xfefc},
	{0x10a00, 0x10aff}, {0x11000, 0x11fff}, {0x1e900, 0x1e95f},
};
/* Written without spaces: a zero-width one says where a line may break. */
static const struct range UNSPACED[] = {
	{0xe00, 0xeff}, {0x1000, 0x109f}, {0x1780, 0x17ff}, {0x1950, 0x1aaf}, {0x3000, 0x30ff}, {0x3400, 0x9fff},
	{0xac00, 0xd7a3},
};
static const struct range RIGHT_TO_LEFT[] = {
	{0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefc}, {0x10800, 0x10fff}, {0x1e800, 0x1efff},
};
/* Emoji, and what a selector makes one: digits, arrows, signs. */
static const struct range PICTURES[] = {
	{0x23, 0x23}, {0x2a, 0x2a}, {0x30, 0x39}, {0xa9, 0xa9}, {0xae, 0xae}, {0x200d, 0x200d}, {0x203c, 0x203c},
	{0x2049, 0x2049}, {0x20e3, 0x20e3}, {0x2122, 0x2122}, {0x2139, 0x2139}, {0x2190, 0x21ff}, {0x2300, 0x23ff},
	{0x2460, 0x24ff}, {0x25a0, 0x27bf}, {0x2900, 0x297f}, {0x2b00, 0x2bff}, {0x3030, 0x3030}, {0x303d, 0x303d},
	{0x3297, 0x3299}, {0x1f000, 0x1faff},
};
static const struct range IDEOGRAPHS[] = {{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3ffff}};

static bool is_invisible(uint32_t code)
{
	return code >= 0xad && IN(code, INVISIBLE);
}

static bool is_selector(uint32_t code)
{
	return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef) ||
	       (code >= 0x180b && code <= 0x180d) || code == 0x180f;
}

static bool is_picture(uint32_t code)
{
	return code == 0xfe0f || (code > 0x39 && code != ZWJ && IN(code, PICTURES));
}

/* The character at at, and where it ends; 0 behind the text, and for bytes that are none. */
static uint32_t character(struct str text, size_t at, size_t *ret_end)
{
	static const unsigned char first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code;
	size_t n;
	bool ok;

	*ret_end = at + 1;
	if (at >= text.n)
		return 0;
	n = utf8_first(str_sub(text, at, text.n), &ok);
	*ret_end = at + n;
	if (!ok)
		return 0;
	code = (unsigned char)text.p[at] & first_bits[n];
	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)text.p[at + i] & 0x3f);
	return code;
}

/* The character that ends before at; 0: none. */
static uint32_t character_before(struct str text, size_t at, size_t *ret_at)
{
	size_t end;

	*ret_at = at;
	if (at == 0)
		return 0;
	do
		--*ret_at;
	while (*ret_at > 0 && at - *ret_at < 4 && ((unsigned char)text.p[*ret_at] & 0xc0) == 0x80);
	return character(text, *ret_at, &end);
}

static bool is_letter(uint32_t code)
{
	return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= 0xc0 && !is_invisible(code) &&
		!(code >= 0x2000 && code <= 0x2bff));
}

/* The nearest letter on either side runs from right to left. */
static bool is_beside_right_to_left(struct str text, size_t at, size_t end)
{
	uint32_t code = ' ';

	for (int i = 0; i < LOOK_CHARACTERS && at > 0 && !is_letter(code); i++)
		code = character_before(text, at, &at);
	if (is_letter(code) && IN(code, RIGHT_TO_LEFT))
		return true;
	code = ' ';
	for (int i = 0; i < LOOK_CHARACTERS && end < text.n && !is_letter(code); i++)
		code = character(text, end, &end);
	return is_letter(code) && IN(code, RIGHT_TO_LEFT);
}

/* Behind the black flag at `at`: the letters of the region as tags, and the tag that ends them. */
static bool is_flag_of(struct str text, size_t at, const char *region)
{
	bool is_it = character(text, at, &at) == BLACK_FLAG;

	for (; is_it && *region; region++)
		is_it = character(text, at, &at) == 0xe0000 + (uint32_t)*region;
	return is_it && character(text, at, &at) == 0xe007f;
}

/* Only these regions have a flag with a picture of its own: any other is a black flag that carries a word. */
static bool is_in_flag(struct str text, size_t at)
{
	uint32_t code = 0;

	for (int i = 0; i < FLAG_TAGS && code != BLACK_FLAG; i++)
		code = character_before(text, at, &at);
	return is_flag_of(text, at, "gbeng") || is_flag_of(text, at, "gbsct") || is_flag_of(text, at, "gbwls");
}

static bool selects(uint32_t code, uint32_t before)
{
	if (code >= 0xe0100)
		return IN(before, IDEOGRAPHS);
	if (code < 0xfe00)
		return before >= 0x1800 && before <= 0x18af;
	if (code >= 0xfe0e)
		return before != ZWJ && IN(before, PICTURES);
	/* Signs of mathematics, forms of Myanmar, Phags-pa and of ideographs. */
	return code <= 0xfe02 && ((before >= 0x2200 && before <= 0x22ff) || (before >= 0x2a00 && before <= 0x2aff) ||
				  (before >= 0x1000 && before <= 0x109f) || (before >= 0xa840 && before <= 0xa87f) ||
				  (before >= 0x3000 && before <= 0x30ff) || IN(before, IDEOGRAPHS));
}

static bool is_legitimate(struct str text, size_t at, size_t end, uint32_t code)
{
	size_t ignored;
	uint32_t before = character_before(text, at, &ignored), after = character(text, end, &ignored);

	if (is_selector(code))
		return selects(code, before);
	switch (code) {
	case ZWJ:
		return (is_picture(before) && is_picture(after)) || (IN(before, JOINING) && before != ZWJ);
	case ZWNJ:
		return IN(before, JOINING);
	case ZWSP:
		return IN(before, UNSPACED) || IN(after, UNSPACED);
	case BOM:
		return at == 0 || (before == '"' && is_letter(after));	/* or of a text within JSON */
	case SOFT_HYPHEN:
		return is_letter(before) && is_letter(after);
	case GRAPHEME_JOINER:
		return (before >= 0x300 && before <= 0x36f) || IN(before, RIGHT_TO_LEFT);
	case BRAILLE_BLANK:
		return (before >= 0x2801 && before <= 0x28ff) || (after >= 0x2801 && after <= 0x28ff);
	case MONGOLIAN_SEPARATOR:
		return before >= 0x1800 && before <= 0x18af;
	case 0x61c: case 0x200e: case 0x200f: case 0x202a: case 0x202b: case 0x202c:
	case 0x2066: case 0x2067: case 0x2068: case 0x2069:
		return is_beside_right_to_left(text, at, end);
	default:
		break;
	}
	if (code == 0x115f || code == 0x1160)
		return (before >= 0x1100 && before <= 0x11ff) || (after >= 0x1100 && after <= 0x11ff);
	return code >= 0xe0020 && code <= 0xe007f && is_in_flag(text, at);
}

struct invisible invisible_next(struct str text, size_t at)
{
	uint64_t eight;
	size_t end;

	while (at < text.n) {
		if (text.n - at >= sizeof(eight)) {
			memcpy(&eight, text.p + at, sizeof(eight));
			if ((eight & UINT64_C(0x8080808080808080)) == 0) {
				at += sizeof(eight);
				continue;
			}
		}
		if (MAY_BEGIN[(unsigned char)text.p[at]]) {
			uint32_t code = character(text, at, &end);

			if (is_invisible(code) && !is_legitimate(text, at, end, code))
				return (struct invisible){at, end, code};
			at = end;
		} else {
			at++;
		}
	}
	return (struct invisible){text.n, text.n, 0};
}

bool invisible_is_flagged(struct str text)
{
	return invisible_next(text, 0).at < text.n;
}

bool invisible_has_any(struct str text)
{
	for (size_t at = 0, end; at < text.n; at = end) {
		uint32_t code = character(text, at, &end);

		if (is_invisible(code) || code == LINE_SEPARATOR || code == PARAGRAPH_SEPARATOR)
			return true;
	}
	return false;
}
