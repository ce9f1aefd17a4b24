#include "api/mcp/receive_tool.h"

#include "api/mcp/tasks.h"
#include "api/mcp/tool.h"

/* Clients cut off a silent call after 60 s, some later; a proxy on stdio knows that its host waits longer. */
enum { WAIT_MS = 25000, WAIT_MAX_MS = 50000, WAIT_STDIO_MS = 110000, WAIT_DESCRIBED_MS = 60000 };
/* A model takes minutes where a program takes milliseconds: with a lease of seconds its work would have gone to
 * somebody else before it could settle it. */
enum { LEASE_S = 300 };

#define HIDDEN "Its text has invisible characters, which may hide instructions."
#define NOTHING "No work has come. Nothing is lost: call handoff_receive again to go on waiting, or stop."

/* How long this call waits; less than 0: what it says is no time. */
static int64_t wait_ms(const struct mcp_call *m)
{
	const struct json *wait = json_get(m->args, "wait_s");
	bool is_stdio = str_is(http_req_header(m->req, "spine-transport"), "stdio");
	int64_t max_ms = is_stdio ? WAIT_STDIO_MS : WAIT_MAX_MS;
	double s;

	if (m->task)
		return tasks_wait_ms(m->task);
	if (wait == NULL || wait->type == JSON_NULL)
		return WAIT_MS;
	if (wait->type != JSON_INT && wait->type != JSON_DOUBLE)
		return -1;
	s = wait->type == JSON_INT ? (double)wait->i : wait->d;
	return s < 0 ? -1 : s * 1000 > (double)max_ms ? max_ms : (int64_t)(s * 1000);
}

bool receive_tool_before(struct mcp_call *m)
{
	if (mcp_agent(m).p == NULL) {
		tool_error(m, "missing_field: nobody has said which agent you are. Call handoff_receive with agent, or "
			   "have the connection send Spine-Agent.");
		return true;
	}
	if (wait_ms(m) < 0) {
		tool_error(m, "invalid_field: wait_s is not a number of seconds from 0 to 50.");
		return true;
	}
	return m->task == NULL && tasks_begin(m);
}

void receive_tool_fill(struct mcp_call *m)
{
	int64_t ms = wait_ms(m);

	m->call.params[0] = mcp_agent(m);
	tool_add_member(&m->call.body, STR("format"), (struct json){.type = JSON_STRING, .s = STR("prompt")});
	if (json_get(&m->call.body, "lease_s") == NULL)
		tool_add_member(&m->call.body, STR("lease_s"), (struct json){.type = JSON_INT, .i = LEASE_S});
	tool_add_member(&m->call.body, STR("wait_s"), (struct json){
		.type = JSON_DOUBLE, .d = (double)(ms > WAIT_DESCRIBED_MS ? WAIT_DESCRIBED_MS : ms) / 1000,
	});
}

/* The description's bound is that of a call over HTTP. */
void receive_tool_prepare(struct mcp_call *m)
{
	op_may_wait(m->call.op, wait_ms(m));
}

static struct str text_of(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_STRING ? value->s : STR("");
}

static const struct json *first_of(const struct json *answer)
{
	const struct json *handoffs = json_get(answer, "handoffs");

	return handoffs && handoffs->type == JSON_ARRAY && handoffs->count ? &handoffs->items[0] : NULL;
}

/* A host shows its model either the text or the structured part, so that both say what to do next. */
const struct json *receive_tool_reshape(struct mcp_call *m, const struct json *answer)
{
	struct arena *arena = m->call.op->arena;
	const struct json *got = first_of(answer);
	struct json *more = arena_zalloc(arena, sizeof(*more));
	struct str next = STR(NOTHING);

	if (got)
		next = arena_printf(arena, "%sDo what the prompt says. Then call handoff_settle with id %.*s, lease "
				    "%.*s, verb complete and your result; before %.*s, or send progress.",
				    json_get(got, "flags") ? HIDDEN " " : "",
				    STR_ARG(text_of(got, "id")), STR_ARG(text_of(got, "lease")),
				    STR_ARG(text_of(got, "lease_expires_at")));
	more->type = JSON_OBJECT;
	more->members = arena_alloc(arena, (answer->count + 1) * sizeof(*more->members));
	for (uint32_t i = 0; i < answer->count; i++)
		tool_add_member(more, answer->members[i].key, answer->members[i].value);
	tool_add_member(more, STR("next"), (struct json){.type = JSON_STRING, .s = next});
	return more;
}

void receive_tool_text(const struct json *answer, struct buf *out)
{
	const struct json *got = first_of(answer);

	if (got) {
		buf_put(out, text_of(got, "prompt"));
		buf_puts(out, "\n\n---\n");
	}
	buf_put(out, text_of(answer, "next"));
}
