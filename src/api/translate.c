#include "api/translate.h"

#include "api/describe/query.h"
#include "api/describe/write.h"
#include "api/page.h"

static void *member(const struct call *call, uint32_t into)
{
	return (char *)call->op + into - 1;
}

/* --- Requests --- */

static void warn_unknown(void *ctx, struct str field)
{
	call_warn_unknown(ctx, field);
}

struct shape_reader translate_reader(struct call *call)
{
	return (struct shape_reader){
		.arena = call->op->arena, .problem = &call->op->problem, .warn = warn_unknown, .ctx = call,
		.access = call->op->access,
	};
}

static enum problem_code read_address(struct call *call, const struct description *d)
{
	enum problem_code code = P_OK;

	for (int i = 0; code == P_OK && i < DESCRIPTION_PATHS_MAX; i++) {
		if (d->path[i])
			code = read_check_names(d->path[i], call->params[i], call->op->access, &call->op->problem);
		if (code == P_OK && d->path_into[i])
			code = path_read(d->path[i], call->params[i], member(call, d->path_into[i]),
					 &call->op->problem);
	}
	return code;
}

static enum problem_code read_page(struct call *call, const struct description *d)
{
	struct page *page = member(call, d->page_into);
	enum problem_code code = page_read(call, page);

	if (code == P_OK && d->page_max && page->position > d->page_max)
		code = call_refuse(call, P_INVALID_PAGE_TOKEN, "page_token", "page_token is not one of this list");
	return code;
}

static enum problem_code read_parameters(struct call *call, const struct description *d, struct shape_reader *r)
{
	enum problem_code code = P_OK;

	if (d->query_into)
		code = query_read(d->query, d->query_kind, call->query, call->query_count,
				  member(call, d->query_into), r);
	return code == P_OK && d->page_into ? read_page(call, d) : code;
}

static enum problem_code read_body(struct call *call, const struct description *d, struct shape_reader *r)
{
	if (d->body_whole) {
		shape_warn_unknown(d->body[0], &call->body, "", r);
		*(const struct json **)member(call, d->body_whole) = &call->body;
	}
	return d->body_into ? shape_read(d->body[0], &call->body, "", member(call, d->body_into), r) : P_OK;
}

static enum problem_code read_request(struct call *call, const struct description *d)
{
	struct shape_reader reader = translate_reader(call);
	enum problem_code code;

	if (d->defaults)
		d->defaults(call->op);
	code = read_address(call, d);
	if (code == P_OK)
		code = read_parameters(call, d, &reader);
	if (code == P_OK)
		code = read_body(call, d, &reader);
	if (code == P_OK && d->wait_into)
		op_may_wait(call->op, *(const int64_t *)member(call, d->wait_into));
	return code;
}

enum problem_code translate_decode(struct call *call)
{
	const struct description *d = call->route->describes;
	enum problem_code code = d ? read_request(call, d) : P_OK;

	return code == P_OK && call->route->decode ? call->route->decode(call) : code;
}

/* --- Answers --- */

/* Who may write and not read is not told what stands there: over every protocol, and when it asks again. */
static const struct shown *shown_to(const struct call *call, const struct description *d)
{
	return d->blind && !access_has(call->op->access, ACCESS_READ) ? d->blind : call->shows;
}

static void write_answer(struct call *call, const struct description *d, const struct answer *a)
{
	const char *from = (const char *)call->op + d->from;
	struct json_writer w;

	call->status = a->status;
	call->content_type = a->media;
	if (d->gives)
		d->gives(call, from);
	if (a->shape == NULL)
		return;
	json_writer_init(&w, &call->reply);
	w.only = shown_to(call, d);
	json_begin_object(&w);
	shape_write_members(a->shape, from, call, &w);
	call_end_reply(call, &w);
}

void translate_write(struct call *call)
{
	const struct description *d = call->route->describes;

	write_answer(call, d, &d->answers[d->which ? d->which(call->op) : 0]);
}

void translate_encode(struct call *call)
{
	if (call->route->encode)
		call->route->encode(call);
	else
		translate_write(call);
}
