#include "core/envelope/assemble_measure.h"

#include "core/envelope/render.h"

#include <assert.h>

/* What a text is made into (token/token_cache.h). */
enum { MADE_INTO_BLOCK = 1 };
/* The two measures of a text are remembered as one number. They differ by a token, if at all. */
enum { DIFFERENCE_BITS = 4, DIFFERENCE_NONE = 8, DIFFERENCE_MASK = 15 };

static struct measures add_up(struct measures a, size_t before)
{
	return (struct measures){before + a.apart, before + a.close};
}

/* --- Parts --- */

/* Where the end of the text begins that may be cut off, behind `from`: as near to its end as may be. */
static size_t last_cut(struct str text, size_t from)
{
	for (size_t at = text.n; at-- > from + 1;)
		if (tokenizer_cuts(str_sub(text, 0, at), str_sub(text, at, text.n)))
			return at;
	return from;
}

/* What stands in the scratch buffer, from `from` on. The buffer is empty afterwards. */
static struct measures measure_rest(struct measure *m, size_t from)
{
	size_t cut = last_cut(buf_str(&m->scratch), from), before;
	struct measures end;

	before = tokenizer_measure(m->tokenizer, str_sub(buf_str(&m->scratch), from, cut));
	end.close = tokenizer_measure(m->tokenizer, str_sub(buf_str(&m->scratch), cut, m->scratch.len));
	buf_putc(&m->scratch, '\n');
	end.apart = tokenizer_measure(m->tokenizer, str_sub(buf_str(&m->scratch), cut, m->scratch.len));
	buf_clear(&m->scratch);
	return add_up(end, before);
}

/* The part that stands in the scratch buffer, behind its empty line: what stands before it gets that. */
static void append_part(struct measure *m, struct measures *sum)
{
	if (m->scratch.len == 0)
		return;
	assert(m->scratch.data[0] == '\n' && tokenizer_cuts(STR("\n"), str_sub(buf_str(&m->scratch), 1, 2)));
	*sum = add_up(measure_rest(m, 1), sum->apart);
}

void measure_init(struct measure *m, const struct envelope *e, const struct tokenizer *tokenizer,
		  struct token_cache *tokens)
{
	*m = (struct measure){.e = e, .tokenizer = tokenizer, .tokens = tokens};
	buf_init(&m->scratch, RENDER_MAX_BYTES);
	render_core(e, &m->scratch);
	m->core = measure_rest(m, 0);
}

void measure_release(struct measure *m)
{
	buf_release(&m->scratch);
}

/* --- A memory --- */

struct token_key measure_key(const struct measure *m, struct str text)
{
	return token_cache_key(m->tokens, m->tokenizer, text, MADE_INTO_BLOCK);
}

static struct measures unfold(size_t folded)
{
	size_t close = folded >> DIFFERENCE_BITS;

	return (struct measures){close + (folded & DIFFERENCE_MASK) - DIFFERENCE_NONE, close};
}

/* False where they differ by too much for it. */
static bool fold(struct measures a, size_t *ret)
{
	size_t difference = a.apart + DIFFERENCE_NONE - a.close;

	*ret = a.close << DIFFERENCE_BITS | difference;
	return difference <= DIFFERENCE_MASK;
}

/* What stands in place of a text is always the same. */
static struct measures measure_mention(struct measure *m)
{
	if (m->mention.close == 0) {
		render_ref_text(&(struct envelope_ref){.form = FORM_REF}, &m->scratch);
		m->mention = measure_rest(m, 0);
	}
	return m->mention;
}

/* It is the same in every envelope, and mostly known already. */
static struct measures measure_text(struct measure *m, const struct envelope_ref *r, struct token_key key)
{
	struct measures measured;
	size_t folded;

	if (!render_ref_has_text(r))
		return measure_mention(m);
	if (token_cache_get(m->tokens, key, &folded))
		return unfold(folded);
	render_ref_text(r, &m->scratch);
	measured = measure_rest(m, 0);
	if (fold(measured, &folded))
		token_cache_put(m->tokens, key, folded);
	return measured;
}

/* The id is another one with each memory: remembering it would only take the place of others. The other pieces are
 * those of many. */
static size_t measure_head(struct measure *m, const struct envelope_ref *r)
{
	size_t cuts[RENDER_HEAD_CUTS + 1], count = render_ref_head(m->e, r, &m->scratch, cuts), measure;
	struct str head = buf_str(&m->scratch);

	cuts[count] = head.n;
	measure = tokenizer_measure(m->tokenizer, str_sub(head, 0, cuts[0]));
	for (size_t i = 0; i < count; i++) {
		assert(tokenizer_cuts(str_sub(head, 0, cuts[i]), str_sub(head, cuts[i], head.n)));
		measure += token_cache_measure(m->tokens, m->tokenizer, str_sub(head, cuts[i], cuts[i + 1]));
	}
	buf_clear(&m->scratch);
	return measure;
}

struct measures measure_ref(struct measure *m, const struct envelope_ref *r, struct token_key key)
{
	return add_up(measure_text(m, r, key), measure_head(m, r));
}

int64_t measure_cost(const struct measure *m, struct measures ref)
{
	return (int64_t)tokenizer_tokens(m->tokenizer, ref.close);
}

/* --- The prompt --- */

int64_t measure_memory_head(struct measure *m)
{
	struct measures head = {0};

	render_memory_head(&m->scratch);
	append_part(m, &head);
	return (int64_t)tokenizer_tokens(m->tokenizer, head.close);
}

struct measures measure_before_refs(struct measure *m)
{
	struct measures sum = m->core;

	render_history(m->e, &m->scratch);
	append_part(m, &sum);
	if (m->e->ref_count)
		render_memory_head(&m->scratch);
	append_part(m, &sum);
	return sum;
}

void measure_append_ref(struct measures *sum, struct measures ref)
{
	*sum = add_up(ref, sum->close);
}

int64_t measure_tokens(struct measure *m, struct measures sum)
{
	render_left_out(m->e, &m->scratch);
	append_part(m, &sum);
	return (int64_t)tokenizer_tokens(m->tokenizer, sum.close);
}
