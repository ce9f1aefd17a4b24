/* Credentials known by the line that they stand in: .pgpass, htpasswd, and the rows of a table
 * whose header names a secret. */
#include "core/guard/credentials_internal.h"

static bool hit(const struct credentials_scan *s, size_t at, size_t end, const char *kind, struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, kind};
	return true;
}

/* The end of the line or string that i stands in, a few hundred bytes on at most. */
static size_t field_end(struct str text, size_t i, const char *ends, size_t most)
{
	size_t limit = text.n - i > most ? i + most : text.n;

	while (i < limit && (unsigned char)text.p[i] > ' ' && !credentials_among(text.p[i], ends))
		i++;
	return i;
}

/* --- Files of passwords --- */

static bool begins_field(struct str text, size_t at)
{
	return at == 0 || credentials_is(text.p[at - 1], CH_SPACE) || credentials_among(text.p[at - 1], "\"'`>") ||
	       (at >= 2 && text.p[at - 1] == 'n' && text.p[at - 2] == '\\');
}

/* Where the field before i begins. */
static size_t field_start(struct str text, size_t i)
{
	size_t low = i > 128 ? i - 128 : 0;

	while (i > low && (credentials_is(text.p[i - 1], CH_NAME | CH_DOT) || credentials_among(text.p[i - 1], "*@")))
		i--;
	return i;
}

static bool has_letter(struct str field)
{
	for (size_t i = 0; i < field.n; i++)
		if (credentials_is(field.p[i], CH_LETTER) || field.p[i] == '*')
			return true;
	return false;
}

/* The last field of a line goes on to its end, whatever signs it has; in a string, to the quote. */
static size_t last_field_end(struct str text, size_t line, size_t at)
{
	bool alone = line == 0 || credentials_is(text.p[line - 1], CH_SPACE);
	size_t end = field_end(text, at, alone ? "" : "\"'`", CREDENTIALS_VALUE_LOOK);

	/* Log lines and addresses have more of them, and go on. */
	return alone && credentials_byte(text, end) != '\n' && credentials_byte(text, end) != '\r' ? at : end;
}

/* A fingerprint has many. */
static size_t colons(struct str field)
{
	size_t count = 0;

	for (size_t i = 0; i < field.n; i++)
		count += field.p[i] == ':';
	return count;
}

/* host:port:database:user:password, a line of .pgpass; i is the first colon. */
bool credentials_line_pgpass(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t host = i, at = i + 1, end;
	const char *kind;

	if (!credentials_is(credentials_byte(t, at), CH_DIGIT) && credentials_byte(t, at) != '*')
		return false;
	end = credentials_byte(t, at) == '*' ? at + 1 : credentials_run(t.n - at > 6 ? str_sub(t, 0, at + 6) : t, at,
									CH_DIGIT);
	if (end - at > 5 || credentials_byte(t, end) != ':')
		return false;
	host = field_start(t, i);
	if (host == i || !has_letter(str_sub(t, host, i)) || !begins_field(t, host))
		return false;
	for (int field = 0; field < 2; field++) {	/* database, user */
		at = end + 1;
		end = field_end(t, at, ":\"'", 64);
		if (end == at || credentials_byte(t, end) != ':' || !has_letter(str_sub(t, at, end)))
			return false;
	}
	at = end + 1;
	end = last_field_end(t, host, at);
	return end > at && colons(str_sub(t, at, end)) <= 2 &&
	       credentials_value_is_secret(str_sub(t, at, end), NAME_PASSWORD, FORM_LITERAL, &kind) &&
	       hit(s, at, end, "pgpass", ret);
}

