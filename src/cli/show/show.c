#include "cli/show/show.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/table.h"
#include "cli/when.h"

#include <stdio.h>

enum { SHOW_MAX_BYTES = 512 * 1024 * 1024, PREVIEW_BYTES = 1024, METADATA_COLUMNS = 400 };

/* --- Tables --- */

/* The summary, or else the beginning of the content. */
static struct str cell_preview(const struct column_item *item, const char *key)
{
	struct str text = ask_str(item->json, key);

	if (text.n == 0)
		text = ask_str(item->json, "content");
	if (text.n > PREVIEW_BYTES) {
		text.n = PREVIEW_BYTES;
		while (text.n > 0 && ((unsigned char)text.p[text.n] & 0xC0) == 0x80)
			text.n--;
		text = arena_printf(item->arena, "%.*s…", STR_ARG(text));
	}
	return term_line(item->arena, text);
}

/* What is as usual is not worth a column. */
static struct str unless(struct str text, const char *usual)
{
	return str_is(text, usual) ? STR("") : text;
}

static struct str cell_state(const struct column_item *item, const char *key)
{
	return term_line(item->arena, unless(ask_str(item->json, key), "active"));
}

static struct str cell_importance(const struct column_item *item, const char *key)
{
	return term_line(item->arena, unless(ask_str(item->json, key), "medium"));
}

static struct str cell_pin(const struct column_item *item, const char *key)
{
	return ask_bool(item->json, key) ? STR("pin") : STR("");
}

static struct str cell_trust(const struct column_item *item, const char *key)
{
	return term_line(item->arena, unless(ask_str(item->json, key), "agent"));
}

static struct str cell_score(const struct column_item *item, const char *key)
{
	return json_get(item->json, key) ? arena_printf(item->arena, "%.2f", ask_number(item->json, key)) : STR("");
}

static struct str cell_explanation(const struct column_item *item, const char *key)
{
	const struct json *explain = json_get(item->json, key), *terms = ask_array(explain, "terms");
	const struct cli *cli = item->cli;
	struct buf out;

	if (explain == NULL)
		return STR("");
	buf_init(&out, 1 << 20);
	buf_printf(&out, "    %s(text %.3f + neighbours %.3f) × (1 + importance %.2f + pinned %.2f + recency %.3f)",
		   term_on(&cli->out, TERM_DIM), ask_number(explain, "text"), ask_number(explain, "neighbours"),
		   ask_number(explain, "importance"), ask_number(explain, "pinned"), ask_number(explain, "recency"));
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct json *term = &terms->items[i];

		buf_puts(&out, i == 0 ? ": " : ", ");
		term_put_line(&out, ask_str(term, "term"), 60);
		buf_printf(&out, " %.3f", ask_number(term, "score"));
		if (ask_int(term, "count", 1) > 1)
			buf_printf(&out, " (%lld times)", (long long)ask_int(term, "count", 1));
	}
	buf_printf(&out, "%s\n", term_off(&cli->out, TERM_DIM));
	return cli_keep(item->arena, &out);
}

const struct column memory_columns[] = {
	{"ID", "id", .style = TERM_CYAN},
	{"SCORE", "score", cell_score, .right = true},
	{"AGE", "created_at", cell_age, .right = true},
	{"STATE", "state", cell_state, .style = TERM_YELLOW},
	{"PIN", "pinned", cell_pin, .style = TERM_YELLOW},
	{"IMPORTANCE", "importance", cell_importance, .style = TERM_PLAIN},
	{"KIND", "kind", .style = TERM_PLAIN},
	{"AGENT", "agent", .style = TERM_PLAIN},
	{"TRUST", "trust", cell_trust, .style = TERM_YELLOW},
	{"FLAGS", "flags", cell_flags, .style = TERM_YELLOW},
	{"TEXT", "summary", cell_preview, .style = TERM_PLAIN},
	{"", "explain", cell_explanation, .is_below = true},
	{0},
};

