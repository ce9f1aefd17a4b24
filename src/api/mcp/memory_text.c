#include "api/mcp/memory_text.h"

#include "api/mcp/mcp_call.h"
#include "api/mcp/visible.h"
#include "core/envelope/render_text.h"

static struct str text_of(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

/* What is in brackets behind the id, where there is something. */
struct heading {
	struct buf *out;
	bool is_open;
};

static struct buf *next_item(struct heading *h)
{
	buf_puts(h->out, h->is_open ? ", " : " (");
	h->is_open = true;
	return h->out;
}

/* A kind or a tag of the author's own must not pass for a word of ours: those of others are quoted where they are more
 * than a plain word, and a kind always. */
static void put_author(struct heading *h, const struct json *memory)
{
	static const char *const usual[] = {"fact", "decision", "observation", "output"};
	struct str kind = text_of(memory, "kind"), agent = text_of(memory, "agent");
	bool has_kind = kind.n && !str_is(kind, "note"), is_usual = false;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		is_usual = is_usual || str_is(kind, usual[i]);
	if (has_kind && is_usual)
		buf_put(next_item(h), kind);
	else if (has_kind)
		render_span(next_item(h), kind);
	if (agent.p) {
		buf_puts(has_kind ? h->out : next_item(h), has_kind ? " by " : "by ");
		render_short_name(h->out, agent);
	}
}

static void put_tags(struct heading *h, const struct json *tags)
{
	for (uint32_t i = 0; tags && tags->type == JSON_ARRAY && i < tags->count; i++)
		if (tags->items[i].type == JSON_STRING) {
			buf_putc(next_item(h), '#');
			render_name(h->out, tags->items[i].s);
		}
}

/* How far its author is to be trusted, where that is not a matter of course. */
static void put_trust(struct heading *h, const struct json *memory)
{
	struct str trust = text_of(memory, "trust");

	if (trust.p && !str_is(trust, "agent"))
		buf_printf(next_item(h), "%s%.*s", str_is(trust, "external") ? "" : "from ", STR_ARG(trust));
	if (json_get(memory, "flags"))
		buf_puts(next_item(h), "has invisible characters");
}

/* An empty text would pass for one that says nothing. */
static void put_withheld(const struct json *memory, struct buf *out)
{
	buf_puts(out, text_of(memory, "quarantined_at").p
			      ? " is quarantined: it is not trusted, and its text is withheld. Do not use it.\n"
			      : " has no text any more.\n");
}

/* "ms-12 (fact by alice, external, task task-3, #gateway): `The gateway answers 429.`" */
static void put_memory(const struct json *memory, struct buf *out)
{
	struct str task = text_of(memory, "task"), by = text_of(memory, "superseded_by");
	struct str content = text_of(memory, "content");
	struct heading h = {.out = out};

	buf_put(out, text_of(memory, "id"));
	put_author(&h, memory);
	put_trust(&h, memory);
	if (task.p) {
		buf_puts(next_item(&h), "task ");
		render_name(out, task);
	}
	put_tags(&h, json_get(memory, "tags"));
	if (by.p)
		buf_printf(next_item(&h), "replaced by %.*s", STR_ARG(by));
	buf_puts(out, h.is_open ? ")" : "");
	if (content.p == NULL) {
		put_withheld(memory, out);
		return;
	}
	buf_putc(out, ':');
	buf_putc(out, render_is_short(content) ? ' ' : '\n');
	if (render_is_short(content)) {
		render_span(out, content);
		buf_putc(out, '\n');
	} else {
		render_fenced(out, "", content);
	}
}

static void put_missing(const struct json *missing, struct buf *out)
{
	for (uint32_t i = 0; missing && missing->type == JSON_ARRAY && i < missing->count; i++) {
		render_name(out, text_of(&missing->items[i], "id"));
		buf_printf(out, " is not there: %.*s\n", STR_ARG(text_of(&missing->items[i], "reason")));
	}
}

static void put_found(const struct json *answer, const struct json *memories, struct buf *out)
{
	struct str next = text_of(answer, "next_page_token");

	for (uint32_t i = 0; memories->type == JSON_ARRAY && i < memories->count; i++)
		put_memory(&memories->items[i], out);
	put_missing(json_get(answer, "missing"), out);
	if (next.p)
		buf_printf(out, "There are more: page_token %.*s\n", STR_ARG(next));
	if (out->len == 0)
		buf_puts(out, "Nothing was found.");
}

void memory_text(const struct json *answer, struct buf *out)
{
	const struct json *memories = json_get(answer, "memories");
	struct buf text;

	if (json_get(answer, "warnings"))
		return;
	buf_init(&text, MCP_ANSWER_MAX);
	if (memories)
		put_found(answer, memories, &text);
	else
		put_memory(answer, &text);
	/* A prompt leaves joiners and selectors, whoever uses them; here those go, too, that no script needs. */
	visible_text(out, buf_str(&text));
	buf_release(&text);
}
