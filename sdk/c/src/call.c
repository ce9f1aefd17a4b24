/* ms_call() and ms_exchange(): an operation becomes a method, a path and a body; an answer becomes values, or an error.
 */
#include "call.h"

#include "error.h"
#include "exchange.h"
#include "operations.h"

#include <string.h>

enum { PATH_MAX_BYTES = 65536 };

/* --- From arguments to a path, a query and a body --- */

static void put_escaped(struct msi_buffer *out, const char *text, size_t len)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				(c && strchr("-._~@", c));

		msi_buffer_append(out, is_plain ? (const char *)&c : escape, is_plain ? 1 : 3);
	}
}

/* What an argument is in a path or a query: JSON numbers and words stand for themselves. */
static const char *plain_value(const ms_arg *arg)
{
	return arg->text ? arg->text : arg->json ? arg->json : "";
}

static bool names_parameter(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = path; (p = strchr(p, '{')) != NULL; p++)
		if (strncmp(p + 1, name, len) == 0 && p[1 + len] == '}')
			return true;
	return false;
}

static const ms_arg *find_arg(const ms_arg *args, const char *name, size_t len)
{
	for (; args && args->name; args++)
		if (strlen(args->name) == len && strncmp(args->name, name, len) == 0)
			return args;
	return NULL;
}

/* Appends the path, its parameters filled in. A value of "" or "." would name another path. */
static ms_status put_path(struct msi_buffer *out, const char *path, const ms_arg *args, ms_error *ret_error)
{
	while (*path) {
		size_t plain = strcspn(path, "{"), len;
		const ms_arg *arg;
		const char *value;

		msi_buffer_append(out, path, plain);
		path += plain;
		if (*path == '\0')
			break;
		len = strcspn(path, "}");
		arg = find_arg(args, path + 1, len - 1);
		value = arg ? plain_value(arg) : "";
		if (value[0] == '\0' || strcmp(value, ".") == 0 || strcmp(value, "..") == 0)
			return msi_error_invalid(ret_error, arg ? arg->name : "args", "%.*s must be given, and not be "
						 "empty, \".\" or \"..\"", (int)(len - 1), path + 1);
		put_escaped(out, value, strlen(value));
		path += len + 1;
	}
	return MS_OK;
}

static void put_query(struct msi_buffer *out, const char *template, const ms_arg *args)
{
	for (; args && args->name; args++) {
		if (names_parameter(template, args->name))
			continue;
		msi_buffer_puts(out, strchr(msi_buffer_text(out), '?') ? "&" : "?");
		put_escaped(out, args->name, strlen(args->name));
		msi_buffer_puts(out, "=");
		put_escaped(out, plain_value(args), strlen(plain_value(args)));
	}
}

static void put_members(struct msi_body *b, const char *template, const ms_arg *args)
{
	for (; args && args->name; args++) {
		if (names_parameter(template, args->name))
			continue;
		msi_body_text(b, args->name, args->text);
		if (args->text == NULL)
			msi_body_json(b, args->name, args->json, MS_NULL);
	}
}

static bool takes_body(const char *method)
{
	return strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0;
}

/* What the operation says of the request. */
static void apply(const ms_client *client, const struct msi_operation *operation, ms_request *request)
{
	request->method = operation->method;
	request->creates = operation->creates;
	/* A condition holds once: said again it may be refused because it was carried out. */
	request->repeatable = operation->repeatable && request->if_match == NULL;
	if (operation->stores && request->task == NULL)
		request->task = client->task;
}

/* The path with its query, where it is short enough. */
static ms_status finish_path(const struct msi_buffer *path, ms_request *request, ms_error *ret_error)
{
	if (path->is_full)
		return msi_error_invalid(ret_error, "path", "the request's address is longer than 64 KiB");
	if (path->no_memory)
		return msi_error_no_memory(ret_error);
	request->path = msi_buffer_text(path);
	return MS_OK;
}

/* An operation becomes a method, a path and a body, which live in the two buffers. */
static ms_status prepare_operation(const ms_client *client, ms_request *request, struct msi_buffer *path,
				   struct msi_body *body, ms_error *ret_error)
{
	const struct msi_operation *operation = msi_operation_find(request->operation);
	ms_status status;

	if (operation == NULL)
		return msi_error_invalid(ret_error, "operation", "there is no operation \"%.100s\"",
					 request->operation);
	apply(client, operation, request);
	status = put_path(path, operation->path, request->args, ret_error);
	if (status != MS_OK)
		return status;
	if (request->body || !takes_body(operation->method)) {
		put_query(path, operation->path, request->args);
		return finish_path(path, request, ret_error);
	}
	put_members(body, operation->path, request->args);
	status = msi_body_end(body);
	if (body->out.len > 2)	/* not "{}" */
		request->body = msi_buffer_text(&body->out);
	return status == MS_OK ? finish_path(path, request, ret_error) : status;
}