const struct column version_columns[] = {
	{"VERSION", NULL, cell_version, .style = TERM_CYAN},
	{"CHANGED", "updated_at", cell_age, .right = true},
	{"STATE", "state", cell_state, .style = TERM_YELLOW},
	{"FLAGS", "flags", cell_flags, .style = TERM_YELLOW},
	{"TEXT", "summary", cell_preview, .style = TERM_PLAIN},
	{0},
};

void show_rows(const struct cli *cli, const struct table *table)
{
	struct buf out;

	buf_init(&out, SHOW_MAX_BYTES);
	table_print(table, &cli->out, &out);
	cli_write_buf(&out);
}

/* --- One memory --- */

void show_fact(struct buf *out, const char *before, struct str text)
{
	if (text.n == 0)
		return;
	buf_puts(out, before);
	term_put_line(out, text, SIZE_MAX);
}

static void put_head(const struct cli *cli, struct buf *out, const struct json *m)
{
	buf_printf(out, "%s", term_on(&cli->out, TERM_CYAN));
	term_put_line(out, ask_str(m, "id"), SIZE_MAX);
	buf_printf(out, "@%lld%s", (long long)ask_int(m, "version", 0), term_off(&cli->out, TERM_CYAN));
	show_fact(out, "  ", ask_str(m, "kind"));
	show_fact(out, "  ", unless(ask_str(m, "importance"), "medium"));
	if (ask_bool(m, "pinned"))
		buf_puts(out, "  pinned");
	if (!str_is(ask_str(m, "state"), "active")) {
		buf_printf(out, "  %s", term_on(&cli->out, TERM_YELLOW));
		term_put_line(out, ask_str(m, "state"), SIZE_MAX);
		show_fact(out, " by ", ask_str(m, "superseded_by"));
		buf_puts(out, term_off(&cli->out, TERM_YELLOW));
	}
	if (ask_int(m, "current_version", 0) > 0)
		buf_printf(out, "  (the newest version is %lld)", (long long)ask_int(m, "current_version", 0));
	buf_putc(out, '\n');
}

static void put_times(const struct cli *cli, struct buf *out, const struct json *m)
{
	struct str created = ask_str(m, "created_at"), updated = ask_str(m, "updated_at");
	int64_t now_ms = clock_wall_ms();

	show_fact(out, "created ", created);
	show_fact(out, ", age ", when_age(cli->arena, created, now_ms));
	if (!str_eq(created, updated))
		show_fact(out, ", changed ", updated);
	show_fact(out, ", expires ", ask_str(m, "expires_at"));
	show_fact(out, ", by ", ask_str(m, "agent"));
	show_fact(out, ", trust ", unless(ask_str(m, "trust"), "agent"));
	show_fact(out, ", task ", ask_str(m, "task"));
	show_fact(out, ", supersedes ", ask_str(m, "supersedes"));
	buf_putc(out, '\n');
}

/* "http, key-7, memory-spine-python/0.1.0" */
static void put_way(struct buf *out, const char *before, const struct json *way)
{
	if (way == NULL || way->type != JSON_OBJECT)
		return;
	show_fact(out, before, ask_str(way, "protocol"));
	show_fact(out, ", ", ask_str(way, "key"));
	show_fact(out, ", ", ask_str(way, "client"));
}

/* How it came, as the server saw it; of one that was moved here also what the file told. */
static void put_origin(struct buf *out, const struct json *m)
{
	const struct json *origin = json_get(m, "origin");

	if (origin == NULL || origin->type != JSON_OBJECT)
		return;
	put_way(out, "origin ", origin);
	put_way(out, "; its file says ", json_get(origin, "claimed"));
	buf_putc(out, '\n');
}

static void put_warning(const struct cli *cli, struct buf *out, const struct json *m)
{
	const struct column_item item = {.cli = cli, .arena = cli->arena, .json = m};
	struct str flags = cell_flags(&item, "flags");

	if (flags.n)
		buf_printf(out, "%s%sflags %.*s (characters that nobody sees stand in it; here they are shown as "
			   "\\u200b)%s%s\n", term_off(&cli->out, TERM_DIM), term_on(&cli->out, TERM_YELLOW),
			   STR_ARG(flags), term_off(&cli->out, TERM_YELLOW), term_on(&cli->out, TERM_DIM));
}

