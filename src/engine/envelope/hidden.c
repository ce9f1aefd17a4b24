#include "engine/envelope/hidden.h"

#include "text/invisible.h"

static void warn_of(struct op *op, struct str text, struct str field)
{
	if (text.p && invisible_is_flagged(text))
		op_warn(op, "invisible_characters", field, STR("it has characters that nobody sees, and that no script "
			"or emoji needs: they may hide instructions. Look at the text before you trust it"));
}

void hidden_warn(struct op *op, const struct envelope *e)
{
	warn_of(op, e->intent, STR("task.intent"));
	warn_of(op, e->state, STR("task.state"));
	warn_of(op, e->summary, STR("task.summary"));
	for (size_t i = 0; i < e->ref_count; i++)
		warn_of(op, e->refs[i].text, arena_printf(op->arena, "memory.ms-%llu",
							  (unsigned long long)e->refs[i].id.num));
}
