/* Reading: simdjson's DOM, copied into a tree of the caller's arena.
 *
 * simdjson checks the grammar and the UTF-8 and lays the document out on a tape; the converter below walks it once,
 * copies names and strings into one piece of the arena, and refuses what JSON allows and the protocol does not. simdjson
 * is used through its error codes; what it cannot allocate ends the process like any other allocation (new's handler).
 *
 * A parser and its buffers are kept for each thread, so that a request does not allocate them anew. That is the one
 * piece of state in this file; it holds nothing between two calls but memory, and no more than a text of
 * RETAINED_TEXT_MAX needs: about 15 bytes for each of the text at worst, so 4 MB. Keeping them for longer texts, too,
 * did not make those any faster.
 */
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

extern "C" {
#include "base/mem.h"
#include "codec/json.h"
#include "codec/json_scan.h"
}

namespace dom = simdjson::dom;

namespace {

constexpr size_t RETAINED_TEXT_MAX = 256 * 1024;
constexpr size_t FIRST_TEXT_MAX = 16 * 1024;
/* Objects with more members are checked for duplicates by sorting. */
constexpr uint32_t PAIRWISE_MAX = 16;
/* What simdjson says of an array or object with this many parts or more. */
constexpr size_t COUNT_SATURATED = 0xffffff;
/* As much of a name as an error repeats. */
constexpr size_t NAME_SHOWN_BYTES = 60;

enum class outcome { good, refused, duplicate };

struct converter {
	struct arena *arena;
	char *strings;		/* where the next string goes */
	char *strings_end;
	int max_depth;
	uint32_t tokens;	/* values and names so far, counted as json_scan_token counts them */
	uint32_t duplicate_token;
	struct str duplicate_name;
};

/* --- Strings: copied one after the other, each with a NUL --- */

struct str copy_string(converter &c, std::string_view s)
{
	char *copy = c.strings;