static void put_tags(struct buf *out, const struct json *m)
{
	const struct json *tags = ask_array(m, "tags");

	for (uint32_t i = 0; i < tags->count; i++)
		if (tags->items[i].type == JSON_STRING)
			show_fact(out, i == 0 ? "tags " : ", ", tags->items[i].s);
	if (tags->count)
		buf_putc(out, '\n');
}

static void put_metadata(struct buf *out, const struct json *m)
{
	const struct json *metadata = json_get(m, "metadata");
	struct json_writer w;
	struct buf text;

	if (metadata == NULL || metadata->type != JSON_OBJECT || metadata->count == 0)
		return;
	buf_init(&text, 1 << 20);
	json_writer_init(&w, &text);
	json_put(&w, metadata);
	buf_puts(out, "metadata ");
	term_put_line(out, buf_str(&text), METADATA_COLUMNS);
	buf_putc(out, '\n');
	buf_release(&text);
}

static void show_memory(const struct cli *cli, const struct json *m)
{
	struct str content = ask_str(m, "content"), summary = ask_str(m, "summary");
	struct buf out;

	buf_init(&out, SHOW_MAX_BYTES);
	put_head(cli, &out, m);
	buf_puts(&out, term_on(&cli->out, TERM_DIM));
	put_times(cli, &out, m);
	put_origin(&out, m);
	put_warning(cli, &out, m);
	put_tags(&out, m);
	put_metadata(&out, m);
	if (summary.n) {
		show_fact(&out, "summary ", summary);
		buf_putc(&out, '\n');
	}
	buf_printf(&out, "%s\n", term_off(&cli->out, TERM_DIM));
	term_put_text(&out, content);
	if (content.n && content.p[content.n - 1] != '\n')
		buf_putc(&out, '\n');
	cli_write_buf(&out);
}

void show_memories(const struct cli *cli, const struct json *memories)
{
	for (uint32_t i = 0; i < memories->count; i++) {
		if (i > 0)
			cli_write(STR("\n"));
		show_memory(cli, &memories->items[i]);
	}
}

void show_version(const struct cli *cli, const struct json *memory)
{
	struct str id = term_line(cli->arena, ask_str(memory, "id"));

	cli_write(arena_printf(cli->arena, "%.*s@%lld\n", STR_ARG(id), (long long)ask_int(memory, "version", 0)));
}

void show_text(const struct cli *cli, struct str text)
{
	struct buf safe;

	if (!cli->out.is_terminal) {
		cli_write(text);
		return;
	}
	buf_init(&safe, text.n * 6 + 1);
	term_put_text(&safe, text);
	cli_write_buf(&safe);
}

void show_texts(const struct cli *cli, const struct json *memories)
{
	for (uint32_t i = 0; i < memories->count; i++)
		show_text(cli, ask_str(&memories->items[i], "content"));
}

int show_missing(const struct cli *cli, const struct json *answer)
{
	const struct json *missing = ask_array(answer, "missing");
	const char *space = ask_said_space(cli);

	for (uint32_t i = 0; i < missing->count; i++) {
		struct str id = ask_str(&missing->items[i], "id"), reason = ask_str(&missing->items[i], "reason");

		if (str_is(reason, "forgotten"))
			cli_error(cli, "%.*s was forgotten; its content is gone for good", STR_ARG(id));
		else if (str_is(reason, "quarantined"))
			cli_error(cli, "%.*s is in quarantine: see spine quarantine", STR_ARG(id));
		else if (str_is(reason, "not_given"))
			cli_error(cli, "%.*s was not given by the server; get it by itself", STR_ARG(id));
		else if (space)
			cli_error(cli, "%.*s does not exist in the space \"%s\"", STR_ARG(id), space);
		else
			cli_error(cli, "%.*s does not exist in this space", STR_ARG(id));
	}
	return missing->count ? CLI_NOT_FOUND : CLI_OK;
}

