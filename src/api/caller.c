#include "api/caller.h"

#include "api/decode.h"
#include "codec/sha256.h"
#include "core/memory/memory.h"

enum { KEY_MAX = 255 };

/* Who names a task this way says what it works on; elsewhere the header means nothing. */
static enum problem_code read_task(struct call *call)
{
	struct str task = call->beside(call, "spine-task");
	enum problem_code code;

	if (task.p == NULL || !call_takes(call, TAKES_TASK))
		return P_OK;
	if (!str_is_utf8(task))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Task", "Spine-Task is not UTF-8");
	code = decode_check_name(task, "Spine-Task", MEMORY_TASK_MAX, &call->op->problem);
	if (code == P_OK)
		call->op->task = task;
	return code;
}

static enum problem_code read_agent(struct call *call)
{
	struct str agent = call->beside(call, "spine-agent");
	const struct access *access = call->op->access;
	enum problem_code code = P_OK;

	if (agent.p && !str_is_utf8(agent))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Agent", "Spine-Agent is not UTF-8");
	if (agent.p)
		code = decode_check_name(agent, "Spine-Agent", 128, &call->op->problem);
	if (code == P_OK && agent.p)
		code = access_check_name("Spine-Agent", agent, &call->op->problem);
	if (code == P_OK && agent.p)
		code = access_check_agent(access, "Spine-Agent", agent, &call->op->problem);
	if (code == P_OK)
		call->op->agent = agent.p || access == NULL ? agent : access->agent;
	return code;
}

struct str caller_space(const struct call *call)
{
	struct str space = call->beside(call, "spine-space");
	const struct access *access = call->op->access;

	if (space.p)
		return space;
	return access && access->space.p ? access->space : STR("default");
}

/* What the description asks of a key beyond its scope. */
static enum problem_code check_access(struct call *call)
{
	const struct description *d = call->route->describes;
	const struct access *access = call->op->access;
	struct problem *problem = &call->op->problem;
	enum problem_code code;

	if (d == NULL || d->scope == SCOPE_OPEN)
		return P_OK;
	code = access_check_space(access, "Spine-Space", call->op->space_name, problem);
	if (code == P_OK && d->is_of_all)
		code = access_check_all(access, "Authorization", problem);
	if (code == P_OK && d->is_of_nobody)
		code = access_check_unbound(access, d->is_of_nobody, problem);
	return code;
}

enum problem_code caller_read(struct call *call)
{
	enum problem_code code;

	call->op->protocol = "http";
	call->op->client_name = call->beside(call, "user-agent");
	call->op->space_name = caller_space(call);
	if (!space_name_is_valid(call->op->space_name))
		return call_refuse(call, P_INVALID_FIELD, "Spine-Space",
				   "Spine-Space is not a name of a space; expected 1 to 64 of a-z, 0-9, '_', '-', not "
				   "starting with '_' or '-'");
	code = check_access(call);
	if (code == P_OK)
		code = read_agent(call);
	return code == P_OK ? read_task(call) : code;
}

/* What makes a request the same as another: everything that decides what is stored. */
enum problem_code caller_read_key(struct call *call, struct str body)
{
	struct str key = call->beside(call, "idempotency-key");
	struct str path = call->path;
	struct buf all;

	if (key.p == NULL || !(call->op->kind->flags & OP_TAKES_KEY))
		return P_OK;
	if (key.n < 1 || key.n > KEY_MAX)
		return call_refuse(call, P_INVALID_FIELD, "Idempotency-Key",
				   "Idempotency-Key has %zu characters; expected 1 to %d", key.n, KEY_MAX);
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] <= ' ' || key.p[i] > '~')
			return call_refuse(call, P_INVALID_FIELD, "Idempotency-Key",
					   "Idempotency-Key holds something else than visible ASCII characters");
	buf_init(&all, path.n + call->op->agent.n + body.n + call->op->if_tag.n + call->op->task.n + 8);
	buf_put(&all, path);
	buf_putc(&all, '\n');
	buf_put(&all, call->op->agent);
	buf_putc(&all, '\n');
	buf_put(&all, body);
	if (call->op->if_tag.p) {
		buf_putc(&all, '\n');
		buf_put(&all, call->op->if_tag);
	}
	if (call->op->task.p) {
		buf_puts(&all, "\ntask");
		buf_put(&all, call->op->task);
	}
	sha256(buf_str(&all), call->op->digest);
	buf_release(&all);
	call->op->key = key;
	return P_OK;
}

enum problem_code caller_json_problem(struct call *call, const struct json_error *error)
{
	static const enum problem_code codes[] = {P_INVALID_JSON, P_INVALID_UTF8, P_DUPLICATE_KEY, P_TOO_DEEP,
						  P_NUMBER_OUT_OF_RANGE};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(problem_kind(codes[i])->name, error->code) == 0)
			return call_refuse(call, codes[i], NULL, "%s", error->detail);
	return call_refuse(call, P_INVALID_JSON, NULL, "%s", error->detail);
}
