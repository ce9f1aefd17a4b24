/* From text to the terms under which it is found. Any bytes are text; nothing can fail.
 *
 * A word is folded (text/fold.h) and reduced to its English stem: "Retries" -> retri. A compound is found by its
 * parts and as a whole, however it was joined: `retryPolicy`, `retry_policy` and `retry-policy` -> retrypolicy,
 * retri, polici; `src/payments/gateway.c` -> srcpaymentsgatewayc, src, payment, gateway, c; `HTTPServer2` ->
 * httpserver2, http, server, 2; `ms-4821` -> ms4821, ms, 4821. Between digits the joint stays: `1.2.3` -> 1.2.3, 1,
 * 2, 3. What mixes letters and digits more often than names do (hashes) is left whole. Scripts that put no spaces
 * between words give pairs of characters, or the character where it stands alone. Terms are 1 to 64 bytes long; of a
 * longer one a hash keeps what was cut. There are no stop words: without the sixty most frequent ones a search
 * takes 40 % less time, but a fifth of its best 20 are others.
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
void analyzer_run(struct analyzer *a, struct str text, void (*emit)(void *ctx, struct str term), void *ctx);

#endif
