#include "answer.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

enum { READ_MAX_BYTES = 64 * 1024 * 1024 };

struct ms_answer *msi_answer_new(size_t max_bytes)
{
	struct ms_answer *answer = calloc(1, sizeof(*answer));

	if (answer) {
		msi_buffer_init(&answer->body, max_bytes);
		answer->retry_after_ms = -1;
	}
	return answer;
}

void msi_answer_reset(struct ms_answer *answer)
{
	if (answer->is_read)
		msi_json_release(&answer->tree);
	msi_buffer_clear(&answer->body);
	answer->is_read = answer->is_replayed = false;
	answer->retry_after_ms = -1;
	answer->etag[0] = '\0';
	answer->status = 0;
}

void ms_answer_free(ms_answer *answer)
{
	if (answer == NULL)
		return;
	msi_answer_reset(answer);
	msi_buffer_release(&answer->body);
	free(answer);
}

ms_status msi_answer_read(struct ms_answer *answer, ms_error *ret_error)
{
	ms_status status;

	if (answer->is_read)
		return MS_OK;
	status = msi_json_read(msi_buffer_text(&answer->body), answer->body.len, &answer->tree, ret_error);
	answer->is_read = status == MS_OK;
	return status;
}

static void copy_text(char *ret, size_t size, const ms_json *value)
{
	const char *text = ms_json_text(value, NULL);

	msi_error_copy(ret, size, text ? text : "");
}

ms_status msi_answer_problem(struct ms_answer *answer, const char *url, ms_error *ret_error)
{
	const ms_json *problem = msi_answer_read(answer, NULL) == MS_OK ? &answer->tree.root : NULL;
	const char *code = ms_json_text(ms_json_get(problem, "code"), NULL);
	const char *detail = ms_json_text(ms_json_get(problem, "detail"), NULL);
	ms_status status = code && code[0] && detail && detail[0] ? MS_REFUSED : MS_BAD_ANSWER;

	if (ret_error == NULL)
		return status;
	if (status == MS_BAD_ANSWER)
		msi_error_set(ret_error, status, "bad_answer", "the answer of %s cannot be used: HTTP status %d, and "
			      "not the JSON of a Memory Spine server", url, answer->status);
	else
		msi_error_set(ret_error, status, code, "%s", detail);
	copy_text(ret_error->field, sizeof(ret_error->field), ms_json_get(problem, "field"));
	ret_error->retryable = ms_json_bool(ms_json_get(problem, "retryable"), false);
	ret_error->http_status = answer->status;
	ret_error->retry_after_ms = answer->retry_after_ms;
	return status;
}

/* --- For callers --- */

const ms_json *ms_answer_json(const ms_answer *answer)
{
	return answer && answer->is_read ? &answer->tree.root : NULL;
}

const char *ms_answer_body(const ms_answer *answer, size_t *ret_len)
{
	if (ret_len)
		*ret_len = answer ? answer->body.len : 0;
	return answer ? msi_buffer_text(&answer->body) : "";
}

int ms_answer_status(const ms_answer *answer)
{
	return answer ? answer->status : 0;
}

const char *ms_answer_etag(const ms_answer *answer)
{
	return answer ? answer->etag : "";
}

bool ms_answer_replayed(const ms_answer *answer)
{
	return answer && answer->is_replayed;
}

int ms_answer_tries(const ms_answer *answer)
{
	return answer ? answer->tries : 0;
}

const char *ms_id(const ms_answer *answer)
{
	return ms_json_text(ms_json_get(ms_answer_json(answer), "id"), NULL);
}

ms_status ms_json_read(const char *text, size_t len, ms_answer **ret, ms_error *ret_error)
{
	struct ms_answer *answer = msi_answer_new(READ_MAX_BYTES);
	ms_status status = MS_OK;

	msi_error_clear(ret_error);
	*ret = NULL;
	if (answer == NULL)
		return msi_error_no_memory(ret_error);
	msi_buffer_append(&answer->body, text, len);
	if (answer->body.no_memory)
		status = msi_error_no_memory(ret_error);
	else if (answer->body.is_full)
		status = msi_error_invalid(ret_error, "text", "the text is larger than 64 MiB");
	else
		status = msi_answer_read(answer, ret_error);
	if (status == MS_OK)
		*ret = answer;
	else
		ms_answer_free(answer);
	return status;
}
