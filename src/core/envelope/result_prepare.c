/* What a result becomes, before it is written. */
#include "core/envelope/result.h"
#include "core/envelope/unpack.h"

static bool is_blank(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]))
		s = str_sub(s, 1, s.n);
	return s.n == 0;
}

/* Nothing is said by it: no text, no member. */
static bool is_empty(const struct json *value)
{
	if (value->type == JSON_STRING)
		return is_blank(value->s);
	return value->type == JSON_NULL ||
	       ((value->type == JSON_OBJECT || value->type == JSON_ARRAY) && value->count == 0);
}

/* A result is no more to be trusted than what it was made of: the least of what the envelope carried. One that cannot
 * be read is not trusted. */
static enum trust trust_of(const struct envelope_row *row, struct arena *arena)
{
	enum trust trust;
	struct problem problem = {0};
	struct envelope e;

	if (unpack_skeleton(row, arena, &e, &problem) != P_OK)
		return TRUST_EXTERNAL;
	trust = envelope_trust(&e) > TRUST_AGENT ? envelope_trust(&e) : TRUST_AGENT;
	for (size_t i = 0; i < e.ref_count; i++)
		if (e.refs[i].trust > trust)
			trust = e.refs[i].trust;
	return trust;
}

static enum store_status find_envelope(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				       struct envelope_row *ret)
{
	struct handoff_row h;
	enum store_status status = space ? store_handoff_get(c, space, num, arena, &h) : STORE_NOT_FOUND;

	return status == STORE_OK ? store_envelope_get(c, space, h.envelope, arena, ret) : status;
}

enum problem_code result_prepare(struct store_conn *c, int64_t space, uint64_t num, const struct json *value,
				 struct arena *arena, struct delivery_answer *a, struct problem *problem)
{
	bool is_text = value->type == JSON_STRING;
	struct str content = is_text ? value->s : a->result.result;
	struct envelope_row row;
	struct memory_draft *draft;
	enum store_status status;

	if (is_empty(value))
		return P_OK;
	if (content.n > MEMORY_CONTENT_MAX || memchr(content.p, '\0', content.n)) {
		a->result.form = RESULT_LARGE;
		return P_OK;
	}
	status = find_envelope(c, space, num, arena, &row);
	/* That there is no such handoff is for the writer to say. */
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
	draft = arena_zalloc(arena, sizeof(*draft));
	*draft = (struct memory_draft){
		.has = MEMORY_HAS_CONTENT | MEMORY_HAS_KIND | MEMORY_HAS_TASK | MEMORY_HAS_TRUST,
		.content = content,
		.kind = STR(RESULT_KIND),
		.task = row.task,
		.trust = trust_of(&row, arena),
	};
	a->result.form = is_text ? RESULT_TEXT : RESULT_JSON;
	a->memory = draft;
	return P_OK;
}
