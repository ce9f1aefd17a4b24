/* What has come to an envelope since it was packed: results of the handoffs before it.
 *
 * An envelope never changes, so the news stand beside it, and behind its prompt: in full while the whole fits into
 * max_tokens, else as one line with the id. Packing keeps room for that line. What is below the floor of the space is
 * one line, as it is a reference only where it is packed.
 */
#ifndef SPINE_CORE_SINCE_H
#define SPINE_CORE_SINCE_H

#include "core/envelope/envelope.h"
#include "core/envelope/result.h"

enum {
	SINCE_RESERVE_TOKENS = 30,
	SINCE_SHOWN_MAX = 20,		/* results that a prompt ends with; of very many the others stand beside it */
};

struct since_result {
	struct past_result past;
	/* Of the first SINCE_SHOWN_MAX: in its newest version, without credentials where a guard asks; num 0: none, or
	 * one that is trusted too little to be told. */
	struct memory memory;
};

/* The results of the parent's handoffs that the envelope does not name. Everything lives in the arena. */
enum problem_code since_results(struct store_conn *c, int64_t space, const struct envelope *e, int64_t now_ms,
				struct arena *arena, struct since_result **ret, size_t *ret_count,
				struct problem *problem);

/* Ends the envelope's prompt, which stands in *prompt, with as much of them as fits. */
void since_render(const struct envelope *e, const struct since_result *results, size_t count, struct buf *prompt);

#endif
