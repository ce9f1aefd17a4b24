#include "token/tables.h"

#include <assert.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the tables are read in place and are little-endian");
_Static_assert(sizeof(struct tables_header) == 64, "the layout of the file");
_Static_assert(sizeof(struct tables_encoding) == 64, "the layout of the file");

enum { VERSION = 2, ALIGNMENT = 64, INDEX_SIZE = 0x110000 >> 8, ENCODINGS_MAX = 16 };

/* From tables.S. */
extern const char token_tables_start[], token_tables_end[];

struct str tables_embedded(void)
{
	return (struct str){token_tables_start, (size_t)(token_tables_end - token_tables_start)};
}

static const struct tables_header *header_of(struct str file)
{
	return (const struct tables_header *)file.p;
}

static const struct tables_encoding *encodings_of(struct str file)
{
	return (const struct tables_encoding *)(file.p + sizeof(struct tables_header));
}

static bool array_ok(struct str file, uint32_t offset, uint64_t count, size_t item_size)
{
	return offset % ALIGNMENT == 0 && offset <= file.n && count > 0 && count <= (file.n - offset) / item_size;
}

static bool encoding_ok(struct str file, const struct tables_encoding *e)
{
	return memchr(e->name, '\0', sizeof(e->name)) != NULL &&
	       e->token_count >= TABLES_BYTE_RANKS && e->token_count < TABLES_NONE &&
	       array_ok(file, e->merges_offset, e->token_count, sizeof(uint64_t)) &&
	       array_ok(file, e->prefixes_offset, e->token_count, sizeof(uint32_t)) &&
	       array_ok(file, e->units_offset, e->unit_count, sizeof(uint32_t)) &&
	       e->unit_count % 256 == 0 && e->root < e->unit_count &&
	       array_ok(file, e->slots_offset, e->slot_count, sizeof(uint32_t)) &&
	       array_ok(file, e->pilots_offset, e->pilot_count, sizeof(uint16_t)) &&
	       array_ok(file, e->words_offset, TABLES_WORD_WAYS << TABLES_WORD_SET_BITS, sizeof(struct tables_word));
}

bool tables_check(struct str file)
{
	const struct tables_header *h = header_of(file);
	size_t head_size;

	if (file.n < sizeof(*h) || (uintptr_t)file.p % ALIGNMENT != 0)
		return false;
	if (memcmp(h->magic, "SPINETOK", sizeof(h->magic)) != 0 || h->version != VERSION || h->size_bytes != file.n)
		return false;
	head_size = sizeof(*h) + (size_t)h->encoding_count * sizeof(struct tables_encoding);
	if (h->encoding_count > ENCODINGS_MAX || file.n < head_size)
		return false;
	if (!array_ok(file, h->ascii_offset, 256, 1) || !array_ok(file, h->index_offset, INDEX_SIZE, 1) ||
	    !array_ok(file, h->classes_offset, h->classes_size, 1))
		return false;
	for (uint32_t i = 0; i < h->encoding_count; i++)
		if (!encoding_ok(file, &encodings_of(file)[i]))
			return false;
	return true;
}

bool tables_checksum_ok(struct str file)
{
	size_t from = offsetof(struct tables_header, checksum) + sizeof(uint32_t);
	uint32_t sum = 0x811c9dc5;

	for (size_t i = from; i < file.n; i++)
		sum = (sum ^ (uint8_t)file.p[i]) * 0x01000193;
	return sum == header_of(file)->checksum;
}

bool tables_view(struct str file, struct str encoding, struct tables_view *ret)
{
	const struct tables_header *h = header_of(file);

	for (uint32_t i = 0; i < h->encoding_count; i++) {
		const struct tables_encoding *e = &encodings_of(file)[i];

		if (!str_is(encoding, e->name))
			continue;
		*ret = (struct tables_view){
			.chars.ascii = (const uint8_t *)file.p + h->ascii_offset,
			.chars.index = (const uint8_t *)file.p + h->index_offset,
			.chars.classes = (const uint8_t *)file.p + h->classes_offset,
			.merges = (const uint64_t *)(file.p + e->merges_offset),
			.prefixes = (const uint32_t *)(file.p + e->prefixes_offset),
			.units = (const uint32_t *)(file.p + e->units_offset),
			.slots = (const uint32_t *)(file.p + e->slots_offset),
			.pilots = (const uint16_t *)(file.p + e->pilots_offset),
			.words = (const struct tables_word *)(file.p + e->words_offset),
			.root = e->root,
			.slot_count = e->slot_count,
			.pilot_count = e->pilot_count,
			.seed = e->seed,
		};
		return true;
	}
	return false;
}
