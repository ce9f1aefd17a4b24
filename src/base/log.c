#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <unistd.h>

enum { LOG_LINE_MAX = 16384 };

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static const char *const level_colors[] = {"\033[2m", "", "\033[33m", "\033[31m"};

void log_init(struct log *log, int fd, enum log_level level, enum log_format format)
{
	bool terminal = isatty(fd) == 1;

	log->fd = fd;
	log->level = level;
	log->json = format == LOG_JSON || (format == LOG_AUTO && !terminal);
	log->color = terminal && !log->json;
}

bool log_level_parse(struct str name, enum log_level *ret)
{
	for (int i = 0; i < 4; i++) {
		if (!str_is(name, level_names[i]))
			continue;
		*ret = (enum log_level)i;
		return true;
	}
	return false;
}

/* Control characters are escaped in both forms, so that a hostile name cannot forge a line or move the cursor. What is
 * not UTF-8 becomes U+FFFD: a line with it would not be JSON. */
static void put_escaped(struct buf *line, struct str s)
{
	for (size_t at = 0; at < s.n;) {
		bool ok;
		size_t len = utf8_first(str_sub(s, at, s.n), &ok);
		unsigned char c = (unsigned char)s.p[at];

		if (!ok)
			buf_puts(line, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			buf_printf(line, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(line, "\\u%04x", c);
		else
			buf_put(line, str_sub(s, at, at + len));
		at += len;
	}
}

static void put_quoted(struct buf *line, struct str s)
{
	buf_putc(line, '"');
	put_escaped(line, s);
	buf_putc(line, '"');
}

static void format_json(struct buf *line, const char *when, enum log_level level, const char *message,
			const struct log_field fields[LOG_FIELDS_MAX])
{
	buf_printf(line, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":", when, level_names[level]);
	put_quoted(line, str_of(message));
	for (const struct log_field *f = fields; f < fields + LOG_FIELDS_MAX && f->key; f++) {
		buf_printf(line, ",\"%s\":", f->key);
		if (f->is_number)
			buf_printf(line, "%lld", (long long)f->number);
		else
			put_quoted(line, f->text);
	}
	buf_puts(line, "}\n");
}

static bool needs_quotes(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == '"' || s.p[i] == '=' || s.p[i] == 0x7f)
			return true;
	return s.n == 0 || utf8_valid_length(s) < s.n;
}

static void format_text(struct buf *line, bool color, const char *when, enum log_level level,
			const char *message, const struct log_field fields[LOG_FIELDS_MAX])
{
	buf_printf(line, "%.*s %s%-5s%s %s", 8, when + 11, color ? level_colors[level] : "", level_names[level],
		   color && level_colors[level][0] ? "\033[0m" : "", message);
	for (const struct log_field *f = fields; f < fields + LOG_FIELDS_MAX && f->key; f++) {
		buf_printf(line, " %s=", f->key);
		if (f->is_number)
			buf_printf(line, "%lld", (long long)f->number);
		else if (needs_quotes(f->text))
			put_quoted(line, f->text);
		else
			buf_put(line, f->text);
	}
	buf_putc(line, '\n');
}

void log_fields(const struct log *log, enum log_level level, const char *message,
		const struct log_field fields[LOG_FIELDS_MAX])
{
	char when[CLOCK_TEXT_SIZE];
	struct buf line;

	if (log == NULL || level < log->level)
		return;
	clock_format(clock_wall_ms(), when);
	buf_init(&line, LOG_LINE_MAX);
	if (log->json)
		format_json(&line, when, level, message, fields);
	else
		format_text(&line, log->color, when, level, message, fields);
	if (buf_overflowed(&line)) {
		buf_clear(&line);
		buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":\"(line too long to log)\"}\n", when,
			   level_names[level]);
	}
	if (write(log->fd, line.data, line.len) < 0) {
		/* A log that cannot be written has nowhere to say so. */
	}
	buf_release(&line);
}
