/* Files and listings with columns, whose first line names them: user,password; user;password; with tabs; aligned with
 * blanks.
 *
 * The scan asks at a separator, and at the name of a secret, whether their line is such a header. From then on it is
 * told which cell of the rows below is a secret, before it goes on to a byte behind that cell. Each row is read once.
 */
#include "core/guard/credentials_internal.h"

enum { LINE_BYTES = 2048 };

/* --- Cells --- */

/* The place behind the line of i, without its end. */
static size_t line_end(struct str text, size_t i)
{
	size_t limit = text.n - i > LINE_BYTES ? i + LINE_BYTES : text.n;
	const char *newline = memchr(text.p + i, '\n', limit - i);

	return newline ? (size_t)(newline - text.p) : limit;
}

static bool separates(struct str line, size_t i, char separator)
{
	if (separator == ' ')
		return line.p[i] == ' ' && credentials_byte(line, i + 1) == ' ';
	return line.p[i] == separator;
}

/* The next cell from *at on, without blanks and quotes; *at is behind its separator, or line.n + 1 behind the last. */
static struct str next_cell(struct str line, size_t *at, char separator)
{
	size_t start = *at, end;
	struct str cell;

	while (start < line.n && line.p[start] == ' ')
		start++;
	end = start;
	if (start < line.n && line.p[start] == '"' && separator != ' ')
		for (end++; end < line.n && (line.p[end] != '"' || credentials_byte(line, end + 1) == '"');)
			end += line.p[end] == '"' ? 2 : 1;
	while (end < line.n && !separates(line, end, separator))
		end++;
	cell = str_trim(str_sub(line, start, end));
	if (cell.n && cell.p[cell.n - 1] == '\r')
		cell = str_trim(str_sub(cell, 0, cell.n - 1));
	while (separator == ' ' && end < line.n && credentials_byte(line, end + 1) == ' ')
		end++;
	*at = end < line.n ? end + 1 : line.n + 1;
	if (cell.n >= 2 && credentials_among(cell.p[0], "\"'") && cell.p[cell.n - 1] == cell.p[0])
		cell = str_sub(cell, 1, cell.n - 1);
	return cell;
}

static unsigned count_cells(struct str line, char separator)
{
	unsigned count = 0;

	for (size_t at = 0; at <= line.n; count++)
		next_cell(line, &at, separator);
	return count;
}

/* --- The header --- */

/* A name of one word to three. */
static bool is_name(struct str cell)
{
	size_t words = 1;

	if (cell.n == 0 || cell.n > CREDENTIALS_NAME_BYTES)
		return false;
	for (size_t i = 0; i < cell.n; i++) {
		words += cell.p[i] == ' ';
		if (!credentials_is(cell.p[i], CH_NAME) && cell.p[i] != ' ' && (unsigned char)cell.p[i] < 0x80)
			return false;
	}
	return words <= 3;
}

/* A line of names, one of which is a secret's: no sentence and no code has nothing but names between its commas. */
static void read_header(struct credentials_scan *s, struct str line, char separator)
{
	unsigned column = 0;

	s->columns.count = 0;
	s->columns.secret = 0;
	for (size_t at = 0; at <= line.n && column < CREDENTIALS_COLUMNS; column++) {
		struct str cell = next_cell(line, &at, separator);
		enum credentials_name sort;

		if (!is_name(cell))
			return;
		sort = credentials_name_of(cell);
		if (sort == NAME_NONE && credentials_foreign_word(cell, cell.n))
			sort = NAME_PASSWORD;
		if (sort == NAME_NONE || sort == NAME_VALUE || sort == NAME_AUTHORIZATION)
			continue;
		s->columns.secret |= UINT32_C(1) << column;
		s->columns.sort[column] = (uint8_t)sort;
	}
	if (s->columns.secret && column >= 2)
		s->columns.count = column;
}

