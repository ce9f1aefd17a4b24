#include "cli/show/show_envelope.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/show/columns.h"
#include "cli/show/show.h"
#include "cli/when.h"

enum {
	VIEW_MAX_BYTES = 512 * 1024 * 1024,
	VALUE_MAX_BYTES = 64 * 1024 * 1024,
	PREVIEW_BYTES = 1024,
	LABEL_COLUMNS = 10,
	RECEIPT_LIST_MAX = 20,
};

/* --- Parts --- */

void show_envelope_value(struct buf *out, const struct json *value, size_t max_columns)
{
	struct json_writer w;
	struct buf text;

	if (value == NULL)
		return;
	if (value->type == JSON_STRING) {
		term_put_line(out, value->s, max_columns);
		return;
	}
	buf_init(&text, VALUE_MAX_BYTES);
	json_writer_init(&w, &text);
	json_put(&w, value);
	term_put_line(out, buf_str(&text), max_columns);
	buf_release(&text);
}

struct str show_envelope_from_to(const struct cli *cli, const struct json *hop)
{
	struct str from = ask_str(hop, "from"), to = ask_str(hop, "to");
	struct buf out;

	buf_init(&out, VALUE_MAX_BYTES);
	term_put_line(&out, from.n ? from : STR("(unknown)"), SIZE_MAX);
	show_fact(&out, " -> ", to);
	return cli_keep(cli->arena, &out);
}

static const struct json *member(const struct json *obj, const char *key)
{
	static const struct json none = {.type = JSON_NULL};
	const struct json *value = json_get(obj, key);

	return value ? value : &none;
}

/* "ms-9 left out (310 tokens, budget)" */
static void put_trim(struct buf *out, const struct json *trim)
{
	struct str form = ask_str(trim, "form"), reason = ask_str(trim, "reason");

	term_put_line(out, ask_str(trim, "id"), SIZE_MAX);
	buf_puts(out, str_is(form, "summary") ? " as its summary" :
		      str_is(form, "ref") ? " mentioned only" : " left out");
	buf_printf(out, " (%lld tokens", (long long)ask_int(trim, "tokens", 0));
	show_fact(out, ", ", reason);
	buf_putc(out, ')');
}

static void put_missing(struct buf *out, const struct json *missing)
{
	term_put_line(out, ask_str(missing, "id"), SIZE_MAX);
	show_fact(out, " (", ask_str(missing, "reason"));
	buf_putc(out, ')');
}

static void put_finding(struct buf *out, const struct json *finding)
{
	term_put_line(out, ask_str(finding, "kind"), SIZE_MAX);
	show_fact(out, " in ", ask_str(finding, "where"));
}

static void put_step(struct buf *out, const struct json *step)
{
	show_envelope_value(out, json_get(step, "agent"), SIZE_MAX);
	buf_puts(out, ": ");
	show_envelope_value(out, json_get(step, "action"), SIZE_MAX);
	show_fact(out, ", see ", ask_str(step, "memory_id"));
	if (json_get(step, "decision")) {
		buf_puts(out, "; decided: ");
		show_envelope_value(out, json_get(step, "decision"), SIZE_MAX);
	}
	show_fact(out, "; because: ", ask_str(step, "why"));
}

static void put_waiver(struct buf *out, const struct json *waiver)
{
	term_put_line(out, ask_str(waiver, "key"), SIZE_MAX);
	buf_puts(out, ": ");
	show_envelope_value(out, json_get(waiver, "value"), SIZE_MAX);
	show_fact(out, ", waived by ", ask_str(waiver, "by"));
	buf_printf(out, " at hop %lld", (long long)ask_int(waiver, "at_hop", 0));
	show_fact(out, ": ", ask_str(waiver, "reason"));
}

static void put_news(struct buf *out, const struct json *news)
{
	term_put_line(out, ask_str(news, "id"), SIZE_MAX);
	show_fact(out, " was ", ask_str(news, "event"));
	show_fact(out, " by ", ask_str(news, "by"));
	if (ask_int(news, "version", 0))
		buf_printf(out, " to version %lld", (long long)ask_int(news, "version", 0));
}

static void put_plain(struct buf *out, const struct json *value)
{
	show_envelope_value(out, value, SIZE_MAX);
}

static void put_tokens(struct buf *out, const struct json *budget)
{
	buf_printf(out, "%lld of %lld", (long long)ask_int(budget, "token_count", 0),
		   (long long)ask_int(budget, "max_tokens", 0));
	show_fact(out, ", ", ask_str(budget, "tokenizer"));
	show_fact(out, ", strategy ", ask_str(budget, "strategy"));
}

/* --- What the sender wants to know --- */