void show_title(const struct cli *cli, struct str id, struct str text)
{
	struct str name = term_line(cli->arena, id), about = term_line(cli->arena, text);

	cli_write(arena_printf(cli->arena, "%s%.*s%s%s%.*s\n", term_on(&cli->out, TERM_CYAN), STR_ARG(name),
			       term_off(&cli->out, TERM_CYAN), about.n ? ": " : "", STR_ARG(about)));
}

/* --- Any object --- */

struct str show_size(struct arena *arena, int64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double amount = (double)bytes;
	size_t unit = 0;

	for (; amount >= 1024 && unit < 4; unit++)
		amount /= 1024;
	return arena_printf(arena, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

static void put_duration(struct buf *out, int64_t s)
{
	if (s >= 86400)
		buf_printf(out, "%lldd ", (long long)(s / 86400));
	if (s >= 3600)
		buf_printf(out, "%lldh ", (long long)(s / 3600 % 24));
	if (s >= 60)
		buf_printf(out, "%lldm ", (long long)(s / 60 % 60));
	buf_printf(out, "%llds", (long long)(s % 60));
}

/* A number is shown by the unit that its name ends with. */
static struct str value_text(const struct cli *cli, struct str key, const struct json *value)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, 1 << 20);
	json_writer_init(&w, &out);
	if (value->type == JSON_STRING)
		buf_put(&out, value->s);
	else if (value->type == JSON_INT && (str_has_suffix(key, STR("_bytes")) || str_is(key, "bytes")))
		buf_put(&out, show_size(cli->arena, value->i));
	else if (value->type == JSON_INT && str_has_suffix(key, STR("_s")))
		put_duration(&out, value->i);
	else if (value->type == JSON_INT && str_has_suffix(key, STR("_ms")))
		put_duration(&out, value->i / 1000);
	else
		json_put(&w, value);
	return cli_keep(cli->arena, &out);
}

/* Names such as "store.size_bytes" lose the unit that their value now shows. */
static struct str label_text(const struct cli *cli, struct str prefix, struct str key, const struct json *value)
{
	static const char *const units[] = {"_bytes", "_ms", "_s", NULL};

	for (const char *const *u = units; *u && value->type == JSON_INT; u++)
		if (str_has_suffix(key, str_of(*u))) {
			key.n -= strlen(*u);
			break;
		}
	return arena_printf(cli->arena, "%.*s%s%.*s", STR_ARG(prefix), prefix.n ? " " : "", STR_ARG(key));
}

static struct show_word word_of(const struct cli *cli, const struct show_word *words, struct str name)
{
	for (; words && words->name; words++)
		if (str_is(name, words->name))
			return *words;
	return (struct show_word){.label = arena_cstr(cli->arena, name)};
}

static void add_members(const struct cli *cli, struct table *table, const struct show_word *words, struct str prefix,
			const struct json *object, int depth)
{
	for (uint32_t i = 0; i < object->count; i++) {
		const struct json_member *m = &object->members[i];
		struct str name = label_text(cli, prefix, m->key, &m->value);
		struct show_word word;
		struct table_row *row;

		if (m->value.type == JSON_OBJECT && depth < 4) {
			add_members(cli, table, words, name, &m->value, depth + 1);
			continue;
		}
		word = word_of(cli, words, name);
		row = table_add(table);
		table_set(table, row, 0, str_of(word.label));
		table_set(table, row, 1, m->value.type == JSON_NULL && word.none ? str_of(word.none) :
					 value_text(cli, m->key, &m->value));
	}
}

void show_object(const struct cli *cli, const struct json *object)
{
	show_object_as(cli, object, NULL);
}

void show_object_as(const struct cli *cli, const struct json *object, const struct show_word *words)
{
	static const struct table_column columns[] = {
		{"", false, TERM_DIM}, {"", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	struct table table;

	if (object->type != JSON_OBJECT)
		return;
	table_init(&table, columns, cli->arena);
	add_members(cli, &table, words, STR(""), object, 0);
	show_rows(cli, &table);
}
