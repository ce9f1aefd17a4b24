#include "engine/envelope/large_envelope.h"

#include "core/envelope/unpack.h"
#include "engine/access/party.h"

/* To parse an envelope of a megabyte and write its prompt takes 3 ms, to read and write a megabyte of memories 0.8. A
 * token is about four bytes. */
enum { TIMES_A_COPY = 4, BYTES_PER_TOKEN = 4 };

size_t envelope_weight(const struct envelope_row *row, const struct envelope *e)
{
	size_t bytes = row ? row->body.n : 0;

	for (size_t i = 0; e && i < e->ref_count; i++)
		if (e->refs[i].form != FORM_REF && e->refs[i].tokens > 0)
			bytes += (size_t)e->refs[i].tokens * BYTES_PER_TOKEN;
	return bytes * TIMES_A_COPY;
}

/* It is weighed first: who may see it is looked up in the envelope, too. */
enum problem_code envelope_find(struct op *op, struct store_conn *c, uint64_t num, const char *field,
				struct envelope_row *ret)
{
	enum store_status status = op->space ? store_envelope_get(c, op->space, num, op->arena, ret) : STORE_NOT_FOUND;
	enum problem_code code;

	if (status == STORE_OK && op_is_too_large(op, envelope_weight(ret, NULL)))
		return P_OVERLOADED;
	code = party_check_envelope(op, c, num, field);
	if (code != P_OK || status == STORE_OK)
		return code;
	return status == STORE_NOT_FOUND ? unpack_missing(c, op->space, num, field, &op->problem)
					 : op_stored(op, status);
}

enum problem_code envelope_find_whole(struct op *op, struct store_conn *c, uint64_t num, const char *field,
				      struct envelope *ret)
{
	struct envelope_row row;
	enum problem_code code = envelope_find(op, c, num, field, &row);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, ret, &op->problem);
	if (code == P_OK && op_is_too_large(op, envelope_weight(NULL, ret)))
		return P_OVERLOADED;
	return code == P_OK ? unpack_texts(c, op->space, op->arena, ret, &op->problem) : code;
}
