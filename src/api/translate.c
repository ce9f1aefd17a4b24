#include "api/translate.h"

#include "api/describe/query.h"
#include "api/describe/write.h"
#include "api/page.h"

static void *member(const struct call *call, uint32_t into)
{
	return (char *)call->op + into - 1;
}

static void warn_unknown(void *ctx, struct str field)
{
	call_warn_unknown(ctx, field);
}

struct shape_reader translate_reader(struct call *call)
{
	return (struct shape_reader){
		.arena = call->op->arena, .problem = &call->op->problem, .warn = warn_unknown, .ctx = call,
	};
}

static enum problem_code read_address(struct call *call, const struct description *d)
{
	enum problem_code code = P_OK;

	for (int i = 0; code == P_OK && i < DESCRIPTION_PATHS_MAX; i++)
		if (d->path_into[i])
			code = path_read(d->path[i], call->params[i], member(call, d->path_into[i]),
					 &call->op->problem);
	return code;
}

static enum problem_code read_parameters(struct call *call, const struct description *d, struct shape_reader *r)
{
	enum problem_code code = P_OK;

	if (d->query_into)
		code = query_read(d->query, d->query_kind, call->query, call->query_count,
				  member(call, d->query_into), r);
	if (code == P_OK && d->page_into)
		code = page_read(call, member(call, d->page_into));
	return code;
}

static enum problem_code read_body(struct call *call, const struct description *d, struct shape_reader *r)
{
	return d->body_into ? shape_read(d->body[0], &call->body, "", member(call, d->body_into), r) : P_OK;
}

enum problem_code translate_decode(struct call *call)
{
	const struct description *d = call->route->describes;
	struct shape_reader reader = translate_reader(call);
	enum problem_code code = P_OK;

	if (d && d->defaults)
		d->defaults(call->op);
	if (d)
		code = read_address(call, d);
	if (d && code == P_OK)
		code = read_parameters(call, d, &reader);
	if (d && code == P_OK)
		code = read_body(call, d, &reader);
	return code == P_OK && call->route->decode ? call->route->decode(call) : code;
}

void translate_write(struct call *call)
{
	const struct description *d = call->route->describes;
	struct json_writer w;

	call->status = d->answers[0].status;
	if (d->gives)
		d->gives(call, (const char *)call->op + d->from);
	if (d->answers[0].shape == NULL)
		return;
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	shape_write_members(d->answers[0].shape, (const char *)call->op + d->from, call, &w);
	call_end_reply(call, &w);
}

void translate_encode(struct call *call)
{
	if (call->route->encode)
		call->route->encode(call);
	else
		translate_write(call);
}
