#include "core/envelope/repack.h"

#include "codec/json_set.h"
#include "core/envelope/render.h"

struct json repack_waivers(const struct json *waived, const struct json *before, struct arena *arena)
{
	struct json *items = arena_calloc(arena, waived->count + 1, sizeof(*items));
	struct json_set known;
	uint32_t count = 0;

	json_set_init(&known, before);
	for (uint32_t i = 0; waived->type == JSON_ARRAY && i < waived->count; i++)
		if (!json_set_has(&known, &waived->items[i]))
			items[count++] = waived->items[i];
	json_set_release(&known);
	return (struct json){.type = JSON_ARRAY, .count = count, .items = items};
}

/* A step that says more was not made of a decision. */
static bool is_decision_of(const struct json *step, struct str agent)
{
	const struct json *by = json_get(step, "agent");

	return by && by->type == JSON_STRING && str_eq(by->s, agent) && json_get(step, "action") &&
	       json_get(step, "decision") &&
	       json_get(step, "why") == NULL && json_get(step, "memory_id") == NULL;
}

struct json repack_decisions(const struct json *history, const struct json *open_decisions, struct str from,
			     struct arena *arena)
{
	struct json *items = arena_calloc(arena, history->count + 1, sizeof(*items));
	struct json_set open;
	uint32_t count = 0;

	json_set_init(&open, open_decisions);
	for (uint32_t i = 0; i < history->count; i++) {
		const struct json *step = &history->items[i], *action = json_get(step, "action");
		struct json_member *m;

		if (!is_decision_of(step, from.p ? from : STR("unknown")) || json_set_has(&open, action))
			continue;
		m = arena_calloc(arena, 2, sizeof(*m));
		m[0] = (struct json_member){STR("decision"), *action};
		m[1] = (struct json_member){STR("outcome"), *json_get(step, "decision")};
		items[count] = (struct json){.type = JSON_OBJECT, .count = 2, .members = m};
		count++;
	}
	json_set_release(&open);
	return (struct json){.type = JSON_ARRAY, .count = count, .items = items};
}

/* Without blanks and ends of lines around it. */
static struct str without_lines(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]))
		s = str_sub(s, 1, s.n);
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Its memories may have been forgotten since, and then the prompt is another one: such a context is known by its first
 * paragraphs, which name the envelope, and goes as a whole. */
struct str repack_context(struct str context, const struct envelope *parent, struct arena *arena)
{
	struct str prompt, head;
	struct buf out;
	const char *end;

	buf_init(&out, RENDER_MAX_BYTES);
	render_prompt(parent, &out);
	/* Who adds a line may have taken away the blank ones at the end. */
	prompt = without_lines(arena_str(arena, buf_str(&out)));
	buf_release(&out);
	end = memmem(prompt.p, prompt.n, "\n## ", 4);
	head = str_sub(prompt, 0, end ? (size_t)(end - prompt.p) : prompt.n);
	if (str_has_prefix(context, prompt))
		context = without_lines(str_sub(context, prompt.n, context.n));
	else if (str_has_prefix(context, head))
		context = STR_NULL;
	return context.n ? context : STR_NULL;
}