	assert(s.size() < static_cast<size_t>(c.strings_end - copy));
	std::memcpy(copy, s.data(), s.size());
	copy[s.size()] = '\0';
	c.strings += s.size() + 1;
	return {copy, s.size()};
}

/* --- Duplicate names --- */

/* Any hash will do: names are sorted by it, so that even chosen collisions only cost comparisons, n log n of them. */
uint64_t fingerprint(struct str name)
{
	uint64_t hash = 0xcbf29ce484222325 ^ name.n;
	uint64_t word;
	size_t i = 0;

	for (; i + 8 <= name.n; i += 8) {
		std::memcpy(&word, name.p + i, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	word = 0;
	if (i < name.n)
		std::memcpy(&word, name.p + i, name.n - i);
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

struct sortable {
	uint64_t hash;
	uint32_t index;
};

/* The values and names in a tree: what json_scan_token would count for it. */
uint32_t count_tokens(const struct json &value)
{
	uint32_t total = 1;

	if (value.type == JSON_ARRAY)
		for (uint32_t i = 0; i < value.count; i++)
			total += count_tokens(value.items[i]);
	if (value.type == JSON_OBJECT)
		for (uint32_t i = 0; i < value.count; i++)
			total += 1 + count_tokens(value.members[i].value);
	return total;
}

/* The member at index repeats an earlier name of an object whose first name was the token first_token. */
outcome duplicate_found(converter &c, const struct json &object, uint32_t index, uint32_t first_token)
{
	c.duplicate_token = first_token;
	for (uint32_t i = 0; i < index; i++)
		c.duplicate_token += 1 + count_tokens(object.members[i].value);
	c.duplicate_name = object.members[index].key;
	return outcome::duplicate;
}

/* The index of a member whose name an earlier member has, or object.count. */
uint32_t find_duplicate_sorted(const struct json &object)
{
	auto *names = static_cast<sortable *>(mem_reallocarray(nullptr, object.count, sizeof(sortable)));
	const struct json_member *members = object.members;
	uint32_t found = object.count;

	for (uint32_t i = 0; i < object.count; i++)
		names[i] = {fingerprint(members[i].key), i};
	std::sort(names, names + object.count, [members](const sortable &a, const sortable &b) {
		int order;

		if (a.hash != b.hash)
			return a.hash < b.hash;
		order = str_cmp(members[a.index].key, members[b.index].key);
		return order != 0 ? order < 0 : a.index < b.index;
	});
	for (uint32_t i = 1; i < object.count; i++)
		if (names[i].hash == names[i - 1].hash &&
		    str_eq(members[names[i].index].key, members[names[i - 1].index].key))
			found = std::min(found, names[i].index);
	free(names);
	return found;
}

uint32_t find_duplicate_pairwise(const struct json &object)
{
	for (uint32_t i = 1; i < object.count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (str_eq(object.members[i].key, object.members[k].key))
				return i;
	return object.count;
}

outcome check_names(converter &c, const struct json &object, uint32_t first_token)
{
	uint32_t found = object.count <= PAIRWISE_MAX ? find_duplicate_pairwise(object) : find_duplicate_sorted(object);

	return found == object.count ? outcome::good : duplicate_found(c, object, found, first_token);
}

/* --- Values --- */

outcome convert(converter &c, dom::element element, int depth, struct json &ret);

/* dom::array or dom::object. */
template <typename container> uint32_t count_parts(container parts)
{
	size_t count = parts.size();

	if (count < COUNT_SATURATED)
		return static_cast<uint32_t>(count);
	count = 0;
	for (auto it = parts.begin(); it != parts.end(); ++it)
		count++;
	return static_cast<uint32_t>(count);
}

outcome convert_array(converter &c, dom::array array, int depth, struct json &ret)
{
	uint32_t count = count_parts(array), i = 0;

	ret.type = JSON_ARRAY;
	ret.count = count;
	ret.items = nullptr;
	if (count == 0)
		return outcome::good;
	ret.items = static_cast<struct json *>(arena_alloc(c.arena, count * sizeof(*ret.items)));
	for (dom::element item : array) {
		outcome result = convert(c, item, depth, ret.items[i++]);

		if (result != outcome::good)
			return result;
	}
	assert(i == count);
	return outcome::good;
}

outcome convert_object(converter &c, dom::object object, int depth, struct json &ret)
{
	uint32_t count = count_parts(object), i = 0, first_token = c.tokens;

	ret.type = JSON_OBJECT;
	ret.count = count;
	ret.members = nullptr;
	if (count == 0)
		return outcome::good;
	ret.members = static_cast<struct json_member *>(arena_alloc(c.arena, count * sizeof(*ret.members)));
	for (dom::key_value_pair field : object) {
		struct json_member &member = ret.members[i++];
		outcome result;

		member.key = copy_string(c, field.key);
		c.tokens++;
		result = convert(c, field.value, depth, member.value);
		if (result != outcome::good)
			return result;
	}
	assert(i == count);
	return check_names(c, ret, first_token);
}

outcome convert_int(int64_t value, struct json &ret)
{
	if (value < -JSON_INT_MAX || value > JSON_INT_MAX)
		return outcome::refused;
	ret.type = JSON_INT;
	ret.i = value;
	return outcome::good;
}

/* From 2^53 up to 1e21 it would be written, and then read, as an integer that is out of range. */
outcome convert_double(double value, struct json &ret)
{
	double magnitude = value < 0 ? -value : value;

	if (magnitude > static_cast<double>(JSON_INT_MAX) && magnitude < 1e21)
		return outcome::refused;
	ret.type = JSON_DOUBLE;
	ret.d = value;
	return outcome::good;
}

/* depth counts the containers around the element. A getter cannot fail once the type is known, so the error that each
 * of them returns is not looked at. */
outcome convert(converter &c, dom::element element, int depth, struct json &ret)
{
	dom::element_type type = element.type();

	c.tokens++;
	ret.count = 0;
	switch (type) {
	case dom::element_type::ARRAY:
		if (depth == c.max_depth)
			return outcome::refused;
		return convert_array(c, element.get_array().value_unsafe(), depth + 1, ret);
	case dom::element_type::OBJECT:
		if (depth == c.max_depth)
			return outcome::refused;
		return convert_object(c, element.get_object().value_unsafe(), depth + 1, ret);
	case dom::element_type::INT64:
		return convert_int(element.get_int64().value_unsafe(), ret);
	case dom::element_type::DOUBLE:
		return convert_double(element.get_double().value_unsafe(), ret);
	case dom::element_type::STRING:
		ret.type = JSON_STRING;
		ret.s = copy_string(c, element.get_string().value_unsafe());
		return outcome::good;
	case dom::element_type::BOOL:
		ret.type = JSON_BOOL;
		ret.boolean = element.get_bool().value_unsafe();
		return outcome::good;
	case dom::element_type::NULL_VALUE:
		ret.type = JSON_NULL;
		return outcome::good;
	default:
		/* UINT64: more than an int64_t holds. */
		return outcome::refused;
	}
}

/* --- The parser of the thread --- */

thread_local std::unique_ptr<dom::parser> thread_parser;

/* Room for a text of len bytes. Capacities are powers of two, so that a row of growing texts does not make each of them
 * allocate. The depth is ours to check; simdjson's limit, which counts a little differently, only has to be higher. */
dom::parser &parser_for(size_t len)
{
	size_t capacity = FIRST_TEXT_MAX;

	while (capacity < len && capacity < RETAINED_TEXT_MAX)
		capacity *= 2;
	capacity = std::max(capacity, len);
	if (!thread_parser) {
		/* Some of what follows throws in functions that must not: nobody could catch it. */
		std::set_new_handler([] { mem_exhausted(0); });
		thread_parser.reset(new (std::nothrow) dom::parser());
	}
	if (thread_parser->capacity() < capacity && thread_parser->allocate(capacity, JSON_DEPTH_MAX + 8))
		mem_exhausted(capacity);
	return *thread_parser;
}

/* --- Errors --- */

void explain_duplicate(struct str text, const converter &c, struct json_error *ret_error)
{
	struct str shown = c.duplicate_name;
	bool cut = shown.n > NAME_SHOWN_BYTES;

	if (cut) {
		shown.n = NAME_SHOWN_BYTES;
		shown.n = str_utf8_prefix(shown);
	}
	json_scan_report(text, json_scan_token(text, c.duplicate_token), ret_error, "duplicate_key",
			 "The name \"%.*s%s\" stands twice in one object", STR_ARG(shown), cut ? "…" : "");
}

/* What simdjson or the converter refused, the scanner explains. Should it find nothing, the refusal stands. */
void explain(struct str text, int max_depth, simdjson::error_code error, struct json_error *ret_error)
{
	if (!json_scan(text, max_depth, ret_error))
		return;
	*ret_error = {};
	ret_error->code = "invalid_json";
	snprintf(ret_error->detail, sizeof(ret_error->detail), "The text is not JSON: %s",
		 simdjson::error_message(error));
}

outcome parse(struct str text, converter &c, struct json &ret, simdjson::error_code &ret_error)
{
	dom::parser &parser = parser_for(text.n);
	dom::element root;

	/* simdjson reads a little beyond the end, and so reads a copy in a buffer of its own with room there. Copying
	 * takes 1 to 2 % of its time for a text of 3 KB, 9 % for one of 850 KB. */
	ret_error = parser.parse(text.p, text.n, true).get(root);
	if (ret_error == simdjson::MEMALLOC)
		mem_exhausted(text.n);
	if (ret_error)
		return outcome::refused;
	/* A string of the tree with its NUL is never longer than it was in the text with its quotes. */
	c.strings = static_cast<char *>(arena_alloc(c.arena, text.n));
	c.strings_end = c.strings + text.n;
	return convert(c, root, 0, ret);
}

}

const char *json_library_version(void)
{
	static const std::string version = std::to_string(int{simdjson::SIMDJSON_VERSION_MAJOR}) + "." +
					   std::to_string(int{simdjson::SIMDJSON_VERSION_MINOR}) + "." +
					   std::to_string(int{simdjson::SIMDJSON_VERSION_REVISION});

	return version.c_str();
}

bool json_parse(struct str text, int max_depth, struct arena *arena, struct json *ret, struct json_error *ret_error)
{
	simdjson::error_code error = simdjson::EMPTY;
	outcome result = outcome::refused;
	struct json tree = {};
	converter c = {};

	c.arena = arena;
	c.max_depth = std::min<int>(max_depth, JSON_DEPTH_MAX);
	/* Newer releases of simdjson skip a byte order mark. */
	if (text.n > 0 && !str_has_prefix(text, STR("\xef\xbb\xbf")))
		result = parse(text, c, tree, error);
	if (result == outcome::duplicate)
		explain_duplicate(text, c, ret_error);
	else if (result == outcome::refused)
		explain(text, c.max_depth, error, ret_error);
	else
		*ret = tree;
	if (text.n > RETAINED_TEXT_MAX)
		thread_parser.reset();
	return result == outcome::good;
}

/* The text is copied into a buffer that only parse reaches, so blanks of the same length go there; strings are copied
 * into another, of which simdjson takes at most 5 bytes for 3 of the text. */
void json_forget(size_t len)
{
	char *blanks;

	if (!thread_parser || len == 0 || len > RETAINED_TEXT_MAX)
		return;
	blanks = static_cast<char *>(mem_alloc(len));
	memset(blanks, ' ', len);
	(void)thread_parser->parse(blanks, len, true).error();
	free(blanks);
	if (thread_parser->doc.string_buf)
		mem_wipe(thread_parser->doc.string_buf.get(), 5 * len / 3);
}
