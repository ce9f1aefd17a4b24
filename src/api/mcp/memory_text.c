#include "api/mcp/memory_text.h"

static struct str text_of(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

static void put_words(const struct json *words, struct buf *out)
{
	for (uint32_t i = 0; words && words->type == JSON_ARRAY && i < words->count; i++)
		if (words->items[i].type == JSON_STRING)
			buf_printf(out, ", #%.*s", STR_ARG(words->items[i].s));
}

/* "ms-12 (fact, by alice, task task-3, #gateway): The gateway answers 429." */
static void put_memory(const struct json *memory, struct buf *out)
{
	struct str agent = text_of(memory, "agent"), task = text_of(memory, "task");
	struct str by = text_of(memory, "superseded_by");

	buf_printf(out, "%.*s (%.*s", STR_ARG(text_of(memory, "id")), STR_ARG(text_of(memory, "kind")));
	if (agent.p)
		buf_printf(out, ", by %.*s", STR_ARG(agent));
	if (task.p)
		buf_printf(out, ", task %.*s", STR_ARG(task));
	put_words(json_get(memory, "tags"), out);
	if (by.p)
		buf_printf(out, ", replaced by %.*s", STR_ARG(by));
	buf_puts(out, "): ");
	buf_put(out, text_of(memory, "content"));
	buf_putc(out, '\n');
}

static void put_missing(const struct json *missing, struct buf *out)
{
	for (uint32_t i = 0; missing && missing->type == JSON_ARRAY && i < missing->count; i++)
		buf_printf(out, "%.*s is not there: %.*s\n", STR_ARG(text_of(&missing->items[i], "id")),
			   STR_ARG(text_of(&missing->items[i], "reason")));
}

void memory_text(const struct json *answer, struct buf *out)
{
	const struct json *memories = json_get(answer, "memories");
	struct str next = text_of(answer, "next_page_token");

	if (json_get(answer, "warnings"))
		return;
	if (memories == NULL) {
		put_memory(answer, out);
		return;
	}
	for (uint32_t i = 0; memories->type == JSON_ARRAY && i < memories->count; i++)
		put_memory(&memories->items[i], out);
	put_missing(json_get(answer, "missing"), out);
	if (next.p)
		buf_printf(out, "There are more: page_token %.*s\n", STR_ARG(next));
	if (out->len == 0)
		buf_puts(out, "Nothing was found.");
}