/* A label, and the text behind it filled into lines. */
static void put_row(const struct cli *cli, struct buf *out, const char *label, struct str safe)
{
	buf_printf(out, "%s%-*s%s", term_on(&cli->out, TERM_DIM), LABEL_COLUMNS, label, term_off(&cli->out, TERM_DIM));
	term_fill(out, safe, LABEL_COLUMNS, LABEL_COLUMNS, cli->out.width);
	buf_putc(out, '\n');
}

static void put_row_of(const struct cli *cli, struct buf *out, const char *label, const struct json *list,
		       void (*put)(struct buf *out, const struct json *item))
{
	struct buf text;

	if (list->count == 0)
		return;
	buf_init(&text, VALUE_MAX_BYTES);
	for (uint32_t i = 0; i < list->count && i < RECEIPT_LIST_MAX; i++) {
		buf_puts(&text, i ? ", " : "");
		put(&text, &list->items[i]);
	}
	if (list->count > RECEIPT_LIST_MAX)
		buf_printf(&text, " and %u more", list->count - RECEIPT_LIST_MAX);
	put_row(cli, out, label, buf_str(&text));
	buf_release(&text);
}

static uint32_t count_form(const struct json *refs, const char *form)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < refs->count; i++)
		count += str_is(ask_str(&refs->items[i], "form"), form);
	return count;
}

static void put_memory_row(const struct cli *cli, struct buf *out, const struct json *refs)
{
	uint32_t summaries = count_form(refs, "summary"), mentions = count_form(refs, "ref");
	struct buf text;

	buf_init(&text, 4096);
	buf_printf(&text, "%u", refs->count);
	if (summaries + mentions)
		buf_printf(&text, ": %u in full, %u as summaries, %u mentioned", refs->count - summaries - mentions,
			   summaries, mentions);
	put_row(cli, out, "memories", buf_str(&text));
	buf_release(&text);
}

void show_envelope_receipt(const struct cli *cli, const struct json *e)
{
	const struct json *lineage = member(e, "lineage"), *memory = member(e, "memory"), *budget = member(e, "budget");
	struct str id = term_line(cli->arena, ask_str(e, "id"));
	struct buf out, text;

	buf_init(&out, VIEW_MAX_BYTES);
	buf_init(&text, VALUE_MAX_BYTES);
	if (id.n)
		buf_printf(&out, "%s%.*s%s\n", term_on(&cli->out, TERM_CYAN), STR_ARG(id),
			   term_off(&cli->out, TERM_CYAN));
	else
		buf_puts(&out, "(a dry run: nothing was stored)\n");
	put_row(cli, &out, "handoff", show_envelope_from_to(cli, e));
	term_put_line(&text, ask_str(member(e, "task"), "id"), SIZE_MAX);
	buf_printf(&text, ", hop %lld of %lld", (long long)ask_int(lineage, "hop", 0),
		   (long long)ask_int(lineage, "max_hops", 0));
	put_row(cli, &out, "task", buf_str(&text));
	buf_clear(&text);
	put_tokens(&text, budget);
	put_row(cli, &out, "tokens", buf_str(&text));
	put_memory_row(cli, &out, ask_array(memory, "refs"));
	put_row_of(cli, &out, "missing", ask_array(memory, "missing"), put_missing);
	put_row_of(cli, &out, "trimmed", ask_array(budget, "trimmed"), put_trim);
	put_row_of(cli, &out, "redacted", ask_array(member(e, "guard"), "findings"), put_finding);
	if (id.n)
		put_row(cli, &out, "prompt", arena_printf(cli->arena, "spine envelope %.*s --prompt", STR_ARG(id)));
	cli_write_buf(&out);
	buf_release(&text);
}

/* --- All of it --- */

static void put_title(const struct cli *cli, struct buf *out, const char *title)
{
	buf_printf(out, "\n%s%s%s\n", term_on(&cli->out, TERM_BOLD), title, term_off(&cli->out, TERM_BOLD));
}

/* Several lines, each indented, so that none can pass for a title. */
static void put_section(const struct cli *cli, struct buf *out, const char *title, struct str text)
{
	struct buf safe;
	struct str rest;

	if (text.n == 0)
		return;
	put_title(cli, out, title);
	buf_init(&safe, text.n * 6 + 1);
	term_put_text(&safe, text);
	rest = buf_str(&safe);
	while (rest.p) {
		struct str line = str_cut(&rest, '\n');

		buf_puts(out, line.n ? "  " : "");
		buf_put(out, line);
		buf_putc(out, '\n');
	}
	buf_release(&safe);
}

static void put_list(const struct cli *cli, struct buf *out, const char *title, const struct json *list, bool numbered,
		     void (*put)(struct buf *out, const struct json *item))
{
	if (list->type != JSON_ARRAY || list->count == 0)
		return;
	put_title(cli, out, title);
	for (uint32_t i = 0; i < list->count; i++) {
		if (numbered)
			buf_printf(out, "  %u. ", i + 1);
		else
			buf_puts(out, "  - ");
		put(out, &list->items[i]);
		buf_putc(out, '\n');
	}
}

