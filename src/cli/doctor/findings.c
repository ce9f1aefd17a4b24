#include "cli/doctor/findings.h"

#include "cli/show/show.h"
#include "codec/json_member.h"

#include <stdarg.h>

enum { SAYS_MAX_BYTES = 16 * 1024, DOCUMENT_MAX_BYTES = 16 << 20, INDENT = 10, WIDTH_MIN = 40 };

static const char *const level_names[] = {"ok", "note", "warning", "critical"};
static const enum term_style level_styles[] = {TERM_GREEN, TERM_PLAIN, TERM_YELLOW, TERM_RED};

void findings_init(struct findings *f, struct cli *cli)
{
	*f = (struct findings){.cli = cli};
	f->last = &f->first;
}

void findings_add(struct findings *f, enum finding_level level, const char *about, const char *todo,
		  const char *format, ...)
{
	struct finding *one = arena_zalloc(f->cli->arena, sizeof(*one));
	struct buf says;
	va_list args;

	buf_init(&says, SAYS_MAX_BYTES);
	va_start(args, format);
	buf_vprintf(&says, format, args);
	va_end(args);
	*one = (struct finding){
		.level = level, .about = about, .says = cli_keep(f->cli->arena, &says),
		.todo = todo ? str_of(todo) : STR(""),
	};
	*f->last = one;
	f->last = &one->next;
	f->counts[level]++;
}

static void print_json(const struct findings *f)
{
	struct json_writer w;
	struct buf out;

	buf_init(&out, DOCUMENT_MAX_BYTES);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_bool(&w, "ok", f->counts[FINDING_WARNING] + f->counts[FINDING_CRITICAL] == 0);
	json_key(&w, "findings");
	json_begin_array(&w);
	for (const struct finding *one = f->first; one; one = one->next) {
		json_begin_object(&w);
		json_member_cstr(&w, "about", one->about);
		json_member_cstr(&w, "level", level_names[one->level]);
		json_member_str(&w, "says", term_line(f->cli->arena, one->says));
		json_member_optional(&w, "do", one->todo.n ? term_line(f->cli->arena, one->todo) : STR_NULL);
		json_end_object(&w);
	}
	json_end_array(&w);
	json_end_object(&w);
	cli_write_json_buf(f->cli, &out);
}

/* "critical  disk      …", and below it what to do. */
static void put_finding(const struct cli *cli, const struct finding *one, struct buf *out)
{
	size_t width = cli->out.width > WIDTH_MIN ? cli->out.width : WIDTH_MIN;
	enum term_style style = level_styles[one->level];

	if (!cli->out.is_terminal)
		width = SIZE_MAX;
	buf_printf(out, "%s%-8s%s  %-8s  ", term_on(&cli->out, style), level_names[one->level],
		   term_off(&cli->out, style), one->about);
	term_fill(out, term_line(cli->arena, one->says), 2 * INDENT, 2 * INDENT, width);
	buf_putc(out, '\n');
	if (one->todo.n == 0)
		return;
	buf_printf(out, "%*s-> ", 2 * INDENT, "");
	term_fill(out, term_line(cli->arena, one->todo), 2 * INDENT + 3, 2 * INDENT + 3, width);
	buf_putc(out, '\n');
}

void findings_print(const struct findings *f)
{
	size_t wrong = f->counts[FINDING_WARNING] + f->counts[FINDING_CRITICAL];
	struct buf out;

	if (cli_is_json(f->cli)) {
		print_json(f);
		return;
	}
	buf_init(&out, DOCUMENT_MAX_BYTES);
	for (const struct finding *one = f->first; one; one = one->next)
		put_finding(f->cli, one, &out);
	if (wrong)
		buf_printf(&out, "\n%zu thing%s to do\n", wrong, wrong == 1 ? "" : "s");
	else
		buf_puts(&out, "\nall well\n");
	cli_write_buf(&out);
}