/* user:$apr1$…, user:$2y$…, user:{SHA}…: who has the line can try passwords at leisure. A hash alone is none. */
bool credentials_line_htpasswd(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	static const struct {
		struct str start;
		size_t min;
	} forms[] = {{{"$apr1$", 6}, 24}, {{"$2y$", 4}, 50}, {{"$2a$", 4}, 50}, {{"$2b$", 4}, 50}, {{"{SHA}", 5}, 27},
		     {{"{SSHA}", 6}, 30}, {{"$1$", 3}, 22}, {{"$5$", 3}, 40}, {{"$6$", 3}, 60}, {{"$y$", 3}, 40}};
	struct str t = s->text;
	size_t start, end;

	if (!credentials_among(credentials_byte(t, i + 1), "${"))
		return false;
	start = field_start(t, i);
	if (start == i || !begins_field(t, start) || credentials_name_of(str_sub(t, start, i)) != NAME_NONE)
		return false;
	for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
		if (!credentials_here(t, i + 1, forms[k].start))
			continue;
		end = field_end(t, i + 1, ":\"'\\,;`<", CREDENTIALS_VALUE_LOOK);
		return end - i - 1 >= forms[k].min && credentials_value_distinct(str_sub(t, i + 1, end)) >= 12 &&
		       hit(s, i + 1, end, "htpasswd", ret);
	}
	return false;
}

/* --- Tables --- */

enum { CELL_BYTES = 256 };

/* Only what rules are made of: |---|:--:|, ----+-----. */
static bool is_rule(struct str line)
{
	bool dashes = false;

	for (size_t i = 0; i < line.n; i++) {
		if (!credentials_among(line.p[i], "-+=|: \t\r\n"))
			return false;
		dashes |= line.p[i] == '-' || line.p[i] == '=';
	}
	return dashes;
}

/* A new row begins between the last cell and i, or with the text. Its header holds while rows follow each
 * other, or a rule. */
static void begin_row(struct credentials_scan *s, size_t i, const char *newline)
{
	struct str t = s->text;
	size_t line = newline ? (size_t)(newline - t.p) + 1 : 0, row = line;
	const char *other;
	bool rule_between = false;

	while ((other = memchr(t.p + row, '\n', i - row))) {
		rule_between = row == line && is_rule(str_sub(t, row, (size_t)(other - t.p)));
		if (!rule_between)
			s->table.secret = s->table.named = 0;
		row = (size_t)(other - t.p) + 1;
	}
	/* The row after a rule, or the rule itself, where it has bars. */
	if (rule_between || credentials_among(credentials_byte(t, i + 1), "-:") ||
	    (credentials_byte(t, i + 1) == ' ' && credentials_byte(t, i + 2) == '-' &&
	     credentials_byte(t, i + 3) == '-')) {
		s->table.secret = s->table.named ? s->table.named : s->table.secret;
	}
	s->table.named = 0;
	s->table.column = str_trim(str_sub(t, row, i)).n > 0;
}

/* What a cell is: a secret by the header above it, or the name of one in a header. */
static bool judge_cell(struct credentials_scan *s, unsigned column, size_t at, size_t end, struct credential *ret)
{
	struct str t = s->text;
	uint32_t bit = UINT32_C(1) << column;
	enum credentials_name sort;
	const char *kind;

	while (at < end && credentials_among(t.p[at], " \t*`"))
		at++;
	while (end > at && credentials_among(t.p[end - 1], " \t\r*`"))
		end--;
	if (end == at)
		return false;
	if (s->table.secret & bit)
		return credentials_value_is_secret(str_sub(t, at, end), (enum credentials_name)s->table.sort[column],
						   FORM_LITERAL, &kind) && hit(s, at, end, kind, ret);
	sort = end - at <= CREDENTIALS_NAME_BYTES ? credentials_name_of(str_sub(t, at, end)) : NAME_NONE;
	if (sort == NAME_NONE && credentials_foreign_word(t, end))
		sort = NAME_PASSWORD;
	if (sort == NAME_NONE || sort == NAME_VALUE || sort == NAME_AUTHORIZATION)
		return false;
	s->table.named |= bit;
	s->table.sort[column] = (uint8_t)sort;
	return false;
}

/* The cell before the first bar, in a table without one at its left. After a hit the same bar comes again. */
static bool first_cell(struct credentials_scan *s, size_t i, struct credential *ret)
{
	size_t at = i, low = i > CELL_BYTES ? i - CELL_BYTES : 0;

	while (at > low && s->text.p[at - 1] != '\n')
		at--;
	return (at == 0 || s->text.p[at - 1] == '\n') && judge_cell(s, 0, at, i, ret);
}

