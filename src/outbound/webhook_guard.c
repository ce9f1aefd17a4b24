#include "outbound/webhook_guard.h"

#include "core/envelope/unpack.h"
#include "core/guard/redact.h"

/* The strictest of the space's and the envelope's. Where it cannot be read, credentials are blanked. */
static enum redact_policy policy_of(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena)
{
	struct problem problem = {0};
	struct envelope_row row;
	struct handoff_row h;
	struct envelope e;
	enum redact_policy of_space, of_envelope;
	int64_t number = 0;

	if (store_space_guard(c, space, &number) != STORE_OK ||
	    store_handoff_get(c, space, num, arena, &h) != STORE_OK ||
	    store_envelope_get(c, space, h.envelope, arena, &row) != STORE_OK ||
	    unpack_skeleton(&row, arena, &e, &problem) != P_OK)
		return REDACT_BLANK;
	of_space = redact_policy_kept(number);
	of_envelope = redact_policy_packed(&e);
	return of_space > of_envelope ? of_space : of_envelope;
}

static void refuse(struct delivery_answer *a, struct str reason, const struct json **remember)
{
	*a = (struct delivery_answer){
		.verb = VERB_NACK, .lease = a->lease, .delay_ms = -1, .text = reason, .result.input_tokens = -1,
	};
	*remember = NULL;
}

static void blank(struct delivery_answer *a, const struct redact_answer *clean, struct arena *arena,
		  const struct json **remember)
{
	struct json *value;

	if ((a->result.gaps.p && clean->gaps.p == NULL) || (a->result.result.p && clean->result.p == NULL)) {
		refuse(a, STR("the answer's result is too large without its credentials"), remember);
		return;
	}
	a->text = clean->text;
	a->result.gaps = clean->gaps;
	a->result.result = clean->result;
	if (*remember) {
		value = arena_zalloc(arena, sizeof(*value));
		*value = clean->value;
		*remember = value;
	}
}

void webhook_guard(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
		   struct delivery_answer *answer, const struct json **remember)
{
	struct redact_answer clean, said = {
		.text = answer->text, .text_field = "reject", .gaps = answer->result.gaps,
		.result = answer->result.result,
	};
	enum redact_policy policy = REDACT_OFF;

	/* Most answers say nothing; with the guard off a large result costs the thread of all posts nothing. */
	if (said.text.p || said.gaps.p || said.result.p)
		policy = policy_of(c, space, num, arena);
	if (policy == REDACT_OFF || !redact_answer(&said, arena, &clean))
		return;
	if (policy == REDACT_REFUSE && (answer->verb == VERB_ACK || answer->verb == VERB_COMPLETE))
		refuse(answer, arena_printf(arena, "the answer holds what looks like a credential (%.*s) in %.*s, and "
					    "the guard refuses it", STR_ARG(clean.kind), STR_ARG(clean.where)),
		       remember);
	else
		blank(answer, &clean, arena, remember);
}
