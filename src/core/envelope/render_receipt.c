/* What the prompt tells of the envelope's receipt: what is not in it, or not in full. */
#include "base/mem.h"
#include "core/envelope/render_internal.h"

/* Of the list of what was left out: a range for so many tokens of the budget, and at least so many. */
enum { LISTED_TOKENS = 40, LISTED_MIN = 8 };

bool *render_hidden_steps(const struct envelope *e)
{
	bool *hidden = mem_zalloc(e->history.count * sizeof(*hidden));

	for (size_t i = 0; i < e->trim_count; i++) {
		struct str id = e->trimmed[i].id;
		uint64_t index;

		if (str_has_prefix(id, STR("history[")) && str_has_suffix(id, STR("]")) &&
		    str_to_u64(str_sub(id, 8, id.n - 1), &index) && index < e->history.count)
			hidden[index] = true;
	}
	return hidden;
}

static bool next_number(const struct envelope *e, size_t i, uint64_t *ret)
{
	struct memory_id id;

	if (i >= e->trim_count || !str_is(e->trimmed[i].form, "none") || !memory_id_parse(e->trimmed[i].id, &id))
		return false;
	*ret = id.num;
	return true;
}

/* Ids in a row are written as a range, so that a long list costs few tokens. */
size_t render_trimmed_ids(const struct envelope *e, struct buf *out, size_t *ret_unlisted)
{
	size_t most = e->max_tokens / LISTED_TOKENS > LISTED_MIN ? (size_t)(e->max_tokens / LISTED_TOKENS) : LISTED_MIN;
	size_t count = 0, listed = 0, ranges = 0;
	uint64_t num, last;

	for (size_t i = 0; i < e->trim_count; i++) {
		size_t run = i;

		if (!next_number(e, i, &num))
			continue;
		last = num;
		while (next_number(e, run + 1, &num) && num == last + 1) {
			last = num;
			run++;
		}
		count += run - i + 1;
		if (ranges++ < most) {
			buf_puts(out, listed ? ", " : "");
			buf_put(out, e->trimmed[i].id);
			if (run > i) {
				buf_puts(out, run > i + 1 ? " to " : ", ");
				buf_put(out, e->trimmed[run].id);
			}
			listed = count;
		}
		i = run;
	}
	*ret_unlisted = count - listed;
	return count;
}

size_t render_best_trimmed(const struct envelope *e, size_t ret_best[RENDER_NAMED])
{
	size_t count = 0;
	uint64_t num;

	for (size_t i = 0; i < e->trim_count; i++) {
		size_t at = count < RENDER_NAMED ? count : RENDER_NAMED;

		/* There was not even room to tell. */
		if (!next_number(e, i, &num) || str_is(e->trimmed[i].reason, "room"))
			continue;
		count++;
		for (; at > 0 && e->trimmed[ret_best[at - 1]].score < e->trimmed[i].score; at--)
			if (at < RENDER_NAMED)
				ret_best[at] = ret_best[at - 1];
		if (at < RENDER_NAMED)
			ret_best[at] = i;
	}
	return count;
}

struct envelope_trim *render_longest_trimmed(const struct envelope *e, struct arena *arena, size_t *ret_count)
{
	enum { MEMORIES = RENDER_NAMED + 1 };
	struct envelope_trim *list = arena_calloc(arena, e->history.count + MEMORIES, sizeof(*list));
	struct str longest = arena_printf(arena, "ms-%llu", (unsigned long long)e->highest);
	size_t count = 0;

	/* An id of as many digits as the highest has, and of as many tokens. */
	memset((char *)longest.p + 3, '8', longest.n - 3);
	for (uint32_t i = 0; i < e->history.count; i++)
		list[count++] = (struct envelope_trim){.id = arena_printf(arena, "history[%u]", i),
						       .form = STR("none")};
	for (size_t i = 0; i < MEMORIES; i++)
		list[count++] = (struct envelope_trim){.id = longest, .form = STR("none")};
	*ret_count = count;
	return list;
}

bool render_has_parts(const struct envelope *e)
{
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].form != FORM_FULL)
			return true;
	return false;
}
