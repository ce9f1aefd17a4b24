/* Tables of fields for the documentation, in Markdown. */
#ifndef SPINE_API_DESCRIBE_TABLES_H
#define SPINE_API_DESCRIBE_TABLES_H

#include "base/buf.h"
#include "base/str.h"

/* Appends text, a Markdown document, with what stands between
 *
 *     <!-- fields of deliver -->
 *     <!-- end -->
 *
 * made anew: a table of the body's fields of that operation. Several operations, separated by commas, make one table
 * with a column that says whose field it is; what they have alike is told once.
 *
 * Returns NULL, or what is wrong: a marker without its end, or the name of no operation.
 */
const char *tables_rewrite(struct str text, struct buf *out);

#endif