static void put_members(const struct cli *cli, struct buf *out, const char *title, const struct json *object)
{
	if (object->type != JSON_OBJECT || object->count == 0)
		return;
	put_title(cli, out, title);
	for (uint32_t i = 0; i < object->count; i++) {
		show_fact(out, "  ", object->members[i].key);
		buf_puts(out, ": ");
		show_envelope_value(out, &object->members[i].value, SIZE_MAX);
		buf_putc(out, '\n');
	}
}

static void put_head(const struct cli *cli, struct buf *out, const struct json *e)
{
	const struct json *lineage = member(e, "lineage"), *path = ask_array(lineage, "path");

	buf_puts(out, term_on(&cli->out, TERM_CYAN));
	term_put_line(out, ask_str(e, "id"), SIZE_MAX);
	buf_printf(out, "%s  ", term_off(&cli->out, TERM_CYAN));
	buf_put(out, show_envelope_from_to(cli, e));
	show_fact(out, "  ", ask_str(member(e, "task"), "id"));
	buf_printf(out, ", hop %lld of %lld\n%s", (long long)ask_int(lineage, "hop", 0),
		   (long long)ask_int(lineage, "max_hops", 0), term_on(&cli->out, TERM_DIM));
	show_fact(out, "created ", ask_str(e, "created_at"));
	show_fact(out, ", age ", when_age(cli->arena, ask_str(e, "created_at"), clock_wall_ms()));
	show_fact(out, ", continues ", ask_str(lineage, "parent"));
	for (uint32_t i = 0; path->count > 2 && i < path->count; i++) {
		buf_puts(out, i ? " -> " : ", path ");
		show_envelope_value(out, &path->items[i], SIZE_MAX);
	}
	buf_puts(out, "\ntokens ");
	put_tokens(out, member(e, "budget"));
	show_fact(out, "\n", ask_str(e, "digest"));
	buf_printf(out, "%s\n", term_off(&cli->out, TERM_DIM));
}

static struct str cell_text(const struct column_item *item, const char *key)
{
	struct str text = ask_str(item->json, key);

	if (text.n > PREVIEW_BYTES) {
		text.n = str_utf8_prefix(str_sub(text, 0, PREVIEW_BYTES));
		text = arena_printf(item->arena, "%.*s…", STR_ARG(text));
	}
	if (text.p == NULL && !str_is(ask_str(item->json, "form"), "ref"))
		return STR("(forgotten since)");
	return term_line(item->arena, text);
}

static void put_refs(const struct cli *cli, struct buf *out, const struct json *refs)
{
	static const struct column columns[] = {
		{"ID", NULL, cell_version, .style = TERM_CYAN},
		{"WHY", "why", .style = TERM_PLAIN},
		{"FORM", "form", .style = TERM_PLAIN},
		{"TOKENS", "tokens", cell_number, .right = true},
		{"IMPORTANCE", "importance", .style = TERM_PLAIN},
		{"TRUST", "trust", .style = TERM_PLAIN},
		{"KIND", "kind", .style = TERM_PLAIN},
		{"AGENT", "agent", .style = TERM_PLAIN},
		{"TEXT", "text", cell_text, .style = TERM_PLAIN},
		{0},
	};

	if (refs->count == 0)
		return;
	put_title(cli, out, "Memories");
	columns_put(cli, cli->arena, refs, columns, out);
}

void show_envelope(const struct cli *cli, const struct json *e)
{
	const struct json *task = member(e, "task"), *memory = member(e, "memory");
	struct buf out;

	buf_init(&out, VIEW_MAX_BYTES);
	put_head(cli, &out, e);
	put_section(cli, &out, "Intent", ask_str(task, "intent"));
	put_section(cli, &out, "State", ask_str(task, "state"));
	put_section(cli, &out, "Summary", ask_str(task, "summary"));
	put_members(cli, &out, "Constraints", member(e, "constraints"));
	put_list(cli, &out, "Waived", member(e, "waived"), false, put_waiver);
	put_list(cli, &out, "Open decisions", member(task, "open_decisions"), false, put_plain);
	put_members(cli, &out, "Expected output", member(e, "expected_output"));
	put_list(cli, &out, "History", member(e, "history"), true, put_step);
	put_refs(cli, &out, ask_array(memory, "refs"));
	put_list(cli, &out, "Missing", member(memory, "missing"), false, put_missing);
	put_list(cli, &out, "Trimmed", member(member(e, "budget"), "trimmed"), false, put_trim);
	put_list(cli, &out, "Redacted", member(member(e, "guard"), "findings"), false, put_finding);
	put_members(cli, &out, "Extensions", member(e, "extensions"));
	put_list(cli, &out, "Since then", member(e, "since"), false, put_news);
	cli_write_buf(&out);
}
