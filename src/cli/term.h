/* What a person sees: widths, colours, and text from outside made safe to print.
 *
 * Stored text may hold anything, escape sequences that rewrite the screen included. Nothing of it is printed but
 * through this module, which shows control characters, invalid UTF-8, characters that reverse the direction of
 * writing and those that nobody sees (text/invisible.h) as \x1b, \u202e or \U000e0061.
 */
#ifndef SPINE_CLI_TERM_H
#define SPINE_CLI_TERM_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct term {
	bool is_terminal;
	bool color;		/* a terminal, and NO_COLOR is not set */
	size_t width;		/* columns to fill */
};

void term_init(struct term *t, int fd);

enum term_style { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW, TERM_CYAN };

/* The escape sequences that begin and end a style; empty strings without colours. */
const char *term_on(const struct term *t, enum term_style style);
const char *term_off(const struct term *t, enum term_style style);

/* Appends text with what is dangerous made visible. Line breaks and tabs stay. */
void term_put_text(struct buf *out, struct str text);
/* The same in one line: any run of spaces, tabs and line breaks becomes one space; cut to max_columns, with "…" where
 * it was cut. */
void term_put_line(struct buf *out, struct str text, size_t max_columns);
/* Columns that a text takes which came out of the two above. */
size_t term_columns(struct str text);
/* JSON with the dangerous characters that JSON allows in strings (DEL, C1, marks of direction, what nobody sees)
 * written as \u009b. The same value. */
void term_put_json(struct buf *out, struct str json);
/* A copy in one line, uncut. */
struct str term_line(struct arena *arena, struct str text);

/* Appends words filled into lines of at most width columns, each after the first indented by `indent` spaces;
 * `column` is where the first line stands already. Ends without a line break. */
void term_fill(struct buf *out, struct str text, size_t column, size_t indent, size_t width);

#endif
