#include "engine/envelope/large_envelope.h"

#include "core/envelope/unpack.h"

/* Parsing an envelope and writing its prompt takes about ten times as long as copying a text of its size: 11 ms for a
 * megabyte, where op_is_too_large counts on one or two (bench/results/abuse.md). A token is four bytes, about. */
enum { TIMES_A_COPY = 6, BYTES_PER_TOKEN = 4 };

/* The texts of its references are not in the body. */
static size_t bytes_of_texts(const struct envelope_row *row, struct arena *arena)
{
	struct problem problem = {0};
	struct envelope e;
	size_t tokens = 0;

	if (row->texts == 0 || unpack_skeleton(row, arena, &e, &problem) != P_OK)
		return 0;
	for (size_t i = 0; i < e.ref_count; i++)
		if (e.refs[i].form != FORM_REF && e.refs[i].tokens > 0)
			tokens += (size_t)e.refs[i].tokens;
	return tokens * BYTES_PER_TOKEN;
}

size_t envelope_weight(struct store_conn *c, int64_t space, uint64_t num)
{
	struct envelope_row row;
	struct arena arena;
	size_t bytes = 0;

	arena_init(&arena);
	if (space && store_envelope_get(c, space, num, &arena, &row) == STORE_OK)
		bytes = row.body.n;
	/* One that is large as it stands need not be parsed to know it. */
	if (bytes && !op_takes_long(bytes * TIMES_A_COPY))
		bytes += bytes_of_texts(&row, &arena);
	arena_release(&arena);
	return bytes * TIMES_A_COPY;
}

bool envelope_is_large(struct op *op, struct store_conn *c, uint64_t num)
{
	return op_is_here(op) && op_is_too_large(op, envelope_weight(c, op->space, num));
}
