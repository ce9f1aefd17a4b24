#include "core/assemble_measure.h"

#include "core/render.h"

#include <assert.h>

/* What a text is made into (token/token_cache.h). */
enum { MADE_INTO_BLOCK = 1 };

void measure_init(struct measure *m, const struct envelope *e, const struct tokenizer *tokenizer,
		  struct token_cache *tokens)
{
	*m = (struct measure){
		.e = e, .tokenizer = tokenizer, .tokens = tokens, .line_end = tokenizer_measure(tokenizer, STR("\n")),
	};
	buf_init(&m->scratch, RENDER_MAX_BYTES);
}

void measure_release(struct measure *m)
{
	buf_release(&m->scratch);
}

static struct measures add_up(struct measures a, size_t before)
{
	return (struct measures){before + a.inside, before + a.last};
}

/* --- Parts --- */

/* The end of what stands in the scratch buffer, from `from` on; it is short, and looked up. The buffer is empty
 * afterwards. */
static struct measures measure_end(struct measure *m, size_t from)
{
	struct measures end;

	end.last = token_cache_measure(m->tokens, m->tokenizer, str_sub(buf_str(&m->scratch), from, m->scratch.len));
	buf_putc(&m->scratch, '\n');
	end.inside = token_cache_measure(m->tokens, m->tokenizer, str_sub(buf_str(&m->scratch), from, m->scratch.len));
	buf_clear(&m->scratch);
	return end;
}

/* Where the last line of the text begins that may be cut off, behind `from`. */
static size_t last_cut(struct str text, size_t from)
{
	for (size_t at = text.n; at-- > from + 1;)
		if (text.p[at - 1] == '\n' && tokenizer_cuts(str_sub(text, 0, at), str_sub(text, at, text.n)))
			return at;
	return from;
}

/* The part that stands in the scratch buffer, which is empty afterwards. All but the core begin with an empty line. */
static struct measures measure_part(struct measure *m, bool is_core)
{
	struct str text = buf_str(&m->scratch);
	size_t from = is_core ? 0 : 1, cut = last_cut(text, from);
	size_t before = tokenizer_measure(m->tokenizer, str_sub(text, from, cut));

	assert(tokenizer_cuts(str_sub(text, 0, from), str_sub(text, from, text.n)));
	return add_up(measure_end(m, cut), before);
}

void measure_core(struct measure *m)
{
	render_core(m->e, &m->scratch);
	m->core = measure_part(m, true);
}

/* --- A memory's block --- */

struct token_key measure_key(const struct measure *m, struct str text)
{
	return token_cache_key(m->tokens, m->tokenizer, text, MADE_INTO_BLOCK);
}

/* It is the same in every envelope, and mostly known already. */
static size_t measure_text(struct measure *m, const struct envelope_ref *r, struct token_key key)
{
	size_t measure;

	if (!render_ref_has_text(r))
		return 0;
	if (token_cache_get(m->tokens, key, &measure))
		return measure;
	render_ref_text(r, &m->scratch);
	measure = tokenizer_measure(m->tokenizer, buf_str(&m->scratch));
	token_cache_put(m->tokens, key, measure);
	buf_clear(&m->scratch);
	return measure;
}

/* Without the empty line before it. The id is another one with each memory: remembering it would only take the place of
 * others. The other pieces are those of many. */
static size_t measure_head(struct measure *m, const struct envelope_ref *r)
{
	size_t cuts[RENDER_HEAD_CUTS], measure = 0;
	struct str head;

	render_ref_head(m->e, r, &m->scratch, cuts);
	head = buf_str(&m->scratch);
	for (int i = 0; i < RENDER_HEAD_CUTS; i++) {
		size_t end = i + 1 < RENDER_HEAD_CUTS ? cuts[i + 1] : head.n;
		struct str piece = str_sub(head, cuts[i], end);

		assert(tokenizer_cuts(str_sub(head, 0, cuts[i]), str_sub(head, cuts[i], head.n)));
		measure += i == 0 ? tokenizer_measure(m->tokenizer, piece)
				  : token_cache_measure(m->tokens, m->tokenizer, piece);
	}
	buf_clear(&m->scratch);
	return measure;
}

struct measures measure_ref(struct measure *m, const struct envelope_ref *r, struct token_key key)
{
	size_t before = measure_head(m, r) + measure_text(m, r, key);

	render_ref_end(r, &m->scratch);
	return add_up(measure_end(m, 0), before);
}

int64_t measure_cost(const struct measure *m, struct measures ref)
{
	return (int64_t)tokenizer_tokens(m->tokenizer, m->line_end + ref.last);
}

/* --- The prompt --- */

/* Goes on with a part; what stands before it gets its empty line. */
void measure_append(struct measures *sum, struct measures part)
{
	*sum = add_up(part, sum->inside);
}

struct measures measure_before_refs(struct measure *m)
{
	struct measures sum = m->core;

	render_history(m->e, &m->scratch);
	if (m->scratch.len)
		measure_append(&sum, measure_part(m, false));
	if (m->e->ref_count) {
		render_memory_head(&m->scratch);
		measure_append(&sum, measure_part(m, false));
	}
	return sum;
}

int64_t measure_tokens(struct measure *m, struct measures sum)
{
	render_left_out(m->e, &m->scratch);
	if (m->scratch.len)
		measure_append(&sum, measure_part(m, false));
	return (int64_t)tokenizer_tokens(m->tokenizer, sum.last);
}
