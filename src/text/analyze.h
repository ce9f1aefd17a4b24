/* From text to the terms under which it is found. Any bytes are text; nothing can fail.
 *
 * A word is folded (text/fold.h) and reduced to its English stem: "Retries" -> retri. Words that say nothing
 * (text/stop.h) are left out. A compound is found by its parts and as a whole, however it was joined and in any case:
 * `retryPolicy`, `retry_policy` and `retry-policy` -> retrypolici, retri, polici, and so does `retrypolicy` the whole;
 * `src/payments/gateway.c` -> srcpaymentsgatewayc, src, payment, gateway, c; `HTTPServer2` -> httpserver2, http,
 * server, 2; `ms-4821` -> ms4821, ms, 4821. Between digits the joint stays: `1.2.3` -> 1.2.3, 1, 2, 3. What mixes
 * letters and digits more often than names do (hashes) is left whole. Scripts that put no spaces between words give
 * pairs of characters, or the character where it stands alone. Terms are 1 to 64 bytes long; of a longer one a hash
 * keeps what was cut.
 *
 * A term comes with its share of a word: 1, and of a compound, which is one word, a half for the whole and a half for
 * all parts together; a part that is a number has a quarter of what other parts have.
 *
 * Documents and queries go through the same analysis.
 */
#ifndef SPINE_TEXT_ANALYZE_H
#define SPINE_TEXT_ANALYZE_H

#include "base/str.h"

enum { ANALYZE_TERM_BYTES = 64 };

/* The state of one thread's analysis: about 300 KB. */
struct analyzer;

/* Returns owned. */
struct analyzer *analyzer_new(void);
/* NULL-safe. */
void analyzer_free(struct analyzer *a);

/* Calls emit once for each occurrence of a term, in the order of the text. The term is borrowed for the call. */
typedef void analyzer_emit(void *ctx, struct str term, float share);
void analyzer_run(struct analyzer *a, struct str text, analyzer_emit *emit, void *ctx);

#endif