/* The separator beside the word that i stands in, or 0. */
static char separator_at(struct str text, size_t i)
{
	struct str look = text.n - i > CREDENTIALS_NAME_BYTES ? str_sub(text, 0, i + CREDENTIALS_NAME_BYTES) : text;
	size_t low = i > CREDENTIALS_NAME_BYTES ? i - CREDENTIALS_NAME_BYTES : 0;
	size_t end = credentials_run(look, i, CH_NAME);

	/* "Root password" is one name. */
	while (credentials_byte(look, end) == ' ' && credentials_is(credentials_byte(look, end + 1), CH_NAME))
		end = credentials_run(look, end + 1, CH_NAME);
	end += credentials_among(credentials_byte(text, end), "\"'");
	if (credentials_among(credentials_byte(text, end), ",;\t"))
		return text.p[end];
	if (credentials_byte(text, end) == ' ' && credentials_byte(text, end + 1) == ' ')
		return ' ';
	if (end < text.n && !credentials_among(text.p[end], "\r\n"))
		return 0;
	while (i > low && (credentials_is(text.p[i - 1], CH_NAME) ||
			   (i > low + 1 && text.p[i - 1] == ' ' && credentials_is(text.p[i - 2], CH_NAME))))
		i--;
	i -= i > low && credentials_among(text.p[i - 1], "\"'");
	if (i > low && credentials_among(text.p[i - 1], ",;\t"))
		return text.p[i - 1];
	return i > low + 1 && text.p[i - 1] == ' ' && text.p[i - 2] == ' ' ? ' ' : 0;
}

void credentials_columns_header(struct credentials_scan *s, size_t i)
{
	struct str t = s->text;
	size_t start = i, low = i > LINE_BYTES ? i - LINE_BYTES : 0, end;
	char separator;

	if (i < s->columns.seen || s->columns.count)
		return;
	separator = t.p[i] == ',' ? ',' : separator_at(t, i);
	if (separator == 0)
		return;
	while (start > low && t.p[start - 1] != '\n')
		start--;
	end = line_end(t, i);
	s->columns.seen = end;
	if (start > 0 && t.p[start - 1] != '\n')
		return;
	read_header(s, str_sub(t, start, end), separator);
	s->columns.separator = separator;
	s->columns.next = end + 1;
	s->columns.cell = 0;
}

/* --- Rows --- */

/* Declarations are aligned, too, and a type may be named for a token. */
static size_t least_bytes(const struct credentials_scan *s, unsigned column)
{
	return s->columns.sort[column] == NAME_PASSWORD || credentials_among(s->columns.separator, ",;") ? 1 : 20;
}

/* The next secret of the row from the cell s->columns.cell on. A row with too many cells has the separator in its
 * secret, where it has only one. */
static bool read_row(struct credentials_scan *s, struct str line, struct credential *ret)
{
	unsigned cells = count_cells(line, s->columns.separator), more = cells - s->columns.count, column = 0;
	bool one = (s->columns.secret & (s->columns.secret - 1)) == 0;
	enum credentials_name sort;
	const char *kind;

	if (more && !one)
		return false;
	for (size_t at = 0; at <= line.n && column < s->columns.count; column++) {
		struct str cell = next_cell(line, &at, s->columns.separator);

		if (!(s->columns.secret >> column & 1))
			continue;
		for (unsigned k = 0; k < more; k++) {
			struct str part = next_cell(line, &at, s->columns.separator);

			cell.n = (size_t)(part.p + part.n - cell.p);
		}
		sort = (enum credentials_name)s->columns.sort[column];
		if (column < s->columns.cell || cell.n < least_bytes(s, column) ||
		    (size_t)(cell.p - s->text.p) < s->from ||
		    !credentials_value_is_secret(cell, sort, FORM_LITERAL, &kind))
			continue;
		s->columns.cell = column + 1;
		*ret = (struct credential){(size_t)(cell.p - s->text.p), cell.n, kind};
		return true;
	}
	return false;
}

bool credentials_columns_next(struct credentials_scan *s, size_t before, struct credential *ret)
{
	struct str t = s->text;

	while (s->columns.count && s->columns.next < t.n && s->columns.next <= before) {
		size_t end = line_end(t, s->columns.next);
		struct str line = str_sub(t, s->columns.next, end);
		unsigned cells = count_cells(line, s->columns.separator);

		if (str_trim(line).n == 0 || cells < s->columns.count || (end < t.n && t.p[end] != '\n')) {
			s->columns.count = 0;
			return false;
		}
		if (read_row(s, line, ret)) {
			if (ret->at <= before)
				return true;
			/* What the scan stops at comes first. */
			s->columns.cell--;
			return false;
		}
		s->columns.next = end + 1;
		s->columns.cell = 0;
	}
	return false;
}
