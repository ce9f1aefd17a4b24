/* Text that agents wrote, as it stands in a prompt: it can neither pass for the frame around it, nor hide, nor change
 * how the rest is seen.
 *
 * Where it may stand: behind "> ", in a code span, between fences, or at the end of a line, so that nothing of ours
 * follows it there. A single word that can mean nothing else stands bare.
 *
 * Characters that a reader cannot see, or that turn the order of others, are written as "\u{202e}": controls but tab
 * and line feed, bidirectional controls, zero-width space and joiner of words, byte order mark, annotations, tags.
 * (Joiners of letters and variation selectors stay: scripts and emoji need them.) A line ends with LF, CR LF or CR, and
 * where it must not end also with VT, FF, U+0085, U+2028 and U+2029: some readers take them for the end of one.
 */
#ifndef SPINE_CORE_RENDER_TEXT_H
#define SPINE_CORE_RENDER_TEXT_H

#include "base/buf.h"

/* At the end of a line: ends of lines become spaces. */
void render_line(struct buf *out, struct str text);
/* The same as the whole of a list's item, which it cannot make a heading or a fence of. */
void render_item(struct buf *out, struct str text);
/* Each line behind "> ". */
void render_quote(struct buf *out, struct str text);

/* A code span with more backticks than any run in the text. A text that begins or ends with a backtick or a space gets
 * a space on both sides, as Markdown has it. Ends of lines become spaces. */
void render_span(struct buf *out, struct str text);
/* What a span holds word for word: a short text of one line. */
bool render_is_short(struct str text);

/* A block between fences that the text cannot close; it ends with the end of a line. */
void render_fenced(struct buf *out, const char *info, struct str text);
/* The fence itself, without the end of the line. */
void render_fence(struct buf *out, struct str text);

/* A name: bare where it is one word of letters, digits and -_./@+, else in a code span. */
void render_name(struct buf *out, struct str name);
/* A name of which the first characters do, for a place where many stand. */
void render_short_name(struct buf *out, struct str name);
/* A key that ": " follows: bare also with spaces between its words. */
void render_key(struct buf *out, struct str key);

#endif