/* Which column begins behind the bar at i. True where the cell before it is a secret. */
static bool begin_column(struct credentials_scan *s, size_t i, struct credential *ret)
{
	size_t seen = s->table.seen;
	const char *newline;

	/* Its row was begun before, and the first cell was a hit. */
	if (seen == i + 1) {
		s->table.column = 1;
		return false;
	}
	s->table.seen = i + 1;
	newline = memchr(s->text.p + seen, '\n', i - seen);
	if (newline || seen == 0) {
		begin_row(s, i, newline);
		return s->table.column == 1 && first_cell(s, i, ret);
	}
	if (s->table.column < CREDENTIALS_COLUMNS)
		s->table.column++;
	return false;
}

bool credentials_line_cell(struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t end = i + 1, limit = t.n - end > CELL_BYTES ? end + CELL_BYTES : t.n;

	if (begin_column(s, i, ret))
		return true;
	if (s->table.column >= CREDENTIALS_COLUMNS)
		return false;
	while (end < limit && t.p[end] != '|' && t.p[end] != '\n')
		end++;
	return (end < limit || limit == t.n) && judge_cell(s, s->table.column, i + 1, end, ret);
}

/* --- Several words --- */

/* Blanks, dashes of a list and marks before the first word of a line. */
static size_t indent_of(struct str text, size_t line)
{
	size_t i = line;

	while (i < text.n && i < line + 64 && credentials_among(text.p[i], " \t-"))
		i++;
	return i - line;
}

static size_t line_end(struct str text, size_t i)
{
	size_t limit = text.n - i > CREDENTIALS_VALUE_LOOK ? i + CREDENTIALS_VALUE_LOOK : text.n;

	while (i < limit && text.p[i] != '\n')
		i++;
	return i;
}

/* Behind | or >, what YAML lets stand there, and the end of the line; 0 where no block begins. */
static size_t block_start(struct str text, size_t i)
{
	if (!credentials_among(credentials_byte(text, i), "|>"))
		return 0;
	for (i++; i < text.n && credentials_among(text.p[i], "-+123456789");)
		i++;
	while (credentials_among(credentials_byte(text, i), " \t\r"))
		i++;
	if (credentials_byte(text, i) == '#')
		i = line_end(text, i);
	return i < text.n && text.p[i] == '\n' ? i + 1 : 0;
}

/* The lines from start on that stand further in than the name. */
static struct str read_block(struct str text, size_t start, size_t indent)
{
	size_t end = start, line = start;

	while (line < text.n && line - start < CREDENTIALS_VALUE_LOOK) {
		size_t stop = line_end(text, line), within = 0;

		while (line + within < stop && credentials_among(text.p[line + within], " \t\r"))
			within++;
		if (line + within < stop && within <= indent)
			break;
		end = stop;
		line = stop + 1;
	}
	while (start < end && credentials_is(text.p[start], CH_SPACE))
		start++;
	while (end > start && credentials_is(text.p[end - 1], CH_SPACE))
		end--;
	return str_sub(text, start, end);
}

bool credentials_line_has_user(struct str text, size_t i)
{
	size_t line = credentials_read_line(text, i);

	return memmem(text.p + line, i - line, "user", 4) != NULL;
}

bool credentials_line_phrase(const struct credentials_scan *s, size_t i, size_t at, struct credential *ret)
{
	struct str t = s->text, value;
	size_t line = credentials_read_line(t, at), start = i + 1, block;
	const char *kind;

	while (start < t.n && start < i + 16 && credentials_among(t.p[start], " \t"))
		start++;
	if (start == i + 1 || indent_of(t, line) != at - line)
		return false;
	block = t.p[i] == ':' ? block_start(t, start) : 0;
	if (block) {
		value = read_block(t, block, indent_of(t, line));
		if (credentials_value_is_secret(value, NAME_PASSWORD, FORM_LITERAL, &kind) ||
		    credentials_word_is_phrase(value, PHRASE_WHOLE))
			return hit(s, (size_t)(value.p - t.p), (size_t)(value.p - t.p) + value.n, "password", ret);
		return false;
	}
	value = str_trim(str_sub(t, start, line_end(t, start)));
	/* "passwd: fix the parser" is what a changelog says. */
	return i >= at + 6 && credentials_here_nocase(t, i - 6, STR("phrase")) &&
	       credentials_word_is_phrase(value, PHRASE_SURE) &&
	       hit(s, (size_t)(value.p - t.p), (size_t)(value.p - t.p) + value.n, "password", ret);
}
