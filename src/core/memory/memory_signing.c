#include "core/memory/memory_signing.h"

#include "codec/json.h"

#include <string.h>

enum { TAGS_DEPTH_MAX = 2 };

/* Two optional texts say the same. */
static bool same_text(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

bool memory_is_same(const struct memory *a, const struct memory *b)
{
	return same_text(a->content, b->content) && same_text(a->summary, b->summary) && same_text(a->kind, b->kind) &&
	       same_text(a->tags, b->tags) && same_text(a->agent, b->agent) && same_text(a->task, b->task) &&
	       same_text(a->metadata, b->metadata) && a->importance == b->importance && a->trust == b->trust &&
	       a->expires_at_ms == b->expires_at_ms;
}

/* One word, as it stands bare in a prompt: it names something, and tells a reader nothing to do. */
static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c && strchr("-_./@+", c))))
			return false;
	}
	return true;
}

static bool has_tag(const struct json *tags, struct str tag)
{
	for (uint32_t i = 0; i < tags->count; i++)
		if (tags->items[i].type == JSON_STRING && str_eq(tags->items[i].s, tag))
			return true;
	return false;
}

/* Is there a tag that was not there, and is more than a word? */
static bool tags_say_more(struct str before, struct str after)
{
	struct json old, new;
	struct json_error error;
	struct arena arena;
	bool says = true;

	if (str_eq(before, after))
		return false;
	arena_init(&arena);
	if (json_parse(before, TAGS_DEPTH_MAX, &arena, &old, &error) && old.type == JSON_ARRAY &&
	    json_parse(after, TAGS_DEPTH_MAX, &arena, &new, &error) && new.type == JSON_ARRAY) {
		says = false;
		for (uint32_t i = 0; !says && i < new.count; i++)
			says = new.items[i].type != JSON_STRING ||
			       (!is_word(new.items[i].s) && !has_tag(&old, new.items[i].s));
	}
	arena_release(&arena);
	return says;
}

/* Or does it say of itself whose it is, or how far it is to be trusted? */
static bool says_otherwise(const struct memory *before, const struct memory *after)
{
	return !same_text(before->content, after->content) || !same_text(before->summary, after->summary) ||
	       !same_text(before->agent, after->agent) || before->trust != after->trust ||
	       (!same_text(before->kind, after->kind) && !is_word(after->kind)) ||
	       tags_say_more(before->tags, after->tags);
}

void memory_sign(const struct memory *before, struct memory *after, const struct memory_draft *by)
{
	if (!says_otherwise(before, after))
		return;
	if (by->is_signed)
		after->agent = by->agent;
	if (after->trust < by->trust_max)
		after->trust = by->trust_max;
}
