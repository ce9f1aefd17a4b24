/* A scanner, no grammar: ids are found wherever they stand as a word of their own; what stands between two of them
 * decides whether they are the ends of a range. */
#include "core/memory/mention.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An id that starts at text.p[at]: its end, or 0 where there is none. "ms-" may be written in capitals. */
static size_t match_id(struct str text, size_t at, struct memory_id *ret)
{
	size_t end = at + 3, digits, version;
	char canonical[MEMORY_ID_SIZE];

	if (text.n - at < 4 || !str_ieq(str_sub(text, at, at + 3), STR("ms-")))
		return 0;
	digits = end;
	while (end < text.n && is_digit(text.p[end]))
		end++;
	version = end;
	if (end + 1 < text.n && text.p[end] == '@' && is_digit(text.p[end + 1])) {
		version = ++end;
		while (end < text.n && is_digit(text.p[end]))
			end++;
	}
	if (end == digits || end - at >= sizeof(canonical) || (end < text.n && is_word(text.p[end])))
		return 0;
	memcpy(canonical, text.p + at, end - at);
	memcpy(canonical, "ms-", 3);
	if (!memory_id_parse((struct str){canonical, end - at}, ret))
		return 0;
	return version > at ? end : 0;
}

/* The next id at or behind from. Looked for by its hyphen, which is rarer than its letters. */
static bool next_id(struct str text, size_t from, size_t *ret_at, size_t *ret_end, struct memory_id *ret)
{
	for (size_t behind = from + 2; behind < text.n; behind++) {
		const char *hyphen = memchr(text.p + behind, '-', text.n - behind);

		if (hyphen == NULL)
			return false;
		behind = (size_t)(hyphen - text.p);
		*ret_at = behind - 2;
		*ret_end = *ret_at > 0 && is_word(text.p[*ret_at - 1]) ? 0 : match_id(text, *ret_at, ret);
		if (*ret_end)
			return true;
	}
	return false;
}

/* Does what stands between two ids make them the ends of a range? */
static bool joins(struct str between)
{
	static const char *const words[] = {"through", "thru", "to", "until", "-", "--", "..", "...", "\xe2\x80\x93",
					    "\xe2\x80\x94", "\xe2\x80\xa6"};
	struct str s = between;

	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\n' || s.p[0] == '\r'))
		s = str_sub(s, 1, s.n);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
		s.n--;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_ieq(s, str_of(words[i])))
			return true;
	return false;
}

static size_t slot_of(const struct mention_list *list, struct memory_id id)
{
	uint64_t hash = (id.num * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)id.version * UINT64_C(0xc2b2ae3d27d4eb4f));
	size_t at = (hash ^ hash >> 32) & (list->slot_count - 1);

	for (; list->slots[at]; at = (at + 1) & (list->slot_count - 1)) {
		const struct memory_id *other = &list->ids[list->slots[at] - 1];

		if (other->num == id.num && other->version == id.version)
			break;
	}
	return at;
}

static void grow(struct mention_list *list, struct arena *arena)
{
	size_t cap = list->cap ? list->cap * 2 : 32;
	struct memory_id *ids = arena_alloc(arena, cap * sizeof(*ids));

	if (list->count)
		memcpy(ids, list->ids, list->count * sizeof(*ids));
	list->ids = ids;
	list->cap = cap;
	list->slot_count = cap * 2;
	list->slots = arena_calloc(arena, list->slot_count, sizeof(*list->slots));
	for (size_t i = 0; i < list->count; i++)
		list->slots[slot_of(list, ids[i])] = (uint32_t)(i + 1);
}

bool mention_has(const struct mention_list *list, struct memory_id id)
{
	return list->count && list->slots[slot_of(list, id)];
}

void mention_add(struct mention_list *list, struct memory_id id, struct arena *arena)
{
	size_t at;

	if (list->count == list->cap)
		grow(list, arena);
	at = slot_of(list, id);
	if (list->slots[at])
		return;
	if (list->count == MENTION_MAX) {
		list->truncated = true;
		return;
	}
	list->ids[list->count++] = id;
	list->slots[at] = (uint32_t)list->count;
}

/* From behind first up to last; a range that is written backwards names its two ends. */
static void add_range(struct mention_list *list, struct memory_id first, struct memory_id last, struct arena *arena)
{
	if (last.num <= first.num || first.version || last.version) {
		mention_add(list, last, arena);
		return;
	}
	for (uint64_t num = first.num + 1; num <= last.num; num++) {
		mention_add(list, (struct memory_id){num, 0}, arena);
		if (list->truncated)
			return;
	}
}

void mention_collect(struct mention_list *list, struct str text, struct arena *arena)
{
	struct memory_id last = {0}, id;
	size_t last_end = 0;
	bool can_join = false;

	for (size_t from = 0, at, end; next_id(text, from, &at, &end, &id); from = end) {
		if (can_join && joins(str_sub(text, last_end, at))) {
			add_range(list, last, id, arena);
			can_join = false;	/* "1 to 3 to 5" is odd; the middle does not start another range */
		} else {
			mention_add(list, id, arena);
			can_join = true;
		}
		last = id;
		last_end = end;
	}
}
