#include "engine/said.h"

#include "core/envelope/unpack.h"

static enum problem_code policy_packed(struct op *op, const struct envelope_row *row, enum redact_policy *ret)
{
	struct envelope e;
	enum problem_code code = unpack_skeleton(row, op->arena, &e, &op->problem);

	if (code == P_OK && redact_policy_packed(&e) > *ret)
		*ret = redact_policy_packed(&e);
	return code;
}

enum problem_code said_policy(struct op *op, struct store_conn *c, enum said_of of, uint64_t num,
			      enum redact_policy *ret)
{
	struct handoff_row h = {.envelope = num};
	struct envelope_row row;
	int64_t space_guard = 0;
	enum store_status status = store_space_guard(c, op->space, &space_guard);

	*ret = redact_policy_kept(space_guard);
	if (status == STORE_OK && of == SAID_OF_HANDOFF)
		status = store_handoff_get(c, op->space, num, op->arena, &h);
	if (status == STORE_OK && of != SAID_OF_SPACE)
		status = store_envelope_get(c, op->space, h.envelope, op->arena, &row);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
	return of == SAID_OF_SPACE ? P_OK : policy_packed(op, &row, ret);
}

enum problem_code said_put(struct op *op, struct store_conn *c, enum said_of of, uint64_t num,
			   const struct redact_answer *clean, struct str *text)
{
	enum redact_policy policy;
	enum problem_code code = said_policy(op, c, of, num, &policy);

	if (code == P_OK && policy == REDACT_REFUSE)
		return redact_refuse_answer(clean, &op->problem);
	if (code == P_OK && policy != REDACT_OFF)
		*text = clean->text;
	return code;
}

enum problem_code said_guard(struct op *op, struct store_conn *c, enum said_of of, uint64_t num, const char *field,
			     struct str *text)
{
	const struct redact_answer said = {.text = *text, .text_field = field};
	struct redact_answer clean;

	if (text->p == NULL || op->space == 0 || !redact_answer(&said, op->arena, &clean))
		return P_OK;
	return said_put(op, c, of, num, &clean, text);
}