static ms_status prepare_path(ms_request *request, struct msi_buffer *path, ms_error *ret_error)
{
	msi_buffer_puts(path, request->path);
	put_query(path, "", request->args);
	return finish_path(path, request, ret_error);
}

static ms_status exchange(ms_client *client, const ms_request *given, ms_answer **ret, bool *ret_repeated,
			  ms_error *ret_error)
{
	ms_request request = *given;
	ms_status status = MS_OK;
	struct msi_buffer path;
	struct msi_body body;

	msi_buffer_init(&path, PATH_MAX_BYTES);
	msi_body_begin(&body, ret_error);
	if (request.operation)
		status = prepare_operation(client, &request, &path, &body, ret_error);
	else if (request.path)
		status = prepare_path(&request, &path, ret_error);
	if (status == MS_OK)
		status = msi_exchange(client, &request, ret, ret_repeated, ret_error);
	msi_body_release(&body);
	msi_buffer_release(&path);
	return status;
}

/* --- For callers --- */

ms_status ms_exchange(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error)
{
	ms_answer *answer = NULL;
	bool repeated;
	ms_status status;

	msi_error_clear(ret_error);
	status = exchange(client, request, &answer, &repeated, ret_error);
	if (ret)
		*ret = answer;
	else
		ms_answer_free(answer);
	return status;
}

/* Whether the answer is to be JSON. */
static bool is_json_wanted(const ms_request *request, const ms_answer *answer)
{
	if (request->on_data || answer->status == 204)
		return false;
	return request->accept == NULL || strcmp(request->accept, "application/json") == 0;
}

/* An answer that went well, but is not what was asked for. */
static ms_status fail_answer(ms_client *client, const ms_answer *answer, ms_status status, const char *why,
			     ms_error *ret_error)
{
	if (status == MS_NO_MEMORY)
		return msi_error_no_memory(ret_error);
	msi_error_set(ret_error, status, "bad_answer", "the answer of %s cannot be used: %s", client->url, why);
	if (ret_error)
		ret_error->http_status = answer->status;
	return status;
}

static ms_status judge(ms_client *client, bool is_json, ms_answer *answer, ms_error *ret_error)
{
	ms_error why;

	if (answer->status < 200 || answer->status > 299)
		return msi_answer_problem(answer, client->url, ret_error);
	if (!is_json)
		return MS_OK;
	if (msi_answer_read(answer, &why) != MS_OK)
		return fail_answer(client, answer, why.status, why.detail, ret_error);
	if (answer->tree.root.type != MS_OBJECT)
		return fail_answer(client, answer, MS_BAD_ANSWER, "it is no object", ret_error);
	return MS_OK;
}

/* is_typed: the answer is an object in any case. */
static ms_status call(ms_client *client, const ms_request *request, bool is_typed, ms_answer **ret, ms_error *ret_error)
{
	ms_answer *answer = NULL;
	bool repeated = false;
	ms_status status;

	msi_error_clear(ret_error);
	if (ret)
		*ret = NULL;
	status = exchange(client, request, &answer, &repeated, ret_error);
	if (status != MS_OK)
		return status;
	status = judge(client, is_typed || is_json_wanted(request, answer), answer, ret_error);
	if (status != MS_OK && ret_error)
		ret_error->repeated = repeated;
	if (status == MS_OK && ret)
		*ret = answer;
	else
		ms_answer_free(answer);
	return status;
}

ms_status ms_call(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error)
{
	return call(client, request, false, ret, ret_error);
}

ms_status msi_call(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error)
{
	return call(client, request, true, ret, ret_error);
}

ms_status msi_call_with(ms_client *client, ms_request *request, struct msi_body *b, const char *parameter,
			const char *value, ms_answer **ret, ms_error *ret_error)
{
	ms_arg args[2] = {{.name = parameter, .text = value}};
	ms_status status = msi_body_end(b);

	if (ret)
		*ret = NULL;
	if (parameter)
		request->args = args;
	request->body = msi_buffer_text(&b->out);
	request->body_len = b->out.len;
	if (status == MS_OK)
		status = msi_call(client, request, ret, ret_error);
	msi_body_release(b);
	return status;
}

ms_status msi_call_one(ms_client *client, const char *operation, const char *parameter, const char *value,
		       ms_answer **ret, ms_error *ret_error)
{
	ms_arg args[2] = {{.name = parameter, .text = value}};

	return msi_call(client, &(ms_request){.operation = operation, .args = args}, ret, ret_error);
}
